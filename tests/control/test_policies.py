"""Policies of the user's own: checked move by move, simulated, stored, and certified for what they can promise."""

import sys

import numpy as np
import pytest

import tricover as tc
from tests.simulation.teams import scenario
from tricover.control import Told
from tricover.control.policies import prepare_policy
from tricover.errors import InputError
from tricover.geometry import OUTSIDE, CellGrid
from tricover.mdp import next_moves
from tricover.simulation import Mission

WALK = {"motion": "walk", "resolution": 5}
MODULE = """
def still(network, grid):
    return lambda view, states, goals: states
"""


def optimal(network, grid):
    """The optimal policy once more, from outside."""
    return lambda view, states, goals: next_moves(grid, view.heard, goals, states)


def towards(cells):
    return lambda network, grid: lambda view, states, goals: np.asarray(cells)


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "policy_by_name.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    yield "policy_by_name:still"
    sys.modules.pop("policy_by_name", None)


@pytest.mark.parametrize("seed", [0, 1, 3, 8])
def test_the_optimal_policy_from_outside_changes_no_bit(seed):
    given = scenario(seed, control=WALK)
    ours, theirs = tc.simulate(given), tc.simulate(given.replace(control={"policy": optimal}))
    np.testing.assert_array_equal(theirs.positions, ours.positions)
    np.testing.assert_array_equal(theirs.next_cells, ours.next_cells)


def test_a_policy_that_stays_stays_inside_and_nobody_promises_that_it_arrives(module):
    given = scenario(3, agents=20, control={**WALK, "policy": module}, steps=20)
    run = tc.simulate(given)
    followers = run.network.followers
    np.testing.assert_array_equal(run.next_cells[:, followers], run.states[:, followers])
    certificate = tc.certify(run)
    assert certificate["theorem1"].verdict == "holds"
    for one in (certificate, tc.certify(given)):
        assert one["theorem3"].verdict == one["neighbourhood"].verdict == "does not apply"
        assert "a policy of the user's own" in one["theorem3"].summary


def test_it_is_written_down_stored_and_resumed_by_name(module, tmp_path):
    given = scenario(3, agents=20, control={**WALK, "policy": module}, steps=6, stop_when_settled=False)
    given.save("mine.toml")
    assert tc.Scenario.load("mine.toml") == given
    run = tc.simulate(given, tmp_path / "run.zarr")
    assert tc.Run.open(tmp_path / "run.zarr").scenario.control.policy == module
    again = tc.simulate(given, tmp_path / "run.zarr", resume=True)
    np.testing.assert_array_equal(again.positions, run.positions)
    told = Mission.of(given).epochs[0].told
    assert Told.from_json(told.to_json()).policy == module


def test_a_function_without_a_name_cannot_be_written_down():
    mission = Mission.of(scenario(0, agents=12, control={**WALK, "policy": towards([0])}))
    with pytest.raises(InputError, match="a policy that is a function"):
        mission.epochs[0].told.to_json()


def test_who_is_outside_is_not_asked():
    grid, asked = CellGrid(4), []

    def policy(network, grid):
        def local_moves(view, states, goals):
            asked.append(states.tolist())
            return states

        return local_moves

    view = type("View", (), {"rows": lambda self, rows: self, "agents": np.arange(3)})()
    moves = prepare_policy(policy, None, grid)(view, np.array([3, OUTSIDE, 5]), np.array([0, OUTSIDE, 0]))
    assert moves.tolist() == [3, OUTSIDE, 5]
    assert asked == [[3, 5]]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([2, 15], "sent agent 8 to a cell"),  # not next to cell 0
        ([2, -1], "sent agent 8 to a cell"),  # no cell at all, though a corner cell has -1 among its neighbours
        ([2.0, 2.0], "gave float64"),
        ([2], "of shape \\(1,\\)"),
    ],
)
def test_a_move_that_cannot_be_is_an_error_that_names_the_agent(cells, said):
    view = type("View", (), {"agents": np.array([7, 8])})()
    with pytest.raises(InputError, match=said):
        prepare_policy(towards(cells), None, CellGrid(4))(view, np.array([0, 0]), np.array([3, 3]))


@pytest.mark.parametrize(
    "control", [{"motion": "reach"}, {**WALK, "kernel": "learned"}, {**WALK, "kernel": {"slip": 0.1}}]
)
def test_it_goes_with_a_walk_of_certain_moves(control):
    with pytest.raises(InputError, match="policy goes with motion"):
        scenario(0, agents=12, control={**control, "policy": "mine:policy"})
    told = Mission.of(scenario(0, agents=12)).epochs[0].told
    with pytest.raises(InputError, match="a policy of your own goes with"):
        Told(told.network, told.paths, policy=optimal)


@pytest.mark.parametrize("given", ["optimal", 3, "mine"])
def test_what_is_no_policy_is_refused(given):
    with pytest.raises(InputError, match=r"control\.policy: must be 'module:function', or a function"):
        scenario(0, agents=12, control={**WALK, "policy": given})


@pytest.mark.parametrize("wrong", [lambda network: None, lambda network, grid: lambda view: view])
def test_a_policy_of_the_wrong_form_is_told_the_right_one(wrong):
    with pytest.raises(InputError, match="must take"):
        tc.simulate(scenario(0, agents=12, control={**WALK, "policy": wrong}))
