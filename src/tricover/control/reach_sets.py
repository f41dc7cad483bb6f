"""Reach sets P_i: the triangles in which agents are asked to land (paper, Assumptions 2 and 3).

A reach set is edge-aligned with a triangle c_0 c_1 c_2 and strictly inside it: the points whose barycentric coordinates
in that triangle are all at least η, the ``margin``. Its corners are

    p_k = (1 - 3η) c_k + η (c_0 + c_1 + c_2),   0 ≤ η < 1/3,

that is, the triangle shrunk towards its centroid by 1 - 3η. The triangle is the next cell for an agent inside its
communication triangle (Assumption 3), and the communication triangle itself for one outside (Assumption 2). Section VI
of the paper asks for η = 0.05 without saying in which triangle it is measured; here it is the triangle that the
assumption names. So the weights α_{i,j} of an agent that was outside are at least η, and those of an agent inside at
least η/M, where M is the resolution.

A single point is a reach set with three equal corners.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.control.decision import Decision
from tricover.control.told import Told
from tricover.control.view import View
from tricover.geometry import OUTSIDE, CellGrid, combine

__all__ = ["inset", "points_as_sets", "reach_sets_of"]

Floats = NDArray[np.float64]


def reach_sets_of(view: View, told: Told, decision: Decision) -> Floats:
    """P_i (A, 3, 2): the sets in which agents are to land, by their decisions."""
    sets = points_as_sets(decision.setpoints)
    if decision.cells is None:
        return sets
    state, goal, next_cell = decision.cells
    inside = np.flatnonzero(next_cell >= 0)
    sets[inside] = _in_cells(next_cell[inside], view.heard[inside], told.grid, told.margin)
    outside = np.flatnonzero((state == OUTSIDE) & (goal != OUTSIDE) & (next_cell == OUTSIDE))
    sets[outside] = inset(view.heard[outside], told.margin)
    return sets


def inset(triangles: Floats, margin: float) -> Floats:
    """Triangles (…, 3, 2) shrunk so that they keep the barycentric distance ``margin`` from their edges.

    >>> inset(np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]]), 0.05).round(9).tolist()
    [[0.3, 0.3], [5.4, 0.3], [0.3, 5.4]]
    """
    mean = (triangles[..., :1, :] + triangles[..., 1:2, :] + triangles[..., 2:, :]) / 3
    return np.asarray(mean + (1 - 3 * margin) * (triangles - mean))


def _in_cells(cells: NDArray[np.int64], triangles: Floats, grid: CellGrid, margin: float) -> Floats:
    """Reach sets (agents, 3, 2) within cells (agents,) of triangles (agents, 3, 2)."""
    corners = combine(grid.corners(cells), triangles[:, None])
    return inset(corners, margin)


def points_as_sets(points: Floats) -> Floats:
    """Single points (agents, 2) as reach sets (agents, 3, 2)."""
    return np.repeat(points[:, None], 3, axis=1)
