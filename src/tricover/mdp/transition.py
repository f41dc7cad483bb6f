"""Transition kernels in the paper's linear form, on the contained cells of a triangle and, where it is known, outside.

    P(s'|s,a) = Σ_j φ_j(s,a) μ_j(s')                                                  (paper, eq. transitionke)

Actions of a cell are its edge neighbours in slots 0, 1, 2 and staying (3): the *intended* cell. Features φ are a
sparse (4M², d) array with row 4·cell + action, base measures μ a sparse (d, M²) array. A kernel is checked when it is
made: rows of P sum to one, no entry is negative, and an action of cell s that intends cell t ends at most ``reach``
moves from s or from t. Rows of actions that a cell does not have (across the triangle's edge) are empty.

Measures of width M² + 1 know the *uncontained state*, too: their last column is the chance to end outside the triangle.
Outside is state M². An agent there has no choice: it goes to around the centroid of its triangle, that is, its one
action (row 4M² + 3) is that of staying in the cell that holds the centroid.

Ready-made kernels have one measure per intended cell, d = M², and features that pick it.

Among forbidden cells a kernel is *confined*: there are no actions into them, and an agent that would slip into one
stays where it is. Cells that cannot get to the goal have one action, to stay. Outside an agent goes to the cell nearest
to the centroid's from which a walk leads to the goal.
"""

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError, listed
from tricover.geometry import CellGrid
from tricover.mdp._sweeps import Measures

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Kernel", "deterministic", "from_measures", "intended", "slip"]

ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Lookup:
    """A kernel for compiled loops."""

    measures: Measures
    by_cell: bool
    """Whether measure j is that of intending cell j."""


@dataclass(frozen=True, eq=False)
class Kernel:
    """P(·|s,a) = Σ_j φ_j(s,a) μ_j(·) on a grid: features (4S, d) and base measures (d, S), both sparse.

    There are S = M² states, the cells, or S = M² + 1 with outside; features of the cells alone (4M², d) will do.
    """

    grid: CellGrid
    features: "csr_array"
    measures: "csr_array"
    possible: NDArray[np.bool_] | None = field(default=None, repr=False)
    """(S, 4) which actions there are; left out: all neighbours, and staying."""
    reach: int = 1
    """Moves at most from the cell of an action, or from the intended one, to where it ends."""
    back: int = field(default=-1, repr=False)
    """The cell that an agent outside intends; -1: the one that holds the centroid."""

    def __post_init__(self) -> None:
        from scipy import sparse

        reach: object = self.reach
        if isinstance(reach, bool) or not isinstance(reach, int | np.integer) or reach < 0:
            raise InputError(f"reach must be a whole number of moves from 0 on, not {reach!r}")
        for name in ("features", "measures"):
            object.__setattr__(self, name, sparse.csr_array(getattr(self, name), dtype=np.float64))
        cells, measures = len(self.grid), self.measures.shape
        if self.back < 0:
            object.__setattr__(self, "back", int(self.grid.locate([1 / 3, 1 / 3, 1 / 3])))
        if self.outside and self.features.shape == (4 * cells, measures[0]):
            own = sparse.csr_array((3, measures[0])), self.features[[4 * self.back + 3]]
            object.__setattr__(self, "features", sparse.csr_array(sparse.vstack([self.features, *own])))
        states = cells + self.outside
        if (self.features.shape, measures) != ((4 * states, measures[0]), (measures[0], states)):
            raise InputError(
                f"features and measures must have shapes (4·{cells}, d) and (d, {cells}), "
                f"or (d, {cells + 1}) with outside, not {(self.features.shape, measures)}"
            )
        _check(self)

    @property
    def outside(self) -> bool:
        """Whether the kernel knows the uncontained state."""
        return bool(self.measures.shape[1] == len(self.grid) + 1)

    @cached_property
    def targets(self) -> NDArray[np.int64]:
        """(S, 4) the cell that each action intends; -1 where there is no such action."""
        cells = intended(self.grid)
        if self.outside:
            cells = np.vstack([cells, [-1, -1, -1, self.back]])
        return cells if self.possible is None else np.where(self.possible, cells, -1)

    @cached_property
    def matrix(self) -> "csr_array":
        """(4S, S) transition probabilities, row 4·state + action; indices are sorted, zeros dropped."""
        return _compact(self.features @ self.measures)

    @cached_property
    def lookup(self) -> Lookup:
        """The linear form where features pick the measure of the intended cell; otherwise a measure per action."""
        targets = self.targets
        if _picks(self.features, targets.ravel()):
            pick, measures, by_cell = np.where(targets < 0, len(self.grid), targets), _compact(self.measures), True
        else:
            rows = np.arange(targets.size).reshape(targets.shape)
            pick, measures, by_cell = np.where(targets < 0, targets.size, rows), self.matrix, False
        indptr, indices = measures.indptr.astype(np.uint32), measures.indices.astype(np.uint32)
        return Lookup(Measures(indptr, indices, measures.data, pick.astype(np.uint32)), by_cell)

    @cached_property
    def certain(self) -> bool:
        """Whether every action ends in the cell it intends."""
        targets = self.targets.ravel()
        return bool(
            self.matrix.nnz == (targets >= 0).sum()
            and np.array_equal(self.matrix.indices, targets[targets >= 0])
            and np.allclose(self.matrix.data, 1, rtol=0, atol=ROUNDING)
        )

    def confined(self, reaching: NDArray[np.bool_]) -> "Kernel":
        """This kernel for agents that stay among the cells (M²,) that can get to the goal."""
        from scipy import sparse

        states = np.append(reaching, np.ones(int(self.outside), np.bool_))
        possible = (self.targets >= 0) & states[self.targets] & states[:, None]
        possible[:, 3] = True
        kept = possible.ravel()
        matrix, back = self.matrix, _nearest(self.grid, self.back, reaching)
        if self.outside and back != self.back:
            rows = np.arange(matrix.shape[0])
            rows[-1] = 4 * back + 3
            matrix = matrix[rows]
        moves = matrix.tocoo()
        moves = sparse.coo_array((moves.data * kept[moves.row], (moves.row, moves.col)), shape=moves.shape)
        own = moves.row // 4
        landing = np.where(states[moves.col] & states[own], moves.col, own)
        measures = sparse.csr_array((moves.data, (moves.row, landing)), shape=moves.shape)
        features = sparse.csr_array(sparse.diags_array(kept.astype(np.float64)))
        return Kernel(self.grid, features, measures, possible, self.reach, back)


