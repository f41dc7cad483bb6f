"""Sweeps of a policy in the order of its own moves: the order itself, and what it leads to."""

import numpy as np
import pytest
from tests.mdp.test_outside import random_measures

import tricover as tc
from tricover import mdp
from tricover.mdp import _acceleration, _evaluation, _uncertain
from tricover.mdp.gusts import gusts
from tricover.mdp.problem import tables
from tricover.mdp.transition import intended
from tricover.mdp.uncertain import rules_of

GRID = tc.CellGrid(6)
TRIANGLE = np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 3.0]])
GOAL, GAMMA, STATES = 14, 0.9, 37


def prepared(kernel, slots):
    """Everything before the first sweep of a policy, with values of any kind."""
    batch = mdp.kernel_batch(kernel)
    moves = _uncertain.Moves(batch.indptr[0].astype(np.uint32), batch.indices, batch.chances)
    rules = rules_of(GRID, 1.0, None, GAMMA, 1e-9, 600)
    room, turns = _uncertain.new_room(6, GAMMA), _evaluation.new_turns(STATES)
    assert _uncertain.set_up(tables(GRID), moves, rules, TRIANGLE, GOAL, room)
    _evaluation.arrange(tables(GRID).neighbors, moves, rules, slots, turns)
    _evaluation.prepare(moves, rules, room, turns)
    room.values[:] = np.random.default_rng(0).normal(size=STATES)
    return moves, rules, room, turns


def exact(kernel, slots):
    """Shaped values of a policy in units, by dense linear algebra on costs as the paper has them."""
    side = np.linalg.norm(TRIANGLE - np.roll(TRIANGLE, 1, axis=0), axis=1).max()
    process = tc.LocalMDP(GRID, TRIANGLE, GOAL, gamma=GAMMA, kernel=kernel)
    chances = kernel.measures.toarray()
    chances = np.column_stack([chances, np.zeros((36, STATES - chances.shape[1]))])
    back = int(GRID.locate([1 / 3, 1 / 3, 1 / 3]))
    aims = np.append(intended(GRID)[np.arange(36), slots], back)
    costs = np.append(process.costs, side)
    value = np.linalg.solve(np.eye(STATES) - GAMMA * chances[aims], costs)
    levels = GRID.moves(np.arange(36), GOAL)
    levels = np.append(levels, levels[back] + 1)
    return (value + process.beta * GAMMA**levels / (1 - GAMMA)) / side, chances[aims]


def any_policy(seed):
    """Actions that there are."""
    rng, targets = np.random.default_rng(seed), intended(GRID)
    slots = rng.integers(0, 4, 36)
    return np.where(targets[np.arange(36), slots] >= 0, slots, 3).astype(np.uint8)


@pytest.mark.parametrize("seed", range(12))
def test_every_state_has_one_turn_and_comes_after_where_it_leads_but_for_circles(seed):
    kernel, slots = mdp.from_measures(GRID, random_measures(GRID, 2, True, seed), 2), any_policy(seed)
    turns = prepared(kernel, slots)[3]
    assert sorted(turns.states.tolist()) == list(range(STATES))
    leads = exact(kernel, slots)[1] > 0
    place = np.empty(STATES, np.int64)
    place[turns.states] = np.arange(STATES)
    reaches = np.linalg.matrix_power((leads | np.eye(STATES, dtype=bool)).astype(float), STATES) > 0
    for state, end in zip(*np.nonzero(leads), strict=True):
        assert place[end] <= place[state] or reaches[end, state], "only what leads back may come later"


def test_one_sweep_solves_a_policy_whose_moves_make_no_circle_but_remaining():
    kernel = gusts(GRID, TRIANGLE, 0.4, [0.0, -0.55])
    slots = np.full(36, 3, np.uint8)  # all stay, and gusts carry them on to the lower edge and out
    expected = exact(kernel, slots)[0]
    moves, _, room, turns = prepared(kernel, slots)
    room.values[STATES - 1] = expected[STATES - 1]  # the one circle leads through outside
    turns.scale[turns.states == STATES - 1] = 0.0
    _evaluation.sweep_policy(moves, GAMMA, turns, room.values)
    np.testing.assert_allclose(room.values, expected, atol=1e-10)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("outside", [True, False])
def test_sweeps_lead_to_the_values_of_the_policy(seed, outside):
    kernel, slots = mdp.from_measures(GRID, random_measures(GRID, 3, outside, seed), 3), any_policy(seed)
    expected = exact(kernel, slots)[0]
    moves, rules, room, turns = prepared(kernel, slots)
    past = _acceleration.new_past(STATES)
    past.weights[:] = 1.0
    for _ in range(12):
        assert 1 <= _evaluation.evaluate(moves, rules, room, turns, past, 0.0) <= _evaluation.ROUND
    np.testing.assert_allclose(room.values, expected, atol=1e-7 * (1 + np.abs(expected).max()))
