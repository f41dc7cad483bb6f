"""Faults on demand: messages that are lost or late, and members that are cut off from each other for a while.

They are played where messages arrive, in each member's own process, so they need no privileges and no special network.
What a network really does to messages comes on top.
"""

import asyncio
import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

from tricover.errors import InputError
from tricover.fleet.bus import Bus, Close, Handler, TokenHandler

__all__ = ["At", "Faults", "FaultyBus", "Partition", "at_times", "members_of"]


class At(NamedTuple):
    """Something that happens to some members at a time, for a while; in seconds from when all had taken a step."""

    members: tuple[str, ...]
    start: float
    seconds: float


class Partition(NamedTuple):
    """Members that are cut off from all others, from one time to another, in seconds from the start."""

    members: frozenset[int]
    start: float
    end: float

    @classmethod
    def of(cls, at: At) -> Self:
        """What is written as an event."""
        return cls(frozenset(map(int, at.members)), at.start, at.start + at.seconds)


@dataclass(frozen=True)
class Faults:
    """What goes wrong with messages.

    Attributes:
        loss: chance that a message is lost.
        delay: seconds by which messages are late.
        partitions: who is cut off, and when.
        seed: of the draws.
        on_demand: whether the operator may change loss, and cut agents off, while they fly.
    """

    loss: float = 0.0
    delay: float = 0.0
    partitions: tuple[Partition, ...] = ()
    seed: int = 0
    on_demand: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.loss < 1:
            raise InputError(f"loss must be a chance from 0 to less than 1, not {self.loss}")
        if not 0 <= self.delay <= 60:
            raise InputError(f"delay must be from 0 to 60 seconds, not {self.delay}")

    @property
    def any(self) -> bool:
        """Whether anything goes wrong, or may."""
        return bool(self.loss or self.delay or self.partitions or self.on_demand)


_EVENT = re.compile(r"(?P<who>[\w,\-]+)@(?P<start>\d+(\.\d+)?)(:(?P<seconds>\d+(\.\d+)?))?")


def at_times(given: Sequence[str], what: str, agents: int, others: Sequence[str] = (), lasts: bool = False) -> list[At]:
    """Events such as "7,9@12.5" or "0-5@3:10": who, after how many seconds and, where it lasts, for how long.

    >>> at_times(["0-2,7@3:10"], "partition", agents=9, lasts=True)
    [At(members=('0', '1', '2', '7'), start=3.0, seconds=10.0)]
    """
    found = []
    for text in given:
        match = _EVENT.fullmatch(text)
        if match is None or (match["seconds"] is None) == lasts:
            example = "3,7-9@12:10 (from second 12 on, for 10 s)" if lasts else "3,7-9@12 (at second 12)"
            raise InputError(f"--{what} {text}: write it as {example}")
        names = members_of(match["who"], f"--{what} {text}", agents, others)
        found.append(At(names, float(match["start"]), float(match["seconds"] or 0)))
    return found


def members_of(text: str, where: str, agents: int, others: Sequence[str] = ()) -> tuple[str, ...]:
    """Members such as "3,7-9"; ``where`` it is written, for the error if there is none.

    >>> members_of("3,7-9", "--agents", agents=10)
    ('3', '7', '8', '9')
    """
    return tuple(name for part in text.split(",") for name in _members(part.strip(), agents, others, where))


def _members(part: str, agents: int, others: Sequence[str], where: str) -> list[str]:
    if part in others:
        return [part]
    first, dash, end = part.partition("-")
    last = end if dash else first
    if not first.isdecimal() or not last.isdecimal() or not int(first) <= int(last) < agents:
        known = f"agents 0 to {agents - 1}" + "".join(f", {other}" for other in others)
        raise InputError(f"{where}: there is no {part!r}; there are {known}")
    return [str(agent) for agent in range(int(first), int(last) + 1)]


