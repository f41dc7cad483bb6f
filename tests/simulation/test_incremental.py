"""Decisions that stand are those that everybody would take anew: the shortcut changes no bit."""

import threading

import numpy as np
import pytest

import tricover as tc
from tests.simulation.teams import team
from tricover.control import View, cells_of, decide
from tricover.simulation import Mission, incremental
from tricover.simulation.deciding import decide_all
from tricover.simulation.incremental import Incremental, near_each_other
from tricover.simulation.record import ARRAYS
from tricover.simulation.state import State
from tricover.simulation.step import advance

EVENTS = {"leave": [{"step": 3, "agents": [7, 11]}], "join": [{"step": 5, "reference": [[0.45, 0.52], [0.3, 0.6]]}]}
MIXED = {"kind": "exact", "others": [{"agents": [6, 9], "kind": "anywhere"}, {"agents": [8], "kind": "unicycle"}]}


def moving(targets, steps):
    return {"positions": targets, "motion": {"velocity": [0.01, -0.02], "until": steps}}


def given_team(motion, vehicle, still, events, **settings):
    rng = np.random.default_rng(5)
    reference, targets = rng.random((40, 2)), rng.random((120, 2))
    return tc.Scenario(
        formation={"positions": reference, "start": reference + rng.normal(size=reference.shape) * 0.01},
        targets=targets if still else moving(targets, 4),
        network={"mentee": "balanced"},
        control={"motion": motion, "resolution": 6},
        vehicle=vehicle,
        events=events or {},
        steps=30,
        seed=3,
        **settings,
    )


@pytest.mark.parametrize("motion", ["reach", "walk"])
@pytest.mark.parametrize("vehicle", ["exact", "anywhere", "double-integrator", MIXED])
@pytest.mark.parametrize("still", [True, False])
@pytest.mark.parametrize("events", [None, EVENTS])
def test_standing_decisions_change_no_bit(motion, vehicle, still, events):
    """Steps with and without the shortcut, and what ``simulate`` records, are the same."""
    given = given_team(motion, vehicle, still, events)
    run = tc.simulate(given)
    quick, plain = list(tc.steps(given)), list(tc.steps(given, decide_all=decide_all))
    assert [step.step for step in quick] == [step.step for step in plain] == list(range(run.steps + 1))
    for one, other in zip(quick, plain, strict=True):
        np.testing.assert_array_equal(one.positions, other.positions)
        np.testing.assert_array_equal(one.positions, run.positions[one.step])
        np.testing.assert_array_equal(one.state.vehicles, other.state.vehicles)
        assert (one.state.quiet, one.state.still) == (other.state.quiet, other.state.still)
        assert (one.layers, one.depth, one.largest_error) == (other.layers, other.depth, other.largest_error)
        if one.step:
            ours, theirs = one.transition.arrays(ARRAYS), other.transition.arrays(ARRAYS)
            for name in ARRAYS:
                np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
                np.testing.assert_array_equal(ours[name], run.read(name)[one.step - 1], err_msg=name)
    cut = tc.simulate(given.replace(steps=9))
    np.testing.assert_array_equal(cut.positions, run.positions[: cut.steps + 1])


@pytest.mark.parametrize("motion", ["reach", "walk"])
@pytest.mark.parametrize("agents", [100, 1_000, 20_000])
def test_a_sample_of_agents_decides_on_its_own_what_the_team_does(monkeypatch, agents, motion):
    rng = np.random.default_rng(agents)
    reference, targets = rng.random((agents, 2)), tc.Targets(rng.random((agents, 2)))
    settings = {"network": {"mentee": "balanced"}, "control": {"motion": motion}, "steps": 12}
    runs = []
    for threads in ("1", "2"):
        monkeypatch.setenv("TRICOVER_THREADS", threads)
        runs.append(tc.simulate(tc.Scenario(reference=reference, targets=targets, **settings)))
    run = runs[0]
    for name in ARRAYS:
        np.testing.assert_array_equal(run.read(name), runs[1].read(name), err_msg=name)
    told = run.epochs[0].told
    for step in range(run.steps):
        before = run.positions[step]
        for agent in rng.choice(run.network.followers, 12, replace=False):
            corners = before[run.network.in_neighbors[agent]][None]
            view = View(step, np.array([agent]), before[agent][None], corners, targets)
            decision = decide(view, told, {})
            cells = cells_of(view, told, decision)
            np.testing.assert_array_equal(decision.setpoints[0], run.positions[step + 1, agent])
            assert cells.state[0] == run.states[step, agent]
            assert cells.goal[0] == run.goal_cells[step, agent]
            assert cells.next[0] == run.next_cells[step, agent]


def test_only_those_decide_whose_knowledge_has_changed(monkeypatch):
    reference, points = team(3, agents=60)
    mission = Mission.of(tc.Scenario(reference=reference, targets=points))
    network, first, asked = mission.epochs[0].network, mission.start(), []

    def listen(view, told, memory):
        asked.extend(view.agents[told.network.layer[view.agents] > 0].tolist())
        return decide(view, told, memory)

    monkeypatch.setattr(incremental, "decide", listen)
    deciding = Incremental()

    def who(positions):
        asked.clear()
        deciding(mission, State(0, positions, positions, first.present))
        return sorted(asked)

    assert who(reference) == network.followers.tolist()
    assert who(reference) == who(reference.copy()) == []
    after = reference.copy()
    after[network.followers[4]] += 1e-12
    listeners = np.flatnonzero((network.in_neighbors == network.followers[4]).any(axis=1))
    assert who(after) == sorted([network.followers[4], *listeners])
    moved = after.copy()
    moved[network.anchors[0]] += 1e-12
    listeners = np.flatnonzero((network.in_neighbors == network.anchors[0]).any(axis=1))
    assert who(moved) == listeners.tolist()
    for axis in range(2):  # a bit of one coordinate is enough
        agent = network.followers[axis]
        moved = moved.copy()
        moved[agent, axis] = np.nextafter(moved[agent, axis], np.inf)
        listeners = np.flatnonzero((network.in_neighbors == agent).any(axis=1))
        assert who(moved) == sorted({int(agent), *listeners.tolist()})


