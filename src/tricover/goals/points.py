"""Goal points of followers in any configuration, not only in the desired one: h_i of the paper.

Where the team stands at its desired positions, everybody's goal point is the place where it stands. Elsewhere the
goal points are where a team with single-step reachability goes next.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError, listed
from tricover.formats.points import LARGEST
from tricover.goals.rules import GoalRule, prepare
from tricover.network import Network
from tricover.network.roster import agent_indices
from tricover.targets import Targets, as_targets

__all__ = ["goal_points"]


def goal_points(
    network: Network,
    positions: ArrayLike,
    targets: Targets | ArrayLike,
    goal: str | GoalRule = "centroid",
    agents: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Goal points h_i (A, 2) of followers, with everybody at ``positions``.

    An agent's goal depends on the positions of its three in-neighbours and on the targets in the triangle between
    them, and on nothing else that changes.

    Args:
        network: in the plane.
        positions: where everybody stands, (N, 2).
        targets: still targets, or points (D, 2); of moving ones those of a step, ``targets.at(step)``.
        goal: "centroid" (the paper's), "predictive", "rollout", "reference", or your own rule (see ``goals.rules``).
        agents: followers (A,), in the order in which their goal points are wanted; None: all, ascending.

    >>> import tricover as tc
    >>> network = tc.build_network([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2], [3, 2.5]])
    >>> targets = tc.Targets([[0.5, 2], [1, 2.5], [3, 2]])
    >>> goal_points(network, network.reference, targets, agents=[6, 5]).tolist()
    [[3.0, 2.0], [0.75, 2.25]]
    """
    if network.reference.shape[1] != 2:
        raise InputError("targets are on the ground: goal points need a network in the plane")
    chosen = network.followers if agents is None else _checked_agents(network, agents)
    triangles = _checked_positions(network, positions)[network.in_neighbors[chosen]]
    return prepare(goal, network)(chosen, triangles, as_targets(targets))


def _checked_positions(network: Network, positions: ArrayLike) -> NDArray[np.float64]:
    found = np.asarray(positions, dtype=np.float64)
    if found.shape != (len(network), 2):
        raise InputError(f"positions must have the shape ({len(network)}, 2), not {found.shape}")
    broken = np.flatnonzero(~(np.abs(found) <= LARGEST).all(axis=1))
    if broken.size:
        raise InputError(f"the position of agent {listed(broken)} is not finite, or beyond {LARGEST:g} metres")
    return found


def _checked_agents(network: Network, agents: ArrayLike) -> NDArray[np.int64]:
    agent_indices(agents, len(network))  # says which ones are not on the roster
    chosen = np.atleast_1d(np.asarray(agents)).astype(np.int64)
    others = chosen[network.layer[chosen] < 1]
    if others.size:
        raise InputError(f"agent {listed(others)} is an anchor or lost: only followers have goal points")
    return chosen
