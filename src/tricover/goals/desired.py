"""The desired configuration: where every agent ends up (paper, Algorithm 2).

Anchors stand at their desired positions. Then, layer by layer, each follower's goal rule is asked with the desired
positions of its in-neighbours: p_i = h~_i. The paper defines p_i twice, as that raw goal point and as the centre of the
goal cell around it. They are two modes here: exact (``resolution`` None), for single-step reachability of the goal
point, and in cells, for the walk of the decision process. Cell errors add up down the layers, so a run is compared
with its own mode. A third one is for the motion ``morph``: goal points strictly inside their triangles, see ``nested``.

Algorithm 2's inner loop starts one agent too early (P_{l-1}, an agent of the layer before); layers here are V_l.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError
from tricover.geometry import CellGrid, combine
from tricover.goals.anchors import anchor_positions
from tricover.goals.nested import floor_of, nested_weights
from tricover.goals.room import with_room
from tricover.goals.rules import GoalRule, cell_points, goal_cells, prepare
from tricover.network import Network
from tricover.targets import Targets, as_targets

__all__ = ["desired_configuration", "settled_configuration"]


def desired_configuration(
    network: Network,
    targets: Targets | ArrayLike,
    anchors: ArrayLike | str | None = None,
    goal: str | GoalRule = "centroid",
    resolution: int | None = None,
    separation: float | None = None,
    nested: bool = False,
) -> NDArray[np.float64]:
    """Desired positions p_i of the whole roster, (N, 2); lost agents keep their reference positions.

    Args:
        network: in the plane.
        targets: still targets, or points (D, 2); of moving ones those of a step, ``targets.at(step)``.
        anchors: positions (len(network.anchors), 2) in the order of ``network.anchors``; None: their reference
            positions; "fit": a polygon fitted to the targets, the core at their centroid.
        goal: "centroid" (the paper's), "predictive", "rollout", "reference", or your own rule (see ``goals.rules``).
        resolution: None: exact goal points; a whole number M: centres of the goal cells among M².
        separation: metres that places are to be apart, wherever there is room; see ``goals.room``.
        nested: whether goals are brought strictly inside their triangles, as the motion ``morph`` has them.

    >>> import tricover as tc
    >>> network = tc.build_network([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2], [3, 2.5]])
    >>> targets = tc.Targets([[0.5, 2], [1, 2.5], [3, 2]])
    >>> tc.desired_configuration(network, targets)[5:].tolist()
    [[0.75, 2.25], [3.0, 2.0]]
    """
    if network.reference.shape[1] != 2:
        raise InputError("targets are on the ground: a desired configuration needs a network in the plane")
    grid = None if resolution is None else CellGrid(resolution)
    targets, local_goal = as_targets(targets), prepare(goal, network)
    if separation is not None:
        local_goal = with_room(local_goal, network, separation, resolution)
    desired = network.reference.copy()
    desired[network.anchors] = anchor_positions(network, targets, anchors)
    apart = max(separation or 0.0, floor_of(network))
    for agents in network.layers[1:]:
        triangles = desired[network.in_neighbors[agents]]
        points = local_goal(agents, triangles, targets)
        if nested:
            points = combine(nested_weights(points, triangles, network.descendants[agents], apart), triangles)
        if grid is not None:
            points = cell_points(goal_cells(points, triangles, grid), triangles, grid)
        desired[agents] = points
    return desired


def settled_configuration(
    network: Network,
    targets: Targets | ArrayLike,
    anchors: ArrayLike | str | None,
    goal: str | GoalRule,
    motion: str | None,
    resolution: int,
    separation: float | None = None,
) -> NDArray[np.float64]:
    """Desired positions (N, 2) in the mode of a motion: where a team that moves in this way settles."""
    cells = resolution if motion == "walk" else None
    return desired_configuration(network, targets, anchors, goal, cells, separation, motion == "morph")
