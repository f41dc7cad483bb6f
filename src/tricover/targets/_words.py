"""Exact sums: floats as whole numbers of a few words, added without any rounding and rounded once at the end.

The values v_j of a column share a *grid*: a unit u, which is the lowest binary place that any of them uses, and W
words of b bits,

    v_j = u Σ_i m_ij 2^(b (W - 1 - i)),  m_ij whole, |m_ij| < 2^b, of the sign of v_j.

At most D of them are added, and b = min(50, 62 - ⌈log2(D + 1)⌉), so the sum of any word fits into 64 bits. Carries are
settled at the end, and the sum is rounded to the nearest double, ties to even. It depends on the values alone: neither
on their order nor on the grid, so other values that are not added cannot change it.

Two words hold 53 digits of a million values that span six decades, and have a path of their own. Whatever needs more,
up to 2100 binary places, gets as many words as it takes, and more time.
"""

from math import ceil, frexp, ldexp
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import inlined, kernel

__all__ = [
    "Grid",
    "Pair",
    "Words",
    "add",
    "add_to_pair",
    "make_grid",
    "no_grid",
    "rounded",
    "rounded_pair",
    "span_of",
    "sum_lists",
]

Floats = NDArray[np.float64]
Words = NDArray[np.int64]
Ints = NDArray[np.int64]

_MOST_BITS = 50  # a word and a half bit below it are exact as a float
_EXACT = 53  # bits of a float
_FRACTION = (1 << 52) - 1  # the bits of a float's fraction
_ROOM = 512  # values that are looked at together


class Pair(NamedTuple):
    """How the values of one column are written as two words; plain numbers, which kernels keep at hand."""

    first: int
    """Where the higher word is in a row of words; the lower one is next to it."""
    bits: int
    """Of a word."""
    scale: float
    """1 over what one is worth in the higher word; 0: two words do not hold the values."""
    high: float
    """What one is worth in the higher word."""
    low: float
    """What one is worth in the lower word."""


class Grid(NamedTuple):
    """How the values of one column are written as words, the highest first."""

    pair: Pair
    """For the quick way."""
    first: int
    """Where its words begin in a row of words."""
    bits: int
    """Of a word."""
    down: Floats
    """(W, 2) two factors that together are 1 over the worth of each word: their product may be beyond a float."""
    worth: Floats
    """(W,) what one is worth in each word."""


def no_grid() -> Grid:
    """Of a column that nobody asks for."""
    return Grid(Pair(0, _MOST_BITS, 0.0, 0.0, 0.0), 0, _MOST_BITS, np.empty((0, 2)), np.empty(0))


def make_grid(largest: float, lowest: float, count: int, first: int = 0) -> Grid:
    """The grid for values up to ``largest`` in size with the lowest place ``lowest``, of which ``count`` are added."""
    bits = min(_MOST_BITS, 62 - count.bit_length())
    top, bottom = frexp(largest)[1], frexp(lowest)[1] - 1
    number = max(2, ceil((top - bottom) / bits)) if largest > 0 else 2
    places = [bottom + bits * (number - 1 - word) for word in range(number)]
    down = np.array([[ldexp(1.0, -(place // 2)), ldexp(1.0, place // 2 - place)] for place in places])
    quick = number == 2 and places[0] >= -1000
    scale = ldexp(1.0, -places[0]) if quick else 0.0
    worth = np.array([ldexp(1.0, place) for place in places])
    pair = Pair(first, bits, scale, float(worth[0]), float(worth[1]))
    return Grid(pair, first, bits, down, worth)


@kernel
def span_of(values: Floats, largest: float, lowest: float) -> tuple[float, float]:
    """The largest size, and the lowest binary place in use as a power of two, of values and those seen before."""
    rest = np.empty(_ROOM)
    bits = rest.view(np.int64)
    for start in range(0, len(values), _ROOM):
        some = values[start : start + _ROOM]
        rest[: len(some)] = some
        # Without the lowest bit of its fraction, if it has one, a value is less by just that bit.
        for k in range(len(some)):
            fraction = bits[k] & _FRACTION
            bits[k] ^= fraction & -fraction
        for k in range(len(some)):
            size = abs(some[k])
            place = abs(some[k] - rest[k])
            place = place if place > 0.0 else size
            largest = max(largest, size)
            lowest = min(lowest, place if place > 0.0 else lowest)
    return largest, lowest


@inlined
def add_to_pair(value: float, pair: Pair, high: Any, low: Any) -> Any:
    """Add a value to two words; each step is exact."""
    scaled = value * pair.scale
    whole = np.int64(scaled)
    return high + whole, low + np.int64((scaled - whole) * float(np.int64(1) << pair.bits))


@kernel
def add(value: float, grid: Grid, words: Words) -> None:
    """Add a value to a row of words; each step is exact."""
    rest = value
    for word in range(len(grid.worth)):
        # Only a product below one can lose digits here, and of that nothing is kept.
        whole = int(rest * grid.down[word, 0] * grid.down[word, 1])
        words[grid.first + word] += whole
        rest -= whole * grid.worth[word]


@inlined
def rounded_pair(high: Any, low: Any, pair: Pair) -> float:
    """The sum of two words, rounded once."""
    high, low = high + (low >> pair.bits), low & ((1 << pair.bits) - 1)
    base, limit = float(1 << pair.bits), 1 << _EXACT
    if -limit <= high < limit:
        return float((high * base + low) * pair.low)  # a sum of two exact floats
    # Its size is above 2^(53 + b), so that floats there, and their middles, are whole numbers of the higher word or
    # of its lowest digits; what is below these only has to say that it is there.
    over, part = high >> pair.bits, high & ((1 << pair.bits) - 1)
    return float((over * base + (part + 0.5 * (low != 0))) * pair.high)


@kernel
def rounded(words: Words, grid: Grid) -> float:
    """The sum of a row of words, rounded once. Carries are settled in place."""
    carry, last = 0, len(grid.worth)
    for word in range(last - 1, -1, -1):
        total = words[grid.first + word] + carry
        words[grid.first + word] = total & ((1 << grid.bits) - 1)
        carry = total >> grid.bits
    # Words below the highest are now positive. Take from above as many as are exact together as a float …
    top, word, limit = carry, 0, 1 << (_EXACT - grid.bits)
    while word < last and -limit <= top < limit:
        top = (top << grid.bits) | words[grid.first + word]
        word += 1
    if word == last:
        return float(top * grid.worth[last - 1])
    # … then one more, which makes 2^53 of its units at least. So floats there, and their middles, are whole numbers of
    # these, and what is below only has to say that it is there: half a unit does.
    tail = False
    for rest in range(word + 1, last):
        tail |= words[grid.first + rest] != 0
    return float((top * float(1 << grid.bits) + (words[grid.first + word] + 0.5 * tail)) * grid.worth[word])


@kernel
def sum_lists(values: Floats, offsets: Ints, grid: Grid, sums: Floats) -> None:
    """Sums (A,) of the values (L,) of each list, rounded once."""
    words = np.zeros(len(grid.worth), np.int64)
    for row in range(len(sums)):
        words[:] = 0
        for k in range(offsets[row], offsets[row + 1]):
            add(values[k], grid, words)
        sums[row] = rounded(words, grid)
