"""The place for which the agent's subtree, simulated, covers its triangle best.

Every agent knows the roster, hence the network below it, and sees the targets in its triangle: it can play out what its
descendants will do. It tries its predictive place and a dozen places around it, lets ``predictive`` place the
descendants cell by cell, sums the squared distances of its targets to the nearest of its corners, itself and its
descendants, and takes the least. This is one step of policy improvement over ``predictive``.

Cost: a simulated subtree takes its targets from list to list, one pass per level. Trials are limited by the subtree's
size, so that the whole team costs about (N + D) log N: twelve up to 256 followers, six up to 1,024, none beyond, where
the prediction is good anyway. Of more than 128 targets per agent of the subtree, only every second, third … is looked
at: the same ones in all trials, and only the choice between these matters. An agent without followers has nothing to
simulate: there the prediction is exact.
"""

import numpy as np

from tricover.goals import _kernels
from tricover.goals.predictive import MOVES, RING, ROUNDS, predictive_places, target_lists
from tricover.goals.rules import Floats, Ints, LocalGoal
from tricover.network import Network
from tricover.network.structure import parents_and_slots
from tricover.targets import Targets
from tricover.threads import in_ranges

__all__ = ["rollout"]

_SMALL, _LARGE = 256, 1024  # followers below an agent
_ENOUGH = 128  # targets per agent of the subtree; of more, every second, third … is looked at
_TRIALS = np.concatenate([RING / 8, RING / 16])


def rollout(network: Network) -> LocalGoal:
    """The rule; its constants are the agents' subtrees: mentees of child cells, and how many are below."""
    below, children = network.descendants.astype(np.float64), _children(network)
    sizes = below.sum(axis=1)

    def local_goal(agents: Ints, triangles: Floats, targets: Targets) -> Floats:
        places = predictive_places(triangles, below[agents], targets)
        for least, most, rings in ((1, _SMALL, 2), (_SMALL + 1, _LARGE, 1)):
            chosen = np.flatnonzero((sizes[agents] >= least) & (sizes[agents] <= most))
            if chosen.size:
                places[chosen] = _roll_out(
                    agents[chosen], triangles[chosen], children, below, targets, rings, places[chosen]
                )
        return np.asarray((places[:, :, None] * triangles).sum(axis=1))

    return local_goal


def _children(network: Network) -> Ints:
    """The mentee of each child cell (N, 3), -1 where it has none."""
    parents, slots = parents_and_slots(network.in_neighbors, network.layer)
    children = np.full(network.in_neighbors.shape, -1, np.int64)
    deeper = np.flatnonzero(parents >= 0)
    children[parents[deeper], slots[deeper]] = deeper
    return children


def _roll_out(
    agents: Ints, triangles: Floats, children: Ints, below: Floats, targets: Targets, rings: int, places: Floats
) -> Floats:
    """Places (A, 3) improved by trials in one or two rings."""
    lists = _thinned(*target_lists(triangles, targets), 1 + below[agents].sum(axis=1))
    trials, turns = _TRIALS[: rings * len(RING)], np.arange(rings + 1) * len(RING)
    work = (agents, triangles, children, below, *lists, MOVES, ROUNDS, trials, turns)
    in_ranges(lambda first, last: _kernels.roll_out(*work, first, last, places), len(agents), smallest=1)
    return places


def _thinned(offsets: Ints, lists: Floats, sizes: Floats) -> tuple[Ints, Floats]:
    """Every k-th target of lists that are long for their subtree's size."""
    counts = np.diff(offsets)
    strides = np.maximum(1, np.ceil(counts / (_ENOUGH * sizes)).astype(np.int64))
    kept = -(-counts // strides)
    starts = np.append(0, np.cumsum(kept))
    places = np.arange(starts[-1]) - np.repeat(starts[:-1], kept)
    chosen = np.repeat(offsets[:-1], kept) + places * np.repeat(strides, kept)
    return starts, np.ascontiguousarray(lists[:, chosen])
