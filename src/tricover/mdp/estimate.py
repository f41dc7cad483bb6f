"""A transition kernel estimated from recorded moves, and how sure we are of it.

Record m says: in cell s, the agent intended cell t and ended in cell e. As in the ready-made kernels there is one base
measure μ_t per intended cell, over t itself and its neighbours, with a Dirichlet prior of ``strength`` c and mean μ⁰_t:

    μ_t(e) ~ (N_te + c μ⁰_t(e)) / (N_t + c),   variance  μ_t(e) (1 - μ_t(e)) / (N_t + c + 1),

where N counts the records. The default prior mean is the slip kernel with the chance seen over all records together,
so that cells with few records borrow from the others. How much they borrow is in the records too: by default c is such
that the cells' counts scatter around the prior mean as much as they do. Pearson's X² has mean Σ_t (k_t-1) (1 + ρ
(N_t-1)) for cells with k_t possible ends and ρ = 1/(c+1), so ρ is what X² exceeds Σ_t (k_t-1) by, over Σ_t
(k_t-1)(N_t-1). Cells that are all alike lend each other nearly everything, cells that differ keep to themselves.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError, listed
from tricover.geometry import CellGrid
from tricover.mdp.transition import Kernel, from_measures, slip

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["KernelEstimate", "estimate"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class KernelEstimate:
    """Posterior of a kernel: its mean, the standard deviation of each entry, and the chance to slip."""

    kernel: Kernel
    deviation: "csr_array"
    """(M², M²) posterior standard deviation of each base measure's entries."""
    records: Ints
    """(M²,) how many records intended each cell."""
    slip: float
    """Posterior mean of the chance to end elsewhere than intended, over all records together."""
    slip_deviation: float
    strength: float
    """Of the prior, in records."""

    def __repr__(self) -> str:
        return f"KernelEstimate({self.records.sum()} records, slip {self.slip:.4f} ± {self.slip_deviation:.4f})"


def estimate(
    grid: CellGrid,
    cells: ArrayLike,
    intended_cells: ArrayLike,
    ended_cells: ArrayLike,
    prior: Kernel | None = None,
    strength: float | None = None,
) -> KernelEstimate:
    """Estimate a kernel from records (m,): the cell before, the cell intended, the cell after the move.

    ``prior`` is a kernel with one measure per intended cell (as ``slip`` makes), by default the slip kernel of all
    records; ``strength`` is how many records it counts for, by default as many as the scatter of the records suggests.
    """
    from scipy import sparse

    if strength is not None and not (np.isfinite(strength) and strength > 0):
        raise InputError(f"strength of the prior must be positive, not {strength}")
    targets, ends = _checked_records(grid, cells, intended_cells, ended_cells)
    misses = int((targets != ends).sum())
    chance = (misses + 1) / (len(targets) + 2)
    mean = _measures(grid, slip(grid, chance) if prior is None else prior)
    counts = sparse.csr_array((np.ones(len(ends)), (targets, ends)), shape=(len(grid), len(grid)))
    records = np.bincount(targets, minlength=len(grid))
    strength = _strength(counts, mean, records) if strength is None else strength
    weight = records + strength
    posterior = sparse.csr_array(sparse.diags_array(1 / weight) @ (counts + strength * mean))
    deviation = posterior.copy()
    deviation.data = np.sqrt(posterior.data * (1 - posterior.data)) / np.sqrt(
        np.repeat(weight + 1, np.diff(posterior.indptr))
    )
    return KernelEstimate(
        kernel=from_measures(grid, posterior),
        deviation=deviation,
        records=records,
        slip=chance,
        slip_deviation=float(np.sqrt(chance * (1 - chance) / (len(targets) + 3))),
        strength=float(strength),
    )


def _strength(counts: "csr_array", mean: "csr_array", records: Ints) -> float:
    """The strength c at which counts scatter around the prior mean as they do; from 1 to 10⁴."""
    possible = mean.copy()
    rows = np.repeat(np.arange(len(records)), np.diff(possible.indptr))
    expected = possible.data * records[rows]
    seen = np.asarray(counts[rows, possible.indices]).ravel()
    positive = expected > 0
    scatter = ((seen - expected)[positive] ** 2 / expected[positive]).sum()
    freedom = np.where(records > 0, np.diff(possible.indptr) - 1, 0)
    room = (freedom * np.maximum(records - 1, 0)).sum()
    excess = (scatter - freedom.sum()) / max(room, 1)
    return float(1 / np.clip(excess, 1e-4, 0.5) - 1)


def _measures(grid: CellGrid, prior: Kernel) -> "csr_array":
    if prior.grid != grid or prior.measures.shape[0] != len(grid):
        raise InputError(f"prior must have one measure for each of the {len(grid)} cells of this grid")
    return prior.measures


def _checked_records(grid: CellGrid, cells: ArrayLike, targets: ArrayLike, ends: ArrayLike) -> tuple[Ints, Ints]:
    before, aimed, after = (grid.checked(part, "recorded cell") for part in (cells, targets, ends))
    if not before.ndim == aimed.ndim == after.ndim == 1 or not len(before) == len(aimed) == len(after):
        raise InputError(f"records must have one length, not {before.shape}, {aimed.shape}, {after.shape}")
    for what, first, second in (("intends", before, aimed), ("ends in", aimed, after)):
        wrong = np.flatnonzero(grid.moves(first, second) > 1)
        if wrong.size:
            raise InputError(f"record {listed(wrong)} {what} a cell that is no neighbour of cell {first[wrong[0]]}")
    return aimed, after
