"""Compiled kernels of regions: how far places reach in given directions, and which points are between the limits."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel

__all__ = ["Limits", "inside", "reach"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Limits(NamedTuple):
    """Pieces of the plane: S of them, each between two lines across each of its K directions."""

    directions: Floats
    """(S, K, 2) of length one."""
    low: Floats
    """(S, K) the least of direction·x, in metres."""
    high: Floats
    """(S, K) the largest."""


@kernel
def reach(limits: Limits, pieces: Ints, places: Floats) -> None:
    """Move the limits apart so that each place (n, 2) is within those of its piece (n,)."""
    directions, low, high = limits
    for row in range(len(places)):
        piece = pieces[row]
        for k in range(directions.shape[1]):
            value = directions[piece, k, 0] * places[row, 0] + directions[piece, k, 1] * places[row, 1]
            low[piece, k] = min(low[piece, k], value)
            high[piece, k] = max(high[piece, k], value)


@kernel
def inside(limits: Limits, points: Floats, found: Flags) -> None:
    """Which points (n, 2) are in one of the pieces at least."""
    directions, low, high = limits
    for row in range(len(points)):
        for piece in range(len(directions)):
            within = True
            for k in range(directions.shape[1]):
                value = directions[piece, k, 0] * points[row, 0] + directions[piece, k, 1] * points[row, 1]
                within &= low[piece, k] <= value <= high[piece, k]
            if within:
                found[row] = True
                break
