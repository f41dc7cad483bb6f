"""``Tower``: who listens to everybody and says nothing but what the operator wants; it knows how far a flight is.

It keeps what was said (``Tracks``), sees who is alive, and says when the team has settled: everybody who is alive acts
on the same belief, which is true, and was at its goal for as many steps as ``simulate`` asks for.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles

import numpy as np

from tricover.fleet.journal import Journal
from tricover.fleet.messages import ROUTER, Command, Denied, Place
from tricover.fleet.radio import Radio
from tricover.fleet.recording import Tracks
from tricover.simulation import Mission

__all__ = ["Report", "Tower"]


@dataclass(frozen=True)
class Report:
    """How far a flight is.

    Attributes:
        step: of the slowest agent that is alive; -1: somebody has not said a word.
        fastest: step of the fastest.
        living: how many are alive.
        settled: how many of them are at their goals.
        beliefs: how many different beliefs they act on.
        agreed: whether they all believe what is true; once all were told to leave, whether they did so until then.
        messages: how many were heard.
        refused: how many were dropped, by reason.
        latency: seconds from sending to hearing: median, and that of 99 in 100.
        done: whether the team has settled.
    """

    step: int
    fastest: int
    living: int
    settled: int
    beliefs: int
    agreed: bool
    messages: int
    refused: dict[str, int]
    latency: tuple[float, float]
    done: bool


@dataclass(eq=False)
class Tower:
    """Listens to a fleet."""

    mission: Mission
    radio: Radio
    now: Callable[[], float]
    journal: Journal | None = None
    keeps: bool = True
    """Whether all that was said is kept in ``tracks``, which then grow with the flight."""
    tracks: Tracks = field(init=False)
    ordered: str | None = None
    """What the operator wanted of all last."""
    leaving: bool = False
    """Whether the operator told all agents to leave: from then on nobody need notice who is gone."""
    messages: int = 0
    agreed: bool = False
    """Whether all who were alive did so when they were last looked at."""
    agreed_at: float | None = None
    """When all who are alive last began to act on the same belief, and a true one."""

    def __post_init__(self) -> None:
        self.tracks = Tracks(self.mission)
        self._tokens: set[tuple[int, str]] = set()
        self._last: dict[int, Place] = {}
        self._steps: dict[int, int] = {}
        self._known: dict[str, bytes] = {}
        self._unsettled: dict[int, int] = {}
        self._denied: dict[int, Denied] = {}
        """What routers said last, by when they began: each counts from its own beginning."""
        self.radio.bus.subscribe(f"{self.radio.root}/agent/*/place", self.hear)
        self.radio.bus.subscribe(f"{self.radio.root}/operator/command", self.hear)
        self.radio.bus.subscribe(self.radio.key_of(ROUTER), self.hear_router)
        self.radio.watch_tokens(self.token)

    def hear(self, key: str, data: bytes) -> None:
        """Somebody said something; what was said before, as a place that is repeated, is not looked into."""
        if data == self._known.get(key):
            return
        found = self.radio.opened(key, data)
        if found is None:
            return
        self.messages += 1
        self._known[key] = data
        if self.journal is not None:
            self.journal.add(data, self.radio.now())
        header, message = found
        if self.keeps or isinstance(message, Command):
            self.tracks.add(header, message)
        if isinstance(message, Command) and message.word != "faults" and message.values.get("agents") is None:
            self.ordered = message.word
            self.leaving |= message.word in ("home", "land", "end")
        if isinstance(message, Place):
            agent, actions = header.sender, [*(past.last for past in message.earlier), message.last]
            before = self._last.get(agent, message).living
            self._unsettled[agent] = max(
                self._unsettled.get(agent, -1),
                *(last.step for last in actions if not last.settled),
                # By another network it may have gone to another goal, and be there at once.
                -1 if np.array_equal(before, message.living) else actions[0].step,
            )
            self._last[agent], self._steps[agent] = message, header.step

    def hear_router(self, key: str, data: bytes) -> None:
        """The router said how much it has denied."""
        found = self.radio.opened(key, data)
        if found is not None and isinstance(found[1], Denied):
            self._denied[found[0].boot] = found[1]

    def token(self, agent: int, boot: str, alive: bool) -> None:
        """Somebody's token came or went."""
        (self._tokens.add if alive else self._tokens.discard)((agent, boot))

    @property
    def living(self) -> set[int]:
        """Who is alive."""
        return {agent for agent, _ in self._tokens}

    def said(self) -> dict[int, tuple[int, Place]]:
        """The last step and place of everybody who has spoken."""
        return {agent: (self._steps[agent], place) for agent, place in self._last.items()}

    def report(self) -> Report:
        """How far the flight is."""
        living = sorted(self.living)
        steps = [self._steps.get(agent, -1) for agent in living] or [-1]
        flying = [agent for agent in living if min(steps) >= 0 and self._expected(agent, min(steps))]
        beliefs = {self._last[agent].living.tobytes() for agent in living if agent in self._last}
        if not self.leaving:
            self._note(len(beliefs) == 1 and all(self._believes_true(agent, living) for agent in flying))
        settled = [agent for agent in flying if agent in self._last and self._last[agent].last.settled]
        return Report(
            min(steps),
            max(steps),
            len(living),
            len(settled),
            len(beliefs),
            self.agreed,
            self.messages,
            self._refused(),
            _spread(self.radio.delays),
            self.agreed and bool(flying) and len(settled) == len(flying) and self._quiet(flying),
        )

    async def look(self, seconds: float) -> Report:
        """How far the flight is, so many seconds from now; what was heard until then is handed to the disk."""
        await asyncio.sleep(seconds)
        if self.journal is not None:
            self.journal.flush()
        return self.report()

    def _note(self, agreed: bool) -> None:
        """Whether all who are alive act on the same belief, and a true one."""
        self.agreed = agreed
        if not agreed:
            self.agreed_at = None
        elif self.agreed_at is None:
            self.agreed_at = self.now()

    def _refused(self) -> dict[str, int]:
        """How many messages were dropped, by reason; those that a flood pushed out were not even looked at."""
        others = {
            "flood": self.radio.bus.dropped,
            "denied": sum(denied.messages for denied in self._denied.values()),
            "not let in": sum(denied.connections for denied in self._denied.values()),
            "by agents": sum(place.refused for place in self._last.values()),
        }
        return {**self.radio.refused, **{reason: count for reason, count in others.items() if count}}

    def _expected(self, agent: int, step: int) -> bool:
        """Whether the mission has an agent at a step."""
        return bool(self.mission.present_at(step)[agent])

    def _believes_true(self, agent: int, living: list[int]) -> bool:
        """Whether an agent takes those for alive who are, of those who should be there."""
        there = self.mission.present_at(max(self._steps.get(agent, 0) - 1, 0))
        truth = np.zeros(self.mission.agents, np.bool_)
        truth[living] = True
        return agent in self._last and np.array_equal(self._last[agent].living & there, truth & there)

    def _quiet(self, flying: list[int]) -> bool:
        """Whether all have been at their goals for long enough that nothing can change any more.

        What they acted on last has to be of that time, too: who heard of an older place is at its goal for that place.
        """
        mission, last = self.mission, [self._last[agent].last for agent in flying]
        since = max([mission.last_change, *(self._unsettled.get(agent, -1) + 1 for agent in flying)])
        rests_on = min(action.step - max(*action.ages, 0) for action in last)
        return rests_on - since > mission.quiet_steps


def _spread(delays: Sequence[float]) -> tuple[float, float]:
    if len(delays) < 2:
        return (0.0, 0.0)
    return median(delays), quantiles(delays, n=100)[98]
