"""The nearest of a few places, by looking at all of them: sooner done than building a tree."""

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel

__all__ = ["nearest_of_few", "nearest_two_of_few"]

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


@kernel
def nearest_two_of_few(places: Floats, points: Floats, first: int, last: int, distances: Floats, nearest: Ints) -> None:
    """Distances (D, 2) and indices (D, 2) of the two places nearest to each point, the nearer first."""
    for j in range(first, last):
        best, second, at, then = np.inf, np.inf, 0, 0
        for i in range(len(places)):
            x, y = points[j, 0] - places[i, 0], points[j, 1] - places[i, 1]
            square = x * x + y * y
            if square < best:
                best, second, at, then = square, best, i, at
            elif square < second:
                second, then = square, i
        distances[j, 0], nearest[j, 0] = np.sqrt(best), at
        distances[j, 1], nearest[j, 1] = np.sqrt(second), then
