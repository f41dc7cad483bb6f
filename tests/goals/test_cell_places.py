"""Places in a first cell: how many, where, and by whom they are known."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.network import oracle
from tricover.goals.cell_places import cell_places
from tricover.targets.placing import mean_square

CELL = np.array([[0.0, 0.0], [4.0, 0.5], [1.0, 3.0]])


def weights_of(places, corners):
    cell = oracle.as_fractions(corners)
    return [oracle.weights(place, cell) for place in oracle.as_fractions(places)]


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(0, 40), st.integers(0, 40), st.data())
def test_places_are_as_many_as_asked_for_all_different_and_strictly_inside(seed, count, targets, data):
    """Targets inside, beyond the cell, at one spot, on a corner, on a line; thin, tiny and far cells."""
    rng = np.random.default_rng(seed)
    scale, shift = data.draw(st.sampled_from([(1.0, 0.0), (1e-6, 0.0), (1e5, 3e5), (1.0, 1e4)]))
    corners = (CELL * [[1.0, data.draw(st.sampled_from([1.0, 1e-2]))]]) * scale + shift
    kind = data.draw(st.sampled_from(["inside", "beyond", "one spot", "corner", "line", "few"]))
    points = rng.dirichlet([1, 1, 1], targets) @ corners
    if kind == "beyond":
        points = corners[2] + 3 * (points - corners[2])
    elif kind == "one spot":
        points = np.repeat(points[:1], targets, axis=0)
    elif kind == "corner":
        points = corners[rng.integers(0, 3, targets)]
    elif kind == "line":
        points = corners[0] + rng.random((targets, 1)) * (corners[1] - corners[0])
    elif kind == "few":
        points = points[rng.integers(0, max(targets // 3, 1), targets)]
    found = cell_places(corners, points, rng.uniform(0.1, 2, targets), count)
    assert found.shape == (count, 2)
    assert len(np.unique(found, axis=0)) == count
    least = min((min(row) for row in weights_of(found, corners)), default=1)
    # The inset is 10⁻⁴, less what rounding of coordinates so far from the origin can do to a weight of a thin cell.
    assert least > Fraction(1, 20_000)


def test_a_place_stands_on_each_target_where_there_are_enough():
    rng = np.random.default_rng(0)
    points = rng.dirichlet([2, 2, 2], 7) @ CELL
    for count in (7, 12):
        found = cell_places(CELL, points, np.ones(7), count)
        apart = np.hypot(*(points[:, None] - found).transpose(2, 0, 1)).min(axis=1)
        assert apart.max() < 1e-12


def test_places_without_targets_fill_the_cell_evenly():
    found = cell_places(CELL, np.empty((0, 2)), np.empty(0), 400)
    weights = np.array(weights_of(found, CELL), float)
    np.testing.assert_allclose(weights.mean(axis=0), 1 / 3, atol=0.01)
    for corner in range(3):  # of a triangle, a quarter is beyond the line through the middles of two sides
        assert (weights[:, corner] > 0.5).mean() == pytest.approx(0.25, abs=0.02)


def test_a_flat_cell_has_places_that_are_all_different():
    line = np.array([[0.0, 0.0], [2.0, 2.0], [1.0, 1.0]])
    found = cell_places(line, np.array([[1.0, 1.0]]), np.ones(1), 9)
    assert found.shape == (9, 2)
    assert len(np.unique(found, axis=0)) == 9
    assert (np.abs(found[:, 0] - found[:, 1]) < 1e-12).all()
    assert cell_places(line, np.empty((0, 2)), np.empty(0), 0).shape == (0, 2)


def test_corners_are_agents_too_so_that_places_keep_away_from_them():
    """Lloyd's with the corners held, written as a loop: nobody can lower the cost by going to its centroid."""
    rng = np.random.default_rng(1)
    points = rng.dirichlet([1, 1, 1], 2000) @ CELL
    found = cell_places(CELL, points, np.ones(2000), 25)
    everybody = np.concatenate([found, CELL])
    nearest = np.array([np.argmin(((everybody - point) ** 2).sum(axis=1)) for point in points])
    shifts = [np.hypot(*(points[nearest == place].mean(axis=0) - found[place])) for place in range(25)]
    spacing = np.sqrt(5.75 / 25)
    assert max(shifts) < 0.1 * spacing
    alone = cell_places(CELL, points, np.ones(2000), 28)
    assert mean_square(everybody, points, np.ones(2000)) < 1.6 * mean_square(alone, points, np.ones(2000))
    away = np.hypot(*(found[:, None] - CELL).transpose(2, 0, 1)).min()
    assert away > 0.5 * spacing


def test_targets_beyond_the_cell_draw_places_to_its_outer_side():
    beyond = np.random.default_rng(2).dirichlet([8, 8, 1], 300) @ (CELL + 3 * (CELL[:2].mean(axis=0) - CELL[2]))
    found = cell_places(CELL, beyond, np.ones(300), 12)
    weights = np.array(weights_of(found, CELL), float)
    assert np.median(weights[:, 2]) < 1e-3  # nearly all are next to the side opposite the core


def test_heavier_targets_have_more_places():
    rng = np.random.default_rng(3)
    points = rng.dirichlet([1, 1, 1], 1500) @ CELL
    left = points[:, 0] < np.median(points[:, 0])
    plain = cell_places(CELL, points, np.ones(1500), 40)
    heavy = cell_places(CELL, points, np.where(left, 20.0, 1.0), 40)
    cut = np.median(points[:, 0])
    assert (heavy[:, 0] < cut).sum() > (plain[:, 0] < cut).sum() + 5


def test_what_is_given_is_not_changed_and_the_order_of_targets_does_not_matter_much():
    rng = np.random.default_rng(4)
    points, weights = rng.dirichlet([1, 1, 1], 200) @ CELL, rng.uniform(0.5, 2, 200)
    kept = points.copy(), weights.copy(), CELL.copy()
    found = cell_places(CELL, points, weights, 17)
    for before, after in zip(kept, (points, weights, CELL), strict=True):
        np.testing.assert_array_equal(before, after)
    order = rng.permutation(200)
    again = cell_places(CELL, points[order], weights[order], 17)
    np.testing.assert_allclose(again, found, atol=1e-12)  # sums in another order are rounded otherwise, and that is all
