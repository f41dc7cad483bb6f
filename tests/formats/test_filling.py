"""Polygons filled with points: as many as were asked for, inside, and each for the same area."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.path import Path as Outline

import tricover as tc
from tricover.errors import FileFormatError, InputError
from tricover.formats import Projection, read_points
from tricover.formats.filling import filled, shares

CENTRE = Projection(7.0, 51.0)


def closed(corners):
    return np.array([*corners, corners[0]], float)


def star(seed, corners):
    """A simple polygon around the origin."""
    rng = np.random.default_rng(seed)
    angles = np.sort(rng.uniform(0, 2 * np.pi, corners)) + np.linspace(0, 1e-3, corners)
    radii = rng.uniform(5, 100, corners)
    return closed(radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1))


L_SHAPE = closed([(0, 0), (90, 0), (90, 30), (30, 30), (30, 90), (0, 90)])
TRIANGLE = closed([(0, 0), (100, 0), (0, 100)])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 12), st.integers(1, 400), st.booleans())
def test_exactly_so_many_points_inside(seed, corners, count, jitter):
    outline = star(seed, corners)
    try:
        points = filled([outline], count, np.random.default_rng(seed) if jitter else None)
    except InputError:  # a polygon without area
        return
    assert points.shape == (count, 2)
    # Matplotlib counts crossings on its own; a point on the edge, but for rounding, may count as outside.
    assert (
        Outline(outline).contains_points(points, radius=1e-6) | Outline(outline).contains_points(points, radius=-1e-6)
    ).all()


def test_a_rectangle_gets_a_square_grid():
    points = filled([closed([(0, 0), (40, 0), (40, 20), (0, 20)])], 8)
    assert sorted(points.tolist()) == [[x, y] for x in (5, 15, 25, 35) for y in (5, 15)]


@pytest.mark.parametrize("jitter", [False, True])
def test_every_part_has_its_share(jitter):
    """The L is five equal squares; the triangle's centre of mass is known."""
    rng = np.random.default_rng(4) if jitter else None
    points = filled([L_SHAPE], 2000, rng)
    squares, counts = np.unique(np.floor(points / 30), axis=0, return_counts=True)
    assert squares.tolist() == [[0, 0], [0, 1], [0, 2], [1, 0], [2, 0]]
    np.testing.assert_allclose(counts, 400, atol=20)
    np.testing.assert_allclose(filled([TRIANGLE], 2000, rng).mean(axis=0), 100 / 3, atol=0.3)


def test_jitter_moves_each_point_within_its_own_square():
    still, moved = filled([L_SHAPE], 500), filled([L_SHAPE], 500, np.random.default_rng(0))
    side = (5 * 900 / 500) ** 0.5
    apart = np.abs(moved - still)
    assert apart.max() <= 0.51 * side + 1e-9
    assert (apart > 0.1).any(axis=1).mean() > 0.8
    assert len(np.unique(moved[:, 1])) > 400


def test_slivers_and_holes():
    sliver = closed([(0, 0), (1000, 999), (1000, 1000)])
    points = filled([sliver], 50)
    assert np.ptp(points, axis=0).min() > 800
    ring, hole = closed([(0, 0), (9, 0), (9, 9), (0, 9)]), closed([(3, 3), (3, 6), (6, 6), (6, 3)])
    points = filled([ring, hole], 720)
    assert not ((points > 3) & (points < 6)).all(axis=1).any()
    np.testing.assert_allclose(points.mean(axis=0), 4.5, atol=0.05)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=30), st.integers(0, 500))
def test_shares_are_by_area_and_nobody_goes_without(areas, more):
    points = len(areas) + more
    counts = np.array(shares(areas, points))
    assert counts.sum() == points
    assert counts.min() >= 1
    exact = points * np.array(areas) / sum(areas)
    assert (counts <= np.maximum(np.ceil(exact + 1e-6), 1)).all()
    if exact.min() >= 1:
        assert (np.abs(counts - exact) < 1).all()
    assert (np.diff(counts[np.argsort(areas, kind="stable")]) >= -1).all()


def test_polygons_share_the_points_and_points_stay(tmp_path):
    def feature(kind, coordinates, **properties):
        return {"type": "Feature", "properties": properties, "geometry": {"type": kind, "coordinates": coordinates}}

    unit = closed([(0, 0), (1, 0), (1, 1), (0, 1)])
    squares = [300 * unit, 100 * unit + np.array([400, 0])]
    rings = [CENTRE.to_degrees(square).tolist() for square in squares]
    features = [
        feature("Polygon", [rings[0]], weight=1, name="field"),
        feature("Point", [7.0, 51.0], weight=9),
        feature("Polygon", [rings[1]], weight=5, name="hot"),
    ]
    path = tmp_path / "a.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    points = read_points(path, projection=CENTRE, points=500)
    assert points.ids == (*["field"] * 450, "", *["hot"] * 50)
    assert points.weights.tolist() == [*[1.0] * 450, 9.0, *[5.0] * 50]
    targets = tc.Targets.from_file(path, projection=CENTRE, points=500)
    assert np.array_equal(targets.points, points.positions)
    by_density = read_points(path, projection=CENTRE, density=500 / 100_000)
    np.testing.assert_array_equal(by_density.positions, points.positions)
    with pytest.raises(FileFormatError, match="1 points are too few for 2 polygons: each needs one"):
        read_points(path, points=1)
    with pytest.raises(InputError, match="points and density both say"):
        read_points(path, points=500, density=1)
    with pytest.raises(FileFormatError, match=r"need about .* GiB of memory"):
        read_points(path, points=10**12)
    for wrong in (0, -3, 2.5, True, "9"):
        with pytest.raises(InputError, match="points must be a whole number from 1 on, not"):
            read_points(path, points=wrong)


@pytest.mark.parametrize("name", ["a.csv", "a.npy", "a.json", "a.geojson"])
def test_there_must_be_something_to_fill(tmp_path, name):
    tc.Targets([[0, 0], [1, 1]], projection=CENTRE if name == "a.geojson" else None).to_file(tmp_path / name)
    with pytest.raises(
        FileFormatError, match=r"a\.\w+ (holds points already|has no polygons to be filled with 9 points)"
    ):
        read_points(tmp_path / name, points=9)
