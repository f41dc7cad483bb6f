"""Double-double numbers: an unevaluated sum high + low of two floats, good for about 31 digits.

They decide near ties of distances, where a difference of the last bit must not choose between agents.
"""

import math

from tricover.compiled import inlined
from tricover.geometry._predicates import two_product, two_sum

__all__ = ["add", "divide", "multiply", "root", "subtract"]


@inlined
def add(a: float, a_low: float, b: float, b_low: float) -> tuple[float, float]:
    """Sum of two double-doubles."""
    high, rest = two_sum(a, b)
    low, low_rest = two_sum(a_low, b_low)
    high, rest = two_sum(high, rest + low)
    return two_sum(high, rest + low_rest)


@inlined
def subtract(a: float, a_low: float, b: float, b_low: float) -> tuple[float, float]:
    """Difference of two double-doubles."""
    return add(a, a_low, -b, -b_low)


@inlined
def multiply(a: float, a_low: float, b: float, b_low: float) -> tuple[float, float]:
    """Product of two double-doubles."""
    high, rest = two_product(a, b)
    return two_sum(high, rest + (a * b_low + a_low * b))


@inlined
def divide(a: float, a_low: float, b: float) -> tuple[float, float]:
    """A double-double divided by a float."""
    first = a / b
    product, rest = two_product(first, b)
    left, left_low = subtract(a, a_low, product, rest)
    return two_sum(first, (left + left_low) / b)


@inlined
def root(a: float, a_low: float) -> tuple[float, float]:
    """Square root of a double-double that is not negative: one Newton step from the float's root."""
    guess = math.sqrt(a)
    square, rest = two_product(guess, guess)
    left, left_low = subtract(a, a_low, square, rest)
    return two_sum(guess, 0.0 if guess == 0.0 else (left + left_low) / (2.0 * guess))
