"""The frame of a cell plan: cones by exact turns, summaries, shares, and what one cone knows of the others: nothing."""

from fractions import Fraction
from math import pi, sqrt

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from tricover.goals.frame import (
    POINTS,
    ROUGH,
    cones_of,
    first_cells,
    fixed_frame,
    planned_frame,
    shares,
    summary_of,
)
from tricover.targets.density import local_density


def a_polygon(seed, corners=6):
    """A convex polygon (H, 2) around the core (2,), counter-clockwise."""
    rng = np.random.default_rng(seed)
    angles = np.sort((np.arange(corners) + rng.uniform(0, 0.9, corners)) * 2 * pi / corners) + rng.uniform(0, 6)
    found = np.stack([np.cos(angles), np.sin(angles)], 1) + 0.1 * rng.random(2)
    return found, rng.dirichlet(np.full(corners, 9.0)) @ found


def turn(first, second):
    return first[0] * second[1] - first[1] * second[0]


def exact_cone(point, corners, core):
    """The cones whose two rays hold a point between them, the first included, in fractions."""
    away = [Fraction(a) - Fraction(b) for a, b in zip(point, core, strict=True)]
    rays = [[Fraction(a) - Fraction(b) for a, b in zip(corner, core, strict=True)] for corner in corners]
    found = []
    for cone, ray in enumerate(rays):
        following = rays[(cone + 1) % len(rays)]
        ahead = turn(ray, away) > 0 or (turn(ray, away) == 0 and ray[0] * away[0] + ray[1] * away[1] > 0)
        if ahead and turn(away, following) > 0:
            found.append(cone)
    return found


@pytest.mark.parametrize("seed", range(8))
def test_every_target_is_in_exactly_one_cone_the_one_between_its_rays(seed):
    corners, core = a_polygon(seed, corners=3 + seed)
    corners = np.roll(corners, seed, axis=0)
    points = np.concatenate([3 * np.random.default_rng(seed).normal(size=(200, 2)), corners])
    found = cones_of(points, corners, core)
    for point, cone in zip(points.tolist(), found.tolist(), strict=True):
        assert exact_cone(point, corners.tolist(), core.tolist()) == [cone]
    assert found[200:].tolist() == list(range(len(corners)))  # a corner begins its own cone
    alone = [cones_of(point[None], corners, core)[0] for point in points]
    assert found.tolist() == alone  # whatever other targets there are


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=1), st.integers(0, 3))
def test_targets_on_rays_and_at_the_core_are_in_one_cone(points, start):
    """Rays along the axes: which cone a target on one of them is in is known exactly."""
    square = np.roll(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]), -start, axis=0)
    found = cones_of(np.array(points, float).reshape(-1, 2), square, np.zeros(2))
    for (x, y), cone in zip(points, found.tolist(), strict=True):
        if (x, y) == (0, 0):
            assert 0 <= cone < 4
        else:
            quarter = 0 if x > 0 and y >= 0 else 1 if x <= 0 and y > 0 else 2 if x < 0 and y <= 0 else 3
            assert (cone + start) % 4 == quarter


def test_no_targets_are_in_no_cones():
    assert cones_of(np.empty((0, 2)), *a_polygon(0)).shape == (0,)


def test_first_cells_are_the_triangles_around_the_core():
    corners, core = a_polygon(1)
    cells = first_cells(corners, core)
    assert cells.shape == (6, 3, 2)
    whole = shapely.Polygon(corners)
    assert shapely.area(shapely.polygons(cells)).sum() == pytest.approx(whole.area, rel=1e-12)
    assert shapely.union_all(shapely.polygons(cells)).symmetric_difference(whole).area < 1e-12
    for cell, (first, second, third) in enumerate(cells):
        np.testing.assert_array_equal(first, corners[cell])
        np.testing.assert_array_equal(second, corners[(cell + 1) % 6])
        np.testing.assert_array_equal(third, core)


