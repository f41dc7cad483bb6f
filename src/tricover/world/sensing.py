"""What agents see: targets, and other agents near by."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from tricover.control import Near
from tricover.errors import InputError
from tricover.targets import Targets

__all__ = ["PerfectSensor", "Sensor"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Sensor(Protocol):
    """The eyes of the agents."""

    @property
    def sees_all(self) -> bool:
        """Whether every agent sees all targets that are there."""

    def see(self, targets: Targets, agents: Ints, positions: Floats) -> Targets:
        """Those of the targets that agents (A,) see, with everybody at positions (N, 2)."""

    def near(self, agents: Ints, positions: Floats, within: float) -> Near:
        """Where others stand ``within`` so many metres of agents (A,), with everybody at positions (N, 2)."""


@dataclass(frozen=True)
class PerfectSensor:
    """Every target is seen, and every agent within the distance asked for."""

    sees_all: ClassVar[bool] = True

    def see(self, targets: Targets, agents: Ints, positions: Floats) -> Targets:
        """All of them."""
        return targets

    def near(self, agents: Ints, positions: Floats, within: float) -> Near:
        """All others within the distance, in ascending order of their numbers."""
        from scipy.spatial import KDTree

        if not within > 0:
            raise InputError(f"agents are near within a positive number of metres, not {within}")
        found: Any = KDTree(positions).query_ball_point(positions[agents], within, return_sorted=True)
        others = [[other for other in some if other != agent] for agent, some in zip(agents, found, strict=True)]
        offsets = np.append(0, np.cumsum([len(some) for some in others]))
        names = np.array([other for some in others for other in some], np.int64)
        return Near(offsets, positions[names])
