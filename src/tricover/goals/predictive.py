"""The place for which the agent's whole subtree is predicted to cover its triangle best.

A follower knows how many descendants n_k it has in each child cell, and it sees the targets in its triangle. The best
that n agents can do on targets of density f is about G (∫√f)²/n in summed squared distance, G = 5/(18√3) (Tóth's
hexagons, Zador's theorem). So for a place x of its own it predicts

    cost(x) = Σ_{k: n_k > 0} G (Σ_j w_j f_j^{-1/2})² / (n_k + 1/2)  +  Σ_{k: n_k = 0} Σ_j w_j min_c |d_j - c|²,

j over the targets in child k, c over the child's corners, f_j the local density of weight, and goes to the best x. The
search is coarse to fine: the centres of 36 cells, then rings of six with ever smaller steps. For a triangle with many
targets, whose children all have followers, the index is asked for the three sums; else the list of its targets is
walked. Which of the two depends on the agent's own triangle alone, so that one agent finds what a batch finds. Without
targets, or with none that has weight, the goal is the triangle's centroid.
"""

from itertools import pairwise

import numpy as np

from tricover.geometry import CellGrid
from tricover.goals import _kernels
from tricover.goals.rules import Floats, Ints, LocalGoal
from tricover.network import Network
from tricover.targets import Targets
from tricover.targets.index import count_and_sum
from tricover.threads import in_ranges

__all__ = ["MOVES", "RING", "ROUNDS", "predictive", "predictive_places", "target_lists"]

_MANY = 4096  # targets in a triangle, from which asking the index costs less than walking the list

RING = np.array([[1, -1, 0], [1, 0, -1], [0, 1, -1], [-1, 1, 0], [-1, 0, 1], [0, -1, 1]], dtype=np.float64)
_STEPS = (1 / 12, 1 / 24, 1 / 48, 1 / 96)
MOVES = np.concatenate([CellGrid(6).weights - 1 / 3, *(step * RING for step in _STEPS)])
ROUNDS = np.cumsum([0, 36, *[len(RING)] * len(_STEPS)])


def predictive(network: Network) -> LocalGoal:
    """The rule; its constants are the descendants below each child cell."""
    below = network.descendants.astype(np.float64)

    def local_goal(agents: Ints, triangles: Floats, targets: Targets) -> Floats:
        places = predictive_places(triangles, below[agents], targets)
        return np.asarray((places[:, :, None] * triangles).sum(axis=1))

    return local_goal


def predictive_places(triangles: Floats, below: Floats, targets: Targets) -> Floats:
    """The best places (A, 3), as barycentric weights in triangles (A, 3, 2) with descendants below (A, 3)."""
    places = np.full((len(triangles), 3), 1 / 3)
    counts, sums = count_and_sum(targets.masses, np.ascontiguousarray(triangles))
    many = (counts > _MANY) & (below > 0).all(axis=1)
    for some, search in ((~many, _by_lists), (many, _by_index)):
        chosen = np.flatnonzero(some & (sums[:, 2] > 0))
        if chosen.size:
            places[chosen] = search(triangles[chosen], below[chosen], targets)
    return places


def target_lists(triangles: Floats, targets: Targets) -> tuple[Ints, Floats]:
    """Offsets (A + 1,), and x, y, weight and spread (4, L) of the targets in each triangle."""
    offsets, names = targets.members(triangles)
    weights = np.ones(len(names)) if targets.weights is None else targets.weights[names]
    spread = weights / np.sqrt(targets.density[names])
    return offsets, np.stack([targets.points[names, 0], targets.points[names, 1], weights, spread])


def _by_lists(triangles: Floats, below: Floats, targets: Targets) -> Floats:
    places = np.empty((len(triangles), 3))
    work = (triangles, below, *target_lists(triangles, targets), MOVES, ROUNDS)
    in_ranges(lambda first, last: _kernels.search_all(*work, first, last, places), len(triangles), smallest=1)
    return places


def _by_index(triangles: Floats, below: Floats, targets: Targets) -> Floats:
    weights = 1.0 if targets.weights is None else targets.weights
    spread = targets.index.masses(weights / np.sqrt(targets.density))
    places, best = np.full((len(triangles), 3), 1 / 3), np.full(len(triangles), np.inf)
    rows = np.arange(len(triangles))
    for start, stop in pairwise(ROUNDS):
        trials = places[:, None] + MOVES[start:stop]
        cells = np.repeat(triangles[:, None, None], 3, axis=2).repeat(stop - start, axis=1)  # (A, K, child, corner, 2)
        cells[:, :, range(3), range(3)] = (trials @ triangles)[:, :, None]
        _, sums = count_and_sum(spread, cells.reshape(-1, 3, 2))
        costs = (sums[:, 2].reshape(cells.shape[:3]) ** 2 / (below[:, None] + _kernels.OWN)).sum(axis=2)
        costs[trials.min(axis=2) < _kernels.INSET] = np.inf
        chosen = np.argmin(costs, axis=1)
        better = costs[rows, chosen] < best
        best = np.where(better, costs[rows, chosen], best)
        places[better] = trials[rows, chosen][better]
    return places
