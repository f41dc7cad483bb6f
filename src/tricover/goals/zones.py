"""Goals among zones: the free cell that an agent can get to, whose centre is nearest to its goal point.

This is the one definition of where an agent goes that walks around zones: decisions use it, and so does the desired
configuration. A team that stands still stands there, to the bit.

Which cells an agent can get to depends on where it is, if zones cut its triangle in two. So a desired configuration is
that of a team at given places. Where these are not known, every free cell counts as reachable.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.geometry import CellGrid, Zones
from tricover.geometry._outcomes import CUT_OFF, HELD, SLACK, UNTOUCHED
from tricover.goals.rules import cell_points, goal_cells

__all__ = ["CUT_OFF", "HELD", "TOUCHING", "UNTOUCHED", "desired_points"]

Floats = NDArray[np.float64]

TOUCHING = SLACK
"""Of a way's largest coordinate: how near to a zone it counts as meeting it."""


def desired_points(places: Floats | None, triangles: Floats, points: Floats, grid: CellGrid, zones: Zones) -> Floats:
    """Where agents at places (A, 2) end up, (A, 2), with goal points (A, 2) in triangles (A, 3, 2) that stay.

    An agent that holds stays at its place. One without a place whose triangle has no free cell gets the centre of the
    goal cell, though nobody can be there.
    """
    cells = goal_cells(points, triangles, grid)
    status, _, _, goals = zones.goals(places, triangles, points, grid).T
    free = (status != UNTOUCHED) & (goals >= 0)
    found = cell_points(np.where(free, goals, cells), triangles, grid)
    if places is not None:
        held = np.flatnonzero(status == HELD)
        found[held] = places[held]
    return found
