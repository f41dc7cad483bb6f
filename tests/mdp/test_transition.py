import numpy as np
import pytest
from scipy import sparse

import tricover as tc
from tricover import mdp
from tricover.errors import InputError
from tricover.mdp.transition import intended


def test_deterministic_kernel_ends_where_it_intends():
    grid = tc.CellGrid(4)
    kernel = mdp.deterministic(grid)
    dense = kernel.matrix.toarray()
    for cell in range(len(grid)):
        for action, target in enumerate([*grid.neighbors[cell], cell]):
            expected = np.zeros(16)
            if target >= 0:
                expected[target] = 1
            assert dense[4 * cell + action].tolist() == expected.tolist()
    assert kernel.certain
    assert mdp.slip(grid, 0.0).certain
    assert not mdp.slip(grid, 0.1).certain


@pytest.mark.parametrize("size", [1, 2, 5])
def test_slip_spreads_over_the_neighbours_of_the_intended_cell(size):
    grid = tc.CellGrid(size)
    dense = mdp.slip(grid, 0.3).matrix.toarray()
    for row, target in enumerate(intended(grid).ravel()):
        if target < 0:
            assert not dense[row].any()
            continue
        near = [n for n in grid.neighbors[target] if n >= 0]
        assert dense[row].sum() == pytest.approx(1)
        if near:
            assert dense[row, target] == pytest.approx(0.7)
            np.testing.assert_allclose(dense[row, near], 0.3 / len(near))


def test_linear_form_gives_the_transition_matrix():
    grid = tc.CellGrid(5)
    kernel = mdp.slip(grid, 0.2)
    np.testing.assert_allclose((kernel.features @ kernel.measures).toarray(), kernel.matrix.toarray())
    assert kernel.features.shape == (100, 25)
    assert kernel.measures.shape == (25, 25)


def test_a_mixture_of_features_is_a_kernel():
    grid = tc.CellGrid(3)
    one, other = mdp.deterministic(grid), mdp.slip(grid, 1.0)
    features = sparse.hstack([0.75 * one.features, 0.25 * other.features])
    kernel = mdp.Kernel(grid, features, sparse.vstack([one.measures, other.measures]))
    np.testing.assert_allclose(kernel.matrix.toarray(), mdp.slip(grid, 0.25).matrix.toarray(), atol=1e-15)


def spoiled(change):
    grid = tc.CellGrid(3)
    measures = mdp.slip(grid, 0.2).measures.toarray()
    change(measures)
    return lambda: mdp.from_measures(grid, measures)


def leak(measures):
    measures[4] *= 0.9


def negative(measures):
    measures[0, 0], measures[0, 2] = 1.1, -0.1


def undefined(measures):
    measures[0, 0] = np.nan


def jump(measures):
    measures[0] = 0
    measures[0, 8] = 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (leak, "kernel leaks: probabilities of cell 1 action 1 .* sum to 0.9, not 1|kernel leaks.* sum to 0.9, not 1"),
        (negative, "negative or undefined probabilities in cell 0 action 3"),
        (undefined, "negative or undefined"),
        (jump, "kernel leaves the cell graph in cell 0 action 3"),
    ],
)
def test_bad_kernels_are_named(change, message):
    with pytest.raises(InputError, match=message):
        spoiled(change)()


def test_an_action_across_the_triangles_edge_is_a_leak():
    grid = tc.CellGrid(2)
    good = mdp.deterministic(grid)
    features = good.features.tolil()
    assert grid.neighbors[0, 1] == -1
    features[1, 0] = 1
    with pytest.raises(InputError, match="cell 0 action 1 sum to 1, not 0"):
        mdp.Kernel(grid, features.tocsr(), good.measures)


def test_bad_shapes_and_chances_are_named():
    grid = tc.CellGrid(2)
    with pytest.raises(InputError, match="features and measures must have shapes"):
        mdp.Kernel(grid, np.eye(16), np.eye(4))
    for chance in (-0.1, 1.5, float("nan")):
        with pytest.raises(InputError, match="chance to slip must be from 0 to 1"):
            mdp.slip(grid, chance)
