"""Kernels of the target index: its rows, and how a triangle's outline is followed through them.

Rows are stretches of *heights* y - slope·x. The slope is 0 unless targets stand along a slanted line: then rows along
the axes would cut their strip into short pieces, each as wide as the strip, and a triangle in it would have to look at
all targets beside it. Heights with a slope are rounded, by up to ``slack`` metres.

In each row a triangle meets consecutive stretches of the sorted targets: perhaps inside (first … inner), surely inside
(inner … outer), perhaps inside (outer … last). "Surely" is decided with margins that exceed all rounding.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import inlined, kernel

__all__ = ["BLOCK", "NARROW", "Rows", "fill_bins", "follow", "outline"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]

BLOCK = 8  # targets per prefix sum
_EPS = 2.220446049250313e-16
_TINY = 1e-290
NARROW = 1e-200  # metres: rows and bins are no narrower, so that their inverse is finite
_FEW = 192  # stretches up to this long are tested target by target
_STEEP = 1e150


class Rows(NamedTuple):
    """Targets sorted into rows, as the kernels follow a triangle through them."""

    points: Floats
    """(2, D) and some padding: sorted by row, within a row by x."""
    rows: Floats
    """(5, R) bottom, bottom of the next row, left, bins per metre, and width of a bin."""
    bins: Integers
    """(R, B + 1) first target of each bin."""
    lookup: Integers
    """First row of each bin of heights."""
    slope: float
    """Of the rows."""
    slack: float
    """Metres by which rounding may change a target's height: 0 without a slope."""


@kernel
def fill_bins(xs: Floats, size: int, rows: Floats, bins: Integers) -> None:
    """bins[r, b]: the first target of row r whose bin is b or later; row r holds ``size`` targets sorted by x."""
    last = bins.shape[1] - 1
    # One pass over bins and targets together: both ascend within a row.
    for row in range(len(bins)):
        target = row * size
        end = min(target + size, len(xs))
        for b in range(last):
            while target < end and min(int((xs[target] - rows[2, row]) * rows[3, row]), last - 1) < b:
                target += 1
            bins[row, b] = target
        bins[row, last] = end


@kernel
def outline(corners: Floats, slope: float, slack: float) -> Any:
    """What the rows need to know of a triangle: places (x, height) of its corners sorted by height, slopes of its
    sides, and (margin, bulge, width, slack); slack is how far heights of targets and corners may be off together.
    """
    ax, bx, cx = corners[0, 0], corners[1, 0], corners[2, 0]
    ay, by, cy = corners[0, 1] - slope * ax, corners[1, 1] - slope * bx, corners[2, 1] - slope * cx
    sizes = abs(ax) + abs(bx) + abs(cx)
    if slope != 0.0:
        slack += 4 * _EPS * (abs(ay) + abs(by) + abs(cy) + abs(slope) * sizes)
    if by < ay:
        ax, ay, bx, by = bx, by, ax, ay
    if cy < ay:
        ax, ay, cx, cy = cx, cy, ax, ay
    if cy < by:
        bx, by, cx, cy = cx, cy, bx, by
    if ay == cy:  # level: the long side is its left end, the bent one its right end
        ax, bx, cx = min(ax, bx, cx), max(ax, bx, cx), max(min(ax, bx), min(max(ax, bx), cx))
    lower = (bx - ax) / (by - ay) if by > ay else 0.0
    upper = (cx - bx) / (cy - by) if cy > by else 0.0
    whole = (cx - ax) / (cy - ay) if cy > ay else 0.0
    margin = 8 * _EPS * sizes + _TINY
    width = max(ax, bx, cx) - min(ax, bx, cx)
    if not abs(lower) + abs(upper) + abs(whole) < _STEEP:  # as good as level: its rows see it in its full width
        lower = upper = whole = 0.0
        margin += width
    # A side at a height that is a little off is off by so much more as it is less steep, but never by more than all.
    margin += min(slack * max(abs(lower), abs(upper), abs(whole)), width)
    bulge = bx - (ax + (by - ay) * whole)  # how far the middle corner stands to the right of the long side
    if abs(bulge) <= 2 * margin:
        bulge = 0.0
    return (ax, ay), (bx, by), (cx, cy), (lower, upper, whole), (margin, bulge, width, slack)


@kernel
def _first_row(height: float, rows: Floats, lookup: Integers) -> int:
    """The first row that reaches up to ``height``."""
    bottom, top, bins = rows[0, 0], rows[1, -1], len(lookup) - 1
    place = (height - bottom) * (bins / max(top - bottom, NARROW))
    b = 0 if place < 0 else int(min(place, bins - 1.0))
    low, high = lookup[b], lookup[b + 1]
    while low < high:  # bisection, mostly over one row or two
        middle = (low + high) // 2
        if rows[1, middle] < height:
            low = middle + 1
        else:
            high = middle
    return int(low)


