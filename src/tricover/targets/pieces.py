"""Exact sums in triangles over targets that come piece by piece, as not all of them fit into memory.

Sums are whole numbers of a few words, see ``_words``, so pieces add up in any order, and are rounded once when all have
been added: the result has the bits of ``Targets.in_triangles`` with all targets.
"""

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tricover.targets import _pieces as kernels
from tricover.targets._kernels import CHUNK, hold_each
from tricover.targets._pieces import Piece, Totals
from tricover.targets._words import Grid, Words
from tricover.targets.index import grids_side_by_side, spread_of

__all__ = ["Tally", "Words", "grids_for", "spans_of", "words_of"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]
Grids = tuple[Grid, Grid, Grid]

_ONE = np.ones(1)


def spans_of(points: Floats, weights: Floats | None, before: Floats | None = None) -> Floats:
    """``span_of`` w·x, w·y and w of targets (n, 2), and of others before: the largest and the lowest place, (3, 2)."""
    spans = np.tile([0.0, np.inf], (3, 1)) if before is None else before
    columns, masses = np.ascontiguousarray(points.T), _ONE if weights is None else weights
    return np.array([spread_of(columns, masses, term, (low, high)) for term, (low, high) in enumerate(spans.tolist())])


def grids_for(spans: Floats, count: int, weighted: bool) -> Grids:
    """How sums of so many targets that spread like this are written as words."""
    wanted: list[tuple[float, float] | None] = [(largest, lowest) for largest, lowest in spans.tolist()]
    return grids_side_by_side(wanted if weighted else [*wanted[:2], None], count)


def words_of(points: Floats, weights: Floats | None, grids: Grids) -> Words:
    """The sums of w·x, w·y and w of targets (n, 2), as words (W,)."""
    words = np.zeros(_width(grids), np.int64)
    kernels.add_all(_piece(points, weights), grids, words)
    return words


class Tally:
    """Sums in triangles (T, 3, 2) of the targets that have been added so far."""

    def __init__(self, triangles: Floats, grids: Grids) -> None:
        self._triangles, self._grids = triangles, grids
        self._totals = Totals(np.zeros(len(triangles), np.int64), np.zeros((len(triangles), _width(grids)), np.int64))

    def holds(self, rows: Ints, points: Floats) -> Flags:
        """Whether points (n, 2) are in the closed triangles of their rows (n,), exactly."""
        found = np.empty(len(rows), np.bool_)
        hold_each(self._triangles, rows, points, 0, len(rows), found)
        return found

    def add_whole(self, rows: Ints, counts: Ints, words: Words) -> None:
        """Add pieces that are inside as a whole: (n,) targets, and words (n, W), to the triangles of some rows (n,)."""
        np.add.at(self._totals.counts, rows, counts)
        np.add.at(self._totals.words, rows, words)

    def add(self, rows: Ints, points: Floats, weights: Floats | None) -> None:
        """Add those of some targets (n, 2) that are inside to the triangles of some rows, each row once."""
        reach = np.ptp(np.concatenate([self._triangles[rows].reshape(-1, 2), points]), axis=0)
        kernels.add_inside(_piece(points, weights), self._triangles, rows, self._grids, reach, self._totals)

    def add_all_of(self, others: Sequence[Self]) -> None:
        """Add what was added to others, of the same triangles."""
        for other in others:
            for mine, theirs in zip(self._totals, other._totals, strict=True):
                mine += theirs

    def sums(self) -> Floats:
        """The sums (T, 3) of w·x, w·y and w, each rounded once."""
        counts, words = self._totals.counts, self._totals.words.copy()
        sums = np.column_stack([np.zeros((len(counts), 2)), counts.astype(np.float64)])  # if all weigh one
        for term, grid in enumerate(self._grids):
            if len(grid.worth):
                column = np.empty(len(counts))
                kernels.round_each(words, grid, column)
                sums[:, term] = column
        return sums


def _width(grids: Grids) -> int:
    return sum(len(grid.worth) for grid in grids)


def _piece(points: Floats, weights: Floats | None) -> Piece:
    """Targets as the kernels read them: whole chunks, so that there is something to read behind the last one."""
    columns = np.zeros((2, len(points) + CHUNK))
    columns[:, : len(points)] = points.T
    return Piece(columns, _ONE if weights is None else np.ascontiguousarray(weights), len(points))
