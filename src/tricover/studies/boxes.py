"""Boxes along the axes, as rows of (low x, low y, high x, high y): how near and how far what is in them can be."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["box_around", "farthest", "gaps", "near"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

ROOM = 1e-9
"""Of the coordinates and of a distance: far more than rounding can take away."""


def box_around(points: Floats) -> Floats:
    """The box (4,) around points (…, 2); that of none is nowhere."""
    flat = points.reshape(-1, 2)
    return np.concatenate([flat.min(axis=0, initial=np.inf), flat.max(axis=0, initial=-np.inf)])


def gaps(box: Floats, others: Floats) -> Floats:
    """How far others (K, 4) are from a box (4,), at least, (K,)."""
    apart = np.maximum(box[:2] - others[:, 2:], others[:, :2] - box[2:])
    return np.asarray(np.hypot(*np.maximum(apart, 0.0).T))


def farthest(box: Floats, others: Floats) -> Floats:
    """How far points of others (K, 4) can be from those of a box (4,), at most, (K,)."""
    apart = np.maximum(np.abs(box[2:] - others[:, :2]), np.abs(others[:, 2:] - box[:2]))
    return np.asarray(np.hypot(*apart.T))


def near(box: Floats, others: Floats, distance: float) -> Flags:
    """Which others (K, 4) may have points within a distance of those of a box (4,), (K,)."""
    largest = max(np.abs(box).max(), np.abs(others).max(initial=0.0))
    within: Flags = gaps(box, others) <= distance * (1 + ROOM) + ROOM * largest
    return within
