"""The target index: which targets stand in which triangles, exactly, at a cost that follows the triangles' outlines.

Targets are sorted by y into rows of equal number, and by x within a row, so that dense places get low rows. A triangle
meets a row in one stretch, found in a table of equal bins per row. Only targets near the outline are tested one by one;
those in between come from prefix sums.
Whatever the shape of the target set, √D/5 rows cross it: coincident or collinear targets only make rows of no height.

A triangle is a closed set: a target on an edge or a corner is inside, and a flat one holds the targets on its segment.
Signs are exact (``geometry._predicates``: coordinates may span 280 decades). A sum is the exact sum of the rounded
values w·x, w·y or w of the targets inside, rounded once to the nearest float, ties to even (``_words``). So it depends
on nothing but these targets: other targets, the order of targets and triangles and the number of threads change no bit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from tricover.targets import _kernels as kernels
from tricover.targets._kernels import Chosen, Sums, Weighted
from tricover.targets._rows import BLOCK, NARROW, Rows, fill_bins
from tricover.targets._words import Grid, Words, make_grid, no_grid, span_of
from tricover.threads import in_ranges

__all__ = [
    "Index",
    "Masses",
    "build_index",
    "count_and_sum",
    "grids_side_by_side",
    "list_members",
    "spread_of",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]

_EPS = float(np.finfo(np.float64).eps)
_ROW_SHAPE = 5.0  # a row holds this many times √D targets: measured best on the thin triangles of deep layers
_FEW_TARGETS = 500  # whose rows are along the axes in any case
_STRIP = 0.5  # square of the correlation of x and y from which on rows follow the strip in which targets stand
_BEYOND_ROUNDING = 1e6  # times as far apart as rounding moves them: heights that may be taken for heights
_STEEPEST = 1e200  # rows: a hundred decades below what floats hold, which is how far coordinates go
_PER_BIN = 2  # targets per bin, if they were even
_FEW_TRIANGLES = 4096  # that are looked up in any order
_FEW_JUMPS = 0.25  # from one triangle to the next beyond the neighbouring tiles; with fewer, sorting does not pay
_PART, _CROSSED = 512, 1024  # triangles, or rows that they cross, that are worth a thread
_AT_ONCE = 1 << 16  # values that are worked out to see how far they span
_PER_ROW = 16  # bins per row in the table that finds a triangle's first row


def spread_of(
    points: Floats, weights: Floats, term: int, before: tuple[float, float] = (0.0, np.inf)
) -> tuple[float, float]:
    """``span_of`` w·x, w·y or w of targets (2, D) with weights (D,), or one for all, and of others before."""
    for start in range(0, points.shape[1], _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        masses = weights if len(weights) == 1 else weights[some]
        before = span_of(masses * points[term, some] if term < 2 else masses, *before)
    return before


def grids_side_by_side(spans: Sequence[tuple[float, float] | None], count: int) -> tuple[Grid, Grid, Grid]:
    """Grids for w·x, w·y and w of so many targets, one after another in a row of words; None: nobody asks for it."""
    grids, first = [], 0
    for span in spans:
        grids.append(no_grid() if span is None else make_grid(*span, count, first))
        first += len(grids[-1].worth)
    return grids[0], grids[1], grids[2]


@dataclass(frozen=True, eq=False)
class Index:
    """Targets sorted into rows; see ``Rows`` for the arrays."""

    points: Floats
    names: Integers
    """(D,) the targets' own indices, in the order of ``points``."""
    rows: Floats
    bins: Integers
    lookup: Integers
    slope: float
    slack: float

    def masses(self, weights: Floats | None, moments: bool = True) -> "Masses":
        """Weights (D,), given in the targets' own order; None: one for each. Without moments, only these are summed."""
        if weights is None:
            return Masses(self, np.ones(1), moments, single=True)
        return Masses(self, weights[self.names], moments, single=False)

    @property
    def tables(self) -> Rows:
        """What the kernels need to follow a triangle."""
        return Rows(self.points, self.rows, self.bins, self.lookup, self.slope, self.slack)

    @cached_property
    def corners(self) -> tuple[Floats, Floats]:
        """The lower left and the upper right corner of the box around all targets, as (x, height)."""
        return np.array([self.rows[2].min(), self.rows[0, 0]]), np.array([self.points[0].max(), self.rows[1, -1]])