@dataclass(eq=False)
class FaultyBus:
    """A bus on which things go wrong for whoever listens: agent ``own``."""

    bus: Bus
    own: int
    faults: Faults
    now: Callable[[], float] = time.monotonic
    _tokens: set[str] = field(default_factory=set)
    _watchers: list[TokenHandler] = field(default_factory=list)
    _zero: float | None = None
    _apart: frozenset[int] = frozenset()
    """Who is cut off from all others as the operator wants it."""

    def __post_init__(self) -> None:
        self._draw = random.Random(f"{self.faults.seed}/{self.own}")

    def begin(self, zero: float) -> None:
        """The flight has started at a time by ``now``: partitions come when they are due."""
        self._zero = zero
        loop = asyncio.get_running_loop()
        for partition in self.faults.partitions:
            for began, when in ((True, partition.start), (False, partition.end)):
                loop.call_later(max(zero + when - self.now(), 0.0), self._change, began, partition)

    def _change(self, began: bool, partition: Partition) -> None:
        """A partition begins or ends: tokens on its other side go or come."""
        for key in sorted(self._tokens):
            if self._parts(partition.members, key):
                self._tell(key, not began and not self._parts(self._apart, key))

    def disturb(self, values: dict[str, Any]) -> None:
        """From now on messages are lost with another chance, and others are cut off: ``{"loss": p, "apart": […]}``."""
        loss, apart = values.get("loss"), values.get("apart")
        if not self.faults.on_demand:
            raise InputError("this flight does not let faults be changed")
        if (
            not isinstance(loss, int | float)
            or not isinstance(apart, list)
            or not all(type(one) is int for one in apart)
        ):
            raise InputError("new faults are a chance of loss, and agents that are cut off")
        self.faults = replace(self.faults, loss=loss)
        before, self._apart = self._apart, frozenset(apart)
        for key in sorted(self._tokens):
            if self._parts(before, key) != self._parts(self._apart, key):
                self._tell(key, not self.cut_off(key))

    def _tell(self, key: str, alive: bool) -> None:
        for handler in self._watchers:
            handler(key, alive)

    @property
    def dropped(self) -> int:
        """How many messages a flood pushed out."""
        return self.bus.dropped

    def publish(self, key: str, data: bytes) -> None:
        """Say something."""
        self.bus.publish(key, data)

    def subscribe(self, pattern: str, handler: Handler) -> Close:
        """Hear what is not lost, perhaps late."""

        def hear(key: str, data: bytes) -> None:
            if self.cut_off(key) or self._lost(key):
                return
            if self.faults.delay:
                asyncio.get_running_loop().call_later(self.faults.delay, handler, key, data)
            else:
                handler(key, data)

        return self.bus.subscribe(pattern, hear)

    def expect(self, keys: set[str]) -> None:
        """Until something has come under these, nothing need be handed over."""
        self.bus.expect(keys)

    def declare(self, key: str) -> Close:
        """Show a token."""
        return self.bus.declare(key)

    def watch(self, pattern: str, handler: TokenHandler) -> Close:
        """Hear of tokens; those on the other side of a partition are gone while it lasts."""

        def hear(key: str, alive: bool) -> None:
            (self._tokens.add if alive else self._tokens.discard)(key)
            # One that goes is always told: a process that was frozen may hear of it before it hears of the partition.
            if not alive or not self.cut_off(key):
                handler(key, alive)

        self._watchers.append(handler)
        return self.bus.watch(pattern, hear)

    def close(self) -> None:
        """Leave the bus."""
        self.bus.close()

    def cut_off(self, key: str) -> bool:
        """Whether a partition lies between this member and the one whose key it is."""
        if self._zero is None:
            return self._parts(self._apart, key)
        passed = self.now() - self._zero
        here = [one.members for one in self.faults.partitions if one.start <= passed < one.end]
        return any(self._parts(members, key) for members in (self._apart, *here))

    def _lost(self, key: str) -> bool:
        """Whether a message is lost. Orders are not: a link that loses them sends them again until they arrive."""
        return not key.endswith("/command") and self._draw.random() < self.faults.loss

    def _parts(self, members: frozenset[int], key: str) -> bool:
        if not members:
            return False
        parts = key.split("/")
        if len(parts) < 4 or parts[2] != "agent" or not parts[3].isdecimal():
            return False
        return (self.own in members) != (int(parts[3]) in members)
