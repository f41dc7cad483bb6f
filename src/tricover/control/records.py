"""Records of how moves ended, which an agent that learns writes down after each of its moves.

Each of its moves, that is: who is outside its triangle, waits for others or is an anchor makes no move of its policy.
A record is a transition of the agent's own decision process: the cell it stood in, the cell it intended, and the code
of the offset at which it ended (``mdp.offsets``), all in the triangle in which it decided. Nobody has to tell it. The
last W are kept. Older ones are forgotten, as a triangle that has turned makes something else of a gust.

    records    (A, W, 3)   the last moves, in a ring: move k is at place k mod W
    folded     (A,)        how many moves were put there so far
    recent     (A, R, 3)   the moves after these
    recorded   (A,)        moves that were recorded so far
    last_miss  (A,)        which of them was the last that did not end in the intended cell, counted from 1 on; 0: none

Every R steps, by the agent's own clock, the recent moves are put to the others. All else is small, so that a step need
not copy what has not changed.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tricover.control.rows import Memory
from tricover.control.told import Told

if TYPE_CHECKING:
    from tricover.control.decision import Decision

__all__ = ["RECORDS", "learned_from", "no_records", "record"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Arrays: TypeAlias = dict[str, NDArray[Any]]
Heard: TypeAlias = Callable[[Ints], Floats]

RECENT = 32
"""R. More are more to copy in every step, fewer are more often put to the others, which copies all of these."""
RECORDS = ("records", "folded", "recent", "recorded", "last_miss")


def no_records(told: Told, agents: int) -> Arrays:
    """What so many agents have recorded before their first move."""
    size = np.int16 if len(told.grid) <= np.iinfo(np.int16).max else np.int32
    return {
        "records": np.zeros((agents, told.window, 3), size),
        "folded": np.zeros(agents, np.int64),
        "recent": np.zeros((agents, RECENT, 3), size),
        "recorded": np.zeros(agents, np.int64),
        "last_miss": np.zeros(agents, np.int64),
    }


def record(told: Told, memory: Memory, step: int, decision: "Decision", landed: Floats, heard: Heard) -> Arrays:
    """What has changed of the records (A, …) after a step in which agents decided this and landed there, (A, 2).

    ``heard(rows)`` tells the triangles (K, 3, 2) that some of them heard; who landed on its setpoint is not asked.
    """
    from tricover.mdp import HIT, codes_of

    assert decision.cells is not None, "who learns walks"
    rows = np.flatnonzero((decision.cells.state >= 0) & (decision.cells.next >= 0))
    cells, intended = decision.cells.state[rows], decision.cells.next[rows]
    codes = np.full(len(rows), HIT)
    off = np.flatnonzero((landed[rows] != decision.setpoints[rows]).any(axis=1))
    if off.size:
        codes[off] = codes_of(told.grid, intended[off], landed[rows[off]], heard(rows[off]))
    recent, recorded = memory["recent"].copy(), memory["recorded"].copy()
    recent[rows, recorded[rows] - memory["folded"][rows]] = np.stack([cells, intended, codes], axis=1)
    recorded[rows] += 1
    found: Arrays = {"recent": recent, "recorded": recorded}
    missed = rows[codes != HIT]
    if missed.size:
        found["last_miss"] = memory["last_miss"].copy()
        found["last_miss"][missed] = recorded[missed]
    if step % RECENT == RECENT - 1:
        found["records"] = learned_from({**memory, **found})[0]
        found["folded"] = recorded
    return found


def learned_from(memory: Memory) -> tuple[NDArray[np.integer], Ints]:
    """All moves that are kept, (A, W, 3), the recent ones among them, and how many were ever recorded, (A,)."""
    records, recent, recorded = np.array(memory["records"]), memory["recent"], memory["recorded"]
    folded = memory["folded"]
    for place in range(int((recorded - folded).max(initial=0))):
        rows = np.flatnonzero(folded + place < recorded)
        records[rows, (folded[rows] + place) % records.shape[1]] = recent[rows, place]
    return records, np.asarray(recorded)
