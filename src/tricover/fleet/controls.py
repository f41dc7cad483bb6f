"""What is wanted of a flight while it is in the air, by who watches it.

    page ─▶ Controls ─▶ the flight's own loop ─▶ signals to processes
                                              └▶ Operator ─▶ orders, signed

``Controls`` takes wishes in any thread, and the loop that has the processes and the radio grants them. ``Operator`` is
its voice. An order is said some times, as somebody may be just connecting. What goes wrong with messages on demand is
said every second from then on: who begins or comes back later has to hear of it, too.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from tricover.fleet.messages import Command
from tricover.fleet.radio import Radio

__all__ = ["ORDERS", "PAUSE", "Controls", "Operator", "Wish"]

ORDERS = 3
"""How often an order is given: agents take a repeated one as the same."""
PAUSE = 0.2
"""Seconds between two of them."""
REMINDS = 1.0
"""Seconds after which faults are said again."""


class Wish(NamedTuple):
    """Something to be done: an ``order`` (word, values), ``faults`` (loss, apart), ``kill``, ``freeze``, ``join``."""

    what: str
    values: dict[str, Any]


@dataclass(eq=False)
class Controls:
    """Wishes from any thread.

    Attributes:
        orders: whether there is the operator's key, so that orders can be given.
        processes: whether the agents are processes of this program, which can be killed and begun again.
        running: of these, who runs; told by the flight.
        frozen: and who is frozen.
    """

    orders: bool
    processes: bool
    running: frozenset[int] = frozenset()
    frozen: frozenset[int] = frozenset()
    _wishes: SimpleQueue[Wish] = field(default_factory=SimpleQueue)

    def ask(self, what: str, **values: Any) -> None:
        """Have something done soon."""
        self._wishes.put(Wish(what, values))

    def taken(self) -> list[Wish]:
        """What was asked for since the last time."""
        found = []
        try:
            while True:
                found.append(self._wishes.get_nowait())
        except Empty:
            return found


class Operator:
    """Says what the operator wants, again and again where that is needed."""

    def __init__(self, radio: Radio, now: Callable[[], float] = time.monotonic) -> None:
        self.radio, self.now = radio, now
        self._left = 0
        self._order: Command | None = None
        self._faults: Command | None = None
        self._due = self._reminds = 0.0

    def order(self, word: str, values: dict[str, Any]) -> None:
        """Have an order given; one that is still being repeated is not any more."""
        self._order, self._left, self._due = Command(word, values), ORDERS, self.now()

    def disturb(self, loss: float, apart: list[int]) -> None:
        """Have messages lost with a chance, and agents cut off from all others, until it is said otherwise."""
        self._faults, self._reminds = Command("faults", {"loss": loss, "apart": apart}), self.now()

    def speak(self, step: int) -> None:
        """Say what is due."""
        now = self.now()
        if self._faults is not None and now >= self._reminds:
            self.radio.say(step, self._faults)
            self._reminds = now + REMINDS
        if self._order is not None and self._left and now >= self._due:
            self.radio.say(step, self._order)
            self._left, self._due = self._left - 1, now + PAUSE
