"""Kernels of the goal rules: means, the density of an agent's targets, and the search for the best place.

A list holds the targets that one agent sees, those in its own closed triangle, in the order of ``lists``. Lists stand
one after another in a table (4, L) with the rows x, y, weight w_j and spread w_j/√f_j; f_j is the local density. One
list is the columns ``start`` … ``stop``. ``below`` (3,) are an agent's descendants in its child cells; child k has
the agent itself in the place of corner k.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import inlined, kernel
from tricover.geometry._triangles import doubled_area, is_flat

__all__ = [
    "INSET",
    "OWN",
    "SPREAD",
    "Rounds",
    "Seen",
    "Work",
    "make_work",
    "search",
    "search_all",
    "sector",
    "to_means",
    "turned",
]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

SPREAD = 5 / (18 * math.sqrt(3))
"""G: mean squared distance to the centre of a regular hexagon of area one. n agents leave about G (∫√f)²/n."""
# Constants were tuned on the teams and fields of ``benchmarks/coverage.py``; figures are changes of the mean cost.
OWN = 0.5  # agents: what a child's three corners add to its followers. 0.25 and 1: less than 2%
INSET = 0.01  # least weight of a place: on an edge it would flatten a child cell. 0.005 and 0.02: less than 0.1%
PER_CELL = 6  # targets in a cell, on average. 3 and 12: +0.3%, 24: +0.5%
MANY = 4096  # targets that are walked one by one; more are summarised. No list there is longer; 512: +0.6%
MOST = 64  # cells along a side: a summary has at most 64² points, as many as a list that is walked
LANES = 8  # places that the compiler works on at once: one vector. 16: 12 to 21% more time, 32: 40 to 54%


class Seen(NamedTuple):
    """What agents hear and see: triangles (A, 3, 2), and their lists of targets."""

    triangles: Floats
    offsets: Indices  # (A + 1,): where each list starts in the table
    targets: Floats  # (4, L): x, y, weight, and room for the spread


class Rounds(NamedTuple):
    """Rounds of moves in barycentric coordinates; each round starts from the best place of those before."""

    moves: Floats  # (K, 3), of all rounds
    starts: Indices  # (R + 1,): round r has the moves starts[r] … starts[r + 1]


class Work(NamedTuple):
    """Room that a search writes to."""

    lanes: Floats  # (6, P): x and y of the places, their costs, what each child cell has to cover
    cells: Floats  # (3, C): sums of w·x, w·y and w in the cells of a triangle
    summary: Floats  # (4, C): one point for each cell, as a list
    names: Indices  # (L,): the cell of each target


@kernel
def to_means(weights: Floats, triangles: Floats, first: int, last: int, sums: Floats) -> None:
    """From sums (A, 2) to means over weights (A,); a triangle without weight or area has the mean of its corners."""
    for i in range(first, last):
        counts = weights[i] > 0 and not is_flat(triangles[i])
        for axis in range(2):
            corners = triangles[i, 0, axis] + triangles[i, 1, axis] + triangles[i, 2, axis]
            sums[i, axis] = sums[i, axis] / weights[i] if counts else corners / 3


@kernel
def make_work(rounds: Rounds, longest: int) -> Work:
    """Room for the longest round of a search in the longest of some lists."""
    lanes = -(-np.diff(rounds.starts).max() // LANES) * LANES
    cells = _side(longest) ** 2
    return Work(np.empty((6, lanes)), np.empty((3, cells)), np.empty((4, cells)), np.empty(longest, np.int64))


# --- density ---------------------------------------------------------------------------------------------------------


@kernel
def _side(count: int) -> int:
    """How many cells a side of the triangle is cut into for so many targets."""
    return max(1, min(MOST, int(math.sqrt(count / PER_CELL))))


@kernel
def _fill_cells(corners: Floats, targets: Floats, start: int, stop: int, side: int, work: Work) -> None:
    """Sort a list into the side² cells of ``CellGrid``: the cell of each target, and the sums in each cell.

    Rounding may put a target outside of every cell: it goes to one nearby. A cell of a triangle without area is any.
    """
    ax, ay, bx, by, cx, cy = corners[0, 0], corners[0, 1], corners[1, 0], corners[1, 1], corners[2, 0], corners[2, 1]
    scale = side / ((bx - ax) * (cy - ay) - (by - ay) * (cx - ax))
    work.cells[:, : side * side] = 0.0
    for j in range(start, stop):
        x, y, weight = targets[0, j], targets[1, j], targets[2, j]
        # The first two barycentric coordinates, in cells. Their whole parts i and k name the cell: see ``CellGrid``.
        a = scale * ((bx - x) * (cy - y) - (by - y) * (cx - x))
        b = scale * ((cx - x) * (ay - y) - (cy - y) * (ax - x))
        i = min(max(int(a), 0), side - 1)
        k = min(max(int(b), 0), side - 1 - i)
        row = side - 1 - i
        down = k < row and a - i + (b - k) > 1.0
        cell = row * row + 2 * k + (1 if down else 0)
        work.names[j - start] = cell
        work.cells[0, cell] += weight * x
        work.cells[1, cell] += weight * y
        work.cells[2, cell] += weight


@kernel
def _cell_area(corners: Floats, side: int) -> float:
    """Area of a cell, in square metres."""
    return abs(doubled_area(corners)) / (2 * side * side)


@kernel
def _spread(corners: Floats, targets: Floats, start: int, stop: int, side: int, work: Work) -> None:
    """Write the spread of each target of a list: w_j/√f_j, where f_j is the weight in its cell over the cell's area."""
    area, roots = _cell_area(corners, side), work.cells[2]
    for cell in range(side * side):  # from weights to 1/√f: one root for a cell, not one for a target
        roots[cell] = math.sqrt(area / roots[cell]) if roots[cell] > 0.0 else 0.0
    for j in range(start, stop):
        targets[3, j] = targets[2, j] * roots[work.names[j - start]]


