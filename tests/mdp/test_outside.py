"""Kernels that reach far and know the uncontained state, beside QuantEcon and plain linear algebra."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quantecon.markov import DiscreteDP

import tricover as tc
from tricover import mdp
from tricover.mdp.transition import intended

GENERAL = ["value_iteration", "policy_iteration", "modified_policy_iteration"]


def random_measures(grid, reach, outside, seed):
    """Any measures over the cells within reach of the intended one: some sharp, some wide, some mostly outside."""
    rng, cells = np.random.default_rng(seed), np.arange(len(grid))
    near = grid.moves(cells[:, None], cells) <= reach
    rows = np.where(near, rng.exponential(size=near.shape) ** 3, 0)
    rows[rng.random(near.shape) < 0.4] = 0
    rows[cells, cells] += rng.choice([0.01, 1.0, 10.0], len(grid))
    if outside:
        rows = np.column_stack([rows, rng.choice([0.0, 0.1, 5.0], len(grid)) * rng.random(len(grid))])
    return rows / rows.sum(axis=1, keepdims=True)


def longest_side(triangle):
    return np.linalg.norm(triangle - np.roll(triangle, 1, axis=0), axis=1).max()


def dense_process(process, measures):
    """Costs (S,) and chances (S, 4, S) from the measures, the neighbour table and the paper's cost alone."""
    grid, size = process.grid, longest_side(process.triangle)
    states = measures.shape[1]
    centres = grid.weights @ process.triangle
    costs = process.alpha * np.linalg.norm(centres - centres[process.goal_cell], axis=1)
    costs[process.goal_cell] = -process.beta
    chances = np.zeros((states, 4, states))
    for cell, targets in enumerate(intended(grid)):
        for action, target in enumerate(targets):
            chances[cell, action] = measures[target if target >= 0 else cell]
    if states > len(grid):
        costs = np.append(costs, process.alpha * size)
        chances[-1] = measures[grid.locate([1 / 3, 1 / 3, 1 / 3])]
    return costs, chances


def by_policies(costs, chances, gamma):
    """Policy iteration with dense solves; an action changes only if it is better by more than rounding."""
    states = np.arange(len(costs))
    actions = np.full(len(costs), 3)
    while True:
        value = np.linalg.solve(np.eye(len(costs)) - gamma * chances[states, actions], costs)
        q = costs[:, None] + gamma * chances @ value
        rounding = 1e-12 * (np.abs(costs) + gamma * (chances @ np.abs(value)).max(axis=1))
        better = q.min(axis=1) < q[states, actions] - rounding
        if not better.any():
            return value
        actions = np.where(better, q.argmin(axis=1), actions)


def off(found, expected, unit):
    return np.max(np.abs(found - expected) / (np.abs(expected) + unit))


def agree(process, measures, tolerance=1e-8):
    costs, chances = dense_process(process, measures)
    expected = by_policies(costs, chances, process.gamma)
    cells = len(process.grid)
    # Values are as exact as what shaping adds to them: far more than they are themselves where γ is near 0.
    moves = process.grid.moves(np.arange(cells), process.goal_cell)
    moves = np.append(moves, moves[process.grid.locate([1 / 3, 1 / 3, 1 / 3])] + 1)
    unit = longest_side(process.triangle) * process.alpha + process.beta * process.gamma**moves / (1 - process.gamma)
    for method in GENERAL:
        solution = process.solve(method)
        assert solution.converged
        assert solution.value.shape == solution.policy.shape == (cells,)
        assert off(solution.value, expected[:cells], unit[:cells]) < tolerance, method
        if measures.shape[1] > cells:
            assert off(solution.outside, expected[cells], unit[cells]) < tolerance, method
        else:
            assert solution.outside is None
        q = (costs[:, None] + process.gamma * chances @ expected)[:cells]
        slots = np.argmax(intended(process.grid) == solution.policy[:, None], axis=1)
        loss = q[np.arange(cells), slots] - q.min(axis=1)
        assert (loss <= tolerance * (np.abs(q).max(axis=1) + unit[:cells])).all(), method


