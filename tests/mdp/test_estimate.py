from fractions import Fraction

import numpy as np
import pytest

import tricover as tc
from tricover import mdp
from tricover.errors import InputError
from tricover.mdp.transition import intended


def recorded_moves(grid, chance, count, rng):
    """A slipping agent that picks an action at random, move after move; drawn without the kernel's own code."""
    cell, records = len(grid) // 2, []
    choices, coins = rng.random(count), rng.random(count)
    for choice, coin in zip(choices, coins, strict=True):
        options = [n for n in [*grid.neighbors[cell], cell] if n >= 0]
        target = options[int(choice * len(options))]
        end = target
        if coin < chance:
            near = [n for n in grid.neighbors[target] if n >= 0]
            end = near[int(coin / chance * len(near))]
        records.append((cell, target, end))
        cell = end
    return np.array(records).T


def policy_value(process, policy):
    """Value of a policy under the process's own kernel, by a dense solve."""
    cells = np.arange(len(policy))
    slots = (intended(process.grid) == policy[:, None]).argmax(axis=1)
    chosen = process.kernel.matrix[4 * cells + slots].toarray()
    return np.linalg.solve(np.eye(len(policy)) - process.gamma * chosen, process.costs)


def test_recorded_moves_recover_the_slip_and_a_policy_within_one_percent():
    grid = tc.CellGrid(35)
    rng = np.random.default_rng(57)
    found = mdp.estimate(grid, *recorded_moves(grid, 0.1, 100_000, rng))
    assert abs(found.slip - 0.1) < 4 * found.slip_deviation
    assert found.slip_deviation < 0.001
    true = mdp.slip(grid, 0.1)
    off = np.abs((found.kernel.measures - true.measures).toarray())
    inside = found.deviation.toarray() > 0
    assert (off[inside] <= 5 * found.deviation.toarray()[inside] + 0.01).all()
    for goal in (0, 500, 1224):
        triangle = [[0, 0], [2, 0], [0.3, 1.5]]
        real = tc.LocalMDP(grid, triangle, goal, kernel=true)
        learned = tc.LocalMDP(grid, triangle, goal, kernel=found.kernel).solve()
        best = real.solve().value
        assert np.abs(policy_value(real, learned.policy) - best).max() <= 0.01 * np.abs(best).max()
        assert (policy_value(real, learned.policy) - best <= 0.01 * np.abs(best)).all()


def test_posterior_is_the_dirichlet_one():
    grid = tc.CellGrid(2)
    centre = int(np.flatnonzero(grid.degrees == 3)[0])
    ends = [centre] * 5 + [int(grid.neighbors[centre, 0])] * 3
    found = mdp.estimate(grid, [centre] * 8, [centre] * 8, ends, prior=mdp.slip(grid, 0.3), strength=4)
    row = found.kernel.measures.toarray()[centre]
    expected = {centre: Fraction(5) + 4 * Fraction(7, 10)}
    for slot, n in enumerate(grid.neighbors[centre]):
        expected[int(n)] = Fraction(3 if slot == 0 else 0) + 4 * Fraction(1, 10)
    for cell, weight in expected.items():
        share = float(weight / 12)
        assert row[cell] == pytest.approx(share)
        assert found.deviation.toarray()[centre, cell] == pytest.approx(np.sqrt(share * (1 - share) / 13))
    assert found.records.tolist() == [8 if cell == centre else 0 for cell in range(4)]
    assert found.slip == pytest.approx(4 / 10)


def test_more_records_make_us_surer():
    grid = tc.CellGrid(4)
    rng = np.random.default_rng(1)
    records = recorded_moves(grid, 0.2, 20_000, rng)
    few, many = (mdp.estimate(grid, *records[:, :count]) for count in (500, 20_000))
    assert many.slip_deviation < few.slip_deviation / 4
    assert many.deviation.max() < few.deviation.max()
    assert f"20000 records, slip {many.slip:.4f} ±" in repr(many)


def test_cells_that_are_alike_borrow_more_than_cells_that_differ():
    grid = tc.CellGrid(6)
    rng = np.random.default_rng(4)
    alike = mdp.estimate(grid, *recorded_moves(grid, 0.2, 20_000, rng))
    cells = rng.integers(0, len(grid), 20_000)
    ends = np.where(rng.random(20_000) < np.where(cells % 2, 0.5, 0.02), grid.neighbors[cells].max(axis=1), cells)
    mixed = mdp.estimate(grid, cells, cells, ends)
    assert alike.strength > 500
    assert mixed.strength < 10
    kept = mixed.kernel.measures.diagonal()
    assert np.abs(kept[1::2] - 0.5).max() < 0.1
    assert np.abs(kept[::2] - 0.98).max() < 0.05


def test_without_records_the_prior_stands():
    grid = tc.CellGrid(3)
    empty = np.array([], int)
    found = mdp.estimate(grid, empty, empty, empty, prior=mdp.slip(grid, 0.25))
    np.testing.assert_allclose(found.kernel.matrix.toarray(), mdp.slip(grid, 0.25).matrix.toarray())


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (([0, 0], [2, 8], [2, 8]), "record 1 intends a cell that is no neighbour of cell 0"),
        (([0], [2], [8]), "record 0 ends in a cell that is no neighbour of cell 2"),
        (([0], [2], [-2]), "recorded cell -2 is out of range"),
        (([0], [-1], [-1]), "recorded cell -1 is out of range"),
        (([0, 2], [2], [2]), "records must have one length"),
    ],
)
def test_bad_records_are_named(records, message):
    with pytest.raises(InputError, match=message):
        mdp.estimate(tc.CellGrid(3), *records)


def test_bad_priors_are_named():
    grid = tc.CellGrid(3)
    with pytest.raises(InputError, match="strength of the prior must be positive"):
        mdp.estimate(grid, [0], [0], [0], strength=0)
    with pytest.raises(InputError, match="one measure for each of the 9 cells"):
        mdp.estimate(grid, [0], [0], [0], prior=mdp.slip(tc.CellGrid(2), 0.1))
