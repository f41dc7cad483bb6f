"""``Radio``: what one member of a fleet says and hears, signed and checked. What is not in order is only counted.

A message counts only if it is whole, of this mission, under its sender's own key, signed by it, sent not long ago,
later than all others of that sender, and possible: a finite place that the sender's vehicle can have reached since.
Cheap questions come first, so that a flood of nonsense costs little.

Tokens of life are signed, too: their keys end in the sender's boot time and a signature, so nobody can invent one of
another. There is one spelling of each: else who heard one could show and withdraw it under another key,
and its owner would seem to be gone. (A router may hide a token, as it may lose messages, and may show one for longer
than its owner lives.)

*After a restart.* Who has just begun knows no sender's last message. For ``FRESH`` seconds it may be played what was
true before: such messages are old, not false, and later ones replace them.
"""

import time
from collections import Counter, deque
from collections.abc import Callable
from math import hypot
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.fleet.bus import Bus, Close
from tricover.fleet.encoding import PLACES, decoded, encoded, header_of
from tricover.fleet.messages import (
    OPERATOR,
    ROUTER,
    SIGNATURE,
    Command,
    Denied,
    Header,
    MalformedError,
    Message,
    Place,
    Seal,
    name_of,
)

__all__ = ["FRESH", "NO_MISSION", "Radio"]

FRESH = 30.0
"""Seconds that a message may be old, or ahead of one's own clock."""
NO_MISSION = bytes(8)
"""What the router has in place of a mission: it passes on those of all flights."""
_SLACK = 1.05  # of the way that a vehicle can go in a step


