"""Separation: the least distance of any two agents over their whole motion, between steps too.

Between two steps every agent goes straight, all at the same time. Two of them are d + s·(e - d) apart at the share s of
the step, where d and e are their differences before and after it. That is least at s = -d·(e - d) / |e - d|², cut off
at 0 and 1.

Pairs are found with a tree: all ways of a step, halved along the widest of x and y before and x and y after, and so on
down to leaves of a few ways. The ways of a node have centres c before and c' after, and radii r and r' around them. At
the share s all its agents are within (1-s)·r + s·r' of (1-s)·c + s·c'. So the agents of two nodes stay farther apart
than b if the differences of the centres do so by the sum of the radii, at all s. Squared, that is a quadratic in s,
whose least value is known. Neighbours that fly together, or spread out together, are told apart as well as those that
stand, and one that flies far makes nobody else look far. The least distance so far is b, so steps in which nobody comes
closer are cheap, and pairs of which nobody moves are not looked at again.

Results do not depend on the number of threads: of equal distances the earliest step counts, and the lowest numbers.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError
from tricover.formats.points import LARGEST
from tricover.geometry import _approach
from tricover.geometry._approach import Closest, Tree
from tricover.limits import check_room
from tricover.threads import in_ranges

__all__ = ["Approaches", "Separation", "Watch", "approaches_of", "separation", "separation_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Moments = Iterable[tuple[Floats, Flags]]

_LEAF = 8  # ways: of 4 to 16 the quickest for a million agents whose moves are as long as their spacing
_AT_ONCE = 512  # leaves that are worth a thread
_ROOM = 64  # pairs below the limit for which there is room at once; for more a search is repeated
_ROUNDING = 16 * float(np.finfo(np.float64).eps)  # of the largest coordinate: what centres and radii may be off by


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
    """

    distance: float
    step: int
    share: float
    agents: tuple[int, int] | None
    below: Ints
    distances: Floats
    steps: Ints
    shares: Floats

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
    _check(given, there)
    return separation_of(zip(given, there, strict=True), limit)


def _check(positions: Floats, there: Flags) -> None:
    """Who takes part in a step needs a position before and after it."""
    needed = there.copy()
    needed[1:] |= there[:-1]
    wrong = np.argwhere(needed & ~(np.abs(positions) <= LARGEST).all(axis=2))
    if len(wrong):
        step, agent = wrong[0]
        raise InputError(f"agent {agent} has no finite position at step {step}, within {LARGEST:g} m")


def separation_of(moments: Moments, limit: float | None = None) -> Separation:
    """The same for positions (N, 2) and who takes part (N,), one step after another."""
    watch = Watch(limit)
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
            found.append(_closest(before, after, agents, np.ones(len(agents), np.bool_)))
        else:
            found.append(found[-1])
        last = (before, there) if at_rest else None
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
    """The closest approach so far, and pairs below a limit in metres, if one is given: steps come one by one."""

    def __init__(self, limit: float | None = None) -> None:
        if limit is not None and not 0 < limit <= LARGEST:
            raise InputError(f"limit must be a positive number of metres, not {limit}")
        self.limit = limit or 0.0
        self._step, self._best = 0, _nobody(np.inf)
        self._below = _Below(np.empty((0, 2), np.int64), np.empty(0), np.empty(0, np.int64), np.empty(0))
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
        found = _closest(before, after, agents, moving, self._best.figures[0], self.limit)
        if found.figures[0] < self._best.figures[0]:
            self._step, self._best = step, found
        if found.close[0]:
            self._below = self._below.with_more(found, step)

    def result(self) -> Separation:
        """What was found."""
        (distance, share), (low, high) = self._best.figures.tolist(), self._best.agents.tolist()
        who = (low, high) if low >= 0 else None
        return Separation(distance, self._step, share, who, *self._below)


