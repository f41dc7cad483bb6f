import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tricover as tc
from tricover import mdp
from tricover.errors import InputError
from tricover.geometry import flat

GAMMAS = [0.01, 0.5, 0.95, 0.999]
triangles = arrays(np.float64, (3, 2), elements=st.floats(-10, 10).map(lambda x: round(x, 3)))


def areal(triangle):
    sides = np.linalg.norm(triangle - np.roll(triangle, 1, axis=0), axis=1)
    return not flat(triangle) and sides.min() > 1e-3


@pytest.mark.parametrize("gamma", GAMMAS)
def test_default_reward_leads_every_cell_to_every_goal_by_a_shortest_walk(triangle, gamma):
    grid = tc.CellGrid(6)
    cells = np.arange(len(grid))
    for goal in cells:
        solution = tc.LocalMDP(grid, triangle, goal, gamma=gamma).solve("value_iteration")
        assert solution.reaches_goal
        assert grid.moves(solution.policy, goal).tolist() == np.maximum(grid.moves(cells, goal) - 1, 0).tolist()


@pytest.mark.parametrize("gamma", [0.3, 0.95, 0.999])
@pytest.mark.parametrize("slip", [0.0, 0.1, 0.5])
def test_default_reward_leads_to_the_goal_at_the_papers_resolution(triangle, gamma, slip):
    grid = tc.CellGrid(35)
    for goal in (0, 611, 1224):
        solution = tc.LocalMDP(grid, triangle, goal, gamma=gamma, kernel=mdp.slip(grid, slip)).solve()
        assert solution.reaches_goal
        assert len(solution.path(700)) - 1 <= grid.diameter


def test_small_own_reward_that_strands_agents_is_reported():
    thin = np.array([[0, 0], [1, 0], [0.37, 0.02]])
    stranded = tc.LocalMDP(tc.CellGrid(35), thin, 700, beta=0.01, gamma=0.9).solve()
    assert not stranded.reaches_goal
    lost = np.flatnonzero(~stranded.reaching)
    assert lost.size > 0
    for cell in lost[::50]:
        assert stranded.path(cell)[-1] != 700
    for cell in np.flatnonzero(stranded.reaching)[::50]:
        assert stranded.path(cell)[-1] == 700
    assert "never reach the goal" in repr(stranded)
    assert tc.LocalMDP(tc.CellGrid(35), thin, 700, gamma=0.9).solve().reaches_goal


@settings(max_examples=40, deadline=None)
@given(triangles.filter(areal), st.integers(0, 48), st.sampled_from([0.6, 0.95]), st.floats(1e-3, 1e3))
def test_policy_path_is_never_longer_than_the_diameter(triangle, goal, gamma, alpha):
    grid = tc.CellGrid(7)
    solution = tc.LocalMDP(grid, triangle, goal, alpha=alpha, gamma=gamma).solve()
    lengths = [len(solution.path(cell)) - 1 for cell in range(len(grid))]
    assert max(lengths) <= grid.diameter
    assert all(solution.path(cell)[-1] == goal for cell in range(len(grid)))


@settings(max_examples=40, deadline=None)
@given(
    triangles.filter(areal),
    st.integers(0, 35),
    st.floats(0, 6.28),
    st.floats(-50, 50),
    st.integers(-20, 20),
    st.sampled_from([None, 0.5]),
    st.sampled_from([0.0, 0.2]),
)
def test_rotation_translation_and_scaling_change_nothing(triangle, goal, angle, shift, power, reward, slip):
    grid = tc.CellGrid(6)
    size = 2.0**power
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    moved = (triangle @ turn.T + shift) * size
    assume(not flat(moved))
    kernel = mdp.slip(grid, slip)
    first = tc.LocalMDP(grid, triangle, goal, beta=reward, kernel=kernel).solve()
    second = tc.LocalMDP(grid, moved, goal, beta=reward and reward * size, kernel=kernel).solve()
    reach = np.abs(first.value).max()
    np.testing.assert_allclose(second.value / size, first.value, rtol=1e-9, atol=1e-9 * reach)


@settings(max_examples=40, deadline=None)
@given(triangles.filter(areal), st.integers(0, 35), st.floats(0.1, 10), st.floats(1, 5), st.sampled_from([0.0, 0.2]))
def test_value_is_monotone_in_cost(triangle, goal, reward, factor, slip):
    grid = tc.CellGrid(6)
    kernel = mdp.slip(grid, slip)
    base = tc.LocalMDP(grid, triangle, goal, beta=reward, kernel=kernel).solve().value
    slack = 1e-8 * np.abs(base).max()
    dearer = tc.LocalMDP(grid, triangle, goal, alpha=factor, beta=reward, kernel=kernel).solve().value
    richer = tc.LocalMDP(grid, triangle, goal, beta=reward * factor, kernel=kernel).solve().value
    assert (dearer >= base - slack).all()
    assert (richer <= base + slack).all()


def test_costs_are_the_papers():
    grid = tc.CellGrid(4)
    triangle = np.array([[1.0, 1], [5, 2], [2, 6]])
    process = tc.LocalMDP(grid, triangle, 5, alpha=2.5, beta=3.0)
    centres = grid.weights @ triangle
    expected = 2.5 * np.linalg.norm(centres - centres[5], axis=1)
    expected[5] -= 3.0
    np.testing.assert_allclose(process.costs, expected, rtol=1e-14, atol=1e-14)


