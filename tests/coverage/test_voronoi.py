"""Voronoi cells fill their box without overlapping, and hold what is nearest to their agent, whatever the team."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tricover.coverage import voronoi_cells
from tricover.errors import InputError

BOX = np.array([[-1.0, -2.0], [5.0, 3.0]])


def area(polygon):
    """By the shoelace formula, around the first corner; positive if counter-clockwise."""
    if not len(polygon):
        return 0.0
    x, y = (polygon - polygon[0]).T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


def check(positions, box, tolerance=1e-9):
    positions, box = np.asarray(positions, dtype=float), np.asarray(box, dtype=float)
    cells = voronoi_cells(positions, box)
    size = float((box[1] - box[0]).prod())
    extent = float(np.ptp(np.concatenate([positions, box]), axis=0).max())
    assert len(cells) == len(positions)
    areas = [area(cell) for cell in cells]
    assert min(areas) >= -tolerance * extent**2
    assert sum(areas) == pytest.approx(size, rel=tolerance, abs=tolerance * extent**2)
    for agent, cell in enumerate(cells):
        if not len(cell):
            continue
        assert (cell >= box[0]).all()
        assert (cell <= box[1]).all()
        inside = np.concatenate([cell, (cell + cell.mean(axis=0)) / 2])
        distances = np.linalg.norm(inside[:, None] - positions[None], axis=2)
        assert (distances[:, agent] <= distances.min(axis=1) + max(1e-7, tolerance) * extent).all()
    return cells


coordinates = st.one_of(st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, 4.0]), st.floats(-8, 8, width=32))


@settings(max_examples=150)
@given(st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=25))
def test_cells_fill_the_box_and_are_nearest(positions):
    check(positions, BOX)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_any_size_and_place(scale, shift):
    rng = np.random.default_rng(0)
    scale = max(scale, 1e-3) if shift else scale
    positions = rng.uniform(0, 1, (60, 2)) * scale + shift
    box = np.array([[0.0, 0.0], [1.0, 1.0]]) * scale + shift
    check(positions, box, tolerance=1e-9 if not shift else 1e-5)


@pytest.mark.parametrize(
    "positions",
    [
        [[1.0, 1.0]],
        np.column_stack([np.linspace(0, 4, 9), np.zeros(9)]),
        np.column_stack([np.linspace(0, 4, 9), np.linspace(-1, 2, 9)]),
        np.array([[i, j] for i in range(4) for j in range(3)], dtype=float),
        [[np.cos(a), np.sin(a)] for a in np.linspace(0, 2 * np.pi, 12, endpoint=False)],
        [[1.0, 1.0], [1.0 + 1e-13, 1.0], [3.0, 1.0]],
        [[100.0, 100.0], [-50.0, 2.0]],
    ],
    ids=["alone", "in a row", "askew", "grid", "circle", "almost coincident", "outside"],
)
def test_teams_that_are_hard_to_divide(positions):
    check(positions, BOX)


def test_of_agents_on_one_spot_the_first_has_the_cell():
    cells = check([[3.0, 0.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0]], BOX)
    assert [len(cell) > 0 for cell in cells] == [True, True, False, False]


def test_cells_are_the_same_every_time_and_by_hand():
    cells = voronoi_cells([[1, 1], [3, 1], [1, 3], [3, 3]], [[0, 0], [4, 4]])
    assert [area(cell) for cell in cells] == pytest.approx([4.0] * 4)
    assert cells[3].min(axis=0) == pytest.approx([2, 2])
    again = voronoi_cells([[1, 1], [3, 1], [1, 3], [3, 3]], [[0, 0], [4, 4]])
    assert all(np.array_equal(a, b) for a, b in zip(cells, again, strict=True))


@pytest.mark.parametrize("box", [[[0, 0], [0, 1]], [[1, 1], [0, 0]], [[0, 0], [np.inf, 1]], [0, 0, 1, 1]])
def test_a_box_that_is_none(box):
    with pytest.raises(InputError, match="box must be two corners"):
        voronoi_cells([[0.0, 0.0]], box)


def test_positions_that_are_none():
    with pytest.raises(InputError, match="1"):
        voronoi_cells([[0.0, 0.0], [np.nan, 1.0]], BOX)
