"""Timelines: the steps of a run, at any of which a reader can look.

``Live`` works steps out when they are first asked for, by ``tricover.steps``, and keeps them. It can be changed in the
middle: ``changed`` keeps the steps so far and goes on with another mission, or with agents that were pushed elsewhere.
``Recorded`` shows a run that was stored, as it was; nothing in it can be changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tricover.control import Memory
from tricover.errors import InputError
from tricover.simulation import Epoch, Mission, Run, State, Step, steps
from tricover.simulation.record import MemoryRecord

__all__ = ["MOST_KEPT", "Live", "Recorded", "Timeline"]

Floats = NDArray[np.float64]

MOST_KEPT = 40_000_000
"""Agents times steps that are kept: about 3 GB with everything that a step leaves behind."""


class Timeline(Protocol):
    """The steps of a run."""

    @property
    def mission(self) -> Mission:
        """What is flown from the last change on."""

    @property
    def length(self) -> int:
        """How many steps are there, so far."""

    @property
    def ended(self) -> bool:
        """Whether there will be no more."""

    @property
    def by_hand(self) -> bool:
        """Whether something was changed in the middle."""

    def reach(self, step: int) -> int:
        """Have the steps up to this one, if there are so many; the last that there is."""

    def positions(self, step: int) -> Floats:
        """Where everybody is at a step, (N, 2)."""

    def epoch(self, step: int) -> Epoch:
        """The network and what everybody is told at a step."""

    def layers(self, step: int) -> int | None:
        """How many layers stood at their goals before a step; None: not known."""

    def left_behind(self, step: int, names: Sequence[str]) -> dict[str, NDArray[Any]] | None:
        """Recorded arrays of the way from a step to the next, see ``simulation.record``; None: there is no next."""

    def heard(self, step: int, agent: int) -> Floats | None:
        """The triangle (3, 2) that a follower acts on at a step, as it heard of it; None: as it is."""

    def run(self, step: int) -> Run:
        """The run up to a step."""


@dataclass
class Live:
    """A run that is worked out as one looks."""

    mission: Mission
    kept: list[Step] = field(default_factory=list)
    by_hand: bool = False
    ended: bool = False

    def __post_init__(self) -> None:
        begin = self.kept[-1].state if self.kept else None
        self._coming = steps(self.mission, begin)
        first = next(self._coming)
        if not self.kept:
            self.kept.append(first)

    @property
    def length(self) -> int:
        """How many steps are there, so far."""
        return len(self.kept) - 1

    def reach(self, step: int) -> int:
        """Have the steps up to this one, if there are so many; the last that there is."""
        while self.length < step and not self.ended:
            if (self.length + 2) * self.mission.agents > MOST_KEPT:
                self.ended = True
                break
            coming = next(self._coming, None)
            if coming is None:
                self.ended = True
            else:
                self.kept.append(coming)
        return min(step, self.length)

    def positions(self, step: int) -> Floats:
        """Where everybody is at a step, (N, 2)."""
        return self.kept[step].positions

    def epoch(self, step: int) -> Epoch:
        """The network and what everybody is told at a step."""
        taken = self.kept[step + 1].transition if step < self.length else None
        return self.mission.epoch_at(step) if taken is None else taken.epoch

    def layers(self, step: int) -> int | None:
        """How many layers stood at their goals when the step was decided; None: not known."""
        return self.kept[step].layers if step else None

    def left_behind(self, step: int, names: Sequence[str]) -> dict[str, NDArray[Any]] | None:
        """Recorded arrays of the way from a step to the next; those that it has not are left out."""
        if self.reach(step + 1) <= step:
            return None
        taken = self.kept[step + 1].transition
        assert taken is not None
        return taken.arrays([name for name in names if name != "ages" or name in taken.heard])

    def heard(self, step: int, agent: int) -> Floats | None:
        """The triangle (3, 2) that a follower acts on at a step, as it heard of it; None: as it is."""
        taken = self.kept[step + 1].transition
        assert taken is not None
        return taken.heard["heard"][agent] if taken.heard else None

    def run(self, step: int) -> Run:
        """The run up to a step."""
        record = MemoryRecord(self.kept[0].state)
        for taken in self.kept[1 : step + 1]:
            record.add(taken)
        return Run(self.mission, record, interrupted=not (self.ended and step == self.length))

    def changed(self, mission: Mission, step: int, pushed: dict[int, Floats] | None = None) -> "Live":
        """The same steps up to this one, then another mission; agents may be ``pushed`` to places (2,)."""
        state = _carried(self.kept[step].state, mission, pushed or {})
        kept = [*self.kept[:step], replace(self.kept[step], state=state)]
        return Live(mission, kept, by_hand=step > 0 or bool(pushed))


def _carried(state: State, mission: Mission, pushed: dict[int, Floats]) -> State:
    """A state in which another mission can go on. Who is pushed is at rest; what is remembered stays where it fits."""
    begin = mission.start()
    positions = begin.positions.copy()
    positions[: len(state.positions)] = state.positions
    for agent, place in pushed.items():
        positions[agent] = place
    vehicles = mission.vehicle.initial_state(positions)
    if vehicles.shape[1:] == state.vehicles.shape[1:]:
        same = np.setdiff1d(np.arange(len(state.positions)), list(pushed))
        vehicles[same] = state.vehicles[same]
    memory = _fitting(state, mission.memory_at(positions))
    fits = begin.sent.shape == state.sent.shape and begin.post.keys() == state.post.keys()
    sent, post = (state.sent, state.post) if fits else (begin.sent, begin.post)
    return State(state.step, positions, vehicles, mission.present_at(state.step), memory, sent, post)


def _fitting(state: State, needed: Memory) -> Memory:
    """What is needed of a memory, filled with what was remembered, agent by agent, where that has the same form."""
    filled = {name: rows.copy() for name, rows in needed.items()}
    for name, rows in filled.items():
        before = state.memory.get(name)
        if before is not None and before.shape[1:] == rows.shape[1:] and before.dtype == rows.dtype:
            rows[: len(before)] = before
    return filled


@dataclass(frozen=True)
class Recorded:
    """A run that was stored."""

    whole: Run
    by_hand: bool = False
    ended: bool = True

    @property
    def mission(self) -> Mission:
        """What was flown."""
        return self.whole.mission

    @property
    def length(self) -> int:
        """How many steps were taken."""
        return self.whole.steps

    def reach(self, step: int) -> int:
        """The step, or the last."""
        return min(step, self.length)

    def positions(self, step: int) -> Floats:
        """Where everybody was at a step, (N, 2)."""
        return np.asarray(self.whole.read("positions", step, step + 1)[0])

    def epoch(self, step: int) -> Epoch:
        """The network and what everybody was told at a step."""
        return self.whole.epoch_at(min(step, max(self.length - 1, 0)))

    def layers(self, step: int) -> int | None:
        """All layers where everybody was at its goal; else not known."""
        if not step or not self.whole.read("settled", step - 1, step)[0]:
            return None
        return self.epoch(step).network.depth + 1

    def left_behind(self, step: int, names: Sequence[str]) -> dict[str, NDArray[Any]] | None:
        """Recorded arrays of the way from a step to the next."""
        if step >= self.length:
            return None
        there = [name for name in names if name in self.whole.arrays]
        return {name: self.whole.read(name, step, step + 1)[0] for name in there}

    def heard(self, step: int, agent: int) -> Floats | None:
        """The triangle (3, 2) that a follower acted on at a step, as it heard of it; None: as it was."""
        return None if self.mission.world.channel.perfect else self.whole.heard(agent)[step]

    def run(self, step: int) -> Run:
        """The whole run: it is as it was recorded."""
        if step < self.length:
            raise InputError(f"a stored run is taken away whole: go to its last step, {self.length}")
        return self.whole