@pytest.mark.parametrize("most", [1, 5, 64, 1000])
def test_a_summary_keeps_weight_and_centroid(most):
    rng = np.random.default_rng(2)
    points, weights = rng.normal(size=(300, 2)), rng.uniform(0.1, 2, 300)
    found, masses = summary_of(points, weights, most)
    assert len(found) == len(masses) == min(most, 300)
    assert masses.sum() == pytest.approx(weights.sum(), rel=1e-12)
    np.testing.assert_allclose(masses @ found, weights @ points, atol=1e-10)
    if most >= 300:
        assert {tuple(row) for row in found.tolist()} == {tuple(row) for row in points.tolist()}
    assert len(summary_of(points[:0], weights[:0], most)[0]) == 0


@settings(max_examples=200)
@given(
    st.lists(st.floats(0, 1e6, allow_subnormal=False), min_size=1, max_size=12).filter(lambda parts: sum(parts) > 0),
    st.integers(0, 500),
)
def test_shares_sum_to_the_total_and_none_is_negative(parts, total):
    found = shares(np.array(parts), total)
    assert found.sum() == total
    assert found.min() >= 0
    order = np.argsort(parts, kind="stable")
    assert (np.diff(found[order]) >= -1).all()  # who has more of the spread has no fewer, but for a remainder


def test_shares_are_largest_remainders_of_the_spread_less_half_of_one():
    """By hand: 12 followers in cells with 1, 2 and 5 parts of 8: 13.5 of them less half of one each."""
    assert [13.5 * part / 8 - 0.5 for part in (1, 2, 5)] == [1.1875, 2.875, 7.9375]
    assert shares(np.array([1.0, 2.0, 5.0]), 12).tolist() == [1, 3, 8]
    assert shares(np.array([1.0, 1.0, 1.0, 1.0]), 6).tolist() == [2, 2, 1, 1]
    assert np.allclose([4 * part / 7 - 0.5 for part in (2, 5)], [0.643, 2.357], atol=1e-3)
    assert shares(np.array([2.0, 5.0]), 3).tolist() == [1, 2]
    # Who would get less than nothing gets nothing, and the others share all: 3.66 and 4.34 of 8.
    assert np.allclose([9.5 * part / 20 - 0.5 for part in (0.5, 9.0, 10.5)], [-0.2625, 3.775, 4.4875])
    assert shares(np.array([0.5, 9.0, 10.5]), 8).tolist() == [0, 4, 4]
    assert shares(np.array([0.0, 0.0, 3.0]), 5).tolist() == [0, 0, 5]
    assert shares(np.array([4.0, 1.0, 2.0]), 0).tolist() == [0, 0, 0]


def test_where_nothing_is_spread_all_cells_are_alike():
    corners, core = a_polygon(3, corners=4)
    frame = fixed_frame(corners, core, np.zeros(4), 5 + 8)
    assert frame.counts.tolist() == [2, 2, 2, 2]
    np.testing.assert_array_equal(frame.corners, corners)
    np.testing.assert_array_equal(frame.core, core)
    assert fixed_frame(corners, core, np.array([0.0, 1.0, 0.0, 0.0]), 13).counts.tolist() == [0, 8, 0, 0]