@settings(max_examples=60, deadline=None)
@given(
    size=st.sampled_from([1, 2, 3, 6]),
    reach=st.integers(1, 6),
    outside=st.booleans(),
    flatness=st.sampled_from([1.0, 0.02, 1e-3]),
    gamma=st.sampled_from([1e-4, 0.05, 0.5, 0.95, 0.999]),
    reward=st.sampled_from([None, 0.01, 1.0, 100.0]),
    seed=st.integers(0, 10_000),
)
def test_any_kernel_is_solved_as_by_dense_linear_algebra(size, reach, outside, flatness, gamma, reward, seed):
    rng = np.random.default_rng(seed)
    grid = tc.CellGrid(size)
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [rng.uniform(-1, 2), flatness]]) * 10.0 ** rng.integers(-3, 4)
    measures = random_measures(grid, reach, outside, seed)
    kernel = mdp.from_measures(grid, measures, reach)
    beta = None if reward is None else reward * longest_side(triangle)
    agree(tc.LocalMDP(grid, triangle, int(rng.integers(size**2)), 2.0, beta, gamma, kernel), measures)


@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize("gamma", [0.5, 0.95, 0.999])
def test_quantecon_agrees_on_the_process_with_one_more_state(outside, gamma):
    grid = tc.CellGrid(7)
    triangle = np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 3.0]])
    for seed in range(6):
        measures = random_measures(grid, 1 + seed, outside, seed)
        process = tc.LocalMDP(grid, triangle, 8 * seed, gamma=gamma, kernel=mdp.from_measures(grid, measures, 1 + seed))
        form = process.to_quantecon()
        assert form.Q.shape[1] == len(grid) + outside
        expected = -DiscreteDP(*form).solve(method="policy_iteration", max_iter=60).v
        mean = by_policies(*dense_process(process, measures), gamma)
        assert off(expected, mean, 4.0) < 1e-8
        for method in GENERAL:
            solution = process.solve(method)
            assert off(solution.value, expected[: len(grid)], 4.0) < 1e-8, (seed, method)
            if outside:
                assert off(solution.outside, expected[-1], 4.0) < 1e-8, (seed, method)


def test_matrices_have_outside_as_their_last_state():
    grid = tc.CellGrid(4)
    measures = random_measures(grid, 3, True, 5)
    process = tc.LocalMDP(grid, [[0, 0], [2, 0], [0.3, 1]], 11, gamma=0.9, kernel=mdp.from_measures(grid, measures, 3))
    transitions, costs = process.to_matrices()
    expected_costs, chances = dense_process(process, measures)
    np.testing.assert_allclose(costs, np.repeat(expected_costs[:, None], 4, axis=1), rtol=1e-14)
    np.testing.assert_allclose(np.stack([t.toarray() for t in transitions], axis=1), chances, atol=1e-15)
    assert costs[-1, 0] == 2.0
    assert costs[-1, 0] >= costs[:-1].max()


def test_moves_that_always_succeed_have_a_value_outside_too():
    grid = tc.CellGrid(5)
    triangle = [[0, 0], [2, 0], [0.3, 1]]
    known = tc.LocalMDP(grid, triangle, 3, kernel=mdp.from_measures(grid, np.eye(25, 26)))
    plain = tc.LocalMDP(grid, triangle, 3).solve()
    centre = grid.locate([1 / 3, 1 / 3, 1 / 3])
    for method in ["exact", *GENERAL]:
        for start in (None, plain, np.zeros(25)):
            solution = known.solve(method, start)
            np.testing.assert_allclose(solution.value, plain.value, rtol=1e-9)
            assert solution.policy.tolist() == plain.policy.tolist()
            assert solution.outside == pytest.approx(2 + 0.95 * plain.value[centre], rel=1e-9)
            assert solution.reaches_goal


@pytest.mark.parametrize("method", GENERAL)
@pytest.mark.parametrize("reward", [None, 0.4])
def test_a_start_is_used_and_changes_nothing(method, reward):
    grid = tc.CellGrid(8)
    kernel = mdp.from_measures(grid, random_measures(grid, 4, True, 1), 4)
    process = tc.LocalMDP(grid, [[0, 0], [2, 0], [0.3, 1]], 40, beta=reward, kernel=kernel)
    cold = process.solve(method)
    again = process.solve(method, start=cold)
    assert reward or again.iterations <= cold.iterations
    wild = process.solve(method, start=np.random.default_rng(1).normal(size=64) * 1e3 - 1e5)
    for other in (again, wild):
        assert off(other.value, cold.value, 1.0) < 1e-9
        assert off(other.outside, cold.outside, 1.0) < 1e-9
        assert np.array_equal(other.policy, cold.policy)


