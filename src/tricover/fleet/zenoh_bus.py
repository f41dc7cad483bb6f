"""The bus for real: a Zenoh session, a client of the fleet's router; see ``bus`` and ``links``.

Places go best effort: a late one is of no use where the next is on its way. Zenoh calls back from threads of its own.
What it brings waits until the event loop takes all of it at once, so a flood wakes the loop once.

*Floods.* What waits is bounded for each key, and keys take turns. So who speaks too much, or too long, pushes out
nobody's messages but those under its own key, and nobody waits behind it. What is pushed out is counted.
"""

import asyncio
import sys
from collections import deque
from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple

from tricover.fleet.bus import Close, Handler, TokenHandler
from tricover.fleet.encoding import LONGEST

__all__ = ["Waiting", "ZenohBus", "open_bus"]

SWITCH = 2e-4
"""Seconds after which a thread lets another in. Zenoh's bring messages: with Python's own 5 ms these queue up."""
AT_ONCE = 100
"""Messages that are handed over in one turn of the loop."""
MESSAGES = 64
"""Messages that wait under one key at most; what is older than so many places of a sender is of no use."""
BYTES = 2 * LONGEST
"""Bytes that they have at most, unless there is only one."""
KEYS = 20_000
"""Keys under which something waits at most."""


class Call(NamedTuple):
    """A handler that is to be called, with what, and the bytes of it."""

    handler: Callable[..., None]
    what: tuple[Any, ...]
    size: int


class Waiting:
    """Calls that wait, by key; threads may add some while another takes them.

    >>> waiting = Waiting()
    >>> for key in ("a", "a", "a", "b"):
    ...     waiting.add(key, Call(print, (key,), 1))
    >>> [waiting.take().what[0] for _ in range(len(waiting))], waiting.dropped
    (['a', 'b', 'a', 'a'], 0)
    """

    def __init__(self) -> None:
        self.dropped = 0
        """How many were pushed out."""
        self._calls: dict[str, deque[Call]] = {}  # in the order of their turns
        self._sizes: dict[str, int] = {}
        self._count = 0
        self._lock = Lock()

    def __len__(self) -> int:
        with self._lock:  # else one that is about to be pushed out may be counted
            return self._count

    def add(self, key: str, call: Call) -> None:
        """Let a call wait; the oldest ones of its key go if these are too many."""
        with self._lock:
            if key not in self._calls and len(self._calls) >= KEYS:
                self.dropped += 1
                return
            calls = self._calls.setdefault(key, deque())
            calls.append(call)
            self._change(key, 1, call.size)
            while len(calls) > MESSAGES or (self._sizes[key] > BYTES and len(calls) > 1):
                self._change(key, -1, -calls.popleft().size)
                self.dropped += 1

    def take(self) -> Call:
        """The oldest call of the key whose turn it is."""
        with self._lock:
            key = next(iter(self._calls))
            calls = self._calls.pop(key)
            call = calls.popleft()
            self._change(key, -1, -call.size)
            if calls:
                self._calls[key] = calls  # its next turn comes after all others
            else:
                del self._sizes[key]
            return call

    def clear(self) -> None:
        """Forget all of them."""
        with self._lock:
            self._calls.clear()
            self._sizes.clear()
            self._count = 0

    def _change(self, key: str, calls: int, size: int) -> None:
        self._count += calls
        self._sizes[key] = self._sizes.get(key, 0) + size


class ZenohBus:
    """One member's session; see ``Bus``."""

    def __init__(self, session: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._session, self._loop = session, loop
        self._publishers: dict[str, Any] = {}
        self._waiting = Waiting()
        self._woken = False
        self._missing: set[str] = set()
        self._handles: list[Any] = []  # what nobody holds ends at once

    def publish(self, key: str, data: bytes) -> None:
        """Say something, best effort."""
        import zenoh

        if key not in self._publishers:
            commands = key.endswith("/command")  # of the operator: these must arrive
            self._publishers[key] = self._session.declare_publisher(
                key,
                reliability=zenoh.Reliability.RELIABLE if commands else zenoh.Reliability.BEST_EFFORT,
                congestion_control=zenoh.CongestionControl.BLOCK if commands else zenoh.CongestionControl.DROP,
                express=commands,
            )
        self._publishers[key].put(data)

    def subscribe(self, pattern: str, handler: Handler) -> Close:
        """Hear what is published under keys that a pattern stands for."""

        def hear(sample: Any) -> None:
            key = str(sample.key_expr)
            self._missing.discard(key)
            data = sample.payload.to_bytes()
            urgent = not self._missing or not key.endswith(("/place", "/pace"))
            self._later(urgent, key, Call(handler, (key, data), len(data)))

        subscriber = self._session.declare_subscriber(pattern, _direct(hear))
        return self._held(subscriber)

    def declare(self, key: str) -> Close:
        """Show a token."""
        token = self._session.liveliness().declare_token(key)
        return self._held(token)

    def watch(self, pattern: str, handler: TokenHandler) -> Close:
        """Hear of tokens, also of those that are there."""
        import zenoh

        def hear(sample: Any) -> None:
            key = str(sample.key_expr)
            self._later(True, key, Call(handler, (key, sample.kind == zenoh.SampleKind.PUT), len(key)))

        subscriber = self._session.liveliness().declare_subscriber(pattern, _direct(hear), history=True)
        return self._held(subscriber)

    def _held(self, handle: Any) -> Close:
        self._handles.append(handle)

        def close() -> None:
            self._handles.remove(handle)
            handle.undeclare()

        return close

    def close(self) -> None:
        """End the session; what waits is not handed over any more."""
        self._woken = True
        self._session.close()
        self._waiting.clear()

    def expect(self, keys: set[str]) -> None:
        """Wake the loop when something has come under all of these keys; what waits is handed over now."""
        self._missing = keys
        self._deliver()

    @property
    def dropped(self) -> int:
        """How many messages a flood pushed out before they were handed over."""
        return self._waiting.dropped

    def _later(self, urgent: bool, key: str, call: Call) -> None:
        self._waiting.add(key, call)
        if urgent and not self._woken:
            self._woken = True
            self._loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        if self._session.is_closed():
            return
        self._woken = False
        for _ in range(min(len(self._waiting), AT_ONCE)):  # others in the loop have to have their turn
            call = self._waiting.take()
            call.handler(*call.what)
        if len(self._waiting) and not self._woken:
            self._woken = True
            self._loop.call_soon(self._deliver)


def _direct(handler: Callable[[Any], None]) -> Any:
    """Called by the thread that receives: else each subscription has a thread of its own, to be woken every time."""
    from zenoh.handlers import Callback

    return Callback(handler, indirect=False)


def open_bus(config: Any) -> ZenohBus:
    """A session with a configuration from ``links``; to be called in an event loop, and after a process was forked."""
    import zenoh

    sys.setswitchinterval(SWITCH)
    return ZenohBus(zenoh.open(config), asyncio.get_running_loop())
