"""The bus: who publishes what under which key, and whose token of life is there. In memory here, ``zenoh_bus`` else.

    tricover/MISSION/agent/7/place      what agent 7 says: its place and all else
    tricover/MISSION/agent/7/pace       its place in every fourth step: how far it is, for those to whom it listens
    tricover/MISSION/agent/7/alive/…    its token of life
    tricover/MISSION/operator/command   what the operator says

A token's last part is signed, see ``radio``. Handlers are called one at a time, in the event loop of who subscribed.
"""

import asyncio
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Protocol, TypeAlias

__all__ = ["Bus", "Close", "Handler", "MemoryBus", "MemoryHub", "TokenHandler"]

Handler: TypeAlias = Callable[[str, bytes], None]
"""Takes the key and what was published under it."""
TokenHandler: TypeAlias = Callable[[str, bool], None]
"""Takes the key of a token, and whether it came or went."""
Close: TypeAlias = Callable[[], None]


class Bus(Protocol):
    """One member's way to all others."""

    @property
    def dropped(self) -> int:
        """How many messages a flood pushed out before they were handed over."""

    def publish(self, key: str, data: bytes) -> None:
        """Say something to all who subscribed to the key; it may get lost."""

    def subscribe(self, pattern: str, handler: Handler) -> Close:
        """Hear what is published under keys that a pattern stands for (* is any one part); until it is closed."""

    def expect(self, keys: set[str]) -> None:
        """Until something has come under all of these, places need not be handed over: to wake a process costs time."""

    def declare(self, key: str) -> Close:
        """Show a token of life, for as long as this process lives and is heard of."""

    def watch(self, pattern: str, handler: TokenHandler) -> Close:
        """Hear of tokens that come and go, and of those that are there already."""

    def close(self) -> None:
        """Leave the bus: tokens and subscriptions end."""


class MemoryHub:
    """What connects buses in one process: nothing is lost, and all comes in the order in which it was said."""

    def __init__(self) -> None:
        self.buses: list[MemoryBus] = []

    def join(self) -> "MemoryBus":
        """A new member."""
        bus = MemoryBus(self)
        self.buses.append(bus)
        return bus


class MemoryBus:
    """The twin in memory of a bus; see ``Bus``."""

    dropped = 0  # nothing waits here

    def __init__(self, hub: MemoryHub) -> None:
        self._hub = hub
        self._handlers: list[tuple[str, Handler]] = []
        self._watchers: list[tuple[str, TokenHandler]] = []
        self.tokens: set[str] = set()

    def publish(self, key: str, data: bytes) -> None:
        """Hand it to all who subscribed."""
        for bus in self._hub.buses:
            for pattern, handler in bus._handlers:
                if pattern == key or ("*" in pattern and fnmatchcase(key, pattern)):
                    _soon(handler, key, data)

    def subscribe(self, pattern: str, handler: Handler) -> Close:
        """Hear what is published under keys that a pattern stands for."""
        entry = pattern, handler
        self._handlers.append(entry)
        return lambda: self._handlers.remove(entry)

    def expect(self, keys: set[str]) -> None:
        """All is handed over at once anyway."""

    def declare(self, key: str) -> Close:
        """Show a token."""
        self.tokens.add(key)
        self._tell(key, True)
        return lambda: self._withdraw(key)

    def watch(self, pattern: str, handler: TokenHandler) -> Close:
        """Hear of tokens, those that are there first."""
        entry = pattern, handler
        self._watchers.append(entry)
        for key in sorted(token for bus in self._hub.buses for token in bus.tokens):
            if fnmatchcase(key, pattern):
                _soon(handler, key, True)
        return lambda: self._watchers.remove(entry)

    def close(self) -> None:
        """Leave the hub."""
        self._handlers.clear()
        self._watchers.clear()
        for key in sorted(self.tokens):
            self._withdraw(key)
        if self in self._hub.buses:
            self._hub.buses.remove(self)

    def _withdraw(self, key: str) -> None:
        if key in self.tokens:
            self.tokens.remove(key)
            self._tell(key, False)

    def _tell(self, key: str, alive: bool) -> None:
        for bus in self._hub.buses:
            for pattern, handler in bus._watchers:
                if fnmatchcase(key, pattern):
                    _soon(handler, key, alive)


def _soon(handler: Callable[..., None], *what: object) -> None:
    asyncio.get_running_loop().call_soon(handler, *what)
