import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.mdp.test_outside import by_policies, dense_process, longest_side, random_measures

import tricover as tc
from tricover import mdp
from tricover.errors import InputError
from tricover.mdp.transition import intended

FAIR = np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 3.0]])


def many_kernels(grid, count, seed=0, outside=True):
    """Kernels of reach 1 to 6, one per agent, and the same as one batch."""
    kernels = [mdp.from_measures(grid, random_measures(grid, 1 + a % 6, outside, seed + a), 6) for a in range(count)]
    rows = [mdp.kernel_batch(kernel) for kernel in kernels]
    starts = np.cumsum([0, *(len(row.indices) for row in rows[:-1])])
    indptr = np.concatenate([row.indptr + start for row, start in zip(rows, starts, strict=True)])
    parts = (np.concatenate([getattr(row, name) for row in rows]) for name in ("indices", "chances"))
    return kernels, mdp.KernelBatch(indptr, *parts)


def random_agents(grid, count, seed):
    rng = np.random.default_rng(seed)
    triangles = rng.normal(size=(count, 3, 2)) * 10.0 ** rng.integers(-3, 4, (count, 1, 1))
    triangles[1::3, :, 1] /= 50
    return triangles, rng.integers(0, len(grid), count)


def nothing(grid, count):
    return np.full((count, len(grid) + 1), np.nan, np.float32), np.ones(count, np.bool_)


def chosen(plans, grid):
    """The cells that policies lead to."""
    return np.take_along_axis(intended(grid)[None], plans.policy[:, :, None].astype(np.int64), axis=2)[:, :, 0]


def loss(process, measures, slots):
    """The most that a policy loses, in units, and the largest shaped value: both by dense linear algebra."""
    costs, chances = dense_process(process, measures)
    states = np.arange(len(costs))
    best = by_policies(costs, chances, process.gamma)
    actions = np.full(len(costs), 3)
    actions[: len(slots)] = slots
    value = np.linalg.solve(np.eye(len(costs)) - process.gamma * chances[states, actions], costs)
    unit = longest_side(process.triangle) * process.alpha
    moves = process.grid.moves(np.arange(len(process.grid)), process.goal_cell)
    shaped = best[: len(process.grid)] + process.beta * process.gamma**moves / (1 - process.gamma)
    return (value - best).max() / unit, np.abs(shaped).max() / unit


def most_lost(gamma, largest):
    """What the docstring promises, and 10⁻⁸ for rounding."""
    enough = max(1e-6, 1e-5 * min(1, 19 * (1 - gamma) / gamma))
    return 2 * gamma * enough * (1 + largest) / (1 - gamma) + 1e-8 * largest


@settings(max_examples=40, deadline=None)
@given(
    size=st.sampled_from([1, 2, 3, 6]),
    outside=st.booleans(),
    gamma=st.sampled_from([0.05, 0.5, 0.95, 0.999]),
    reward=st.sampled_from([None, 0.01, 1.0, 100.0]),
    seed=st.integers(0, 10_000),
)
def test_plans_lose_no_more_than_they_say(size, outside, gamma, reward, seed):
    grid, count = tc.CellGrid(size), 4
    kernels, batch = many_kernels(grid, count, seed, outside)
    triangles, goals = random_agents(grid, count, seed)
    common = {"gamma": gamma, "alpha": 2.0, "beta": reward}
    plans = mdp.plan_moves(grid, triangles, goals, batch, *nothing(grid, count), **common)
    rng = np.random.default_rng(seed)
    for step in range(3):
        for agent in range(count):
            process = tc.LocalMDP(grid, triangles[agent], goals[agent], 2.0, reward, gamma, kernels[agent])
            lost, largest = loss(process, kernels[agent].measures.toarray(), plans.policy[agent])
            assert lost <= most_lost(gamma, largest), (step, agent)
        triangles = triangles * (1 + 10.0 ** -(3 - step) * rng.normal(size=triangles.shape))
        goals[step] = rng.integers(len(grid))
        plans = mdp.plan_moves(grid, triangles, goals, batch, plans.values, np.zeros(count, np.bool_), **common)


