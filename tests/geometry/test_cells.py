from collections import deque
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tricover as tc
from tricover.errors import InputError
from tricover.geometry import OUTSIDE

SIZES = [1, 2, 3, 5, 8]


def exact_cells(size):
    """Corners of every cell as sets of whole-number points, straight from the drawing: up cells, then down cells."""
    up, down = {}, {}
    for i in range(size):
        for j in range(size - i):
            k = size - 1 - i - j
            up[i, j, k] = frozenset([(i + 1, j, k), (i, j + 1, k), (i, j, k + 1)])
            if k > 0:
                down[i, j, k - 1] = frozenset([(i, j + 1, k), (i + 1, j, k), (i + 1, j + 1, k - 1)])
    return [*up.values(), *down.values()]


def as_points(grid, cell):
    corners = grid.corners(cell) * grid.resolution
    assert np.array_equal(corners, corners.round()) or np.allclose(corners, corners.round(), atol=1e-12)
    return frozenset(tuple(int(x) for x in row) for row in corners.round())


@pytest.mark.parametrize("size", SIZES)
def test_cells_are_those_of_the_drawing(size):
    grid = tc.CellGrid(size)
    cells = [as_points(grid, cell) for cell in range(len(grid))]
    assert len(set(cells)) == size**2
    assert set(cells) == set(exact_cells(size))


@pytest.mark.parametrize("size", SIZES)
def test_neighbours_share_the_edge_opposite_to_the_corner(size):
    grid = tc.CellGrid(size)
    by_corners = {as_points(grid, cell): cell for cell in range(len(grid))}
    for cell in range(len(grid)):
        corners = [tuple(int(x) for x in row) for row in (grid.corners(cell) * size).round()]
        for k in range(3):
            edge = set(corners) - {corners[k]}
            across = [other for points, other in by_corners.items() if edge < points and other != cell]
            assert [n for n in [grid.neighbors[cell, k]] if n >= 0] == across


@pytest.mark.parametrize("size", [1, 2, 3, 7, 35, 64, 200])
def test_locate_inverts_the_centres_and_corners_average_to_them(size):
    grid = tc.CellGrid(size)
    cells = np.arange(size**2)
    assert np.array_equal(grid.locate(grid.weights), cells)
    np.testing.assert_allclose(grid.corners(cells).mean(axis=1), grid.weights, rtol=0, atol=1e-15)
    np.testing.assert_allclose(grid.weights.sum(axis=1), 1, rtol=0, atol=1e-15)


@pytest.mark.parametrize("size", range(1, 121))
def test_locate_inverts_the_centres_at_every_resolution(size):
    grid = tc.CellGrid(size)
    assert np.array_equal(grid.locate(grid.weights), np.arange(size**2))


@pytest.mark.parametrize("size", [1, 2, 5, 35, 200])
def test_neighbour_relation_is_symmetric_slot_by_slot(size):
    grid = tc.CellGrid(size)
    cells, slots = np.nonzero(grid.neighbors >= 0)
    assert np.array_equal(grid.neighbors[grid.neighbors[cells, slots], slots], cells)
    assert (grid.up[cells] != grid.up[grid.neighbors[cells, slots]]).all()


@pytest.mark.parametrize("size", [1, 2, 3, 5, 35])
def test_three_kinds_of_states(size):
    grid = tc.CellGrid(size)
    assert len(grid.nodal) == (1 if size == 1 else 3)
    assert len(grid.boundary) == max(0, 3 * (size - 2))
    assert sorted([*grid.interior, *grid.boundary, *grid.nodal]) == list(range(size**2))
    assert np.allclose(grid.weights[grid.nodal].max(axis=1), (3 * size - 2) / (3 * size))


def test_weight_set_is_the_one_the_paper_prints():
    printed = [0.067, 0.133, 0.267, 0.333, 0.467, 0.533, 0.667, 0.733, 0.867]
    assert tc.CellGrid(5).weight_set.round(3).tolist() == printed
    for size in SIZES:
        values = tc.CellGrid(size).weight_set
        allowed = {Fraction(3 * a - b, 3 * size) for a in range(1, size + 1) for b in (1, 2)}
        assert len(values) == 2 * size - 1
        assert set(values) <= {float(value) for value in allowed}


