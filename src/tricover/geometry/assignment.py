"""Who takes which place, so that nobody meets on the way: the least sum of squared distances.

Everybody flies straight from its start x_i to its place g_i, and all leave and arrive together. Let u = x_i - x_j and
w = g_i - g_j be the differences of two agents. Swapping their places changes the sum of squared distances by

    |x_i - g_j|² + |x_j - g_i|² - |x_i - g_i|² - |x_j - g_j|² = 2 u·w,

so where no pair gains by a swap, u·w ≥ 0 for every pair. At the share s of the flight they are (1-s)·u + s·w apart, and

    |(1-s)·u + s·w|² ≥ (1-s)²|u|² + s²|w|² ≥ |u|²|w|² / (|u|² + |w|²) ≥ d²/2

if starts and places are all at least d apart (the second bound is the least value over s). So agents keep d/√2, and two
of radius R that start and end 2√2·R apart never touch (Turpin, Michael, Kumar: concurrent assignment and planning of
trajectories). The least sum of *distances* gives no such bound.

The proof needs no optimum: it is enough that no two agents who would come within d/√2 of each other gain by a swap. So
up to ``EXACT`` agents get the optimum, and larger teams a good assignment: starts and places are halved together until
groups are small, each group gets its optimum, and so do groups that are cut anew, of agents near each other half-way.
Then whoever comes too close swaps places. Every one of these changes lowers the sum, so they come to an end. Last, the
whole flight is searched (``approach``): what is guaranteed was also looked at.

Translating all places, or scaling them, changes nothing in who takes which: sums of squares are compared around the
centroids, and in units of the spread, where rounding is least and the solver fastest.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError
from tricover.formats.points import LARGEST, checked_positions
from tricover.geometry.approach import Separation, separation

__all__ = ["EXACT", "Assignment", "assess_flight", "assign_by_groups", "assign_places", "least_travel"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EXACT = 2000
"""Agents up to which the optimum is found. It takes 1 to 3 s for so many, and eight times as long for twice as many."""
GROUP = 256
"""Agents who are assigned at a time in larger teams.

