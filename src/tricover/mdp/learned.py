"""What agents learn of their moves: kernels of many agents, each from its own last records.

A record is (cell, intended cell, code): where the agent stood, what it intended, and the offset at which the move ended
(see ``offsets``), in the triangle in which it decided. An agent keeps its last W records in a ring, so whatever is
older is forgotten. With n_o of the n records of up cells at offset o, the pooled chance of that offset is

    p_o = (n_o + c₀ [o is success]) / (n + c₀),

a prior that believes in success and counts for c₀ moves, and likewise for down cells. The measure of an intended cell
is the pooled one, and single cells differ where their own records insist (see ``estimate``). Ends beyond the edges of
the triangle are one: outside.

An agent with fewer than ``FEW`` records, or with a share of misses below ``SELDOM``, acts as if moves always succeed.

Records of one agent alone give its kernel, to the bit, whoever else is in the batch.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError
from tricover.geometry import CellGrid
from tricover.mdp import _learning
from tricover.mdp.estimate import KernelEstimate, PooledOffsets, measure_weights, pooled_weight, slip_deviation
from tricover.mdp.offsets import REACH, lattice
from tricover.mdp.transition import from_measures
from tricover.mdp.uncertain import KernelBatch
from tricover.threads import in_ranges

__all__ = ["estimate_records", "learned_kernels"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Records = NDArray[np.integer]

BELIEF = 2.0  # c₀
FEW = 50
SELDOM = 0.02


class _Learned(NamedTuple):
    kernels: KernelBatch
    strengths: Floats
    certain: NDArray[np.bool_]


def learned_kernels(grid: CellGrid, records: Records, recorded: Ints) -> tuple[KernelBatch, NDArray[np.bool_]]:
    """Kernels of agents with records (A, W, 3) of which ``recorded`` (A,) were ever made, and who is certain (A,)."""
    found = _learned(grid, records, recorded)
    return found.kernels, found.certain


def _learned(grid: CellGrid, records: Records, recorded: Ints) -> _Learned:
    if records.ndim != 3 or records.shape[2] != 3 or recorded.shape != records.shape[:1]:
        raise InputError(f"records must have the shape (agents, window, 3), not {records.shape} of {recorded.shape}")
    agents, table = len(records), lattice(grid)
    kept, counts = np.ascontiguousarray(records), np.asarray(recorded, np.int64)
    widths = np.empty((agents, len(grid)), np.int64)
    in_ranges(lambda first, last: _learning.count_ends(table, kept, counts, first, last, widths), agents, smallest=8)
    indptr = np.zeros((agents, len(grid) + 1), np.int64)
    np.cumsum(widths, axis=1, out=indptr[:, 1:])
    indptr[1:] += np.cumsum(indptr[:-1, -1])[:, None]
    entries = int(indptr[-1, -1]) if agents else 0
    indices, (means, chances) = np.empty(entries, np.uint32), np.empty((2, entries))
    strengths = np.empty(agents)
    out = indptr, indices, means, chances, strengths
    in_ranges(lambda first, last: _learning.learn(table, kept, counts, BELIEF, first, last, *out), agents, smallest=8)
    return _Learned(KernelBatch(indptr, indices, chances), strengths, _certain(kept, counts))


def _certain(records: Records, recorded: Ints) -> NDArray[np.bool_]:
    """Who (A,) acts as if moves always succeed."""
    count = np.minimum(recorded, records.shape[1])
    made = np.arange(records.shape[1]) < count[:, None]
    misses = (made & (records[:, :, 2] != 0)).sum(axis=1)
    return np.asarray((count < FEW) | (misses < SELDOM * count))


def estimate_records(grid: CellGrid, records: Records, recorded: int) -> KernelEstimate:
    """What an agent with these records (W, 3), of which ``recorded`` were ever made, knows of its kernel."""
    from scipy import sparse

    found = _learned(grid, records[None], np.array([recorded], np.int64))
    (indptr,), indices, chances = found.kernels
    strength = float(found.strengths[0])
    shape = len(grid), len(grid) + 1
    measures = sparse.csr_array((chances, indices.astype(np.int64), indptr), shape=shape)
    made = records[: min(recorded, len(records))].astype(np.int64)
    per_cell = np.bincount(made[:, 1], minlength=len(grid))
    known = {way: pooled_weight(per_cell[grid.up == way], strength) + BELIEF for way in (True, False)}
    chance = (int((made[:, 2] != 0).sum()) + 1) / (len(made) + 2)
    return KernelEstimate(
        kernel=from_measures(grid, measures, REACH),
        weight=measure_weights(per_cell, strength, np.where(grid.up, known[True], known[False])),
        records=per_cell,
        slip=chance,
        slip_deviation=slip_deviation(chance, len(made)),
        strength=strength,
        pooled=_pooled(grid, made, known),
        certain=bool(found.certain[0]),
    )


def _pooled(grid: CellGrid, made: Ints, known: dict[bool, float]) -> PooledOffsets:
    """The pooled chances, those of up cells first."""
    tally = np.zeros((2, len(lattice(grid).offsets) + 1), np.int64)
    _learning.tally_codes(lattice(grid), made, len(made), tally)
    needed = tally > 0
    needed[:, 0] = True
    down, codes = np.nonzero(needed[::-1])
    counts, up = tally[::-1][down, codes], down == 0
    totals = tally[::-1].sum(axis=1)[down] + BELIEF
    chances = (counts + BELIEF * (codes == 0)) / totals
    return PooledOffsets(codes, up, counts, chances, np.where(up, known[True], known[False]))
