import numpy as np
import pytest

import tricover as tc
from tricover import mdp
from tricover.errors import InputError


def many_agents(count, size, seed):
    """Random triangles of all shapes: fair, 50:1, 1000:1, tiny, huge, far away, symmetric."""
    rng = np.random.default_rng(seed)
    triangles = rng.normal(size=(count, 3, 2))
    triangles[1::4, :, 1] /= 50
    triangles[2::4, :, 0] /= 1000
    triangles[3::8] = [[0, 0], [2, 0], [1, np.sqrt(3)]]
    triangles *= 10.0 ** rng.integers(-6, 7, (count, 1, 1))
    triangles[::5] += 1e3 * np.abs(triangles[::5]).max(axis=(1, 2), keepdims=True)
    return triangles, rng.integers(0, size**2, count), rng.integers(0, size**2, count)


@pytest.mark.parametrize("size", [1, 2, 3, 8, 35])
@pytest.mark.parametrize("settings", [{}, {"gamma": 0.3}, {"gamma": 0.999, "alpha": 3.0}])
def test_next_move_is_the_policy_of_the_full_solution(size, settings):
    grid = tc.CellGrid(size)
    triangles, goals, cells = many_agents(700, size, size)
    moves = mdp.next_moves(grid, triangles, goals, cells, **settings)
    for agent in range(len(cells)):
        policy = tc.LocalMDP(grid, triangles[agent], goals[agent], **settings).solve().policy
        assert moves[agent] == policy[cells[agent]], agent


def test_next_move_from_every_cell_to_every_goal():
    grid = tc.CellGrid(5)
    cells, goals = (part.ravel() for part in np.meshgrid(np.arange(25), np.arange(25)))
    for triangle in many_agents(24, 5, 0)[0]:
        moves = mdp.next_moves(grid, np.repeat(triangle[None], 625, axis=0), goals, cells).reshape(25, 25)
        for goal in range(25):
            assert moves[goal].tolist() == tc.LocalMDP(grid, triangle, goal).solve("policy_iteration").policy.tolist()


@pytest.mark.parametrize("beta", [1e-3, 0.5, 1e9])
def test_own_reward_gives_the_policy_of_the_full_solution_too(beta):
    grid = tc.CellGrid(12)
    triangles, goals, cells = many_agents(300, 12, 3)
    moves = mdp.next_moves(grid, triangles, goals, cells, beta=beta)
    for agent in range(len(cells)):
        policy = tc.LocalMDP(grid, triangles[agent], goals[agent], beta=beta).solve().policy
        assert moves[agent] == policy[cells[agent]], agent


def test_uncertain_kernels_are_decided_too():
    grid = tc.CellGrid(8)
    triangles, goals, cells = many_agents(20, 8, 4)
    kernel = mdp.slip(grid, 0.1)
    moves = mdp.next_moves(grid, triangles, goals, cells, kernel=kernel)
    for agent in range(20):
        policy = tc.LocalMDP(grid, triangles[agent], goals[agent], kernel=kernel).solve("policy_iteration").policy
        assert moves[agent] == policy[cells[agent]]


def test_result_does_not_depend_on_the_number_of_threads(monkeypatch):
    grid = tc.CellGrid(20)
    agents = many_agents(5000, 20, 5)
    results = []
    for threads in ("1", "3"):
        monkeypatch.setenv("TRICOVER_THREADS", threads)
        results.append(mdp.next_moves(grid, *agents))
    assert np.array_equal(*results)


def test_agents_outside_keep_their_state_whatever_their_triangle():
    grid = tc.CellGrid(4)
    triangles = [[[0, 0], [1, 0], [0, 1]], [[0, 0], [1, 1], [2, 2]], [[np.nan, 0], [1, 1], [2, 2]]]
    assert mdp.next_moves(grid, triangles, [0, -1, 99], [0, -1, -1]).tolist() == [0, -1, -1]
    assert mdp.next_moves(grid, np.empty((0, 3, 2)), [], []).tolist() == []


def test_solve_many_solves_only_what_changed():
    grid = tc.CellGrid(9)
    triangles, goals, _ = many_agents(30, 9, 6)
    first = mdp.solve_many(grid, triangles, goals)
    assert first.solved.all()
    moved, aims = triangles.copy(), goals.copy()
    moved[4, 1] *= 1.001
    aims[7] = (aims[7] + 1) % 81
    second = first.updated(moved, aims)
    assert np.flatnonzero(second.solved).tolist() == [4, 7]
    fresh = mdp.solve_many(grid, moved, aims)
    assert np.array_equal(second.values, fresh.values)
    assert np.array_equal(second.policies, fresh.policies)
    assert np.array_equal(fresh.values[3], tc.LocalMDP(grid, moved[3], aims[3]).solve().value)
    with pytest.raises(InputError, match="solutions of 30 agents, not of 29"):
        first.updated(moved[1:], aims[1:])


def test_updated_solutions_keep_their_settings_and_notice_triangles_changed_in_place():
    grid = tc.CellGrid(6)
    triangles, goals, _ = many_agents(5, 6, 7)
    settings = {"alpha": 2.0, "beta": 3.0, "gamma": 0.8, "kernel": mdp.slip(grid, 0.2), "solver": "policy_iteration"}
    first = mdp.solve_many(grid, triangles, goals, **settings)
    before = first.values.copy()
    triangles[2, 0] += 0.1
    second = first.updated(triangles, goals)
    assert np.flatnonzero(second.solved).tolist() == [2]
    assert np.array_equal(second.values, mdp.solve_many(grid, triangles, goals, **settings).values)
    assert np.array_equal(first.values, before)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cells": [0, 16]}, "cell 16 is out of range"),
        ({"cells": [0, -2]}, "cell -2 is out of range"),
        ({"cells": [0]}, r"cells must have shape \(2,\)"),
        ({"goal_cells": [0, 16]}, "goal cell 16 is out of range"),
        ({"goal_cells": [0]}, r"goal cells must have shape \(2,\)"),
        ({"triangles": [[[0, 0], [1, 0], [0, 1]], [[0, 0], [1, 1], [2, 2]]]}, "triangle of agent 1 has no area"),
        ({"triangles": [[[0, 0], [1, 0], [0, np.inf]]] * 2}, "triangle of agent 0 and 1 has a corner that is not"),
        ({"triangles": [[0, 0], [1, 0]]}, r"triangles must have shape \(agents, 3, 2\)"),
        ({"gamma": 1.0}, "gamma must lie between 0 and 1"),
        ({"gamma": 1e-60}, "gamma 1e-60 is too small for resolution 4"),
    ],
)
def test_bad_input_is_named(change, message):
    good = {"triangles": [[[0, 0], [1, 0], [0, 1]]] * 2, "goal_cells": [0, 1], "cells": [2, 3]}
    with pytest.raises(InputError, match=message):
        mdp.next_moves(tc.CellGrid(4), **{**good, **change})
