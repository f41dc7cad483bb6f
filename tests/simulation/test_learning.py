"""Agents that know that moves may fail, or learn it: the same alone and together, with and without the shortcut."""

import pickle

import numpy as np
import pytest

import tricover as tc
from tests.simulation.stores import stop_at
from tricover.control import Told, decide, rows_of
from tricover.errors import InputError
from tricover.geometry import barycentric
from tricover.mdp import LocalMDP, slip
from tricover.simulation import Mission
from tricover.simulation.deciding import decide_all, view_of
from tricover.simulation.stored import StoreReader

GUSTY = {"kind": "gusty", "chance": 0.4, "gust": [1.5, 0.8]}
RESOLUTION = 7


def team(seed=0, agents=18, kernel="learned", vehicle=GUSTY, **changes):
    """A team whose targets jump every 25 steps, so that agents keep walking."""
    rng = np.random.default_rng(seed)
    reference = rng.random((agents, 2)) * 60
    targets = np.repeat(rng.random((4, 40, 2)) * 60, 25, axis=0)
    settings = {"control": {"motion": "walk", "resolution": RESOLUTION, "kernel": kernel, "window": 60}}
    settings["control"] |= changes.pop("control", {})
    return tc.Scenario(
        reference=reference,
        targets=tc.Targets(targets),
        network={"mentee": "balanced"},
        vehicle=vehicle,
        steps=changes.pop("steps", 99),
        seed=seed,
        **settings,
        **changes,
    )


def same(one, other):
    assert one.keys() == other.keys()
    for name, rows in one.items():
        np.testing.assert_array_equal(rows, other[name], err_msg=name)


def test_who_never_misses_walks_as_if_it_knew():
    """Learning changes no bit where there is nothing to learn; neither do cells of a vehicle that lands in them."""
    for vehicle in ("exact", "anywhere"):
        learned, certain = (tc.simulate(team(kernel=kernel, vehicle=vehicle)) for kernel in ("learned", "certain"))
        np.testing.assert_array_equal(learned.positions, certain.positions)
        np.testing.assert_array_equal(learned.next_cells, certain.next_cells)


def test_a_team_at_rest_that_never_missed_is_known_to_stay():
    still = team(vehicle="exact").replace(targets=[[30.0, 20.0], [20.0, 40.0]], steps=200)
    run = tc.simulate(still)
    assert run.converged
    assert run.steps < 200
    assert run.steps == tc.simulate(still.replace(control={"kernel": "certain"})).steps


@pytest.mark.parametrize("kernel", ["learned", {"slip": 0.2}])
def test_the_shortcut_changes_no_bit(kernel):
    mission = Mission.of(team(kernel=kernel))
    for quick, plain in zip(tc.steps(mission), tc.steps(mission, decide_all=decide_all), strict=True):
        np.testing.assert_array_equal(quick.positions, plain.positions)
        same(quick.state.memory, plain.state.memory)
    assert quick.state.memory["planned"].any()


@pytest.mark.parametrize("kernel", ["learned", {"slip": 0.2}])
def test_killed_and_resumed_it_goes_on_with_what_it_knew(tmp_path, kernel):
    given = team(kernel=kernel)
    whole = tc.simulate(given)
    for step in (1, 13, 14, 40):
        tc.simulate(given, tmp_path / "run.zarr", resume=True, progress=stop_at(step))
    run = tc.simulate(given, tmp_path / "run.zarr", resume=True)
    np.testing.assert_array_equal(run.positions, whole.positions)
    end = [step.state for step in tc.steps(given)][-1]
    same(StoreReader(tmp_path / "run.zarr").state().memory, end.memory)


@pytest.mark.parametrize("kernel", ["learned", {"slip": 0.2}])
def test_an_agent_alone_plans_as_in_the_team(kernel):
    mission = Mission.of(team(kernel=kernel))
    told = mission.epochs[0].told
    copy = Told.from_json(told.to_json())
    assert (copy.kernel, copy.window) == (told.kernel, told.window)
    agents, compared = mission.epochs[0].network.followers, 0
    for step in list(tc.steps(mission))[5:95:9]:
        view, memory = view_of(mission, step.state, agents), rows_of(step.state.memory, agents)
        together = decide(view, told, memory)
        for row in range(len(agents)):
            one = np.array([row])
            alone = decide(view.rows(one), copy, rows_of(memory, one))
            np.testing.assert_array_equal(alone.setpoints, together.setpoints[one])
            if alone.replanned is None:
                continue
            place = together.replanned.rows.tolist().index(row)
            for name, rows in alone.replanned.plans.items():
                np.testing.assert_array_equal(rows, together.replanned.plans[name][[place]], err_msg=name)
                compared += 1
    assert compared


