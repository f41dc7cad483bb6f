"""Heights: who comes near whom in the plane flies at different levels.

Let L be the clearance. Those who come nearer than L in the plane, under any delays, are joined by an edge, and levels
are the colours of a proper colouring of this graph; level k is at altitude + k·spacing. Everybody climbs straight up
over its own pad while nobody moves sideways, flies at its one level, and comes straight down while nobody moves
sideways. So at every moment two vehicles are

- in columns over their own pads or landing places, whose distance in the plane they keep, or
- at their levels: ``spacing`` or more apart in height if they are joined, and L or more apart in the plane if not.

If pads and landing places are L apart or more, and the spacing is L or more, no two come nearer than L, whoever starts
too early or too late. No level in use is ever crossed: who climbs or descends does so while all are in columns.

Colours are given greedily in the order *smallest last*: the vertex of least degree is taken out, again and again, and
the last one out is coloured first. That takes at most one colour more than the largest of these degrees. The most
frequent colour is the lowest level, so that few climb high.
"""

from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

__all__ = ["colouring"]

Ints = NDArray[np.int64]


def colouring(pairs: Ints, count: int) -> Ints:
    """Levels (count,) from 0 on such that no pair (P, 2) has one level.

    >>> colouring(np.array([[0, 1], [1, 2], [2, 0], [2, 3]]), 5).tolist()
    [2, 1, 0, 1, 0]
    """
    neighbours: list[set[int]] = [set() for _ in range(count)]
    for one, two in pairs.tolist():
        neighbours[one].add(two)
        neighbours[two].add(one)
    colours = [-1] * count
    for vertex in reversed(_smallest_first(neighbours)):
        taken = {colours[other] for other in neighbours[vertex]}
        colours[vertex] = next(colour for colour in range(len(taken) + 1) if colour not in taken)
    return _lowest_for_most(np.array(colours, np.int64))


def _smallest_first(neighbours: list[set[int]]) -> list[int]:
    """Vertices in the order in which they are taken out: the least degree first, of equal ones the lowest number."""
    degrees = [len(others) for others in neighbours]
    waiting = [(degree, vertex) for vertex, degree in enumerate(degrees)]
    heapify(waiting)
    out, order = [False] * len(degrees), []
    while waiting:
        degree, vertex = heappop(waiting)
        if out[vertex] or degree != degrees[vertex]:
            continue  # it has a lower degree by now, and its place in the queue, too
        out[vertex] = True
        order.append(vertex)
        for other in neighbours[vertex]:
            if not out[other]:
                degrees[other] -= 1
                heappush(waiting, (degrees[other], other))
    return order


def _lowest_for_most(colours: Ints) -> Ints:
    """The same colours with other numbers: 0 for the one that most have."""
    numbers = np.bincount(colours)
    order = np.argsort(-numbers, kind="stable")
    renamed = np.empty_like(order)
    renamed[order] = np.arange(len(order))
    return np.asarray(renamed[colours])
