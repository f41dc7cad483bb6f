"""What is said before a run: each notice by a scenario that deserves it and no other."""

import numpy as np
import pytest

import tricover as tc
from tests.safety.crowds import apart, crowd
from tricover.errors import SafetyWarning
from tricover.simulation import Mission, forecast
from tricover.units import length

TEAM = apart(np.random.default_rng(1), 20, 6.0)


def said(**settings):
    given = {"reference": TEAM, "targets": np.random.default_rng(2).uniform(20, 80, (100, 2)), **settings}
    return forecast(Mission.of(tc.Scenario(**given)))


def test_nothing_is_said_where_nothing_is_asked_for_or_all_can_be_kept():
    assert said() == ()
    assert said(safety={"separation": 0.2}) == ()


def test_who_starts_too_close_is_named():
    team = np.vstack([TEAM, TEAM[7] + [0.05, 0.0]])
    start = np.vstack([TEAM, TEAM[7] + [0.05, 0.0]])
    (notice,) = said(
        reference={"positions": np.vstack([TEAM, [50.0, 50.0]]), "start": start}, safety={"separation": 0.2}
    )
    assert notice == "a pair of agents has starts closer than the separation of 0.2 m: 7 and 20 (0.05 m)"
    assert len(said(reference=team, safety={"separation": 0.2})) >= 1


def test_anchors_whose_ways_are_too_close_are_named():
    network = tc.build_network(TEAM)
    places = TEAM[network.anchors].copy()
    paths = np.stack([places, places, places])
    paths[1, 0] = places[1] + [0.1, 0.0]  # it comes by, and goes back
    found = said(anchors=paths, safety={"separation": 0.2})
    one, other = sorted(network.anchors[:2].tolist())
    assert len(found) == 1
    assert f"given ways (from step 0 on) closer than the separation of 0.2 m: {one} and {other} (0.1 m)" in found[0]


def test_places_without_room_are_named():
    (notice,) = said(targets=[[50.0, 50.0]], safety={"separation": 5.9})
    assert notice.startswith("a pair of agents has desired places closer than the separation of 5.9 m: 12 and 16 (5.4")
    *_, crowded = said(targets=[[50.0, 50.0]], safety={"separation": 12.0})
    assert "pairs of agents have desired places closer than the separation of 12 m: " in crowded
    assert crowded.count(" and ") == 6  # five pairs, and how many more
    assert crowded.endswith(" more")


def test_it_is_a_warning_in_python_and_only_before_a_run():
    given = crowd(0, "reach", separation=0.3, agents=12)
    tight = given.replace(safety={"separation": 20.0}, steps=3)
    with pytest.warns(SafetyWarning, match="closer than the separation of 20 m"):
        tc.simulate(tight)
    mission = Mission.of(tight)
    assert forecast(mission)
    tc.simulate(mission)  # whoever made the mission can ask for the forecast


POND = [[[48.0, 48.0], [56.0, 48.0], [56.0, 56.0], [48.0, 56.0]]]


def test_who_would_enter_a_zone_is_named_and_does():
    """Nobody starts in the pond, and the only target is in it: who reaches goes there, who walks does not."""
    free = TEAM[~((TEAM > 47) & (TEAM < 57)).all(axis=1)]
    given = {"reference": free, "targets": [[52.0, 52.0]], "safety": {"zones": POND}}
    (notice,) = said(**given)
    assert "enter" in notice
    assert "a zone as reach does not go around: " in notice
    with pytest.warns(SafetyWarning, match="as reach does not go around"):
        run = tc.simulate(tc.Scenario(**given))
    found = tc.geometry.crossings(run.positions, POND)
    first = {}
    for one in found:
        first.setdefault(one.agent, one.step)
    for agent, step in list(first.items())[:5]:
        assert f"{agent} (zone 0, step {step})" in notice
    assert said(**given, control={"motion": "walk"}) == ()
    assert "as morph does not go around" in said(**given, control={"motion": "morph"})[0]


def test_a_way_from_a_pad_through_a_zone_is_named():
    pads = np.stack(np.meshgrid(np.arange(5.0), np.arange(4.0)), -1).reshape(-1, 2) * 5 + [200.0, 40.0]
    wall = [[[150.0, -50.0], [152.0, -50.0], [152.0, 150.0], [150.0, 150.0]]]
    team = {"positions": TEAM, "start": pads, "assign": True}
    (notice,) = said(reference=team, control={"motion": "walk", "speed": 20.0}, safety={"zones": wall})
    assert notice.startswith("20 agents enter a zone on the way from the pads: 0 (zone 0, step 0), ")
    assert notice.endswith(" and 15 more")


def test_what_morph_does_not_keep_is_named_and_what_it_keeps_is_not():
    """The forecast of morph is the plan itself: it names exactly those that come closer."""
    named = kept = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        team = rng.uniform(0, 100, (int(rng.integers(12, 40)), 2))
        apart = tc.separation(team[None]).distance
        mission = Mission.of(
            tc.Scenario(
                reference=team,
                targets=rng.uniform(0, 100, ([1, 4, 300][seed % 3], 2)),
                control={"motion": "morph", "speed": 5.0},
                safety={"separation": 0.9 * apart},
                steps=400,
            )
        )
        run = tc.simulate(mission)
        pairs = tc.separation(run.positions, 0.9 * apart).below
        if not len(pairs):
            kept += forecast(mission) == ()
            continue
        (notice,) = forecast(mission)
        assert f" ways closer than the separation of {length(0.9 * apart)}: " in notice
        assert f"{len(pairs)} pairs" in notice or len(pairs) == 1
        closest = run.separation.agents
        assert f": {closest[0]} and {closest[1]} (" in notice
        named += 1
    assert named > 2 < kept
