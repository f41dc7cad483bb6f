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


def gust(grid, hops, chance, outside=True):
    """Measures of moves that a gust carries ``hops`` cells along slots 0 and 1 by turns, out of the triangle, too."""
    rows = np.zeros((len(grid), len(grid) + 1))
    for cell in range(len(grid)):
        end = cell
        for hop in range(hops):
            end = len(grid) if end == len(grid) or grid.neighbors[end, hop % 2] < 0 else grid.neighbors[end, hop % 2]
        rows[cell, cell] += 1 - chance
        rows[cell, end if outside or end < len(grid) else cell] += chance
    return rows if outside else rows[:, :-1]


@pytest.mark.parametrize("size", [1, 2, 5])
def test_outside_is_one_more_state_that_comes_back_around_the_centroid(size):
    grid = tc.CellGrid(size)
    measures = gust(grid, 2, 0.3)
    kernel = mdp.from_measures(grid, measures, reach=2)
    centre = grid.locate([1 / 3, 1 / 3, 1 / 3])
    dense = kernel.matrix.toarray()
    assert kernel.outside
    assert not mdp.slip(grid, 0.1).outside
    assert dense.shape == (4 * len(grid) + 4, len(grid) + 1)
    for row, target in enumerate(intended(grid).ravel()):
        assert dense[row].tolist() == (measures[target] if target >= 0 else np.zeros(len(grid) + 1)).tolist()
    assert not dense[-4:-1].any()
    assert dense[-1].tolist() == measures[centre].tolist()
    assert kernel.targets[-1].tolist() == [-1, -1, -1, centre]
    assert not kernel.certain
    assert mdp.from_measures(grid, np.eye(len(grid), len(grid) + 1)).certain


@pytest.mark.parametrize("hops", [2, 3, 6])
def test_a_kernel_must_state_its_reach(hops):
    grid = tc.CellGrid(9)
    measures = gust(grid, hops, 0.3, outside=False)
    assert mdp.from_measures(grid, measures, reach=hops).reach == hops
    with pytest.raises(InputError, match=rf"leaves the cell graph .* may end only within {hops - 1} moves of its cell"):
        mdp.from_measures(grid, measures, reach=hops - 1)


def test_an_action_may_end_within_reach_of_its_own_cell_as_well():
    grid = tc.CellGrid(6)
    rows = mdp.deterministic(grid).matrix.toarray()
    cell = 12
    slot = int(np.flatnonzero(grid.neighbors[cell] >= 0)[0])
    ends = np.flatnonzero(
        (grid.moves(cell, np.arange(36)) == 2) & (grid.moves(grid.neighbors[cell, slot], np.arange(36)) == 3)
    )
    rows[4 * cell + slot] = 0
    rows[4 * cell + slot, ends[0]] = 1
    assert mdp.Kernel(grid, np.eye(144), rows, reach=2).reach == 2
    with pytest.raises(InputError, match=f"leaves the cell graph in cell {cell} action {slot}"):
        mdp.Kernel(grid, np.eye(144), rows, reach=1)


@pytest.mark.parametrize("reach", [-1, 1.5, True, "far"])
def test_a_reach_that_is_no_number_of_moves_is_named(reach):
    with pytest.raises(InputError, match="reach must be a whole number of moves from 0 on"):
        mdp.from_measures(tc.CellGrid(2), np.eye(4), reach=reach)


def test_a_chance_to_end_outside_counts_in_the_sum():
    grid = tc.CellGrid(3)
    measures = gust(grid, 1, 0.5)
    measures[2, -1] += 0.1
    with pytest.raises(InputError, match=r"kernel leaks: probabilities of cell \d action"):
        mdp.from_measures(grid, measures)


def test_confined_kernels_come_back_to_the_nearest_cell_that_gets_to_the_goal():
    grid = tc.CellGrid(4)
    kernel = mdp.from_measures(grid, gust(grid, 2, 0.25), reach=2)
    centre = int(grid.locate([1 / 3, 1 / 3, 1 / 3]))
    reaching = np.ones(16, bool)
    reaching[[centre, 0]] = False
    confined = kernel.confined(reaching)
    near = [n for n in range(16) if reaching[n] and grid.moves(n, centre) == 1]
    assert confined.back == near[0]
    dense, expected = confined.matrix.toarray(), np.zeros(17)
    for end, chance in enumerate(kernel.matrix.toarray()[4 * near[0] + 3]):
        expected[end if end == 16 or reaching[end] else 16] += chance
    assert dense[-1].tolist() == expected.tolist()
    assert dense[4 * centre + 3, centre] == 1
    assert dense[4 * near[0] + 3, 16] == kernel.matrix.toarray()[4 * near[0] + 3, 16]
    assert kernel.confined(np.ones(16, bool)).back == centre
    assert kernel.reach == confined.reach
