"""A fleet that loses nothing does what the simulator does, to the bit: each agent alone, over messages only."""

import asyncio
import time
from itertools import count

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tricover as tc
from tricover.errors import InputError
from tricover.fleet.messages import NoSeal
from tricover.fleet.recording import run_of
from tricover.fleet.together import TOGETHER, _flown, fly_together
from tricover.simulation import Mission, Run


def team(agents, seed=1):
    return np.random.default_rng(seed).uniform(0, 100, (agents, 2))


TARGETS = np.random.default_rng(9).uniform(0, 100, (150, 2))
JOIN = [[50.0, 50.1], [30.0, 70.0]]
EVENTS = {"leave": [{"step": 3, "agents": [2, 7]}], "join": [{"step": 5, "reference": JOIN}]}
LATE = {"loss": 0.3, "delay": [0, 2]}
GUSTY = {"kind": "gusty", "chance": 0.3, "gust": [3, 0]}
MIXED = {"kind": "exact", "others": [{"agents": [1, 4], "kind": "double-integrator"}, {"agents": [0], "kind": "gusty"}]}
MOVING = {"positions": TARGETS[:30], "motion": {"velocity": [0.4, 0.1]}}
PADS = team(12, 5) - np.array([0, 200])
CELLS = ("states", "goal_cells", "next_cells")


def scenario(agents=12, drawn=1, **given):
    where = {} if "formation" in given else {"reference": team(agents, drawn)}
    return tc.Scenario(**{**where, "targets": TARGETS, "steps": 12, **given})


def tracks_of(given):
    mission = Mission.of(given)
    return asyncio.run(_flown(mission, TOGETHER, NoSeal(), time.monotonic))


def assert_same(flown, simulated):
    """All that both recorded of the steps that both took, for those who took part."""
    steps = min(flown.steps, simulated.steps)
    assert steps > 1
    there = simulated.present[:steps]
    assert np.array_equal(flown.present[:steps], there)
    extent = np.ptp(simulated.positions.reshape(-1, 2), axis=0).max()
    was = simulated.present[: steps + 1].cumsum(axis=0) > 0  # whoever has not joined yet is nowhere
    far = np.abs(flown.positions[: steps + 1] - simulated.positions[: steps + 1])[was]
    assert far.max() <= 1e-12 * extent
    for name in (*CELLS, "misses", "weights", "ages"):
        mine, theirs = (getattr(run, name)[:steps][there] for run in (flown, simulated))
        assert np.array_equal(mine, theirs, equal_nan=True), name
    for name in simulated.arrays:
        if name in ("settled", "believed", "numbers"):
            mine, theirs = (run.read(name)[:steps] for run in (flown, simulated))
            rows = ... if mine.ndim == 1 else there
            assert np.array_equal(mine[rows], theirs[rows]), name


WAYS = {
    "reach": {},
    "reach, events": {"events": EVENTS},
    "reach, balanced": {"network": {"mentee": "balanced"}, "events": EVENTS},
    "walk, events": {"control": {"motion": "walk", "resolution": 8}, "events": EVENTS},
    "morph": {"control": {"motion": "morph"}},
    "morph, events": {"control": {"motion": "morph"}, "events": EVENTS},
    "anywhere": {"control": {"motion": "walk", "resolution": 8}, "vehicle": "anywhere"},
    "gusty": {"vehicle": GUSTY, "events": EVENTS},
    "double-integrator": {"vehicle": "double-integrator"},
    "quadrotor": {"control": {"motion": "walk", "resolution": 6}, "vehicle": "quadrotor"},
    "mixed": {"vehicle": MIXED},
    "slip": {"control": {"motion": "walk", "resolution": 6, "kernel": {"slip": 0.2}}, "vehicle": GUSTY},
    "learned": {"control": {"motion": "walk", "resolution": 6, "kernel": "learned"}, "vehicle": GUSTY, "steps": 20},
    "loss": {"world": {"loss": 0.3}},
    "late": {"world": LATE, "steps": 20},
    "late, events": {"world": LATE, "events": EVENTS},
    "late walk": {"world": LATE, "control": {"motion": "walk", "resolution": 8}, "vehicle": "anywhere"},
    "sight": {"world": {"sight": 20, "summary": 8}},
    "sight, sums": {"world": {"sight": 20, "summary": "sums"}},
    "sight, noise": {"world": {"sight": 20, "noise": 0.1}, "events": EVENTS},
    "predictive": {"control": {"goal": "predictive"}, "targets": MOVING},
    "rollout": {"control": {"goal": "rollout"}, "targets": MOVING},
    "reference": {"control": {"goal": "reference"}, "formation": {"positions": team(12), "start": team(12, 7)}},
    "voronoi": {"control": {"goal": "voronoi"}},
    "cellplan": {"control": {"goal": "cellplan"}},
    "polish": {"control": {"polish": 3}},
    "paths": {"anchors": "fit", "control": {"motion": "walk", "resolution": 8}},
    "pads": {"formation": {"positions": team(12), "start": PADS, "assign": True, "launch": 4}},
    "pads, late": {
        "formation": {"positions": team(12), "start": PADS, "assign": True, "launch": 4},
        "world": LATE,
    },
}