def test_the_moves_of_a_given_kernel_are_those_of_its_decision_process():
    mission = Mission.of(team(kernel={"slip": 0.3}, vehicle="exact"))
    kernel, network, moved = slip(tc.CellGrid(RESOLUTION), 0.3), mission.epochs[0].network, 0
    run = tc.simulate(mission)
    for step in range(0, run.steps, 7):
        for agent in network.followers.tolist():
            state, goal, following = (cells[step, agent] for cells in (run.states, run.goal_cells, run.next_cells))
            if state < 0:
                continue
            triangle = run.positions[step][network.in_neighbors[agent]]
            policy = LocalMDP(tc.CellGrid(RESOLUTION), triangle, int(goal), kernel=kernel).solve().policy
            assert policy[state] == following
            moved += policy[state] != state
    assert moved > 20


def recount(run, agent, window):
    """The last moves of an agent, from what the run recorded: intended cells, and where they ended."""
    grid, network, found = tc.CellGrid(RESOLUTION), run.network, []
    for step in range(run.steps):
        state, intended = run.states[step, agent], run.next_cells[step, agent]
        if state >= 0 and intended >= 0:
            triangle = run.positions[step][network.in_neighbors[agent]]
            found.append((intended, int(grid.locate(barycentric(run.positions[step + 1, agent], triangle)))))
    return np.array(found[-window:])


def test_what_is_learned_is_what_was_recorded():
    run = tc.simulate(team(seed=3))
    for agent in run.network.followers.tolist():
        moves = recount(run, agent, 60)
        known = run.learned(agent)
        np.testing.assert_array_equal(known.records, np.bincount(moves[:, 0], minlength=RESOLUTION**2))
        missed = (moves[:, 0] != moves[:, 1]).mean()
        assert abs(known.slip - missed) < 0.1, "the prior of some moves pulls it"
    assert 0.2 < np.mean([run.learned(agent).slip for agent in run.network.followers]) < 0.5


def test_a_run_without_learning_says_so():
    run = tc.simulate(team(kernel="certain", steps=3))
    with pytest.raises(InputError, match="nobody learned"):
        run.learned(5)
    run = tc.simulate(team(steps=3))
    with pytest.raises(InputError, match="is an anchor"):
        run.learned(int(run.network.core))
    with pytest.raises(InputError, match="99"):
        run.learned(99)


def test_what_was_learned_outlasts_a_repair():
    given = team(events={"leave": [{"step": 30, "agents": [4]}], "join": [{"step": 30, "reference": [[31.0, 29.0]]}]})
    states = [step.state for step in tc.steps(given)]
    before, after = states[30].memory["recorded"], states[31].memory["recorded"]
    assert (after >= before).all()
    assert before.sum() > 100
    assert before[-1] == 0, "who joins has nothing to remember"
    assert states[-1].memory["recorded"][-1] > 0


def test_with_the_run_goes_the_memory():
    run = tc.simulate(team(steps=30))
    copy = pickle.loads(pickle.dumps(run))
    agent = int(run.network.followers[0])
    np.testing.assert_array_equal(copy.learned(agent).records, run.learned(agent).records)


def test_who_was_not_let_go_records_nothing():
    """One that waits for others made no move of its policy."""
    given = team(safety={"separation": 1.0}, vehicle="exact")
    mission = Mission.of(given)
    run = tc.simulate(mission)
    moved = ((run.states >= 0) & (run.next_cells >= 0)).sum(axis=0)
    assert (run.next_cells == -4).any()
    np.testing.assert_array_equal(np.asarray(run.record.remembered("recorded")), moved)


def test_learning_takes_room_and_asks_for_it(monkeypatch):
    monkeypatch.setenv("TRICOVER_MEMORY", "0.001")
    with pytest.raises(InputError, match="agents remember"):
        tc.simulate(team(control={"window": 100_000}))
