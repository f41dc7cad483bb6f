"""Kernels of ``clearance``: who may go where, one agent after another.

Everybody is filed by where it stands, in square tiles. Who moves is filed in every tile that its way comes to. An agent
looks only into the tiles that come within the distance to be kept of its own way.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel
from tricover.geometry._polygons import apart_by, to_segment

__all__ = ["Moves", "take_turns"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_UNDECIDED, _STAYS, _MOVES = 0, 1, 2  # status of an agent
_FREE, _PASSING, _STANDING = 0, 1, 2  # a way is free, or blocked by one who moves, or by one who stands


class Moves(NamedTuple):
    """What agents would like to do.

    Attributes:
        positions: where they stand, (N, 2).
        points: where they may go, (N, OPTIONS, 2), the preferred ones first; NaN where there is none.
        radii: how far from the first of these they may land, (N,).
        own: how many of the options are for one's own sake, (N,); the others make room for others.
        aside: the first option beside the straight way.
        apart: the distance to be kept, in metres.
        together: whether all are at the same share of their ways at any time.
    """

    positions: Floats
    points: Floats
    radii: Floats
    own: Ints
    aside: int
    apart: float
    together: bool


class _Turns(NamedTuple):
    """Who has decided: the option taken (N,), the status (N,), and for whom an agent is asked to make room (N,)."""

    taken: Ints
    status: Ints
    yields_to: Ints


class _Tiles(NamedTuple):
    """Square tiles, and the first entry of each one's list."""

    low_x: float
    low_y: float
    size: float
    columns: int
    rows: int
    heads: Ints


class _Entries(NamedTuple):
    """Entries of the tiles' lists: the agent, and the next entry."""

    agents: Ints
    following: Ints


@kernel
def _gap(px: float, py: float, vx: float, vy: float, widening: float) -> float:
    """The least of |p + s·v| - s·widening over 0 ≤ s ≤ 1: of two that land within ``widening`` of where they are sent.

    The function is convex. Where its slope is 0, u = p·v + s·|v|² is widening·√(D / (|v|² - widening²)), with
    D = |p|²|v|² - (p·v)².
    """
    squared, along, speed = px * px + py * py, px * vx + py * vy, vx * vx + vy * vy
    if speed <= widening * widening:
        share = 1.0 if speed > 0.0 or widening > 0.0 else 0.0
    else:
        across = max(squared * speed - along * along, 0.0)
        share = (widening * np.sqrt(across / (speed - widening * widening)) - along) / speed
        share = min(max(share, 0.0), 1.0)
    return float(np.hypot(px + share * vx, py + share * vy)) - share * widening


@kernel
def _span(ax: float, ay: float, bx: float, by: float, low: float, high: float, wide: float) -> tuple[float, float]:
    """The x, from and to, of all points within ``wide`` (at most) of a straight way in the strip low ≤ y ≤ high."""
    left, right = min(ax, bx), max(ax, bx)
    if ay != by:
        first, last = (low - wide - ay) / (by - ay), (high + wide - ay) / (by - ay)
        if first > last:
            first, last = last, first
        first, last = min(max(first, 0.0), 1.0), min(max(last, 0.0), 1.0)
        one, other = ax + first * (bx - ax), ax + last * (bx - ax)
        left, right = min(one, other), max(one, other)
    return left - wide, right + wide


@kernel
def _tiles_of(moves: Moves, order: Ints) -> _Tiles:
    """About one tile for each agent, and none smaller than the distance to be kept."""
    low_x, low_y, high_x, high_y = np.inf, np.inf, -np.inf, -np.inf
    for i in order:
        low_x, high_x = min(low_x, moves.positions[i, 0]), max(high_x, moves.positions[i, 0])
        low_y, high_y = min(low_y, moves.positions[i, 1]), max(high_y, moves.positions[i, 1])
        for option in range(moves.points.shape[1]):
            x, y = moves.points[i, option, 0], moves.points[i, option, 1]
            if np.isfinite(x) and np.isfinite(y):
                low_x, high_x = min(low_x, x), max(high_x, x)
                low_y, high_y = min(low_y, y), max(high_y, y)
    wide, tall = high_x - low_x, high_y - low_y
    size = max(moves.apart, np.sqrt(wide * tall / len(order)), max(wide, tall) / 4096)
    columns, rows = int(wide / size) + 1, int(tall / size) + 1
    return _Tiles(low_x, low_y, size, columns, rows, np.full(columns * rows, -1, np.int64))


@kernel
def _row_range(tiles: _Tiles, one: float, other: float, wide: float) -> tuple[int, int]:
    """Rows that come within ``wide`` of the y between one and the other: first, and one beyond the last."""
    first = max(int((min(one, other) - wide - tiles.low_y) / tiles.size), 0)
    last = min(int((max(one, other) + wide - tiles.low_y) / tiles.size), tiles.rows - 1)
    return first, last + 1


@kernel
def _column_range(tiles: _Tiles, row: int, ax: float, ay: float, bx: float, by: float, wide: float) -> tuple[int, int]:
    """Columns of a row that come within ``wide`` of a straight way: first, and one beyond the last."""
    low = tiles.low_y + row * tiles.size
    left, right = _span(ax, ay, bx, by, low, low + tiles.size, wide)
    first = max(int((left - tiles.low_x) / tiles.size), 0)
    last = min(int((right - tiles.low_x) / tiles.size), tiles.columns - 1)
    return first, last + 1