@pytest.mark.parametrize("way", WAYS)
def test_a_fleet_does_what_the_simulator_does(way):
    given = scenario(**WAYS[way])
    assert_same(fly_together(given), tc.simulate(given))


@st.composite
def scenarios(draw):
    agents, seed = draw(st.integers(5, 20)), draw(st.integers(0, 10**6))
    motion = draw(st.sampled_from(["reach", "walk", "morph"]))
    kinds = ["exact"] if motion == "morph" else ["exact", "anywhere", "gusty", "double-integrator"]
    given = {
        "control": {"motion": motion, "resolution": draw(st.integers(3, 9))},
        "vehicle": draw(st.sampled_from(kinds)),
        "network": {"mentee": draw(st.sampled_from(["fermat", "balanced"]))},
        "seed": draw(st.integers(0, 100)),
        "steps": draw(st.integers(4, 14)),
    }
    if motion != "morph" and draw(st.booleans()):
        given["world"] = {"loss": draw(st.sampled_from([0.0, 0.3])), "delay": draw(st.integers(0, 2))}
    leaving = draw(st.integers(0, max(agents - 8, 0)))
    if leaving:
        who = draw(st.lists(st.integers(0, agents - 1), min_size=leaving, max_size=leaving, unique=True))
        given["events"] = {"leave": [{"step": draw(st.integers(1, 6)), "agents": who}]}
    if draw(st.booleans()):
        join = {"step": draw(st.integers(1, 8)), "reference": [[50.0, 50.25], [30.0, 70.0]]}
        given["events"] = {**given.get("events", {}), "join": [join]}
    return scenario(agents, seed, **given)


@settings(max_examples=40)
@given(scenarios())
def test_any_fleet_does_what_the_simulator_does(given):
    try:
        simulated = tc.simulate(given)
    except InputError:
        assume(False)
    assume(simulated.steps > 1)
    assert_same(fly_together(given), simulated)


@pytest.mark.parametrize("way", ["reach, events", "walk, events", "morph, events", "gusty", "learned", "late, events"])
def test_a_flight_is_certified_and_reported_as_the_simulation_is(way):
    given = scenario(**WAYS[way]).replace(stop_when_settled=False)
    flown, simulated = fly_together(given), tc.simulate(given)
    mine, theirs = tc.certify(flown), tc.certify(simulated)
    assert [(claim.key, claim.verdict) for claim in mine] == [(claim.key, claim.verdict) for claim in theirs]
    assert mine.holds is (way not in ("gusty", "learned"))  # gusts carry agents out of their reach sets
    assert mine.to_json() == theirs.to_json()
    assert flown.summary() == simulated.summary()


def test_what_agents_learned_is_recorded():
    given = scenario(**WAYS["learned"]).replace(stop_when_settled=False)
    flown, simulated = fly_together(given), tc.simulate(given)
    followers = simulated.network.followers
    for agent in followers:
        mine, theirs = flown.learned(int(agent)), simulated.learned(int(agent))
        assert np.array_equal(mine.records, theirs.records)
        assert (mine.slip, mine.slip_deviation) == (theirs.slip, theirs.slip_deviation)
    assert sum(simulated.learned(int(agent)).records.sum() for agent in followers) > 20


@pytest.mark.parametrize("way", ["reach, events", "gusty", "late, events", "sight"])
def test_a_flight_can_be_stored_and_opened(way, tmp_path):
    given = scenario(**WAYS[way])
    tracks = tracks_of(given)
    flown, stored = run_of(tracks), run_of(tracks, tmp_path / "run")
    opened = Run.open(tmp_path / "run")
    assert not opened.interrupted
    for run in (stored, opened):
        assert_same(run, flown)
        assert run.steps == flown.steps
        assert run.summary() == flown.summary()
    assert [claim.verdict for claim in tc.certify(opened)] == [claim.verdict for claim in tc.certify(flown)]


def test_nobody_is_given_up_while_another_computes():
    given, clock = scenario(events=EVENTS), count(0.0, 100.0)
    assert_same(fly_together(given, now=lambda: next(clock)), tc.simulate(given))


def test_what_a_fleet_cannot_do_is_said():
    for wrong, words in (
        ({"safety": {"separation": 0.1}}, "safety.separation"),
        ({"control": {"motion": "morph", "goal": "descent"}}, "descent"),
        ({"world": {"radio": 90.0}}, "world.radio"),
    ):
        with pytest.raises(InputError, match=words):
            fly_together(scenario(**wrong))
