"""No forged log holds that must not, no honest one fails that recorded no miss, and the oracle can tell them apart.

``python -m tests.certificates.forging --cases 1000 --honest 500`` tries as many as one likes.
"""

from collections import Counter
from functools import partial

import numpy as np
import pytest

from tests.certificates.flights import team
from tests.certificates.forging import FORGERIES, base_flight, forge, judge
from tests.certificates.honest import KINDS, certified, exported, fly, scenario_of
from tests.certificates.oracle import Told, wrongs

FLIGHTS, ROUNDS = 6, 8  # 12 kinds of forgeries, 8 of each


@pytest.fixture(scope="module")
def flight():
    """Flights by their seeds, each flown once."""
    flown = {}

    def of(seed):
        if seed not in flown:
            flown[seed] = base_flight(seed)
        return flown[seed]

    return of


@pytest.mark.parametrize("kind", FORGERIES)
def test_no_forged_log_holds_that_must_not(kind, flight, tmp_path):
    said, seen = Counter(), Counter()
    for seed in range(ROUNDS):
        forged = forge(kind, seed, flight(seed % FLIGHTS))
        verdict, found, text = judge(forged, tmp_path)
        assert not (verdict == "held" and found), f"{kind} {seed}: {found}\n{text}"
        said[verdict] += 1
        seen[bool(found)] += 1
    assert said["failed"] + said["refused"] > 0
    assert seen[True] > 0  # else this kind would show nothing


@pytest.mark.parametrize("kind", KINDS)
def test_no_honest_log_fails_that_recorded_no_miss(kind, tmp_path):
    clean = 0
    slow = kind == "rotorpy"
    for seed in range(1 if slow else 3):
        made = scenario_of(seed, kind, agents=6 if slow else None, motion="walk" if seed == 0 else None)
        flown = fly(made)
        table = exported(tmp_path, flown)
        ways = [(made, ())]
        if flown.arrived is not None:
            ways.append((None, ("--arrived", flown.arrived, "--tolerance", flown.tolerance)))
        for told, options in ways:
            code, text = certified(tmp_path, table, flown.networks, told, options)
            assert code == 0 or not flown.clean, f"{kind} {seed}\n{text}"
        clean += flown.clean
    assert clean > 0


def rows_of(positions, times=None):
    times = range(len(positions)) if times is None else times
    return [
        (float(time), agent, float(x), float(y))
        for time, places in zip(times, positions, strict=True)
        for agent, (x, y) in enumerate(places)
    ]


def test_the_oracle_finds_what_is_wrong():
    network, positions = team(4, steps=6, agents=20)
    told = Told([(0, network)])
    look = partial(wrongs, told=told)
    rows = rows_of(positions)
    assert look(rows) == set()
    assert look([*rows, rows[7]]) == {"doubled"}
    assert look(rows[:7] + rows[8:]) == {"missing"}
    assert look(rows_of(positions[:1])) == {"nothing"}
    assert look(rows_of(positions, np.arange(7) ** 3)) == {"time"}
    leaf, anchor = int(network.layers[-1][0]), int(network.anchors[0])
    for agent, name in ((leaf, "landing"), (anchor, "anchor")):
        moved = positions.copy()
        moved[-1, agent] += 10 * np.ptp(positions[0])
        assert look(rows_of(moved)) == {name}


@pytest.mark.parametrize("motion", ["reach", "walk"])
def test_the_oracle_knows_where_a_team_should_be(motion):
    made = scenario_of(5, "exact", agents=14, goal="centroid", motion=motion, plain=True)
    flown = fly(made)
    told = Told(flown.networks, None, 0.0, flown.scenario)
    positions = np.concatenate([flown.run.positions, np.repeat(flown.run.positions[-1:], 60, axis=0)])
    assert wrongs(rows_of(positions), told) == set()
    agent = int(flown.run.network.layers[-1][0])
    corners = positions[-1, flown.run.network.in_neighbors[agent]]
    positions[-1, agent] += 1e-6 * (corners[0] - positions[-1, agent])
    assert wrongs(rows_of(positions), told) == {"desired"}
    positions[-1, agent] = 0.999 * corners[0] + 0.0005 * (corners[1] + corners[2])
    assert wrongs(rows_of(positions), told) == ({"desired"} if motion == "reach" else {"desired", "cell"})


def test_a_teleport_and_its_step_left_out_do_not_hold(flight, tmp_path):
    """Each alone, and both: deleting the step in which an agent was elsewhere leaves a gap."""
    flown = flight(0)
    network, steps = flown.run.network, flown.run.steps
    positions, times = np.array(flown.run.positions), np.arange(steps + 1.0)
    positions[2, network.layers[-1][0]] += 1e3

    def said(kept):
        lines = [f"{t},{i},{x!r},{y!r}" for t, i, x, y in rows_of(positions[kept], times[kept])]
        (tmp_path / "log.csv").write_text("\n".join(["time,agent,x,y", *lines]))
        return certified(tmp_path, tmp_path / "log.csv", [(0, network)])[0]

    assert said(np.arange(steps + 1)) == 1
    assert said(np.delete(np.arange(steps + 1), 2)) == 1
