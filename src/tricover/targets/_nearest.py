"""The nearest of a few places, by looking at all of them: sooner done than building a tree."""

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel

__all__ = ["nearest_of_few"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def nearest_of_few(places: Floats, points: Floats, first: int, last: int, distances: Floats, nearest: Ints) -> None:
    """Distance (D,) and index (D,) of the place nearest to each point; of equal ones, as computed here, the first."""
    for j in range(first, last):
        best, at = np.inf, 0
        for i in range(len(places)):
            x, y = points[j, 0] - places[i, 0], points[j, 1] - places[i, 1]
            square = x * x + y * y
            if square < best:
                best, at = square, i
        distances[j], nearest[j] = np.sqrt(best), at
