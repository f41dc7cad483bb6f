"""The core agent: the interior agent at the hub of the first fan (paper, equation for b_{N_B+1}).

Criterion (i), the default: the least sum of distances to the boundary agents. Criterion (ii): the agent nearest to a
given point, such as the centre of the targets. Or simply a given agent. Ties go to the lowest index.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import FormationError, InputError, listed, shown
from tricover.network._kernels import cut, nearest
from tricover.network.mentees import fermat
from tricover.network.roster import scaled

__all__ = ["Choice", "as_choice", "choose_core"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Choice = None | int | tuple[float, ...]

_CLOSE = 1.0 + 1e-12  # sums closer than this are told apart with more digits
_UNDERFLOW = 1e-280  # squares below this may have lost bits
_SLOPE = 2.0**-46  # of the number of corners, times a distance: more than the rounding of a tangent


def as_choice(core: int | ArrayLike | None, count: int, n: int) -> Choice:
    """The user's choice of a core, checked: None, an agent's index, or a point."""
    if core is None:
        return None
    given = np.asarray(core)
    if given.shape == () and given.dtype.kind in "iu":
        if not 0 <= int(given) < count:
            raise InputError(f"there is no agent {given} to be the core: agents are numbered 0 to {count - 1}")
        return int(given)
    if given.shape == (n,) and given.dtype.kind in "iuf" and np.isfinite(given).all():
        return tuple(float(x) for x in given)
    raise InputError(f"core must be None, an agent's index or a point with {n} finite coordinates, not {shown(core)}")


def choose_core(reference: Floats, places: Floats, boundary: Indices, alive: NDArray[np.bool_], choice: Choice) -> int:
    """The core among the living agents that are not on the boundary; ``places`` are the reference, ``scaled``."""
    inner = alive.copy()
    inner[boundary] = False
    interior = np.flatnonzero(inner)
    if not interior.size:
        raise FormationError(
            f"there is no interior agent: all {len(boundary)} living agents, {listed(boundary)}, are corners of the "
            "hull; add one inside"
        )
    if choice is None:
        return _least_total_distance(places, interior, places[boundary])
    if isinstance(choice, tuple):
        return _nearest(reference, interior, choice)
    if inner[choice]:
        return choice
    if alive.all():
        raise FormationError(
            f"core agent {choice} is a boundary agent, a corner of the hull: name one of the interior agents, "
            f"{listed(interior)}"
        )
    return _nearest(
        reference, interior, tuple(reference[choice].tolist())
    )  # the chosen one is lost: take the next to it


def _nearest(points: Floats, candidates: Indices, point: tuple[float, ...]) -> int:
    places = scaled(np.vstack([points[candidates], point]))  # together: the point may be anywhere
    squares = ((places[:-1] - places[-1]) ** 2).sum(axis=1)
    rivals = candidates[squares <= squares.min() * _CLOSE + _UNDERFLOW]

    def exact(agent: int) -> Fraction:
        return sum(((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(points[agent], point, strict=True)), Fraction(0))

    return int(min(rivals.tolist(), key=exact))


def _least_total_distance(points: Floats, candidates: Indices, corners: Floats) -> int:
    """Kelley's cutting planes over a finite set: the sum is convex, so each value and slope bounds it everywhere else.

    Few candidates are ever evaluated, and the work is near N + N_B where all pairs would be N·N_B.
    """
    left = candidates.copy()
    rounding = _SLOPE * len(corners) * float(np.ptp(corners, axis=0).max())
    bounds = np.zeros(len(left))
    agent = int(left[nearest(points, left, corners.mean(axis=0))])
    best, tried = np.inf, []
    while left.size:
        sides = points[agent] - corners
        distances = np.linalg.norm(sides, axis=1)
        total, slope = float(distances.sum()), (sides / distances[:, None]).sum(axis=0)
        best = min(best, total)
        tried.append((total, agent))
        count = cut(points, left, bounds, agent, total, slope, best * _CLOSE + rounding)
        left, bounds = left[:count], bounds[:count]
        agent = int(left[np.argmin(bounds)]) if count else -1
    rivals = sorted(agent for total, agent in tried if total <= best * _CLOSE)
    axes, places = (0,) * points.shape[1], np.ascontiguousarray(points[rivals].T)
    first = 0
    for other in range(1, len(rivals)):
        if fermat.compare(axes, places, 0, len(rivals), other, first, corners) < 0.0:
            first = other
    return rivals[first]
