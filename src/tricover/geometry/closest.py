"""The point of a triangle that is closest to another: projection onto a convex set.

With c the closest point of a triangle to x, and any r in the triangle, (x - c)·(r - c) ≤ 0. So whoever stands at r in
its triangle and wants to go to x, and goes to c instead or a part of the way, comes closer to x all the time.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.geometry.simplices import combine, flat, weights_in

__all__ = ["closest_points", "inset_triangles"]

Floats = NDArray[np.float64]


def inset_triangles(triangles: Floats, least: Floats | float) -> Floats:
    """The parts (A, 3, 2) of triangles (A, 3, 2) in which barycentric coordinates are at least so much, (A, 3) or one.

    Their sum must be less than one.

    >>> inset_triangles(np.array([[[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]]), 0.25)[0].tolist()
    [[1.0, 1.0], [2.0, 1.0], [1.0, 2.0]]
    """
    rows = np.broadcast_to(np.asarray(least, np.float64), triangles.shape[:2])
    spare = 1.0 - rows.sum(axis=1)
    weights = rows[:, None, :] + spare[:, None, None] * np.eye(3)
    return combine(weights, triangles[:, None])


def closest_points(points: Floats, triangles: Floats) -> Floats:
    """The points (A, 2) of triangles (A, 3, 2), with or without area, that are closest to points (A, 2).

    A point that is inside stays as it is, to the bit.

    >>> closest_points(np.array([[3.0, 3.0]]), np.array([[[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]])).tolist()
    [[2.0, 2.0]]
    """
    outside = flat(triangles)
    proper = np.flatnonzero(~outside)
    inside = weights_in(points[proper], np.ascontiguousarray(triangles[proper])).min(axis=1, initial=1.0) >= 0
    outside[proper[~inside]] = True
    rows = np.flatnonzero(outside)
    found = points.copy()
    found[rows] = _on_edges(points[rows], triangles[rows])
    return found


def _on_edges(points: Floats, triangles: Floats) -> Floats:
    """The closest points (A, 2) on the edges."""
    along = np.roll(triangles, -1, axis=1) - triangles
    away = points[:, None] - triangles
    squares = (along * along).sum(axis=2)
    shares = (away * along).sum(axis=2) / np.where(squares > 0, squares, 1.0)
    feet = triangles + np.clip(shares, 0.0, 1.0)[..., None] * along
    apart = ((feet - points[:, None]) ** 2).sum(axis=2)
    return np.asarray(feet[np.arange(len(points)), apart.argmin(axis=1)])
