"""The local step: what an agent knows ▶ its decision (paper, Section IV-B and Section VI).

An agent knows its own position, the positions of its three in-neighbours, the targets inside the triangle that these
form, and constants. From that follow its state s_i (a cell, or outside), the goal point h_i, the goal cell g_i that
holds it, the next cell π_i*(s_i), and the reach set P_i in which it is asked to land, with the setpoint c_i in it:

    motion   agent                   next cell               reach set
    reach    anywhere                the goal cell           the goal point itself: P_i = {h_i}
    walk     inside its triangle     by the optimal policy   within the next cell, with margin η
    walk     outside                 none (resolution 1)     within the triangle, around its centroid, with margin η
    both     triangle without area   none                    the mean of the in-neighbours

``decide`` takes a batch of agents, one row each, and no row looks at another: a real agent calls it with one row, a
simulator with all. A goal point on a cell's edge belongs to one cell, by the rule of ``CellGrid.locate``.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from tricover.control.reach_sets import in_cells, inset, points_as_sets
from tricover.geometry import OUTSIDE, CellGrid
from tricover.goals import LocalGoal, cell_points, goal_cells
from tricover.targets import Targets

__all__ = ["MOTIONS", "Constants", "Decision", "Motion", "View", "decide"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Motion: TypeAlias = Literal["reach", "walk"]
MOTIONS: tuple[Motion, ...] = get_args(Motion)


@dataclass(frozen=True, eq=False)
class View:
    """What followers know, one row each.

    Attributes:
        agents: their own numbers on the roster, (A,).
        positions: their own positions r_i, (A, 2), in metres.
        triangles: their in-neighbours' positions, (A, 3, 2), in the order of ``network.in_neighbors``.
        targets: what is sensed. Each row reads only the targets inside its own triangle, so an agent on its own
            passes those, and a simulator passes all.
    """

    agents: Ints
    positions: Floats
    triangles: Floats
    targets: Targets


@dataclass(frozen=True, eq=False)
class Constants:
    """What everybody was told before the start: the goal rule, the motion, and the settings of cells and process."""

    local_goal: LocalGoal
    motion: Motion
    grid: CellGrid
    alpha: float = 1.0
    beta: float | None = None
    gamma: float = 0.95
    margin: float = 0.05


@dataclass(frozen=True, eq=False)
class Decision:
    """What followers do, one row each: -1 is the state outside, and the cell of a triangle without area.

    All follows from the view and the goal points; what nobody asks for is not worked out.
    """

    view: View
    constants: Constants
    goal_points: Floats
    """(A, 2) h_i."""

    @cached_property
    def states(self) -> Ints:
        """(A,) the cell s_i in which the agent stands, or -1."""
        return self.constants.grid.holding(self.view.positions, self.view.triangles)

    @cached_property
    def goal_cells(self) -> Ints:
        """(A,) g_i."""
        return goal_cells(self.goal_points, self.view.triangles, self.constants.grid)

    @cached_property
    def next_cells(self) -> Ints:
        """(A,) π*(s_i), or -1 where there is no policy to ask."""
        if self.constants.motion == "reach":
            return self.goal_cells
        from tricover.mdp import next_moves  # here, as a run that only reaches need not load it

        grid, alpha, beta, gamma = (getattr(self.constants, name) for name in ("grid", "alpha", "beta", "gamma"))
        inside = np.flatnonzero(self.states != OUTSIDE)
        cells = np.full(len(self.states), OUTSIDE, np.int64)
        if inside.size:
            parts = self.view.triangles[inside], self.goal_cells[inside], self.states[inside]
            cells[inside] = next_moves(grid, *parts, alpha=alpha, beta=beta, gamma=gamma)
        return cells

    @cached_property
    def setpoints(self) -> Floats:
        """(A, 2) c_i, the middle of P_i, computed as ``desired_configuration`` computes it: they agree to the bit."""
        if self.constants.motion == "reach":
            return self.goal_points
        points = cell_points(self.next_cells, self.view.triangles, self.constants.grid)
        points[self._without_area] = self.goal_points[self._without_area]
        return points

    @cached_property
    def reach_sets(self) -> Floats:
        """(A, 3, 2) P_i."""
        if self.constants.motion == "reach":
            return points_as_sets(self.goal_points)
        triangles, grid, margin = self.view.triangles, self.constants.grid, self.constants.margin
        sets = inset(triangles, margin)
        inside = self.next_cells != OUTSIDE
        sets[inside] = in_cells(self.next_cells[inside], triangles[inside], grid, margin)
        sets[self._without_area] = points_as_sets(self.goal_points[self._without_area])
        return sets

    @property
    def _without_area(self) -> NDArray[np.bool_]:
        return np.asarray(self.goal_cells == OUTSIDE)


def decide(view: View, constants: Constants) -> Decision:
    """One step of each agent's policy."""
    return Decision(view, constants, constants.local_goal(view.agents, view.triangles, view.targets))
