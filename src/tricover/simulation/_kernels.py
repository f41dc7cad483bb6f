"""Kernels of the step: whose view has changed, what it shows, and where everybody goes."""

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel

__all__ = ["concerned", "listen", "measure", "moved", "send"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Agents = NDArray[np.int64]


@kernel
def moved(before: Floats, after: Floats, first: int, last: int, flags: Flags) -> None:
    """Which agents (N,) have moved."""
    for i in range(first, last):
        flags[i] = before[i, 0] != after[i, 0] or before[i, 1] != after[i, 1]


@kernel
def concerned(
    followers: Agents, in_neighbors: NDArray[np.int32], flags: Flags, first: int, last: int, due: Flags
) -> None:
    """Which followers (F,) have moved, or listen to somebody who has."""
    for place in range(first, last):
        i = followers[place]
        a, b, c = in_neighbors[i, 0], in_neighbors[i, 1], in_neighbors[i, 2]
        due[place] = flags[i] or flags[a] or flags[b] or flags[c]


@kernel
def listen(
    agents: Agents,
    in_neighbors: NDArray[np.int32],
    positions: Floats,
    first: int,
    last: int,
    own: Floats,
    triangles: Floats,
) -> None:
    """What agents (A,) hear: their own positions (A, 2), and those of their in-neighbours (A, 3, 2)."""
    for place in range(first, last):
        i = agents[place]
        own[place, 0], own[place, 1] = positions[i, 0], positions[i, 1]
        for k in range(3):
            j = in_neighbors[i, k]
            triangles[place, k, 0], triangles[place, k, 1] = positions[j, 0], positions[j, 1]


@kernel
def measure(agents: Agents, own: Floats, goals: Floats, first: int, last: int, away: Floats) -> None:
    """How far agents (A,) are from their goals, for everybody (N,)."""
    for place in range(first, last):
        x, y = own[place, 0] - goals[place, 0], own[place, 1] - goals[place, 1]
        away[agents[place]] = np.sqrt(x * x + y * y)


@kernel
def send(agents: Agents, setpoints: Floats, first: int, last: int, positions: Floats) -> None:
    """Put agents (A,) at their setpoints (A, 2) among everybody's positions (N, 2)."""
    for place in range(first, last):
        i = agents[place]
        positions[i, 0], positions[i, 1] = setpoints[place, 0], setpoints[place, 1]
