"""Compiled kernels of ``flight``: a tree of ways, and the search of pairs of them that come close."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel

__all__ = ["Tree", "find_pairs", "plant"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Tree(NamedTuple):
    """Boxes around ways, each of them halved in two below: node n has the children 2n + 1 and 2n + 2."""

    order: Ints
    """(N,) rows of ways; those of a node stand side by side."""
    cuts: Ints
    """(nodes, 2) the first place in the order, and the one after the last."""
    low: Floats
    """(nodes, 4) least x and y of the starts, and of the ends."""
    high: Floats
    """(nodes, 4) largest ones."""


@kernel
def plant(ways: Floats, levels: int) -> Tree:
    """The tree of ways (N, 4), x and y of starts and ends, with so many levels below the root."""
    nodes = 2 ** (levels + 1) - 1
    order = np.arange(len(ways))
    cuts = np.zeros((nodes, 2), np.int64)
    low, high = np.full((nodes, 4), np.inf), np.full((nodes, 4), -np.inf)
    cuts[0, 1] = len(ways)
    for node in range(nodes):
        first, last = cuts[node]
        for place in range(first, last):
            for axis in range(4):
                value = ways[order[place], axis]
                low[node, axis] = min(low[node, axis], value)
                high[node, axis] = max(high[node, axis], value)
        if 2 * node + 2 < nodes:
            # Across the longest side, be it of the starts or of the ends.
            widest = np.argmax(high[node] - low[node])
            rows = order[first:last].copy()
            order[first:last] = rows[np.argsort(ways[rows, widest], kind="mergesort")]
            middle = (first + last) // 2
            cuts[2 * node + 1, 0], cuts[2 * node + 1, 1] = first, middle
            cuts[2 * node + 2, 0], cuts[2 * node + 2, 1] = middle, last
    return Tree(order, cuts, low, high)


@kernel
def _apart(tree: Tree, one: int, other: int, reach: float) -> bool:
    """Whether no way of a node comes within ``reach`` of one of another, in x or in y, at whatever share.

    Boxes that go along with the ways have gaps that are linear in the share. Each asks that they are less than the
    reach: that is an interval of shares, and where these have none in common, nobody comes close.
    """
    since, until = 0.0, 1.0
    for axis in range(2):
        for side in range(2):
            a, b = (one, other) if side == 0 else (other, one)
            before = tree.low[a, axis] - tree.high[b, axis] - reach
            after = tree.low[a, axis + 2] - tree.high[b, axis + 2] - reach
            if before > 0.0:
                if after > 0.0:
                    return True
                since = max(since, before / (before - after))
            elif after > 0.0:
                until = min(until, before / (before - after))
    return since > until


@kernel
def _closest(ways: Floats, i: int, j: int) -> float:
    """The least distance of two who go their ways together."""
    ux, uy = ways[i, 0] - ways[j, 0], ways[i, 1] - ways[j, 1]
    wx, wy = ways[i, 2] - ways[j, 2], ways[i, 3] - ways[j, 3]
    cx, cy = wx - ux, wy - uy
    squared = cx * cx + cy * cy
    share = 0.0
    if squared > 0.0:
        share = min(max(-(ux * cx + uy * cy) / squared, 0.0), 1.0)
    x, y = (wx, wy) if share == 1.0 else (ux + share * cx, uy + share * cy)
    return float(np.hypot(x, y))


@kernel
def find_pairs(ways: Floats, tree: Tree, limit: float, slack: float) -> tuple[Ints, int]:
    """Pairs (K, 2) of ways: in row 0 the closest, then all that come closer than the limit; and how many rows count."""
    found = np.empty((64, 2), np.int64)
    found[0] = 0
    count, best = 1, np.inf
    nodes = len(tree.cuts)
    stack = np.empty((4 * nodes + 16, 2), np.int64)
    stack[0] = 0
    size = 1
    while size > 0:
        size -= 1
        one, other = stack[size]
        if one != other and _apart(tree, one, other, max(best, limit) + slack):
            continue
        if 2 * one + 2 < nodes:
            # Nodes of one level meet. A node with itself comes last on the stack, hence first: there are the closest.
            left, right, first, second = 2 * one + 1, 2 * one + 2, 2 * other + 1, 2 * other + 2
            stack[size, 0], stack[size, 1] = left, second
            size += 1
            if one != other:
                stack[size, 0], stack[size, 1] = right, first
                size += 1
            stack[size, 0], stack[size, 1] = right, second
            stack[size + 1, 0], stack[size + 1, 1] = left, first
            size += 2
            continue
        for place in range(tree.cuts[one, 0], tree.cuts[one, 1]):
            others = place + 1 if one == other else tree.cuts[other, 0]
            for opposite in range(others, tree.cuts[other, 1]):
                i, j = tree.order[place], tree.order[opposite]
                if i > j:
                    i, j = j, i
                distance = _closest(ways, i, j)
                # Of equal ones the lowest numbers.
                first_of_equals = i < found[0, 0] or (i == found[0, 0] and j < found[0, 1])
                if distance < best or (distance == best and first_of_equals):
                    best = distance
                    found[0, 0], found[0, 1] = i, j
                if distance < limit:
                    if count == len(found):
                        found = np.concatenate((found, np.empty_like(found)))
                    found[count, 0], found[count, 1] = i, j
                    count += 1
    return found, count
