from fractions import Fraction
from math import floor

import numpy as np
import pytest

import tricover as tc
from tricover.mdp.offsets import FARTHER, OFFSETS, REACH, cells_at, codes_of, shifts

CODES = {tuple(offset): code for code, offset in enumerate(OFFSETS.tolist())}


def neighbours(cell, up):
    """Across the three edges: one number lower than in an up cell, one higher than in a down cell."""
    for slot in range(3):
        moved = list(cell)
        moved[slot] += -1 if up else 1
        yield tuple(moved)


def test_offsets_are_all_that_so_many_moves_reach():
    moves, edge = {(0, 0, 0): 0}, [(0, 0, 0)]
    for count in range(1, REACH + 1):
        edge = {n for cell in edge for n in neighbours(cell, up=sum(cell) == 0)} - moves.keys()
        assert len(edge) == 3 * count
        moves |= dict.fromkeys(edge, count)
    assert CODES.keys() == moves.keys()
    assert FARTHER == len(OFFSETS) == 1 + 3 * REACH * (REACH + 1) // 2
    assert CODES[0, 0, 0] == 0
    assert [moves[offset] for offset in CODES] == sorted(moves.values())
    with pytest.raises(ValueError, match="read-only"):
        OFFSETS[0] = 1


def exact_cell(point, corners, size):
    """The cell of the lattice that holds a point, in rational numbers."""
    (x0, y0), (x1, y1), (x2, y2) = corners
    x, y = point
    whole = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    first = Fraction((x1 - x) * (y2 - y) - (x2 - x) * (y1 - y)) / whole
    second = Fraction((x2 - x) * (y0 - y) - (x0 - x) * (y2 - y)) / whole
    parts = [size * part for part in (first, second, 1 - first - second)]
    i, j, k = map(floor, parts)
    # At a corner of cells, where all three are whole, the up cell that is nearer to the first two.
    return (i, j, k - 1) if i + j + k == size else (i, j, k)


@pytest.mark.parametrize("size", [1, 2, 7, 35])
def test_codes_are_exact_inside_and_beyond_the_triangle(size):
    rng = np.random.default_rng(size)
    grid, count = tc.CellGrid(size), 400
    triangles = rng.integers(-40, 40, (count, 3, 2))
    sides = triangles[:, 1:] - triangles[:, :1]
    triangles = triangles[sides[:, 0, 0] * sides[:, 1, 1] != sides[:, 0, 1] * sides[:, 1, 0]]
    intended = rng.integers(0, len(grid), len(triangles))
    landed = rng.integers(-400, 400, (len(triangles), 2)) / 8  # in binary
    codes = codes_of(grid, intended, landed, triangles.astype(float))
    kinds = set()
    for n, code in enumerate(codes):
        corners = [[int(x) for x in corner] for corner in triangles[n]]
        end = exact_cell([Fraction(x) for x in landed[n]], corners, size)
        sign = 1 if grid.up[intended[n]] else -1
        offset = tuple(sign * (a - b) for a, b in zip(end, grid.coordinates[intended[n]].tolist(), strict=True))
        assert code == CODES.get(offset, FARTHER)
        kinds.add(min(int(code), 1) if code < FARTHER else FARTHER)
    assert {1, FARTHER} <= kinds
    held = grid.holding(landed, np.ascontiguousarray(triangles, float))
    near = (codes < FARTHER) | (held < 0)
    assert cells_at(grid, intended, codes)[near].tolist() == np.where(held < 0, len(grid), held)[near].tolist()


def test_inside_the_triangle_it_is_the_cell_that_holds_the_point():
    grid = tc.CellGrid(4)
    corner = np.stack(np.meshgrid(*[np.arange(49)] * 2), axis=-1).reshape(-1, 2)
    weights = np.column_stack([corner, 48 - corner.sum(axis=1)])[corner.sum(axis=1) <= 48] / 48
    triangle = np.array([[0.3, 1.1], [5.7, -0.9], [2.2, 8.6]])
    points, triangles = weights @ triangle, np.tile(triangle, (len(weights), 1, 1))
    held = grid.holding(points, triangles)
    assert (held >= 0).sum() > 1000
    for cell in range(len(grid)):
        intended = np.full(len(points), cell)
        ends = cells_at(grid, intended, codes_of(grid, intended, points, triangles))
        assert ends[held >= 0].tolist() == held[held >= 0].tolist()


def test_every_cell_is_found_from_every_other():
    grid, triangle = tc.CellGrid(6), np.array([[0.0, 0], [5, 1], [2, 4]])
    intended, ended = (pair.ravel() for pair in np.meshgrid(np.arange(36), np.arange(36)))
    landed, triangles = grid.weights[ended] @ triangle, np.tile(triangle, (len(ended), 1, 1))
    codes = codes_of(grid, intended, landed, triangles)
    assert cells_at(grid, intended, codes).tolist() == ended.tolist()
    assert np.abs(OFFSETS[codes]).sum(axis=1).tolist() == grid.moves(intended, ended).tolist()
    assert ((codes == 0) == (intended == ended)).all()
    moved = grid.thirds[intended] + shifts(codes, grid.up[intended])
    assert moved.tolist() == grid.thirds[ended].tolist()


def test_the_same_gust_has_one_code_for_all_cells_of_an_orientation():
    grid, triangle = tc.CellGrid(9), np.array([[0.0, 0], [9, 1], [2, 7]])
    cells, triangles = np.arange(81), np.tile(triangle, (81, 1, 1))
    codes = codes_of(grid, cells, grid.weights @ triangle + [2.3, -1.4], triangles)
    assert len(set(codes[grid.up])) == len(set(codes[~grid.up])) == 1
    ends = cells_at(grid, cells, codes)
    assert 0 < (ends == 81).sum() < 81


def test_what_is_beyond_all_offsets_is_outside():
    grid, triangle = tc.CellGrid(40), np.array([[[0.0, 0], [1, 0], [0, 1]]])
    far = codes_of(grid, np.array([0]), np.array([[0.99, 0.005]]), triangle)
    assert far.tolist() == [FARTHER]
    assert cells_at(grid, np.array([0]), far).tolist() == [1600]
    for away in (1e3, 1e9, 1e200):
        assert codes_of(grid, np.array([0]), np.array([[away, -away]]), triangle).tolist() == [FARTHER]


def test_where_nothing_was_intended_there_is_nothing_to_tell():
    triangles = np.array([[[0.0, 0], [1, 0], [0, 1]], [[0.0, 0], [1, 0], [2, 0]], [[0.0, 0], [1, 0], [0, 1]]])
    codes = codes_of(tc.CellGrid(3), np.array([-1, 2, 2]), np.full((3, 2), 0.3), triangles)
    assert codes[:2].tolist() == [-1, -1]
    assert codes[2] >= 0
