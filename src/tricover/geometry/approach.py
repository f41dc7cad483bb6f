"""Separation: the least distance of any two agents over their whole motion, between steps too.

Between two steps every agent goes straight, all at the same time. Two of them are d + s·(e - d) apart at the share s of
the step, where d and e are their differences before and after it. That is least at s = -d·(e - d) / |e - d|², cut off
at 0 and 1.

Pairs are found with a tree of all ways of a step (``way_tree``). The least distance so far bounds the search, so steps
in which nobody comes closer are cheap, and pairs of which nobody moves are not looked at again.

Results do not depend on the number of threads: of equal distances the earliest step counts, and the lowest numbers.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError
from tricover.formats.points import LARGEST
from tricover.geometry._approach import Closest
from tricover.geometry.motions import checked_motion
from tricover.geometry.way_tree import Asked, closest_ways, nobody
from tricover.limits import check_room, memory_limit
from tricover.units import length

__all__ = ["Approaches", "Separation", "Watch", "approaches_of", "separation", "separation_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Moments = Iterable[tuple[Floats, Flags]]

_PAIR = 200  # bytes for a pair below the limit while pairs of two steps are merged


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
        steps: in which step each of them does so first, (K,).
        shares: at which share of it, (K,).
        crowded: whether more pairs are below the limit than there is room for; then none of them is listed.
    """

    distance: float
    step: int
    share: float
    agents: tuple[int, int] | None
    below: Ints
    distances: Floats
    steps: Ints
    shares: Floats
    crowded: bool = False

    def closest_first(self, most: int) -> "Separation":
        """The same with at most so many pairs, the closest first."""
        order = np.argsort(self.distances, kind="stable")[:most]
        below, distances = self.below[order], self.distances[order]
        return replace(self, below=below, distances=distances, steps=self.steps[order], shares=self.shares[order])

    @property
    def words(self) -> str:
        """How close, who and when, for readers."""
        if self.agents is None:
            return "there are no two agents"
        first, second = self.agents
        return f"{length(self.distance)}, agents {first} and {second}, step {self.step}"

    def __repr__(self) -> str:
        if self.agents is None:
            return "<Separation: there are no two agents>"
        first, second = self.agents
        when = f"step {self.step}, after {self.share:.2f} of it"
        more = f"; {len(self.below)} pairs below the limit" if len(self.below) else ""
        return f"<Separation {self.distance:.6g} m: agents {first} and {second}, {when}{more}>"


@dataclass(frozen=True, eq=False)
class Approaches:
    """The closest approach of each step, from t to t+1, for t = 0 … T-1, and at T, the end, where all stand.

    Attributes:
        distances: of the two that come closest, (T+1,), in metres; infinite where there are no two agents.
        shares: at which share of the step, (T+1,).
        agents: who, (T+1, 2), the lower number first; -1 where there are no two agents.
    """

    distances: Floats
    shares: Floats
    agents: Ints

    def closest(self, most: int) -> Ints:
        """The steps of the closest approaches, the closest first: each pair once, at most so many."""
        steps = np.argsort(self.distances, kind="stable")
        steps = steps[self.agents[steps, 0] >= 0]
        _, first = np.unique(self.agents[steps], axis=0, return_index=True)
        return np.asarray(steps[np.sort(first)][:most])


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
    given, there = checked_motion(positions, present)
    return separation_of(zip(given, there, strict=True), limit)


def separation_of(moments: Moments, limit: float | None = None, most: int | None = None) -> Separation:
    """The same for positions (N, 2) and who takes part (N,), one step after another; ``most`` as in ``Watch``."""
    watch = Watch(limit, most)
    for step, before, after, there in _steps(moments):
        watch.look(step, before, after, there)
    return watch.result()


def approaches_of(moments: Moments) -> Approaches:
    """The closest approach of each step, for positions (N, 2) and who takes part (N,), one step after another."""
    found: list[Closest] = []
    last: tuple[Floats, Flags] | None = None
    for _, before, after, there in _steps(moments):
        at_rest = np.array_equal(before[there], after[there])
        if not (at_rest and last is not None and _same(last, (before, there))):
            agents = np.flatnonzero(there)
            found.append(closest_ways(before, after, agents, np.ones(len(agents), np.bool_), Asked()))
        else:
            found.append(found[-1])
        last = (before, there)
    return Approaches(
        np.array([one.figures[0] for one in found]),
        np.array([one.figures[1] for one in found]),
        np.array([one.agents for one in found], np.int64).reshape(-1, 2),
    )


