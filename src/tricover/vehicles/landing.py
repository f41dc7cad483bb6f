"""Did the output land in the reach set? A miss is told, never hidden.

A point is inside a triangle when its barycentric coordinates are all at least 0. Rounding makes that too strict on an
edge, so a point also counts as inside within a distance of 16 ε·c from the edges, where ε = 2⁻⁵² and c is the largest
coordinate at hand: what the last bits of coordinates of that size can mean, about 4e-15 m at 1 m and 4e-9 m at 1000 km.
A reach set without area (a single point, a segment) has only that band.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.geometry import flat, volumes
from tricover.vehicles.protocol import Floats

__all__ = ["edge_distances", "inside"]

ROUNDING = 16 * np.finfo(np.float64).eps


def edge_distances(points: ArrayLike, triangles: ArrayLike) -> Floats:
    """Distance (agents,) of each point (agents, 2) to the nearest edge of its triangle (agents, 3, 2), in metres."""
    corners = np.asarray(triangles, dtype=np.float64)
    sides = np.roll(corners, -1, axis=-2) - corners
    offsets = np.asarray(points, dtype=np.float64)[..., None, :] - corners
    lengths = np.hypot(sides[..., 0], sides[..., 1])[..., None]
    directions = np.divide(sides, lengths, out=np.zeros_like(sides), where=lengths > 0)
    along = np.clip((directions * offsets).sum(axis=-1, keepdims=True), 0, lengths)
    gaps = offsets - along * directions
    return np.asarray(np.hypot(gaps[..., 0], gaps[..., 1]).min(axis=-1))


def inside(outputs: ArrayLike, reach_sets: ArrayLike, tolerance: float = 0.0) -> NDArray[np.bool_]:
    """Which outputs (agents, 2) lie in their reach sets (agents, 3, 2), edges included.

    ``tolerance``, in metres, widens the band of rounding around the edges; a run whose goals are single points needs
    one, as no real vehicle stops at a point to the last bit.

    >>> inside([[0.2, 0.2], [1.0, 1.0]], [[[0, 0], [1, 0], [0, 1]]] * 2).tolist()
    [True, False]
    """
    points, corners = np.asarray(outputs, dtype=np.float64), np.asarray(reach_sets, dtype=np.float64)
    # The signs of the barycentric coordinates: each corner in turn is replaced by the point.
    parts = np.stack([volumes(np.stack([corners[:, k - 2], corners[:, k - 1], points], axis=1)) for k in range(3)])
    hit = np.asarray(~flat(corners) & ((parts >= 0).all(axis=0) | (parts <= 0).all(axis=0)))
    near = np.flatnonzero(~hit)
    points, corners = points[near], corners[near]
    largest = np.maximum(np.abs(points).max(axis=1), np.abs(corners).max(axis=(1, 2)))
    hit[near] = edge_distances(points, corners) <= tolerance + ROUNDING * largest
    return hit
