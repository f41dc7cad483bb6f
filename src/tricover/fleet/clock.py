"""When an agent takes its next step.

    lockstep   when it has heard, of this step, from all to whom it listens, and those who listen to it are not far
               behind; at the latest after ``limit`` seconds, with what it has heard by then. Where several steps
               are said at once, it waits for each of them
    rate       every ``period`` seconds, with what it has heard in the first half of it
    fast       as lockstep, however long that takes: as fast as the slowest of those alive

Lockstep needs no conductor. Nobody is more than ``lead`` steps ahead of those who listen to it: all are about as far.
Who finds itself farther behind than that, as after it was frozen, goes on where the others are.
"""

from dataclasses import dataclass
from math import inf
from typing import Literal, TypeAlias

from tricover.errors import InputError

__all__ = ["Clock", "Kind", "clock_of"]

Kind: TypeAlias = Literal["lockstep", "rate", "fast"]

LEAD = 16
"""Steps that an agent may be ahead of those who listen to it: so it need not look at each of their messages."""


@dataclass(frozen=True)
class Clock:
    """How long steps take.

    Attributes:
        period: seconds that a step takes at least.
        limit: seconds that an agent waits for others at most, for each step that they say at once.
        lead: steps that others may be ahead.
    """

    period: float = 0.0
    limit: float = 0.5
    lead: int = LEAD

    def __post_init__(self) -> None:
        if not 0 <= self.period < inf or not self.limit >= 0:
            raise InputError(f"a step takes {self.period} s and waits for {self.limit} s: give seconds from 0 on")


def clock_of(kind: Kind, rate: float | None = None, limit: float | None = None) -> Clock:
    """The clock of a kind: ``rate`` in steps per second, ``limit`` in seconds.

    >>> clock_of("rate", rate=10.0)
    Clock(period=0.1, limit=0.05, lead=1)
    """
    if rate is not None and not 0 < rate <= 1e4:
        raise InputError(f"rate must be a positive number of steps per second, up to 10,000, not {rate}")
    if kind == "rate":
        period = 1 / (10.0 if rate is None else rate)
        return Clock(period, min(period / 2, inf if limit is None else limit), lead=1)
    if kind not in ("lockstep", "fast"):
        raise InputError(f'clock must be "lockstep", "rate" or "fast", not {kind!r}')
    period, lead = (0.0, LEAD) if rate is None else (1 / rate, min(max(round(rate), 2), LEAD))  # about a second
    return Clock(period, inf if kind == "fast" else 0.5 if limit is None else limit, lead)
