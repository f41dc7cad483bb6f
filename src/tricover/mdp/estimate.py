"""A transition kernel estimated from recorded moves, and how sure we are of it.

Record m says: in cell s, the agent intended cell t and ended in cell e, or outside. As in the ready-made kernels there
is one base measure μ_t per intended cell, with a Dirichlet prior of ``strength`` c and mean μ⁰_t:

    μ_t(e) ~ (N_te + c μ⁰_t(e)) / (N_t + c),   variance  μ_t(e) (1 - μ_t(e)) / (N_t + c + 1),

where N counts the records. The prior mean is what the cells have in common, so that cells with few records borrow from
the others. How much they borrow is in the records too: by default c is such that the cells' counts scatter around the
prior mean as much as they do. Pearson's X² has mean Σ_t (k_t-1) (1 + ρ (N_t-1)) for cells with k_t possible ends and
ρ = 1/(c+1), so ρ is what X² exceeds Σ_t (k_t-1) by, over Σ_t (k_t-1)(N_t-1). Of that excess two standard deviations are
left to chance: X² has the variance Σ_t 2(k_t-1) + (Σ_e 1/μ⁰_t(e) - k_t² - 2k_t + 2)/N_t if all cells are alike
(Haldane 1937). Cells that are alike lend each other nearly everything; cells whose records insist keep to themselves.

The prior mean is an estimate, too, of n records in all. Its variance adds to that of a cell by the share c/(N_t+c) that
the cell borrows, so a measure weighs as much as ν_t records, with

    1/(ν_t+1) = 1/(N_t+c+1) + (c/(N_t+c))² / (n'+1),   n' = n / (1 + ρ (Σ_t N_t²/n - 1)),

as records of one cell count for less where cells differ. The interval of an entry is that of Jeffreys: the quantiles of
Beta(ν_t μ_t(e) + ½, ν_t (1 - μ_t(e)) + ½).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError, listed
from tricover.geometry import OUTSIDE, CellGrid
from tricover.mdp import _learning
from tricover.mdp.transition import Kernel, from_measures, slip

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = [
    "Interval",
    "KernelEstimate",
    "PooledOffsets",
    "beta_interval",
    "estimate",
    "measure_weights",
    "pooled_weight",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Interval(NamedTuple):
    """What holds a chance with a given probability: from ``low`` to ``high``."""

    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class PooledOffsets:
    """What the cells have in common: the chance of each recorded offset, for up and for down cells."""

    codes: Ints
    """(K,) see ``offsets``; code 0 is success."""
    up: NDArray[np.bool_]
    """(K,) whether the intended cell points up."""
    counts: Ints
    """(K,) how often it was recorded."""
    chances: Floats
    """(K,)"""
    weight: Floats
    """(K,) how many records stand behind the chance."""

    def interval(self, level: float = 0.95) -> Interval:
        """Intervals (K,) of the chances."""
        return beta_interval(self.chances, self.weight, level)


@dataclass(frozen=True, eq=False)
class KernelEstimate:
    """Posterior of a kernel: its mean, how many records stand behind it, and the chance to slip."""

    kernel: Kernel
    weight: Floats
    """(M²,) how many records each base measure weighs, own ones and borrowed ones."""
    records: Ints
    """(M²,) how many records intended each cell."""
    slip: float
    """Posterior mean of the chance to end elsewhere than intended, over all records together."""
    slip_deviation: float
    strength: float
    """Of the prior, in records."""
    pooled: PooledOffsets | None = None
    """What an agent that learns takes for the prior mean; None: it was given, or is a slip kernel."""
    certain: bool = False
    """Whether an agent that learns acts as if moves always succeed: too few records, or hardly ever a miss."""

    @property
    def deviation(self) -> "csr_array":
        """(M², M²), or (M², M²+1) with outside: posterior standard deviation of each entry of the measures."""
        return self._alike(np.sqrt(self._means * (1 - self._means) / (self._weights + 1)))

    def interval(self, level: float = 0.95) -> "tuple[csr_array, csr_array]":
        """Two arrays like the measures: what is below, and what is above, each entry with probability ``level``."""
        low, high = beta_interval(self._means, self._weights, level)
        return self._alike(low), self._alike(high)

    def slip_interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval that holds the chance to slip with probability ``level``."""
        count = self.records.sum()
        low, high = beta_interval(np.array([self.slip]), np.array([count + 2.0]), level, 0.0)
        return float(low[0]), float(high[0])

    @property
    def _means(self) -> Floats:
        return np.asarray(self.kernel.measures.data)

    @property
    def _weights(self) -> Floats:
        return np.repeat(self.weight, np.diff(self.kernel.measures.indptr))

    def _alike(self, data: Floats) -> "csr_array":
        from scipy import sparse

        like = self.kernel.measures
        return sparse.csr_array((data, like.indices.copy(), like.indptr.copy()), shape=like.shape)

    def __repr__(self) -> str:
        return f"KernelEstimate({self.records.sum()} records, slip {self.slip:.4f} ± {self.slip_deviation:.4f})"


