"""Who has to decide anew, and what everybody else was told last.

A decision follows from an agent's own position, the positions of its three in-neighbours and the targets in its
triangle. Where none of these has changed since the last step, to the bit, the decision of the last step stands: so a
step costs what the agents cost that moved or listen to one who did, and a settled team costs next to nothing.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tricover.control import Decision, View, points_as_sets
from tricover.goals import cell_points
from tricover.network import Network
from tricover.simulation import _kernels
from tricover.targets import Targets
from tricover.threads import ranges, side_by_side

__all__ = ["NO_CELL", "Orders", "heard", "near_each_other"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TILES = 64  # per axis
NO_CELL = -2
"""The cell of agents that have none: anchors, and those who are not there."""


@dataclass(eq=False)
class Orders:
    """What the followers of a network decided last; ``away`` and the like have a row for everybody, N."""

    network: Network
    followers: Ints
    """(F,) in an order in which those who are near each other come one after another: so memory serves best."""
    away: Floats
    """(N,) metres to the goal point (reach), or to the goal cell's centre unless the agent is in that cell (walk)."""
    goal_cells: NDArray[np.int32] | None = None
    """(N,) where they are kept: where positions do not tell them."""
    reach_sets: Floats | None = None
    """(N, 3, 2) where there are vehicles that have to be driven there."""
    _positions: Floats | None = None
    _targets: Targets | None = None

    def due(self, positions: Floats, targets: Targets) -> View:
        """What the agents see that have to decide anew; ``positions`` are not to be changed after that."""
        agents = self._concerned(positions, targets)
        self._positions, self._targets = positions, targets
        return View(agents, *heard(self.network, agents, positions), targets)

    def take(self, decision: Decision, exact: NDArray[np.bool_]) -> None:
        """Keep decisions; ``exact`` (N,) says whose vehicle takes the setpoint itself for an order."""
        view, goals = decision.view, decision.goal_points
        if decision.constants.motion == "walk":
            cells = decision.goal_cells
            centres = cell_points(cells, view.triangles, decision.constants.grid)
            goals = np.where(cells[:, None] < 0, goals, centres)
            arrived = (cells >= 0) & (cells == decision.states)
            goals[arrived] = view.positions[arrived]
        work = view.agents, view.positions, goals
        side_by_side(lambda part: _kernels.measure(*work, *part, self.away), ranges(len(goals)))
        if self.goal_cells is not None:
            self.goal_cells[view.agents] = decision.goal_cells
        if self.reach_sets is not None:
            ideal = exact[view.agents]
            self.reach_sets[view.agents] = decision.reach_sets
            self.reach_sets[view.agents[ideal]] = points_as_sets(decision.setpoints[ideal])

    def _concerned(self, positions: Floats, targets: Targets) -> Ints:
        """The followers whose position, in-neighbours' positions or targets are not what they were."""
        before, followers = self._positions, self.followers
        if before is None or targets is not self._targets:
            return followers
        if before is positions:
            return followers[:0]
        flags, due = np.empty(len(positions), np.bool_), np.empty(len(followers), np.bool_)
        side_by_side(lambda part: _kernels.moved(before, positions, *part, flags), ranges(len(flags)))
        work = followers, self.network.in_neighbors, flags
        side_by_side(lambda part: _kernels.concerned(*work, *part, due), ranges(len(due)))
        return followers[due]


def near_each_other(agents: Ints, positions: Floats) -> Ints:
    """Agents (A,) tile by tile of where they stand."""
    low, extent = positions.min(axis=0), np.ptp(positions, axis=0)
    tiles = ((positions[agents] - low) * (TILES / np.maximum(extent, 1e-200))).astype(np.uint16)
    return agents[np.argsort(tiles[:, 1] * (TILES + 1) + tiles[:, 0], kind="stable")]


def heard(network: Network, agents: Ints, positions: Floats) -> tuple[Floats, Floats]:
    """Positions of agents (A, 2), and of their in-neighbours (A, 3, 2)."""
    own, triangles = np.empty((len(agents), 2)), np.empty((len(agents), 3, 2))
    work = agents, network.in_neighbors, positions
    side_by_side(lambda part: _kernels.listen(*work, *part, own, triangles), ranges(len(agents)))
    return own, triangles
