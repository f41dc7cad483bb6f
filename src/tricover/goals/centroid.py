"""The paper's goal: the centroid of the targets in the triangle (paper, equation for h_i, Section V).

    h_i = Σ_j w_j d_j / Σ_j w_j  over the targets j in the triangle; the triangle's own centroid where it holds none.

The paper's targets all count alike; weights w_j are ours.
"""

from tricover.goals._kernels import to_means
from tricover.goals.rules import Floats, Ints, LocalGoal
from tricover.network import Network
from tricover.targets import TargetLists, Targets
from tricover.threads import in_ranges

__all__ = ["centroid"]


def centroid(network: Network) -> LocalGoal:
    """The rule; it needs nothing of the network."""
    return _local_goal


def _local_goal(agents: Ints, triangles: Floats, targets: Targets | TargetLists) -> Floats:
    if isinstance(targets, TargetLists):
        sums = targets.sums()
        counts, means = sums[:, 0].copy(), sums[:, 1:].copy()
    else:
        counts, means = targets.in_triangles(triangles)
    in_ranges(lambda first, last: to_means(counts, triangles, first, last, means), len(counts))
    return means
