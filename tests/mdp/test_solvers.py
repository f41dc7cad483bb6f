from fractions import Fraction

import numpy as np
import pytest
from quantecon.markov import DiscreteDP

import tricover as tc
from tricover import mdp
from tricover.errors import InputError
from tricover.mdp import _sweeps

GENERAL = ["value_iteration", "policy_iteration", "modified_policy_iteration"]
ALL = ["exact", *GENERAL]


def methods(process):
    return ALL if process.kernel.certain else GENERAL


def relative_error(value, expected, unit):
    return np.max(np.abs(value - expected) / (np.abs(expected) + unit))


def longest_side(triangle):
    return max(np.linalg.norm(triangle[a] - triangle[b]) for a, b in ((0, 1), (0, 2), (1, 2)))


def by_quantecon(process):
    """QuantEcon's policy iteration; it may cycle on ties, so it gets few rounds and value iteration's last word."""
    result = DiscreteDP(*process.to_quantecon()).solve(method="policy_iteration", max_iter=60)
    return -result.v


def solve_rationally(matrix, right):
    rows = [[*row, end] for row, end in zip(matrix, right, strict=True)]
    size = len(rows)
    for k in range(size):
        pivot = next(r for r in range(k, size) if rows[r][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for r in range(size):
            if r != k and rows[r][k]:
                factor = rows[r][k]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[k], strict=True)]
    return [row[-1] for row in rows]


def by_fractions(process, slip):
    """Policy iteration in rational numbers, from the neighbour table and the costs alone."""
    grid, gamma, slip = process.grid, Fraction(process.gamma), Fraction(slip)
    costs = [Fraction(cost) for cost in process.costs.tolist()]
    near = [[int(n) for n in row if n >= 0] for row in grid.neighbors]
    cells = range(len(grid))

    def chances(target):
        return {target: 1 - slip, **{n: slip / len(near[target]) for n in near[target]}}

    def q(cell, target, value):
        return costs[cell] + gamma * sum(p * value[e] for e, p in chances(target).items())

    policy = list(cells)
    while True:
        rows = [[Fraction(int(a == b)) - gamma * chances(policy[a]).get(b, 0) for b in cells] for a in cells]
        value = solve_rationally(rows, costs)
        better = [min([policy[s], *near[s], s], key=lambda t, s=s: q(s, t, value)) for s in cells]
        if better == policy:
            return np.array([float(v) for v in value])
        policy = better


@pytest.mark.parametrize("slip", [0.0, 0.1])
@pytest.mark.parametrize("settings", [{}, {"gamma": 0.5}, {"beta": 0.02, "gamma": 0.9}])
def test_exact_rational_values(triangle, slip, settings):
    grid = tc.CellGrid(3)
    unit = longest_side(triangle)
    settings = {**settings, "beta": settings["beta"] * unit} if "beta" in settings else settings
    for goal in range(len(grid)):
        process = tc.LocalMDP(grid, triangle, goal, kernel=mdp.slip(grid, slip), **settings)
        expected = by_fractions(process, slip)
        for method in methods(process):
            assert relative_error(process.solve(method).value, expected, unit) < 1e-8, (goal, method)


@pytest.mark.parametrize("slip", [0.0, 0.1, 0.6])
def test_quantecon_agrees_for_all_positions_of_the_goal(triangle, slip):
    grid = tc.CellGrid(5)
    kernel = mdp.slip(grid, slip)
    for goal in range(len(grid)):
        beta = None if goal % 2 else longest_side(triangle) * 10.0 ** (goal % 5 - 3)
        process = tc.LocalMDP(grid, triangle, goal, beta=beta, gamma=(0.8, 0.95, 0.99)[goal % 3], kernel=kernel)
        expected = by_quantecon(process)
        for method in methods(process):
            solution = process.solve(method)
            assert relative_error(solution.value, expected, longest_side(triangle)) < 1e-8, (goal, method)
            assert solution.bound <= 1e-8 * np.abs(solution.value).max()
            assert solution.converged


@pytest.mark.parametrize("slip", [0.0, 0.1])
def test_quantecon_agrees_at_the_papers_resolution(triangle, slip):
    grid = tc.CellGrid(35)
    process = tc.LocalMDP(grid, triangle, 500, kernel=mdp.slip(grid, slip))
    result = DiscreteDP(*process.to_quantecon()).solve(method="modified_policy_iteration", epsilon=1e-9, max_iter=5000)
    assert relative_error(process.solve().value, -result.v, longest_side(triangle)) < 1e-8


