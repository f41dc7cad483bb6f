"""Ways: is a point inside a triangle all the way, while both go straight from one step to the next?

Let the point p and the corners u, v of an edge go from their places at s = 0 to those at s = 1, straight and evenly.
Twice the area of p, u, v is then a quadratic in s, as each coordinate is linear in s. The point is inside a
counter-clockwise triangle as long as all three of these are positive. The distance from an edge is that area over the
edge's length, which is a convex function of s and so never longer than at one of both ends.

Signs are exact: where rounding could hide one, the quadratic is worked out in fractions.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tricover.geometry import _nesting
from tricover.geometry.simplices import volumes
from tricover.threads import in_ranges

__all__ = ["areas_on_way", "inside_all_the_way", "left_all_the_way", "sides", "way_margins"]

Floats = NDArray[np.float64]


def sides(points: Floats, triangles: Floats) -> NDArray[np.int8]:
    """1 for points (A, 2) inside their counter-clockwise triangles (A, 3, 2), 0 on an edge, -1 outside, exactly.

    >>> triangle = np.array([[[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]])
    >>> [int(sides(np.array([point]), triangle)[0]) for point in ([1.0, 1.0], [2.0, 2.0], [3.0, 3.0])]
    [1, 0, -1]
    """
    found = np.empty(len(points), np.int8)
    in_ranges(lambda first, last: _nesting.sides_of(points, triangles, first, last, found), len(points))
    return found


def way_margins(before: Floats, after: Floats, old: Floats, new: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Least distances (A,) from the edges of their own triangles, in metres, and who is strictly inside (A,).

    Points go from ``before`` to ``after`` (A, 2), triangles from ``old`` to ``new`` (A, 3, 2). Distances are those
    along the whole way at least; negative: outside. A point that sets out from an edge counts as inside if it leaves
    it.
    """
    found = np.empty((len(before), 2))
    in_ranges(lambda first, last: _nesting.margins(before, after, old, new, first, last, found), len(found))
    inside = found[:, 0] > found[:, 1]
    for row in np.flatnonzero(~inside & (found[:, 0] >= -found[:, 1])).tolist():
        inside[row] = inside_all_the_way(before[row], after[row], old[row], new[row])
    return found[:, 0], inside


def inside_all_the_way(before: Floats, after: Floats, old: Floats, new: Floats) -> bool:
    """Whether one point (2,) is inside its triangle (3, 2) all the way, but for the very start, in exact fractions."""
    point, corners = _straight(before, after), [_straight(*ends) for ends in zip(old, new, strict=True)]
    return all(_positive(*_turn(point, corners[k], corners[(k + 1) % 3])) for k in range(3))


_Line = tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]


def _straight(start: Floats, end: Floats) -> _Line:
    """Each coordinate as its value at 0, and what it gains until 1."""
    (x0, y0), (x1, y1) = ([Fraction(value) for value in place.tolist()] for place in (start, end))
    return (x0, x1 - x0), (y0, y1 - y0)


def _turn(p: _Line, u: _Line, v: _Line) -> tuple[Fraction, Fraction, Fraction]:
    (ax, dax), (ay, day) = [(b[0] - a[0], b[1] - a[1]) for a, b in zip(p, u, strict=True)]
    (bx, dbx), (by, dby) = [(b[0] - a[0], b[1] - a[1]) for a, b in zip(p, v, strict=True)]
    return ax * by - ay * bx, ax * dby - ay * dbx + dax * by - day * bx, dax * dby - day * dbx


def _positive(c0: Fraction, c1: Fraction, c2: Fraction) -> bool:
    """Whether c0 + c1·s + c2·s² is positive for all s from 0 to 1; at 0 it may be nothing."""
    if c0 < 0 or c0 + c1 + c2 <= 0:
        return False
    if c0 == 0:  # s·(c1 + c2·s), positive at 1
        return c1 >= 0
    turning = c2 > 0 and 0 < -c1 < 2 * c2
    return not turning or 4 * c0 * c2 > c1 * c1


def left_all_the_way(before: Floats, after: Floats) -> NDArray[np.bool_]:
    """Which triples of points (A, 3, 2) turn left on their whole way, but for the very start: exactly, (A,).

    >>> triangle = np.array([[[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]])
    >>> left_all_the_way(triangle, triangle + 1).tolist(), left_all_the_way(triangle, -triangle).tolist()
    ([True], [False])
    """
    a0, a1 = (np.moveaxis(ends[:, 1:] - ends[:, :1], 0, -1) for ends in (before, after))
    (ax, ay), (bx, by) = a0
    (dax, day), (dbx, dby) = a1 - a0
    c0, c1, c2 = ax * by - ay * bx, ax * dby - ay * dbx + dax * by - day * bx, dax * dby - day * dbx
    with np.errstate(divide="ignore", invalid="ignore"):
        turning = np.where((c2 > 0) & (-c1 > 0) & (-c1 < 2 * c2), c0 - c1 * c1 / (4 * c2), np.inf)
    lowest = np.minimum(np.minimum(c0, c0 + c1 + c2), turning)
    hidden = _nesting.NOISE * np.maximum((a0**2).sum(axis=1).max(axis=0), (a1**2).sum(axis=1).max(axis=0))
    left = lowest > hidden
    for row in np.flatnonzero(~left & (lowest >= -hidden)).tolist():
        lines = [_straight(*ends) for ends in zip(before[row], after[row], strict=True)]
        left[row] = _positive(*_turn(*lines))
    return np.asarray(left)


def areas_on_way(before: Floats, after: Floats, shares: Floats) -> Floats:
    """Twice the areas (K, A) of triangles that go from (A, 3, 2) to (A, 3, 2), at shares (K,) of their way.

    >>> triangle = np.array([[[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]])
    >>> areas_on_way(triangle, -triangle, np.array([0.0, 0.5, 1.0])).ravel().tolist()
    [16.0, 0.0, 16.0]
    """
    return volumes(before + shares[:, None, None, None] * (after - before))