def fields(seed, count=700):
    rng = np.random.default_rng(seed)
    kind = seed % 4
    if kind == 0:
        return rng.random((count, 2)), np.ones(count)
    if kind == 1:
        clusters = [rng.normal(centre, 0.02, (count // 5, 2)) for centre in rng.random((5, 2))]
        return np.concatenate(clusters), rng.random(count) + 0.1
    if kind == 2:
        side = int(sqrt(count))
        return np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2) * 7.0, np.ones(side * side)
    return rng.normal(size=(count, 2)) * [[100.0, 1.0]] + 3e5, rng.uniform(0, 2, count)


@pytest.mark.parametrize("agents", [4, 12, 57, 200, 5000])
@pytest.mark.parametrize("seed", range(4))
def test_a_frame_is_a_convex_polygon_with_the_core_strictly_inside(seed, agents):
    points, weights = fields(seed)
    frame = planned_frame(points, weights, agents)
    if frame is None:  # four rough places may all be corners
        assert agents < 12
        return
    exact = [[Fraction(x) for x in row] for row in frame.corners.tolist()]
    core = [Fraction(x) for x in frame.core.tolist()]
    for first, second, third in zip(exact, exact[1:] + exact[:1], exact[2:] + exact[:2], strict=True):
        sides = [[b - a for a, b in zip(first, other, strict=True)] for other in (second, third, core)]
        assert turn(sides[0], sides[1]) > 0
        assert turn(sides[0], sides[2]) > 0
    assert frame.counts.sum() == agents - len(frame.corners) - 1
    assert frame.counts.min() >= 0
    assert len(frame.corners) + 1 <= min(agents, ROUGH)
    assert len(frame.counts) == len(frame.corners)


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_followers_are_shared_out_by_the_spread_in_each_cone(seed):
    """By a plain loop over the points: w/√f, f the density that is tested elsewhere, and exact cones."""
    points, weights = fields(seed, count=300)
    frame = planned_frame(points, weights, 150)
    spread = weights / np.sqrt(local_density(points, weights))
    parts = np.zeros(len(frame.corners))
    for point, part in zip(points.tolist(), spread.tolist(), strict=True):
        if point != frame.core.tolist():
            (cone,) = exact_cone(point, frame.corners.tolist(), frame.core.tolist())
            parts[cone] += part
    followers = 150 - len(parts) - 1
    wanted = np.maximum(parts / parts.sum() * (followers + len(parts) / 2) - 0.5, 0)
    wanted *= followers / wanted.sum()
    assert np.abs(frame.counts - wanted).max() < 1


def test_a_larger_team_has_corners_farther_out_by_half_of_what_it_gains():
    """A disc of points: each side goes out by (1 - √(n/N))·d/2, and not beyond the points' own hull by much."""
    rng = np.random.default_rng(5)
    radii, angles = np.sqrt(rng.random(2000)), rng.random(2000) * 2 * pi
    points = np.stack([radii * np.cos(angles), radii * np.sin(angles)], 1)
    areas = []
    for agents in (ROUGH, 4 * ROUGH, 100 * ROUGH):
        frame = planned_frame(points, np.ones(2000), agents)
        areas.append(shapely.Polygon(frame.corners).area)
    assert areas[0] < areas[1] < areas[2] < 1.03 * pi  # a polygon around a disc is larger than it
    # With n places in a disc, neighbours are about √(π/n) apart, and the rim grows from the rough plan's by
    # the quarter of that for four times as many agents, and by 0.45 of it for a hundred times as many.
    spacing, rims = sqrt(pi / ROUGH), [sqrt(area / pi) for area in areas]
    assert rims[1] - rims[0] == pytest.approx(spacing / 4, rel=0.3)
    assert rims[2] - rims[0] == pytest.approx(0.45 * spacing, rel=0.3)
    assert (rims[2] - rims[0]) / (rims[1] - rims[0]) == pytest.approx(0.45 / 0.25, rel=0.02)


def test_corners_go_out_along_both_sides_alike():
    """Nine clusters of points on a 3 × 3 grid, so that places are known: every side of the square goes out alike."""
    spots = np.stack(np.meshgrid([-1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]), -1).reshape(-1, 2)
    around = 1e-3 * np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    points = (spots[:, None] + around).reshape(-1, 2)
    frame = planned_frame(points, np.ones(36), 36)  # n = 9 places for N = 36: by a quarter of the distance
    outer = frame.corners[np.abs(frame.corners).min(axis=1) > 0.5]
    np.testing.assert_allclose(np.abs(outer), 1.25, atol=1e-9)
    np.testing.assert_allclose(frame.core, 0, atol=1e-12)
    exact = planned_frame(points, np.ones(36), 9)
    assert np.abs(exact.corners).max() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("agents", [4, 57, 1000])
def test_targets_without_a_formation_have_no_frame(agents):
    rng = np.random.default_rng(6)
    line = np.stack([rng.random(200), np.zeros(200)], 1)
    assert planned_frame(line, np.ones(200), agents) is None
    assert planned_frame(rng.random((15, 2)), np.ones(15), agents) is None  # four points for each place
    assert planned_frame(np.repeat(rng.random((10, 2)), 20, axis=0), np.ones(200), agents) is None
    corners = np.array([[0.0, 0.0], [9.0, 0.0], [9.0, 9.0], [0.0, 9.0]])
    assert planned_frame(np.repeat(corners, 50, axis=0) + 1e-3 * rng.random((200, 2)), np.ones(200), 4) is None


def test_a_core_on_a_side_of_the_polygon_makes_no_frame():
    """Four spots, known exactly: the only one that is not a corner is half-way between two that are."""
    spots = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [2.0, 0.0]])
    around = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]) / 8
    assert planned_frame((spots[:, None] + around).reshape(-1, 2), np.ones(16), 4) is None
    spots[3] = [1.0, 1.0]
    frame = planned_frame((spots[:, None] + around).reshape(-1, 2), np.ones(16), 4)
    assert frame.core.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("agents", [20, 57, 100, 1000])
