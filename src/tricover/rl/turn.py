"""``Turn``: a team that has looked and not yet moved, as arrays with a row for each of N agents."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.control import NO_CELL, Cells
from tricover.rl.acting import acted, method_actions
from tricover.rl.knowing import MOVES, STAY, Part, advanced, look
from tricover.rl.observing import Observer
from tricover.rl.rewards import Moment, coverage_of, paper_rewards
from tricover.simulation import Mission, State, Step

__all__ = ["Turn"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Turn:
    """The team at a state: what everybody knows, by parts, and what the method would have it do."""

    mission: Mission
    state: State
    parts: tuple[Part, ...]

    @classmethod
    def at(cls, mission: Mission, state: State) -> "Turn":
        """Let everybody look."""
        return cls(mission, state, tuple(look(mission, state)))

    @property
    def walks(self) -> bool:
        """Whether actions are cells; else they are weights."""
        return self.mission.scenario.control.motion == "walk"

    def taken(self, actions: NDArray[Any]) -> Step:
        """One step of the loop with actions (N,) or (N, 3)."""
        decided = [acted(part, actions[part.view.agents]) for part in self.parts]
        return advanced(self.mission, self.state, decided)

    # --- of everybody ----------------------------------------------------------------------------------------------

    def method_actions(self) -> NDArray[Any]:
        """What the scenario's own rules would choose, (N,) or (N, 3)."""
        nobody = np.full(self.mission.agents, STAY) if self.walks else np.full((self.mission.agents, 3), 1 / 3)
        return self._rows(method_actions, nobody if self.walks else nobody.astype(np.float32))

    def observations(self, observer: Observer) -> NDArray[np.float32]:
        """What everybody observes, (N, K); zeros for those who do not follow."""
        return self._rows(observer.of_part, np.zeros((self.mission.agents, observer.width), np.float32))

    @cached_property
    def masks(self) -> Flags:
        """Actions (N, 4) that everybody may choose, if they are cells."""
        nobody = np.tile(np.arange(MOVES) == STAY, (self.mission.agents, 1))
        return self._rows(lambda part: part.masks, nobody) if self.walks else nobody

    @cached_property
    def cells(self) -> Cells:
        """The cells of everybody, (N,) each."""
        nobody = np.full((self.mission.agents, 3), NO_CELL, np.int64)
        return Cells(*self._rows(lambda part: np.column_stack(part.cells), nobody).T)

    def paper_rewards(self) -> Floats:
        """-C(s) of everybody, (N,)."""
        nobody = np.zeros(self.mission.agents)
        return self._rows(lambda part: paper_rewards(part.view, part.told, part.cells), nobody)

    def coverage(self, step: int) -> float:
        """J of those who take part, for the targets of a step, in square metres."""
        return coverage_of(self.state.positions[self.state.present], self.mission.targets_at(step))

    def moment(self, agents: list[int]) -> Moment:
        """The team as a reward of the user's own sees it, with these followers."""
        mine, state = np.array(agents, np.int64), self.state
        heard = self._rows(lambda part: part.view.heard, np.full((self.mission.agents, 3, 2), np.nan))
        cells = Cells(*(column[mine] for column in self.cells))
        targets = self.mission.targets_at(state.step)
        return Moment(state.step, state.positions, state.present, targets, mine, cells, heard[mine])

    def _rows(self, of: Callable[[Part], NDArray[Any]], nobody: NDArray[Any]) -> NDArray[Any]:
        """Rows of all agents from those of the parts; who is in none keeps the row of ``nobody``."""
        for part in self.parts:
            nobody[part.view.agents] = of(part)
        return nobody
