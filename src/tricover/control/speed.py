"""How far agents that ``morph`` go in a step, and how long a team of them takes: proofs are in ``morph``."""

import numpy as np
from numpy.typing import NDArray

from tricover.goals.nested import extent_of
from tricover.network import Network

__all__ = ["limits_of", "settling_steps", "speed_of"]

Floats = NDArray[np.float64]

_OF_EXTENT = 0.1  # metres per step over the team's extent, where no speed is given
_OF_LARGEST, _AT_MOST = 1e-12, 1e-3  # of the largest coordinate and of v: what rounding adds shall not exceed v


def speed_of(network: Network, speed: float | None) -> float:
    """v, metres per step: the given ones, or a tenth of the team's extent."""
    return _OF_EXTENT * extent_of(network) if speed is None else speed


def limits_of(network: Network, speed: float | None) -> Floats:
    """c_l (depth + 1,): metres that agents of each layer go in a step at most."""
    shares = np.arange(network.depth + 1) / max(network.depth, 1)
    whole = speed_of(network, speed)
    rounding = min(_OF_LARGEST * float(np.abs(network.reference).max()), _AT_MOST * whole)
    return np.asarray((whole - rounding) * (1 + shares) / 2)


def settling_steps(network: Network, desired: Floats, speed: float | None) -> NDArray[np.int64]:
    """Steps (depth + 1,) after which each layer is at rest, counted from the rest of the anchors.

    ``desired`` (N, 2) is where the team settles.
    """
    steps = np.zeros(network.depth + 1, np.int64)
    limits = limits_of(network, speed)
    for layer, agents in enumerate(network.layers[1:], 1):
        triangles = desired[network.in_neighbors[agents]]
        longest = np.linalg.norm(triangles - np.roll(triangles, 1, axis=1), axis=2).max()
        steps[layer] = steps[layer - 1] + int(np.ceil(longest / limits[layer]))
    return steps
