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
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from tricover.control.reach_sets import in_cells, inset, points_as_sets
from tricover.geometry import OUTSIDE, CellGrid, barycentric, flat
from tricover.goals import LocalGoal, cell_points, goal_cells
from tricover.mdp import next_moves
from tricover.targets import Targets

__all__ = ["MOTIONS", "Constants", "Decision", "Motion", "View", "decide", "remembering"]

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
    """What followers do, one row each: -1 is the state outside, and the cell of a triangle without area."""

    states: Ints
    """(A,) the cell s_i in which the agent stands, or -1."""
    goal_points: Floats
    """(A, 2) h_i."""
    goal_cells: Ints
    """(A,) g_i."""
    next_cells: Ints
    """(A,) π*(s_i), or -1 where there is no policy to ask."""
    reach_sets: Floats
    """(A, 3, 2) P_i."""
    setpoints: Floats
    """(A, 2) c_i, the middle of P_i, computed as ``desired_configuration`` computes it: they agree to the bit."""


def decide(view: View, constants: Constants) -> Decision:
    """One step of each agent's policy."""
    points = constants.local_goal(view.agents, view.triangles, view.targets)
    goals = goal_cells(points, view.triangles, constants.grid)
    states = _states(view, constants.grid)
    if constants.motion == "reach":
        return Decision(states, points, goals, goals, points_as_sets(points), points)
    next_cells = _next_cells(view.triangles, goals, states, constants)
    setpoints = cell_points(next_cells, view.triangles, constants.grid)
    setpoints[goals == OUTSIDE] = points[goals == OUTSIDE]
    reach_sets = _reach_sets(view.triangles, goals, next_cells, points, constants)
    return Decision(states, points, goals, next_cells, reach_sets, setpoints)


def _states(view: View, grid: CellGrid) -> Ints:
    states = np.full(len(view.agents), OUTSIDE, np.int64)
    proper = ~flat(view.triangles)
    states[proper] = grid.locate(barycentric(view.positions[proper], view.triangles[proper]))
    return states


def _next_cells(triangles: Floats, goals: Ints, states: Ints, constants: Constants) -> Ints:
    cells = np.full(len(states), OUTSIDE, np.int64)
    inside = np.flatnonzero(states != OUTSIDE)
    if inside.size:
        cells[inside] = next_moves(
            constants.grid,
            triangles[inside],
            goals[inside],
            states[inside],
            alpha=constants.alpha,
            beta=constants.beta,
            gamma=constants.gamma,
        )
    return cells


def _reach_sets(triangles: Floats, goals: Ints, cells: Ints, points: Floats, constants: Constants) -> Floats:
    reach_sets = inset(triangles, constants.margin)
    inside, without_area = cells != OUTSIDE, goals == OUTSIDE
    reach_sets[inside] = in_cells(cells[inside], triangles[inside], constants.grid, constants.margin)
    reach_sets[without_area] = points_as_sets(points[without_area])
    return reach_sets


def remembering(local_goal: LocalGoal) -> LocalGoal:
    """A local goal that asks again only for agents whose triangle has changed, or all if agents or targets have.

    A goal depends on the agent's own triangle and targets alone, so the answers are the same to the bit.
    """
    agents, triangles, points = np.empty(0, np.int64), np.empty((0, 3, 2)), np.empty((0, 2))
    targets: Targets | None = None

    def remembered(now: Ints, corners: Floats, sensed: Targets) -> Floats:
        nonlocal agents, triangles, targets, points
        if sensed is not targets or not np.array_equal(now, agents):
            points = local_goal(now, corners, sensed)
        else:
            changed = np.flatnonzero((corners != triangles).any(axis=(1, 2)))
            points = points.copy()
            if changed.size:
                points[changed] = local_goal(now[changed], corners[changed], sensed)
        agents, triangles, targets = now, corners, sensed
        return points

    return remembered
