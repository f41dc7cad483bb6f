"""What agents carry from step to step: arrays by name, one row per agent. Most agents need none.

    place    (A, 2)     where the agent stood when the epoch began; kept where an anchor is told to stay there, and by
                        all who fly from there to their reference positions
    weights  (A, 3)     w_ij of a follower that morphs, see ``morph``; NaN: it has none yet, or is an anchor
    corners  (A, 3, 2)  where its in-neighbours are, as they announced it in the step before

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

__all__ = ["Memory", "learn", "memory_of", "nothing_planned", "rows_of"]

Memory: TypeAlias = Mapping[str, NDArray[Any]]


def memory_of(told: Told, positions: NDArray[np.float64]) -> Memory:
    """What agents at positions (A, 2) remember when an epoch begins."""
    memory = {"place": positions.copy()} if told.some_stay or told.launch else {}
    if told.motion == "morph":
        memory |= nothing_planned(len(positions))
    return memory


def nothing_planned(agents: int) -> dict[str, NDArray[np.float64]]:
    """What so many agents that morph remember before their first step, and anchors always."""
    return {"weights": np.full((agents, 3), np.nan), "corners": np.full((agents, 3, 2), np.nan)}


def rows_of(memory: Memory, rows: NDArray[np.int64]) -> Memory:
    """The memory of some of the agents."""
    return {name: values[rows] for name, values in memory.items()}


def learn(memory: Memory, decision: "Decision", landed: NDArray[np.float64]) -> Memory:
    """What agents remember after a step in which they decided this and landed there, (A, 2).

    They keep what they had, but for what the decision itself brought along.
    """
    return {**memory, **decision.remembered} if decision.remembered else memory