@kernel
def _summarise(corners: Floats, side: int, work: Work) -> int:
    """One point for each cell that has weight: its centroid, weight and spread; returns how many."""
    area, count = _cell_area(corners, side), 0
    for cell in range(side * side):
        weight = work.cells[2, cell]
        if weight > 0.0:
            work.summary[0, count] = work.cells[0, cell] / weight
            work.summary[1, count] = work.cells[1, cell] / weight
            work.summary[2, count] = weight
            work.summary[3, count] = math.sqrt(area * weight)
            count += 1
    return count


# --- prediction ------------------------------------------------------------------------------------------------------


@kernel
def turned(corners: Floats) -> Any:
    """Corners as numbers, and 1 if they run counter-clockwise, else -1."""
    ax, ay, bx, by, cx, cy = corners[0, 0], corners[0, 1], corners[1, 0], corners[1, 1], corners[2, 0], corners[2, 1]
    turn = 1.0 if (bx - ax) * (cy - ay) >= (by - ay) * (cx - ax) else -1.0
    return (ax, ay), (bx, by), (cx, cy), turn


@inlined
def sector(x: float, y: float, turned: Any, tx: float, ty: float) -> Any:
    """Whether a target is in child cell 0, and whether in 1, around the place (x, y): sectors between two corners."""
    (ax, ay), (bx, by), (cx, cy), turn = turned
    dx, dy = turn * (tx - x), turn * (ty - y)
    side_0 = (ax - x) * dy - (ay - y) * dx
    side_1 = (bx - x) * dy - (by - y) * dx
    side_2 = (cx - x) * dy - (cy - y) * dx
    return (side_1 >= 0.0) & (side_2 < 0.0), (side_2 >= 0.0) & (side_0 < 0.0)


# The loops over places are innermost and have no branches, so that the compiler works on several places at once. All
# places of a round share one pass over the targets.


@kernel
def _add_spread(x: float, y: float, spread: float, shape: Any, room: Floats, lanes: int) -> None:
    """Add a target to what its child cell has to cover, for each place."""
    xs, ys, zero, one, two = room[0], room[1], room[3], room[4], room[5]
    for place in range(lanes):
        in_0, in_1 = sector(xs[place], ys[place], shape, x, y)
        zero[place] += spread if in_0 else 0.0
        one[place] += spread if in_1 else 0.0
        two[place] += 0.0 if in_0 | in_1 else spread


