"""The roster: everybody's reference positions, checked once where they come in."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import FormationError, InputError, agents, listed, shown
from tricover.formats.points import own_floats

__all__ = ["agent_indices", "as_roster", "scaled"]

Floats = NDArray[np.float64]

#: Coordinates below this share of the largest one count as zero: products of three must not underflow.
_NEGLIGIBLE = 2.0**-300


def as_roster(reference: ArrayLike) -> Floats:
    """Reference positions as a read-only (N, n) array of distinct, finite points, n = 2 or 3, N ≥ n + 2."""
    try:
        points = own_floats(reference)
    except (TypeError, ValueError) as error:
        raise InputError(f"reference positions must be an (N, 2) or (N, 3) array of numbers: {error}") from None
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        raise InputError(f"reference positions must have the shape (N, 2) or (N, 3), not {points.shape}")
    broken = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if broken.size:
        where = tuple(points[broken[0]].tolist())
        raise FormationError(f"{agents(broken)} must have finite coordinates, not {where}")
    count, n = points.shape
    if count < n + 2:
        raise FormationError(
            f"a network in {n} dimensions needs at least {n + 2} agents, {n + 1} corners and a core; there "
            + ("is 1" if count == 1 else f"are {count}")
        )
    _refuse_coincident(points)
    points.flags.writeable = False
    return points


def _refuse_coincident(points: Floats) -> None:
    places = scaled(points)
    ordered = np.sort(places[:, 0])
    shared = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    if not shared.size:  # nearly always: no two agents share even one coordinate
        return
    suspects = np.flatnonzero(np.isin(places[:, 0], shared))
    order = suspects[np.lexsort(places[suspects].T[::-1])]
    same = np.flatnonzero((places[order[1:]] == places[order[:-1]]).all(axis=1))
    if same.size:
        first, second = sorted(order[same[0] : same[0] + 2].tolist())
        more = f" (and {same.size - 1} more)" if same.size > 1 else ""
        where = tuple(points[first].tolist())
        raise FormationError(f"agents {first} and {second} stand at the same point {where}{more}: move or drop one")


def scaled(points: Floats) -> Floats:
    """The points times a power of two, the largest coordinate between 1/2 and 1: exact, and safe from overflow."""
    largest = float(np.abs(points).max())
    places = np.ldexp(points, -math.frexp(largest)[1])
    places[np.abs(places) < _NEGLIGIBLE] = 0.0
    return places


def agent_indices(indices: ArrayLike, count: int) -> NDArray[np.int64]:
    """Agent indices as a sorted array without repeats; one that is not on the roster is an error."""
    given = np.atleast_1d(np.asarray(indices))
    if given.size and (given.ndim != 1 or given.dtype.kind not in "iu"):
        raise InputError(f"agents must be a list of whole numbers, not {shown(indices)}")
    unknown = given[(given < 0) | (given >= count)]
    if unknown.size:
        raise InputError(f"there is no agent {listed(unknown)}: agents are numbered 0 to {count - 1}")
    return np.unique(given).astype(np.int64)
