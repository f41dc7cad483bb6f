"""Compiled loops of ``records``: who moves otherwise than before, and recent runs of moves put to the others."""

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel

Ints = NDArray[np.int64]
Records = NDArray[np.integer]


@kernel
def unlike(
    recent: Records, runs: Ints, moved: NDArray[np.bool_], cells: Records, intended: Records, codes: Ints
) -> NDArray[np.bool_]:
    """Who (A,) moved, and not as in the last of its runs."""
    found = np.empty(len(runs), np.bool_)
    for agent in range(len(runs)):
        last = recent[agent, max(runs[agent] - 1, 0)]
        same = last[0] == cells[agent] and last[1] == intended[agent] and last[2] == codes[agent]
        found[agent] = moved[agent] and not (runs[agent] > 0 and same)
    return found


@kernel
def put_runs(recent: Records, begins: Ints, runs: Ints, recorded: Ints, records: Records) -> None:
    """Write the moves of recent runs (A, R+1, 3) to the rings (A, W, 3), move k to place k mod W."""
    window = records.shape[1]
    for agent in range(len(runs)):
        for run in range(runs[agent]):
            end = begins[agent, run + 1] if run + 1 < runs[agent] else recorded[agent]
            # Of a run that is longer than the ring only the last moves are left.
            for move in range(max(begins[agent, run], end - window), end):
                place = move % window
                for part in range(3):
                    records[agent, place, part] = recent[agent, run, part]
