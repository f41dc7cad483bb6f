"""``State``: everything that changes from step to step. With the mission, it is all that the next step depends on."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tricover.control import Memory

__all__ = ["State"]


@dataclass(frozen=True, eq=False, repr=False)
class State:
    """The team at a step, for the final roster of N agents. Arrays are read-only.

    Attributes:
        step: the step t.
        positions: r_i[t], (N, 2), in metres.
        vehicles: states of the vehicles, (N, S).
        present: who takes part, (N,).
        memory: what the agents remember, arrays (N, …) by name.
        sent: everybody's positions at the steps before, the newest first, (D, N, 2), as many as the channel may deliver
            late; NaN before step 0.
        post: messages that are on their way, arrays by name, see ``hearing``; nothing where all arrive at once.
        quiet: for how many steps everybody has been at its goal, with no change from outside.
        still: whether nothing changed in the last step, so that nothing ever will.
    """

    step: int
    positions: NDArray[np.float64]
    vehicles: NDArray[np.float64]
    present: NDArray[np.bool_]
    memory: Memory = field(default_factory=dict)
    sent: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0, 2)))
    post: Memory = field(default_factory=dict)
    quiet: int = 0
    still: bool = False

    def __post_init__(self) -> None:
        parts = (*self.memory.values(), *self.post.values())
        for array in (self.positions, self.vehicles, self.present, self.sent, *parts):
            array.flags.writeable = False

    def __repr__(self) -> str:
        return f"<State of {len(self.positions)} agents at step {self.step}>"

    @property
    def messages(self) -> NDArray[np.float64]:
        """What everybody sends at this step and sent before, the newest first: (D + 1, N, 2)."""
        now = self.positions[None]
        return np.concatenate([now, self.sent]) if len(self.sent) else now
