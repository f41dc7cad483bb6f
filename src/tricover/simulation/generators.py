"""Formations and targets made by rule, for scenarios that bring no file; the same seed gives the same points."""

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError

__all__ = ["clusters", "disc", "polygon", "square"]

Floats = NDArray[np.float64]


def square(agents: int, size: float, rng: np.random.Generator) -> Floats:
    """Positions (agents, 2): corners of a square of side ``size`` around the origin, its centre, the rest inside.

    >>> square(6, 2.0, np.random.default_rng(0))[:5].tolist()
    [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [0.0, 0.0]]
    """
    if agents < 6:
        raise InputError(f"a square formation needs at least 6 agents, not {agents}: 4 corners, a core and a follower")
    frame = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [0, 0]], np.float64)
    return np.concatenate([frame, rng.uniform(-1, 1, (agents - 5, 2))]) * (size / 2)


def disc(agents: int, size: float, rng: np.random.Generator) -> Floats:
    """Positions (agents, 2), uniform in a disc of diameter ``size`` around the origin."""
    radii, angles = size / 2 * np.sqrt(rng.random(agents)), rng.uniform(0, 2 * np.pi, agents)
    return np.asarray(radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1))


def polygon(count: int, corners: Floats, rng: np.random.Generator) -> Floats:
    """Points (count, 2), uniform in a simple polygon with corners (K, 2)."""
    low, high = corners.min(axis=0), corners.max(axis=0)
    sides = np.roll(corners, -1, axis=0) - corners
    if len(corners) < 3 or not abs(corners[:, 0] @ sides[:, 1] - corners[:, 1] @ sides[:, 0]) > 0:
        raise InputError("the targets' polygon has no area: give at least three corners that are not on one line")
    points = np.empty((0, 2))
    while len(points) < count:
        tried = rng.uniform(low, high, (max(2 * count, 64), 2))
        points = np.concatenate([points, tried[_inside(tried, corners, sides)]])
    return points[:count]


def _inside(points: Floats, corners: Floats, sides: Floats) -> NDArray[np.bool_]:
    """Even–odd rule: how many sides does a ray to the right cross?"""
    offsets = points[:, None] - corners
    spans = (offsets[..., 1] >= 0) != (offsets[..., 1] - sides[:, 1] >= 0)
    heights = np.where(sides[:, 1] == 0, 1.0, sides[:, 1])
    right = offsets[..., 0] < sides[:, 0] * offsets[..., 1] / heights
    return np.asarray((spans & right).sum(axis=1) % 2 == 1)


def clusters(count: int, centres: Floats, spread: float, rng: np.random.Generator) -> Floats:
    """Points (count, 2), normal with standard deviation ``spread`` around centres (K, 2), each as likely."""
    return np.asarray(centres[rng.integers(len(centres), size=count)] + rng.normal(0, spread, (count, 2)))
