"""Who tells whom of targets: each follower its parent, and each target in one cell of a partition.

The *parent* of a follower is the youngest of its in-neighbours, the agent that made its cell. The communication
triangle of a follower is a child cell of its parent: the child cells of an agent partition its triangle, and sums over
targets add up along the tree of parents. First-layer followers have no parent among the followers and tell nobody.

Triangles are closed, so a target on an edge is in two of them, and one at a corner in more; an agent that has a single
target stands on it, and is a corner of its children's triangles. For sums to count such a target once, it belongs to
the child cell with the lowest number that holds it. So each cell leaves out some of its edges and corners, and which
ones follows from the network alone. For child k of an agent p, with l the third number besides k and j:

    the corner p itself            belongs to child 0
    the edge from p to corner j    is shared with child l, and belongs to the lower of k and l
    the corner j                   is left out where p leaves it out, or belongs to the lower of k and l
    the edge across from p         is left out where p leaves it out
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.network import Network
from tricover.network.structure import children_of, parents_and_slots

__all__ = ["Family", "family_of"]

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Family(NamedTuple):
    """Parents and children of N agents.

    Attributes:
        parents: (N,), -1 where there is none.
        slots: which child of its parent an agent is, (N,); the parent is this one of its in-neighbours.
        children: (N, 3), -1 where there is none.
        edges: whether a cell leaves out the edge across from each of its corners, (N, 3).
        corners: whether it leaves out each of its corners, (N, 3).
        heard: whether anybody listens to an agent, (N,).
    """

    parents: Ints
    slots: Ints
    children: Ints
    edges: Flags
    corners: Flags
    heard: Flags


def family_of(network: Network) -> Family:
    """The family of a network."""
    links, layer = network.in_neighbors, network.layer
    parents, slots = parents_and_slots(links, layer)
    edges, corners = np.zeros((2, *links.shape), np.bool_)
    for agents in network.layers[2:]:
        above, k = parents[agents], slots[agents]
        rows = np.arange(len(agents))
        across, ends = edges[above].copy(), corners[above].copy()
        for j in range(3):
            other = 3 - k - j  # the third number, where j is not k
            lower = other < k
            # The edge from the parent to corner j lies across from the corner with that third number.
            old = np.flatnonzero(j != k)
            across[old, other[old]] = lower[old]
            ends[old, j] |= lower[old]
        across[rows, k] = edges[above, k]
        ends[rows, k] = k != 0
        edges[agents], corners[agents] = across, ends
    heard = np.zeros(len(layer), np.bool_)
    heard[np.unique(links[network.followers])] = True
    return Family(parents.astype(np.int64), slots, children_of(links, layer), edges, corners, heard)
