"""What agents know at a step, one row each. A decision reads nothing else but this, what was told, and memory."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tricover.goals.voronoi import Cells, Near
from tricover.targets import TargetLists, Targets

__all__ = ["Near", "Received", "View"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Received:
    """What A agents that see only so far were told of targets; see ``sharing``.

    Attributes:
        told: by their in-neighbours. A row reads only the points inside its own triangle.
        senders: which of the three in-neighbours told each point, (L,).
        reports: by their children.
        slots: which of the three children reported each point, (R,).
    """

    told: TargetLists
    senders: Ints
    reports: TargetLists
    slots: Ints

    def rows(self, rows: Ints) -> "Received":
        """What some of the agents were told."""
        return Received(
            self.told.rows(rows),
            self.senders[_places(self.told.offsets, rows)],
            self.reports.rows(rows),
            self.slots[_places(self.reports.offsets, rows)],
        )


def _places(offsets: Ints, rows: Ints) -> Ints:
    """Where the points of some rows are."""
    return np.concatenate([np.empty(0, np.int64), *(np.arange(offsets[row], offsets[row + 1]) for row in rows)])


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
            passes these, and a simulator passes all. Of agents that see only so far, a list for each.
        ages: how many steps ago each heard position was sent, (A, 3); None: all of them in this step.
        announced: where their in-neighbours will be at t+1, as these have just announced, (A, 3, 2); NaN for anchors.
            None where nobody announces anything: only ``morph`` asks for it.
        received: what they were told of targets, where they see only so far; else None.
        cells: their own Voronoi cells among those near by, where the goal rule asks for them: see ``near``.
        pulled: the sum of what came up the links from those who listen to them, (A, 3); see ``descent``.
        near: where the agents near by are, themselves included. A row reads only those within its range. So an agent on
            its own passes these, and a simulator passes all. None where the goal rule does not ask for them.
    """

    step: int
    agents: Ints
    positions: Floats
    heard: Floats
    seen: Targets | TargetLists
    ages: Ints | None = None
    near: Near | None = None
    announced: Floats | None = None
    received: Received | None = None
    cells: Cells | None = None
    pulled: Floats | None = None

    def rows(self, rows: Ints) -> "View":
        """What some of the agents know."""
        ages = None if self.ages is None else self.ages[rows]
        announced = None if self.announced is None else self.announced[rows]
        known = self.agents[rows], self.positions[rows], self.heard[rows]
        seen = self.seen.rows(rows) if isinstance(self.seen, TargetLists) else self.seen
        received = None if self.received is None else self.received.rows(rows)
        cells = None if self.cells is None else Cells(*(part[rows] for part in self.cells))
        pulled = None if self.pulled is None else self.pulled[rows]
        return View(self.step, *known, seen, ages, self.near, announced, received, cells, pulled)