def test_values_miss_the_bellman_equation_by_no_more_than_is_enough():
    """The equation as the paper has it, dense; single precision, in which values are kept, adds some 10⁻⁷."""
    grid, count, gamma = tc.CellGrid(12), 8, 0.95
    kernels, batch = many_kernels(grid, count, 7)
    triangles, goals = random_agents(grid, count, 7)
    plans = mdp.plan_moves(grid, triangles, goals, batch, *nothing(grid, count))
    for agent in range(count):
        process = tc.LocalMDP(grid, triangles[agent], goals[agent], gamma=gamma, kernel=kernels[agent])
        costs, chances = dense_process(process, kernels[agent].measures.toarray())
        unit, moves = longest_side(process.triangle), grid.moves(np.arange(len(grid)), process.goal_cell)
        moves = np.append(moves, moves[grid.locate([1 / 3, 1 / 3, 1 / 3])] + 1)
        shaped = plans.values[agent].astype(np.float64)
        value = unit * shaped - process.beta * gamma**moves / (1 - gamma)
        off = np.abs((costs[:, None] + gamma * chances @ value).min(axis=1) - value) / unit
        assert (off / (1 + np.abs(shaped))).max() < 1.2e-5


@pytest.mark.parametrize("slip", [0.05, 0.3])
def test_a_kernel_of_all_is_planned_as_the_whole_process_says(slip):
    grid, count = tc.CellGrid(20), 12
    kernel = mdp.slip(grid, slip)
    triangles, goals = random_agents(grid, count, 1)
    plans = mdp.plan_moves(grid, triangles, goals, mdp.kernel_batch(kernel), *nothing(grid, count))
    following = chosen(plans, grid)
    same = 0
    for agent in range(count):
        process = tc.LocalMDP(grid, triangles[agent], goals[agent], kernel=kernel)
        solution = process.solve()
        same += np.mean(following[agent] == solution.policy) / count
        shaped = process.problem.shaped(solution.value)
        np.testing.assert_allclose(plans.values[agent, :-1], shaped, atol=2e-4 * (1 + np.abs(shaped).max()))
    assert same > 0.999


def test_moves_that_always_succeed_are_planned_exactly_and_at_once():
    grid, count = tc.CellGrid(12), 30
    triangles, goals = random_agents(grid, count, 2)
    batch = mdp.kernel_batch(mdp.deterministic(grid))
    plans = mdp.plan_moves(grid, triangles, goals, batch, *nothing(grid, count))
    later = mdp.plan_moves(grid, triangles, goals, batch, plans.values, np.zeros(count, np.bool_))
    for agent in range(count):
        policy = tc.LocalMDP(grid, triangles[agent], goals[agent]).solve().policy
        assert chosen(plans, grid)[agent].tolist() == policy.tolist()
        assert chosen(later, grid)[agent].tolist() == policy.tolist()


def test_a_plan_depends_on_its_own_row_alone(monkeypatch):
    grid, count = tc.CellGrid(9), 150
    kernels, batch = many_kernels(grid, count)
    triangles, goals = random_agents(grid, count, 3)
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("TRICOVER_THREADS", threads)
        first = mdp.plan_moves(grid, triangles, goals, batch, *nothing(grid, count))
        second = mdp.plan_moves(grid, triangles * 1.01, goals[::-1], batch, first.values, np.arange(count) % 7 == 0)
        found.append((*first, *second))
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)
    values, policy, sweeps = found[0][:3]
    for agent in (0, 17, 149):
        some = slice(agent, agent + 1)
        alone = mdp.plan_moves(grid, triangles[some], goals[some], mdp.kernel_batch(kernels[agent]), *nothing(grid, 1))
        assert np.array_equal(alone.values[0], values[agent])
        assert np.array_equal(alone.policy[0], policy[agent])
        assert alone.sweeps[0] == sweeps[agent]
        later = mdp.plan_moves(
            grid,
            triangles[some] * 1.01,
            goals[::-1][some],
            mdp.kernel_batch(kernels[agent]),
            values[some],
            np.array([agent % 7 == 0]),
        )
        assert np.array_equal(later.values[0], found[0][3][agent])