def _same(one: tuple[Floats, Flags], other: tuple[Floats, Flags]) -> bool:
    return all(np.array_equal(*pair) for pair in ((one[1], other[1]), (one[0][one[1]], other[0][other[1]])))


def _steps(moments: Moments) -> Iterator[tuple[int, Floats, Floats, Flags]]:
    """Steps with positions before and after and who takes part; the last is the end, where all stand."""
    rest = iter(moments)
    before, there = next(rest)
    end = 0
    for end, (after, there_after) in enumerate(rest, 1):
        yield end - 1, before, after, there
        before, there = after, there_after
    yield end, before, before, there


class Watch:
    """The closest approach so far, and pairs below a limit in metres, if one is given: steps come one by one.

    Where more pairs than ``most`` are below it in a step, none are listed. Left out, as many as fit in memory are, and
    more are an error. A distance counts as the limit within ``rounding`` times the largest coordinate of the step.
    """

    def __init__(self, limit: float | None = None, most: int | None = None, rounding: float = 0.0) -> None:
        if limit is not None and not 0 < limit <= LARGEST:
            raise InputError(f"limit must be a positive number of metres, not {limit}")
        self.limit, self.most, self.rounding, self.crowded = limit or 0.0, most, rounding, False
        self._step, self._best = 0, nobody(np.inf)
        self._below = _Below.none()
        self._known = np.zeros(0, np.bool_)

    def look(self, step: int, before: Floats, after: Floats, there: Flags) -> None:
        """A step, with positions (N, 2) before and after it and who takes part (N,)."""
        agents = np.flatnonzero(there)
        # Two who did not move, and were there before, are no pair again.
        moving = (before[agents] != after[agents]).any(axis=1)
        if not np.array_equal(there, self._known):
            moving |= ~np.isin(agents, np.flatnonzero(self._known))
            self._known = np.array(there)
        if self._best.figures[0] == 0 and not self.limit:
            return  # nobody comes closer than that
        room = int(memory_limit() // _PAIR) if self.most is None else self.most
        asked = Asked(float(self._best.figures[0]), self.limit, self.rounding, room)
        found = closest_ways(before, after, agents, moving, asked)
        if found.figures[0] < self._best.figures[0]:
            self._step, self._best = step, found
        close = int(found.close[0])
        if close > len(found.pairs):
            if self.most is None:
                check_room(_PAIR * close, f"{close} pairs below the limit")
            self.crowded, self.limit, self._below = True, 0.0, _Below.none()
        elif close:
            self._below = self._below.with_more(found, step)

    def result(self) -> Separation:
        """What was found."""
        (distance, share), (low, high) = self._best.figures.tolist(), self._best.agents.tolist()
        who = (low, high) if low >= 0 else None
        return Separation(distance, self._step, share, who, *self._below, self.crowded)


class _Below(NamedTuple):
    """Pairs below the limit, ascending, and how close, in which step and at which share of it they come closest."""

    pairs: Ints
    distances: Floats
    steps: Ints
    shares: Floats

    @classmethod
    def none(cls) -> "_Below":
        """No pairs."""
        return cls(np.empty((0, 2), np.int64), np.empty(0), np.empty(0, np.int64), np.empty(0))

    def with_more(self, found: Closest, step: int) -> "_Below":
        """The same with those of a later step; of a pair that was found before, the closer approach."""
        more = (found.pairs, found.details[:, 0], np.full(len(found.pairs), step), found.details[:, 1])
        pairs, distances, steps, shares = (np.concatenate(parts) for parts in zip(self, more, strict=True))
        order = np.lexsort((steps, distances, pairs[:, 1], pairs[:, 0]))
        new = np.append(True, (pairs[order][1:] != pairs[order][:-1]).any(axis=1))
        return _Below(*(values[order[new]] for values in (pairs, distances, steps, shares)))
