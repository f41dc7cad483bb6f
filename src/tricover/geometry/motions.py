"""Motions: positions of agents, step by step, and who takes part in which step."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError
from tricover.formats.points import LARGEST

__all__ = ["checked_motion"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def checked_motion(positions: ArrayLike, present: ArrayLike | None) -> tuple[Floats, Flags]:
    """Positions (T+1, N, 2) and who takes part (T+1, N), everybody where None is given; what is wrong is named."""
    given = np.asarray(positions, dtype=np.float64)
    if given.ndim != 3 or given.shape[2] != 2 or not len(given):
        raise InputError(f"positions must have the shape (steps + 1, agents, 2), not {given.shape}")
    there = np.ones(given.shape[:2], np.bool_) if present is None else np.asarray(present, np.bool_)
    if there.shape != given.shape[:2]:
        raise InputError(f"present must have the shape {given.shape[:2]}, not {there.shape}")
    _check(given, there)
    return given, there


def _check(positions: Floats, there: Flags) -> None:
    """Who takes part in a step needs a position before and after it."""
    needed = there.copy()
    needed[1:] |= there[:-1]
    wrong = np.argwhere(needed & ~(np.abs(positions) <= LARGEST).all(axis=2))
    if len(wrong):
        step, agent = wrong[0]
        raise InputError(f"agent {agent} has no finite position at step {step}, within {LARGEST:g} m")
