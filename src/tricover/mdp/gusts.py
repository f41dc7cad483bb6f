"""The kernel of a gusty vehicle that aims at the centres of cells: what an agent in gusts has to learn.

A move that intends cell t ends there, or with probability ``chance`` in the cell that holds the centre of t moved by
``gust`` metres, or outside the triangle if none does.
"""

import numpy as np
from numpy.typing import ArrayLike

from tricover.errors import InputError
from tricover.geometry import OUTSIDE, CellGrid, flat
from tricover.mdp.transition import Kernel, from_measures

__all__ = ["gusts"]


def gusts(grid: CellGrid, triangle: ArrayLike, chance: float, gust: ArrayLike) -> Kernel:
    """The kernel of moves in a triangle (3, 2) that with ``chance`` end by ``gust`` (2,) metres off.

    >>> from tricover.geometry import CellGrid
    >>> kernel = gusts(CellGrid(2), [[0, 2], [0, 0], [2, 0]], 0.25, [0.0, -1.0])
    >>> kernel.measures.toarray()[0].tolist()
    [0.75, 0.0, 0.0, 0.25, 0.0]
    """
    from scipy import sparse

    corners, move = np.asarray(triangle, dtype=np.float64), np.asarray(gust, dtype=np.float64)
    if corners.shape != (3, 2) or not np.isfinite(corners).all() or flat(corners):
        raise InputError(f"triangle must be three corners (3, 2) with area, not {corners.tolist()}")
    if not 0 <= chance <= 1:
        raise InputError(f"the chance of a gust must be from 0 to 1, not {chance}")
    if move.shape != (2,) or not np.isfinite(move).all():
        raise InputError(f"gust must be two numbers of metres, not {move.tolist()}")
    cells = np.arange(len(grid))
    landed = grid.holding(grid.weights @ corners + move, np.broadcast_to(corners, (len(grid), 3, 2)))
    inside = landed != OUTSIDE
    reach = int(grid.moves(cells[inside], landed[inside]).max(initial=1))
    ends = np.append(cells, np.where(inside, landed, len(grid)))
    shares = np.repeat([1 - chance, chance], len(grid))
    entries = shares, (np.tile(cells, 2), ends)
    return from_measures(grid, sparse.coo_array(entries, shape=(len(grid), len(grid) + 1)), reach)
