"""Exact arithmetic on expansions: sums of floats that do not overlap, smallest first (Shewchuk).

An expansion is an array and its length. The last part is the largest and has the sign of the whole. Sums and products
have no rounding at all unless a product falls below 2⁻¹⁰⁷⁴; they are slow, and meant for what a floating-point filter
could not decide.
"""

import math

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel, typed

__all__ = ["ROOM", "add", "add_product", "add_root", "compress", "two_product", "two_sum"]

Floats = NDArray[np.float64]

#: Parts that fit into an expansion. Compressed ones have at most 40, since floats span 2100 binary places.
ROOM = 4096
EMPTY, PAIR = typed(0), typed(2)  # lengths: of no parts, and of what two_sum and two_product make

_SPLITTER = 134217729.0  # 2²⁷ + 1
_ROOT_PARTS = 5  # of 53 bits each


@kernel
def two_sum(a: float, b: float) -> tuple[float, float]:
    """a + b as rounded sum and exact remainder."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@kernel
def two_product(a: float, b: float) -> tuple[float, float]:
    """a · b as rounded product and exact remainder."""
    product = a * b
    big = _SPLITTER * a
    a_high = big - (big - a)
    a_low = a - a_high
    big = _SPLITTER * b
    b_high = big - (big - b)
    b_low = b - b_high
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


@kernel
def add(expansion: Floats, length: int, value: float) -> int:
    """Add a float to an expansion in place; returns the new length."""
    carry = value
    kept = 0
    for part in range(length):
        carry, rest = two_sum(carry, expansion[part])
        if rest != 0.0:
            expansion[kept] = rest
            kept += 1
    if carry != 0.0 or kept == 0:
        expansion[kept] = carry
        kept += 1
    return kept


@kernel
def compress(expansion: Floats, length: int) -> int:
    """The same value in as few parts as it takes."""
    if length == 0:
        return 0
    carry = expansion[length - 1]
    bottom = length
    for part in range(length - 2, -1, -1):
        high, low = two_sum(carry, expansion[part])
        if low != 0.0:
            bottom -= 1
            expansion[bottom] = high
            carry = low
        else:
            carry = high
    top = 0
    for part in range(bottom, length):
        carry, low = two_sum(expansion[part], carry)
        if low != 0.0:
            expansion[top] = low
            top += 1
    expansion[top] = carry
    return top + 1


@kernel
def add_product(total: Floats, length: int, a: Floats, a_length: int, b: Floats, b_length: int, sign: float) -> int:
    """Add sign·a·b to an expansion in place; returns its new length, compressed."""
    for i in range(a_length):
        for j in range(b_length):
            product, rest = two_product(sign * a[i], b[j])
            length = add(total, length, rest)
            length = add(total, length, product)
    return compress(total, length)


@kernel
def add_root(total: Floats, length: int, square: Floats, square_length: int, sign: float) -> int:
    """Add sign·√square to an expansion in place, to about 75 digits; returns its new length.

    Newton's step with the float's root as slope gains 53 bits each time, because the remainder is exact.
    """
    root, left = np.empty(_ROOT_PARTS), np.empty(ROOM)
    slope = 2.0 * math.sqrt(square[square_length - 1])
    for parts in range(_ROOT_PARTS):
        for i in range(square_length):
            left[i] = square[i]
        left_length = add_product(left, square_length, root, parts, root, parts, -1.0)
        step = left[left_length - 1] / slope if parts > 0 else 0.5 * slope
        if step == 0.0 or slope == 0.0:
            break
        root[parts] = step
        length = add(total, length, sign * step)
    return compress(total, length)
