"""What agents carry from step to step: arrays by name, one row per agent. Most agents need none.

    place  (A, 2)  where the agent stood when the epoch began; kept where an anchor is told to stay there, and by all
                   who fly from there to their reference positions

A new epoch begins with a new memory (``memory_of``), and so does the network when a launch is over. What is stored and
resumed is the whole of it, by name.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tricover.control.told import Told

if TYPE_CHECKING:
    from tricover.control.decision import Decision

__all__ = ["Memory", "learn", "memory_of", "rows_of"]

Memory: TypeAlias = Mapping[str, NDArray[Any]]


def memory_of(told: Told, positions: NDArray[np.float64]) -> Memory:
    """What agents at positions (A, 2) remember when an epoch begins."""
    return {"place": positions.copy()} if told.some_stay or told.launch else {}


def rows_of(memory: Memory, rows: NDArray[np.int64]) -> Memory:
    """The memory of some of the agents."""
    return {name: values[rows] for name, values in memory.items()}


def learn(memory: Memory, decision: "Decision", landed: NDArray[np.float64]) -> Memory:
    """What agents remember after a step in which they decided this and landed there, (A, 2).

    Today's agents learn nothing from a step: they keep what they had.
    """
    return memory
