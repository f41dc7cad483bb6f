"""Compiled loops: the next cell of agents among forbidden cells, for moves that always succeed and the default reward.

The optimal walks are the shortest ones around the forbidden cells (``cost``), so only cells count that are nearer to
the goal than the agent is. A flood from the goal lists them by level; one pass by level gives their values.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel
from tricover.geometry._obstacles import Room, new_room, plan
from tricover.geometry._outcomes import AROUND, CUT_OFF
from tricover.geometry._polygons import Field
from tricover.mdp._kernels import STAY, TIE, Ints, distance, frame

__all__ = ["move_around", "moves_around"]

Floats = NDArray[np.float64]
Cells = NDArray[np.int64]


@kernel
def move_around(
    neighbors: Cells, thirds: Ints, size: int, gamma: float, triangle: Floats, cell: int, room: Room, shaped: Floats
) -> int:
    """The next cell on the best shortest walk from ``cell`` to the goal, from which ``room`` was flooded."""
    levels, order = room.levels, room.order
    goal = order[0]
    if cell == goal:
        return cell
    _, x0, y0, x1, y1 = frame(triangle)
    g0, g1 = thirds[goal, 0], thirds[goal, 1]
    shaped[goal] = 0.0
    place = 1
    while True:
        here = order[place]
        cost = distance(thirds[here, 0] - g0, thirds[here, 1] - g1, x0, y0, x1, y1, size)
        best, slot = np.inf, STAY
        for k in range(3):
            other = neighbors[here, k]
            if other >= 0 and levels[other] == levels[here] - 1:
                best = min(best, cost + gamma * shaped[other])
        shaped[here] = best
        if here == cell:
            limit = best + TIE * (1 + best)
            for k in range(2, -1, -1):  # of ties the lowest slot
                other = neighbors[here, k]
                if other >= 0 and levels[other] == levels[here] - 1 and cost + gamma * shaped[other] <= limit:
                    slot = k
            return int(neighbors[here, slot])
        place += 1


@kernel
def moves_around(
    field: Field,
    neighbors: Cells,
    weights: Floats,
    thirds: Ints,
    size: int,
    gamma: float,
    places: Floats,
    triangles: Floats,
    points: Floats,
    first: int,
    last: int,
    found: Cells,
) -> None:
    """Rows (A, 4) of agents first … last: what zones mean for them (``_obstacles``), state, goal, and next cell.

    Where an agent does not stand in a free cell, the next cell is the one that it can get to.
    """
    room, shaped = new_room(size, len(field.boxes)), np.empty(size * size)
    for i in range(first, last):
        status, state, start, goal = plan(field, neighbors, weights, size, places[i], triangles[i], points[i], room)
        following = start
        if status in (AROUND, CUT_OFF) and state == start:
            following = move_around(neighbors, thirds, size, gamma, triangles[i], start, room, shaped)
        found[i, 0], found[i, 1], found[i, 2], found[i, 3] = status, state, goal, following
