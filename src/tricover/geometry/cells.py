"""The M² cells of a triangle: the contained states of a follower's decision process.

Lines parallel to the sides cut a triangle with corners r_0, r_1, r_2 into M² congruent cells. A cell is named by whole
numbers (i, j, k) and points up or down (towards or against corner 0):

    up cell     i+j+k = M-1    corners (i+1, j, k), (i, j+1, k), (i, j, k+1) over M    centre (3i+1, 3j+1, 3k+1) / 3M
    down cell   i+j+k = M-2    corners (i, j+1, k+1), (i+1, j, k+1), (i+1, j+1, k) / M  centre (3i+2, 3j+2, 3k+2) / 3M

Centres are the weights of the paper's set W = {(3a-b)/3M : a = 1 … M, b = 1, 2}. The paper's formula gives 2M values,
but (3M-1)/3M cannot occur in a triple that sums to one, so W has 2M-1 values (as the paper prints for M = 5), and there
are M² cells, not |W|².

Cells are numbered from corner 0 in rows: row r = M-1-i holds 2r+1 cells, up and down in turn, and starts at r². The
neighbour in slot k lies across the edge opposite to corner k: coordinate k is one lower than in an up cell, one higher
than in a down cell. So the moves between two cells number Σ_k |difference of their coordinate k|, at most 2M-2.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError, listed
from tricover.threads import in_ranges

__all__ = ["OUTSIDE", "CellGrid"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Array = TypeVar("Array", bound=NDArray[np.generic])

OUTSIDE = -1
"""The uncontained state: everywhere outside the triangle."""

LARGEST = 4096  # 16.8 million cells; beyond that a typing error is likelier than a wish


@dataclass(frozen=True)
class CellGrid:
    """The cells of any triangle at a resolution (M_i): weights, neighbours, corners, and the cell of a point.

    >>> grid = CellGrid(5)
    >>> len(grid), grid.diameter
    (25, 8)
    >>> grid.weights[0].round(3).tolist(), grid.neighbors[0].tolist()
    ([0.867, 0.067, 0.067], [2, -1, -1])
    >>> grid.locate([0.9, 0.05, 0.05]), grid.locate([1.1, -0.05, -0.05])
    (array(0), array(-1))
    """

    resolution: int

    def __post_init__(self) -> None:
        given: object = self.resolution
        whole = isinstance(given, int | np.integer) and not isinstance(given, bool)
        if not whole or not 1 <= self.resolution <= LARGEST:
            raise InputError(f"resolution must be a whole number from 1 to {LARGEST}, not {given!r}")
        object.__setattr__(self, "resolution", int(self.resolution))

    def __len__(self) -> int:
        return self.resolution**2

    @property
    def diameter(self) -> int:
        """Moves between the two cells farthest apart: 2M-2."""
        return 2 * self.resolution - 2

    @cached_property
    def coordinates(self) -> Ints:
        """(M², 3) whole numbers (i, j, k) of each cell; they sum to M-1 (up) or M-2 (down)."""
        rows = np.repeat(np.arange(self.resolution), 2 * np.arange(self.resolution) + 1)
        places = np.arange(len(self)) - rows**2
        j = places // 2
        return _frozen(np.stack([self.resolution - 1 - rows, j, rows - j - places % 2], axis=-1))

    @cached_property
    def up(self) -> NDArray[np.bool_]:
        """(M²,) which cells point up, as the triangle does."""
        return _frozen(self.coordinates.sum(axis=1) == self.resolution - 1)

    @cached_property
    def thirds(self) -> Ints:
        """(M², 3) the weights as whole multiples of 1/3M."""
        return _frozen(3 * self.coordinates + np.where(self.up, 1, 2)[:, None])

    @cached_property
    def weights(self) -> Floats:
        """(M², 3) barycentric coordinates of the centres: the communication weights w_{i,j}(s)."""
        return _frozen(self.thirds / (3 * self.resolution))

    @cached_property
    def weight_set(self) -> Floats:
        """(2M-1,) the values that a weight can take, ascending: the paper's W_i."""
        return _frozen(np.unique(self.thirds) / (3 * self.resolution))

    @cached_property
    def neighbors(self) -> Ints:
        """(M², 3) the cell across the edge opposite to each corner, -1 where that edge is the triangle's."""
        cells, rows = np.arange(len(self)), self.resolution - 1 - self.coordinates[:, 0]
        below = np.stack([cells + 2 * rows + 2, cells - 1, cells + 1], axis=-1)
        above = np.stack([cells - 2 * rows, cells + 1, cells - 1], axis=-1)
        lowered = np.where(self.coordinates > 0, below, -1)
        return _frozen(np.where(self.up[:, None], lowered, above))

    @cached_property
    def degrees(self) -> Ints:
        """(M²,) how many neighbours each cell has."""
        return _frozen((self.neighbors >= 0).sum(axis=1))

    @property
    def interior(self) -> Ints:
        """Cells with three neighbours."""
        return np.flatnonzero(self.degrees == 3)

    @property
    def boundary(self) -> Ints:
        """Cells with two neighbours: one edge on the triangle's."""
        return np.flatnonzero(self.degrees == 2)

    @property
    def nodal(self) -> Ints:
        """Cells at a corner of the triangle, with one neighbour (none at resolution 1)."""
        return np.flatnonzero(self.degrees <= 1)

    def corners(self, cells: ArrayLike) -> Floats:
        """(…, 3, 3) barycentric coordinates of the corners of cells (…); corner k is opposite to neighbour k."""
        chosen = self.checked(cells)
        unit = np.eye(3, dtype=np.int64)
        steps = np.where(self.up[chosen][..., None, None], unit, 1 - unit)
        return np.asarray((self.coordinates[chosen][..., None, :] + steps) / self.resolution)

    def locate(self, barycentric: ArrayLike) -> Ints:
        """The cells (…) that hold points with barycentric coordinates (…, 3); -1 outside the triangle.

        With t = M·λ, a cell holds the points with t_0 in [i, i+1), t_1 in [j, j+1), t_2 in [k, k+1), so each point
        of a shared edge goes to exactly one cell, the one with the larger coordinate across that edge. Corner
        (a, b, c)/M goes to the up cell (a, b, c-1), or (a, b-1, 0) where c = 0, or (M-1, 0, 0) where b = 0 too.
        A t within 32 ulps of M from a whole number counts as that number, so that rounding takes no point off its
        edge or out of the triangle.
        """
        from tricover.geometry._triangles import locate

        points = np.asarray(barycentric, dtype=np.float64)
        _check_barycentric(points)
        cells = np.empty(points.shape[:-1], np.int64)
        locate(np.ascontiguousarray(points.reshape(-1, 3)), self.resolution, cells.reshape(-1))
        return cells

    def holding(self, points: Floats, triangles: Floats, within: bool = False) -> Ints:
        """The cells (A,) of triangles (A, 3, 2) that hold points (A, 2); -1 outside, and where a triangle is flat.

        ``within`` says that each point is in its triangle, and that only rounding can put it outside.
        """
        from tricover.geometry._triangles import find_cells

        cells = np.empty(len(points), np.int64)
        work = points, np.ascontiguousarray(triangles), self.resolution, within
        in_ranges(lambda first, last: find_cells(*work, first, last, cells), len(cells))
        return cells

    def moves(self, cells: ArrayLike, others: ArrayLike) -> Ints:
        """Least number of moves between cells (…) and others (…)."""
        apart = self.coordinates[self.checked(cells)] - self.coordinates[self.checked(others)]
        return np.asarray(np.abs(apart).sum(axis=-1))

    def checked(self, cells: ArrayLike, what: str = "cell") -> Ints:
        """The cells as an integer array; one that this grid does not have is an error that names it."""
        chosen = np.asarray(cells)
        if not np.issubdtype(chosen.dtype, np.integer) and chosen.size:
            raise InputError(f"{what} must be a whole number, not {chosen.dtype}")
        wrong = chosen[(chosen < 0) | (chosen >= len(self))]
        if wrong.size:
            raise InputError(f"{what} {listed(wrong.ravel())} is out of range: cells are 0 to {len(self) - 1}")
        return chosen.astype(np.int64)


def _frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array


def _check_barycentric(points: Floats) -> None:
    if points.shape[-1:] != (3,):
        raise InputError(f"barycentric coordinates must have shape (…, 3), not {points.shape}")
    wrong = np.flatnonzero(~np.isfinite(points).all(axis=-1))
    if wrong.size:
        raise InputError(f"barycentric coordinates of point {listed(wrong)} are not finite")
    off = np.abs(points.sum(axis=-1) - 1)
    wrong = np.flatnonzero(off > 1e-6 * np.maximum(1, np.abs(points).max(axis=-1, initial=0)))
    if wrong.size:
        raise InputError(f"barycentric coordinates of point {listed(wrong)} do not sum to one")
