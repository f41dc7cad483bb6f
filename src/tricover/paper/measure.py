"""Measurements for the claims, written from the definitions, without the code that they are to check."""

import numpy as np
from numpy.typing import NDArray

from tricover.network import Network

__all__ = ["arrival", "centroids", "holders", "inside", "paper_numbers", "triangles_of", "weights_in"]

Floats = NDArray[np.float64]

_AT = 1e-9  # metres: rounding of coordinates of this size


def paper_numbers(agents: NDArray[np.integer]) -> set[int]:
    """The paper counts agents from 1."""
    return {int(agent) + 1 for agent in agents}


def weights_in(points: Floats, simplices: Floats) -> Floats:
    """Barycentric coordinates (K, n+1) of points (K, n) in simplices (K, n+1, n): Σ w_k c_k = x with Σ w_k = 1.

    >>> weights_in(np.array([[1.0, 1.0]]), np.array([[[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]])).tolist()
    [[0.5, 0.25, 0.25]]
    """
    sums = np.concatenate([np.swapaxes(simplices, 1, 2), np.ones_like(simplices[:, None, :, 0])], axis=1)
    values = np.concatenate([points, np.ones((len(points), 1))], axis=1)
    return np.asarray(np.linalg.solve(sums, values[..., None])[..., 0])


def inside(points: Floats, triangle: Floats) -> NDArray[np.bool_]:
    """Which points (K, 2) lie in a triangle (3, 2)."""
    return np.asarray((weights_in(points, np.broadcast_to(triangle, (len(points), 3, 2))) >= -1e-12).all(axis=1))


def centroids(targets: Floats, triangles: Floats) -> Floats:
    """Centroids (K, 2) of the targets (D, 2) in each triangle (K, 3, 2), of its corners where there are none."""
    held = [targets[inside(targets, triangle)] for triangle in triangles]
    return np.array(
        [
            part.mean(axis=0) if len(part) else triangle.mean(axis=0)
            for part, triangle in zip(held, triangles, strict=True)
        ]
    )


def holders(point: Floats, cells: Floats) -> int:
    """How many of the cells (K, 3, 2) hold a point (2,)."""
    weights = weights_in(np.broadcast_to(point, (len(cells), 2)), cells)
    return int((weights >= 0).all(axis=1).sum())


def arrival(path: Floats, place: Floats) -> int | None:
    """The first step from which on a path (T+1, 2) stays at a place (2,), None if it does not end there."""
    away = np.flatnonzero(np.linalg.norm(path - place, axis=1) > _AT)
    first = int(away[-1]) + 1 if away.size else 0
    return first if first < len(path) else None


def triangles_of(network: Network, positions: Floats) -> Floats:
    """The followers' communication triangles (F, 3, 2) at positions (N, 2)."""
    return np.asarray(positions[network.in_neighbors[network.followers]])
