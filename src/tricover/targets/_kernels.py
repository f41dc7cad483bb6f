"""Kernels of the target index: sums and lists of the targets in triangles, stretch by stretch (see ``_rows``).

Stretches that are surely inside come from prefix sums. Targets that are perhaps inside are tested one by one, with
three edge functions and, where rounding leaves a doubt, exact orientation tests. Sums are exact until they are rounded
once (see ``_words``), so it does not matter which targets come in which way.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import inlined, kernel
from tricover.geometry._predicates import orient2d
from tricover.targets._rows import BLOCK, Rows, follow, outline
from tricover.targets._words import Grid, Pair, Words, add, add_to_pair, rounded, rounded_pair

__all__ = [
    "CHUNK",
    "TILES",
    "Chosen",
    "Sums",
    "Weighted",
    "block_sums",
    "edges_of",
    "find_near",
    "find_tiles",
    "hold_each",
    "jumps",
    "list_inside",
    "new_scratch",
    "sum_inside",
    "value_of",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]

TILES = 64  # per axis
CHUNK = 16  # targets that are tested at once
_NUMBER = np.array([byte.bit_count() for byte in range(256)], np.int32)  # of bits that are set
_PLACES = np.array(
    [[k for k in range(8) if byte >> k & 1] + [0] * (8 - byte.bit_count()) for byte in range(256)], np.int32
)


class Chosen(NamedTuple):
    """Some triangles, and where in the results each of them belongs."""

    triangles: Floats
    """(T, 3, 2)"""
    places: NDArray[np.int64]
    """(T,)"""


class Weighted(NamedTuple):
    """Weights of the targets in their index's order."""

    weights: Floats
    """(D,), or a single one for all."""
    grids: tuple[Grid, Grid, Grid]
    """Of w·x, w·y and w; without words: nobody asks for these sums."""
    prefix: Words
    """(blocks, words) from ``block_sums``."""
    single: bool
    """Whether every target counts as one, so that their number is the sum of w."""


class Sums(NamedTuple):
    """Results for all triangles."""

    counts: NDArray[np.int64]
    """Number of targets inside each."""
    sums: Floats
    """(…, 3) of w·x, w·y and w."""


@kernel
def _weight(weights: Floats, target: int | np.uint64) -> float:
    """The weight of a target; a single one is everybody's."""
    return float(weights[np.uint64(target) * np.uint64(len(weights) > 1)])


@kernel
def value_of(points: Floats, weights: Floats, term: int, target: int | np.uint64) -> float:
    """What a target adds to the sum of w·x, w·y or w: one rounded product."""
    return _weight(weights, target) * (points[term, target] if term < 2 else 1.0)


