"""The place for which the agent's subtree, simulated, covers its triangle best.

Every agent knows the roster, hence the network below it, and sees the targets in its triangle: it can simulate what its
descendants will do. It tries its predictive place and a dozen places around it. For each it lets ``predictive`` place
the descendants cell by cell, and sums the squared distances of its targets to the nearest of its corners, itself and
its descendants. It takes the place with the least sum. This is one step of policy improvement over ``predictive``.

A descendant is simulated as it will act: with the density of the targets in its own cell.

Cost: a simulated subtree takes its targets from list to list, one pass per level. Trials are limited by the subtree's
size, so that the whole team costs about (N + D) log N: twelve up to 256 followers, six up to 1,024, none beyond, where
the prediction is good anyway. Of more than 128 targets per agent of the subtree, only every second, third … is looked
at: the same ones in all trials, and only the choice between these matters. An agent without followers has nothing to
simulate: there the prediction is exact.
"""

import numpy as np

from tricover.goals._kernels import Rounds
from tricover.goals._subtrees import Subtrees, roll_out
from tricover.goals.lists import own_lists
from tricover.goals.predictive import RING, ROUNDS, predictive_places
from tricover.goals.rules import Floats, Ints, LocalGoal
from tricover.network import Network
from tricover.network.structure import children_of
from tricover.targets import TargetLists, Targets
from tricover.threads import in_ranges

__all__ = ["rollout"]

# A ring of eighths spans a cell of the first round of the search, a ring of sixteenths refines the best of it.
_TRIALS = Rounds(moves=np.concatenate([RING / 8, RING / 16]), starts=np.array([0, 6, 12]))


def rollout(network: Network) -> LocalGoal:
    """The rule; its constants are the agents' subtrees."""
    children = children_of(network.in_neighbors, network.layer)
    subtrees = Subtrees(children, network.descendants.astype(np.float64))

    def local_goal(agents: Ints, triangles: Floats, targets: Targets | TargetLists) -> Floats:
        seen = own_lists(triangles, targets)
        places = predictive_places(subtrees.below[agents], seen)
        work = (agents, seen, subtrees, ROUNDS, _TRIALS)
        in_ranges(lambda first, last: roll_out(*work, first, last, places), len(agents), smallest=1)
        return np.asarray((places[:, :, None] * triangles).sum(axis=1))

    return local_goal