def test_nothing_is_solved_where_nothing_changed_enough():
    grid, count = tc.CellGrid(15), 20
    _, batch = many_kernels(grid, count)
    triangles, goals = random_agents(grid, count, 4)
    known = np.zeros(count, np.bool_)
    first = mdp.plan_moves(grid, triangles, goals, batch, *nothing(grid, count))
    assert (first.sweeps > 0).all()
    again = mdp.plan_moves(grid, triangles, goals, batch, first.values, known)
    assert not again.sweeps.any()
    assert np.array_equal(again.values, first.values)
    assert np.array_equal(again.policy, first.policy)
    nearly = mdp.plan_moves(grid, triangles * 1.5, goals, batch, first.values, known)  # the same in units
    assert not nearly.sweeps.any()
    moved = triangles + 0.3 * np.abs(triangles).max(axis=(1, 2), keepdims=True) * [[0, 0], [0, 0], [1, 0.2]]
    assert (mdp.plan_moves(grid, moved, goals, batch, first.values, known).sweeps > 0).all()
    other = mdp.plan_moves(grid, triangles, (goals + 3) % len(grid), batch, first.values, known)
    assert (other.sweeps > 0).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_no_numbers_are_no_start(bad):
    grid = tc.CellGrid(6)
    batch = mdp.kernel_batch(mdp.slip(grid, 0.2))
    fresh = mdp.plan_moves(grid, FAIR[None], [3], batch, *nothing(grid, 1))
    spoiled = fresh.values.copy()
    spoiled[0, 5] = bad
    again = mdp.plan_moves(grid, FAIR[None], [3], batch, spoiled, np.zeros(1, np.bool_))
    assert np.array_equal(again.values, fresh.values)
    assert np.array_equal(again.policy, fresh.policy)


def test_wild_values_are_a_start_as_any():
    grid, count = tc.CellGrid(8), 6
    kernels, batch = many_kernels(grid, count)
    triangles, goals = random_agents(grid, count, 5)
    wild = np.random.default_rng(1).normal(size=(count, 65)).astype(np.float32) * 1e6
    plans = mdp.plan_moves(grid, triangles, goals, batch, wild, np.zeros(count, np.bool_))
    for agent in range(count):
        process = tc.LocalMDP(grid, triangles[agent], goals[agent], kernel=kernels[agent])
        lost, largest = loss(process, kernels[agent].measures.toarray(), plans.policy[agent])
        assert lost <= most_lost(0.95, largest)


def test_no_agents_have_no_plans():
    grid = tc.CellGrid(3)
    plans = mdp.plan_moves(grid, np.empty((0, 3, 2)), [], mdp.kernel_batch(mdp.slip(grid, 0.1)), *nothing(grid, 0))
    assert plans.policy.shape == (0, 9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"values": np.zeros((1, 9), np.float32)}, r"values and fresh must have shapes \(1, 10\) and \(1,\)"),
        ({"fresh": np.zeros(2, np.bool_)}, r"values and fresh must have shapes"),
        ({"triangles": np.zeros((1, 3, 2))}, "triangle of agent 0 has no area"),
        ({"goal_cells": [9]}, "goal cell 9 is out of range"),
        ({"indptr": np.zeros((2, 10), np.int64)}, r"indptr of kernels must have shape \(1, 10\)"),
        ({"indptr": np.arange(10)[None, ::-1]}, "indptr of kernel 0 does not ascend"),
        ({"indptr": np.arange(10)[None] + 1}, "indptr of kernel 0 does not ascend from 0 to 9"),
        ({"indices": np.full(9, 10, np.uint32)}, "kernels end in cell 10: there are 0 to 8, and 9 for outside"),
        ({"chances": np.ones(8)}, r"indices and chances of kernels must have one length"),
        ({"chances": np.full(9, 0.5)}, "chances of kernel 0 do not sum to one"),
        ({"chances": np.full(9, np.nan)}, "chances of kernel 0 do not sum to one"),
        ({"gamma": 1.0}, "gamma must lie between 0 and 1"),
    ],
)
def test_bad_input_is_named(change, message):
    grid = tc.CellGrid(3)
    batch = mdp.kernel_batch(mdp.deterministic(grid))
    parts = {name: change.pop(name, getattr(batch, name)) for name in batch._fields}
    values, fresh = nothing(grid, 1)
    good = {"triangles": FAIR[None], "goal_cells": [0], "values": values, "fresh": fresh}
    with pytest.raises(InputError, match=message):
        mdp.plan_moves(grid, kernels=mdp.KernelBatch(**parts), **{**good, **change})


def test_a_kernel_with_a_measure_for_each_action_is_named():
    grid = tc.CellGrid(3)
    rows = mdp.slip(grid, 0.3).matrix.toarray()
    with pytest.raises(InputError, match="kernel must have one measure per intended cell"):
        mdp.kernel_batch(mdp.Kernel(grid, np.eye(len(rows)), rows))
