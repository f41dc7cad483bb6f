"""The ways of one step in a tree, and the two that come closest.

All ways are halved along the widest of x and y before and x and y after, and so on, down to leaves of a few ways. The
ways of a node have centres c before and c' after, and radii r and r' around them. At the share s of the step all its
agents are within (1-s)·r + s·r' of (1-s)·c + s·c'. So agents of two nodes stay farther apart than b if the difference
of the centres is longer than b and both radii together, at all s. Squared, that is a quadratic in s, whose least value
is known.

Neighbours that fly together, or spread out together, are told apart as well as those that stand; one that flies far
makes nobody else look far; and the tree is as fine as the team is dense, wherever that is.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.geometry import _approach
from tricover.geometry._approach import Closest, Tree
from tricover.threads import in_ranges

__all__ = ["Asked", "closest_ways", "nobody"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_LEAF = 8  # ways: of 4 to 16 the quickest for a million agents whose moves are as long as their spacing
_AT_ONCE = 512  # leaves that are worth a thread
_ROOM = 64  # pairs below the limit for which there is room at once; for more a search is repeated
_ROUNDING = 16 * float(np.finfo(np.float64).eps)  # of the largest coordinate: what centres and radii may be off by


class Asked(NamedTuple):
    """What is looked for."""

    bound: float = np.inf
    """Metres: approaches from it on are not of interest."""
    limit: float = 0.0
    """Metres: pairs below it are listed, whatever the bound."""
    rounding: float = 0.0
    """Of the largest coordinate: distances that are less than that below the limit count as the limit."""
    most: int = 0
    """Pairs that are listed: more are counted only."""


def nobody(distance: float, room: int = 0) -> Closest:
    """What a search begins with: a distance to fall below, and room for so many pairs below the limit."""
    who, none = np.full(2, -1, np.int64), np.zeros(1, np.int64)
    return Closest(np.array([distance, 0.0]), who, none, np.empty((room, 2), np.int64), np.empty((room, 2)))


def closest_ways(before: Floats, after: Floats, agents: Ints, moves: Flags, asked: Asked) -> Closest:
    """The two of some agents (K,) that come closest in a step, and pairs below the limit.

    Pairs of which nobody ``moves`` (K,) are left out. Positions are those of all agents, (N, 2).
    """
    if len(agents) < 2 or not moves.any():
        return nobody(asked.bound)
    tree, levels = _tree(before, after, agents, moves)
    largest = max(float(tree.ways.max()), -float(tree.ways.min()))
    limit, slack = max(asked.limit - asked.rounding * largest, 0.0), _ROUNDING * largest
    start, most = nobody(asked.bound), asked.most
    # Ways of one leaf are close to each other: the closest two of them are a good bound for the rest.
    inside = _searched(lambda *part: _approach.within(tree, levels, limit, *part), levels, start, most)
    nearest = _nearest(inside)
    between = _searched(lambda *part: _approach.across(tree, levels, limit, slack, *part), levels, nearest, most)
    parts, best = [*inside, *between], _nearest(between)
    close = np.sum([one.close for one in parts], axis=0)
    listed = [one.close[0] if close[0] <= most else 0 for one in parts]
    pairs = np.concatenate([one.pairs[:count] for one, count in zip(parts, listed, strict=True)])
    details = np.concatenate([one.details[:count] for one, count in zip(parts, listed, strict=True)])
    return Closest(best.figures, best.agents, close, pairs, details)


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


def _searched(search: Callable[[int, int, Closest], None], levels: int, start: Closest, most: int) -> list[Closest]:
    """What a search finds in each range of leaves; more pairs than ``most`` are counted only."""
    found: list[Closest] = []

    def part(first: int, last: int) -> None:
        room = min(_ROOM, most)
        while True:
            one = nobody(start.figures[0], room)
            one.figures[:], one.agents[:] = start.figures, start.agents
            search(first, last, one)
            if not room < one.close[0] <= most:
                break
            room = int(one.close[0])
        found.append(one)

    in_ranges(part, 1 << levels, _AT_ONCE)
    return found


def _nearest(found: list[Closest]) -> Closest:
    """The closest approach of all; of equal ones that of the lowest numbers."""
    return min(found, key=lambda one: (one.figures[0], *one.agents.tolist()))
