"""The paper's goal: the centroid of the targets in the triangle (paper, equation for h_i, Section V).

    h_i = Σ_j w_j d_j / Σ_j w_j  over the targets j in the triangle; the triangle's own centroid where it holds none.

The paper's targets all count alike; weights w_j are ours.
"""

import numpy as np

from tricover.goals.rules import Floats, Ints, LocalGoal
from tricover.network import Network
from tricover.targets import Targets

__all__ = ["centroid"]


def centroid(network: Network) -> LocalGoal:
    """The rule; it needs nothing of the network."""
    return _local_goal


def _local_goal(agents: Ints, triangles: Floats, targets: Targets) -> Floats:
    counts, sums = targets.in_triangles(triangles)
    seen = counts > 0
    means = sums / np.where(seen, counts, 1.0)[:, None]
    return np.where(seen[:, None], means, triangles.mean(axis=1))
