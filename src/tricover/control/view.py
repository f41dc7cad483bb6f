"""What agents know at a step, one row each. A decision reads nothing else but this, what was told, and memory."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tricover.targets import Targets

__all__ = ["Near", "View"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Near:
    """Positions of the agents near each of A agents, one list after another.

    Attributes:
        offsets: the list of row k is positions[offsets[k]:offsets[k + 1]], (A + 1,).
        positions: where they stand, (L, 2), in metres.
    """

    offsets: Ints
    positions: Floats

    def rows(self, rows: Ints) -> "Near":
        """The lists of some of the agents."""
        parts = [np.arange(self.offsets[row], self.offsets[row + 1]) for row in rows]
        offsets = np.append(0, np.cumsum([len(part) for part in parts], dtype=np.int64))
        return Near(offsets, self.positions[np.concatenate([np.empty(0, np.int64), *parts])])


@dataclass(frozen=True, eq=False)
class View:
    """What agents know at a step.

    Attributes:
        step: the step t, by the agents' own clocks.
        agents: their numbers on the roster, (A,).
        positions: their own positions r_i, (A, 2), in metres.
        heard: the last known positions of their in-neighbours, (A, 3, 2), in the order of ``network.in_neighbors``.
            Together they are the communication triangle. Anchors hear nobody: NaN.
        seen: the targets that they see. A row reads only the targets inside its own triangle. So an agent on its own
            passes these, and a simulator passes all.
        ages: how many steps ago each heard position was sent, (A, 3); None: all of them in this step.
        announced: where their in-neighbours will be at t+1, as these have just announced, (A, 3, 2); NaN for anchors.
            None where nobody announces anything: only ``morph`` asks for it.
        near: where the agents are that stand near each of these; None where nobody looks for them.
    """

    step: int
    agents: Ints
    positions: Floats
    heard: Floats
    seen: Targets
    ages: Ints | None = None
    near: Near | None = None
    announced: Floats | None = None

    def rows(self, rows: Ints) -> "View":
        """What some of the agents know."""
        ages = None if self.ages is None else self.ages[rows]
        near = None if self.near is None else self.near.rows(rows)
        announced = None if self.announced is None else self.announced[rows]
        known = self.agents[rows], self.positions[rows], self.heard[rows]
        return View(self.step, *known, self.seen, ages, near, announced)