@pytest.mark.parametrize("gamma", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("slip", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("reward", [None, 0.3, 30.0])
def test_solvers_agree_on_value_and_policy(gamma, slip, reward):
    grid = tc.CellGrid(16)
    kernel = mdp.slip(grid, slip)
    rng = np.random.default_rng(7)
    for _ in range(3):
        triangle = rng.normal(size=(3, 2)) * [3, 1]
        process = tc.LocalMDP(grid, triangle, int(rng.integers(256)), beta=reward, gamma=gamma, kernel=kernel)
        first = process.solve("policy_iteration")
        for method in methods(process):
            other = process.solve(method)
            assert relative_error(other.value, first.value, longest_side(triangle)) < 1e-8, method
            assert np.array_equal(other.policy, first.policy), method
            assert other.reaches_goal == first.reaches_goal


def test_a_kernel_with_a_measure_for_each_action_is_solved_as_well():
    grid = tc.CellGrid(6)
    rng = np.random.default_rng(3)
    rows = mdp.slip(grid, 0.3).matrix.toarray()
    rows[rows > 0] *= rng.uniform(0.2, 1, (rows > 0).sum())
    rows /= np.maximum(rows.sum(axis=1, keepdims=True), 1e-300)
    kernel = mdp.Kernel(grid, np.eye(len(rows)), rows)
    process = tc.LocalMDP(grid, [[0, 0], [2, 0], [0.3, 1]], 11, kernel=kernel)
    expected = by_quantecon(process)
    for method in GENERAL:
        assert relative_error(process.solve(method).value, expected, 1.0) < 1e-8, method


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("reward", [None, 0.4])
def test_warm_start_is_used_and_changes_nothing(method, reward):
    grid = tc.CellGrid(12)
    kernel = None if method == "exact" else mdp.slip(grid, 0.1)
    before = tc.LocalMDP(grid, [[0, 0], [2, 0], [0.3, 1]], 60, beta=reward, kernel=kernel)
    after = tc.LocalMDP(grid, [[0, 0], [2.01, 0], [0.3, 1.02]], 60, beta=reward, kernel=kernel)
    cold = before.solve(method)
    again = before.solve(method, start=cold)
    assert again.iterations <= cold.iterations
    assert relative_error(again.value, cold.value, 1.0) < 1e-9
    moved = after.solve(method, start=cold.value)
    assert relative_error(moved.value, after.solve(method).value, 1.0) < 1e-9
    wild = after.solve(method, start=np.random.default_rng(1).normal(size=144) * 1e3 - 1e5)
    assert relative_error(wild.value, after.solve(method).value, 1.0) < 1e-9
    assert np.array_equal(wild.policy, after.solve(method).policy)


@pytest.mark.parametrize("method", GENERAL)
def test_a_solver_that_is_cut_short_says_how_far_off_it_is(method):
    grid = tc.CellGrid(9)
    process = tc.LocalMDP(grid, [[0, 0], [2, 0], [0.3, 1]], 60, kernel=mdp.slip(grid, 0.5))
    best = process.solve().value
    solver = {
        "value_iteration": mdp.ValueIteration(most=2),
        "policy_iteration": mdp.PolicyIteration(most=1),
        "modified_policy_iteration": mdp.ModifiedPolicyIteration(most=1, sweeps=1),
    }[method]
    short = process.solve(solver, start=-best)
    assert not short.converged
    assert 0 < np.abs(short.value - best).max() <= short.bound


def test_plain_sweeps_take_over_from_lifted_ones():
    grid = tc.CellGrid(6)
    process = tc.LocalMDP(grid, [[0, 0], [2, 0], [0.3, 1]], 7, gamma=0.9, kernel=mdp.slip(grid, 0.2))
    plain = process.solve(mdp.ValueIteration(lifted=0))
    assert plain.converged
    assert plain.iterations > process.solve("value_iteration").iterations
    assert relative_error(plain.value, process.solve("policy_iteration").value, 1.0) < 1e-9


def test_unknown_and_unfit_solvers_are_named():
    grid = tc.CellGrid(3)
    triangle = [[0, 0], [1, 0], [0, 1]]
    with pytest.raises(InputError, match="no solver 'magic'; there are exact, value_iteration"):
        tc.LocalMDP(grid, triangle, 0).solve("magic")
    with pytest.raises(InputError, match="no solver 3;"):
        tc.LocalMDP(grid, triangle, 0).solve(3)
    with pytest.raises(InputError, match="the exact solver needs a deterministic kernel"):
        tc.LocalMDP(grid, triangle, 0, kernel=mdp.slip(grid, 0.1)).solve("exact")
    with pytest.raises(InputError, match="start must be 9 finite values"):
        tc.LocalMDP(grid, triangle, 0).solve(start=[1.0, 2.0])


def test_residuals_are_the_largest_violation_and_the_largest_relative_to_the_value():
    grid, rng = tc.CellGrid(4), np.random.default_rng(2)
    kernel = mdp.slip(grid, 0.2)
    problem = tc.LocalMDP(grid, [[0, 0], [3, 0], [1, 2]], 5, kernel=kernel).problem
    values = 50 * rng.normal(size=16)
    _, worst, relative = _sweeps.improve(problem.model, values, np.zeros(16, np.int32), False)
    costs = problem.stage + problem.gamma * (kernel.matrix @ values).reshape(16, 4)
    off = np.abs(costs.min(axis=1) - values)
    assert worst == pytest.approx(off.max(), rel=1e-12)
    assert relative == pytest.approx((off / (1 + np.abs(values))).max(), rel=1e-12)
    assert relative < worst
