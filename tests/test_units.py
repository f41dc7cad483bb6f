"""Numbers for readers: right to their digits, and without an exponent as long as one can count them."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tricover.units import length, number

UNITS = {"m": 1.0, "mm": 1e-3, "µm": 1e-6, "nm": 1e-9}
SIZES = st.floats(-12, 100).map(lambda power: 10**power)
PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def value_of(text):
    """What a reader understands."""
    mantissa, _, power = text.replace(",", "").partition("·10")
    return float(f"{mantissa}e{power.translate(PLAIN) or 0}")


@given(SIZES, st.sampled_from([1, -1]), st.integers(1, 6))
def test_numbers_are_right_to_their_digits(size, sign, digits):
    text = number(sign * size, digits)
    if size < 1e-6:
        assert text == "under 0.000001"
        return
    assert re.fullmatch(r"-?[\d,]+(\.\d*[1-9])?" if size < 9e11 else r"-?[\d,]+(\.\d+)?(·10[⁰-⁹¹²³]+)?", text)
    assert ("·10" in text) == (abs(value_of(text)) >= 1e12)
    assert value_of(text) == pytest.approx(sign * size, rel=0.5001 * 10 ** (1 - digits))
    padded = number(sign * size, digits, padded=True)
    assert value_of(padded) == value_of(text)
    shown = re.sub(r"[-,.]|·10.*", "", padded).lstrip("0")
    assert len(shown) >= digits  # large ones have zeros before the point as well


@given(SIZES, st.integers(2, 5))
def test_lengths_are_right_in_their_units(metres, digits):
    text = length(metres, digits)
    if metres < 1e-9:
        assert text == "under 1 nm"
        return
    figure, unit = text.split()
    assert value_of(figure) * UNITS[unit] == pytest.approx(metres, rel=0.5001 * 10 ** (1 - digits))
    assert unit == "m" if metres >= 0.01 else unit != "m"
    if unit != "m":
        assert 1 <= float(figure) <= 1000


def test_what_is_no_number_is_said_in_words():
    assert [number(value) for value in (math.nan, math.inf, -math.inf, 0, -0.0)] == ["not known", "∞", "−∞", "0", "0"]
    assert [length(value) for value in (math.inf, 0.0, 1e-300)] == ["∞ m", "0 m", "under 1 nm"]
