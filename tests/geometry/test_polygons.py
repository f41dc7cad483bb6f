"""Zones beside shapely, which knows nothing of our code."""

import pickle

import numpy as np
import pytest
import shapely
from tests.safety.fields import polygon

import tricover as tc
from tricover.errors import InputError
from tricover.geometry import Crossing, as_zones, combine, crossings
from tricover.geometry.polygons import checked_zone

SQUARE = [[1, 1], [3, 1], [3, 3], [1, 3]]
FAR = [0.0, 1e4, 1e7]


def some_zones(rng, count, offset=0.0):
    return [
        polygon(rng, rng.uniform(0, 10, 2) + offset, rng.uniform(0.1, 4), int(rng.integers(3, 12)))
        for _ in range(count)
    ]


def shapes(zones):
    return [shapely.Polygon(ring) for ring in zones]


@pytest.mark.parametrize(
    ("corners", "words"),
    [
        ([[0, 0], [1, 0]], "has 2 different corners"),
        ([[0, 0], [1, 0], [0, 0], [1, 0]], "crosses itself|no area"),
        ([[0, 0], [2, 0], [1, 0], [3, 0]], "no area"),
        (
            [[0, 0], [4, 4], [4, 0], [0, 4]],
            r"crosses itself: its sides from \(0, 0\) to \(4, 4\) and \(4, 0\) to \(0, 4\)",
        ),
        ([[0, 0], [4, 0], [4, 4], [2, 0], [0, 4]], "crosses itself"),  # a corner on another side
        ([[0, 0], [4, 0], [2, 0], [2, 3]], "crosses itself"),  # it turns back on itself
        ([[0, 0], [4, 0], [4, np.nan]], "corner, number 2, that is not finite"),
        ([[0, 0], [4, 0], [4, 1e300]], "beyond"),
        ([[0, 0, 0], [4, 0, 0], [4, 4, 0]], "list of corners"),
        ([0, 1, 2], "list of corners"),
        ("nonsense", "list of corners"),
    ],
)
def test_what_is_no_polygon_is_named(corners, words):
    with pytest.raises(InputError, match=f"zone 1 .*({words})"):
        as_zones([SQUARE, corners])


def test_no_zones_are_no_zones():
    with pytest.raises(InputError, match="no zones"):
        as_zones([])


def test_corners_go_round_counter_clockwise_and_are_there_once():
    ring = checked_zone([[0, 0], [0, 4], [0, 4], [4, 4], [4, 0], [0, 0]])
    assert shapely.Polygon(ring).exterior.is_ccw
    assert sorted(map(tuple, ring.tolist())) == [(0, 0), (0, 4), (4, 0), (4, 4)]
    again = checked_zone(ring)
    assert np.array_equal(again, ring)
    assert not ring.flags.writeable


def test_of_random_corners_those_are_refused_that_shapely_finds_crossing():
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(300):
        corners = rng.integers(0, 7, (int(rng.integers(3, 8)), 2)).astype(float)
        distinct = corners[(corners != np.roll(corners, 1, axis=0)).any(axis=1)]
        fine = len(distinct) >= 3 and shapely.Polygon(distinct).is_valid and shapely.Polygon(distinct).area > 0
        try:
            ring = checked_zone(corners)
        except InputError:
            refused += 1
            assert not fine
        else:
            assert fine
            assert shapely.Polygon(ring).area == shapely.Polygon(distinct).area
    assert 50 < refused < 290


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("count", [1, 5, 60])
def test_ways_meet_the_zones_that_shapely_says(count, whole):
    """Whole numbers touch corners, run along edges and stand on them; there shapely is exact, too."""
    rng = np.random.default_rng(count)
    for _ in range(12):
        zones = some_zones(rng, count)
        if whole:
            zones = [ring for ring in (np.rint(ring) for ring in zones) if _is_zone(ring)] or [np.array(SQUARE, float)]
        before, after = rng.uniform(-3, 13, (2, 150, 2))
        if whole:
            before, after = np.rint(before), np.rint(after)
        after[:10] = before[:10]
        found, known = as_zones(zones), shapes(zones)
        ways = shapely.linestrings(np.stack([before, after], axis=1))
        meets = np.array([shapely.intersects(shape, ways) for shape in known])
        first = np.where(meets.any(axis=0), meets.argmax(axis=0), -1)
        assert np.array_equal(found.crossed(before, after), first)
        inside = np.array([shapely.intersects(shape, shapely.points(before)) for shape in known])
        assert np.array_equal(found.holding(before) >= 0, inside.any(axis=0))
        distance, way, zone = found.distance(before, after)
        assert distance == pytest.approx(min(shapely.distance(shape, ways).min() for shape in known), abs=1e-12)
        assert shapely.distance(known[zone], ways[way]) == pytest.approx(distance, abs=1e-12)
        assert found.distance(before, after, distance / 2)[1:] == (-1, -1) or distance == 0
        near = found.nearest(before[:20], after[:20])
        apart = np.array([shapely.distance(shape, ways[:20]) for shape in known])
        assert np.allclose(apart[near, np.arange(20)], apart.min(axis=0), rtol=0, atol=1e-12)


