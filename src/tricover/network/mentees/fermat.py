"""The paper's rule: the least sum of distances to the cell's corners (equation for μ_{l-1,h}, Section III, Step 2).

It is named for Fermat's point. A compiled rule has two functions:

``score``    scores all members in floating point, and returns how far apart two scores must be to be told apart
``compare``  the exact order of two members that ``score`` could not tell apart

``axes`` is a tuple of length n, known to the compiler; ``places`` (n, S) are the members' coordinates, start … stop the
cell's slice of them, ``corners`` (n+1, n) the cell. Loops in the plane are written out: the compiler then makes
vectors of them.
"""

import math

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel
from tricover.geometry._expansions import EMPTY, PAIR, ROOM, add_product, add_root, two_sum

__all__ = ["compare", "score"]

Floats = NDArray[np.float64]
Axes = tuple[int, ...]

_ROUNDING = 2.0**-47  # of a sum of three or four distances: seven roundings of 2⁻⁵³, twice, generously
_DIGITS = 2.0**-200


@kernel
def score(axes: Axes, places: Floats, start: int, stop: int, corners: Floats, scores: Floats) -> float:
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
def compare(axes: Axes, places: Floats, start: int, stop: int, i: int, j: int, corners: Floats) -> float:
    """Sign of score(i) - score(j), to 60 digits: sums of roots that agree so far are equal."""
    total, square, side = np.empty(ROOM), np.empty(ROOM), np.empty(2)
    length, size = EMPTY, 0.0
    for which in range(2):
        for k in range(len(corners)):
            square_length = EMPTY
            for axis in range(len(axes)):
                side[1], side[0] = two_sum(places[axis, i if which == 0 else j], -corners[k, axis])
                square_length = add_product(square, square_length, side, PAIR, side, PAIR, 1.0)
            length = add_root(total, length, square, square_length, 1.0 if which == 0 else -1.0)
            size += math.sqrt(square[square_length - 1])
    return 0.0 if abs(total[length - 1]) <= _DIGITS * size else float(total[length - 1])
