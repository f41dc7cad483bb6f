"""Kernels of the shortcut (``incremental``): whose knowledge has changed, and what they know."""

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel

__all__ = ["changed_views", "moved", "put"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Agents = NDArray[np.int64]
Links = NDArray[np.int32]


@kernel
def moved(before: Floats, after: Floats, first: int, last: int, flags: Flags) -> None:
    """Which agents have moved, by a bit or more."""
    for i in range(first, last):
        flags[i] = before[i, 0] != after[i, 0] or before[i, 1] != after[i, 1]


@kernel
def changed_views(
    followers: Agents, links: Links, positions: Floats, changed: Flags, first: int, last: int
) -> tuple[Agents, Floats, Floats]:
    """Those of the followers first … last who have moved themselves, or hear somebody who has.

    Also returns their positions (A, 2), and those of their in-neighbours (A, 3, 2). Everybody's row is written, and
    the next one writes over it where it is not kept: so no row is looked at twice.
    """
    most, count = last - first, 0
    agents, own, heard = np.empty(most, np.int64), np.empty((most, 2)), np.empty((most, 3, 2))
    for i in range(first, last):
        concerned = changed[i]
        agents[count], own[count, 0], own[count, 1] = followers[i], positions[i, 0], positions[i, 1]
        for k in range(3):
            j = links[i, k]
            concerned |= changed[j]
            heard[count, k, 0], heard[count, k, 1] = positions[j, 0], positions[j, 1]
        count += concerned
    return agents[:count], own[:count], heard[:count]


@kernel
def put(agents: Agents, points: Floats, distances: Floats, all_points: Floats, all_distances: Floats) -> None:
    """Write the points (A, 2) and distances (A,) of agents (A,) among everybody's; without the interpreter's lock."""
    for row, i in enumerate(agents):
        all_points[i, 0], all_points[i, 1] = points[row, 0], points[row, 1]
        all_distances[i] = distances[row]
