"""Closest points of triangles: against exact projections, and by what makes a point the closest one."""

from fractions import Fraction

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from tricover.geometry.closest import closest_points, inset_triangles

SMALL = st.integers(-6, 6)
POINT = st.tuples(SMALL, SMALL)


def exact_closest(point, corners):
    """The closest point of a triangle, in fractions: itself if it is inside, else the best foot on an edge."""
    x, y = map(Fraction, point)
    corners = [(Fraction(a), Fraction(b)) for a, b in corners]
    edges = list(zip(corners, corners[1:] + corners[:1], strict=True))
    turns = [(bx - ax) * (y - ay) - (by - ay) * (x - ax) for (ax, ay), (bx, by) in edges]
    area = sum(ax * by - ay * bx for (ax, ay), (bx, by) in edges)
    if area and all(turn * area >= 0 for turn in turns):
        return x, y
    feet = []
    for (ax, ay), (bx, by) in edges:
        length = (bx - ax) ** 2 + (by - ay) ** 2
        share = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length if length else Fraction(0)
        share = min(max(share, Fraction(0)), Fraction(1))
        feet.append((ax + share * (bx - ax), ay + share * (by - ay)))
    return min(feet, key=lambda foot: (foot[0] - x) ** 2 + (foot[1] - y) ** 2)


@settings(max_examples=300)
@given(POINT, st.tuples(POINT, POINT, POINT), st.sampled_from([1.0, 1e-6, 1e6]))
def test_the_closest_point_is_that_of_exact_arithmetic(point, corners, scale):
    """Whole numbers, so that flat triangles, triangles that are a point, and points on edges come by the dozen."""
    found = closest_points(np.array([point]) * scale, np.array([corners]) * scale)[0]
    x, y = (float(value) * scale for value in exact_closest(point, corners))
    # Of two feet equally far away, such as those of a flat triangle's edges, either will do: they are one point.
    np.testing.assert_allclose(found, [x, y], atol=1e-13 * scale * 10)


def test_shapely_finds_the_same_distances():
    rng = np.random.default_rng(0)
    triangles, points = rng.random((300, 3, 2)), rng.uniform(-1, 2, (300, 2))
    found = closest_points(points, triangles)
    expected = shapely.distance(shapely.points(points), shapely.polygons(triangles))
    np.testing.assert_allclose(np.hypot(*(found - points).T), expected, atol=1e-14)
    assert (shapely.distance(shapely.points(found), shapely.polygons(triangles)) < 1e-14).all()


def test_no_point_of_the_triangle_is_on_the_far_side_of_the_closest():
    """(x - c)·(r - c) ≤ 0 for every r of the triangle: corners are enough, as it is their hull."""
    rng = np.random.default_rng(1)
    triangles, points = rng.normal(size=(500, 3, 2)), 2 * rng.normal(size=(500, 2))
    triangles[:100, 2] = triangles[:100, 0] + rng.random((100, 1)) * (triangles[:100, 1] - triangles[:100, 0])
    found = closest_points(points, triangles)
    products = ((points - found)[:, None] * (triangles - found[:, None])).sum(axis=2)
    assert products.max() < 1e-13


def test_whoever_is_inside_stays_to_the_bit():
    rng = np.random.default_rng(2)
    triangles = rng.random((400, 3, 2)) * [[[1e5, 1e-3]]]
    points = (rng.dirichlet([1, 1, 1], 400)[:, :, None] * triangles).sum(axis=1)
    assert (closest_points(points, triangles) == points).all()


def test_the_closest_point_of_the_closest_point_is_itself():
    rng = np.random.default_rng(3)
    triangles, points = rng.random((200, 3, 2)), rng.uniform(-1, 2, (200, 2))
    once = closest_points(points, triangles)
    np.testing.assert_allclose(closest_points(once, triangles), once, atol=1e-15)


def test_what_is_given_is_not_changed_and_no_rows_are_no_rows():
    points, triangles = np.array([[9.0, 9.0]]), np.array([[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]])
    found = closest_points(points, triangles)
    assert points.tolist() == [[9.0, 9.0]]
    assert found.tolist() == [[0.5, 0.5]]
    assert closest_points(np.empty((0, 2)), np.empty((0, 3, 2))).shape == (0, 2)


@pytest.mark.parametrize("least", [0.0, 1e-4, 0.01, 0.3])
def test_corners_of_an_inset_triangle_have_the_least_weights(least):
    rng = np.random.default_rng(4)
    triangles = rng.random((20, 3, 2))
    found = inset_triangles(triangles, least)
    system = np.concatenate([triangles.transpose(0, 2, 1), np.ones((20, 1, 3))], axis=1)
    for corner in range(3):
        weights = np.linalg.solve(system, np.c_[found[:, corner], np.ones(20)][..., None])[..., 0]
        expected = np.full(3, least)
        expected[corner] = 1 - 2 * least
        np.testing.assert_allclose(weights, np.tile(expected, (20, 1)), atol=1e-10)


def test_each_corner_can_have_its_own_least_weight():
    triangle = np.array([[[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]]])
    found = inset_triangles(triangle, np.array([[0.5, 0.25, 0.125]]))
    assert found[0].tolist() == [[2.0, 1.0], [3.0, 1.0], [2.0, 2.0]]


def test_the_closest_point_of_an_inset_triangle_keeps_its_weights():
    rng = np.random.default_rng(5)
    triangles, points = rng.random((300, 3, 2)), rng.uniform(-3, 4, (300, 2))
    found = closest_points(points, inset_triangles(triangles, 0.05))
    system = np.concatenate([triangles.transpose(0, 2, 1), np.ones((300, 1, 3))], axis=1)
    weights = np.linalg.solve(system, np.c_[found, np.ones(300)][..., None])[..., 0]
    assert weights.min() > 0.05 - 1e-9
    assert (np.abs(weights.min(axis=1) - 0.05) < 1e-9).mean() > 0.5  # most of them are beyond it, and stop at its edge