def test_targets_on_a_line_that_is_straight_but_for_rounding_have_no_frame(agents):
    rng = np.random.default_rng(8)
    for shift in (0.0, 1.0, 1e4, 1e7):
        line = shift * rng.normal(size=2) + rng.random((200, 1)) * rng.normal(size=2)
        assert planned_frame(line, np.ones(200), agents) is None


@pytest.mark.parametrize("width", [1e-2, 1e-4, 1e-6])
def test_a_narrow_strip_of_targets_has_a_frame_all_the_same(width):
    points = np.random.default_rng(9).random((300, 2)) * [[1.0, width]]
    for turned in (points, points @ np.array([[0.6, 0.8], [-0.8, 0.6]])):
        frame = planned_frame(turned, np.ones(300), 200)
        assert np.isfinite(frame.corners).all()
        assert shapely.Polygon(frame.corners).is_valid
        assert shapely.Polygon(frame.corners).contains(shapely.Point(frame.core))


def test_a_frame_follows_where_everything_is_shifted_turned_by_a_quarter_or_scaled():
    """By exact amounts, so that no bit is rounded otherwise: the frame of the shifted points is the shifted frame."""
    points = np.random.default_rng(7).integers(0, 2**20, (600, 2)) / 2.0**10
    weights = np.ones(600)
    frame = planned_frame(points, weights, 80)
    larger = planned_frame(4 * points, weights, 80)
    np.testing.assert_array_equal(larger.corners, 4 * frame.corners)
    np.testing.assert_array_equal(larger.counts, frame.counts)
    heavier = planned_frame(points, 8 * weights, 80)
    np.testing.assert_array_equal(heavier.corners, frame.corners)


def test_there_are_as_many_points_in_all_as_documented():
    assert (POINTS, ROUGH) == (1024, 256)


def test_mirrored_corners_have_the_cones_of_their_own_cells():
    """Whichever way corners go around, a target in the cell between corners h and h+1 is in cone h."""
    rng = np.random.default_rng(3)
    angles = np.sort(rng.random(7)) * 2 * pi
    corners = np.stack([np.cos(angles), np.sin(angles)], 1) * rng.uniform(1, 2, (7, 1))
    for polygon in (corners, corners[::-1]):
        points = rng.normal(size=(400, 2))
        found = cones_of(points, polygon, np.zeros(2))
        for cone in range(7):
            cell = shapely.Polygon([polygon[cone], polygon[(cone + 1) % 7], [0.0, 0.0]])
            inside = shapely.contains_xy(cell, *points.T)
            assert (found[inside] == cone).all()
