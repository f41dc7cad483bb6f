"""Keep the agent's place of the reference formation: the targets are not asked.

    h_i = Σ_j α_{i,j} r_j  with the barycentric coordinates α_i of a_i in its in-neighbours' reference positions.

Any configuration that has every follower inside its triangle is reached by such weights, so a formation planned for
the targets (``plan_formation``) is carried out by agents that hear three others and sense nothing. The weights do not
depend on the run, hence the team moves as one affine image of the reference where the anchors do.
"""

import numpy as np

from tricover.geometry import combine, flat
from tricover.goals.rules import Floats, Ints, LocalGoal, inner_weights
from tricover.network import Network
from tricover.targets import TargetLists, Targets

__all__ = ["reference", "reference_weights"]


def reference_weights(network: Network) -> Floats:
    """Barycentric coordinates α_i (N, 3) of each follower in its reference triangle; 0 for anchors and the lost.

    A cell that is flat as far as floating point can tell has equal weights.
    """
    weights = np.zeros((len(network), 3))
    followers = network.followers
    triangles = network.reference[network.in_neighbors[followers]]
    weights[followers] = 1 / 3
    proper = ~flat(triangles)
    agents = followers[proper]
    weights[agents] = inner_weights(network.reference[agents], triangles[proper])
    return weights


def reference(network: Network) -> LocalGoal:
    """The rule; its constants are the reference weights."""
    weights = reference_weights(network)

    def local_goal(agents: Ints, triangles: Floats, targets: Targets | TargetLists) -> Floats:
        return combine(weights[agents], triangles)

    return local_goal
