"""Lloyd in the triangle: each agent goes to the centroid of the targets that are nearer to it than to any other agent.

    c_i = Σ_{j ∈ V_i} w_j d_j / Σ_{j ∈ V_i} w_j,      h_i = the point closest to c_i in the triangle, inset by 0.01.

V_i is the agent's Voronoi cell. To know it, the agent has to hear of the agents near by, and to see the targets around
it, also beyond its triangle. With a *range* R it hears of those within R and counts the targets within R/2: whoever is
nearest to such a target is within R. So every target belongs to one agent at most, whatever each of them knows. Of two
at the same distance, the one with the lower number has it.

Anchors go to c_i itself, unless they have given places. For an agent without targets c_i is where it is: it stays if it
is in the inset triangle.

Whoever would move by less than a thousandth of the mean spacing stays where it is. So teams come to rest in finitely
many steps, or not at all: no more is proved. Rows of Γ are stochastic, as with every goal in the triangle. The coverage
cost may rise by some per cent in a step: the triangle may be in the way, and in-neighbours move at the same time.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.geometry import flat
from tricover.geometry.closest import closest_points, inset_triangles
from tricover.targets import Targets
from tricover.targets.placing import nearest_places

__all__ = ["Cells", "Near", "voronoi_cells", "within_triangles"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

INSET = 0.01
"""The least weight of a goal for each corner of its triangle."""


class Near(NamedTuple):
    """Agents whose positions are known: their numbers (P,), ascending, and positions (P, 2), in metres."""

    agents: Ints
    positions: Floats


class Cells(NamedTuple):
    """Voronoi cells of agents: their mass Σw (A,), and the moment Σw·(d - r) around the agent, (A, 2)."""

    masses: Floats
    moments: Floats

    def centroids(self, positions: Floats) -> Floats:
        """The centroids (A, 2) of the cells of agents at positions (A, 2); who has no targets is its own."""
        heavy = self.masses > 0
        return positions + np.where(heavy, self.moments.T / np.where(heavy, self.masses, 1.0), 0.0).T


def voronoi_cells(agents: Ints, near: Near, targets: Targets, within: float | None = None) -> Cells:
    """The cells of agents (A,) among all whose positions are known, themselves included; they hear ``within`` metres.

    Sums run in the order of the targets. So an agent that knows less, but all that is near it, finds the same bits.
    """
    weights = np.ones(len(targets)) if targets.weights is None else targets.weights
    owners = nearest_places(near.positions, targets.points)
    offsets = targets.points - near.positions[owners]
    if within is not None:
        few = (offsets * offsets).sum(axis=1) <= within * within / 4
        owners, offsets, weights = owners[few], offsets[few], weights[few]
    count = len(near.agents)
    masses = np.bincount(owners, weights, count)
    moments = np.stack([np.bincount(owners, weights * offset, count) for offset in offsets.T], axis=1)
    rows = np.searchsorted(near.agents, agents)
    return Cells(masses[rows].astype(np.float64), moments[rows].astype(np.float64))


def within_triangles(centroids: Floats, triangles: Floats, positions: Floats, rest: float) -> Floats:
    """Goal points (A, 2) of followers at positions (A, 2): the closest to the centroids (A, 2) in their triangles.

    A triangle without area has no inside: its agent goes to the mean of its in-neighbours. Who would move by less than
    ``rest`` metres stays, if it is inside.
    """
    inset = inset_triangles(triangles, INSET)
    points = closest_points(centroids, inset)
    moves = points - positions
    few = np.flatnonzero((moves * moves).sum(axis=1) < rest * rest)
    inside = few[(closest_points(positions[few], triangles[few]) == positions[few]).all(axis=1)]
    points[inside] = positions[inside]
    without_area = flat(triangles)
    points[without_area] = triangles[without_area].mean(axis=1)
    return points
