"""Kernels of the target index: how a triangle's outline is followed through the rows, and what is done on the way.

In each row a triangle meets consecutive stretches of the sorted targets: perhaps inside (first … inner), surely inside
(inner … outer), perhaps inside (outer … last). "Surely" is decided with margins that exceed all rounding, "perhaps"
target by target with three edge functions and, where rounding leaves a doubt, exact orientation tests.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import inlined, kernel
from tricover.geometry._expansions import two_sum
from tricover.geometry._predicates import orient2d

__all__ = ["BLOCK", "CHUNK", "TILES", "block_sums", "fill_bins", "find_tiles", "jumps", "list_inside", "sum_inside"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]

BLOCK = 8  # targets per prefix sum
TILES = 64  # per axis
CHUNK = 16  # targets that are tested at once
_FEW = 192  # stretches up to this long are tested target by target
_EPS = 2.220446049250313e-16
_TINY = 1e-290
_STEEP = 1e150
_NUMBER = np.array([byte.bit_count() for byte in range(256)], np.int32)  # of bits that are set
_PLACES = np.array(
    [[k for k in range(8) if byte >> k & 1] + [0] * (8 - byte.bit_count()) for byte in range(256)], np.int32
)


@kernel
def fill_bins(xs: Floats, size: int, rows: Floats, bins: Integers) -> None:
    """bins[r, b]: the first target of row r whose bin is b or later; row r holds ``size`` targets sorted by x."""
    last = bins.shape[1] - 1
    for row in range(len(bins)):
        target = row * size
        end = min(target + size, len(xs))
        for b in range(last):
            while target < end and min(int((xs[target] - rows[2, row]) * rows[3, row]), last - 1) < b:
                target += 1
            bins[row, b] = target
        bins[row, last] = end


@kernel
def _weight(weights: Floats, target: int | np.uint64) -> float:
    """The weight of a target; a single one is everybody's."""
    return float(weights[np.uint64(target) * np.uint64(len(weights) > 1)])


