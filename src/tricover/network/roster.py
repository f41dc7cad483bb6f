"""The roster: everybody's reference positions, checked once where they come in."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import FormationError, InputError, agents, listed, shown
from tricover.formats.points import LARGEST, own_floats

__all__ = ["agent_indices", "as_roster", "refuse_coincident", "scale_of", "scaled", "spans_well", "told_apart"]

Floats = NDArray[np.float64]

# The rule ``balanced`` compares sums of products of six coordinates in space. With the largest coordinate near 2¹⁵⁰
# they do not overflow, and those of coordinates 75 decades smaller keep all their bits.
_TOP = 150
_SPAN = 1e-75


def as_roster(reference: ArrayLike) -> Floats:
    """Reference positions as a read-only (N, n) array of distinct, finite points, n = 2 or 3, N ≥ n + 2.

    See ``build_network`` for how large and how small coordinates may be.
    """
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
    _refuse_sizes(points)
    refuse_coincident(points)
    points.flags.writeable = False
    return points


def spans_well(least: float, largest: float) -> bool:
    """Whether coordinates from ``least``, but for zeros, to ``largest`` in size keep their digits in products."""
    return largest <= LARGEST and least >= _SPAN * largest


def _refuse_sizes(points: Floats) -> None:
    """Refuse coordinates of which products would lose digits."""
    sizes = np.abs(points)
    largest = float(sizes.max())
    if largest > LARGEST:
        culprits = np.flatnonzero((sizes > LARGEST).any(axis=1))
        raise FormationError(f"{agents(culprits)} must not have coordinates beyond {LARGEST:g} metres")
    small = sizes < _SPAN * largest
    if not small.any():
        return
    culprits = np.flatnonzero((small & (sizes > 0)).any(axis=1))  # zeros are harmless
    if culprits.size:
        row = sizes[culprits[0]]
        raise FormationError(
            f"{agents(culprits)} must not have a coordinate of {row[row > 0].min():g} beside one of {largest:g} "
            f"elsewhere: what is less than {_SPAN:g} of the largest must be 0"
        )


def refuse_coincident(points: Floats, numbers: NDArray[np.int64] | None = None) -> None:
    """Refuse two agents at the same point (N, n); errors name them by their numbers, or by their rows."""
    ordered = np.sort(points[:, 0])
    shared = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    if not shared.size:  # nearly always: no two agents share even one coordinate
        return
    suspects = np.flatnonzero(np.isin(points[:, 0], shared))
    order = suspects[np.lexsort(points[suspects].T[::-1])]
    same = np.flatnonzero((points[order[1:]] == points[order[:-1]]).all(axis=1))
    if same.size:
        culprits = order[same[0] : same[0] + 2]
        first, second = sorted((culprits if numbers is None else numbers[culprits]).tolist())
        more = f" (and {same.size - 1} more)" if same.size > 1 else ""
        where = tuple(points[culprits[0]].tolist())
        raise FormationError(f"agents {first} and {second} stand at the same point {where}{more}: move or drop one")


def scaled(points: Floats) -> Floats:
    """The points times a power of two, the largest coordinate near 2¹⁵⁰: exact, without overflow or underflow."""
    return np.asarray(np.ldexp(points, scale_of(points)))


def scale_of(points: Floats) -> int:
    """By which power of two ``scaled`` multiplies points."""
    return _TOP - math.frexp(max(float(points.max()), -float(points.min())))[1]


def told_apart(places: Floats, movable: NDArray[np.bool_]) -> Floats:
    """The same places (N, 2), but for movable ones (N,) on which another stands: a roster has no two at one place.

    They move by as little as floating point can tell.
    """
    places, order = places.copy(), np.argsort(movable, kind="stable")  # who cannot move is first at its place
    while True:
        _, first = np.unique(places[order], axis=0, return_index=True)
        others = np.delete(order, first)
        others = others[movable[others]]
        if not others.size:
            return places
        places[others, 0] = np.nextafter(places[others, 0], np.inf)


def agent_indices(indices: ArrayLike, count: int) -> NDArray[np.int64]:
    """Agent indices as a sorted array without repeats; one that is not on the roster is an error."""
    given = np.atleast_1d(np.asarray(indices))
    if given.size and (given.ndim != 1 or given.dtype.kind not in "iu"):
        raise InputError(f"agents must be a list of whole numbers, not {shown(indices)}")
    unknown = given[(given < 0) | (given >= count)]
    if unknown.size:
        raise InputError(f"there is no agent {listed(unknown)}: agents are numbered 0 to {count - 1}")
    return np.unique(given).astype(np.int64)
