"""``Part``: what some agents know at a step, and what the method would have them do.

An environment asks for actions between two calls: agents look, somebody chooses for them, agents move. So what
``decide`` gets is kept until the actions come in. There is one part for all who were told the same; where repairs are
heard of late there are several.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tricover.control import Cells, Decision, Memory, Told, View, cells_of, decide, knowledge, rows_of
from tricover.geometry import flat
from tricover.simulation import Mission, State, Step, advance
from tricover.simulation.deciding import Decide, decide_all
from tricover.simulation.step import begun
from tricover.targets import TargetLists, Targets

__all__ = ["MOVES", "STAY", "Lists", "Part", "advanced", "look", "targets_in"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Lists = tuple[Ints, Floats, Floats]
"""Targets that each of A agents knows: offsets (A + 1,), points (L, 2) in metres, weights (L,)."""

MOVES = 4
"""How many actions an agent that walks has: three edges, and to stay."""
STAY = 3
"""The action of an agent that stays in its cell."""


@dataclass(frozen=True, eq=False)
class Part:
    """What A agents know, were told and remember, and what the method decides for them, one row each.

    Its own arrays are read-only.
    """

    view: View
    told: Told
    memory: Memory
    decision: Decision

    @cached_property
    def cells(self) -> Cells:
        """The cells of the decision, (A,) each: -1 outside the triangle, -2 for anchors, -3 for who holds."""
        return cells_of(self.view, self.told, self.decision)

    @cached_property
    def follows(self) -> Flags:
        """Which agents (A,) are followers that have heard of all their in-neighbours."""
        a, b, c = self.view.heard[..., 0].T
        return _read_only((self.told.network.layer[self.view.agents] > 0) & ~np.isnan(a + b + c))

    @cached_property
    def proper(self) -> Flags:
        """Which agents (A,) follow and have a triangle with an area, hence weights in it."""
        found = self.follows.copy()
        rows = np.flatnonzero(found)
        found[rows] = ~flat(self.view.heard[rows])
        return _read_only(found)

    @cached_property
    def masks(self) -> Flags:
        """Actions (A, 4) that each agent may choose, for ``walk``: the cells across its three edges, and to stay.

        Who has no cell, or none that is free, may only stay: then the method does what it does.
        """
        grid, state = self.told.grid, self.cells.state
        allowed = np.zeros((len(state), MOVES), np.bool_)
        allowed[:, STAY] = True
        rows = np.flatnonzero(self.follows & (state >= 0))
        around = grid.neighbors[state[rows]]
        free = around >= 0
        if self.told.obstacles is not None:
            blocked = self.told.obstacles.cells(self.view.heard[rows], grid)
            free &= ~np.take_along_axis(blocked, np.maximum(around, 0), axis=1)
            free &= ~np.take_along_axis(blocked, state[rows][:, None], axis=1)  # who is in such a cell gets out
        allowed[rows, :STAY] = free
        return _read_only(allowed)

    @cached_property
    def choosers(self) -> Flags:
        """Which agents (A,) have a choice; all others do what the method decides."""
        return _read_only(np.asarray(self.masks[:, :STAY].any(axis=1))) if self.told.motion == "walk" else self.proper

    def targets(self, rows: Ints) -> Lists:
        """The targets that some of the agents know, all of them followers."""
        view = self.view.rows(rows)
        if isinstance(view.seen, TargetLists):
            known, _ = knowledge(view, self.told, rows_of(self.memory, rows), view.heard)
            return known.offsets, known.points, known.weights
        return targets_in(view.heard, view.seen)


def _read_only(flags: Flags) -> Flags:
    flags.flags.writeable = False
    return flags


def targets_in(triangles: Floats, targets: Targets) -> Lists:
    """The still targets in triangles (A, 3, 2)."""
    offsets, names = targets.members(triangles)
    weights = np.ones(len(names)) if targets.weights is None else targets.weights[names]
    return offsets, targets.points[names], weights


def look(mission: Mission, state: State) -> list[Part]:
    """What everybody knows at a state, and what it would do: see ``decide_all``."""
    parts: list[Part] = []

    def watched(view: View, told: Told, memory: Memory) -> Decision:
        parts.append(Part(view, told, memory, decide(view, told, memory)))
        return parts[-1].decision

    decide_all(mission, begun(mission, state), watched)
    return parts


def advanced(mission: Mission, state: State, decided: list[Decision]) -> Step:
    """One step of the loop in which the parts of ``look`` do what was decided, one decision each."""
    return advance(mission, state, lambda mission, state: decide_all(mission, state, _one_by_one(iter(decided))))


def _one_by_one(decided: Iterator[Decision]) -> Decide:
    """Decisions that were taken before, in the order in which they are asked for."""
    return lambda view, told, memory: next(decided)
