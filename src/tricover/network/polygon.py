"""The anchors' polygon: the triples of anchors that must turn left for it to be convex, with the core inside."""

import numpy as np
from numpy.typing import NDArray

from tricover.network.network import Network

__all__ = ["polygon_turns"]

Indices = NDArray[np.int64]


def polygon_turns(network: Network) -> tuple[Indices, Indices]:
    """Whose place it is (K,), and triples (K, 3) of places in ``network.anchors``, for a network in the plane.

    First every corner between its two neighbours, then the core before every side.

    >>> from tricover.network import build_network
    >>> owners, triples = polygon_turns(build_network([[0, 0], [4, 0], [0, 4], [1, 1]]))
    >>> owners.tolist(), triples.tolist()
    ([0, 1, 2, 3, 3, 3], [[2, 0, 1], [0, 1, 2], [1, 2, 0], [3, 0, 1], [3, 1, 2], [3, 2, 0]])
    """
    count = len(network.boundary)
    corners = np.arange(count)
    following = (corners + 1) % count
    turns = np.column_stack([(corners - 1) % count, corners, following])
    cells = np.column_stack([np.full(count, count), corners, following])
    return np.append(network.boundary, np.full(count, network.core)), np.concatenate([turns, cells])
