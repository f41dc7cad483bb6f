"""Kernels of sums over targets that come piece by piece: words of what is inside triangles, and of a whole piece.

Every target of a piece is tested. That is for pieces of some thousand targets and the few triangles whose outlines
cross them; ``_kernels`` has the way for all targets at once.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel
from tricover.targets._kernels import CHUNK, edges_of, find_near, new_scratch, value_of
from tricover.targets._words import Grid, Words, add, add_to_pair, rounded

__all__ = ["Piece", "Totals", "add_all", "add_inside", "round_each"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]
Ints = NDArray[np.int64]

_EPS = 2.220446049250313e-16
_TINY = 1e-290


class Piece(NamedTuple):
    """Some targets, n of them."""

    points: Floats
    """(2, n) and room for another chunk."""
    weights: Floats
    """(n,), or a single one for all."""
    number: int
    """n."""


class Totals(NamedTuple):
    """What was added up for each of T triangles."""

    counts: Ints
    """(T,) targets inside."""
    words: Words
    """(T, words) of the sums of w·x, w·y and w inside."""


@kernel
def _add_these(piece: Piece, found: Integers, near: int, grids: tuple[Grid, Grid, Grid], words: Words) -> None:
    """Add w·x, w·y and w of the targets found, ``near`` of them, to a row of words."""
    points, weights, _ = piece
    for term, grid in enumerate(grids):
        pair = grid.pair
        if pair.scale > 0.0:
            high, low = np.int64(0), np.int64(0)
            for k in range(near):
                high, low = add_to_pair(value_of(points, weights, term, np.uint64(found[k])), pair, high, low)
            words[pair.first] += high
            words[pair.first + 1] += low
        elif len(grid.worth):
            for k in range(near):
                add(value_of(points, weights, term, np.uint64(found[k])), grid, words)


@kernel
def add_all(piece: Piece, grids: tuple[Grid, Grid, Grid], words: Words) -> None:
    """Add all targets of a piece to a row of words."""
    _add_these(piece, np.arange(piece.number).astype(np.int32), piece.number, grids, words)


@kernel
def add_inside(
    piece: Piece, triangles: Floats, rows: Ints, grids: tuple[Grid, Grid, Grid], reach: Floats, totals: Totals
) -> None:
    """Add the targets in each of some triangles (T, 3, 2), by their rows, to what was added up for it before.

    ``reach`` (2,) is at least how far a target is from a corner of these triangles, along each axis.
    """
    perhaps, _, scratch = new_scratch(1, piece.number + CHUNK)
    perhaps[0, 0], perhaps[0, 1] = 0, piece.number
    doubt = 64 * _EPS * reach[0] * reach[1] + _TINY  # more than the rounding error of the edge functions
    for row in rows:
        corners = triangles[row]
        near = find_near(corners, edges_of(corners), doubt, piece.points, perhaps, 1, scratch)
        totals.counts[row] += near
        _add_these(piece, scratch[1], near, grids, totals.words[row])


@kernel
def round_each(words: Words, grid: Grid, sums: Floats) -> None:
    """Sums (T,) of rows of words (T, words), rounded once. Carries are settled in place."""
    for row in range(len(sums)):
        sums[row] = rounded(words[row], grid)