class Radio:
    """Says and hears, for one sender; None: one who only listens.

    Attributes:
        refused: how many messages were dropped, by reason.
        heard_at: when the last good message came, by ``now``.
        delays: seconds from sending to hearing, of the last messages.
    """

    def __init__(
        self,
        bus: Bus,
        seal: Seal,
        mission: bytes,
        agents: int,
        sender: int | None,
        *,
        reach: NDArray[np.float64] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.bus, self.seal, self.mission, self.agents, self.sender = bus, seal, mission, agents, sender
        self.root = f"tricover/{mission.hex()}"
        self.reach = np.full(agents, np.inf) if reach is None else reach
        self.now = now
        self.boot, self.counter = int(now() * 1e9), 0
        self.refused: Counter[str] = Counter()
        self.heard_at = now()
        self.delays: deque[float] = deque(maxlen=2000)
        self._last: dict[int, tuple[int, int]] = {}
        self._places: dict[int, tuple[int, int, tuple[float, float]]] = {}
        self._closes: dict[str, Close] = {}

    @property
    def dropped(self) -> int:
        """How many messages were not in order. What comes twice, as repeated places do, is no sign of anything."""
        return self.refused.total() - self.refused["repeated or overtaken"] + self.bus.dropped

    def key_of(self, sender: int) -> str:
        """Under which a sender speaks. The router knows of no mission."""
        if sender == ROUTER:
            return "tricover/router/denied"
        return f"{self.root}/operator/command" if sender == OPERATOR else f"{self.root}/agent/{sender}/place"

    def pace_key_of(self, sender: int) -> str:
        """Under which a sender says now and then how far it is, for those to whom it listens."""
        return f"{self.root}/agent/{sender}/pace"

    def say(self, step: int, message: Message, pace: bool = False) -> bytes:
        """Say something, also to those to whom this sender listens if it is about the ``pace``; what was said."""
        assert self.sender is not None, "who only listens says nothing"
        self.counter += 1
        if self.sender == OPERATOR:
            self._come_last()
        header = Header(0, self.mission, self.sender, self.boot, self.counter, self.now(), step)
        data = encoded(header, message, self.seal)
        self.bus.publish(self.key_of(self.sender), data)
        if pace:
            self.bus.publish(self.pace_key_of(self.sender), data)
        return data

    def _come_last(self) -> None:
        """Speak after all operators that were heard: there may be several programs, and the last order counts."""
        heard, _ = self._last.get(OPERATOR, (-1, 0))
        self.boot = max(self.boot, int(self.now() * 1e9), heard + 1)

    def repeat(self, data: bytes) -> None:
        """Say what was said before once more, also to those to whom this sender listens."""
        assert self.sender is not None, "who only listens says nothing"
        self.bus.publish(self.key_of(self.sender), data)
        self.bus.publish(self.pace_key_of(self.sender), data)

    def listen_to(self, keys: set[str], handler: Callable[[str, bytes], None]) -> None:
        """Listen to what is said under these keys, and to nothing else."""
        for key in self._closes.keys() - keys:
            self._closes.pop(key)()
        for key in sorted(keys - self._closes.keys()):
            self._closes[key] = self.bus.subscribe(key, handler)

    def opened(self, key: str, data: bytes) -> tuple[Header, Message] | None:
        """A message that is in order; None: it is not, and was counted."""
        try:
            header = header_of(data)
            reason = self._refusal(key, header, data)
            message = None if reason else decoded(data, header, self.agents)
            reason = reason or self._objection(header, message)
        except MalformedError:
            reason, message = "malformed", None
        if reason is not None or message is None:
            self.refused[reason or "malformed"] += 1
            return None
        self._last[header.sender] = header.order
        self.heard_at = self.now()
        self.delays.append(self.heard_at - header.time)
        return header, message

    def order_of(self, data: bytes) -> tuple[int, int, int] | None:
        """Kind, boot and step of a place, before it is verified; None: it is none. Orders of one step may differ."""
        try:
            header = header_of(data)
        except MalformedError:
            return None
        return (header.kind, header.boot, header.step) if header.kind == PLACES else None

    def _refusal(self, key: str, header: Header, data: bytes) -> str | None:
        """Why a message does not count, before it is looked into; None: it does."""
        if header.mission != (NO_MISSION if header.sender == ROUTER else self.mission):
            return "other mission"
        if not self._speaks_under(key, header.sender):
            return "wrong sender"
        # Who began in the future could not be heard any more after its next start, by a clock that is right.
        now = self.now()
        if abs(now - header.time) > FRESH or header.boot / 1e9 > now + FRESH:
            return "stale"
        if header.order <= self._last.get(header.sender, (-1, -1)):
            return "repeated or overtaken"
        if not self.seal.verify(name_of(header.sender), data[:-SIGNATURE], data[-SIGNATURE:]):
            return "bad signature"
        return None

    def _speaks_under(self, key: str, sender: int) -> bool:
        """Whether there is such a sender, and the key is one of its own."""
        if sender in (OPERATOR, ROUTER):
            return key == self.key_of(sender)
        return sender < self.agents and key in (self.key_of(sender), self.pace_key_of(sender))

    def _objection(self, header: Header, message: Message | None) -> str | None:
        """Why a message does not count, by what it says; None: it does. Some are for one sender alone to say."""
        for kind, sender in ((Command, OPERATOR), (Denied, ROUTER)):
            if isinstance(message, kind) is not (header.sender == sender):
                return "wrong sender"
        return "impossible" if isinstance(message, Place) and not self._possible(header, message) else None

    def _possible(self, header: Header, message: Place) -> bool:
        """Whether a place can have been reached since the one before, if the sender did not begin anew in between."""
        reach = self.reach[header.sender]
        if reach == np.inf:
            return True
        boot, was, (x, y) = self._places.get(header.sender, (-1, 0, (0.0, 0.0)))
        for step, place in (*(past[:2] for past in message.earlier), (header.step, message.position)):
            if boot == header.boot and hypot(place[0] - x, place[1] - y) > _SLACK * reach * max(step - was, 1):
                return False
            boot, was, (x, y) = header.boot, step, place
        self._places[header.sender] = boot, was, (x, y)
        return True

    # Tokens of life

    def show_token(self) -> Close:
        """Let others see that this process lives."""
        assert self.sender is not None, "who only listens shows no token"
        boot = str(self.boot)
        signature = self.seal.sign(self._token_text(self.sender, boot))
        return self.bus.declare(self._token_key(self.sender, boot, signature))

    def _token_text(self, agent: int, boot: str) -> bytes:
        return b"alive" + self.mission + f"{agent}/{boot}".encode()

    def _token_key(self, agent: int, boot: str, signature: bytes) -> str:
        return f"{self.root}/agent/{agent}/alive/{boot}/{signature.hex()}"

    def watch_tokens(self, handler: Callable[[int, str, bool], Any]) -> Close:
        """Hear which agents' tokens come and go: agent, boot, and whether it came. It may be said more than once."""

        def hear(key: str, alive: bool) -> None:
            agent = self._owner(key)
            if agent is None:
                self.refused["forged token"] += 1
            else:
                handler(agent, key.split("/")[-2], alive)

        return self.bus.watch(f"{self.root}/agent/*/alive/*/*", hear)

    def _owner(self, key: str) -> int | None:
        """Whose token it is, if it is signed by its owner and spelled as its owner does."""
        try:
            *_, number, _, boot, text = key.split("/")
            agent, signature = int(number), bytes.fromhex(text)
        except ValueError:
            return None
        if not 0 <= agent < self.agents or key != self._token_key(agent, boot, signature):
            return None
        return agent if self.seal.verify(name_of(agent), self._token_text(agent, boot), signature) else None