@lru_cache(maxsize=16)
def intended(grid: CellGrid) -> NDArray[np.int64]:
    """(M², 4) the cell that each action intends; -1 where there is no such action."""
    cells = np.column_stack([grid.neighbors, np.arange(len(grid))])
    cells.flags.writeable = False
    return cells


@lru_cache(maxsize=16)
def deterministic(grid: CellGrid) -> Kernel:
    """Every action ends in the cell it intends."""
    from scipy import sparse

    return from_measures(grid, sparse.eye_array(len(grid), format="csr"))


def slip(grid: CellGrid, chance: float) -> Kernel:
    """With ``chance`` the agent ends in a neighbour of the intended cell, each with the same probability."""
    from scipy import sparse

    if not 0 <= chance <= 1:
        raise InputError(f"the chance to slip must be from 0 to 1, not {chance}")
    if len(grid) == 1:
        return deterministic(grid)
    return from_measures(grid, (1 - chance) * sparse.eye_array(len(grid)) + chance * _neighbour_measures(grid))


def from_measures(grid: CellGrid, measures: object, reach: int = 1) -> Kernel:
    """A kernel with one base measure (M², M²), or (M², M²+1) with outside, per intended cell."""
    from scipy import sparse

    targets = intended(grid).ravel()
    rows = np.flatnonzero(targets >= 0)
    features = sparse.csr_array((np.ones(len(rows)), (rows, targets[rows])), shape=(4 * len(grid), len(grid)))
    return Kernel(grid, features, measures, reach=reach)  # type: ignore[arg-type]


def _neighbour_measures(grid: CellGrid) -> "csr_array":
    """(M², M²) uniform over the neighbours of each cell."""
    from scipy import sparse

    cells, slots = np.nonzero(grid.neighbors >= 0)
    shares = 1 / grid.degrees[cells]
    return sparse.csr_array((shares, (cells, grid.neighbors[cells, slots])), shape=(len(grid), len(grid)))


def _compact(matrix: "csr_array") -> "csr_array":
    """CSR with sorted indices and no stored zeros."""
    from scipy import sparse

    compact = sparse.csr_array(matrix, copy=True)
    compact.sum_duplicates()
    compact.eliminate_zeros()
    return compact


def _picks(features: "csr_array", targets: NDArray[np.int64]) -> bool:
    """Whether the features are 1 for the intended cell's measure and 0 otherwise."""
    from scipy import sparse

    rows = np.flatnonzero(targets >= 0)
    plain = sparse.csr_array((np.ones(len(rows)), (rows, targets[rows])), shape=(len(targets), int(targets.max()) + 1))
    return features.shape == plain.shape and abs(features - plain).sum() == 0


def _named(grid: CellGrid, rows: NDArray[np.integer]) -> str:
    return listed((f"cell {row // 4} action {row % 4}" for row in rows.tolist()), most=3)


def _check(kernel: Kernel) -> None:
    grid, matrix = kernel.grid, kernel.matrix
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    wrong = np.unique(rows[~(matrix.data >= 0)])
    if wrong.size:
        raise InputError(f"kernel has negative or undefined probabilities in {_named(grid, wrong)}")
    totals, possible = matrix.sum(axis=1), kernel.targets.ravel() >= 0
    wrong = np.flatnonzero(np.abs(totals - possible) > ROUNDING)
    if wrong.size:
        raise InputError(
            f"kernel leaks: probabilities of {_named(grid, wrong)} sum to {totals[wrong[0]]:.6g}, "
            f"not {int(possible[wrong[0]])}"
        )
    wrong = np.unique(rows[~_allowed(kernel, rows, matrix.indices)])
    if wrong.size:
        raise InputError(
            f"kernel leaves the cell graph in {_named(grid, wrong)}: "
            f"an action may end only within {kernel.reach} moves of its cell or of the intended one; give its reach"
        )


def _allowed(kernel: Kernel, rows: NDArray[np.integer], ends: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which transitions end within reach of the cell of their row or of the intended one, or outside."""
    grid, targets, cells = kernel.grid, kernel.targets.ravel()[rows], len(kernel.grid)
    own, landing = np.minimum(rows // 4, cells - 1), np.minimum(ends, cells - 1)
    near = grid.moves(own, landing) <= kernel.reach
    near |= grid.moves(np.maximum(targets, 0), landing) <= kernel.reach
    return np.asarray((near | (ends == cells) | (rows // 4 == cells)) & (targets >= 0))


def _nearest(grid: CellGrid, cell: int, among: NDArray[np.bool_]) -> int:
    """The cell with the fewest moves from ``cell``, and the lowest number, of those that count."""
    chosen = np.flatnonzero(among)
    return int(chosen[np.argmin(grid.moves(chosen, cell))])