def test_a_team_at_rest_is_not_looked_through(monkeypatch):
    """Nobody moved and the targets stand: later steps do not ask who is concerned, nor does anybody decide."""
    mission = Mission.of(given_team("walk", "exact", False, None))
    end = list(tc.steps(mission))[-1].state
    deciding = Incremental()
    later = [State(end.step + k, end.positions.copy(), end.vehicles, end.present) for k in range(3)]
    first = deciding(mission, later[0])

    def fail(*_):
        raise AssertionError("somebody looked")

    monkeypatch.setattr(incremental, "_follow", fail)
    for state in later[1:]:
        np.testing.assert_array_equal(deciding(mission, state).decision.setpoints, first.decision.setpoints)


def test_targets_that_change_let_everybody_decide():
    given = given_team("reach", "exact", False, None)
    mission, deciding = Mission.of(given), Incremental()
    state = mission.start()
    for _ in range(7):
        quick, plain = deciding(mission, state), decide_all(mission, state)
        np.testing.assert_array_equal(quick.decision.setpoints, plain.decision.setpoints)
        # The team does not move, the targets alone do: only they can change a decision.
        state = State(state.step + 1, state.positions, state.vehicles, state.present)


def test_a_shortcut_may_meet_states_in_any_order():
    mission = Mission.of(given_team("walk", "anywhere", True, EVENTS))
    states = [step.state for step in tc.steps(mission)]
    deciding = Incremental()
    for which in (0, 7, 3, 3, 20, 1, 8):
        quick, plain = advance(mission, states[which], deciding), advance(mission, states[which])
        np.testing.assert_array_equal(quick.positions, plain.positions)
        np.testing.assert_array_equal(quick.positions, states[which + 1].positions)


def test_a_shortcut_may_be_used_for_several_missions():
    missions = [Mission.of(given_team(motion, "exact", True, None)) for motion in ("reach", "walk")]
    deciding, state = Incremental(), missions[0].start()
    for mission in (*missions, *missions):
        quick, plain = deciding(mission, state), decide_all(mission, state)
        np.testing.assert_array_equal(quick.decision.setpoints, plain.decision.setpoints)


def test_neighbours_come_one_after_another():
    positions = np.random.default_rng(0).random((5000, 2))
    agents = np.arange(10, 5000)
    ordered = near_each_other(agents, positions)
    assert sorted(ordered) == agents.tolist()
    jumps = np.linalg.norm(np.diff(positions[ordered], axis=0), axis=1)
    assert np.median(jumps) < 2 * np.sqrt(2) / incremental.TILES


@pytest.mark.parametrize("size", [1.0, 2.0**-40, 2.0**30])
@pytest.mark.parametrize("shift", [0.0, 2.0, -1024.0])
def test_tiles_come_row_by_row_wherever_and_however_large_the_team_is(size, shift):
    """Positions of few bits, so that moving and stretching them has no rounding."""
    rng = np.random.default_rng(1)
    grid = rng.integers(0, 2**11, (3000, 2)) / 2**11
    agents = rng.choice(3000, 2500, replace=False)
    ordered = near_each_other(agents, (grid + shift) * size)
    low, extent = grid.min(axis=0), np.ptp(grid, axis=0)
    column, row = np.floor((grid - low) * (incremental.TILES / extent)).T
    place = {agent: k for k, agent in enumerate(agents.tolist())}
    # In a tile they stay in the order in which they came.
    keys = [(row[agent], column[agent], place[agent]) for agent in ordered.tolist()]
    assert keys == sorted(keys)


def test_a_team_on_one_line_or_at_one_point_has_an_order_too():
    for positions in (np.zeros((50, 2)), np.stack([np.arange(50.0), np.zeros(50)], axis=1)):
        assert near_each_other(np.arange(50), positions).tolist() == list(range(50))


@pytest.mark.parametrize("motion", ["reach", "walk"])
def test_how_many_decide_together_changes_no_bit(monkeypatch, motion):
    given = given_team(motion, MIXED, False, EVENTS)
    whole = tc.simulate(given)
    for together in (1, 7, 1000):
        monkeypatch.setattr(incremental, "AT_ONCE", together)
        run = tc.simulate(given)
        for name in ARRAYS:
            np.testing.assert_array_equal(run.read(name), whole.read(name), err_msg=name)


def test_a_rule_of_the_users_is_asked_in_one_thread(monkeypatch):
    """It need not be safe in several."""
    asked = []

    def rule(network):
        def local_goal(agents, triangles, targets):
            asked.append((threading.get_ident(), len(agents)))
            return triangles.mean(axis=1)

        return local_goal

    monkeypatch.setattr(incremental, "AT_ONCE", 5)
    monkeypatch.setenv("TRICOVER_THREADS", "2")
    given = given_team("reach", "exact", True, None)
    run = tc.simulate(given.replace(control={"goal": rule}))
    assert {thread for thread, _ in asked} == {threading.get_ident()}
    assert asked[0][1] == len(run.network.followers)
