"""What agents are told at a step, by whom they take for alive: a pure function, which each of them computes alone.

As long as nobody is missing it is what the mission says. Otherwise the network is built anew by Algorithm 1, from the
same reference positions and of the living alone, so who believes the same has the same network, whatever happened
before. Given places of anchors stay those of their owners. An agent that becomes an anchor and has none stays where it
is (NaN in ``Told.paths``).
"""

from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tricover.control import Told
from tricover.errors import InputError
from tricover.network import build_network
from tricover.simulation import Mission
from tricover.simulation.telling import paths_of

__all__ = ["Key", "Networks"]

Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]
Key: TypeAlias = tuple[int, bytes]


@dataclass(eq=False)
class Networks:
    """What the agents of a mission are told, for any belief in who is alive."""

    mission: Mission
    _cache: dict[Key, Told | None] = field(default_factory=dict)
    _listeners: dict[tuple[Key, int], Ints] = field(default_factory=dict)

    def key(self, step: int, seen: Flags) -> Key:
        """What tells apart all that agents may be told: the epoch of the mission, and who takes part in it."""
        return self.epoch(step), self.living(step, seen).tobytes()

    def epoch(self, step: int) -> int:
        """Which of the mission's own epochs a step belongs to."""
        return sum(epoch.start <= step for epoch in self.mission.epochs) - 1

    def living(self, step: int, seen: Flags) -> Flags:
        """Who takes part at a step, (N,), of those who are seen alive."""
        return self.mission.present_at(step) & seen

    def told(self, key: Key) -> Told | None:
        """What everybody is told; None: there is no network of those who take part."""
        if key not in self._cache:
            self._cache[key] = self._told(key[0], np.frombuffer(key[1], np.bool_))
        return self._cache[key]

    def as_planned(self, key: Key) -> bool:
        """Whether nobody is missing who should be there."""
        return key[1] == self.mission.epochs[key[0]].present(self.mission.agents).tobytes()

    def _told(self, which: int, living: Flags) -> Told | None:
        epoch = self.mission.epochs[which]
        if np.array_equal(living, epoch.present(self.mission.agents)):
            return epoch.told
        if epoch.told.motion == "morph":
            return None  # who morphs has to be nested in its triangle from the start: the others hold
        scenario, rules, before = self.mission.scenario, self.mission.scenario.network, epoch.network
        try:
            network = build_network(before.reference, rules.mentee, rules.core, living[: len(before)])
        except InputError:
            return None
        first = self.mission.epochs[0].network
        start = max(epoch.start, self.mission.launch)
        paths = paths_of(scenario, self.mission.targets, [(self.mission.launch, first), (start, network)])[1]
        return replace(epoch.told, network=network, paths=paths)

    def listeners(self, key: Key, agent: int) -> Ints:
        """Who listens to an agent, ascending."""
        if (key, agent) not in self._listeners:
            told = self.told(key)
            links = np.empty((0, 3)) if told is None else told.network.in_neighbors
            self._listeners[key, agent] = np.flatnonzero((links == agent).any(axis=1))
        return self._listeners[key, agent]
