"""The bus for real: a Zenoh session, a client of the fleet's router; see ``bus`` and ``links``.

Places go best effort: a late one is of no use where the next is on its way. Zenoh calls back from threads of its own.
What it brings waits in a queue until the event loop takes all of it at once, so a flood wakes the loop once.
"""

import asyncio
import sys
from collections import deque
from collections.abc import Callable
from typing import Any

from tricover.fleet.bus import Close, Handler, TokenHandler

__all__ = ["ZenohBus", "open_bus"]

SWITCH = 2e-4
"""Seconds after which a thread lets another in. Zenoh's bring messages: with Python's own 5 ms these queue up."""
AT_ONCE = 100
"""Messages that are handed over in one turn of the loop."""
WAITING = 20_000
"""Messages that wait for the loop at most: a flood must not fill the memory. The oldest are dropped."""


class ZenohBus:
    """One member's session; see ``Bus``."""

    def __init__(self, session: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._session, self._loop = session, loop
        self._publishers: dict[str, Any] = {}
        self._queue: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque(maxlen=WAITING)
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
            self._later(
                not self._missing or not key.endswith(("/place", "/pace")), handler, key, sample.payload.to_bytes()
            )

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
            self._later(True, handler, str(sample.key_expr), sample.kind == zenoh.SampleKind.PUT)

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
        self._queue.clear()

    def expect(self, keys: set[str]) -> None:
        """Wake the loop when something has come under all of these keys; what waits is handed over now."""
        self._missing = keys
        self._deliver()

    def _later(self, urgent: bool, handler: Callable[..., None], *what: Any) -> None:
        self._queue.append((handler, what))
        if urgent and not self._woken:
            self._woken = True
            self._loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        if self._session.is_closed():
            return
        self._woken = False
        for _ in range(min(len(self._queue), AT_ONCE)):  # others in the loop have to have their turn
            handler, what = self._queue.popleft()
            handler(*what)
        if self._queue and not self._woken:
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