@kernel
def block_sums(points: Floats, weights: Floats, count: int, sums: Floats) -> None:
    """Sums (blocks, 3, 2) of w·x, w·y and w before each block, as unevaluated pairs of a high and a low part."""
    totals, terms = np.zeros((3, 2)), np.ones(3)
    for target in range(count):
        if target % BLOCK == 0:
            sums[target // BLOCK] = totals
        terms[0], terms[1] = points[0, target], points[1, target]
        for term in range(3):
            high, rest = two_sum(totals[term, 0], _weight(weights, target) * terms[term])
            totals[term, 0], totals[term, 1] = two_sum(high, totals[term, 1] + rest)
    if count % BLOCK == 0:
        sums[-1] = totals


@kernel
def find_tiles(triangles: Floats, low: Floats, scale: Floats, first: int, last: int, tiles: NDArray[np.uint16]) -> None:
    """The tile of each triangle's centre, tiles counted along rows."""
    for triangle in range(first, last):
        tile = 0
        for axis in (1, 0):
            centre = (triangles[triangle, 0, axis] + triangles[triangle, 1, axis] + triangles[triangle, 2, axis]) / 3
            place = (centre - low[axis]) * scale[axis]
            tile = TILES * tile + int(min(max(place, 0.0), TILES - 1.0))
        tiles[triangle] = tile


@kernel
def jumps(tiles: NDArray[np.uint16]) -> int:
    """How often one tile of a list is not a neighbour of the one before."""
    count = 0
    for k in range(1, len(tiles)):
        here, before = int(tiles[k]), int(tiles[k - 1])
        across, along = abs(here // TILES - before // TILES), abs(here % TILES - before % TILES)
        count += across > 1 or along > 1
    return count


@kernel
def _outline(corners: Floats) -> Any:
    """What the rows need to know of a triangle: corners sorted by y, slopes of its sides, margin, bulge and width."""
    ax, ay, bx, by, cx, cy = corners[0, 0], corners[0, 1], corners[1, 0], corners[1, 1], corners[2, 0], corners[2, 1]
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
    margin = 8 * _EPS * (abs(ax) + abs(bx) + abs(cx)) + _TINY
    width = max(ax, bx, cx) - min(ax, bx, cx)
    if not abs(lower) + abs(upper) + abs(whole) < _STEEP:  # as good as level: its rows see it in its full width
        lower = upper = whole = 0.0
        margin += width
    bulge = bx - (ax + (by - ay) * whole)  # how far the middle corner stands to the right of the long side
    if abs(bulge) <= 2 * margin:
        bulge = 0.0
    return (ax, ay), (bx, by), (cx, cy), (lower, upper, whole), (margin, bulge, width)


@kernel
def _edges(corners: Any) -> Any:
    """Coefficients of the three edge functions, positive inside; good up to rounding."""
    (ax, ay), (bx, by), (cx, cy) = corners
    ux, uy, vx, vy = bx - ax, by - ay, cx - ax, cy - ay
    area = ux * vy - uy * vx
    sign = 1.0 if area >= 0 else -1.0
    return (ax, ay), (sign * ux, sign * uy), (sign * vx, sign * vy), sign * area


@kernel
def _least(edges: Any, x: float, y: float) -> float:
    """The least of the three edge functions: twice the area between a point and the side that it is nearest to."""
    (ax, ay), (ux, uy), (vx, vy), area = edges
    dx, dy = x - ax, y - ay
    along, across = ux * dy - uy * dx, dx * vy - dy * vx
    return float(min(min(along, across), area - along - across))


@kernel
def _first_row(height: float, rows: Floats, lookup: Integers) -> int:
    """The first row that reaches up to ``height``."""
    bottom, top, bins = rows[0, 0], rows[1, -1], len(lookup) - 1
    place = (height - bottom) * (bins / (top - bottom) if top > bottom else 0.0)
    b = 0 if place < 0 else int(min(place, bins - 1.0))
    low, high = lookup[b], lookup[b + 1]
    while low < high:
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
    while low < high:
        middle = (low + high) // 2
        if xs[middle] <= x:
            low = middle + 1
        else:
            high = middle
    return int(low)


@kernel
def _within(
    outline: Any, crossings: Any, low: float, high: float, xs: Floats, row: int, rows: Floats, bins: Integers
) -> Any:
    """A long stretch cut to what a triangle reaches in a row, and the blocks in it that are surely inside."""
    (_, ay), _, (_, cy), _, (margin, bulge, _) = outline
    least, most, long_u, long_v, bent_u, bent_v = crossings
    first, last = _after(xs, row, rows, bins, least - 2 * margin), _after(xs, row, rows, bins, most + margin)
    inner = outer = last
    if low >= ay and high <= cy and bulge != 0.0:
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
def _bent(outline: Any, height: float) -> float:
    """Where the side with the middle corner is at a height; both ways are worked out, which spares a branch."""
    (ax, ay), (bx, by), _, (lower, upper, _), _ = outline
    below, above = ax + (height - ay) * lower, bx + (height - by) * upper
    return float(below if height < by else above)


@inlined
def _follow(
    outline: Any, rows: Floats, bins: Integers, lookup: Integers, xs: Floats, perhaps: Integers, surely: Integers
) -> Any:
    """Write down the stretches of targets that are perhaps and surely inside a triangle; returns how many there are.

    Also returns more than the rounding error of the edge functions at any of these targets. Where the long side and the
    bent one leave a row, they enter the next.
    """
    (ax, bottom), (bx, by), (_, top), (_, _, whole), (margin, _, width) = outline
    pieces, blocks, bin_width, height, last_bin = 0, 0, 0.0, 0.0, bins.shape[1] - 2.0
    begin, end = _first_row(bottom, rows, lookup), _first_row(top, rows, lookup)
    while end < rows.shape[1] and rows[0, end] <= top:
        end += 1
    low = rows[0, min(begin, rows.shape[1] - 1)]
    long_u, bent_u = ax + (max(low, bottom) - bottom) * whole, _bent(outline, max(low, bottom))
    for row in range(np.uint64(begin), np.uint64(end)):
        high = rows[1, row]
        long_v, bent_v = ax + (min(high, top) - bottom) * whole, _bent(outline, min(high, top))
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
            first, inner, outer, last = _within(outline, crossings, low, high, xs, row, rows, bins)
            perhaps[pieces - 1, 0], perhaps[pieces - 1, 1] = first, inner
            perhaps[pieces, 0], perhaps[pieces, 1] = outer, last
            surely[blocks, 0], surely[blocks, 1] = inner, outer
            pieces += 1
            blocks += 1
        low, long_u, bent_u = high, long_v, bent_v
    return pieces, blocks, 64 * _EPS * (width + bin_width) * (top - bottom + height) + _TINY


@kernel
def _mask(edges: Any, doubt: float, xs: Floats, ys: Floats, first: int) -> int:
    """Which of the next CHUNK targets are inside or in doubt, one bit each, and CHUNK bits above, which are inside.

    The loop has a fixed length and no branches, so that the compiler works on several targets at once.
    """
    bits = 0
    for k in range(CHUNK):
        target = np.uint64(first) + np.uint64(k)
        least = _least(edges, xs[target], ys[target])
        bits |= (least > -doubt) << k | (least > doubt) << (k + CHUNK)
    return bits


@kernel
def _holds(corners: Floats, x: float, y: float) -> bool:
    """Whether the closed triangle holds the point, exactly; a flat one is a segment or a point."""
    ax, ay, bx, by, cx, cy = corners[0, 0], corners[0, 1], corners[1, 0], corners[1, 1], corners[2, 0], corners[2, 1]
    if not (min(ax, bx, cx) <= x <= max(ax, bx, cx) and min(ay, by, cy) <= y <= max(ay, by, cy)):
        return False
    if (x == ax and y == ay) or (x == bx and y == by) or (x == cx and y == cy):
        return True  # common: an agent with one target stands on it, and is a corner of its mentees' triangles
    turn = orient2d(ax, ay, bx, by, cx, cy)
    first = orient2d(ax, ay, bx, by, x, y)
    second = orient2d(bx, by, cx, cy, x, y)
    third = orient2d(cx, cy, ax, ay, x, y)
    if turn == 0.0:
        return first == 0.0 and second == 0.0 and third == 0.0
    if turn < 0.0:
        first, second, third = -first, -second, -third
    return first >= 0.0 and second >= 0.0 and third >= 0.0


@kernel
def _without_doubt(corners: Floats, points: Floats, first: int, bits: int, doubtful: int) -> int:
    """The bits of a chunk's targets that are inside, exact tests for the doubtful ones included."""
    for k in range(CHUNK):
        if doubtful >> k & 1 and not _holds(corners, points[0, first + k], points[1, first + k]):
            bits ^= 1 << k
    return bits


@inlined
def _near(
    corners: Floats, edges: Any, doubt: float, points: Floats, perhaps: Integers, pieces: int, scratch: Any
) -> int:
    """Collect the targets of the pieces that are inside; returns how many.

    Branches on what is found could not be predicted, so there are none: what is not wanted is overwritten.
    """
    masks, found = scratch
    chunks, count = 0, 0
    for piece in range(pieces):
        last = perhaps[piece, 1]
        for first in range(perhaps[piece, 0], last, CHUNK):
            both, these = _mask(edges, doubt, points[0], points[1], first), (1 << min(last - first, CHUNK)) - 1
            bits = both & these
            masks[chunks, 0], masks[chunks, 1], masks[chunks, 2] = first, bits, bits & ~(both >> CHUNK)
            chunks += bits != 0
    for chunk in range(chunks):
        first, bits, doubtful = masks[chunk, 0], masks[chunk, 1], masks[chunk, 2]
        if doubtful:
            bits = _without_doubt(corners, points, first, bits, doubtful)
        for half in range(0, CHUNK, 8):
            byte = (bits >> half) & 255
            for k in range(8):
                found[np.uint64(count + k)] = first + half + _PLACES[byte, k]
            count += _NUMBER[byte]
    return count


@kernel
def _scratch(points: Floats, rows: Floats) -> Any:
    """Room for the stretches of one triangle that are perhaps and surely inside, and for what is found in them."""
    most, targets = rows.shape[1], points.shape[1]
    masks = np.empty((targets // CHUNK + 2 * most + 1, 3), np.int32)
    return (
        np.empty((2 * most, 2), np.int32),
        np.empty((most, 2), np.int32),
        (masks, np.empty(targets + CHUNK, np.int32)),
    )


@kernel
def _between(prefix: Floats, term: int, inner: int, outer: int) -> float:
    """A sum from one block's start to another's."""
    a, b = outer // BLOCK, inner // BLOCK
    difference, lost = two_sum(prefix[a, term, 0], -prefix[b, term, 0])
    return float(difference + (lost + (prefix[a, term, 1] - prefix[b, term, 1])))


@kernel
def sum_inside(
    triangles: Floats,
    places: NDArray[np.int64],
    counts: NDArray[np.int64],
    sums: Floats,
    points: Floats,
    rows: Floats,
    bins: Integers,
    lookup: Integers,
    weights: Floats,
    prefix: Floats,
) -> None:
    """Number of targets, and sums of w·x, w·y and w, inside each triangle (T, 3, 2).

    They are written to the ``places`` of the triangles in counts (…,) and sums (…, 3). Points (2, D + CHUNK) and
    weights, (D,) or a single one, are sorted; ``prefix`` comes from ``block_sums``.
    """
    numbers, totals = np.empty(len(triangles), np.int64), np.empty((len(triangles), 3))
    perhaps, surely, scratch = _scratch(points, rows)
    found = scratch[1]
    for triangle in range(len(triangles)):
        corners = triangles[triangle]
        outline = _outline(corners)
        edges = _edges(outline[:3])
        pieces, blocks, doubt = _follow(outline, rows, bins, lookup, points[0], perhaps, surely)
        number, sum_x, sum_y, sum_w = 0, 0.0, 0.0, 0.0
        for block in range(blocks):
            inner, outer = surely[block, 0], surely[block, 1]
            number += outer - inner
            sum_x += _between(prefix, 0, inner, outer)
            sum_y += _between(prefix, 1, inner, outer)
            sum_w += _between(prefix, 2, inner, outer)
        near = _near(corners, edges, doubt, points, perhaps, pieces, scratch)
        for k in range(near):
            target = np.uint64(found[k])
            weight = _weight(weights, target)
            sum_x += weight * points[0, target]
            sum_y += weight * points[1, target]
            sum_w += weight
        numbers[triangle] = number + near
        totals[triangle, 0], totals[triangle, 1], totals[triangle, 2] = sum_x, sum_y, sum_w
    for triangle, place in enumerate(places):  # all at once: far-off writes in the loop above would hold it up
        counts[place] = numbers[triangle]
        sums[place, 0], sums[place, 1], sums[place, 2] = totals[triangle, 0], totals[triangle, 1], totals[triangle, 2]


@kernel
def list_inside(
    triangles: Floats,
    places: NDArray[np.int64],
    offsets: NDArray[np.int64],
    members: Integers,
    points: Floats,
    rows: Floats,
    bins: Integers,
    lookup: Integers,
    names: Integers,
) -> None:
    """Names of the targets inside each triangle (T, 3, 2), written to members from the offset of its place on."""
    perhaps, surely, scratch = _scratch(points, rows)
    found = scratch[1]
    for triangle in range(len(triangles)):
        corners = triangles[triangle]
        outline = _outline(corners)
        edges = _edges(outline[:3])
        pieces, blocks, doubt = _follow(outline, rows, bins, lookup, points[0], perhaps, surely)
        place = offsets[places[triangle]]
        for block in range(blocks):
            for target in range(surely[block, 0], surely[block, 1]):
                members[place] = names[target]
                place += 1
        for k in range(_near(corners, edges, doubt, points, perhaps, pieces, scratch)):
            members[place] = names[found[k]]
            place += 1
