"""Places in a first cell: what its planner works out alone, from the targets in its cone.

The three corners are held, and n places settle by Lloyd's algorithm between them, from equal steps of the spread
(``targets.placing``), with a few relocations.

A target in the cone counts wherever it is. Places are brought strictly inside the cell at the end, with weights of at
least 10⁻⁴. All places are different. With more places than targets, the others fill the cell evenly.

It takes about n·log n: the number of iterations hardly grows with n.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.geometry import combine, flat, weights_in
from tricover.geometry.closest import closest_points, inset_triangles
from tricover.targets.placing import improved, settle, spread_of, start_places

__all__ = ["cell_places"]

Floats = NDArray[np.float64]

_LEAST = 1e-4  # weight of a place for each corner of its cell
_TOLERANCE = 1e-3  # Lloyd's cost falls by less than this share of itself: the polish does the rest
_TRIALS = 4  # relocations: none cost 1,000 agents up to a third of their coverage, twice as many gain 1 to 3%
_ASIDE = 1e-3  # of the way to a place elsewhere in the cell
_GOLDEN = 1.32471795724474602596  # the root of x³ = x + 1: its powers spread points evenly over a square


def cell_places(corners: Floats, points: Floats, weights: Floats, count: int) -> Floats:
    """Places (count, 2) inside a triangle (3, 2), for points (D, 2) with positive weights (D,) in its cone."""
    cell = np.repeat(corners[None], count, axis=0)
    if not count or flat(corners[None])[0]:
        return _told_apart(_even(count), cell)
    distinct = np.unique(points, axis=0)
    found = _on_each(distinct, corners, count) if len(distinct) <= count else _settled(corners, points, weights, count)
    found = closest_points(found, inset_triangles(cell, _LEAST))
    return _told_apart(weights_in(found, cell), cell)


def _settled(corners: Floats, points: Floats, weights: Floats, count: int) -> Floats:
    """Lloyd's places, with the corners held."""
    start = np.concatenate([start_places(points, spread_of(points, weights), count), corners])
    held = np.arange(count + 3) >= count
    found = settle(start, points, weights, held, _TOLERANCE)
    return improved(found, points, weights, held, _TOLERANCE, _TOLERANCE, _TRIALS).places[:count]


def _on_each(points: Floats, corners: Floats, count: int) -> Floats:
    """A place on each point, and the others spread evenly over the triangle."""
    return np.concatenate([points, _even(count - len(points)) @ corners])


def _even(count: int, first: int = 1) -> Floats:
    """Weights (count, 3) of points that are spread evenly over a triangle, from a row that begins with the first."""
    shares = (np.arange(first, first + count)[:, None] / np.array([_GOLDEN, _GOLDEN**2])) % 1.0
    beyond = shares.sum(axis=1) > 1
    shares[beyond] = 1 - shares[beyond]
    return np.column_stack([1 - shares.sum(axis=1), shares])


def _told_apart(weights: Floats, cell: Floats) -> Floats:
    """Places (n, 2) by weights (n, 3), all different: who is not the first at a place goes aside a little."""
    share, places = _ASIDE, combine(weights, cell)
    while True:
        _, first = np.unique(places, axis=0, return_index=True)
        if len(first) == len(places):
            return places
        others = np.setdiff1d(np.arange(len(places)), first)
        aside = _even(len(others), 1 + int(others[0]))
        weights[others] += share * (aside - weights[others])
        places, share = combine(weights, cell), 2 * share
