"""What agents carry from step to step: arrays by name, one row per agent. Most agents need none.

    place    (A, 2)     where the agent stood when the epoch began; kept where an anchor is told to stay there, and by
                        all who fly from there to their reference positions
    weights  (A, 3)     w_ij of a follower that morphs, see ``morph``; NaN: it has none yet, or is an anchor
    corners  (A, 3, 2)  where its in-neighbours are, as they announced it in the step before
    heard, …            what came from its in-neighbours, where messages are late or lost, see ``hearing``
    …                   plans and records of agents whose moves may fail, see ``planning`` and ``records``
    …                   what agents that see only so far have seen, and what they report, see ``recall`` and ``sharing``

A new epoch begins with a new memory (``memory_of``), and so does the network when a launch is over. Plans, records and
what was seen are kept (``renewed``); reports are not, as they are for a parent in the network before. What is stored
and resumed is the whole of it, by name.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tricover.control.hearing import HEARD
from tricover.control.planning import PLANS, no_plans, with_plans
from tricover.control.recall import RECALLED, nothing_seen
from tricover.control.records import RECORDS, no_records, record
from tricover.control.rows import Memory, rows_of
from tricover.control.sharing import REPORT, nothing_reported
from tricover.control.told import Told
from tricover.control.view import View
from tricover.limits import check_room

if TYPE_CHECKING:
    from tricover.control.decision import Decision

__all__ = ["SIGHTED", "Memory", "learn", "memory_of", "nothing_planned", "renewed", "rows_of"]

Floats = NDArray[np.float64]

LASTING = (*PLANS, *RECORDS, *HEARD, *RECALLED)
"""What is kept when an epoch begins: an agent forgets nothing that it has learned, heard or seen."""
SIGHTED = (*RECALLED, *REPORT)
"""What agents that see only so far remember of targets."""


def memory_of(told: Told, positions: Floats) -> Memory:
    """What agents at positions (A, 2) remember when an epoch begins."""
    memory = {"place": positions.copy()} if told.some_stay or told.launch else {}
    if told.motion == "morph":
        memory |= nothing_planned(len(positions))
    if told.plans:
        memory |= _nothing_known(told, len(positions))
    if told.sight is not None:
        memory |= _nothing_seen(told, len(positions))
    return memory


def renewed(memory: Memory, new: Memory) -> Memory:
    """The ``new`` memory of an epoch, with what outlasts it of the old one."""
    return {name: memory[name] if name in LASTING and name in memory else rows for name, rows in new.items()}


def nothing_planned(agents: int) -> dict[str, Floats]:
    """What so many agents that morph remember before their first step, and anchors always."""
    return {"weights": np.full((agents, 3), np.nan), "corners": np.full((agents, 3, 2), np.nan)}


def _nothing_known(told: Told, agents: int) -> dict[str, NDArray[Any]]:
    """What so many agents remember of their moves before the first."""
    cells = len(told.grid)
    size = 5.0 * cells + (12.0 * told.window if told.learns else 0.0)
    check_room(agents * size, f"what {agents} agents remember at resolution {told.resolution}")
    return no_plans(told, agents) | (no_records(told, agents) if told.learns else {})


def _nothing_seen(told: Told, agents: int) -> dict[str, NDArray[Any]]:
    """What so many agents know of targets before they look."""
    most = told.summary if isinstance(told.summary, int) else 1
    size = 28.0 * told.recall + 29.0 * most
    check_room(agents * size, f"what {agents} agents remember of {told.recall} targets each")
    return nothing_seen(told, agents) | nothing_reported(told, agents)


def learn(view: View, told: Told, memory: Memory, decision: "Decision", landed: Floats) -> Memory:
    """What agents remember after a step in which they knew and decided this and landed there, (A, 2).

    They keep what they had, but for what the decision itself brought along, and write down how their moves ended.
    """
    kept = {**memory, **decision.remembered}
    kept |= with_plans(memory, [] if decision.replanned is None else [decision.replanned])
    if told.learns and decision.cells is not None:
        kept |= record(told, memory, view.step, decision, landed, lambda rows: view.heard[rows])
    return kept