With 2,000 agents, 12 rounds of groups of 250 took 0.3 s and left the sum 0.5 to 1.2% above the least one, in units of
the spread. With groups of 100 it was 0.1 s, and 2 to 17%.
"""
_ROUNDS = 12
_ENOUGH = 1e-3  # share of the sum: a round that lowers it by less is the last
_TURN = 2.399963  # radians between the cuts of two rounds: the golden angle, so that no two are alike
_ROUNDING = 16 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False, repr=False)
class Assignment:
    """Who takes which place, and how far apart everybody stays.

    Attributes:
        places: row of the place that each start takes, (N,).
        approach: the closest approach along the flight, straight and together.
        guaranteed: metres that agents keep by the theorem, d/√2; 0 where two starts or two places coincide.
    """

    places: Ints
    approach: Separation
    guaranteed: float

    @property
    def separation(self) -> float:
        """The least distance of any two agents along the flight, in metres."""
        return self.approach.distance

    def __repr__(self) -> str:
        kept = f"{self.separation:.6g} m apart, {self.guaranteed:.6g} m guaranteed"
        return f"<Assignment of {len(self.places)} places: at least {kept}>"


def assign_places(starts: ArrayLike, places: ArrayLike) -> Assignment:
    """Who takes which place, by the least sum of squared distances, or nearly so for more than ``EXACT`` agents.

    Args:
        starts: (N, 2), in metres.
        places: (N, 2).

    >>> found = assign_places([[0, 0], [4, 0], [8, 0]], [[8, 9], [0, 9], [4, 6]])
    >>> found.places.tolist(), found.separation
    ([1, 2, 0], 4.0)
    >>> found
    <Assignment of 3 places: at least 4 m apart, 2.82843 m guaranteed>
    """
    begin, goals = _points(starts, "starts"), _points(places, "places")
    if len(begin) != len(goals):
        raise InputError(f"{len(begin)} starts and {len(goals)} places: give as many of the one as of the other")
    order = _optimum(begin, goals) if len(begin) <= EXACT else assign_by_groups(begin, goals)
    promised = _promise(begin, goals)
    _mend(begin, goals, order, promised)
    order.flags.writeable = False
    return Assignment(order, *assess_flight(begin, goals[order]))


def least_travel(starts: Floats, goals: Floats) -> Ints:
    """The goals (N,) of starts (N, 2) with the least sum of squared distances; nearly so for more than ``GROUP``."""
    return _optimum(starts, goals) if len(starts) <= GROUP else assign_by_groups(starts, goals)


def assess_flight(starts: Floats, ends: Floats) -> tuple[Separation, float]:
    """The closest approach of a straight flight from (N, 2) to (N, 2), and what is guaranteed: 0 if it is not kept."""
    promised, found = _promise(starts, ends), separation(np.stack([starts, ends]))
    return found, promised if found.distance >= promised else 0.0


def _points(given: ArrayLike, name: str) -> Floats:
    try:
        return checked_positions(given, dimensions=(2,))
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _promise(starts: Floats, ends: Floats) -> float:
    """d/√2, less what rounding can do to the difference of two positions."""
    apart = min(separation(points[None]).distance for points in (starts, ends))
    if len(starts) < 2:
        return apart
    extent = max(float(np.ptp(points, axis=0).max()) for points in (starts, ends))
    return max(apart / sqrt(2) - _ROUNDING * extent, 0.0)


def _unit(points: Floats) -> Floats:
    """Points (N, 2) around their centroid, in units of their spread."""
    around = points - points.mean(axis=0)
    around /= np.abs(around).max() or 1.0  # so that no square is too large or too small
    return np.asarray(around / (sqrt(float((around * around).sum()) / len(around)) or 1.0))


def _optimum(starts: Floats, goals: Floats) -> Ints:
    """The places (N,) with the least sum of squared distances."""
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    costs = cdist(_unit(starts), _unit(goals), "sqeuclidean")
    return np.asarray(linear_sum_assignment(costs)[1], np.int64)


def assign_by_groups(starts: Floats, goals: Floats) -> Ints:
    """Places (N,) with nearly the least sum, group by group."""
    begin, ends = _unit(starts), _unit(goals)
    order = np.empty(len(begin), np.int64)
    for some, theirs in _halved(begin, ends):
        order[some] = theirs[_optimum(begin[some], ends[theirs])]
    before = np.inf
    for turn in range(_ROUNDS):
        for some in _cut(begin + ends[order], turn):
            order[some] = order[some][_optimum(begin[some], ends[order[some]])]
        apart = begin - ends[order]
        now = float((apart * apart).sum())
        if now >= before * (1 - _ENOUGH):
            break
        before = now
    return order


def _halved(starts: Floats, goals: Floats) -> Iterator[tuple[Ints, Ints]]:
    """Rows of starts and of goals in groups: both are halved across the longer side, again and again."""
    todo = [(np.arange(len(starts)), np.arange(len(goals)))]
    while todo:
        some, theirs = todo.pop()
        if len(some) <= GROUP:
            yield some, theirs
            continue
        axis = int(np.argmax(np.ptp(starts[some], axis=0) + np.ptp(goals[theirs], axis=0)))
        some, theirs = some[_sorted(starts[some], axis)], theirs[_sorted(goals[theirs], axis)]
        half = len(some) // 2
        todo += [(some[:half], theirs[:half]), (some[half:], theirs[half:])]


def _cut(points: Floats, turn: int) -> Iterator[Ints]:
    """Rows of points (N, 2) in groups, cut along turned axes and not quite in the middle, each turn elsewhere."""
    angle = turn * _TURN
    turned = points @ np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    todo = [np.arange(len(points))]
    while todo:
        some = todo.pop()
        if len(some) <= GROUP:
            yield some
            continue
        some = some[_sorted(turned[some], int(np.argmax(np.ptp(turned[some], axis=0))))]
        first = round(len(some) * (0.4 + 0.2 * ((angle + _TURN * len(todo)) % 1.0)))
        todo += [some[:first], some[first:]]


def _sorted(points: Floats, axis: int) -> Ints:
    """The order along an axis; of equal ones along the other, so that equal sets of points are halved alike."""
    return np.asarray(np.lexsort((points[:, 1 - axis], points[:, axis])), np.int64)


def _mend(starts: Floats, goals: Floats, order: Ints, limit: float) -> None:
    """Let those swap places who come closer than the limit, until nobody does or gains by it."""
    swaps = 1 if 0 < limit < np.inf else 0  # one agent has nobody to meet
    while swaps:
        pairs = separation(np.stack([starts, goals[order]]), min(limit, LARGEST)).below
        swaps = sum(_swap(starts, goals, order, *pair) for pair in pairs.tolist())


def _swap(starts: Floats, goals: Floats, order: Ints, first: int, second: int) -> bool:
    """Swap two agents' places if that surely lowers the sum."""
    before, after = starts[first] - starts[second], goals[order[first]] - goals[order[second]]
    before, after = before / np.hypot(*before), after / np.hypot(*after)
    gains = bool(before @ after < -_ROUNDING)
    if gains:
        order[[first, second]] = order[[second, first]]
    return gains
