"""``State``: everything that changes from step to step. With the mission, it is all that the next step depends on."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tricover.control import Memory

__all__ = ["State"]


@dataclass(frozen=True, eq=False)
class State:
    """The team at a step, for the final roster of N agents. Arrays are read-only.

    Attributes:
        step: the step t.
        positions: r_i[t], (N, 2), in metres.
        vehicles: states of the vehicles, (N, S).
        present: who takes part, (N,).
        memory: what the agents remember, arrays (N, …) by name.
        quiet: for how many steps everybody has been at its goal, with no change from outside.
        still: whether nothing changed in the last step, so that nothing ever will.
    """

    step: int
    positions: NDArray[np.float64]
    vehicles: NDArray[np.float64]
    present: NDArray[np.bool_]
    memory: Memory = field(default_factory=dict)
    quiet: int = 0
    still: bool = False

    def __post_init__(self) -> None:
        for array in (self.positions, self.vehicles, self.present, *self.memory.values()):
            array.flags.writeable = False

    @property
    def arrays(self) -> Mapping[str, NDArray[np.generic]]:
        """What a resumed run needs besides the recorded positions: arrays by name."""
        return {"vehicles": self.vehicles, **self.memory}
