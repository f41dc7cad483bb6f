"""One step of Algorithm 1 in a cell whose agents come chunk by chunk, as not all of them fit into memory.

The mentee is chosen as in any cell: all members are scored in floating point, and those that rounding could have made
the best are compared exactly. Then each member goes to the child cell that holds it. Both are functions of the places
alone, so the network is that of ``build_network``, whatever the chunks.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tricover.geometry._expansions import ROOM
from tricover.network._kernels import Span, label
from tricover.network.mentees import balanced, fermat
from tricover.network.roster import scale_of

__all__ = ["Chunks", "Mentee", "children_of", "mentee_of"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Labels = NDArray[np.int8]

Chunks: TypeAlias = Callable[[], Iterable[tuple[Indices, Floats]]]
"""Called whenever all members are wanted: their numbers (n,), ascending, and places (n, 2), chunk by chunk."""

_PLANE = (0, 0)  # the kernels' word for two dimensions


class Mentee(NamedTuple):
    """Who is the mentee of a cell: its number, and its place (2,)."""

    number: int
    place: Floats


def mentee_of(corners: Floats, members: Chunks, rule: str) -> Mentee:
    """The mentee of a cell with corners (3, 2), by a rule of ours; all members are alive."""
    scale = scale_of(corners)  # members are inside: no coordinate of theirs is larger
    cell = np.ldexp(corners, scale)
    mean = _mean_of(cell, members, scale) if rule == "balanced" else None
    numbers, places, scores, slack = np.empty(0, np.int64), np.empty((2, 0)), np.empty(0), 0.0
    for some, here in members():
        columns, own = _columns(here, scale), np.empty(len(some))
        if mean is None:
            slack = max(slack, fermat.score(_PLANE, columns, 0, len(some), cell, own))
        else:
            slack = balanced.score_about(_PLANE, columns, 0, len(some), cell, mean, own)
        scores = np.append(scores, own)
        near = scores <= scores.min() + slack
        numbers, scores = np.append(numbers, some)[near], scores[near]
        places = np.concatenate([places, columns], axis=1)[:, near]
    best = _best_of(cell, members, scale, rule, places) if len(numbers) > 1 else 0
    return Mentee(int(numbers[best]), np.ldexp(places[:, best], -scale))


def _columns(places: Floats, scale: int) -> Floats:
    """Places (n, 2) as the kernels read them, axis by axis, times a power of two."""
    return np.ascontiguousarray(np.ldexp(places, scale).T)


def _mean_of(cell: Floats, members: Chunks, scale: int) -> Floats:
    """The mean of all members, as seen from the first corner, (2,)."""
    sums, count = np.zeros((2, 2)), 0
    for some, places in members():
        columns = _columns(places, scale)
        for axis in range(2):
            sums[axis] = balanced.add_sides(columns[axis], 0, len(some), cell[0, axis], *sums[axis])
        count += len(some)
    return np.asarray(sums.sum(axis=1) / count)


def _best_of(cell: Floats, members: Chunks, scale: int, rule: str, places: Floats) -> int:
    """Which of some members at places (2, k) is the best; of those that are equally good the first."""
    sums, lengths, count = np.empty((2, ROOM)), np.zeros(2, np.int64), 0
    for some, here in members() if rule == "balanced" else ():
        balanced.add_members(_PLANE, _columns(here, scale), 0, len(some), sums, lengths)
        count += len(some)
    best = 0
    for other in range(1, places.shape[1]):
        if rule == "balanced":
            x, y = places[:, other], places[:, best]
            sign = balanced.compare_about(_PLANE, x, y, count, sums, lengths, cell)
        else:
            sign = fermat.compare(_PLANE, places, 0, places.shape[1], other, best, cell)
        best = other if sign < 0.0 else best
    return best


def children_of(corners: Floats, members: Chunks, mentee: Mentee) -> Iterator[tuple[Indices, Floats, Labels]]:
    """Chunk by chunk all members but the mentee: numbers (n,), places (n, 2), and which child cell holds each (n,)."""
    scale = scale_of(corners)
    cell, planes = np.ldexp(corners, scale), np.empty((3, 3, 5))
    for numbers, places in members():
        others = numbers != mentee.number
        kept, here = numbers[others], places[others]
        columns, labels = _columns(np.vstack([here, mentee.place]), scale), np.empty(len(kept) + 1, np.int8)
        label(_PLANE, columns, Span(0, 0, len(labels)), len(kept), cell, planes, labels)
        yield kept, here, labels[:-1]
