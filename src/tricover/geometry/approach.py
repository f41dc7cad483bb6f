"""Separation: the least distance of any two agents over their whole motion, between steps too.

Between two steps every agent goes straight, all at the same time. Two of them are d + s·(e - d) apart at the share s of
the step, where d and e are their differences before and after it. That is least at s = -d·(e - d) / |e - d|², cut off
at 0 and 1.

Two agents can come within b of each other only if the middles of their ways are within b + h + h', with h and h' the
halves of their ways. So pairs are looked for with KD-trees of the middles. Agents are grouped by how far they go, each
group up to twice as far as the one before: one that goes far does not make all others look far. The least distance so
far is b, so steps in which nobody comes closer are cheap, and pairs of which nobody moves are not looked at again.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError

__all__ = ["Separation", "separation", "separation_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_AT_ONCE = 1 << 15  # agents whose pairs are held at once
_NEVER = np.inf


@dataclass(frozen=True, eq=False)
class Separation:
    """The closest approach of a motion.

    Attributes:
        distance: in metres; infinite if there are no two agents.
        step: in which step, from t = ``step`` to t+1.
        share: at which share of that step.
        agents: who, the lower number first; None if there are no two agents.
        below: pairs that come closer than a limit, (K, 2), ascending, if one was given.
        distances: how close each of them comes, (K,), in metres.
    """

    distance: float
    step: int
    share: float
    agents: tuple[int, int] | None
    below: Ints
    distances: Floats

    def __repr__(self) -> str:
        if self.agents is None:
            return "<Separation: there are no two agents>"
        first, second = self.agents
        when = f"step {self.step}, after {self.share:.2f} of it"
        more = f"; {len(self.below)} pairs below the limit" if len(self.below) else ""
        return f"<Separation {self.distance:.6g} m: agents {first} and {second}, {when}{more}>"


def separation(positions: ArrayLike, limit: float | None = None, present: ArrayLike | None = None) -> Separation:
    """The least distance of any two agents, with straight motion between steps.

    Args:
        positions: (T+1, N, 2), in metres.
        limit: pairs that come closer than so many metres are listed.
        present: who takes part, (T+1, N); None: everybody. A pair counts in the steps in which both take part.

    >>> crossing = [[[0, 0], [4, 0], [9, 9]], [[4, 1], [0, 1], [9, 9]]]
    >>> separation(crossing)
    <Separation 0 m: agents 0 and 1, step 0, after 0.50 of it>
    """
    given = np.asarray(positions, dtype=np.float64)
    if given.ndim != 3 or given.shape[2] != 2 or not len(given):
        raise InputError(f"positions must have the shape (steps + 1, agents, 2), not {given.shape}")
    there = np.ones(given.shape[:2], np.bool_) if present is None else np.asarray(present, np.bool_)
    if there.shape != given.shape[:2]:
        raise InputError(f"present must have the shape {given.shape[:2]}, not {there.shape}")
    if not np.isfinite(given[there]).all():
        step, agent = np.argwhere(there & ~np.isfinite(given).all(axis=2))[0]
        raise InputError(f"agent {agent} has no finite position at step {step}")
    return separation_of(zip(given, there, strict=True), limit)


def separation_of(moments: Iterator[tuple[Floats, Flags]], limit: float | None) -> Separation:
    """The same for positions (N, 2) and who takes part (N,), one step after another."""
    if limit is not None and not limit > 0:
        raise InputError(f"limit must be a positive number of metres, not {limit}")
    search = _Search(limit or 0.0)
    before, there = next(moments)
    end = 0
    for end, (after, there_after) in enumerate(moments, 1):
        search.look(end - 1, before[there], after[there], np.flatnonzero(there))
        before, there = after, there_after
    # What is left is the end: those who take part there, standing.
    search.look(end, before[there], before[there], np.flatnonzero(there))
    return search.result()


class _Search:
    """The closest approach so far, and pairs below the limit."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.best, self.when, self.share = _NEVER, 0, 0.0
        self.who: tuple[int, int] | None = None
        self.pairs: dict[tuple[int, int], float] = {}
        self._known = np.empty(0, np.int64)

    def look(self, step: int, before: Floats, after: Floats, agents: Ints) -> None:
        """A step of some agents. Those who did not move, nor come anew, are no pairs among themselves again."""
        if self.best == 0 and not self.limit and step > self.when:
            return  # nobody comes closer than that
        moving = (before != after).any(axis=1)
        if not np.array_equal(agents, self._known):
            moving |= ~np.isin(agents, self._known)
        self._known = agents
        if len(agents) > 1 and moving.any():
            halves = np.hypot(*(after - before).T) / 2
            for first, second in self._candidates((before + after) / 2, halves, moving):
                self._measure(step, before, after, agents, first, second)

    def _candidates(self, middles: Floats, halves: Floats, moving: Flags) -> Iterator[tuple[Ints, Ints]]:
        """Pairs that may come within the bound; each of them at least once."""
        from scipy.spatial import cKDTree

        if not self.best < _NEVER:  # a first bound: who stand side by side along an axis
            order = np.argsort(middles[:, 0], kind="stable")
            yield order[:-1], order[1:]
        groups = _by_length(halves, max(self.best, self.limit))
        trees = [(cKDTree(middles[group]), group, float(halves[group].max())) for group in groups]
        for _, group, far in trees:
            movers = group[moving[group]]
            for start in range(0, len(movers), _AT_ONCE):
                some = movers[start : start + _AT_ONCE]
                asking = cKDTree(middles[some])
                for other, others, their in trees:
                    reach = (max(self.best, self.limit) + far + their) * (1 + 1e-9)
                    near = asking.sparse_distance_matrix(other, reach, output_type="ndarray")
                    first, second = some[near["i"]], others[near["j"]]
                    once = (first < second) | ~moving[second]  # two who move find each other twice
                    yield first[once], second[once]

    def _measure(self, step: int, before: Floats, after: Floats, agents: Ints, first: Ints, second: Ints) -> None:
        apart = first != second
        low, high = np.minimum(first, second)[apart], np.maximum(first, second)[apart]
        if not len(low):
            return
        distances, shares = closest(before[low] - before[high], after[low] - after[high])
        # Of equal ones the pair with the lowest numbers: so it does not matter in which order they are found.
        least = distances.min()
        ties = np.flatnonzero(distances == least)
        at = ties[np.lexsort((high[ties], low[ties]))[0]]
        pair = (int(agents[low[at]]), int(agents[high[at]]))
        earlier = self.who is not None and step == self.when and pair < self.who
        if least < self.best or (least == self.best and earlier):
            self.best, self.when, self.share, self.who = float(least), step, float(shares[at]), pair
        for index in np.flatnonzero(distances < self.limit).tolist():
            key = (int(agents[low[index]]), int(agents[high[index]]))
            self.pairs[key] = min(self.pairs.get(key, _NEVER), float(distances[index]))

    def result(self) -> Separation:
        """What was found."""
        below = sorted(self.pairs)
        distances = np.array([self.pairs[pair] for pair in below])
        return Separation(
            self.best, self.when, self.share, self.who, np.array(below, np.int64).reshape(-1, 2), distances
        )


def closest(before: Floats, after: Floats) -> tuple[Floats, Floats]:
    """Least lengths (K,) of differences that go straight from ``before`` to ``after`` (K, 2), and at which share."""
    change = after - before
    squared = np.einsum("ij,ij->i", change, change)
    along = -np.einsum("ij,ij->i", before, change)
    shares = np.clip(np.divide(along, squared, out=np.zeros_like(along), where=squared > 0), 0.0, 1.0)
    ends = np.where(shares[:, None] == 1.0, after, before + shares[:, None] * change)
    return np.hypot(ends[:, 0], ends[:, 1]), shares


def _by_length(halves: Floats, least: float) -> list[Ints]:
    """Agents in groups: those who go no farther than most, or than ``least``, up to twice as far, and so on."""
    unit = max(least if least < _NEVER else 0.0, float(np.median(halves))) or 1.0
    classes = np.ceil(np.log2(np.maximum(halves / unit, 1.0))).astype(np.int64)
    return [np.flatnonzero(classes == each) for each in np.unique(classes)]
