"""What an agent has heard of its in-neighbours: the newest message of each, and how old it is.

Where every message arrives at once, nobody has to remember any. Elsewhere an agent remembers

    heard     (A, 3, 2)  the position in the newest message that came from each of its in-neighbours, in the order of
                         ``network.in_neighbors``; NaN: none came yet, or it listens to nobody
    ages      (A, 3)     how many steps ago that message was sent; -1: none came yet
    believed  (A,)       the epoch that it takes for the present one: who has not heard of a repair does not know it

A message that is older than the one before it is of no use: it was overtaken, and is dropped.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tricover.control.rows import Memory

__all__ = ["HEARD", "NOTHING", "newest", "nothing_heard", "unheard"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Arrays: TypeAlias = dict[str, NDArray[Any]]

NOTHING = -1
"""The age of a message that never came."""
HEARD = ("heard", "ages", "believed")


def nothing_heard(agents: int) -> Arrays:
    """What so many agents have heard before the first message."""
    return {
        "heard": np.full((agents, 3, 2), np.nan),
        "ages": np.full((agents, 3), NOTHING, np.int32),
        "believed": np.zeros(agents, np.int32),
    }


def newest(memory: Memory, positions: Floats, ages: Ints) -> Arrays:
    """What agents have heard a step later, by messages with positions (A, 3, 2) that have come since, of ages (A, 3).

    -1: none came.
    """
    older = np.where(memory["ages"] == NOTHING, NOTHING, memory["ages"] + 1)
    better = (ages != NOTHING) & ((older == NOTHING) | (ages < older))
    return {
        "heard": np.where(better[..., None], positions, memory["heard"]),
        "ages": np.where(better, ages, older).astype(np.int32),
    }


def unheard(ages: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Who (A,) has not heard of all its in-neighbours yet, by ages (A, 3)."""
    return np.asarray((ages == NOTHING).any(axis=1))