@dataclass(frozen=True, eq=False)
class Masses:
    """Weights of the targets in their index's order, (D,) or a single one for all."""

    index: Index
    weights: Floats
    moments: bool
    """Whether w·x and w·y are summed, too."""
    single: bool
    """Whether every target counts as one, so that there is no w to sum."""

    @cached_property
    def grids(self) -> tuple[Grid, Grid, Grid]:
        """How w·x, w·y and w are written as words; side by side in a row of the prefix sums."""
        wanted = self.moments, self.moments, not self.single
        weights, count = self.weights, len(self.index.names)
        spans = [spread_of(self.index.points[:, :count], weights, term) if wanted[term] else None for term in range(3)]
        return grids_side_by_side(spans, count)

    @cached_property
    def prefix(self) -> Words:
        """(blocks, words) of the sums of w·x, w·y and w over all targets before each block."""
        count = len(self.index.names)
        sums = np.zeros((count // BLOCK + 1, sum(len(grid.worth) for grid in self.grids)), np.int64)
        for term, grid in enumerate(self.grids):
            if len(grid.worth):
                kernels.block_sums(self.index.points, self.weights, count, term, grid, sums)
        return sums

    @property
    def tables(self) -> Weighted:
        """What the kernels need to sum."""
        return Weighted(self.weights, self.grids, self.prefix, self.single)


def build_index(positions: Floats) -> Index:
    """Sort targets (D, 2) into rows."""
    count = len(positions)
    size = max(1, ceil(_ROW_SHAPE * sqrt(count)))
    starts = range(0, count, size)
    heights, slope, slack = _heights(positions)
    by_height = np.argsort(heights, kind="stable")
    ascending = heights[by_height]
    if (ascending[size:] == ascending[:-size]).any():  # rows of one height: let each have its own part of it
        by_height = np.lexsort((positions[:, 0], heights))
        ascending = heights[by_height]
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
    rows = _rows(points[0, :count], ascending, starts, bins.shape[1] - 1)
    fill_bins(points[0, :count], size, rows, bins)
    return Index(points, names, rows, bins, _lookup(rows), slope, slack)


def _heights(positions: Floats) -> tuple[Floats, float, float]:
    """Heights (D,) of targets, the slope of their rows, and what rounding may change of a height."""
    xs, ys = positions.T
    if len(positions) >= _FEW_TARGETS:
        x, y = xs - xs.mean(), ys - ys.mean()
        long, both, high = float(x @ x), float(x @ y), float(y @ y)
        if both * both > _STRIP * long * high > 0:
            slope = both / long
            heights = ys - slope * xs
            slack = 4 * _EPS * float((np.abs(ys) + abs(slope) * np.abs(xs)).max())
            # Corners of triangles may be as far away as coordinates go: their heights have to be numbers, too.
            if abs(slope) < _STEEPEST and np.ptp(heights) > _BEYOND_ROUNDING * slack:
                return heights, slope, slack
    return ys, 0.0, 0.0


def _rows(xs: Floats, heights: Floats, starts: range, bins: int) -> Floats:
    """Bottom, bottom of the next row (the last one's top), left, bins per metre and width of a bin, for each row.

    Targets have places xs (D,), ascending in each row, and heights (D,), ascending.
    """
    rows = np.empty((5, len(starts)))
    for row, start in enumerate(starts):
        last = min(start + starts.step, starts.stop) - 1
        # Bins must be wider than rounding, even where all targets of a row stand on one spot.
        width = max(xs[last] - xs[start], 1e-12 * max(abs(xs[start]), abs(xs[last])), NARROW) / bins
        rows[:, row] = heights[start], heights[last], xs[start], 1 / width, width
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
    in_ranges(lambda first, last: kernels.find_tiles(triangles, index.slope, low, scale, first, last, tiles), count)
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
    heights = triangles[:, :, 1] - index.slope * triangles[:, :, 0]
    crossed = rows * float(np.ptp(heights, axis=1).sum()) / max(top - bottom, NARROW)
    return min(_PART, 1 + int(count * _CROSSED / max(crossed, 1.0)))


def count_and_sum(masses: Masses, triangles: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Number of targets (T,), and sums (T, 3) of w·x, w·y and w, inside triangles (T, 3, 2), each rounded once.

    Sums of what the masses leave out are 0.
    """
    index, count = masses.index, len(triangles)
    tables, weighted = index.tables, masses.tables
    out = Sums(np.zeros(count, np.int64), np.zeros((count, 3)))
    _in_parts(index, triangles, lambda chosen: kernels.sum_inside(chosen, tables, weighted, out))
    return out


def list_members(index: Index, triangles: Floats) -> tuple[NDArray[np.int64], Integers]:
    """Offsets (T + 1,) and names of the targets inside triangles (T, 3, 2)."""
    counts, _ = count_and_sum(index.masses(None, moments=False), triangles)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    members = np.empty(offsets[-1], dtype=np.int32)
    tables = index.tables
    _in_parts(index, triangles, lambda chosen: kernels.list_inside(chosen, tables, index.names, offsets, members))
    return offsets, members