@kernel
def _look(moves: Moves, turns: _Turns, tiles: _Tiles, entries: _Entries, i: int, option: int) -> int:
    """Whether the way to an option is free. Of those who stand before the preferred one, the undecided make room."""
    x, y = moves.positions[i, 0], moves.positions[i, 1]
    cx, cy = moves.points[i, option, 0], moves.points[i, option, 1]
    radius = moves.radii[i] if option == 0 else 0.0
    wide, found = moves.apart + radius, _FREE
    first_row, end_row = _row_range(tiles, y, cy, wide)
    for row in range(first_row, end_row):
        first, end = _column_range(tiles, row, x, y, cx, cy, wide)
        for column in range(first, end):
            entry = tiles.heads[row * tiles.columns + column]
            while entry >= 0:
                j = entries.agents[entry]
                entry = entries.following[entry]
                if j == i:
                    continue
                dx, dy = x - moves.positions[j, 0], y - moves.positions[j, 1]
                vx, vy, widening = cx - x, cy - y, radius
                ux, uy, theirs = 0.0, 0.0, turns.taken[j]
                if turns.status[j] == _MOVES:
                    ux, uy = moves.points[j, theirs, 0] - moves.positions[j, 0], moves.points[j, theirs, 1]
                    uy -= moves.positions[j, 1]
                    widening += moves.radii[j] if theirs == 0 else 0.0
                if moves.together:
                    gap = _gap(dx, dy, vx - ux, vy - uy, widening)
                else:
                    gap = apart_by(dx, dy, dx + vx, dy + vy, 0.0, 0.0, ux, uy) - widening
                if gap >= min(moves.apart, np.hypot(dx, dy)):
                    continue
                if turns.status[j] == _MOVES:
                    found = max(found, _PASSING)
                    continue
                found = _STANDING
                if option == 0 and turns.status[j] == _UNDECIDED and turns.yields_to[j] < 0:
                    turns.yields_to[j] = i
    return found


@kernel
def _makes_room(moves: Moves, i: int, option: int, j: int) -> bool:
    """Whether an option of i leaves the way free that j would like to go."""
    x, y = moves.points[i, option, 0], moves.points[i, option, 1]
    ax, ay = moves.positions[j, 0], moves.positions[j, 1]
    return to_segment(x, y, ax, ay, moves.points[j, 0, 0], moves.points[j, 0, 1]) >= moves.apart


@kernel
def _choose(moves: Moves, turns: _Turns, tiles: _Tiles, entries: _Entries, i: int) -> int:
    """The option that an agent takes; -1: none, it stays."""
    asked_by = turns.yields_to[i]
    if asked_by >= 0:
        for option in range(moves.points.shape[1]):
            there = np.isfinite(moves.points[i, option, 0])
            makes_room = there and _makes_room(moves, i, option, asked_by)
            if makes_room and _look(moves, turns, tiles, entries, i, option) == _FREE:
                return option
    first = _look(moves, turns, tiles, entries, i, 0)
    if first == _FREE:
        return 0
    # Whoever is in the way and moves will be gone: a shorter way will do, or waiting.
    end = moves.own[i] if first == _STANDING else moves.aside
    for option in range(1, end):
        there = np.isfinite(moves.points[i, option, 0])
        if there and _look(moves, turns, tiles, entries, i, option) == _FREE:
            return option
    return -1


@kernel
def _longer(entries: _Entries) -> _Entries:
    """Room for twice as many entries."""
    more = np.empty(len(entries.agents), np.int64)
    return _Entries(np.concatenate((entries.agents, more)), np.concatenate((entries.following, more)))


@kernel
def take_turns(moves: Moves, order: Ints) -> NDArray[np.int64]:
    """Which option (N,) each agent takes, in this order; -1: it stays, as do all who are not in the order."""
    agents = len(moves.positions)
    turns = _Turns(np.full(agents, -1), np.full(agents, _STAYS), np.full(agents, -1))
    turns.status[order] = _UNDECIDED
    tiles = _tiles_of(moves, order)
    entries, used = _Entries(np.empty(2 * len(order), np.int64), np.empty(2 * len(order), np.int64)), 0
    for i in order:
        column = int((moves.positions[i, 0] - tiles.low_x) / tiles.size)
        place = int((moves.positions[i, 1] - tiles.low_y) / tiles.size) * tiles.columns + column
        entries.agents[used], entries.following[used] = i, tiles.heads[place]
        tiles.heads[place], used = used, used + 1
    for i in order:
        option = _choose(moves, turns, tiles, entries, i)
        turns.taken[i], turns.status[i] = option, _STAYS
        if option < 0:
            continue
        x, y = moves.positions[i, 0], moves.positions[i, 1]
        cx, cy = moves.points[i, option, 0], moves.points[i, option, 1]
        radius = moves.radii[i] if option == 0 else 0.0
        if cx == x and cy == y and radius == 0.0:
            continue
        turns.status[i] = _MOVES
        # In the tile where it stands it is filed twice, which does no harm.
        first_row, end_row = _row_range(tiles, y, cy, radius)
        for row in range(first_row, end_row):
            first, end = _column_range(tiles, row, x, y, cx, cy, radius)
            for column in range(first, end):
                if used == len(entries.agents):
                    entries = _longer(entries)
                place = row * tiles.columns + column
                entries.agents[used], entries.following[used] = i, tiles.heads[place]
                tiles.heads[place], used = used, used + 1
    return turns.taken
