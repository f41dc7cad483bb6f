"""Where it is safe to land: what keeps agents from landing where they decided to."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["AllClear", "Clearance"]

Floats = NDArray[np.float64]


class Clearance(Protocol):
    """A keeper of distances."""

    @property
    def always(self) -> bool:
        """Whether every landing is safe, so that nobody need ask."""

    def clear(self, positions: Floats, reach_sets: Floats) -> Floats:
        """Reach sets (N, 3, 2) that are safe, for agents at positions (N, 2) who asked for these."""


@dataclass(frozen=True)
class AllClear:
    """Every landing is safe."""

    always: ClassVar[bool] = True

    def clear(self, positions: Floats, reach_sets: Floats) -> Floats:
        """The reach sets that were asked for."""
        return reach_sets
