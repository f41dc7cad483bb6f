"""Barycentric coordinates of points in simplices: triangles in the plane, tetrahedra in space.

The coordinates λ(x) of a point x in a simplex with corners v_0 … v_n solve

    x = Σ_k λ_k v_k,   Σ_k λ_k = 1,   λ_k = det(simplex with v_k replaced by x) / det(simplex).

They are the weights with which an agent combines its in-neighbours' positions, and they do not care about the
simplex's orientation. Determinants are taken of corner-minus-point differences, so that a point on a corner or an
axis-parallel edge gets exact zeros.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError, listed
from tricover.threads import in_ranges

__all__ = ["barycentric", "combine", "flat", "longest_sides", "volumes", "weights_in"]

Floats = NDArray[np.float64]

_TINY = 1e-290  # cubic metres


def _determinants(simplices: Floats, points: Floats) -> Floats:
    """det of the simplex with corner k replaced by the point, for each k: (…, n+1)."""
    sides = simplices - points[..., None, :]
    if sides.shape[-1] == 2:
        (x0, x1, x2), (y0, y1, y2) = np.moveaxis(sides, (-1, -2), (0, 1))
        return np.stack([x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, x0 * y1 - x1 * y0], axis=-1)
    a, b, c, d = np.moveaxis(sides, -2, 0)

    def triple(u: Floats, v: Floats, w: Floats) -> Floats:
        return np.asarray(np.vecdot(u, np.cross(v, w)))

    return np.stack([triple(b, d, c), triple(a, c, d), triple(a, d, b), triple(a, b, c)], axis=-1)


def volumes(simplices: ArrayLike) -> Floats:
    """Signed n!·volume of each simplex (…, n+1, n): twice the area of a triangle, positive if counter-clockwise."""
    corners = np.asarray(simplices, dtype=np.float64)
    return np.asarray(_determinants(corners, corners[..., -1, :])[..., -1])


def flat(simplices: ArrayLike) -> NDArray[np.bool_]:
    """Which simplices (…, n+1, n) have no volume, as far as floating point can tell.

    Hadamard: no determinant exceeds the product of the sides at a corner. The largest product measures rounding. What
    has less than 1e-290 square or cubic metres is flat, too: products that small lose digits.
    """
    corners = np.asarray(simplices, dtype=np.float64)
    if corners.shape[-1] == 2:
        from tricover.geometry._triangles import find_flat

        triangles = np.ascontiguousarray(corners.reshape(-1, 3, 2))
        found = np.empty(len(triangles), np.bool_)
        in_ranges(lambda first, last: find_flat(triangles, first, last, found), len(found))
        return found.reshape(corners.shape[:-2])
    lengths = np.linalg.norm(corners[..., :, None, :] - corners[..., None, :, :], axis=-1)
    largest = np.prod(lengths + np.eye(lengths.shape[-1]), axis=-1).max(axis=-1)
    return np.asarray(np.abs(volumes(corners)) <= 8 * np.finfo(np.float64).eps * largest + _TINY)


def barycentric(points: ArrayLike, simplices: ArrayLike) -> Floats:
    """Barycentric coordinates (…, n+1) of points (…, n) in simplices (…, n+1, n); the two broadcast.

    A flat simplex has no coordinates and is an error; ask ``flat`` first.

    >>> barycentric([1.0, 1.0], [[0, 0], [4, 0], [0, 4]]).tolist()
    [0.5, 0.25, 0.25]
    """
    corners = np.asarray(simplices, dtype=np.float64)
    culprits = np.flatnonzero(flat(corners))
    if culprits.size:
        raise InputError(f"simplex {listed(culprits)} has no volume: its corners lie on one line or plane")
    places = np.asarray(points, dtype=np.float64)
    if corners.shape[-1] == 2:
        return _in_triangles(places, corners)
    parts = _determinants(corners, places)
    whole, total = volumes(corners), parts.sum(axis=-1)
    far = np.abs(total - whole) > 1e-3 * np.abs(whole)  # far from a thin simplex the parts cancel
    if far.any():
        parts[..., -1] = np.where(far, whole - parts[..., :-1].sum(axis=-1), parts[..., -1])
        total = np.where(far, whole, total)
    return np.asarray(parts / total[..., None])


def _in_triangles(points: Floats, triangles: Floats) -> Floats:
    shape = np.broadcast_shapes(points.shape[:-1], triangles.shape[:-2])
    places = np.ascontiguousarray(np.broadcast_to(points, (*shape, 2)).reshape(-1, 2))
    corners = np.ascontiguousarray(np.broadcast_to(triangles, (*shape, 3, 2)).reshape(-1, 3, 2))
    return weights_in(places, corners).reshape(*shape, 3)


def weights_in(points: Floats, triangles: Floats) -> Floats:
    """Barycentric coordinates (A, 3) of points (A, 2) in triangles (A, 3, 2); a third each where one is flat."""
    from tricover.geometry._triangles import find_weights

    weights = np.empty((len(points), 3))
    in_ranges(lambda first, last: find_weights(points, triangles, first, last, weights), len(points))
    return weights


def longest_sides(triangles: Floats) -> Floats:
    """The longest sides (A,) of triangles (A, 3, 2).

    >>> longest_sides(np.array([[[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]]])).tolist()
    [5.0]
    """
    a, b, c = triangles.swapaxes(0, 1)
    lengths = [np.hypot(side[:, 0], side[:, 1]) for side in (b - a, c - b, a - c)]
    return np.asarray(np.maximum(np.maximum(lengths[0], lengths[1]), lengths[2]))


def combine(weights: Floats, simplices: Floats) -> Floats:
    """Points Σ_k weights_k · corner_k (…, n) for weights (…, n+1) and simplices (…, n+1, n): ``barycentric`` undone.

    Sums go corner by corner, so that a row's bits do not depend on the batch around it.

    >>> combine(np.array([0.5, 0.25, 0.25]), np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])).tolist()
    [1.0, 1.0]
    """
    parts = weights[..., None] * simplices
    total = parts[..., 0, :]
    for k in range(1, parts.shape[-2]):
        total = total + parts[..., k, :]
    return np.asarray(total)