@kernel
def block_sums(points: Floats, weights: Floats, count: int, term: int, grid: Grid, sums: Words) -> None:
    """Words (blocks, words) of the sums of w·x, w·y or w over all targets before each block."""
    pair, words = grid.pair, np.zeros(sums.shape[1], np.int64)
    high, low = np.int64(0), np.int64(0)
    for target in range(count + 1):
        if target % BLOCK == 0:
            if pair.scale > 0.0:
                words[pair.first], words[pair.first + 1] = high, low
            for word in range(grid.first, grid.first + len(grid.worth)):
                sums[target // BLOCK, word] = words[word]
        if target == count:
            break
        value = value_of(points, weights, term, target)
        if pair.scale > 0.0:
            high, low = add_to_pair(value, pair, high, low)
        else:
            add(value, grid, words)


@kernel
def find_tiles(
    triangles: Floats, slope: float, low: Floats, scale: Floats, first: int, last: int, tiles: NDArray[np.uint16]
) -> None:
    """The tile of each triangle's centre, tiles counted along rows of this slope."""
    for triangle in range(first, last):
        x = (triangles[triangle, 0, 0] + triangles[triangle, 1, 0] + triangles[triangle, 2, 0]) / 3
        y = (triangles[triangle, 0, 1] + triangles[triangle, 1, 1] + triangles[triangle, 2, 1]) / 3
        column, row = (x - low[0]) * scale[0], (y - slope * x - low[1]) * scale[1]
        tiles[triangle] = TILES * int(min(max(row, 0.0), TILES - 1.0)) + int(min(max(column, 0.0), TILES - 1.0))


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
def edges_of(corners: Floats) -> Any:
    """Coefficients of the three edge functions, positive inside; good up to rounding."""
    ax, ay, bx, by, cx, cy = corners[0, 0], corners[0, 1], corners[1, 0], corners[1, 1], corners[2, 0], corners[2, 1]
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
def hold_each(
    triangles: Floats, rows: NDArray[np.int64], points: Floats, first: int, last: int, found: NDArray[np.bool_]
) -> None:
    """Whether each point (L, 2) is in the closed triangle of its row, exactly."""
    for k in range(first, last):
        found[k] = _holds(triangles[rows[k]], points[k, 0], points[k, 1])


@kernel
def _without_doubt(corners: Floats, points: Floats, first: int, bits: int, doubtful: int) -> int:
    """The bits of a chunk's targets that are inside, exact tests for the doubtful ones included."""
    for k in range(CHUNK):
        if doubtful >> k & 1 and not _holds(corners, points[0, first + k], points[1, first + k]):
            bits ^= 1 << k
    return bits


@inlined
def find_near(
    corners: Floats, edges: Any, doubt: float, points: Floats, perhaps: Integers, pieces: int, scratch: Any
) -> int:
    """Collect the targets of the pieces that are inside; returns how many.

    Branches on what is found could not be predicted, so there are none: what is not wanted is overwritten.
    """
    masks, found = scratch
    chunks, count = 0, 0
    # Test all chunks, and keep the masks of those in which something may be inside.
    for piece in range(pieces):
        last = perhaps[piece, 1]
        for first in range(perhaps[piece, 0], last, CHUNK):
            both = _mask(edges, doubt, points[0], points[1], first)
            these = (1 << min(last - first, CHUNK)) - 1
            bits = both & these
            masks[chunks, 0], masks[chunks, 1], masks[chunks, 2] = first, bits, bits & ~(both >> CHUNK)
            chunks += bits != 0
    # Turn masks into targets, a byte at a time: eight are written, and as many count as there are bits.
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
def new_scratch(most: int, targets: int) -> Any:
    """Room for the stretches of a triangle in so many rows, perhaps and surely inside, and for what is found there."""
    masks = np.empty((targets // CHUNK + 2 * most + 1, 3), np.int32)
    return (
        np.empty((2 * most, 2), np.int32),
        np.empty((most, 2), np.int32),
        (masks, np.empty(targets + CHUNK, np.int32)),
    )


@inlined
def _sum_of_pairs(
    term: int,
    pair: Pair,
    points: Floats,
    weights: Floats,
    prefix: Words,
    surely: Integers,
    blocks: int,
    found: Integers,
    near: int,
) -> float:
    """The sum of w·x, w·y or w over what is inside, where two words hold it."""
    high, low = np.int64(0), np.int64(0)
    # Stretches that are surely inside: the difference of two prefix sums each.
    for block in range(blocks):
        before, after = surely[block, 0] // BLOCK, surely[block, 1] // BLOCK
        high += prefix[after, pair.first] - prefix[before, pair.first]
        low += prefix[after, pair.first + 1] - prefix[before, pair.first + 1]
    # Near the outline: target by target.
    for k in range(near):
        value = value_of(points, weights, term, np.uint64(found[k]))
        high, low = add_to_pair(value, pair, high, low)
    return rounded_pair(high, low, pair)


@kernel
def _sum_of_words(
    term: int,
    grid: Grid,
    points: Floats,
    weights: Floats,
    prefix: Words,
    surely: Integers,
    blocks: int,
    found: Integers,
    near: int,
) -> float:
    """The same for any number of words."""
    words = np.zeros(prefix.shape[1], np.int64)
    for block in range(blocks):
        before, after = surely[block, 0] // BLOCK, surely[block, 1] // BLOCK
        for word in range(grid.first, grid.first + len(grid.worth)):
            words[word] += prefix[after, word] - prefix[before, word]
    for k in range(near):
        add(value_of(points, weights, term, np.uint64(found[k])), grid, words)
    return rounded(words, grid)


@kernel
def sum_inside(chosen: Chosen, index: Rows, masses: Weighted, out: Sums) -> None:
    """Number of targets, and sums of w·x, w·y and w, inside each chosen triangle."""
    triangles, places = chosen
    weights, (grid_x, grid_y, grid_w), prefix, single = masses
    # Plain numbers are taken out of the loop, and arrays go to functions one by one: tuples with arrays in them, made
    # or unpacked for each triangle, would take half of the time again.
    pair_x, pair_y, pair_w = grid_x.pair, grid_y.pair, grid_w.pair
    counts, sums = out
    points, slope, slack = index.points, index.slope, index.slack
    numbers, totals = np.empty(len(triangles), np.int64), np.zeros((len(triangles), 3))
    perhaps, surely, scratch = new_scratch(index.rows.shape[1], points.shape[1])
    found = scratch[1]
    for triangle in range(len(triangles)):
        corners = triangles[triangle]
        shape, edges = outline(corners, slope, slack), edges_of(corners)
        pieces, blocks, doubt = follow(shape, index, perhaps, surely)
        near = find_near(corners, edges, doubt, points, perhaps, pieces, scratch)
        number = near
        for block in range(blocks):
            number += surely[block, 1] - surely[block, 0]
        numbers[triangle] = number
        if pair_x.scale > 0.0:
            totals[triangle, 0] = _sum_of_pairs(0, pair_x, points, weights, prefix, surely, blocks, found, near)
        elif len(grid_x.worth):
            totals[triangle, 0] = _sum_of_words(0, grid_x, points, weights, prefix, surely, blocks, found, near)
        if pair_y.scale > 0.0:
            totals[triangle, 1] = _sum_of_pairs(1, pair_y, points, weights, prefix, surely, blocks, found, near)
        elif len(grid_y.worth):
            totals[triangle, 1] = _sum_of_words(1, grid_y, points, weights, prefix, surely, blocks, found, near)
        if single:
            totals[triangle, 2] = number
        elif pair_w.scale > 0.0:
            totals[triangle, 2] = _sum_of_pairs(2, pair_w, points, weights, prefix, surely, blocks, found, near)
        elif len(grid_w.worth):
            totals[triangle, 2] = _sum_of_words(2, grid_w, points, weights, prefix, surely, blocks, found, near)
    # Results are written all at once: far-off writes in the loop above would hold it up.
    for triangle, place in enumerate(places):
        counts[place] = numbers[triangle]
        sums[place, 0], sums[place, 1], sums[place, 2] = totals[triangle, 0], totals[triangle, 1], totals[triangle, 2]


@kernel
def list_inside(chosen: Chosen, index: Rows, names: Integers, offsets: NDArray[np.int64], members: Integers) -> None:
    """Names of the targets inside each chosen triangle, written to members from the offset of its place on."""
    triangles, places = chosen
    points, slope, slack = index.points, index.slope, index.slack
    perhaps, surely, scratch = new_scratch(index.rows.shape[1], points.shape[1])
    found = scratch[1]
    for triangle in range(len(triangles)):
        corners = triangles[triangle]
        shape, edges = outline(corners, slope, slack), edges_of(corners)
        pieces, blocks, doubt = follow(shape, index, perhaps, surely)
        place = offsets[places[triangle]]
        for block in range(blocks):
            for target in range(surely[block, 0], surely[block, 1]):
                members[place] = names[target]
                place += 1
        for k in range(find_near(corners, edges, doubt, points, perhaps, pieces, scratch)):
            members[place] = names[found[k]]
            place += 1
