"""What a run leaves behind, step by step, and its record in memory. The record on disk is ``store``.

Arrays have an entry for each step t; N is the final roster, and T the number of steps taken:

    positions  (T+1, N, 2)  r_i[t], metres
    present    (T+1, N)     who takes part (see ``mission``)
    state      (T, N)       cell in which a follower stands at t; -1 outside its triangle, -2 for all others
    goal_cell  (T, N)       cell that holds its goal point at t; -1 in a triangle without area, -2 for all others. Near
                            zones the cell that it can get to; -3 for an agent that holds
    next_cell  (T, N)       cell that it decided to go to at t; -1 where there is no policy to ask, -2 for all others;
                            -3 for an agent that holds, -4 for one that gave way to others, see ``world.clearance``
    weights    (T, N, 3)    α_{i,j}[t] with r_i[t+1] = Σ_j α_{i,j}[t] r_j[t], in the order of ``in_neighbors``: the
                            followers' rows of Γ[t]; a third each in a triangle without area. 0 for all others (an
                            anchor's row is that of the identity). With the motion ``morph``: w_ij[t+1] of the plan,
                            with r_i[t+1] = Σ_j w_ij[t+1] r_j[t+1]
    miss       (T, N)       how far from its reach set an agent landed at t+1, metres; 0: it did land in it
    settled    (T,)         whether at t every follower was at its goal and every anchor at its place
    ages       (T, N, 3)    how many steps before t the positions were sent on which an agent acted at t; -1: it has not
                            heard of that in-neighbour yet, or listens to nobody. 0 where all messages arrive at once
    believed   (T, N)       the epoch that an agent took for the present one at t, counted from 0 on
    numbers    (T, N)       how many numbers an agent sent at t: its position, and what it told of targets; only where
                            agents see only so far, see ``control.sharing``

In a launch (see ``launch``) nobody has cells (-2) or weights (0), a reach set is the next point of the way, and nobody
is settled.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tricover.simulation.state import State
from tricover.simulation.step import Step, Transition
from tricover.world import World

__all__ = [
    "ARRAYS",
    "LAYOUTS",
    "OF_MESSAGES",
    "GrowingRecord",
    "Labels",
    "Layout",
    "MemoryRecord",
    "Record",
    "entries",
    "recorded",
]

Labels: TypeAlias = Callable[[], dict[str, NDArray[Any]]]
"""Arrays by name that are worked out when the run has come to its end."""


class Layout(NamedTuple):
    """Dimensions, type and unit of an array."""

    dimensions: tuple[str, ...]
    dtype: str
    unit: str | None = None

    def shape(self, length: int, agents: int) -> tuple[int, ...]:
        """The shape for so many entries and agents."""
        sizes = {"agent": agents, "xy": 2, "corner": 3}
        return (length, *(sizes[name] for name in self.dimensions[1:]))

    def array(self, values: list[Any], agents: int) -> NDArray[Any]:
        """The entries as one array."""
        array = np.asarray(values[0])[None] if len(values) == 1 else np.array(values)
        return array.astype(self.dtype, copy=False).reshape(self.shape(len(values), agents))

    @property
    def by_time(self) -> bool:
        """Whether there is an entry for the time after the last step too."""
        return self.dimensions[0] == "time"


ARRAYS = {
    "positions": Layout(("time", "agent", "xy"), "float64", "m"),
    "present": Layout(("time", "agent"), "bool"),
    "state": Layout(("step", "agent"), "int32"),
    "goal_cell": Layout(("step", "agent"), "int32"),
    "next_cell": Layout(("step", "agent"), "int32"),
    "weights": Layout(("step", "agent", "corner"), "float64"),
    "miss": Layout(("step", "agent"), "float64", "m"),
    "settled": Layout(("step",), "bool"),
}
"""What every run has."""
OF_MESSAGES = {
    "ages": Layout(("step", "agent", "corner"), "int32", "steps"),
    "believed": Layout(("step", "agent"), "int32"),
}
"""What is recorded besides where messages are late or lost."""
OF_SIGHT = {"numbers": Layout(("step", "agent"), "int64")}
"""What is recorded besides where agents see only so far."""
LAYOUTS = ARRAYS | OF_MESSAGES | OF_SIGHT


def recorded(world: World) -> dict[str, Layout]:
    """The arrays of a run in a world."""
    return ARRAYS | ({} if world.channel.perfect else OF_MESSAGES) | (OF_SIGHT if world.counted else {})


class Record(Protocol):
    """A source of recorded arrays."""

    @property
    def steps(self) -> int:
        """T: how many steps were taken."""

    @property
    def agents(self) -> int:
        """N, the final roster."""

    @property
    def known(self) -> Mapping[str, Any]:
        """What of the run was worked out as it was recorded, by the names that a run has for it."""

    @property
    def desired(self) -> NDArray[np.float64] | None:
        """The desired configuration (N, 2), if it is kept."""

    def read(self, name: str, start: int, stop: int) -> NDArray[Any]:
        """Entries ``start`` to ``stop`` of an array."""

    def remembered(self, name: str) -> NDArray[Any]:
        """What everybody remembers by the end, (N, …), by its name in ``control.memory``."""


class GrowingRecord(Record, Protocol):
    """A record that steps are added to."""

    def add(self, step: Step) -> None:
        """Keep a step."""

    def close(self, labels: Labels | None) -> None:
        """Keep what is left; ``labels`` are for a run that has come to its end, see ``tables``."""


def entries(names: Iterable[str], taken: list[Transition], end: State, ended: bool = True) -> dict[str, NDArray[Any]]:
    """Arrays over time from transitions; with what holds at the end if they have ``ended`` and an array is by time."""
    found: dict[str, list[Any]] = {name: [] for name in names}
    for transition in taken:
        for name, value in transition.arrays(found).items():
            found[name].append(value)
    for name, values in found.items():
        if ended and LAYOUTS[name].by_time:
            values.append(getattr(end, name))
    return {name: LAYOUTS[name].array(values, len(end.positions)) for name, values in found.items()}


@dataclass(eq=False)
class MemoryRecord:
    """Everything stays in memory: what a step brought anew, and what follows from that when it is asked for."""

    _end: State
    _taken: list[Transition] = field(default_factory=list)

    known: ClassVar[Mapping[str, Any]] = {}

    @property
    def steps(self) -> int:
        """T: how many steps were taken."""
        return len(self._taken)

    @property
    def agents(self) -> int:
        """N, the final roster."""
        return len(self._end.positions)

    def add(self, step: Step) -> None:
        """Keep a step."""
        assert step.transition is not None, "the start is no step"
        self._taken.append(step.transition)
        self._end = step.state

    @property
    def desired(self) -> None:
        """It is not kept."""
        return None

    def close(self, labels: Labels | None) -> None:
        """There is nothing left to do."""

    def remembered(self, name: str) -> NDArray[Any]:
        """What everybody remembers by the end, (N, …)."""
        return self._end.memory[name]

    def read(self, name: str, start: int, stop: int) -> NDArray[Any]:
        """Entries ``start`` to ``stop`` of an array."""
        return entries([name], self._taken[start:stop], self._end, ended=start <= self.steps < stop)[name]