def estimate(
    grid: CellGrid,
    cells: ArrayLike,
    intended_cells: ArrayLike,
    ended_cells: ArrayLike,
    prior: Kernel | None = None,
    strength: float | None = None,
    reach: int = 1,
) -> KernelEstimate:
    """Estimate a kernel from records (m,): the cell before, the cell intended, the cell after the move.

    ``prior`` is a kernel with one measure per intended cell (as ``slip`` makes), by default the slip kernel of all
    records; ``strength`` is how many records it counts for, by default as many as the scatter of the records suggests.
    A move ends within ``reach`` moves of the cell that it intended, or outside (-1).
    """
    if strength is not None and not (np.isfinite(strength) and strength > 0):
        raise InputError(f"strength of the prior must be positive, not {strength}")
    targets, ends = _checked_records(grid, cells, intended_cells, ended_cells, reach)
    count, misses = len(targets), int((targets != ends).sum())
    chance = (misses + 1) / (count + 2)
    mean = _with_ends(_measures(grid, slip(grid, chance) if prior is None else prior), targets, ends)
    seen, records = _seen(mean, targets, ends), np.bincount(targets, minlength=len(grid))
    bounds = mean.indptr.astype(np.int64)
    strength = _learning.strength_of(bounds, mean.data, seen, records) if strength is None else float(strength)
    posterior = mean.copy()
    _learning.blend(bounds, mean.data, seen, records, strength, posterior.data)
    known = np.inf if prior is not None else pooled_weight(records, strength) + 2
    return KernelEstimate(
        kernel=from_measures(grid, posterior, reach if prior is None else max(reach, prior.reach)),
        weight=measure_weights(records, strength, known),
        records=records,
        slip=chance,
        slip_deviation=slip_deviation(chance, count),
        strength=strength,
    )


def slip_deviation(chance: float, count: int) -> float:
    """Posterior standard deviation of the chance to slip after so many records."""
    return float(np.sqrt(chance * (1 - chance) / (count + 3)))


def pooled_weight(records: Ints, strength: float) -> float:
    """n': how many records of cells that are alike tell as much as these, (M²,) by cell, of cells that differ."""
    count = float(records.sum())
    crowding = float((records.astype(np.float64) ** 2).sum()) / max(count, 1.0) - 1
    return count / (1 + max(crowding, 0.0) / (strength + 1))


def measure_weights(records: Ints, strength: float, known: float | Floats) -> Floats:
    """ν_t (M²,): how many records measures weigh whose prior mean is known as well as from ``known`` records."""
    borrowed = strength / (records + strength)
    return np.asarray(1 / (1 / (records + strength + 1) + borrowed**2 / (known + 1)) - 1)


def beta_interval(chances: Floats, weights: Floats, level: float, extra: float = 0.5) -> Interval:
    """Quantiles of Beta(w p + extra, w (1-p) + extra) that leave out (1 - level)/2 on either side."""
    from scipy.special import betaincinv

    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, both excluded, not {level}")
    first, second = weights * chances + extra, weights * (1 - chances) + extra
    tail = (1 - level) / 2
    return Interval(*(np.asarray(betaincinv(first, second, share), np.float64) for share in (tail, 1 - tail)))


def _measures(grid: CellGrid, prior: Kernel) -> "csr_array":
    if prior.grid != grid or prior.measures.shape[0] != len(grid):
        raise InputError(f"prior must have one measure for each of the {len(grid)} cells of this grid")
    return prior.measures


def _with_ends(mean: "csr_array", targets: Ints, ends: Ints) -> "csr_array":
    """The measures with an entry, maybe zero, for everything that was recorded; indices are sorted."""
    from scipy import sparse

    given, cells = mean.tocoo(), mean.shape[0]
    landed = np.where(ends == OUTSIDE, cells, ends)
    width = max(mean.shape[1], int(landed.max(initial=0)) + 1)
    rows, columns = (np.append(*part).astype(np.int64) for part in ((given.row, targets), (given.col, landed)))
    data = np.append(given.data, np.zeros(len(targets)))
    return sparse.csr_array(sparse.coo_array((data, (rows, columns)), shape=(cells, width)))


def _seen(mean: "csr_array", targets: Ints, ends: Ints) -> Floats:
    """How often each entry of the measures was recorded."""
    width = mean.shape[1]
    rows = np.repeat(np.arange(mean.shape[0]), np.diff(mean.indptr))
    landed = np.where(ends == OUTSIDE, mean.shape[0], ends)
    places = np.searchsorted(rows * width + mean.indices, targets * width + landed)
    return np.bincount(places, minlength=len(mean.data)).astype(np.float64)


def _checked_records(
    grid: CellGrid, cells: ArrayLike, targets: ArrayLike, ends: ArrayLike, reach: int
) -> tuple[Ints, Ints]:
    landed = np.asarray(ends)
    inside = landed != OUTSIDE
    before, aimed = (grid.checked(part, "recorded cell") for part in (cells, targets))
    after = np.where(inside, grid.checked(np.where(inside, landed, 0), "recorded cell"), OUTSIDE)
    if not before.ndim == aimed.ndim == after.ndim == 1 or not len(before) == len(aimed) == len(after):
        raise InputError(f"records must have one length, not {before.shape}, {aimed.shape}, {after.shape}")
    near = np.where(inside, after, aimed)
    for what, first, second, most in (("intends", before, aimed, 1), ("ends in", aimed, near, reach)):
        wrong = np.flatnonzero(grid.moves(first, second) > most)
        if wrong.size:
            where = "no neighbour" if most == 1 else f"not within {most} moves"
            raise InputError(f"record {listed(wrong)} {what} a cell that is {where} of cell {first[wrong[0]]}")
    return aimed, after