def _is_zone(ring):
    try:
        checked_zone(ring)
    except InputError:
        return False
    return True


def test_a_way_within_slack_counts_as_meeting():
    zones = as_zones([SQUARE])
    before, after = np.array([[0.0, 3.001]]), np.array([[4.0, 3.001]])
    assert zones.crossed(before, after).tolist() == [-1]
    assert zones.crossed(before, after, 0.0002).tolist() == [-1]  # of the largest coordinate, 4
    assert zones.crossed(before, after, 0.0003).tolist() == [0]


def test_crossings_name_agent_step_zone_and_length():
    rng = np.random.default_rng(7)
    zones = some_zones(rng, 4)
    positions = rng.uniform(-2, 12, (6, 30, 2))
    positions[2] = positions[1]
    there = rng.random((6, 30)) < 0.7
    found = {(c.agent, c.step, c.zone): c.length for c in crossings(positions, zones, there)}
    expected = {}
    for step in range(6):
        for agent in range(30):
            late = step == 5 and not there[4, agent]
            if there[step, agent] and (step < 5 or late):
                way = shapely.LineString(positions[[step, min(step + 1, 5)], agent])
                for number, shape in enumerate(shapes(zones)):
                    if shape.intersects(way):
                        expected[agent, step, number] = shape.intersection(way).length
    assert found.keys() == expected.keys()
    for key, length in expected.items():
        assert found[key] == pytest.approx(length, abs=1e-9)
    assert len(expected) > 30


def test_crossings_of_a_single_moment_and_bad_shapes():
    assert crossings([[[2, 2], [0, 0]]], [SQUARE]) == [Crossing(0, 0, 0, 0.0)]
    assert crossings([[[0, 1], [0, 0]], [[4, 1], [0, 0]]], [SQUARE]) == [Crossing(0, 0, 0, 2.0)]  # along an edge
    assert crossings([[[0, 2], [0, 0]], [[2, 4], [0, 0]]], [SQUARE]) == [Crossing(0, 0, 0, 0.0)]  # at a corner
    with pytest.raises(InputError, match="shape"):
        crossings([[0, 0]], [SQUARE])
    with pytest.raises(InputError, match="present"):
        crossings([[[2, 2]]], [SQUARE], [[True, False]])
    with pytest.raises(InputError, match="agent 1 has no finite position at step 0"):
        crossings([[[2, 2], [np.nan, 0]]], [SQUARE])


@pytest.mark.parametrize("offset", FAR)
@pytest.mark.parametrize("thin", [1.0, 1e-3])
def test_cells_are_forbidden_that_touch_a_zone_and_no_others(offset, thin):
    rng = np.random.default_rng(11)
    for _ in range(40):
        grid = tc.CellGrid(int(rng.integers(1, 24)))
        triangle = rng.uniform(0, 10, (3, 2)) * [1.0, thin] + offset
        if np.abs(np.linalg.det(np.diff(triangle, axis=0))) < 0.3 * thin:
            continue
        zones = some_zones(rng, 3, offset)
        whole = shapely.union_all(shapes(zones))
        cells = shapely.polygons(combine(grid.corners(np.arange(len(grid))), triangle[None]))
        blocked = as_zones(zones).cells(triangle[None], grid)[0]
        assert not (shapely.intersects(whole, cells) & ~blocked).any()
        # Those beyond are within the slack: some 1e-12 of the coordinates, over the triangle's flatness.
        assert (shapely.distance(whole, cells[blocked]) <= 1e-9 * max(1, offset) / thin * 1e-2).all()


@pytest.mark.parametrize(
    ("zone", "cells"),
    [
        ([[-9, -9], [40, -9], [-9, 40]], [0, 1, 2, 3]),  # all around the triangle
        ([[1.2, 1.2], [1.4, 1.2], [1.2, 1.4]], [2]),  # within a cell: 2 is the down cell in the middle
        ([[0.2, 0.2], [0.4, 0.2], [0.2, 0.4]], [3]),
        ([[2, 2], [2.5, 2], [2, 2.5]], [0, 1, 2]),  # a corner of it on the middle of a side: three cells meet there
        ([[-2, 1.9], [-1, 1.9], [-1, 2.1]], []),  # beside
    ],
)
def test_cells_of_zones_that_one_can_draw(zone, cells):
    triangle = np.array([[0.0, 4.0], [0.0, 0.0], [4.0, 0.0]])  # cell 0 at the top, 1 on the right, 3 on the left
    assert np.flatnonzero(as_zones([zone]).cells(triangle[None], tc.CellGrid(2))[0]).tolist() == cells


def test_zones_can_be_pickled_and_say_what_they_are():
    zones = as_zones([SQUARE])
    zones.crossed(np.zeros((1, 2)), np.ones((1, 2)))
    again = pickle.loads(pickle.dumps(zones))
    assert np.array_equal(again.polygons[0], zones.polygons[0])
    assert repr(again) == "<1 zones, 4 corners>"
    assert len(pickle.dumps(zones)) < 1000
