"""Kernels of the step: whose view has changed, what it shows, and where everybody goes."""

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel

__all__ = ["measure", "moved", "see", "send"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Agents = NDArray[np.int64]
Hears = NDArray[np.int32]


@kernel
def moved(before: Floats, after: Floats, first: int, last: int, flags: Flags) -> None:
    """Which agents have moved."""
    for i in range(first, last):
        flags[i] = before[i, 0] != after[i, 0] or before[i, 1] != after[i, 1]


@kernel
def see(
    followers: Agents, hears: Hears, positions: Floats, news: Flags, first: int, last: int
) -> tuple[Agents, Floats, Floats]:
    """Those of the followers first … last for whom there is news of themselves or of somebody whom they hear (F, 3).

    Also returns their positions, and those of the ones they hear.
    """
    most, count = last - first, 0
    agents, own, triangles = np.empty(most, np.int64), np.empty((most, 2)), np.empty((most, 3, 2))
    for i in range(first, last):
        concerned = news[i]
        agents[count], own[count, 0], own[count, 1] = followers[i], positions[i, 0], positions[i, 1]
        for k in range(3):
            j = hears[i, k]
            concerned |= news[j]
            triangles[count, k, 0], triangles[count, k, 1] = positions[j, 0], positions[j, 1]
        count += concerned
    return agents[:count], own[:count], triangles[:count]


@kernel
def measure(agents: Agents, own: Floats, goals: Floats, away: Floats) -> None:
    """How far agents (A,) are from their goals, for everybody (N,)."""
    for place, i in enumerate(agents):
        x, y = own[place, 0] - goals[place, 0], own[place, 1] - goals[place, 1]
        away[i] = np.sqrt(x * x + y * y)


@kernel
def send(agents: Agents, setpoints: Floats, positions: Floats) -> None:
    """Put agents (A,) at their setpoints (A, 2) among everybody's positions (N, 2)."""
    for place, i in enumerate(agents):
        positions[i, 0], positions[i, 1] = setpoints[place, 0], setpoints[place, 1]
