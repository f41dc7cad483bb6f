"""The fan of first cells: core, corner and next corner of the boundary, for each of its sides.

First cells have disjoint interiors as long as each of them is counter-clockwise and they go around the core once: then
the anchors' polygon is a star around the core. It is so when it is convex with the core strictly inside, as at the
reference positions, but need not be convex.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.network.network import Network

__all__ = ["fan_of", "turns_around"]


def fan_of(network: Network) -> NDArray[np.int64]:
    """Places (H, 3) in ``network.anchors``: of the core, and of the two ends of each side of the boundary.

    >>> from tricover.network import build_network
    >>> fan_of(build_network([[0, 0], [4, 0], [0, 4], [1, 1]])).tolist()
    [[3, 0, 1], [3, 1, 2], [3, 2, 0]]
    """
    corners = np.arange(len(network.boundary))
    return np.column_stack([np.full(len(corners), len(corners)), corners, np.roll(corners, -1)])


def turns_around(network: Network, positions: NDArray[np.float64]) -> int:
    """How often the boundary goes around the core, with everybody at positions (N, 2); each cell counter-clockwise."""
    spokes = positions[network.boundary] - positions[network.core]
    angles = np.arctan2(spokes[:, 1], spokes[:, 0])
    return int(np.rint((np.diff(angles, append=angles[0]) % (2 * np.pi)).sum() / (2 * np.pi)))
