"""Kernels for what is learned from recorded moves: codes of offsets, and the posterior of an agent's kernel.

``offsets`` and ``estimate`` say in words and formulas what they do. Rows of measures are those of a CSR array: entries
``indptr[t] … indptr[t+1]`` are the ends of moves that intend cell t, sorted, M² (outside) last.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel
from tricover.geometry._triangles import is_flat, lattice_cell, weigh

__all__ = ["Lattice", "blend", "count_ends", "find_codes", "find_ends", "learn", "strength_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Places = NDArray[np.uint32]
Records = NDArray[np.integer]

WEAKEST, STRONGEST = 1.0, 1e4  # of priors, in records
INSISTENCE = 2.0  # standard deviations of scatter that are left to chance
FARTHEST = 1e6  # sides of the triangle


class Lattice(NamedTuple):
    """Cells of a grid, and offsets by their codes."""

    coordinates: NDArray[np.int32]
    """(M², 3)"""
    offsets: NDArray[np.int32]
    """(K, 3) of up cells."""
    codes: NDArray[np.int32]
    """(2R+1, 2R+1, 2) by the first two numbers of an offset plus R, and whether it leads to the other orientation."""
    size: int


@kernel
def _is_up(lattice: Lattice, cell: int) -> bool:
    i, j, k = lattice.coordinates[cell]
    return bool(i + j + k == lattice.size - 1)


@kernel
def find_codes(
    lattice: Lattice, intended: Ints, points: Floats, triangles: Floats, first: int, last: int, codes: Ints
) -> None:
    """Codes (A,) of landing at points (A, 2), seen from the intended cells (A,) of triangles (A, 3, 2)."""
    reach = len(lattice.codes) // 2
    for n in range(first, last):
        codes[n] = -1
        if intended[n] < 0 or is_flat(triangles[n]):
            continue
        a, b, _ = weigh(points[n, 0], points[n, 1], triangles[n])
        if not (abs(a) <= FARTHEST and abs(b) <= FARTHEST):  # maybe not a number
            codes[n] = len(lattice.offsets)
            continue
        i, j, k = lattice_cell(a, b, lattice.size)
        own = lattice.coordinates[intended[n]]
        sign = 1 if _is_up(lattice, intended[n]) else -1
        di, dj, dk = sign * (i - own[0]), sign * (j - own[1]), sign * (k - own[2])
        if abs(di) + abs(dj) + abs(dk) > reach:
            codes[n] = len(lattice.offsets)
        else:
            codes[n] = lattice.codes[di + reach, dj + reach, -(di + dj + dk)]


@kernel
def end_of(lattice: Lattice, cell: int, up: bool, code: int) -> int:
    """The cell to which a code leads from a cell, M² where that is outside."""
    outside = lattice.size * lattice.size
    if code >= len(lattice.offsets):
        return int(outside)
    sign = 1 if up else -1
    i = lattice.coordinates[cell, 0] + sign * lattice.offsets[code, 0]
    j = lattice.coordinates[cell, 1] + sign * lattice.offsets[code, 1]
    k = lattice.coordinates[cell, 2] + sign * lattice.offsets[code, 2]
    if i < 0 or j < 0 or k < 0:
        return int(outside)
    row = lattice.size - 1 - i
    return int(row * row + 2 * j + (lattice.size - 1 - i - j - k))


@kernel
def find_ends(lattice: Lattice, intended: Ints, codes: Ints, cells: Ints) -> None:
    """The cells (A,) to which codes (A,) lead from intended cells (A,)."""
    for n in range(len(cells)):
        cells[n] = end_of(lattice, intended[n], _is_up(lattice, intended[n]), codes[n])


@kernel
def tally_codes(lattice: Lattice, records: Records, count: int, tally: Ints) -> None:
    """How often each code was recorded (2, K+1), of down and of up cells."""
    tally[:] = 0
    for m in range(count):
        tally[int(_is_up(lattice, records[m, 1])), records[m, 2]] += 1


@kernel
def _seen_codes(tally: Ints, seen: Ints) -> int:
    """Codes that an orientation needs: success, and every one that was recorded; how many there are."""
    seen[0], count = 0, 1
    for code in range(1, len(tally)):
        if tally[code] > 0:
            seen[count] = code
            count += 1
    return count


@kernel
def count_ends(lattice: Lattice, records: Records, recorded: Ints, first: int, last: int, widths: Ints) -> None:
    """How many ends (A, M²) there are to moves that intend each cell, of agents ``first … last``."""
    cells, codes = lattice.size * lattice.size, len(lattice.offsets) + 1
    tally, seen, counts = np.empty((2, codes), np.int64), np.empty((2, codes), np.int64), np.empty(2, np.int64)
    for n in range(first, last):
        tally_codes(lattice, records[n], min(recorded[n], records.shape[1]), tally)
        for way in range(2):
            counts[way] = _seen_codes(tally[way], seen[way])
        for cell in range(cells):
            up = _is_up(lattice, cell)
            width, leaves = 0, 0
            for place in range(counts[int(up)]):
                if end_of(lattice, cell, up, seen[int(up), place]) < cells:
                    width += 1
                else:
                    leaves = 1  # ends outside are one
            widths[n, cell] = width + leaves


@kernel
def _write_means(lattice: Lattice, tally: Ints, belief: float, indptr: Ints, indices: Places, means: Floats) -> None:
    """The pooled chances as a measure for each intended cell: each row sorted by its ends, the outside last."""
    cells = lattice.size * lattice.size
    seen, counts = np.empty(tally.shape, np.int64), np.empty(2, np.int64)
    for way in range(2):
        counts[way] = _seen_codes(tally[way], seen[way])
    totals = tally.sum(axis=1) + belief
    for cell in range(cells):
        up = _is_up(lattice, cell)
        way, begin, filled = int(up), indptr[cell], indptr[cell]
        outside = 0.0
        for place in range(counts[way]):
            code = seen[way, place]
            chance = (tally[way, code] + (belief if code == 0 else 0.0)) / totals[way]
            end = end_of(lattice, cell, up, code)
            if end == cells:
                outside += chance
                continue
            spot = filled  # rows are short: insert where it belongs
            while spot > begin and indices[spot - 1] > end:
                indices[spot], means[spot] = indices[spot - 1], means[spot - 1]
                spot -= 1
            indices[spot], means[spot] = end, chance
            filled += 1
        if filled < indptr[cell + 1]:
            indices[filled], means[filled] = cells, outside


@kernel
def strength_of(indptr: Ints, means: Floats, seen: Floats, records: Ints) -> float:
    """The strength at which cells scatter around their prior means as they do, from ``WEAKEST`` to ``STRONGEST``.

    Scatter of less than ``INSISTENCE`` standard deviations is taken for chance. The variance of X² is Haldane's.
    """
    scatter, variance, freedom, room = 0.0, 0.0, 0.0, 0.0
    for cell in range(len(records)):
        count = records[cell]
        if count == 0:
            continue
        kinds, inverse = 0, 0.0
        for entry in range(indptr[cell], indptr[cell + 1]):
            if means[entry] > 0:
                expected = count * means[entry]
                scatter += (seen[entry] - expected) ** 2 / expected
                inverse += 1 / means[entry]
                kinds += 1
        variance += 2 * (kinds - 1) + (inverse - kinds * kinds - 2 * kinds + 2) / count
        freedom += kinds - 1
        room += (kinds - 1) * (count - 1)
    excess = scatter - freedom - INSISTENCE * np.sqrt(max(variance, 0.0))
    share = max(excess, 0.0) / max(room, 1.0)
    return float(min(max(1 / max(share, 1e-12) - 1, WEAKEST), STRONGEST))


@kernel
def blend(indptr: Ints, means: Floats, seen: Floats, records: Ints, strength: float, chances: Floats) -> None:
    """Posterior chances: prior means that count for ``strength`` records, and what was seen."""
    for cell in range(len(records)):
        weight = records[cell] + strength
        for entry in range(indptr[cell], indptr[cell + 1]):
            chances[entry] = (seen[entry] + strength * means[entry]) / weight


@kernel
def learn(
    lattice: Lattice,
    records: Records,
    recorded: Ints,
    belief: float,
    first: int,
    last: int,
    indptr: Ints,
    indices: Places,
    means: Floats,
    chances: Floats,
    strengths: Floats,
) -> None:
    """Measures of agents ``first … last`` from their records (A, W, 3): pooled means, strengths (A,), and chances."""
    cells, codes = lattice.size * lattice.size, len(lattice.offsets) + 1
    tally, per_cell = np.empty((2, codes), np.int64), np.empty(cells, np.int64)
    for n in range(first, last):
        count, bounds = min(recorded[n], records.shape[1]), indptr[n]
        tally_codes(lattice, records[n], count, tally)
        _write_means(lattice, tally, belief, bounds, indices, means)
        begin, end = bounds[0], bounds[cells]
        seen = chances[begin:end]  # counts first; they turn into chances below
        seen[:] = 0.0
        per_cell[:] = 0
        for m in range(count):
            cell = records[n, m, 1]
            landed = end_of(lattice, cell, _is_up(lattice, cell), records[n, m, 2])
            entry = bounds[cell]
            while indices[entry] != landed:
                entry += 1
            seen[entry - begin] += 1
            per_cell[cell] += 1
        strengths[n] = strength_of(bounds - begin, means[begin:end], seen, per_cell)
        blend(bounds - begin, means[begin:end], seen, per_cell, strengths[n], seen)
