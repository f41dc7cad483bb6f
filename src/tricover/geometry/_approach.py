"""Compiled kernels of separation: a tree of ways, and the search for pairs that come close. See ``ways``."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import inlined, kernel

__all__ = ["Closest", "Tree", "across", "enclose", "within"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_SLACK = 1e-9  # share by which bounds are taken larger than they are: rounding never leaves a pair out
_CANCELS = 1e-13  # share of a squared length that its difference to another one may be wrong by


class Tree(NamedTuple):
    """Ways in the order of the leaves, and nodes: the root, its two halves, their halves, …, the leaves."""

    ways: Floats
    """(N, 4) x, y before and x, y after."""
    agents: Ints
    """(N,) whose they are."""
    moves: Flags
    """(N,) whose pairs are looked at: those of which at least one is marked."""
    centres: Floats
    """(K, 4) of the boxes around all positions before and after."""
    radii: Floats
    """(K, 2) halves of the diagonals of these boxes."""
    lowest: Ints
    """(K,) the lowest agent."""
    stirs: Flags
    """(K,) whether anybody in it is marked."""


class Closest(NamedTuple):
    """The closest approach so far, and pairs below a limit; written to."""

    figures: Floats
    """(2,) distance, share of the step."""
    agents: Ints
    """(2,) who, ascending; -1 for nobody."""
    close: Ints
    """(1,) how many pairs came closer than the limit, in this search."""
    pairs: Ints
    """(P, 2) those pairs, as far as there is room; one may be found once only."""
    details: Floats
    """(P, 2) their distances and shares."""


@kernel
def enclose(tree: Tree, levels: int, level: int, first: int, last: int) -> None:
    """Enclose the nodes first … last of a level in boxes, and halve their ways for the level below."""
    count = len(tree.ways)
    low, high = np.empty(4), np.empty(4)
    for place in range(first, last):
        start, stop = count * place >> level, count * (place + 1) >> level
        node = (1 << level) - 1 + place
        tree.lowest[node], tree.stirs[node] = tree.agents[start], False
        low[:], high[:] = tree.ways[start], tree.ways[start]
        for i in range(start, stop):
            tree.lowest[node] = min(tree.lowest[node], tree.agents[i])
            tree.stirs[node] |= tree.moves[i]
            for k in range(4):
                value = tree.ways[i, k]
                low[k] = min(low[k], value)
                high[k] = max(high[k], value)
        widest = 0
        for k in range(4):
            tree.centres[node, k] = 0.5 * (low[k] + high[k])
            if high[k] - low[k] > high[widest] - low[widest]:
                widest = k
        tree.radii[node, 0] = 0.5 * math.hypot(high[0] - low[0], high[1] - low[1])
        tree.radii[node, 1] = 0.5 * math.hypot(high[2] - low[2], high[3] - low[3])
        if level < levels:
            _halve(tree, start, stop, count * (2 * place + 1) >> (level + 1), widest)


@kernel
def _halve(tree: Tree, start: int, stop: int, middle: int, axis: int) -> None:
    """Sort ways start … stop so far that those before ``middle`` are not beyond those from it on (quickselect)."""
    ways = tree.ways
    left, right = start, stop - 1
    while left < right:
        # The median of three: ways that are sorted already are the usual case, and must not be the worst one.
        a, b, c = ways[left, axis], ways[(left + right) // 2, axis], ways[right, axis]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = left, right
        while i <= j:
            while ways[i, axis] < pivot:
                i += 1
            while pivot < ways[j, axis]:
                j -= 1
            if i <= j:
                for k in range(4):
                    ways[i, k], ways[j, k] = ways[j, k], ways[i, k]
                tree.agents[i], tree.agents[j] = tree.agents[j], tree.agents[i]
                tree.moves[i], tree.moves[j] = tree.moves[j], tree.moves[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


@kernel
def within(tree: Tree, levels: int, limit: float, first: int, last: int, found: Closest) -> None:
    """Pairs of agents of one leaf, for the leaves first … last."""
    count, leaves = len(tree.ways), (1 << levels) - 1
    for leaf in range(first, last):
        if tree.stirs[leaves + leaf]:
            start, stop = count * leaf >> levels, count * (leaf + 1) >> levels
            _measure(tree, start, stop, start, stop, limit, found)


@kernel
def across(tree: Tree, levels: int, limit: float, slack: float, first: int, last: int, found: Closest) -> None:
    """Pairs of agents of the leaves first … last with those of later leaves; ``slack`` in metres is for rounding."""
    count, leaves = len(tree.ways), (1 << levels) - 1
    stack = np.empty(2 * levels + 2, np.int64)
    for leaf in range(first, last):
        start, stop = count * leaf >> levels, count * (leaf + 1) >> levels
        # Later leaves are below the right neighbours of the nodes on the way up, where these are left halves.
        own, top = leaves + leaf, 0
        node = own
        while node > 0:
            if node & 1:
                stack[top] = node + 1
                top += 1
            node = (node - 1) >> 1
        while top:
            top -= 1
            node = stack[top]
            if not (tree.stirs[own] or tree.stirs[node]):
                continue
            # Where two meet at one point, only a pair with a lower number could come before them.
            idle = found.figures[0] == 0.0 and limit == 0.0
            if idle and min(tree.lowest[own], tree.lowest[node]) > found.agents[0]:
                continue
            if _apart(tree, own, node, max(found.figures[0], limit), slack):
                continue
            if node >= leaves:
                place = node - leaves
                other, end = count * place >> levels, count * (place + 1) >> levels
                _measure(tree, start, stop, other, end, limit, found)
            else:
                stack[top], stack[top + 1] = 2 * node + 2, 2 * node + 1
                top += 2


@inlined
def _apart(tree: Tree, a: int, b: int, bound: float, slack: float) -> bool:
    """Whether all ways of two nodes stay farther apart than ``bound``, at all times."""
    first, second = tree.centres[a], tree.centres[b]
    x, y = second[0] - first[0], second[1] - first[1]
    u, v = second[2] - first[2] - x, second[3] - first[3] - y
    before = (tree.radii[a, 0] + tree.radii[b, 0] + bound) * (1.0 + _SLACK) + slack
    after = (tree.radii[a, 1] + tree.radii[b, 1] + bound) * (1.0 + _SLACK) + slack
    return _outside(x, y, u, v, before, after - before)


@inlined
def _outside(x: float, y: float, u: float, v: float, radius: float, growth: float) -> bool:
    """Whether (x, y) + s·(u, v) is outside the radius + s·growth for all s from 0 to 1.

    The difference of the squares is a·s² + 2·b·s + c. It must be positive at both ends, and between them.
    """
    c = x * x + y * y - radius * radius
    if not c > 0.0:
        return False
    end = radius + growth
    if not (x + u) * (x + u) + (y + v) * (y + v) > end * end:
        return False
    a = u * u + v * v - growth * growth
    b = x * u + y * v - radius * growth
    if b >= 0.0 or -b >= a:
        return True
    return c - b * (b / a) > _CANCELS * (x * x + y * y)


@kernel
def _measure(tree: Tree, start: int, stop: int, other: int, end: int, limit: float, found: Closest) -> None:
    """Measure pairs of ways from two ranges, or from one with itself, that may matter."""
    ways, figures = tree.ways, found.figures
    for i in range(start, stop):
        for j in range(max(other, i + 1) if other == start else other, end):
            if not (tree.moves[i] or tree.moves[j]):
                continue
            x, y = ways[i, 0] - ways[j, 0], ways[i, 1] - ways[j, 1]
            last_x, last_y = ways[i, 2] - ways[j, 2], ways[i, 3] - ways[j, 3]
            u, v = last_x - x, last_y - y
            if _outside(x, y, u, v, max(figures[0], limit) * (1.0 + _SLACK), 0.0):
                continue
            squared, along = u * u + v * v, -(x * u + y * v)
            share = min(max(along / squared, 0.0), 1.0) if squared > 0.0 else 0.0
            if share < 1.0:
                last_x, last_y = x + share * u, y + share * v
            distance = math.hypot(last_x, last_y)
            low, high = min(tree.agents[i], tree.agents[j]), max(tree.agents[i], tree.agents[j])
            # Of equal ones the pair with the lowest numbers: so it does not matter in which order they are found.
            tied = distance == figures[0] and (low, high) < (found.agents[0], found.agents[1])
            if distance < figures[0] or tied:
                figures[0], figures[1] = distance, share
                found.agents[0], found.agents[1] = low, high
            if distance < limit:
                place = found.close[0]
                if place < len(found.pairs):
                    found.pairs[place, 0], found.pairs[place, 1] = low, high
                    found.details[place, 0], found.details[place, 1] = distance, share
                found.close[0] = place + 1
