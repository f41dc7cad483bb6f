"""What one agent of a fleet hears, waits for and says; see ``Conversation`` and, for the loop around it, ``agent``."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from tricover.errors import InputError
from tricover.fleet.clock import Clock
from tricover.fleet.faults import FaultyBus
from tricover.fleet.member import Member
from tricover.fleet.membership import Membership, Patience
from tricover.fleet.messages import OPERATOR, Command, Intent, Past, Place
from tricover.fleet.orders import with_targets
from tricover.fleet.radio import FRESH, Radio

__all__ = ["Conversation", "Manners"]

SLOWEST = 1.0
"""Seconds between two repetitions, at most."""
SMOOTH = 2
"""Messages over which it is averaged how long it takes until the next one."""
RENEWED = FRESH / 3
"""Seconds after which a message that is repeated is signed anew: who hears it later must not take it for an old one."""


@dataclass(frozen=True)
class Manners:
    """How an agent of a fleet behaves, besides what the mission says; in seconds.

    Attributes:
        clock: when it takes its next step.
        patience: before it believes that others are gone or back.
        repeat: after which it says again where it is, while it waits; then after twice as long, and so on.
        silence: without a word from anybody after which it holds.
        homing: further silence after which it goes home.
        linger: for which it stays when it has taken its last step, as others may be slower.
        farewells: how often it says where it ended, as one such message may be lost.
    """

    clock: Clock = field(default_factory=Clock)
    patience: Patience = field(default_factory=Patience)
    repeat: float = 0.1
    silence: float = 10.0
    homing: float = 30.0
    linger: float = 10.0
    farewells: int = 3


class Conversation:
    """An agent and the others: what it hears changes what it does."""

    def __init__(self, member: Member, radio: Radio, manners: Manners, now: Callable[[], float]) -> None:
        self.member, self.radio, self.manners, self.now = member, radio, manners, now
        self.team = Membership(member.mission.agents, member.agent, manners.patience, now())
        self.news = asyncio.Event()
        self.paused = self.held = self.homeward = self.over = False
        self.heard_at = now()
        self._together = False
        """Whether all whom it needs have been there once."""
        self._behind: dict[int, tuple[str, bytes]] = {}
        self._steps: dict[int, int] = {}
        self._heard: dict[int, bytes] = {}
        self._senders: set[int] = set()
        self._met: set[int] = set()
        self._doubted: set[int] = set()
        self._said: tuple[float, bytes] | None = None
        """What it said last of its place: when, and the message."""
        self._unsaid: list[Place] = []
        """Its places since then, the steps of which are in ``_unsaid_steps``."""
        self._unsaid_steps: list[int] = []
        self._paced = -1
        """The step in which it last said how far it is."""
        self.at_once = _steps_at_once(member, manners.clock)
        self._turned, self._repeated = now(), False
        self._round = 0.0
        """Seconds from one message of its own to the next, on average of the last ones."""
        self._pause = manners.repeat
        """Seconds after which it says again where it is."""
        self._due = self.team.next_change
        """When the belief in who is alive may change."""

    # What it hears

    def hear(self, key: str, data: bytes) -> None:
        """A message came. Those of listeners are looked into only when it matters how far they are.

        Who speaks for the first time may not have heard what was said before, so that is said again.
        """
        sender = self._sender(key)
        if self._known(sender, data):
            return
        if sender not in self._met:
            self._met.add(sender)
            self.say_again()
        if sender in self._senders or sender == OPERATOR or sender in self._doubted:
            self._open(key, data)
        else:
            self._behind[sender] = key, data
        self.news.set()

    def _known(self, sender: int, data: bytes) -> bool:
        """Whether it is the place that was said last, to the byte: to verify it again costs more than all else."""
        return self._heard.get(sender) == data

    @staticmethod
    def _sender(key: str) -> int:
        part = key.split("/")[-2]
        return OPERATOR if part == "operator" else int(part)

    def _open(self, key: str, data: bytes) -> bool:
        """Take in a message; whether it is in order."""
        found = self.radio.opened(key, data)
        if found is None:
            return False
        header, message = found
        self.heard_at = self.now()
        self._steps[header.sender] = header.step
        if isinstance(message, Place):
            self._heard[header.sender] = data
            self.member.mail.hear(header.sender, header.step, message)
        elif isinstance(message, Intent):
            self.member.mail.hear_intent(header.sender, header.step, message)
        elif isinstance(message, Command) and header.sender == OPERATOR:
            self._obey(message)
        return True

    def _obey(self, command: Command) -> None:
        """Do what the operator wants; what is no order of ours is counted."""
        if not self._concerns(command):
            return
        word = command.word
        if word in ("pause", "hold", "go"):
            self.paused, self.held = word == "pause", word == "hold"
        elif word in ("home", "land", "end"):
            self.homeward, self.over = word == "home", word != "home"
            self.paused = False
        elif word == "targets":
            try:
                self.member.use(with_targets(self.member.mission, command.values))
            except InputError:
                self.radio.refused["impossible command"] += 1
        elif word == "faults" and isinstance(self.radio.bus, FaultyBus):
            try:
                self.radio.bus.disturb(command.values)
            except InputError:
                self.radio.refused["impossible command"] += 1
        else:
            self.radio.refused["unknown command"] += 1

    def _concerns(self, command: Command) -> bool:
        agents = command.values.get("agents")
        return agents is None or (isinstance(agents, list) and self.member.agent in agents)

    def token(self, agent: int, boot: str, alive: bool) -> None:
        """Somebody's token came or went."""
        self.team.seen(agent, boot, alive, self.now())
        self._due = min(self._due, self.team.next_change)
        self.heard_at = self.now() if alive and agent != self.member.agent else self.heard_at
        self.news.set()

    # What it waits for

    def refresh(self) -> None:
        """Believe and listen to what is due."""
        if self.now() >= self._due:
            self.member.believe(self.team.living(self.now()))
            self._due = self.team.next_change
        self._senders = {*self.member.senders, *self.member.coming(self.manners.clock.lead + 2)}
        spoken = {self.radio.key_of(sender) for sender in (OPERATOR, *self._senders)}
        listeners = {*self.member.listeners, *self.member.coming_listeners(self.manners.clock.lead + 2)}
        paces = {self.radio.pace_key_of(listener) for listener in listeners}
        self.radio.listen_to(spoken | paces, self.hear)

    @property
    def ready(self) -> bool:
        """Whether there is nothing more to wait for in this step."""
        if self.over or self.paused:
            return self.over
        if self.member.told is None:
            return False  # there is nobody to keep pace with: it waits as long as it may
        return self.member.informed and not self._ahead

    @property
    def _missing(self) -> set[str]:
        """Keys under which something has to come before it is ready."""
        member, needed = self.member, max(self.member.step - self.manners.clock.lead, 0)
        senders = {self.radio.key_of(sender) for sender in member.senders if member.mail.newest(sender) < member.step}
        behind = [listener for listener in self.member.listeners if self._steps.get(listener, -1) < needed]
        return senders or {self.radio.pace_key_of(listener) for listener in behind}

    @property
    def _ahead(self) -> bool:
        """Whether somebody who listens to this agent is too far behind."""
        needed = max(self.member.step - self.manners.clock.lead, 0)  # at the start, all have to be there
        for listener in self.member.listeners:
            if self._steps.get(listener, -1) >= needed:
                continue
            if self._said_step(listener) < needed:  # not worth to be verified
                return True
            if not self._open(*self._behind.pop(listener)):  # somebody else speaks under its key: look at each
                self._doubted.add(listener)
            if self._steps.get(listener, -1) < needed:
                return True
        return False

    def _said_step(self, listener: int) -> int:
        """The step of the last message of a listener, as it says; -1: there is none that was not looked into."""
        order = self.radio.order_of(self._behind.get(listener, ("", b""))[1])
        return -1 if order is None else order[2]

    def catch_up(self) -> bool:
        """Go on where the others are, if they are farther ahead than the lead; whether so.

        That is the step of the second of them: one alone, whose counter is wrong, leads nobody astray.
        """
        member, lead = self.member, self.manners.clock.lead
        if not member.keeps_up:
            return False
        others = {*member.senders, *member.listeners}
        said = sorted((self._said_step(other) for other in others if other in self._behind), reverse=True)
        if said and said[0] > member.step + lead:  # worth to be verified
            for other in others & self._behind.keys():
                self._open(*self._behind.pop(other))
        steps = sorted((self._steps[other] for other in others if other in self._steps), reverse=True)
        there = steps[min(1, len(steps) - 1)] if steps else 0
        wanted = there if there > member.step + lead else member.mail.forgotten(member.senders)
        if wanted <= member.step:
            return False
        member.skip_to(wanted)
        return True

    @property
    def _limit(self) -> float:
        """Seconds that it waits in this step: at the start for all to be there, as processes do not begin at once."""
        limit = self.manners.clock.limit * self.at_once
        return limit if self._together else max(limit, self.manners.patience.grace)

    async def wait(self) -> None:
        """Until it is ready, or the clock's limit has passed; meanwhile it says again where it is.

        Several steps are said at once, by all in the same ones: that is one message, one signature, and who hears it
        can take as many steps. If that takes too long, it says what it has.
        """
        start, ready = self.now(), self.ready
        if self._said is None or self.member.step % self.at_once == 0:
            self.say_places()
            self._adapt()
        deadline, again = start + self._limit, start + self._pause
        while not ready and (self.paused or self.now() < deadline):
            until = min(again, self._due) if self.paused else min(again, deadline, self._due)
            self.news.clear()
            self.radio.bus.expect(self._missing)
            if not self.news.is_set():
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(max(until - self.now(), 0.001)):
                        await self.news.wait()
            self.radio.bus.expect(set())
            if self.now() >= self._due:
                self.refresh()
            if self.now() >= again:
                self.say_again()
                self._pause, self._repeated = max(min(2 * self._pause, SLOWEST), self.manners.repeat), True
                again = self.now() + self._pause
            ready = self.ready
        self._together |= ready

    def _adapt(self) -> None:
        """Repeat later where all takes long: before others had time to answer it would make a busy machine busier.

        Where it had to repeat something nothing is learned, as a message may have been lost; but it stays patient.
        """
        if not self._repeated:
            self._round += (self.now() - self._turned - self._round) / SMOOTH
            self._pause = max(self.manners.repeat, min(2 * self._round, SLOWEST))
        self._turned, self._repeated = self.now(), False

    def note_place(self) -> None:
        """Have its place to say; those before are said now where it believed otherwise then."""
        if self._unsaid_steps[-1:] == [self.member.step]:
            return  # it is noted
        place = self.member.place()
        if self._unsaid and not np.array_equal(self._unsaid[-1].living, place.living):
            self.say_places()
        self._unsaid.append(place)
        self._unsaid_steps.append(self.member.step)

    def say_places(self) -> None:
        """Say where it is and was since it spoke last; now and then also to those to whom it listens."""
        *before, last = self._unsaid
        *steps, step = self._unsaid_steps
        earlier = tuple(Past(when, was.position, was.last) for when, was in zip(steps, before, strict=True))
        pace = step >= self._paced + max(self.manners.clock.lead // 2, 1)
        self._paced = step if pace else self._paced
        self._said = self.now(), self.radio.say(step, replace(last, earlier=earlier, refused=self.radio.dropped), pace)
        self._unsaid, self._unsaid_steps = [], []

    def say_again(self) -> None:
        """Say once more, to all, where it is: the same message, signed anew only where it gets old."""
        if self._said is None or self._unsaid or self.now() > self._said[0] + RENEWED:
            if not self._unsaid:
                self.note_place()
            self.say_places()
        if self._said is not None:
            self.radio.repeat(self._said[1])

    def mind_silence(self) -> None:
        """Hold where nobody has been heard for long, then go home; and what the operator wants."""
        silent = self.now() - self.heard_at if self.team.alone else 0.0
        if silent > self.manners.silence + self.manners.homing:
            self.homeward = True
        if self.homeward:
            self.member.holding = self.member.home
        elif self.held or silent > self.manners.silence:
            self.member.holding = self.member.position if self.member.holding is None else self.member.holding
        else:
            self.member.holding = None

    async def linger(self) -> None:
        """Stay for those who are slower, who would take it for lost, until the operator says that it is over."""
        self.note_place()
        until = self.now() + self.manners.linger
        while not self.over and not self.team.alone and self.now() < until:
            self.say_again()
            self.news.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(until - self.now(), SLOWEST)):
                    await self.news.wait()

    @property
    def done(self) -> bool:
        """Whether it is over, or the agent went home and is there."""
        away = np.linalg.norm(self.member.position - self.member.home)
        return self.over or (self.homeward and bool(away <= max(self.member.mission.tolerance, 1e-9)))


def _steps_at_once(member: Member, clock: Clock) -> int:
    """How many steps an agent may take before it says so: one where others wait for each of them, or a step lasts."""
    mission = member.mission
    each = mission.scenario.control.motion == "morph" or mission.scenario.world.sight is not None
    each |= any(epoch.told.hears_near for epoch in mission.epochs)  # everybody listens to everybody
    return 1 if each or clock.period or member.pilot is not None else max(clock.lead // 2, 1)
