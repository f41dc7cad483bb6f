"""Offsets: where a move ends, seen from the cell that it intended.

Cells of one orientation are congruent, so the same gust carries an agent from each of them to the same *offset*, the
difference (Δi, Δj, Δk) of the cells' whole numbers (see ``CellGrid``). The lattice goes on beyond the triangle, with
negative numbers, so a move that ends outside has an offset like any other, and nothing is lost of it.

Δi + Δj + Δk is 0 between cells of one orientation, -1 from an up cell to a down cell, +1 from a down cell to an up
cell, and |Δi| + |Δj| + |Δk| is the number of moves between the two. Half a turn of the lattice takes up cells to down
cells and offsets to their negatives. So one list serves both: ``OFFSETS`` are those of up cells, and the offsets of
down cells are their negatives. There are 3h of h moves, and 1 + 3R(R+1)/2 within R moves. A *code* is a place in this
list, which is sorted by moves: code 0 is the intended cell itself. ``FARTHER`` stands for all that lies beyond.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tricover.geometry import CellGrid
from tricover.mdp import _learning
from tricover.mdp._learning import Lattice
from tricover.mdp.problem import tables
from tricover.threads import in_ranges

__all__ = ["FARTHER", "HIT", "OFFSETS", "REACH", "cells_at", "codes_of", "lattice", "shifts"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

REACH = 32
"""Moves within which offsets are told apart.

Of gusts of 4 cells (4 √area / M metres) in triangles with normally distributed corners 3.2% go farther, of gusts of 2
cells 0.8%; with 12 moves it would be 21% and 5%. Those are thin triangles, which such a gust leaves anyway.
"""


def _offsets() -> Ints:
    """(K, 3) offsets of up cells within ``REACH`` moves, by moves, then by their numbers."""
    span = np.arange(-REACH, REACH + 1)
    first, second, turned = (axis.ravel() for axis in np.meshgrid(span, span, [0, 1], indexing="ij"))
    found = np.stack([first, second, -first - second - turned], axis=-1)
    moves = np.abs(found).sum(axis=1)
    near = np.lexsort((*found.T[::-1], moves))[: (moves <= REACH).sum()]
    listed = found[near]
    listed.flags.writeable = False
    return listed


OFFSETS = _offsets()
HIT = 0
"""The code of the intended cell itself."""
FARTHER = len(OFFSETS)
"""The code of whatever is more than ``REACH`` moves away; it counts as outside."""


@lru_cache(maxsize=16)
def lattice(grid: CellGrid) -> Lattice:
    """The lattice of a grid for compiled loops."""
    codes = np.full((2 * REACH + 1, 2 * REACH + 1, 2), FARTHER, np.int32)
    codes[OFFSETS[:, 0] + REACH, OFFSETS[:, 1] + REACH, -OFFSETS.sum(axis=1)] = np.arange(FARTHER)
    return Lattice(tables(grid).coordinates, OFFSETS.astype(np.int32), codes, grid.resolution)


def codes_of(grid: CellGrid, intended: Ints, landed: Floats, triangles: Floats) -> Ints:
    """Codes (A,) of moves that intended cells (A,) of triangles (A, 3, 2) and landed at points (A, 2).

    -1 where there is nothing to tell: the agent intended no cell (a negative one), or its triangle is flat.
    """
    codes = np.empty(len(intended), np.int64)
    work = lattice(grid), np.ascontiguousarray(intended, np.int64), np.ascontiguousarray(landed, np.float64)
    corners = np.ascontiguousarray(triangles, np.float64)
    in_ranges(lambda first, last: _learning.find_codes(*work, corners, first, last, codes), len(codes))
    return codes


def cells_at(grid: CellGrid, intended: Ints, codes: Ints) -> Ints:
    """The cells (A,) to which codes (A,) lead from intended cells (A,); M² where that is outside the triangle."""
    cells = np.empty(len(intended), np.int64)
    _learning.find_ends(lattice(grid), np.asarray(intended, np.int64), np.asarray(codes, np.int64), cells)
    return cells


def shifts(codes: Ints, up: NDArray[np.bool_]) -> Ints:
    """How codes (A,) move the centres of up or of down cells: barycentric coordinates (A, 3), in units of 1/3M."""
    offsets = np.where(up[:, None], OFFSETS[codes], -OFFSETS[codes])
    return np.asarray(3 * offsets - offsets.sum(axis=1, keepdims=True))