def test_ties_go_to_the_lowest_slot_and_never_cycle():
    grid = tc.CellGrid(9)
    triangle = [[0, 0], [2, 0], [1, np.sqrt(3)]]
    goal = int(grid.locate([1 / 3, 1 / 3, 1 / 3]))
    process = tc.LocalMDP(grid, triangle, goal)
    policies = [process.solve(name).policy for name in mdp.SOLVERS]
    assert all(np.array_equal(policy, policies[0]) for policy in policies)
    value = process.solve().value
    tied = 0
    for cell in range(len(grid)):
        ahead = [n for n in grid.neighbors[cell] if n >= 0 and grid.moves(n, goal) < grid.moves(cell, goal)]
        if len(ahead) == 2 and abs(value[ahead[0]] - value[ahead[1]]) < 1e-12 * abs(value[cell]):
            tied += 1
            assert policies[0][cell] == ahead[0]
    assert tied > 3


def test_outside_there_is_one_cell_and_nothing_to_decide():
    process = tc.LocalMDP.outside([[0, 0], [3, 0], [0, 3]])
    solution = process.solve()
    assert process.grid.resolution == 1
    assert solution.policy.tolist() == [0]
    assert solution.reaches_goal
    np.testing.assert_allclose(process.grid.weights @ process.triangle, [[1, 1]])
    inside = tc.LocalMDP(tc.CellGrid(4), [[0, 0], [3, 0], [0, 3]], 3)
    assert inside.actions(-1).tolist() == [0]
    assert sorted(inside.actions(3)) == sorted([3, *(n for n in inside.grid.neighbors[3] if n >= 0)])


@pytest.mark.parametrize("gamma", [0.02, 0.5, 0.999999])
def test_default_reward_is_its_power_sum(gamma):
    process = tc.LocalMDP(tc.CellGrid(4), [[0, 0], [3, 0], [0, 4]], 3, alpha=2, gamma=gamma)
    assert process.beta == pytest.approx(2 * 5 * sum(gamma**-k for k in range(7)), rel=1e-12)


def test_gamma_too_small_for_a_default_reward_is_named():
    triangle = [[0, 0], [3, 0], [0, 4]]
    with pytest.raises(InputError, match=r"gamma 0\.01 is too small for resolution 200"):
        tc.LocalMDP(tc.CellGrid(200), triangle, 3, gamma=0.01)
    assert tc.LocalMDP(tc.CellGrid(200), triangle, 3, gamma=0.01, beta=1.0).solve().converged
    assert tc.LocalMDP(tc.CellGrid(35), triangle, 3, gamma=1e-4).solve().reaches_goal


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gamma": 1}, "gamma must lie between 0 and 1, both excluded, not 1"),
        ({"gamma": 0.0}, "gamma must lie between 0 and 1"),
        ({"gamma": float("nan")}, "gamma must lie between 0 and 1"),
        ({"alpha": 0}, "alpha must be positive, not 0"),
        ({"beta": -1}, "beta must be positive, not -1"),
        ({"beta": float("inf")}, "beta must be positive, not inf"),
        ({"beta": 1e308}, r"beta 1e\+308 is too large: the value of the goal, beta / \(1 - gamma\), overflows"),
        ({"goal_cell": 16}, "goal cell 16 is out of range: cells are 0 to 15"),
        ({"goal_cell": -1}, "goal cell -1 is out of range"),
        ({"goal_cell": [1, 2]}, "goal cell must be one whole number"),
        ({"goal_cell": 1.5}, "goal cell must be a whole number"),
        ({"triangle": [[0, 0], [1, 1], [2, 2]]}, "has no area: its corners lie on one line"),
        ({"triangle": [[0, 0], [0, 0], [2, 2]]}, "has no area"),
        ({"triangle": [[0, 0], [1, 1]]}, r"triangle must have shape \(3, 2\)"),
        ({"triangle": [[0, 0], [1, float("nan")], [2, 2]]}, "corner that is not finite"),
        ({"kernel": mdp.slip(tc.CellGrid(5), 0.1)}, "kernel is for resolution 5, but the grid has resolution 4"),
    ],
)
def test_bad_input_is_named(change, message):
    good = {"triangle": [[0, 0], [1, 0], [0, 1]], "goal_cell": 3}
    with pytest.raises(InputError, match=message):
        tc.LocalMDP(tc.CellGrid(4), **{**good, **change})


def test_a_number_in_place_of_the_grid_is_named():
    with pytest.raises(InputError, match=r"grid must be a CellGrid, such as CellGrid\(35\), not 35"):
        tc.LocalMDP(35, [[0, 0], [1, 0], [0, 1]], 3)


def test_export_to_matrices_gives_the_same_optimum():
    grid = tc.CellGrid(5)
    process = tc.LocalMDP(grid, [[0, 0], [2, 0], [0.3, 1]], 11, gamma=0.9, kernel=mdp.slip(grid, 0.2))
    transitions, costs = process.to_matrices()
    assert [matrix.shape for matrix in transitions] == [(25, 25)] * 4
    assert costs.shape == (25, 4)
    value = np.zeros(25)
    for _ in range(400):
        value = np.min([costs[:, a] + 0.9 * transitions[a] @ value for a in range(4)], axis=0)
    np.testing.assert_allclose(process.solve().value, value, rtol=1e-9, atol=1e-9 * np.abs(value).max())


def test_solution_says_what_it_is():
    text = repr(tc.LocalMDP(tc.CellGrid(4), [[0, 0], [1, 0], [0, 1]], 3).solve())
    assert text == "Solution(16 cells, goal 3, Exact: 1 iteration, within 0 of the optimum, reaches the goal)"