def test_who_never_comes_back_from_outside_does_not_reach_the_goal():
    grid = tc.CellGrid(3)
    measures = np.column_stack([0.5 * np.eye(9), np.full(9, 0.5)])
    process = tc.LocalMDP(grid, [[0, 0], [2, 0], [0.3, 1]], 0, kernel=mdp.from_measures(grid, measures))
    assert process.solve().reaches_goal
    centre = grid.locate([1 / 3, 1 / 3, 1 / 3])
    measures[centre] = 0
    measures[centre, -1] = 1
    lost = tc.LocalMDP(grid, [[0, 0], [2, 0], [0.3, 1]], 0, kernel=mdp.from_measures(grid, measures)).solve()
    assert not lost.reaches_goal
    assert "may not come back from outside" in repr(lost)
    assert lost.outside == pytest.approx(2 / 0.05)


def confined_by_hand(grid, measures, reaching):
    """Chances (S, 4, S) among forbidden cells, from the rules: who would land there stays, nobody intends it."""
    states = measures.shape[1]
    chances, allowed = np.zeros((states, 4, states)), np.append(reaching, [True] * (states - len(grid)))
    back = grid.locate([1 / 3, 1 / 3, 1 / 3])
    back = min(np.flatnonzero(reaching), key=lambda cell: (grid.moves(cell, back), cell))
    for state in range(states):
        targets = [back] * 4 if state == len(grid) else intended(grid)[state]
        for action, target in enumerate(targets):
            target = target if target >= 0 and reaching[target] and allowed[state] else targets[3]
            for end in range(states):
                lands = end if allowed[end] and allowed[state] else state
                chances[state, action, lands] += measures[target, end]
    return chances


@pytest.mark.parametrize("goal", [0, 24])
@pytest.mark.parametrize("blocked", [[2], [12], [6, 7, 12, 11, 13], [1, 2, 3], list(range(4, 9))])
def test_forbidden_cells_and_outside(goal, blocked):
    grid = tc.CellGrid(5)
    measures = random_measures(grid, 3, True, goal + len(blocked))
    kernel = mdp.from_measures(grid, measures, 3)
    process = tc.LocalMDP(grid, [[0, 0], [2, 0], [0.3, 1]], goal, kernel=kernel, blocked=blocked)
    costs, _ = dense_process(process, measures)
    reaching = process.problem.levels[:-1] <= process.graph.farthest
    assert not reaching[blocked].any()
    expected = by_policies(costs, confined_by_hand(grid, measures, reaching), process.gamma)
    for method in GENERAL:
        solution = process.solve(method)
        assert off(solution.value, expected[:-1], 2.0) < 1e-8, method
        assert off(solution.outside, expected[-1], 2.0) < 1e-8, method


def test_terrain_makes_outside_at_least_as_dear():
    grid = tc.CellGrid(4)
    kernel = mdp.from_measures(grid, random_measures(grid, 2, True, 3), 2)
    terrain = np.linspace(0, 7, 16)
    process = tc.LocalMDP(grid, [[0, 0], [2, 0], [0.3, 1]], 5, kernel=kernel, terrain=terrain)
    costs = process.to_matrices().costs
    assert costs[-1, 0] == pytest.approx(2 + 7)
    expected = -DiscreteDP(*process.to_quantecon()).solve(method="policy_iteration", max_iter=60).v
    assert off(process.solve().outside, expected[-1], 1.0) < 1e-8


def test_a_tiny_gamma_and_a_long_reach_do_not_overflow():
    grid = tc.CellGrid(20)
    measures = random_measures(grid, 38, True, 2)
    process = tc.LocalMDP(grid, [[0, 0], [2, 0], [0.3, 1]], 5, 1.0, 10.0, 1e-60, mdp.from_measures(grid, measures, 38))
    assert np.isfinite(process.problem.stage[:-1, 3]).all()
    expected = by_policies(*dense_process(process, measures), 1e-60)
    assert off(process.solve().value, expected[:-1], 1.0) < 1e-12
