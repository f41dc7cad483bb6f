"""What agents and the operator say to each other; ``encoding`` has it as bytes.

Every message has a header and a signature. ``mission`` is a digest of the mission that is flown, ``sender`` the number
of an agent, or ``OPERATOR``. ``boot`` is when the sending process began, in ns since 1970; for the operator, of whom
there may be several processes, when it spoke. ``counter`` goes up by one with each message: none counts twice. ``time``
is when it was sent, in s since 1970: what is too old does not count. ``step`` is the sender's own.

An agent says where it is at a step, what it did in the step before, and on which belief that rests:

    place    position r_i[t]; the step before: its number, ages, cells, miss and distance to the goal, weights;
             the same of some steps before, if these were not said yet;
             how many messages it has dropped; who it takes for alive, a bit for each of the roster; targets that it
             tells and reports
    intent   where a follower that morphs will be at the next step, as soon as it knows
    memory   what it remembers at the end of the flight
    command  of the operator: a word, and what belongs to it
    denied   of the router, which serves all missions: how much it has denied since it began
"""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tricover.control import NO_CELL, Memory
from tricover.control.hearing import NOTHING
from tricover.errors import TricoverError
from tricover.simulation import Mission
from tricover.targets import TargetLists

__all__ = [
    "OPERATOR",
    "ROUTER",
    "SIGNATURE",
    "Action",
    "Command",
    "Denied",
    "Header",
    "Intent",
    "MalformedError",
    "Memories",
    "Message",
    "NoSeal",
    "Past",
    "Place",
    "Seal",
    "mission_digest",
    "name_of",
]

OPERATOR = 0xFFFFFFFF
"""The sender of commands."""
ROUTER = 0xFFFFFFFE
"""The sender of what the router denied."""
SIGNATURE = 64
"""Bytes of a signature."""


class MalformedError(TricoverError, ValueError):
    """Bytes that are no message of ours."""


class Seal(Protocol):
    """Signs what one process says, and verifies what others say."""

    def sign(self, data: bytes) -> bytes:
        """The signature of the data, 64 bytes."""

    def verify(self, name: str, data: bytes, signature: bytes) -> bool:
        """Whether the signature of the data is that of ``name``."""


class NoSeal:
    """Signs nothing and believes everything: for one process that plays all agents, and to measure what signing costs.

    >>> NoSeal().verify("agent-7", b"whatever", NoSeal().sign(b"something else"))
    True
    """

    def sign(self, data: bytes) -> bytes:
        """Zeros."""
        return bytes(SIGNATURE)

    def verify(self, name: str, data: bytes, signature: bytes) -> bool:
        """True."""
        return True


class Header(NamedTuple):
    """Who says something, and when."""

    kind: int
    mission: bytes
    sender: int
    boot: int
    counter: int
    time: float
    step: int

    @property
    def order(self) -> tuple[int, int]:
        """Later messages of a sender have a greater one."""
        return self.boot, self.counter


class Action(NamedTuple):
    """What an agent did in a step.

    Attributes:
        step: the step t in which it decided; -1: it has not decided yet.
        ages: how old what it heard of its in-neighbours was, in steps; -1: it did not act on them.
        cells: state, goal and next cell, see ``control.Cells``.
        miss: how far from its reach set it landed, in metres.
        off: how far it was from its goal, in metres.
        weights: w_ij[t+1] of one that morphs; zeros for all others.
        settled: whether it had heard of all whom it listens to, and was at its goal.
        holds: whether it stayed where it was, as it was told to, or as it heard nothing.
    """

    step: int = -1
    ages: tuple[int, ...] = (NOTHING,) * 3
    cells: tuple[int, ...] = (NO_CELL,) * 3
    miss: float = 0.0
    off: float = 0.0
    weights: tuple[float, ...] = (0.0,) * 3
    settled: bool = False
    holds: bool = False


class Past(NamedTuple):
    """Where an agent was at a step before, and what it had done."""

    step: int
    position: tuple[float, float]
    last: Action


@dataclass(frozen=True, eq=False)
class Place:
    """Where an agent is, what it did before, and what it believes.

    Attributes:
        position: (x, y), in metres.
        last: what it did in the step before.
        living: whom it takes for alive, (N,) of the roster.
        tells: targets that it tells those who listen to it, where agents see only so far; else None.
        reports: what it reports to its parent.
        earlier: steps before that were not said yet, ascending; it believed the same then.
        refused: how many messages it has dropped since it began, as they were not in order.
    """

    position: tuple[float, float]
    last: Action
    living: NDArray[np.bool_]
    tells: TargetLists | None = None
    reports: TargetLists | None = None
    earlier: tuple[Past, ...] = ()
    refused: int = 0


@dataclass(frozen=True)
class Intent:
    """Where an agent that morphs will be at the next step."""

    point: tuple[float, float]


@dataclass(frozen=True)
class Command:
    """What the operator wants: a word, and what belongs to it."""

    word: str
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Memories:
    """What an agent remembers: arrays (1, …) by name."""

    memory: Memory


@dataclass(frozen=True)
class Denied:
    """How much the router has denied since it began.

    Attributes:
        messages: that their senders may not send, such as places of others.
        connections: of processes that have no certificate of the fleet's authority.
    """

    messages: int
    connections: int


Message = Place | Intent | Command | Memories | Denied


def mission_digest(mission: Mission, flight: str = "") -> bytes:
    """Eight bytes that tell a mission, and a flight of it, from all others."""
    text = json.dumps([mission.self_contained().to_dict(), flight], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).digest()[:8]


def name_of(sender: int) -> str:
    """The name under which a sender's key is known."""
    return {OPERATOR: "operator", ROUTER: "router"}.get(sender, f"agent-{sender}")
