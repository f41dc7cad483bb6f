"""How far a flight is, from the journal that its recorder is writing: who said what, and when it was heard."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tricover.fleet.encoding import decoded, header_of
from tricover.fleet.journal import next_entry
from tricover.fleet.messages import Place
from tricover.simulation import Mission

LOOKS = 0.1
"""Seconds between two looks into the journal."""


class Said(NamedTuple):
    """Where an agent was, and on what belief it had acted."""

    heard: float
    agent: int
    step: int
    living: frozenset[int]
    settled: bool


class Watched:
    """The journal of a flight, read while it grows."""

    def __init__(self, path: Path, mission: Mission) -> None:
        self.path, self.mission = path, mission
        self.said: list[Said] = []
        self.last: dict[int, Said] = {}
        self._unsettled: dict[int, int] = {}
        self._file = None

    def look(self) -> None:
        """Read what has come since the last look."""
        if self._file is None:
            if not self.path.exists():
                return
            self._file = self.path.open("rb")
        where = self._file.tell()
        if where == 0 and not self._file.readline().endswith(b"\n"):
            self._file.seek(0)
            return
        while (entry := next_entry(self._file)) is not None:
            self._take(*entry)

    def _take(self, heard: float, data: bytes) -> None:
        header = header_of(data)
        message = decoded(data, header, self.mission.agents)
        if not isinstance(message, Place):
            return
        agent, living = header.sender, frozenset(np.flatnonzero(message.living).tolist())
        for action in (*(past.last for past in message.earlier), message.last):
            if not action.settled:
                self._unsettled[agent] = action.step
        self.last[agent] = Said(heard, agent, header.step, living, message.last.settled)
        self.said.append(self.last[agent])

    # Facts

    def all_past(self, step: int) -> bool:
        """Whether everybody has come to a step."""
        return len(self.last) == self.mission.agents and min(said.step for said in self.last.values()) >= step

    def believe(self, who: frozenset[int], whom: frozenset[int]) -> bool:
        """Whether some act on the belief that just these are alive."""
        return all(agent in self.last and self.last[agent].living == whom for agent in who)

    def since_when(self, who: frozenset[int], whom: frozenset[int]) -> float:
        """When the last of these began to act on their present belief, that just those are alive."""
        began: dict[int, float] = {}
        for said in self.said:
            if said.agent in who and said.living == whom:
                began.setdefault(said.agent, said.heard)
            else:
                began.pop(said.agent, None)
        return max(began.values())

    def agreed_at(self, since: float) -> float | None:
        """When everybody who is on the roster last began to act on the belief that all are alive; None: not yet."""
        everybody = frozenset(range(self.mission.agents))
        believed: dict[int, bool] = {}
        agreed = None
        for said in self.said:
            if said.heard < since:
                continue
            believed[said.agent] = said.living == everybody
            if len(believed) < len(everybody) or not all(believed.values()):
                agreed = None
            elif agreed is None:
                agreed = said.heard
        return agreed

    def at_rest(self, since: float) -> bool:
        """Whether all agree, and everybody has been at its goal for much longer than news take to go round."""
        if self.agreed_at(since) is None:
            return False
        moved = max(self._unsettled.get(agent, -1) for agent in self.last)
        return min(said.step for said in self.last.values()) - moved > 3 * self.mission.quiet_steps + 20

    def wait_for(self, fact: Callable[[], bool], seconds: float, what: str) -> None:
        """Look until something is so; after so many seconds it is an error that names it."""
        latest = time.monotonic() + seconds
        while True:
            self.look()
            if fact():
                return
            if time.monotonic() > latest:
                raise TimeoutError(f"after {seconds:g} s {what}: {self}")
            time.sleep(LOOKS)

    def __str__(self) -> str:
        beliefs = {said.living for said in self.last.values()}
        steps = [said.step for said in self.last.values()] or [-1]
        heard = f"{len(self.last)} of {self.mission.agents} heard"
        return f"{heard}, at steps {min(steps)} to {max(steps)}, of {len(beliefs)} beliefs"

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
