"""Compiled kernels: the cells of a triangle that polygons forbid, walks between the others, and where these can lead.

With t = M·λ a polygon's corners get the coordinates of the cells (``cells``), where each row of cells is a strip. An
edge is cut by the strips it passes, and forbids the cells around each piece. Then a cell without an edge is wholly
inside a polygon or outside, as its centre is: lines through the centres of a row count how often they are crossed.

Cells within a slack of an edge are forbidden, too: it is far above what rounding can do to coordinates and positions,
so that an agent in a free cell is outside every polygon, to the last bit.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel, typed
from tricover.geometry._outcomes import AROUND, CUT_OFF, HELD, SLACK, UNTOUCHED
from tricover.geometry._polygons import Field, first_near, holding, hull_free, list_near, near_box
from tricover.geometry._triangles import cell_of, is_flat, weigh

__all__ = ["Found", "Room", "floods", "forbid", "new_room", "plan", "settle"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_NO_END = typed(-1)  # of a flood: on to the last cell
_CELL_SLACK = 512 * 2.220446049250313e-16  # SLACK in cells, before it is scaled to the triangle


class Found(NamedTuple):
    """What zones mean for an agent, and the cells that follow from it; -1 where there is none."""

    status: int
    state: int
    """The cell in which it stands."""
    start: int
    """The free cell from which it walks: that in which it stands, or one to which the way is free."""
    goal: int
    """Where it walks to."""


class Room(NamedTuple):
    """Room to work in, for one agent after another at a resolution."""

    forbidden: Flags
    """(M²,)"""
    crossed: Flags
    """(M²,) all False between two polygons."""
    levels: Ints
    """(M²,) moves from where a flood began; -1 beyond it."""
    order: Ints
    """(M²,) cells by level."""
    corners: Floats
    """(3, 2) of a cell."""
    zones: Ints
    """(Z,) the polygons near an agent."""


@kernel
def new_room(size: int, zones: int) -> Room:
    """Room for a resolution, and so many polygons."""
    cells = size * size
    flags, ints = np.zeros((2, cells), np.bool_), np.zeros((2, cells), np.int64)
    return Room(flags[0], flags[1], ints[0], ints[1], np.empty((3, 2)), np.empty(zones, np.int64))


@kernel
def _part(u: float, v: float, low: float, high: float, start: float, end: float) -> tuple[float, float]:
    """The shares, of those from start to end, in which the way from u to v is between low and high."""
    change = v - u
    if change != 0.0:
        one, other = (low - u) / change, (high - u) / change
        start, end = max(start, min(one, other)), min(end, max(one, other))
    elif u < low or u > high:
        end = -1.0
    return start, end


@kernel
def _forbid_edge(u0: float, u1: float, v0: float, v1: float, size: int, slack: float, forbidden: Flags) -> None:
    """Forbid the cells that an edge comes within ``slack`` of, in cells; its ends have coordinates 0 and 1."""
    u2, v2 = size - u0 - u1, size - v0 - v1
    if max(u0, v0) < -slack or max(u1, v1) < -slack or max(u2, v2) < -slack:
        return
    first = int(max(0.0, np.floor(min(u0, v0) - slack)))
    last = int(min(size - 1.0, np.floor(max(u0, v0) + slack)))
    for i in range(first, last + 1):
        start, end = _part(u0, v0, i - slack, i + 1 + slack, 0.0, 1.0)
        if start > end:
            continue
        one, other = u1 + start * (v1 - u1), u1 + end * (v1 - u1)
        left = int(max(0.0, np.floor(min(one, other) - slack)))
        right = int(min(size - 1.0 - i, np.floor(max(one, other) + slack)))
        row = size - 1 - i
        for j in range(left, right + 1):
            # What is in this strip and in the one across: an up cell, and below coordinate k the down cell.
            begin, stop = _part(u1, v1, j - slack, j + 1 + slack, start, end)
            if begin > stop:
                continue
            one, other = u2 + begin * (v2 - u2), u2 + stop * (v2 - u2)
            k = size - 1 - i - j
            if max(one, other) >= k - slack:
                forbidden[row * row + 2 * j] = True
            if k > 0 and min(one, other) <= k + slack:
                forbidden[row * row + 2 * j + 1] = True


@kernel
def _cross_lines(u0: float, u1: float, v0: float, v1: float, size: int, crossed: Flags) -> None:
    """Note, in each row, from which centre on an edge has been crossed, coming from the left."""
    low, high = min(u0, v0), max(u0, v0)
    first, last = int(max(0.0, np.floor(low))), int(min(size - 1.0, np.floor(high)))
    for i in range(first, last + 1):
        row = size - 1 - i
        for down in range(2):
            third = (1 + down) / 3
            height = i + third
            if (u0 <= height) == (v0 <= height):
                continue
            at = u1 + (height - u0) / (v0 - u0) * (v1 - u1)
            j = int(max(0.0, min(float(size), np.floor(at - third) + 1)))
            if j <= row - down:
                crossed[row * row + 2 * j + down] ^= True


@kernel
def forbid(field: Field, zones: Ints, triangle: Floats, size: int, room: Room) -> int:
    """Mark the cells of a triangle that some polygons touch in ``room.forbidden``; returns how many there are."""
    forbidden, crossed = room.forbidden, room.crossed
    forbidden[:] = False
    cx, cy = triangle[2, 0], triangle[2, 1]
    x0, y0 = triangle[0, 0] - cx, triangle[0, 1] - cy
    x1, y1 = triangle[1, 0] - cx, triangle[1, 1] - cy
    area = x0 * y1 - x1 * y0
    largest = np.abs(triangle).max()
    side = max(abs(x0) + abs(y0), abs(x1) + abs(y1))
    edge = SLACK * largest
    left, right = triangle[:, 0].min() - edge, triangle[:, 0].max() + edge
    low, high = triangle[:, 1].min() - edge, triangle[:, 1].max() + edge
    for zone in zones:
        box = field.boxes[zone]
        if right < box[0] or left > box[2] or high < box[1] or low > box[3]:
            continue
        first, last = field.starts[zone], field.starts[zone + 1]
        far = max(max(abs(box[0] - cx), abs(box[2] - cx)), max(abs(box[1] - cy), abs(box[3] - cy)))
        # What rounding of coordinates can do to t: its size over the least height of the triangle.
        slack = size * _CELL_SLACK * 2 * side * (far + side + largest) / abs(area)
        x, y = field.corners[last - 1, 0] - cx, field.corners[last - 1, 1] - cy
        v0, v1 = size * ((x * y1 - y * x1) / area), size * ((x0 * y - y0 * x) / area)
        lowest, highest = v0, v0
        for corner in range(first, last):
            x, y = field.corners[corner, 0] - cx, field.corners[corner, 1] - cy
            u0, u1 = size * ((x * y1 - y * x1) / area), size * ((x0 * y - y0 * x) / area)
            lowest, highest = min(lowest, u0), max(highest, u0)
            _forbid_edge(u0, u1, v0, v1, size, slack, forbidden)
            _cross_lines(u0, u1, v0, v1, size, crossed)
            v0, v1 = u0, u1
        # Inside is what an odd number of edges lies left of.
        for i in range(int(max(0.0, np.floor(lowest))), int(min(size - 1.0, np.floor(highest))) + 1):
            row = size - 1 - i
            for down in range(2):
                inside = False
                for cell in range(row * row + down, row * row + 2 * row + 1, 2):
                    inside ^= crossed[cell]
                    crossed[cell] = False
                    forbidden[cell] |= inside
    return int(forbidden.sum())


@kernel
def floods(neighbors: Ints, start: int, until: int, room: Room) -> int:
    """Moves from ``start`` to every cell, around the forbidden ones; returns how many were reached.

    It ends when all cells nearer than ``until`` are known, and this one; -1: when there are no more.
    """
    forbidden, levels, order = room.forbidden, room.levels, room.order
    levels[:] = -1
    levels[start], order[0] = 0, start
    count, place = 1, 0
    while place < count:
        cell = order[place]
        if cell == until:
            break
        for slot in range(3):
            other = neighbors[cell, slot]
            if other >= 0 and levels[other] < 0 and not forbidden[other]:
                levels[other] = levels[cell] + 1
                order[count] = other
                count += 1
        place += 1
    return count


@kernel
def _cell_corners(cell: int, size: int, triangle: Floats, out: Floats) -> None:
    """The corners (3, 2) of a cell."""
    row = int(np.sqrt(cell))
    while row * row > cell:
        row -= 1
    while (row + 1) * (row + 1) <= cell:
        row += 1
    place = cell - row * row
    j, down = place // 2, place % 2
    i = size - 1 - row
    k = row - j - down
    for corner in range(3):
        a = i + ((corner != 0) if down else (corner == 0))
        b = j + ((corner != 1) if down else (corner == 1))
        c = k + ((corner != 2) if down else (corner == 2))
        for axis in range(2):
            out[corner, axis] = (a * triangle[0, axis] + b * triangle[1, axis] + c * triangle[2, axis]) / size


@kernel
def _away(weights: Floats, cell: int, triangle: Floats, x: float, y: float) -> float:
    """Squared distance of a cell's centre to a point."""
    a, b, c = weights[cell, 0], weights[cell, 1], weights[cell, 2]
    dx = a * triangle[0, 0] + b * triangle[1, 0] + c * triangle[2, 0] - x
    dy = a * triangle[0, 1] + b * triangle[1, 1] + c * triangle[2, 1] - y
    return float(dx * dx + dy * dy)


