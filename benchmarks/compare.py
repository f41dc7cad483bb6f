"""Timing by ratio: ours and a peer take turns in the same run, and each gets its best of several goes.

A topic is a file in this folder with a function ``rows()`` that yields ``Row`` objects; ``make bench`` runs them all.
A *timer* does something once and returns how many seconds it took; peers are timed inside their own process (see
``workers``), so neither the start of a process nor the way there and back counts.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Timer = Callable[[], float]

TURN = 0.03  # seconds


@dataclass(frozen=True)
class Row:
    """One line of the table: how many times faster (or smaller) ours is than the peer, beside what we want.

    ``data`` goes into the JSON file only: what a figure or a doubter needs.
    """

    what: str
    ours: str
    peer: str
    ratio: float
    wanted: float | None = None
    at_most: bool = False
    note: str = ""
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def kept(self) -> bool:
        if self.wanted is None:
            return True
        return self.ratio <= self.wanted if self.at_most else self.ratio >= self.wanted

    @property
    def bound(self) -> str:
        return "" if self.wanted is None else f"{'≤' if self.at_most else '≥'} {self.wanted:g}"

    @property
    def verdict(self) -> str:
        if self.wanted is None:
            return "compared"
        return "kept" if self.kept else "missed"


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def timer(function: Callable[[], object]) -> Timer:
    return lambda: seconds(function)


def own_timer(function: Callable[[], object]) -> Timer:
    """The processor's time in this thread: what one core takes, whatever else the machine does."""

    def time_it() -> float:
        start = time.thread_time()
        function()
        return time.thread_time() - start

    return time_it


def best_of(*timers: Timer, goes: int = 5) -> list[float]:
    """Best time in seconds of each timer; they take turns, so that noise hits all alike."""
    times = [[turn(timer) for timer in timers] for _ in range(goes)]
    return [min(column) for column in zip(*times, strict=True)]


def turn(timer: Timer) -> float:
    """The best go of a turn, which lasts a while even if a go is short.

    Whoever's turn comes finds the caches full of what others did meanwhile. Twelve solves with slip, in a millisecond
    and a half, take a quarter more then. One go a turn measured this, but for the first, which followed a go of its
    own; so the best of nine had two speeds, as that first go was disturbed or not.
    """
    best = spent = timer()
    while spent < TURN:
        time = timer()
        best, spent = min(best, time), spent + time
    return best


def against(
    what: str,
    ours: Callable[[], object],
    peer: Timer,
    wanted: float | None = None,
    goes: int = 5,
    note: str = "",
) -> Row:
    """Time ours beside a peer and report how many times faster ours is."""
    ours()  # compile and warm up outside the measurement
    mine, theirs = best_of(timer(ours), peer, goes=goes)
    return Row(what, span(mine), span(theirs), theirs / mine, wanted, note=note)


def span(time_s: float) -> str:
    """A time for the table, in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if time_s >= size:
            return f"{time_s / size:.3g} {unit}"
    return f"{time_s * 1e9:.3g} ns"


def amount(count: float) -> str:
    """Bytes for the table."""
    return f"{count / 2**30:.3g} GiB" if count >= 2**30 else f"{count / 2**20:.3g} MiB"


def power(count: int) -> str:
    """A size for the table: powers of ten as such."""
    exponent = len(str(count)) - 1
    if count < 1000 or count % 10**exponent:
        return f"{count:,}"
    leading = "" if count == 10**exponent else f"{count // 10**exponent}·"
    return f"{leading}10{str(exponent).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def exponent(sizes: "np.typing.ArrayLike", values: "np.typing.ArrayLike") -> float:
    """p of the power law values ∝ sizes^p that fits best, by least squares of the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def quick() -> bool:
    """Whether a tenth of the sizes will do, to see that everything works."""
    return os.environ.get("TRICOVER_BENCH") == "quick"


def size(full: int) -> int:
    """How many to take where ``full`` is wanted."""
    return full // 10 if quick() else full
