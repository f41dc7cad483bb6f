"""The paper's rule: the least sum of distances to the cell's corners (equation for μ_{l-1,h}, Section III, Step 2).

It is named for Fermat's point. A compiled rule has two functions:

``score``    scores all members in floating point, leaves in ``state`` (n, 2) what ``precise`` needs of the cell,
             and returns how far apart two scores must be to be told apart
``precise``  scores one member as a double-double, for members that ``score`` could not tell apart

``axes`` is a tuple of length n, known to the compiler; ``places`` (n, S) are the members' coordinates, start … stop the
cell's slice of them, ``corners`` (n+1, n) the cell. Loops in the plane are written out: the compiler then makes
vectors of them.
"""

import math

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel
from tricover.geometry import _doubles as dd
from tricover.geometry._predicates import two_sum

__all__ = ["precise", "score"]

Floats = NDArray[np.float64]
Axes = tuple[int, ...]

_ROUNDING = 2.0**-47  # of a sum of three or four distances: seven roundings of 2⁻⁵³, twice, generously


@kernel
def score(axes: Axes, places: Floats, start: int, stop: int, corners: Floats, state: Floats, scores: Floats) -> float:
    """Sum of distances to the corners, for each member."""
    if len(axes) == 2:
        xs, ys = places[0], places[1]
        ax, ay, bx, by, cx, cy = (
            corners[0, 0],
            corners[0, 1],
            corners[1, 0],
            corners[1, 1],
            corners[2, 0],
            corners[2, 1],
        )
        for i in range(start, stop):
            x, y = xs[i], ys[i]
            a = math.sqrt((x - ax) * (x - ax) + (y - ay) * (y - ay))
            b = math.sqrt((x - bx) * (x - bx) + (y - by) * (y - by))
            c = math.sqrt((x - cx) * (x - cx) + (y - cy) * (y - cy))
            scores[i] = a + b + c
    else:
        for i in range(start, stop):
            total = 0.0
            for k in range(len(axes) + 1):
                square = 0.0
                for axis in range(len(axes)):
                    side = places[axis, i] - corners[k, axis]
                    square += side * side
                total += math.sqrt(square)
            scores[i] = total
    return _ROUNDING * float(scores[start])  # all scores of a cell lie within a factor of two or so


@kernel
def precise(axes: Axes, places: Floats, i: int, corners: Floats, state: Floats) -> tuple[float, float]:
    """Sum of distances to the corners of member i, to about 30 digits."""
    total, total_low = 0.0, 0.0
    for k in range(len(corners)):
        square, square_low = 0.0, 0.0
        for axis in range(len(axes)):
            side, side_low = two_sum(places[axis, i], -corners[k, axis])
            part, part_low = dd.multiply(side, side_low, side, side_low)
            square, square_low = dd.add(square, square_low, part, part_low)
        distance, distance_low = dd.root(square, square_low)
        total, total_low = dd.add(total, total_low, distance, distance_low)
    return total, total_low