@kernel
def _nearest(weights: Floats, triangle: Floats, x: float, y: float, reached: bool, room: Room) -> int:
    """The free cell whose centre is nearest to a point, the lowest of equals; among those that a flood reached, or all.

    -1 if there is none.
    """
    best, found = np.inf, -1
    for cell in range(len(weights)):
        if room.forbidden[cell] or (reached and room.levels[cell] < 0):
            continue
        away = _away(weights, cell, triangle, x, y)
        if away < best:
            best, found = away, cell
    return found


@kernel
def _way_in(
    field: Field, zones: Ints, weights: Floats, size: int, x: float, y: float, triangle: Floats, goal: int, room: Room
) -> int:
    """A free cell to which the way from a point is free wherever the agent lands in it; -1 if there is none.

    The goal cell if its way is free; else the cell whose centre is nearest to the point. One who is in a polygon is to
    leave it: to the nearest free cell, whatever lies between.
    """
    slack = SLACK * max(max(abs(x), abs(y)), np.abs(triangle).max())
    for zone in zones:
        if holding(field, zone, x, y):
            return _nearest(weights, triangle, x, y, False, room)
    if goal >= 0:
        _cell_corners(goal, size, triangle, room.corners)
        if hull_free(field, zones, x, y, room.corners, slack):
            return goal
    best, found = np.inf, -1
    for cell in range(len(weights)):
        if room.forbidden[cell]:
            continue
        away = _away(weights, cell, triangle, x, y)
        if away < best:
            _cell_corners(cell, size, triangle, room.corners)
            if hull_free(field, zones, x, y, room.corners, slack):
                best, found = away, cell
    return found


