"""Inside all the way: against exact fractions and against many points of the way."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tricover.geometry.nesting import areas_on_way, inside_all_the_way, left_all_the_way, sides, way_margins

SHARES = np.linspace(0, 1, 201)
whole = st.integers(-4, 4)
points = st.tuples(whole, whole)


def area(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def at(start, end, share):
    return [Fraction(a) + share * (Fraction(b) - Fraction(a)) for a, b in zip(start, end, strict=True)]


def plainly_left(before, after):
    """Signs at every 60th of the way, all in fractions."""
    areas = []
    for k in range(1, 61):
        places = [at(start, end, Fraction(k, 60)) for start, end in zip(before, after, strict=True)]
        areas.append(area(*places))
    return min(areas) > 0 and area(*before) >= 0


def turning_point(before, after):
    """Whether the quadratic's least value is between two of the shares, where they cannot tell."""
    ends = [area(*[at(a, b, Fraction(k, 2)) for a, b in zip(before, after, strict=True)]) for k in range(3)]
    c0, c2 = ends[0], 2 * ends[0] - 4 * ends[1] + 2 * ends[2]
    c1 = ends[2] - c0 - c2
    return c2 > 0 and 0 < -c1 < 2 * c2 and (-c1 / (2 * c2) * 60).denominator != 1


@settings(max_examples=120)
@given(before=st.lists(points, min_size=3, max_size=3), after=st.lists(points, min_size=3, max_size=3))
def test_left_all_the_way(before, after):
    ways = np.array([before], float), np.array([after], float)
    found = bool(left_all_the_way(*ways)[0])
    if not turning_point(before, after):
        assert found == plainly_left(before, after)
    elif found:
        assert plainly_left(before, after)


@settings(max_examples=120)
@given(
    before=st.lists(points, min_size=4, max_size=4),
    after=st.lists(points, min_size=4, max_size=4),
    scale=st.sampled_from([1.0, 1e-9, 3e7]),
)
def test_a_point_is_inside_if_it_is_left_of_all_edges(before, after, scale):
    old, new = np.array(before, float) * scale, np.array(after, float) * scale
    edges = [[0, 1, 2], [0, 2, 3], [0, 3, 1]]
    wanted = bool(left_all_the_way(old[edges], new[edges]).all())
    margins, inside = way_margins(old[:1], new[:1], old[None, 1:], new[None, 1:])
    assert inside[0] == wanted == inside_all_the_way(old[0], new[0], old[1:], new[1:])
    if inside[0]:
        assert margins[0] >= -1e-12 * scale


@pytest.mark.parametrize("seed", range(20))
def test_margins_are_distances_from_edges(seed):
    """Along the way the distance from the nearest edge is never less; at rest it is the margin itself."""
    rng = np.random.default_rng(seed)
    corners = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 7.0]])
    old, new = corners + rng.normal(size=(2, 3, 2)) * 0.4
    before, after = rng.dirichlet(np.ones(3) * 4) @ old, rng.dirichlet(np.ones(3) * 4) @ new
    margin = way_margins(before[None], after[None], old[None], new[None])[0][0]
    nearest = min(distance(before + s * (after - before), old + s * (new - old)) for s in SHARES)
    assert margin <= nearest + 1e-12
    assert margin >= nearest * 0.6
    still = way_margins(before[None], before[None], old[None], old[None])[0][0]
    assert still == pytest.approx(distance(before, old), rel=1e-12)


def distance(point, triangle):
    """From the nearest of the three lines, negative outside."""
    lines = [(triangle[k - 2], triangle[k - 1]) for k in range(3)]
    return min(area(a, b, point) / np.hypot(*(b - a)) for a, b in lines)


def test_a_point_may_set_out_from_an_edge_but_not_come_to_one():
    triangle, edge, inner = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]), np.array([2.0, 0.0]), np.array([1.0, 1.0])
    assert inside_all_the_way(edge, inner, triangle, triangle)
    assert not inside_all_the_way(inner, edge, triangle, triangle)
    assert not inside_all_the_way(edge, edge, triangle, triangle)
    assert not way_margins(inner[None], edge[None], triangle[None], triangle[None])[1][0]
    assert way_margins(edge[None], inner[None], triangle[None], triangle[None])[1][0]


def test_nested_at_both_ends_is_not_nested_in_between():
    """Corners that swing around a point which goes straight through: what the ends do not show."""
    old = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 1.0]])
    new = np.array([[10.0, 10.0], [0.0, 10.0], [0.0, 9.0]])
    before, after = old.mean(axis=0), new.mean(axis=0)
    shifted = new + np.array([3.0, -3.0])
    assert sides(np.array([before, after]), np.array([old, new])).tolist() == [1, 1]
    assert inside_all_the_way(before, after, old, new) == bool((areas_on_way(old[None], new[None], SHARES) > 0).all())
    assert not inside_all_the_way(before, shifted.mean(axis=0), old, shifted)


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_sides_are_exact(far):
    """A point an ulp off an edge is told apart from one on it."""
    triangle = np.array([[0.0, 0.0], [3.0, 1.0], [0.0, 4.0]]) + far
    on, ulp = np.array([1.5, 0.5]) + far, np.spacing(far + 0.5)
    up = np.array([0.0, ulp])
    places = np.array([on, on + up, on - up])
    assert sides(places, np.repeat(triangle[None], 3, axis=0)).tolist() == [0, 1, -1]
