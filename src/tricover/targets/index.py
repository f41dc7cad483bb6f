"""The target index: which targets stand in which triangles, exactly, at a cost that follows the triangles' outlines.

Targets are sorted by y into rows of equal number, and by x within a row, so that dense places get low rows. A triangle
meets a row in one stretch, found in a table of equal bins per row. Only targets near the outline are tested one by one;
those in between come from prefix sums, kept as unevaluated pairs of floats, so that differences cost no digits.
Whatever the shape of the target set, √D/5 rows cross it: coincident or collinear targets only make rows of no height.

A triangle is a closed set: a target on an edge or a corner is inside, and a flat one holds the targets on its segment.
Signs are exact (``geometry._predicates``: coordinates may span 280 decades) and each triangle is worked out by one
thread, so the numbers depend neither on the order of the triangles nor on the number of threads.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from tricover.targets import _kernels as kernels
from tricover.targets._kernels import Chosen, Sums, Weighted
from tricover.targets._rows import BLOCK, NARROW, Rows, fill_bins
from tricover.threads import in_ranges

__all__ = ["Index", "Masses", "build_index", "count_and_sum", "list_members"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]

_ROW_SHAPE = 5.0  # a row holds this many times √D targets: measured best on the thin triangles of deep layers
_PER_BIN = 2  # targets per bin, if they were even
_FEW_TRIANGLES = 4096  # that are looked up in any order
_FEW_JUMPS = 0.25  # from one triangle to the next beyond the neighbouring tiles; with fewer, sorting does not pay
_PART, _CROSSED = 512, 1024  # triangles, or rows that they cross, that are worth a thread
_PER_ROW = 16  # bins per row in the table that finds a triangle's first row


@dataclass(frozen=True, eq=False)
class Index:
    """Targets sorted into rows; see ``Rows`` for the arrays."""

    points: Floats
    names: Integers
    """(D,) the targets' own indices, in the order of ``points``."""
    rows: Floats
    bins: Integers
    lookup: Integers

    def masses(self, weights: Floats | None) -> "Masses":
        """Weights (D,), given in the targets' own order; None: one for each."""
        return Masses(self, np.ones(1) if weights is None else weights[self.names])

    @property
    def tables(self) -> Rows:
        """What the kernels need to follow a triangle."""
        return Rows(self.points, self.rows, self.bins, self.lookup)

    @cached_property
    def corners(self) -> tuple[Floats, Floats]:
        """The lower left and the upper right corner of the box around all targets."""
        return np.array([self.rows[2].min(), self.rows[0, 0]]), np.array([self.points[0].max(), self.rows[1, -1]])


