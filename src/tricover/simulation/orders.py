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
from tricover.threads import in_ranges

__all__ = ["NO_CELL", "Orders", "heard", "near_each_other"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

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
    _before: Floats | None = None
    _targets: Targets | None = None

    def __post_init__(self) -> None:
        # Everything that is heard once more in the followers' order, anchors at the end: neighbours are neighbours.
        self._rows = np.concatenate([self.followers, self.network.anchors])
        row_of = np.empty(len(self.network), np.int32)
        row_of[self._rows] = np.arange(len(self._rows))
        self._hears = row_of[self.network.in_neighbors[self.followers]]
        self._here, self._there = np.empty((2, len(self._rows), 2))

    def news(self, positions: Floats, targets: Targets) -> Flags | None:
        """Who has moved, followers and then anchors: all, so to speak, if the targets are others. None: no news.

        ``positions`` (N, 2) are not to be changed after that.
        """
        known = targets is self._targets
        if known and positions is self._before:
            return None
        self._before, self._targets = positions, targets
        self._here, self._there = self._there, self._here
        _gather(positions, self._rows, self._here)
        flags = np.ones(len(self._rows), np.bool_)
        if known:
            in_ranges(lambda first, last: _kernels.moved(self._there, self._here, first, last, flags), len(flags))
        return flags if flags.any() else None

    def view(self, news: Flags, first: int, last: int) -> View:
        """What those of the followers first … last see who have moved, or listen to somebody who has."""
        assert self._targets is not None, "there is no view without news"
        return View(*_kernels.see(self.followers, self._hears, self._here, news, first, last), self._targets)

    def take(self, decision: Decision, exact: Flags) -> None:
        """Keep decisions; ``exact`` (N,) says whose vehicle takes the setpoint itself for an order."""
        view, goals = decision.view, decision.goal_points
        if decision.constants.motion == "walk":
            cells = decision.goal_cells
            centres = cell_points(cells, view.triangles, decision.constants.grid)
            goals = np.where(cells[:, None] < 0, goals, centres)
            arrived = (cells >= 0) & (cells == decision.states)
            goals[arrived] = view.positions[arrived]
        _kernels.measure(view.agents, view.positions, goals, self.away)
        if self.goal_cells is not None:
            self.goal_cells[view.agents] = decision.goal_cells
        if self.reach_sets is not None:
            ideal = exact[view.agents]
            self.reach_sets[view.agents] = decision.reach_sets
            self.reach_sets[view.agents[ideal]] = points_as_sets(decision.setpoints[ideal])


def near_each_other(agents: Ints, positions: Floats) -> Ints:
    """Agents (A,) tile by tile of where they stand."""
    tiles = np.zeros(len(agents), np.uint16)
    for axis in positions.T[::-1]:  # by itself, which NumPy does much faster than both at once
        scale = TILES / max(np.ptp(axis), 1e-200)
        tiles = tiles * (TILES + 1) + ((axis[agents] - axis.min()) * scale).astype(np.uint16)
    return agents[np.argsort(tiles, kind="stable")]


def heard(network: Network, agents: Ints, positions: Floats) -> tuple[Floats, Floats]:
    """Positions of agents (A, 2), and of their in-neighbours (A, 3, 2)."""
    triangles = np.empty((len(agents), 3, 2))
    _gather(positions, network.in_neighbors[agents], triangles)
    return positions[agents], triangles


def _gather(positions: Floats, rows: NDArray[np.integer], out: Floats) -> None:
    """Rows (A, …) of positions (N, 2) to ``out`` (A, …, 2); the mode spares a copy, there is nothing to clip."""
    in_ranges(lambda first, last: positions.take(rows[first:last], axis=0, out=out[first:last], mode="clip"), len(rows))
