"""Records of how moves ended, which an agent that learns writes down after each of its moves.

Each of its moves, that is: who is outside its triangle, waits for others or is an anchor makes no move of its policy.
A record is a transition of the agent's own decision process: the cell it stood in, the cell it intended, and the code
of the offset at which it ended (``mdp.offsets``), all in the triangle in which it decided. Nobody has to tell it. The
last W are kept. Older ones are forgotten, as a triangle that has turned makes something else of a gust.

    records    (A, W, 3)    the last moves, in a ring: move k is at place k mod W
    recent     (A, R+1, 3)  the moves after these, each as often as it was repeated: runs of equal moves
    begins     (A, R+1)     the number of the first move of each run
    runs       (A,)         how many runs there are
    recorded   (A,)         moves that were recorded so far
    last_miss  (A,)         which was the last that did not end in the intended cell, counted from 1 on; 0: none

Every R steps, by the agent's own clock, the recent moves are put to the others, unless there is but one run of them. A
step need not copy what has not changed: an agent that stays at its goal counts its moves, and no more.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tricover.control import _records
from tricover.control.rows import Memory
from tricover.control.told import Told
from tricover.threads import in_ranges

if TYPE_CHECKING:
    from tricover.control.decision import Decision

__all__ = ["RECORDS", "learned_from", "no_records", "record"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Arrays: TypeAlias = dict[str, NDArray[Any]]
Heard: TypeAlias = Callable[[Ints], Floats]

RECENT = 32
"""R. More are more to copy in every step, fewer are more often put to the others, which copies all of these."""
RECORDS = ("records", "recent", "begins", "runs", "recorded", "last_miss")


def no_records(told: Told, agents: int) -> Arrays:
    """What so many agents have recorded before their first move."""
    size = np.int16 if len(told.grid) <= np.iinfo(np.int16).max else np.int32
    return {
        "records": np.zeros((agents, told.window, 3), size),
        "recent": np.zeros((agents, RECENT + 1, 3), size),
        "begins": np.zeros((agents, RECENT + 1), np.int64),
        "runs": np.zeros(agents, np.int64),
        "recorded": np.zeros(agents, np.int64),
        "last_miss": np.zeros(agents, np.int64),
    }


def record(told: Told, memory: Memory, step: int, decision: "Decision", landed: Floats, heard: Heard) -> Arrays:
    """What has changed of the records (A, …) after a step in which agents decided this and landed there, (A, 2).

    ``heard(rows)`` tells the triangles (K, 3, 2) that some of them heard; who landed on its setpoint is not asked.
    """
    from tricover.mdp import HIT, codes_of

    assert decision.cells is not None, "who learns walks"
    cells, setpoints = decision.cells, decision.setpoints
    moved = (cells.state >= 0) & (cells.next >= 0)
    off = np.flatnonzero(moved & ((landed[:, 0] != setpoints[:, 0]) | (landed[:, 1] != setpoints[:, 1])))
    codes = np.full(len(moved), HIT)
    if off.size:
        codes[off] = codes_of(told.grid, cells.next[off], landed[off], heard(off))
    found = _with_new_runs(memory, moved, (cells.state, cells.next, codes))
    found["recorded"] = memory["recorded"] + moved
    missed = off[codes[off] != HIT]
    if missed.size:
        found["last_miss"] = memory["last_miss"].copy()
        found["last_miss"][missed] = found["recorded"][missed]
    if step % RECENT == RECENT - 1:
        found |= _folded({**memory, **found})
    return found


def _with_new_runs(memory: Memory, moved: NDArray[np.bool_], moves: tuple[Ints, Ints, Ints]) -> Arrays:
    """Recent runs with the moves, (A,) each, of those who moved otherwise than before; nothing if nobody did."""
    rows = np.flatnonzero(_records.unlike(memory["recent"], memory["runs"], moved, *moves))
    if not rows.size:
        return {}
    found = {name: memory[name].copy() for name in ("recent", "begins", "runs")}
    places = found["runs"][rows]
    found["recent"][rows, places] = np.stack([part[rows] for part in moves], axis=1)
    found["begins"][rows, places] = memory["recorded"][rows]
    found["runs"][rows] += 1
    return found


def _folded(memory: Memory) -> Arrays:
    """The records of those who have several runs, with these put to the others."""
    several = memory["runs"] > 1
    if not several.any():
        return {}
    runs = np.where(several, memory["runs"], 0)
    return {"records": _put(memory, runs), "runs": memory["runs"] - runs}


def _put(memory: Memory, runs: Ints) -> NDArray[np.integer]:
    """Records (A, W, 3), with so many runs (A,) put to them."""
    records = np.array(memory["records"])
    recent, begins, recorded = memory["recent"], memory["begins"], memory["recorded"]

    def put(first: int, last: int) -> None:
        some = slice(first, last)
        _records.put_runs(recent[some], begins[some], runs[some], recorded[some], records[some])

    in_ranges(put, len(runs))
    return records


def learned_from(memory: Memory) -> tuple[NDArray[np.integer], Ints]:
    """All moves that are kept, (A, W, 3), the recent ones among them, and how many were ever recorded, (A,)."""
    runs, recorded = memory["runs"], memory["recorded"]
    return _put(memory, runs), np.asarray(recorded)
