"""Room: goals that leave everybody below, and the agent itself, a distance from all others.

Let every follower keep at least S metres from the three edges of its own triangle. Then any two agents, one of them a
follower, are at least S apart: of two agents one is no descendant of the other, so it is outside the other's triangle.

A point with weights w has the distances w_k·h_k from the edges of a triangle with heights h_k. The child cell that
drops corner k has the area w_k·A and no longer circumference than the triangle, hence an inradius of at least w_k·r
(r = 2A / circumference). So n agents fit, S apart, into a triangle with r ≥ n·S, one after the other: the first takes

    w_k ≥ b_k = max(S / h_k, n_k·S / r),        n_k descendants in child cell k, n = 1 + Σ n_k,

which is possible, as Σ b_k ≤ n·S / r ≤ 1 (h_k ≥ 2r, and Σ 1/h_k = 1/r), and leaves each child cell n_k·S or more.

Where there is less room, weights are in proportion to b: agents share what there is by area, and nothing is promised.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.geometry import combine
from tricover.goals.rules import LocalGoal, inner_weights
from tricover.network import Network
from tricover.targets import TargetLists, Targets

__all__ = ["inset_by", "least_weights", "points_with_room", "with_room"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def with_room(local_goal: LocalGoal, network: Network, separation: float, resolution: int | None) -> LocalGoal:
    """The goal function with goals that leave room: inside ``least_weights``, and unchanged where they are already.

    In cells, a weight of the goal cell's centre is up to 2/(3M) less than that of the goal point: so much is added.
    """

    def roomy(agents: Ints, triangles: Floats, targets: Targets | TargetLists) -> Floats:
        points = local_goal(agents, triangles, targets)
        return points_with_room(points, triangles, network.descendants[agents], separation, resolution)

    return roomy


def points_with_room(
    points: Floats, triangles: Floats, descendants: NDArray[np.integer], separation: float, resolution: int | None
) -> Floats:
    """Goal points (A, 2) in triangles (A, 3, 2) that leave room for so many descendants (A, 3)."""
    cell = 0.0 if resolution is None else 2 / (3 * resolution)
    least = least_weights(triangles, descendants, separation) + cell
    least /= np.maximum(least.sum(axis=1, keepdims=True), 1.0)
    weights = inner_weights(points, triangles)
    short = np.flatnonzero((weights < least).any(axis=1))
    points = points.copy()
    points[short] = combine(inset_by(weights[short], least[short]), triangles[short])
    return points


def least_weights(triangles: Floats, descendants: NDArray[np.integer], separation: float) -> Floats:
    """b (A, 3): the least weights of agents with so many descendants (A, 3) below each child cell of (A, 3, 2).

    Their sum is at most 1. They are 1/3 each in a triangle without area.

    >>> triangle = np.array([[[0.0, 0.0], [6.0, 0.0], [0.0, 8.0]]])  # inradius 2, heights 4.8, 6 and 8
    >>> least_weights(triangle, np.array([[0, 0, 1]]), 0.5).round(4).tolist()
    [[0.1042, 0.0833, 0.25]]
    """
    sides = np.roll(triangles, -1, axis=1) - np.roll(triangles, 1, axis=1)  # opposite to each corner
    lengths = np.hypot(sides[..., 0], sides[..., 1])
    double_area = np.abs(sides[:, 0, 0] * sides[:, 1, 1] - sides[:, 0, 1] * sides[:, 1, 0])[:, None]
    needs = separation * np.maximum(lengths, descendants * lengths.sum(axis=1, keepdims=True))
    total = needs.sum(axis=1, keepdims=True)
    scale = np.maximum(double_area, total)
    return np.where(scale > 0, needs / np.where(scale > 0, scale, 1.0), 1 / 3)


def inset_by(weights: Floats, least: Floats) -> Floats:
    """Weights (A, 3) brought to at least the given ones (A, 3), by taking from what is above in proportion.

    >>> inset_by(np.array([[0.0, 0.2, 0.8]]), np.array([[0.1, 0.1, 0.1]])).round(6).tolist()
    [[0.1, 0.1875, 0.7125]]
    """
    above = np.maximum(weights - least, 0.0)
    total = above.sum(axis=1, keepdims=True)
    spare = 1.0 - least.sum(axis=1, keepdims=True)
    share = np.where(total > 0, above / np.where(total > 0, total, 1.0), 1 / 3)
    return np.asarray(least + spare * share)
