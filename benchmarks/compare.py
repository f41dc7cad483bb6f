"""Timing by ratio: ours and a peer alternate in the same run, and each gets its best of several goes.

A topic is a file in this folder with a function ``rows()`` that yields ``Row`` objects; ``make bench`` runs them all.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of the table: how many times faster (or smaller) ours is than the peer, beside what we want."""

    what: str
    ours: str
    peer: str
    ratio: float
    wanted: float | None = None
    at_most: bool = False
    note: str = ""

    @property
    def kept(self) -> bool:
        if self.wanted is None:
            return True
        return self.ratio <= self.wanted if self.at_most else self.ratio >= self.wanted


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def best_of(*functions: Callable[[], object], goes: int = 5) -> list[float]:
    """Best time in seconds of each function; the functions take turns, so that noise hits all alike."""
    times = [[seconds(function) for function in functions] for _ in range(goes)]
    return [min(column) for column in zip(*times, strict=True)]


def span(time_s: float) -> str:
    """A time for the table, in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if time_s >= size:
            return f"{time_s / size:.3g} {unit}"
    return f"{time_s * 1e9:.3g} ns"


def against(
    what: str,
    ours: Callable[[], object],
    peer: Callable[[], object],
    wanted: float | None = None,
    goes: int = 5,
    note: str = "",
) -> Row:
    """Time ours beside a peer and report how many times faster ours is."""
    ours()  # compile and warm up outside the measurement
    mine, theirs = best_of(ours, peer, goes=goes)
    return Row(what, span(mine), span(theirs), theirs / mine, wanted, note=note)