class _Below(NamedTuple):
    """Pairs below the limit, ascending, and how close, in which step and at which share of it they come closest."""

    pairs: Ints
    distances: Floats
    steps: Ints
    shares: Floats

    def with_more(self, found: Closest, step: int) -> "_Below":
        """The same with those of a later step; of a pair that was found before, the closer approach."""
        more = (found.pairs, found.details[:, 0], np.full(len(found.pairs), step), found.details[:, 1])
        pairs, distances, steps, shares = (np.concatenate(parts) for parts in zip(self, more, strict=True))
        order = np.lexsort((steps, distances, pairs[:, 1], pairs[:, 0]))
        new = np.append(True, (pairs[order][1:] != pairs[order][:-1]).any(axis=1))
        return _Below(*(values[order[new]] for values in (pairs, distances, steps, shares)))


def _nobody(distance: float, room: int = 0) -> Closest:
    """What a search begins with: a distance to fall below, and room for so many pairs below the limit."""
    nobody, none = np.full(2, -1, np.int64), np.zeros(1, np.int64)
    return Closest(np.array([distance, 0.0]), nobody, none, np.empty((room, 2), np.int64), np.empty((room, 2)))


def _closest(
    before: Floats, after: Floats, agents: Ints, moves: Flags, bound: float = np.inf, limit: float = 0.0
) -> Closest:
    """The two of some agents that come closest in a step, if closer than ``bound``, and pairs below the limit.

    Pairs of which nobody ``moves`` are left out. Positions are those of all agents, (N, 2).
    """
    if len(agents) < 2 or not moves.any():
        return _nobody(bound)
    tree, levels = _tree(before, after, agents, moves)
    slack = _ROUNDING * float(np.abs(tree.ways).max(initial=0.0))
    start = _nobody(bound)
    inside = _searched(lambda *part: _approach.within(tree, levels, limit, *part), 1 << levels, start, limit)
    nearest = _nearest(inside)
    between = _searched(lambda *part: _approach.across(tree, levels, limit, slack, *part), 1 << levels, nearest, limit)
    pairs, details = (
        np.concatenate([getattr(one, name)[: one.close[0]] for one in (*inside, *between)])
        for name in ("pairs", "details")
    )
    best = _nearest(between)
    return best._replace(close=np.array([len(pairs)]), pairs=pairs, details=details)


def _tree(before: Floats, after: Floats, agents: Ints, moves: Flags) -> tuple[Tree, int]:
    """The ways of a step in a tree, and how often it halves them."""
    count = len(agents)
    levels = ((count - 1) // _LEAF).bit_length()
    nodes = (2 << levels) - 1
    ways = np.concatenate([before[agents], after[agents]], axis=1)
    boxes = (np.empty((nodes, 4)), np.empty((nodes, 2)), np.empty(nodes, np.int64), np.empty(nodes, np.bool_))
    tree = Tree(ways, agents.copy(), moves.copy(), *boxes)
    for level in range(levels + 1):
        worth = max(1, (_LEAF * _AT_ONCE << level) // count)  # nodes for a thread
        in_ranges(lambda *part, level=level: _approach.enclose(tree, levels, level, *part), 1 << level, worth)
    return tree, levels


def _searched(search: Callable[[int, int, Closest], None], leaves: int, start: Closest, limit: float) -> list[Closest]:
    """What a search finds in each range of leaves."""
    found: list[Closest] = []

    def part(first: int, last: int) -> None:
        room = _ROOM if limit else 0
        while True:
            one = _nobody(start.figures[0], room)
            one.figures[:], one.agents[:] = start.figures, start.agents
            search(first, last, one)
            room = int(one.close[0])
            if room <= len(one.pairs):
                break
            check_room(32 * room, f"{room} pairs below the limit")
        found.append(one)

    in_ranges(part, leaves, _AT_ONCE)
    return found


def _nearest(found: list[Closest]) -> Closest:
    """The closest approach of all; of equal ones that of the lowest numbers."""
    return min(found, key=lambda one: (one.figures[0], *one.agents.tolist()))
