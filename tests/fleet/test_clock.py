"""Clocks of a fleet: how long steps take, and how long agents wait."""

from math import inf, nan

import pytest

from tricover.errors import InputError
from tricover.fleet.clock import Clock, clock_of


@pytest.mark.parametrize(
    ("kind", "given", "period", "limit", "lead"),
    [
        ("lockstep", {}, 0.0, 0.5, 16),
        ("lockstep", {"rate": 4.0}, 0.25, 0.5, 4),
        ("lockstep", {"rate": 0.1}, 10.0, 0.5, 2),
        ("lockstep", {"limit": 2.0}, 0.0, 2.0, 16),
        ("rate", {}, 0.1, 0.05, 1),
        ("rate", {"rate": 4.0}, 0.25, 0.125, 1),
        ("rate", {"rate": 4.0, "limit": 0.01}, 0.25, 0.01, 1),
        ("rate", {"rate": 4.0, "limit": 9.0}, 0.25, 0.125, 1),
        ("fast", {}, 0.0, inf, 16),
        ("fast", {"rate": 2.0, "limit": 1.0}, 0.5, inf, 2),
        ("lockstep", {"rate": 10_000.0}, 0.0001, 0.5, 16),
    ],
)
def test_kinds(kind, given, period, limit, lead):
    assert clock_of(kind, **given) == Clock(period, limit, lead)


@pytest.mark.parametrize("rate", [0.0, -1.0, nan, inf, 10_001.0])
def test_rates_that_cannot_be(rate):
    for kind in ("lockstep", "rate", "fast"):
        with pytest.raises(InputError, match="rate must be"):
            clock_of(kind, rate=rate)


def test_what_else_cannot_be():
    with pytest.raises(InputError, match="'hourly'"):
        clock_of("hourly")
    for given in ({"period": -1.0}, {"period": inf}, {"period": nan}, {"limit": -1.0}, {"limit": nan}):
        with pytest.raises(InputError, match="seconds from 0 on"):
            Clock(**given)
    assert Clock(0.0, 0.0).limit == 0
