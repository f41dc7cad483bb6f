"""``TargetLists``: what each of several agents knows of the targets, one list after another.

``Targets`` are the same for everybody. Agents that see only so far know each something else. A list has *named* points,
which are targets that can be told apart, and points without a name, which stand for several: their weight is the sum,
their place the centroid.

No list depends on another one, so an agent on its own has what it has in a batch, to the bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.targets._words import make_grid, span_of, sum_lists
from tricover.targets.targets import Targets

__all__ = ["EMPTY", "NAMELESS", "TargetLists"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

NAMELESS = -1
"""The name of a point that stands for several targets."""
EMPTY = -2
"""The name of a place in an array that holds no point."""


@dataclass(frozen=True, eq=False)
class TargetLists:
    """Lists of weighted points, one for each of A agents.

    Attributes:
        offsets: the list of row k is at offsets[k] … offsets[k + 1], (A + 1,).
        names: numbers of the targets, (L,); -1 for a point that stands for several.
        points: where they are, (L, 2), in metres.
        weights: how much they count, (L,).
        fresh: whether somebody sees them in this step, (L,).
    """

    offsets: Ints
    names: Ints
    points: Floats
    weights: Floats
    fresh: Flags

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"<TargetLists of {len(self)} agents, {len(self.names)} points>"

    @classmethod
    def empty(cls, rows: int) -> "TargetLists":
        """So many lists without points."""
        nothing = np.empty(0, np.int64), np.empty((0, 2)), np.empty(0), np.empty(0, np.bool_)
        return cls(np.zeros(rows + 1, np.int64), *nothing)

    @classmethod
    def of(cls, counts: Ints, names: Ints, points: Floats, weights: Floats, fresh: Flags) -> "TargetLists":
        """Lists with so many points each, (A,), which come in the order of the lists."""
        return cls(np.append(0, np.cumsum(counts)), names, points, weights, fresh)

    @classmethod
    def joined(cls, parts: Sequence["TargetLists"]) -> tuple["TargetLists", Ints]:
        """Lists of the same agents as one, and from which part each point is, (L,). Parts stay in order in a list."""
        owners = np.concatenate([part.owners for part in parts])
        order = np.argsort(owners, kind="stable")
        source = np.repeat(np.arange(len(parts)), [len(part.names) for part in parts])
        columns = [np.concatenate([getattr(part, name) for part in parts])[order] for name in _COLUMNS]
        counts = sum((np.diff(part.offsets) for part in parts), np.zeros(len(parts[0]), np.int64))
        return cls.of(counts, *columns), source[order]

    @classmethod
    def unpacked(cls, names: NDArray[Any], points: Floats, weights: Floats, fresh: Flags) -> "TargetLists":
        """Lists from arrays (A, C, …), where ``EMPTY`` is the name of a place that holds no point."""
        filled = names != EMPTY
        columns = names[filled].astype(np.int64), points[filled], weights[filled], fresh[filled]
        return cls.of(filled.sum(axis=1), *columns)

    def packed(self, width: int) -> tuple[NDArray[np.int32], Floats, Floats, Flags]:
        """Arrays (A, C, …) with room for so many points each: names, points, weights, fresh."""
        rows, shape = self.owners, (len(self), width)
        places = np.arange(len(rows)) - self.offsets[rows]
        names, points = np.full(shape, EMPTY, np.int32), np.zeros((*shape, 2))
        weights, fresh = np.zeros(shape), np.zeros(shape, np.bool_)
        names[rows, places], points[rows, places] = self.names, self.points
        weights[rows, places], fresh[rows, places] = self.weights, self.fresh
        return names, points, weights, fresh

    @property
    def owners(self) -> Ints:
        """The row of each point, (L,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def rows(self, rows: NDArray[np.integer]) -> "TargetLists":
        """Some of the lists, in this order."""
        counts = np.diff(self.offsets)[rows]
        starts = np.repeat(self.offsets[rows] - np.append(0, np.cumsum(counts))[:-1], counts)
        chosen = starts + np.arange(len(starts))
        return TargetLists.of(counts, *(getattr(self, name)[chosen] for name in _COLUMNS))

    def where(self, kept: Flags) -> "TargetLists":
        """The lists with some of their points, (L,)."""
        counts = np.bincount(self.owners[kept], minlength=len(self))
        return TargetLists.of(counts, *(getattr(self, name)[kept] for name in _COLUMNS))

    def sorted(self) -> "TargetLists":
        """Each list in the order of x, then y, weight and name, which does not depend on how the points came in."""
        xs, ys = self.points.T
        order = np.lexsort((self.names, self.weights, ys, xs, self.owners))
        return TargetLists(self.offsets, *(getattr(self, name)[order] for name in _COLUMNS))

    def sums(self) -> Floats:
        """Sums (A, 3) of the floats w, w·x and w·y, exact and rounded once: see ``Targets.in_triangles``."""
        columns = self.weights, self.weights * self.points[:, 0], self.weights * self.points[:, 1]
        sums, longest = np.zeros((len(self), 3)), int(np.diff(self.offsets).max(initial=0))
        for term, column in enumerate(columns):
            grid = make_grid(*span_of(column, 0.0, np.inf), longest)
            sum_lists(column, self.offsets, grid, sums[:, term])
        return sums

    def targets(self, row: int) -> Targets:
        """One list as targets, perhaps none."""
        some = slice(self.offsets[row], self.offsets[row + 1])
        return Targets.known(self.points[some], self.weights[some])


_COLUMNS = ("names", "points", "weights", "fresh")