@kernel
def _add_nearest(x: float, y: float, weight: float, below: Floats, shape: Any, room: Floats, lanes: int) -> None:
    """Add what a target costs in a child cell without followers, whose corners have to do, for each place."""
    xs, ys, costs = room[0], room[1], room[2]
    (ax, ay), (bx, by), (cx, cy), _ = shape
    a, b, c = (x - ax) ** 2 + (y - ay) ** 2, (x - bx) ** 2 + (y - by) ** 2, (x - cx) ** 2 + (y - cy) ** 2
    zero, one, two = min(b, c), min(a, c), min(a, b)
    of_0, of_1, of_2 = weight * (below[0] == 0.0), weight * (below[1] == 0.0), weight * (below[2] == 0.0)
    for place in range(lanes):
        in_0, in_1 = sector(xs[place], ys[place], shape, x, y)
        own = (x - xs[place]) ** 2 + (y - ys[place]) ** 2
        corner = zero if in_0 else one if in_1 else two
        costs[place] += (of_0 if in_0 else of_1 if in_1 else of_2) * (own if own < corner else corner)


@kernel
def _predict(corners: Floats, below: Floats, targets: Floats, start: int, stop: int, room: Floats, lanes: int) -> None:
    """What the subtree will cost with its top agent at each place, in summed squared distance.

    Rows of ``room`` (6, P): x and y of the places; their costs; what each child cell has to cover.
    """
    shape = turned(corners)
    room[2:] = 0.0
    if below.max() > 0.0:
        for j in range(start, stop):
            _add_spread(targets[0, j], targets[1, j], targets[3, j], shape, room, lanes)
    if below.min() == 0.0:
        for j in range(start, stop):
            _add_nearest(targets[0, j], targets[1, j], targets[2, j], below, shape, room, lanes)
    for k in range(3):
        if below[k] > 0.0:
            for place in range(lanes):
                room[2, place] += SPREAD * room[3 + k, place] ** 2 / (below[k] + OWN)


# --- search ----------------------------------------------------------------------------------------------------------


@kernel
def search(
    corners: Floats, below: Floats, targets: Floats, start: int, stop: int, rounds: Rounds, work: Work, place: Floats
) -> None:
    """The best place for a list, as weights (3,); a third each where no target has weight.

    What is done depends on this list alone, so that an agent finds the same by itself and in a batch.
    """
    place[:] = 1 / 3
    if not targets[2, start:stop].sum() > 0.0:
        return
    side = _side(stop - start)
    if stop - start > MANY:
        _fill_cells(corners, targets, start, stop, side, work)
        count = _summarise(corners, side, work)
        _descend(corners, below, work.summary, 0, count, rounds, work.lanes, place)
        return
    if below.max() > 0.0:  # nobody asks for the spread where nobody follows
        _fill_cells(corners, targets, start, stop, side, work)
        _spread(corners, targets, start, stop, side, work)
    _descend(corners, below, targets, start, stop, rounds, work.lanes, place)


@kernel
def _descend(
    corners: Floats, below: Floats, targets: Floats, start: int, stop: int, rounds: Rounds, room: Floats, place: Floats
) -> None:
    """Improve a place, coarse to fine: each round of moves starts from the best place of those before."""
    best, centre = np.inf, np.empty(3)
    for turn in range(len(rounds.starts) - 1):
        centre[:] = place
        first, count = rounds.starts[turn], rounds.starts[turn + 1] - rounds.starts[turn]
        lanes = -(-count // LANES) * LANES  # the last place again and again, up to a whole number of vectors
        for lane in range(lanes):
            move = rounds.moves[first + min(lane, count - 1)]
            a, b, c = centre[0] + move[0], centre[1] + move[1], centre[2] + move[2]
            room[0, lane] = a * corners[0, 0] + b * corners[1, 0] + c * corners[2, 0]
            room[1, lane] = a * corners[0, 1] + b * corners[1, 1] + c * corners[2, 1]
        _predict(corners, below, targets, start, stop, room, lanes)
        # The first of equal places is kept, so that no tie is left to chance.
        for lane in range(count):
            move = rounds.moves[first + lane]
            a, b, c = centre[0] + move[0], centre[1] + move[1], centre[2] + move[2]
            if room[2, lane] < best and min(a, b, c) >= INSET:
                best = room[2, lane]
                place[0], place[1], place[2] = a, b, c


@kernel
def search_all(below: Floats, seen: Seen, rounds: Rounds, first: int, last: int, places: Floats) -> None:
    """The predictive places (A, 3), as weights, of agents first … last with descendants below (A, 3)."""
    longest = 0
    for agent in range(first, last):
        longest = max(longest, seen.offsets[agent + 1] - seen.offsets[agent])
    work = make_work(rounds, longest)
    for agent in range(first, last):
        start, stop = seen.offsets[agent], seen.offsets[agent + 1]
        search(seen.triangles[agent], below[agent], seen.targets, start, stop, rounds, work, places[agent])