def first_cell(grid, point):
    """The rule in rational arithmetic: whole numbers below the coordinates, and what becomes of corners."""
    size = grid.resolution
    i, j, k = (int(size * x // 1) for x in point)
    if i + j + k == size:
        i, j, k = (i, j, k - 1) if k else (i, j - 1, 0) if j else (i - 1, 0, 0)
    return int(np.flatnonzero((grid.coordinates == (i, j, k)).all(axis=1) & (grid.up == (i + j + k == size - 1)))[0])


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
def test_points_on_edges_and_corners_follow_the_written_rule(size):
    grid = tc.CellGrid(size)
    fine = 6 * size  # holds all corners, edge middles and points inside
    for a in range(fine + 1):
        for b in range(fine + 1 - a):
            point = [Fraction(a, fine), Fraction(b, fine), Fraction(fine - a - b, fine)]
            assert grid.locate([float(x) for x in point]) == first_cell(grid, point), point


@settings(max_examples=300)
@given(st.integers(1, 200), st.data())
def test_locate_gives_a_cell_whose_corners_hold_the_point(size, data):
    shares = data.draw(st.tuples(*[st.floats(0, 1, allow_subnormal=False)] * 3).filter(lambda x: sum(x) > 1e-3))
    grid = tc.CellGrid(size)
    point = np.array(shares) / sum(shares)
    cell = grid.locate(point)
    inside = np.linalg.solve(grid.corners(cell).T, point)
    assert (inside >= -1e-10).all()


@pytest.mark.parametrize("size", [1, 2, 35, 200])
def test_rounding_is_forgiven_and_truly_outside_is_not(size):
    grid = tc.CellGrid(size)
    middle, outwards = np.array([0.5, 0.5, 0.0]), np.array([0.5, 0.5, -1.0])
    for excess in (1e-16, 5e-16, 2e-15):
        for turn in range(3):
            point = np.roll(middle + excess * outwards, turn)
            assert grid.locate(point) >= 0
    for excess in (1e-12, 1e-6, 1.0, 1e9):
        for turn in range(3):
            point = np.roll(middle + excess * outwards, turn)
            assert grid.locate(point) == OUTSIDE


@pytest.mark.parametrize("size", [1, 2, 3, 6])
def test_moves_is_the_length_of_a_shortest_walk(size):
    grid = tc.CellGrid(size)
    cells = np.arange(len(grid))
    for start in cells:
        reached, queue = {start: 0}, deque([start])
        while queue:
            cell = queue.popleft()
            for other in grid.neighbors[cell]:
                if other >= 0 and other not in reached:
                    reached[other] = reached[cell] + 1
                    queue.append(other)
        assert [reached[cell] for cell in cells] == grid.moves(cells, start).tolist()
    assert grid.moves(cells[:, None], cells).max() == grid.diameter


def test_shapes_follow_the_input():
    grid = tc.CellGrid(4)
    assert grid.locate(np.full((2, 5, 3), 1 / 3)).shape == (2, 5)
    assert grid.locate(np.empty((0, 3))).shape == (0,)
    assert grid.corners(np.zeros((2, 5), int)).shape == (2, 5, 3, 3)
    assert grid.corners(3).shape == (3, 3)
    assert grid == tc.CellGrid(np.int32(4))
    assert not grid.weights.flags.writeable


@pytest.mark.parametrize("size", [0, -3, 2.5, "5", True, 10**9, None])
def test_bad_resolution_is_named(size):
    with pytest.raises(InputError, match="resolution must be a whole number from 1 to"):
        tc.CellGrid(size)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([0.5, 0.5], r"must have shape \(…, 3\), not \(2,\)"),
        ([[0.2, 0.3, 0.5], [np.nan, 0, 1]], "point 1 are not finite"),
        ([np.inf, 0, 0], "point 0 are not finite"),
        ([[0.2, 0.3, 0.5], [2, 3, 4]], "point 1 do not sum to one"),
    ],
)
def test_bad_coordinates_are_named(points, message):
    with pytest.raises(InputError, match=message):
        tc.CellGrid(3).locate(points)


@pytest.mark.parametrize(("cells", "message"), [(9, "cell 9 is out of range: cells are 0 to 8"), (0.5, "whole number")])
def test_bad_cells_are_named(cells, message):
    with pytest.raises(InputError, match=message):
        tc.CellGrid(3).corners(cells)
