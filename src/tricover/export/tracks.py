"""Tracks: where vehicles are over time, straight between breakpoints; and how near two of them come.

Every vehicle may start too early or too late by up to d seconds. Then two of them are in places of their tracks at
times t and t' with |t - t'| ≤ 2d, the *lag*, and every such pair of times can happen. So the least distance of two
vehicles under all delays is

    min |a(t) - b(t')|   over all t, t' with |t - t'| ≤ lag.

On one leg each it is the least of a convex function over a polygon, and computed as such, exactly up to rounding.
Nothing is sampled.

Pairs are looked for in slices of time: in [m, m'] both are within the boxes that hold their tracks from m - lag/2 to
m' + lag/2, since the middle of t and t' lies in some slice. Two boxes that are farther apart than a bound need no
closer look, and KD-trees of their middles in the plane find those that are not.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError
from tricover.export._kernels import Flat, boxes, least_distances

__all__ = ["Approach", "Tracks", "closest_approach", "pairs_within"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MOST_SLICES = 2000
_AT_ONCE = 20_000_000  # pairs that are held at once
_MOST_PAIRS = 5_000_000  # that come near each other: more would need thousands of levels
_ROUNDING = 1 + 1e-9
_ALWAYS = (-np.inf, np.inf)


@dataclass(frozen=True, eq=False)
class Tracks:
    """Tracks of vehicles, all from time 0 to ``duration``.

    Attributes:
        agents: whose they are, (A,), ascending.
        flat: their breakpoints, one track after another; see ``Flat``.
    """

    agents: Ints
    flat: Flat

    @classmethod
    def of(cls, agents: Ints, tracks: Iterable[tuple[Floats, Floats]]) -> "Tracks":
        """Tracks from times (K,) and points (K, 3) of each; who is done before others stands at its last point."""
        parts = list(tracks)
        end = max((float(times[-1]) for times, _ in parts), default=0.0)
        times = [np.append(times, end) for times, _ in parts]
        points = [np.concatenate([points, points[-1:]]) for _, points in parts]
        starts = np.cumsum([0, *map(len, times)])
        flat = Flat(
            starts.astype(np.int64),
            np.concatenate([np.empty(0), *times]),
            np.concatenate([np.empty((0, 3)), *points]),
        )
        return cls(np.asarray(agents, np.int64), flat)

    def __len__(self) -> int:
        return len(self.agents)

    def __iter__(self) -> Iterator[tuple[Floats, Floats]]:
        """Times (K,) and points (K, 3) of each track."""
        for first, stop in pairwise(self.flat.starts.tolist()):
            yield self.flat.times[first:stop], self.flat.points[first:stop]

    @property
    def duration(self) -> float:
        """Seconds until the last has arrived."""
        return float(self.flat.times.max(initial=0.0))

    def at(self, time: float) -> Floats:
        """Where everybody is at a time, (A, 3)."""
        return self.between(time, time)[0]

    def between(self, start: float, stop: float) -> tuple[Floats, Floats]:
        """The lowest and highest corners, (A, 3) each, of boxes around the tracks from one time to another."""
        low, high = np.empty((2, len(self), 3))
        boxes(self.flat, float(start), float(stop), low, high)
        return low, high


@dataclass(frozen=True)
class Approach:
    """The closest approach of any two: metres, who, when, and by how many seconds the second one is then late.

    A negative ``late`` means that it is early. Without two vehicles the distance is infinite and ``agents`` None.
    """

    distance: float
    agents: tuple[int, int] | None = None
    time: float = 0.0
    late: float = 0.0

    def __str__(self) -> str:
        if self.agents is None:
            return "there are no two vehicles"
        first, second = self.agents
        when = f"at {self.time:.1f} s"
        if abs(self.late) >= 0.05:
            when += f", agent {second} {abs(self.late):.1f} s {'late' if self.late > 0 else 'early'}"
        return f"{self.distance:.2f} m, agents {first} and {second}, {when}"


def closest_approach(tracks: Tracks, lag: float = 0.0) -> Approach:
    """The least distance of any two, at times no more than ``lag`` seconds apart."""
    if len(tracks) < 2:
        return Approach(np.inf)
    best = _least(tracks, _side_by_side(tracks), lag, _ALWAYS)
    for when in _slices(tracks, lag):
        for pairs in _candidates(tracks, when, best.distance):
            if len(pairs):
                best = min(best, _least(tracks, pairs, lag, when), key=_order)
    # The same without anybody being late, if that is as close.
    rows = np.searchsorted(tracks.agents, np.array([best.agents]))
    on_time = _least(tracks, rows, 0.0, _ALWAYS)
    return on_time if on_time.distance <= best.distance * _ROUNDING else best


def pairs_within(tracks: Tracks, limit: float, lag: float = 0.0) -> Ints:
    """Pairs (P, 2) that come nearer than ``limit`` at times no more than ``lag`` apart, as rows of ``agents``."""
    count, near = len(tracks), np.empty(0, np.int64)
    for when in _slices(tracks, lag):
        for pairs in _candidates(tracks, when, limit):
            found = pairs[_measured(tracks, pairs, lag, when)[:, 0] < limit]
            near = np.union1d(near, found[:, 0] * count + found[:, 1])
            if len(near) > _MOST_PAIRS:
                raise InputError(
                    f"more than {_MOST_PAIRS} pairs of agents come nearer to each other than {limit:g} m: "
                    "give a smaller clearance"
                )
    return np.stack([near // max(count, 1), near % max(count, 1)], axis=1)


def _order(approach: Approach) -> tuple[float, tuple[int, int]]:
    """The least first; of equal ones that of the lowest numbers."""
    return approach.distance, approach.agents or (0, 0)


def _measured(tracks: Tracks, pairs: Ints, lag: float, when: tuple[float, float]) -> Floats:
    found = np.empty((len(pairs), 3))
    least_distances(tracks.flat, pairs, float(lag), *when, found)
    return found


def _least(tracks: Tracks, pairs: Ints, lag: float, when: tuple[float, float]) -> Approach:
    """The closest of some pairs."""
    found = _measured(tracks, pairs, lag, when)
    row = np.lexsort((pairs[:, 1], pairs[:, 0], found[:, 0]))[0]
    distance, own, other = found[row].tolist()
    first, second = tracks.agents[pairs[row]].tolist()
    return Approach(distance, (first, second), own, own - other)


def _slices(tracks: Tracks, lag: float) -> Iterator[tuple[float, float]]:
    """Slices of time in which most move no farther than to where their neighbours were, wider by half the lag."""
    flat, count = tracks.flat, len(tracks)
    if not count:
        return
    ways = np.linalg.norm(np.diff(flat.points[:, :2], axis=0), axis=1)
    ways[flat.starts[1:-1] - 1] = 0.0  # from the end of one track to the start of the next
    lengths = np.add.reduceat(np.append(ways, 0.0), flat.starts[:-1])
    extent = np.ptp(flat.points[:, :2], axis=0)
    spacing = max(float(np.sqrt(np.prod(extent) / count)), float(extent.max()) / count)  # over an area, or in a row
    slices = int(np.clip(np.ceil(np.median(lengths) / (spacing or 1.0)), 1, _MOST_SLICES))
    for start, stop in pairwise(np.linspace(0.0, tracks.duration, slices + 1).tolist()):
        yield start - lag / 2, stop + lag / 2


def _side_by_side(tracks: Tracks) -> Ints:
    """Everybody with its nearest at the start, in the middle and at the end: a first bound."""
    from scipy.spatial import cKDTree

    found = []
    for share in np.linspace(0.0, 1.0, 9):
        places = tracks.at(share * tracks.duration)
        nearest = np.asarray(cKDTree(places).query(places, k=2)[1])
        rows = np.arange(len(places))
        other = np.where(nearest[:, 0] == rows, nearest[:, 1], nearest[:, 0])  # many may be at one place
        found.append(np.sort(np.stack([rows, other], axis=1), axis=1))
    return np.unique(np.concatenate(found), axis=0)


def _candidates(tracks: Tracks, when: tuple[float, float], bound: float) -> Iterator[Ints]:
    """Pairs (P, 2), the lower first, whose boxes from one time to another are no farther apart than ``bound``."""
    from scipy.spatial import cKDTree

    low, high = tracks.between(*when)
    middles = (low + high)[:, :2] / 2
    radii = np.hypot(*(high - low)[:, :2].T) / 2
    groups = _by_size(radii, bound)
    trees = [(cKDTree(middles[group]), group, float(radii[group].max())) for group in groups]
    chunk = max(1, _AT_ONCE // len(tracks))
    for number, (_, group, size) in enumerate(trees):
        for first in range(0, len(group), chunk):
            some = group[first : first + chunk]
            asking = cKDTree(middles[some])
            for other, (tree, others, other_size) in enumerate(trees[number:], number):
                reach = (bound + size + other_size) * _ROUNDING
                near = asking.sparse_distance_matrix(tree, reach, output_type="ndarray")
                pairs = np.stack([some[near["i"]], others[near["j"]]], axis=1)
                if other == number:
                    pairs = pairs[pairs[:, 0] < pairs[:, 1]]  # two of a group find each other twice
                one, two = pairs.T
                gaps = np.maximum(np.maximum(low[one] - high[two], low[two] - high[one]), 0.0)
                close = np.linalg.norm(gaps, axis=1) <= bound * _ROUNDING
                yield np.sort(pairs[close], axis=1)


def _by_size(radii: Floats, least: float) -> list[Ints]:
    """Agents in groups: those whose boxes are no larger than most, up to twice as large, and so on."""
    unit = max(least if least < np.inf else 0.0, float(np.median(radii))) or 1.0
    classes = np.ceil(np.log2(np.maximum(radii / unit, 1.0))).astype(np.int64)
    return [np.flatnonzero(classes == each) for each in np.unique(classes)]
