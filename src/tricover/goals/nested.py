"""Goals strictly inside their triangles, so that nobody ends on another: where a team that morphs settles.

The weights of a goal point are its barycentric coordinates in the agent's triangle. A goal rule may put it on an edge
or a corner. Here it is inset: every weight is at least

    ε = 0.01,   and   b_k, the least weights of ``room`` for a distance S,

or b_k alone where these leave no room for ε. A goal whose weights are all that large stays where it is; else no weight
changes by more than 2·max(ε, b).

S is the separation that was asked for. Where none was, it is the least that positions can tell apart with ease
(``floor_of``): cells below a single target would else shrink by a factor of a hundred with every layer, until two
agents have the same floating-point position. It is a thousand millionth of the team's extent: millions of times what
rounding does, and so little that a million agents have room for it.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.geometry import weights_in
from tricover.goals.room import inset_by, least_weights
from tricover.network import Network

__all__ = ["EPSILON", "extent_of", "floor_of", "nested_weights", "standing_weights"]

Floats = NDArray[np.float64]

EPSILON = 0.01
"""The least weight of a goal, where there is room for it."""
_OF_EXTENT, _OF_LARGEST = 1e-9, 1e-12  # of the team's extent, and of its largest coordinate, whose last bits are lost


def extent_of(network: Network) -> float:
    """The longer side of the living team's box at the reference positions, in metres."""
    return float(np.ptp(network.reference[network.layer >= 0], axis=0).max())


def floor_of(network: Network) -> float:
    """Metres that agents keep from the edges of their triangles, where no separation is asked for."""
    largest = float(np.abs(network.reference[network.layer >= 0]).max())
    return _OF_EXTENT * extent_of(network) + _OF_LARGEST * largest


def nested_weights(
    points: Floats, triangles: Floats, descendants: NDArray[np.integer], separation: float, least: float = EPSILON
) -> Floats:
    """Weights (A, 3) of goal points (A, 2) in triangles (A, 3, 2), inset for a separation in metres.

    >>> triangle = np.array([[[0.0, 0.0], [6.0, 0.0], [0.0, 8.0]]])
    >>> nested_weights(np.array([[6.0, 0.0]]), triangle, np.array([[0, 0, 0]]), 1e-9).round(6).tolist()
    [[0.01, 0.98, 0.01]]
    """
    needed = least_weights(triangles, descendants, separation)
    wide = np.maximum(needed, least)
    room = wide.sum(axis=1, keepdims=True) < 1
    return inset_by(standing_weights(points, triangles), np.where(room, wide, needed))


def standing_weights(points: Floats, triangles: Floats) -> Floats:
    """Barycentric coordinates (A, 3) of points (A, 2), with what rounding put below zero cut off."""
    weights = np.maximum(weights_in(points, triangles), 0.0)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