@kernel
def plan(
    field: Field,
    neighbors: Ints,
    weights: Floats,
    size: int,
    place: Floats,
    triangle: Floats,
    point: Floats,
    room: Room,
) -> Found:
    """What zones mean for an agent at ``place`` (2,), with its triangle (3, 2) and goal point (2,).

    A place that is NaN is anywhere: then every free cell can be reached. In ``room``, a flood from the goal is left
    behind where the agent walks (status 1 or 2).
    """
    if not np.isfinite(triangle).all():  # of one who has not heard everybody
        return Found(UNTOUCHED, -1, -1, -1)
    x, y, anywhere = place[0], place[1], np.isnan(place[0])
    largest = max(np.abs(triangle).max(), 0.0 if anywhere else max(abs(x), abs(y)))
    slack = SLACK * largest
    x0, x1 = triangle[:, 0].min() - slack, triangle[:, 0].max() + slack
    y0, y1 = triangle[:, 1].min() - slack, triangle[:, 1].max() + slack
    if not anywhere:
        x0, x1, y0, y1 = min(x0, x - slack), max(x1, x + slack), min(y0, y - slack), max(y1, y + slack)
    if not near_box(field, x0, y0, x1, y1):
        return Found(UNTOUCHED, -1, -1, -1)
    if is_flat(triangle):  # without cells: it goes to its goal point, or not
        held = not anywhere and first_near(field, x, y, point[0], point[1], slack) >= 0
        return Found(HELD if held else UNTOUCHED, -1, -1, -1)
    zones = room.zones[: list_near(field, x0, y0, x1, y1, room.zones)]
    state = -1
    if not anywhere:
        a, b, _ = weigh(x, y, triangle)
        state = cell_of(a, b, size)
    untouched = forbid(field, zones, triangle, size, room) == 0
    if untouched and (anywhere or state >= 0 or hull_free(field, zones, x, y, triangle, slack)):
        return Found(UNTOUCHED, -1, -1, -1)
    # The cell of the goal point, as ``CellGrid.holding`` finds it.
    a, b, c = weigh(point[0], point[1], triangle)
    a, b, c = max(a, 0.0), max(b, 0.0), max(c, 0.0)
    wanted = cell_of(a / (a + b + c), b / (a + b + c), size)
    goal = wanted
    if room.forbidden[wanted]:
        goal = _nearest(weights, triangle, point[0], point[1], False, room)
    start = state
    if anywhere:
        start = goal
    elif state < 0 or room.forbidden[state]:
        start = _way_in(field, zones, weights, size, x, y, triangle, goal, room)
    if start < 0:
        return Found(HELD, state, -1, -1)
    floods(neighbors, goal, start, room)
    if room.levels[start] >= 0:
        return Found(AROUND, state, start, goal)
    # There is no way to it: as near as there is one.
    floods(neighbors, start, _NO_END, room)
    goal = _nearest(weights, triangle, point[0], point[1], True, room)
    floods(neighbors, goal, start, room)
    return Found(AROUND if room.forbidden[wanted] else CUT_OFF, state, start, goal)


@kernel
def settle(
    field: Field,
    neighbors: Ints,
    weights: Floats,
    size: int,
    places: Floats,
    triangles: Floats,
    points: Floats,
    first: int,
    last: int,
    found: Ints,
) -> None:
    """``plan`` of agents first … last: rows of (A, 4) status, state, start and goal."""
    room = new_room(size, len(field.boxes))
    for i in range(first, last):
        status, state, start, goal = plan(field, neighbors, weights, size, places[i], triangles[i], points[i], room)
        found[i, 0], found[i, 1], found[i, 2], found[i, 3] = status, state, start, goal
