"""Places for agents among weighted points: Lloyd's algorithm, where it starts, and how it leaves a poor optimum.

*Lloyd's algorithm* moves each place to the centroid of the points that are nearest to it:

    r_i ← Σ_{j ∈ V_i} w_j d_j / Σ_{j ∈ V_i} w_j,    V_i = the points that are nearer to place i than to any other.

The cost never rises and the iteration ends after finitely many steps, in a local optimum. Places without points stay
where they are, and so do those that are held.

*Start.* Optimal places have a density like √f, f that of the points. So they start at equal steps of the *spread*
Σ_j w_j f_j^{-1/2} along a space-filling curve through the points.

*Relocation.* Those who would be missed least go where most is left to gain, and Lloyd's algorithm goes on, while that
lowers the cost. No chance is involved.
"""

from math import frexp
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.targets._nearest import nearest_of_few, nearest_two_of_few
from tricover.targets.density import local_density
from tricover.threads import in_ranges, workers

__all__ = [
    "Settled",
    "along_curve",
    "find_nearest",
    "improved",
    "mean_square",
    "nearest_places",
    "settle",
    "spread_of",
    "start_places",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

FEW = 512  # places: up to so many, looking at all of them takes less time than a tree does
ONE_THREAD = 10_000  # points: fewer are looked up before a second thread has started (1,000 in 0.2 ms, two cores)
_NEARLY, _TINY = 1e-12, 1e-290  # of two squares that differ by no more, relative and absolute, either may be less
_CURVE = 16  # levels of the space-filling curve


class Settled(NamedTuple):
    """Places (N, 2), their cost at the start and after each iteration (iterations + 1,), and whether they converged."""

    places: Floats
    costs: Floats
    converged: bool

    @property
    def cost(self) -> float:
        """Weighted mean squared distance of the points to their nearest place."""
        return float(self.costs[-1])


def find_nearest(places: Floats, points: Floats, count: int) -> tuple[Floats, Ints]:
    """Distances and indices of the ``count`` places nearest to each point (D, 2): (D, count), or (D,) of one."""
    from scipy.spatial import cKDTree

    if count <= min(2, len(places)) and len(places) <= FEW:
        look = nearest_of_few if count == 1 else nearest_two_of_few
        shape = len(points) if count == 1 else (len(points), count)
        found, of = np.empty(shape), np.empty(shape, np.int64)
        work = np.ascontiguousarray(places), np.ascontiguousarray(points)
        in_ranges(lambda first, last: look(*work, first, last, found, of), len(points))
        return found, of
    threads = 1 if len(points) < ONE_THREAD else workers()
    distances, nearest = cKDTree(places).query(points, k=count, workers=threads)
    return np.asarray(distances), np.asarray(nearest, dtype=np.int64)


def mean_square(places: Floats, points: Floats, weights: Floats) -> float:
    """The cost: weighted mean squared distance of points (D, 2) to the nearest of the places (N, 2)."""
    distances, _ = find_nearest(places, points, 1)
    return float((weights * distances**2).sum() / weights.sum())


def nearest_places(places: Floats, points: Floats) -> Ints:
    """The place (D,) nearest to each point (D, 2): of several at the same distance, as computed here, the first."""
    from scipy.spatial import cKDTree

    if len(places) <= FEW or not len(points):
        return find_nearest(places, points, 1)[1]
    _, pairs = find_nearest(places, points, 2)
    squares = _squares(places[pairs], points[:, None])
    nearest = pairs[:, 0].copy()
    # A tree compares distances that are rounded otherwise, and of equal ones takes any.
    doubtful = np.flatnonzero(squares[:, 1] <= squares[:, 0] * (1 + _NEARLY) + _TINY)
    if doubtful.size:
        reach = np.sqrt(squares[doubtful].max(axis=1)) * (1 + _NEARLY)
        around = cKDTree(places).query_ball_point(points[doubtful], reach, return_sorted=True)
        for row, some in zip(doubtful.tolist(), around, strict=True):
            near = np.array(some, np.int64)
            nearest[row] = near[_squares(places[near], points[row]).argmin()]
    return nearest


def _squares(places: Floats, points: Floats) -> Floats:
    """Squared distances, in one way of rounding for all."""
    apart = points - places
    return np.asarray(apart[..., 0] * apart[..., 0] + apart[..., 1] * apart[..., 1])


def settle(
    places: Floats,
    points: Floats,
    weights: Floats,
    held: Flags | None = None,
    tolerance: float = 0.0,
    most: int | None = None,
) -> Settled:
    """Lloyd's algorithm from places (N, 2) over points (D, 2), for ``most`` iterations or until it has converged.

    Converged means that nobody moves, or that the cost falls by no more than ``tolerance`` times itself.
    """
    free = np.ones(len(places), np.bool_) if held is None else ~held
    costs: list[float] = []
    converged = False
    while True:
        distances, nearest = find_nearest(places, points, 1)
        costs.append(float((weights * distances**2).sum() / weights.sum()))
        if len(costs) > 1 and costs[-2] - costs[-1] <= tolerance * costs[-2]:
            converged = True
        moved = _centroids(places, free, nearest, points, weights)
        converged = converged or np.array_equal(moved, places)
        if converged or len(costs) - 1 == most:
            return Settled(places, np.array(costs), converged)
        places = moved


def _centroids(places: Floats, free: Flags, nearest: Ints, points: Floats, weights: Floats) -> Floats:
    """Where each place goes: to the centroid of its points, or nowhere."""
    mass = np.bincount(nearest, weights, len(places))
    # Offsets from the place, not coordinates, so that far from the origin no digits are lost.
    offsets = points - places[nearest]
    sums = np.stack([np.bincount(nearest, weights * offset, len(places)) for offset in offsets.T], axis=-1)
    moves = free & (mass > 0)
    moved = places.copy()
    moved[moves] += sums[moves] / mass[moves, None]
    return moved


def spread_of(points: Floats, weights: Floats) -> Floats:
    """w_j f_j^{-1/2} (D,): what a point adds to the share of places that its surroundings should have."""
    return np.asarray(weights / np.sqrt(local_density(points, weights)))


def start_places(points: Floats, spread: Floats, count: int) -> Floats:
    """Points at equal steps of the spread (D,) along the curve, (count, 2), all different.

    There must be as many different points.
    """
    distinct, first = np.unique(points, axis=0, return_inverse=True)
    summed = np.bincount(first.ravel(), spread)
    order = np.argsort(along_curve(distinct), kind="stable")
    steps = np.cumsum(summed[order])
    picked = np.searchsorted(steps, (np.arange(count) + 0.5) * (steps[-1] / count))
    # Each its own point: push apart those that fell on the same one, forwards and then back from the end.
    row = np.arange(count)
    picked = np.maximum.accumulate(picked - row) + row
    picked = np.minimum(picked, len(distinct) - count + row)
    return np.asarray(distinct[order[picked]])


def along_curve(points: Floats) -> Ints:
    """Position of each point on Hilbert's curve through their bounding square."""
    points = np.ldexp(points, -frexp(float(np.abs(points).max()))[1])  # exact, and no difference under- or overflows
    low, size = points.min(axis=0), float(np.ptp(points, axis=0).max()) or 1.0
    x, y = ((points - low) * ((2**_CURVE - 1) / size)).astype(np.int64).T
    place = np.zeros(len(points), np.int64)
    for level in range(_CURVE - 1, -1, -1):
        right, up = (x >> level) & 1, (y >> level) & 1
        place = 4 * place + (3 * right ^ up)
        mirrored = (up == 0) & (right == 1)
        x, y = np.where(mirrored, ~x, x), np.where(mirrored, ~y, y)
        x, y = np.where(up == 0, y, x), np.where(up == 0, x, y)
    return place


def improved(
    found: Settled,
    points: Floats,
    weights: Floats,
    held: Flags | None = None,
    tolerance: float = 0.0,
    gain: float = 0.0,
    most: int | None = None,
) -> Settled:
    """Relocate a tenth of the places at a time, and half as many where that does not help; ``most`` times at most.

    It helps where the cost falls by more than the share ``gain`` of itself.
    """
    stay = np.zeros(len(found.places), np.bool_) if held is None else held
    count, trials = int((~stay).sum()) // 10, 0
    while count and trials != most:
        trials += 1
        trial = settle(_relocated(found.places, points, weights, stay, count), points, weights, held, tolerance)
        if trial.cost < found.cost * (1 - gain):
            found = trial
        else:
            count //= 2
    return found


def _relocated(places: Floats, points: Floats, weights: Floats, held: Flags, count: int) -> Floats:
    """The ``count`` places with the least losses go next to those with the most cost, onto their farthest point."""
    distances, nearest = find_nearest(places, points, 2)
    squares, first = weights[:, None] * distances**2, nearest[:, 0]
    missed = np.bincount(first, squares[:, 1] - squares[:, 0], len(places))
    missed[held] = np.inf
    costs = np.bincount(first, squares[:, 0], len(places))
    farthest = np.full(len(places), -1)
    order = np.argsort(squares[:, 0], kind="stable")
    farthest[first[order]] = order
    leaving = np.argsort(missed, kind="stable")[:count]
    costs[leaving] = -1.0
    crowded = np.argsort(-costs, kind="stable")[:count]
    crowded = crowded[farthest[crowded] >= 0]
    moved = places.copy()
    moved[leaving[: len(crowded)]] = points[farthest[crowded]]
    return moved
