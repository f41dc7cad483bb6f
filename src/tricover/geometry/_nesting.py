"""Compiled parts of ``nesting``: orientations of three points that go straight are quadratics in time."""

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel
from tricover.geometry._predicates import orient2d

__all__ = ["NOISE", "least", "margins", "sides_of", "turn"]

Floats = NDArray[np.float64]
Quadratic = tuple[float, float, float]

NOISE = 2.0**-46  # of the product of two sides: more than the rounding of an orientation along the way


@kernel
def turn(p0: Floats, p1: Floats, u0: Floats, u1: Floats, v0: Floats, v1: Floats) -> Quadratic:
    """Twice the signed area of the triangle p, u, v as c0 + c1·s + c2·s², for points that go from 0 to 1 with s."""
    ax, ay, bx, by = u0[0] - p0[0], u0[1] - p0[1], v0[0] - p0[0], v0[1] - p0[1]
    dax, day = (u1[0] - p1[0]) - ax, (u1[1] - p1[1]) - ay
    dbx, dby = (v1[0] - p1[0]) - bx, (v1[1] - p1[1]) - by
    return ax * by - ay * bx, (ax * dby - ay * dbx) + (dax * by - day * bx), dax * dby - day * dbx


@kernel
def least(c0: float, c1: float, c2: float) -> float:
    """The least value of c0 + c1·s + c2·s² for s from 0 to 1."""
    value = min(c0, c0 + c1 + c2)
    if c2 > 0.0 and 0.0 < -c1 < 2.0 * c2:
        value = min(value, c0 - c1 * c1 / (4.0 * c2))
    return value


@kernel
def sides_of(points: Floats, triangles: Floats, first: int, last: int, found: NDArray[np.int8]) -> None:
    """1 for a point inside its counter-clockwise triangle, 0 on an edge, -1 outside; the signs are exact."""
    for i in range(first, last):
        px, py = points[i, 0], points[i, 1]
        side = 1
        for k in range(3):
            a, b = triangles[i, (k + 1) % 3], triangles[i, (k + 2) % 3]
            sign = orient2d(a[0], a[1], b[0], b[1], px, py)
            side = min(side, 1 if sign > 0.0 else 0 if sign == 0.0 else -1)
        found[i] = side


@kernel
def margins(before: Floats, after: Floats, old: Floats, new: Floats, first: int, last: int, found: Floats) -> None:
    """Columns of ``found``: metres to the nearest edge along the way at least, and those that rounding may hide."""
    for i in range(first, last):
        nearest, hidden = np.inf, 0.0
        for k in range(3):
            j, m = (k + 1) % 3, (k + 2) % 3
            c0, c1, c2 = turn(before[i], after[i], old[i, j], new[i, j], old[i, m], new[i, m])
            length = max(
                np.hypot(old[i, m, 0] - old[i, j, 0], old[i, m, 1] - old[i, j, 1]),
                np.hypot(new[i, m, 0] - new[i, j, 0], new[i, m, 1] - new[i, j, 1]),
            )
            reach = 0.0
            for corner in (j, m):
                for x, y in (
                    (old[i, corner, 0] - before[i, 0], old[i, corner, 1] - before[i, 1]),
                    (new[i, corner, 0] - after[i, 0], new[i, corner, 1] - after[i, 1]),
                ):
                    reach = max(reach, np.hypot(x, y))
            if length > 0.0:
                nearest = min(nearest, least(c0, c1, c2) / length)
                hidden = max(hidden, NOISE * reach * reach / length)
            else:
                nearest = min(nearest, 0.0)
        found[i, 0], found[i, 1] = nearest, hidden
