"""Forbidden cells and rough ones: what they are, and the moves to the goal around them (see ``cost``)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError, listed
from tricover.geometry import CellGrid
from tricover.mdp import _kernels
from tricover.mdp.problem import tables

__all__ = ["Graph", "as_forbidden", "as_terrain", "graph_of"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Graph(NamedTuple):
    """The cells by their moves to the goal, as ``Problem`` wants them."""

    levels: NDArray[np.int32]
    """(M²+1,)"""
    order: NDArray[np.uint32]
    """(M²,)"""
    ends: NDArray[np.uint32]
    """(levels,)"""
    neighbors: NDArray[np.uint32]
    """(M², 3)"""
    reaching: int
    """How many cells have a walk to the goal."""

    @property
    def farthest(self) -> int:
        """The most moves to the goal."""
        return int(self.levels[self.order[self.reaching - 1]])


def as_forbidden(grid: CellGrid, blocked: ArrayLike | None, goal: int) -> Flags | None:
    """Forbidden cells as a mask (M²,), from cells or a mask; None if there are none."""
    if blocked is None:
        return None
    given = np.asarray(blocked)
    if given.dtype == np.bool_:
        if given.shape != (len(grid),):
            raise InputError(f"a mask of blocked cells must have the shape ({len(grid)},), not {given.shape}")
        mask = given.copy()
    else:
        mask = np.zeros(len(grid), np.bool_)
        mask[grid.checked(given, "blocked cell").ravel()] = True
    if mask[goal]:
        raise InputError(f"goal cell {goal} is blocked: choose a free one")
    return mask if mask.any() else None


def as_terrain(grid: CellGrid, terrain: ArrayLike | None) -> Floats | None:
    """What cells cost besides the way to the goal, (M²,), checked."""
    if terrain is None:
        return None
    costs = np.array(terrain, dtype=np.float64)
    if costs.shape != (len(grid),):
        raise InputError(f"terrain must be {len(grid)} costs, one per cell, not shape {costs.shape}")
    wrong = np.flatnonzero(~((costs >= 0) & (costs < np.inf)))
    if wrong.size:
        raise InputError(
            f"the terrain of cell {listed(wrong)} is no cost: give numbers from 0 on; blocked forbids cells"
        )
    return costs


def graph_of(grid: CellGrid, goal: int, forbidden: Flags | None) -> Graph:
    """The cell graph without the forbidden cells, seen from the goal."""
    size, cells, table = grid.resolution, len(grid), tables(grid)
    if forbidden is None:
        levels, order = np.empty(cells + 1, np.int32), np.empty(cells, np.uint32)
        ends = np.empty(2 * size, np.uint32)
        _kernels.breadth_first(table.coordinates, goal, levels, order, ends)
        levels[cells] = 2 * size
        return Graph(levels, order, ends[:-1], table.neighbors, cells)
    moves = _moves_around(grid, goal, forbidden)
    reaching = moves >= 0
    last = int(moves.max())
    levels = np.append(np.where(reaching, moves, last + 1), last + 2).astype(np.int32)
    order = np.argsort(levels[:-1], kind="stable").astype(np.uint32)
    ends = np.cumsum(np.bincount(levels[:-1])).astype(np.uint32)
    open_ways = reaching[:, None] & np.append(reaching, False)[table.neighbors]
    neighbors = np.where(open_ways, table.neighbors, np.uint32(cells))
    return Graph(levels, order, ends, neighbors, int(reaching.sum()))


def _moves_around(grid: CellGrid, goal: int, forbidden: Flags) -> NDArray[np.int64]:
    """Moves (M²,) to the goal; -1 where no walk leads there."""
    from tricover.geometry._obstacles import floods, new_room

    room = new_room(grid.resolution, 0)
    room.forbidden[:] = forbidden
    floods(grid.neighbors, goal, -1, room)
    return room.levels
