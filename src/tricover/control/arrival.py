"""How far agents are from their goals: an agent has arrived where this is nothing, or within a tolerance."""

import numpy as np
from numpy.typing import NDArray

from tricover.control.decision import HOLD, Decision
from tricover.control.told import Told
from tricover.control.view import View
from tricover.goals import cell_points

__all__ = ["distances"]


def distances(view: View, told: Told, decision: Decision) -> NDArray[np.float64]:
    """Metres (A,) to the goal point; for ``walk`` to the middle of the goal cell.

    It is 0 for who stands in that cell, and for who holds: it stays.
    """
    goals = decision.goal_points
    if decision.cells is not None:
        state, goal = decision.cells.state, decision.cells.goal
        rows = np.flatnonzero(goal >= 0)
        goals = goals.copy()
        goals[rows] = cell_points(goal[rows], view.heard[rows], told.grid)
        arrived = np.concatenate([rows[goal[rows] == state[rows]], np.flatnonzero(goal == HOLD)])
        goals[arrived] = view.positions[arrived]
    apart = view.positions - goals
    return np.asarray(np.sqrt(apart[:, 0] * apart[:, 0] + apart[:, 1] * apart[:, 1]))
