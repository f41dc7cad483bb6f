"""One move of many agents around zones: forbidden cells, goals that can be reached, the optimal policy between them.

Agents whose triangle no zone touches are left to ``next_moves``; they cost one look at a table. For each of the others
the cells that zones touch are forbidden, and its process is solved as far as it needs: what comes out is, to the bit,
what ``LocalMDP(…, blocked=cells)`` gives for the whole triangle.

A move between two free cells that share an edge is free: each is the other turned by half a turn around the middle of
that edge, so together they are a parallelogram, which is convex, and which no zone touches. So an agent that stands in
a free cell of the triangle it hears stays out of every zone: wherever it lands in the next cell, and on the way there.
The triangle may move on meanwhile: the way does not.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.geometry import CellGrid, Zones
from tricover.geometry._outcomes import AROUND, CUT_OFF
from tricover.mdp import _around
from tricover.mdp.problem import tables
from tricover.mdp.process import LocalMDP
from tricover.threads import in_ranges

__all__ = ["Around", "moves_around"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Around(NamedTuple):
    """What zones mean for agents, (A,) each; cells are -1 where there are none, and where zones mean nothing."""

    status: Ints
    """UNTOUCHED, AROUND, CUT_OFF or HELD: see ``geometry._outcomes``."""
    state: Ints
    """Where they stand."""
    goal: Ints
    """Where they go: a free cell that they can get to."""
    next: Ints
    """Where they go next."""


def moves_around(
    zones: Zones,
    grid: CellGrid,
    places: Floats,
    triangles: Floats,
    points: Floats,
    *,
    alpha: float = 1.0,
    beta: float | None = None,
    gamma: float = 0.95,
) -> Around:
    """The next cells of agents at places (A, 2), with triangles (A, 3, 2) and goal points (A, 2), around zones."""
    found = np.empty((len(places), 4), np.int64)
    table = zones.field, grid.neighbors, grid.weights, tables(grid).thirds, grid.resolution, float(gamma)
    agents = (_read_only(places), _read_only(triangles), _read_only(points))
    in_ranges(lambda first, last: _around.moves_around(*table, *agents, first, last, found), len(found), smallest=256)
    status, state, goal, following = found.T
    if beta is not None:  # walks that need not be shortest: the whole triangle has to be solved
        walking = ((status == AROUND) | (status == CUT_OFF)) & (state >= 0)
        for row in np.flatnonzero(walking).tolist():
            blocked = zones.cells(triangles[row : row + 1], grid)[0]
            if not blocked[state[row]]:
                mdp = LocalMDP(grid, triangles[row], int(goal[row]), alpha, beta, gamma, blocked=blocked)
                following[row] = mdp.solve().policy[state[row]]
    return Around(status, state, goal, following)


def _read_only(array: Floats) -> Floats:
    """The same array in one form, whoever hands it over: the kernel is compiled for one form only."""
    view = np.ascontiguousarray(array, dtype=np.float64).view()
    view.flags.writeable = False
    return view
