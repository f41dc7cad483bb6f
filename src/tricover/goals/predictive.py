"""The place for which the agent's whole subtree is predicted to cover its triangle best.

A follower knows how many descendants n_k it has in each child cell, and it sees the targets in its triangle. The best
that n agents can do on targets of density f is about G (∫√f)²/n in summed squared distance, G = 5/(18√3) (Tóth's
hexagons, Zador's theorem). So for a place x of its own it predicts

    cost(x) = Σ_{k: n_k > 0} G (Σ_j w_j f_j^{-1/2})² / (n_k + 1/2)  +  Σ_{k: n_k = 0} Σ_j w_j min_c |d_j - c|²,

j over the targets in child k, c over the child's corners, f_j the local density of weight, and goes to the best x.

Density is local in both senses: it comes from the agent's own targets alone. Its triangle is cut into cells with six
targets on average, and f_j is the weight in the cell of target j over the cell's area. (The distance to the twelfth
nearest of its own targets was tried: it is too low along the edges, where half of the neighbours belong to others,
and cost 4% of coverage.) More than 4,096 targets are summarised: one point for each cell, at its centroid.

The search is coarse to fine: the centres of 36 cells, then rings of six places with ever smaller steps. Without
targets, or with none that has weight, the goal is the triangle's centroid. What is done depends on the agent's own
list alone, so that one agent finds what a batch finds.
"""

import numpy as np

from tricover.geometry import CellGrid
from tricover.goals._kernels import Rounds, Seen, search_all
from tricover.goals.lists import own_lists
from tricover.goals.rules import Floats, Ints, LocalGoal
from tricover.network import Network
from tricover.targets import TargetLists, Targets
from tricover.threads import in_ranges

__all__ = ["RING", "ROUNDS", "predictive", "predictive_places"]

# The six moves to the neighbours of a point in a triangular lattice, in barycentric coordinates.
RING = np.array([[1, -1, 0], [1, 0, -1], [0, 1, -1], [-1, 1, 0], [-1, 0, 1], [0, -1, 1]], dtype=np.float64)
# The first step reaches from a cell's centre past its corners; each ring halves what is left, down to about 1%.
_STEPS = (1 / 12, 1 / 24, 1 / 48, 1 / 96)
ROUNDS = Rounds(
    moves=np.concatenate([CellGrid(6).weights - 1 / 3, *(step * RING for step in _STEPS)]),
    starts=np.cumsum([0, 36, *[len(RING)] * len(_STEPS)]),
)


def predictive(network: Network) -> LocalGoal:
    """The rule; its constants are the descendants below each child cell."""
    below = network.descendants.astype(np.float64)

    def local_goal(agents: Ints, triangles: Floats, targets: Targets | TargetLists) -> Floats:
        places = predictive_places(below[agents], own_lists(triangles, targets))
        return np.asarray((places[:, :, None] * triangles).sum(axis=1))

    return local_goal


def predictive_places(below: Floats, seen: Seen) -> Floats:
    """The best places (A, 3), as barycentric weights, of agents with descendants below (A, 3)."""
    places = np.empty((len(below), 3))
    in_ranges(lambda first, last: search_all(below, seen, ROUNDS, first, last, places), len(below), smallest=1)
    return places
