"""Kernels of observations: what a follower knows, in the frame of its own triangle."""

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel
from tricover.geometry._triangles import cell_of, doubled_area, is_flat, weigh

__all__ = ["describe_targets", "describe_triangles"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def describe_triangles(triangles: Floats, units: Floats, first: int, last: int, found: Floats) -> None:
    """Shape, size and heading of triangles (A, 3, 2), as columns 0 … 6 of rows (A, 7).

    Sides are numbered by the corner that they lie across from. ``units`` (A,) is the length that sizes are measured
    in. A triangle whose corners all coincide gets zeros.
    """
    for i in range(first, last):
        triangle = triangles[i]
        found[i, :7] = 0.0
        longest = 0.0
        for k in range(3):
            one, other = triangle[(k + 1) % 3], triangle[(k + 2) % 3]
            side = np.hypot(other[0] - one[0], other[1] - one[1])
            found[i, k] = side
            longest = max(longest, side)
        if longest == 0.0:
            continue
        found[i, :3] /= longest
        found[i, 3] = longest / units[i]
        x, y = triangle[1, 0] - triangle[0, 0], triangle[1, 1] - triangle[0, 1]
        length = np.hypot(x, y)
        if length > 0.0:
            found[i, 4], found[i, 5] = x / length, y / length
        if not is_flat(triangle):
            found[i, 6] = 1.0 if doubled_area(triangle) > 0 else -1.0


@kernel
def describe_targets(
    triangles: Floats,
    offsets: Ints,
    points: Floats,
    weights: Floats,
    size: int,
    first: int,
    last: int,
    found: Floats,
) -> None:
    """Weight, centroid and histogram of targets in triangles (A, 3, 2), as rows (A, 4 + size²).

    The targets of triangle i are points (L, 2) with weights (L,) from offsets[i] on. A triangle without area has no
    cells: it gets its own centroid, and an empty histogram.
    """
    for i in range(first, last):
        found[i] = 0.0
        found[i, 1:4] = 1 / 3
        total = 0.0
        for j in range(offsets[i], offsets[i + 1]):
            total += weights[j]
        found[i, 0] = np.log1p(total)
        if total <= 0.0 or is_flat(triangles[i]):
            continue
        found[i, 1:4] = 0.0
        for j in range(offsets[i], offsets[i + 1]):
            share = weights[j] / total
            a, b, c = weigh(points[j, 0], points[j, 1], triangles[i])
            a, b, c = max(a, 0.0), max(b, 0.0), max(c, 0.0)  # rounding may put a target on an edge outside
            whole = a + b + c
            a, b, c = a / whole, b / whole, c / whole
            found[i, 1] += share * a
            found[i, 2] += share * b
            found[i, 3] += share * c
            if size > 0:
                found[i, 4 + cell_of(a, b, size)] += share