@dataclass(frozen=True, eq=False)
class Masses:
    """Weights of the targets in their index's order, (D,) or a single one for all."""

    index: Index
    weights: Floats

    @cached_property
    def prefix(self) -> Floats:
        """(blocks, 3, 2) high and low part of the sums of w·x, w·y and w over all targets before each block."""
        count = len(self.index.names)
        sums = np.zeros((count // BLOCK + 1, 3, 2))
        kernels.block_sums(self.index.points, self.weights, count, sums)
        return sums


def build_index(positions: Floats) -> Index:
    """Sort targets (D, 2) into rows."""
    count = len(positions)
    size = max(1, ceil(_ROW_SHAPE * sqrt(count)))
    starts = range(0, count, size)
    by_height = np.argsort(positions[:, 1], kind="stable")
    heights = positions[by_height, 1]
    if (heights[size:] == heights[:-size]).any():  # rows of one height: let each have its own part of it
        by_height = np.lexsort((positions[:, 0], positions[:, 1]))
    names = by_height.astype(np.int32)

    def sort(first: int, last: int) -> None:
        for start in starts[first:last]:
            row = names[start : start + size]
            row[:] = row[np.argsort(positions[row, 0], kind="stable")]

    in_ranges(sort, len(starts), smallest=8)
    points = np.empty((2, count + kernels.CHUNK))
    points[:, :count] = positions[names].T
    points[:, count:] = points[:, :1]  # padding: the kernels read whole chunks
    bins = np.empty((len(starts), size // _PER_BIN + 2), dtype=np.int32)
    rows = _rows(points, starts, bins.shape[1] - 1)
    fill_bins(points[0, :count], size, rows, bins)
    return Index(points, names, rows, bins, _lookup(rows))


def _rows(points: Floats, starts: range, bins: int) -> Floats:
    """Bottom, bottom of the next row (the last one's top), left, bins per metre and width of a bin, for each row."""
    rows = np.empty((5, len(starts)))
    for row, start in enumerate(starts):
        xs, ys = points[:, start : min(start + starts.step, starts.stop)]
        # Bins must be wider than rounding, even where all targets of a row stand on one spot.
        width = max(xs[-1] - xs[0], 1e-12 * max(abs(xs[0]), abs(xs[-1])), NARROW) / bins
        rows[:, row] = ys.min(), ys.max(), xs[0], 1 / width, width
    rows[1, :-1] = rows[0, 1:]
    return rows


def _lookup(rows: Floats) -> Integers:
    """The first row that ends in each bin of heights or above; ``_first_row`` uses the same arithmetic."""
    count = _PER_ROW * rows.shape[1]
    if not count:
        return np.zeros(1, dtype=np.int32)
    bottom, top = rows[0, 0], rows[1, -1]
    places = (rows[1] - bottom) * (count / max(top - bottom, NARROW))
    bins = np.minimum(places, count - 1.0).astype(np.int64)
    return np.searchsorted(bins, np.arange(count + 1)).astype(np.int32)


def _order(index: Index, triangles: Floats) -> NDArray[np.int64] | None:
    """An order of triangles (T, 3, 2) in which the targets they touch stay in the cache; None if they come in one."""
    count = len(triangles)
    if count < _FEW_TRIANGLES:
        return None
    low, high = index.corners
    scale, tiles = kernels.TILES / np.maximum(high - low, NARROW), np.empty(count, dtype=np.uint16)
    in_ranges(lambda first, last: kernels.find_tiles(triangles, low, scale, first, last, tiles), count)
    return np.argsort(tiles, kind="stable") if kernels.jumps(tiles) > _FEW_JUMPS * count else None


def _in_parts(index: Index, triangles: Floats, work: Callable[[Chosen], None]) -> None:
    """Do the work for parts of the triangles, side by side."""
    if not len(index.names):
        return
    order = _order(index, triangles)

    def do(first: int, last: int) -> None:
        if order is None:
            work(Chosen(triangles[first:last], np.arange(first, last)))
        else:
            some = order[first:last]
            work(Chosen(triangles.reshape(-1, 6).take(some, axis=0).reshape(-1, 3, 2), some))

    in_ranges(do, len(triangles), smallest=_part(index, triangles), most=64)


def _part(index: Index, triangles: Floats) -> int:
    """How many triangles are worth a thread: 512, or fewer that cross many rows."""
    count, rows = len(triangles), index.rows.shape[1]
    if not 1 < count < 2 * _PART or count * rows < 2 * _CROSSED:
        return _PART
    (_, bottom), (_, top) = index.corners
    crossed = rows * float(np.ptp(triangles[:, :, 1], axis=1).sum()) / max(top - bottom, NARROW)
    return min(_PART, 1 + int(count * _CROSSED / max(crossed, 1.0)))


def count_and_sum(masses: Masses, triangles: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Number of targets (T,), and sums (T, 3) of w·x, w·y and w, inside triangles (T, 3, 2)."""
    index, count = masses.index, len(triangles)
    tables, weighted = index.tables, Weighted(masses.weights, masses.prefix)
    out = Sums(np.zeros(count, np.int64), np.zeros((count, 3)))
    _in_parts(index, triangles, lambda chosen: kernels.sum_inside(chosen, tables, weighted, out))
    return out


def list_members(masses: Masses, triangles: Floats) -> tuple[NDArray[np.int64], Integers]:
    """Offsets (T + 1,) and names of the targets inside triangles (T, 3, 2)."""
    index, (counts, _) = masses.index, count_and_sum(masses, triangles)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    members = np.empty(offsets[-1], dtype=np.int32)
    tables = index.tables
    _in_parts(index, triangles, lambda chosen: kernels.list_inside(chosen, tables, index.names, offsets, members))
    return offsets, members
