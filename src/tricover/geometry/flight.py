"""The closest approach in one straight flight of everybody, however long.

All leave and arrive together, so two of them are as far apart as ``approach`` says of a step. Its search looks at who
is near whom half-way, which is everybody where ways are long. Here ways with starts and ends side by side are boxed
together, and the boxes halved again and again. A box goes along with its ways: at the share s it is the box of the
starts and that of the ends, mixed. Two boxes that stay apart hold no pair that comes close. So teams whose ways
hardly cross, as by ``assignment``, cost N log N, whatever the ways' length.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.geometry import _flights
from tricover.geometry.approach import Separation, closest

__all__ = ["closest_in_flight"]

Floats = NDArray[np.float64]

_LEAF = 4  # ways in a box that is not halved any more: for 10,000 ways 8 took a tenth longer, 16 half as long again
_ROUNDING = 16 * float(np.finfo(np.float64).eps)


def closest_in_flight(starts: Floats, ends: Floats, limit: float = 0.0) -> Separation:
    """The closest approach of a flight from (N, 2) to (N, 2), and the pairs that come closer than a limit.

    >>> closest_in_flight(np.array([[0.0, 0.0], [4.0, 0.0]]), np.array([[4.0, 1.0], [0.0, 1.0]]))
    <Separation 0 m: agents 0 and 1, step 0, after 0.50 of it>
    """
    if len(starts) < 2:
        return Separation(np.inf, 0, 0.0, None, np.empty((0, 2), np.int64), np.empty(0))
    ways = np.hstack([starts, ends])
    levels = max(0, int(np.ceil(np.log2(len(ways) / _LEAF))))
    slack = _ROUNDING * float(np.abs(ways).max())
    pairs, count = _flights.find_pairs(ways, _flights.plant(ways, levels), limit, slack)
    below = np.unique(pairs[1:count], axis=0)
    found = np.concatenate([pairs[:1], below])
    distances, shares = closest(*(points[found[:, 0]] - points[found[:, 1]] for points in (starts, ends)))
    first, second = found[0].tolist()
    return Separation(float(distances[0]), 0, float(shares[0]), (first, second), below, distances[1:])