@kernel
def _after(xs: Floats, row: int, rows: Floats, bins: Integers, x: float) -> int:
    """The first of a row's targets that is right of x: it is in the bin of x, or the first one of the next."""
    place = min(max((x - rows[2, row]) * rows[3, row], 0.0), bins.shape[1] - 2.0)
    low, high = bins[row, np.uint64(place)], bins[row, np.uint64(place) + np.uint64(1)]
    while low < high:  # bisection, mostly over two targets
        middle = (low + high) // 2
        if xs[middle] <= x:
            low = middle + 1
        else:
            high = middle
    return int(low)


@kernel
def _within(
    shape: Any, crossings: Any, low: float, high: float, xs: Floats, row: int, rows: Floats, bins: Integers
) -> Any:
    """A long stretch cut to what a triangle reaches in a row, and the blocks in it that are surely inside."""
    (_, ay), _, (_, cy), _, (margin, bulge, _, slack) = shape
    least, most, long_u, long_v, bent_u, bent_v = crossings
    first, last = _after(xs, row, rows, bins, least - 2 * margin), _after(xs, row, rows, bins, most + margin)
    inner = outer = last
    if low - slack >= ay and high + slack <= cy and bulge != 0.0:
        if bulge > 0:
            begin, end = max(long_u, long_v) + margin, min(bent_u, bent_v) - 2 * margin
        else:
            begin, end = max(bent_u, bent_v) + margin, min(long_u, long_v) - 2 * margin
        begin_block = (_after(xs, row, rows, bins, begin) + BLOCK - 1) // BLOCK
        end_block = _after(xs, row, rows, bins, end) // BLOCK
        if begin_block < end_block:
            inner, outer = begin_block * BLOCK, end_block * BLOCK
    return first, inner, outer, last


@kernel
def _bent(shape: Any, height: float) -> float:
    """Where the side with the middle corner is at a height; both ways are worked out, which spares a branch."""
    (ax, ay), (bx, by), _, (lower, upper, _), _ = shape
    below, above = ax + (height - ay) * lower, bx + (height - by) * upper
    return float(below if height < by else above)


@inlined
def follow(shape: Any, index: Rows, perhaps: Integers, surely: Integers) -> Any:
    """Write down the stretches of targets that are perhaps and surely inside a triangle; returns how many there are.

    Also returns more than the rounding error of the edge functions at any of these targets. Where the long side and the
    bent one leave a row, they enter the next.
    """
    (ax, bottom), (bx, by), (_, top), (_, _, whole), (margin, _, width, slack) = shape
    points, rows, bins, lookup, slope, _ = index
    xs = points[0]
    pieces, blocks, bin_width, height, last_bin = 0, 0, 0.0, 0.0, bins.shape[1] - 2.0
    begin, end = _first_row(bottom - slack, rows, lookup), _first_row(top + slack, rows, lookup)
    while end < rows.shape[1] and rows[0, end] <= top + slack:
        end += 1
    low = rows[0, min(begin, rows.shape[1] - 1)]
    height_u = min(max(low, bottom), top)
    long_u, bent_u = ax + (height_u - bottom) * whole, _bent(shape, height_u)
    # Row by row upwards. Unsigned numbers need no look at their sign where they index.
    for row in range(np.uint64(begin), np.uint64(end)):
        high = rows[1, row]
        height_v = min(max(high, bottom), top)
        long_v, bent_v = ax + (height_v - bottom) * whole, _bent(shape, height_v)
        middle = bx if (low < by) & (by < high) else bent_v
        least = min(min(min(long_u, long_v), min(bent_u, bent_v)), middle)
        most = max(max(max(long_u, long_v), max(bent_u, bent_v)), middle)
        start, stop = (least - margin - rows[2, row]) * rows[3, row], (most + margin - rows[2, row]) * rows[3, row] + 1
        first = bins[row, np.uint64(min(max(start, 0.0), last_bin))]  # also holds what rounding puts just behind it
        last = bins[row, np.uint64(min(max(stop, 0.0), last_bin + 1))]
        bin_width, height = max(bin_width, rows[4, row]), max(height, high - low)
        perhaps[pieces, 0], perhaps[pieces, 1] = first, last
        pieces += 1
        if last - first > _FEW:
            crossings = least, most, long_u, long_v, bent_u, bent_v
            first, inner, outer, last = _within(shape, crossings, low, high, xs, row, rows, bins)
            perhaps[pieces - 1, 0], perhaps[pieces - 1, 1] = first, inner
            perhaps[pieces, 0], perhaps[pieces, 1] = outer, last
            surely[blocks, 0], surely[blocks, 1] = inner, outer
            pieces += 1
            blocks += 1
        low, long_u, bent_u = high, long_v, bent_v
    reach = width + bin_width  # how far a target may be from a corner along x
    return pieces, blocks, 64 * _EPS * reach * (top - bottom + height + slack + abs(slope) * reach) + _TINY
