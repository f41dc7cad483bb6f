"""What everybody sees at a step, and what everybody is told of targets, where agents see only so far.

Messages of a step are sent and arrive within it: what agents tell depends on what they see and remember, and their
reports are of the step before. So who decides may have all of them, and nobody waits for another.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tricover.control import Received, View, report, tell
from tricover.control.memory import rows_of
from tricover.control.sharing import numbers_in
from tricover.control.told import Told
from tricover.simulation.mission import Mission
from tricover.simulation.state import State
from tricover.targets import TargetLists
from tricover.targets.merging import inside

__all__ = ["Look", "look_around", "told_in"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

AT_ONCE = 1 << 20
"""Points told that are looked at together: 40 MB."""


@dataclass(frozen=True, eq=False)
class Look:
    """What some agents see and tell at a step.

    Attributes:
        agents: their numbers, (A,).
        seen: what each of them sees.
        tells: what each of them tells.
    """

    agents: Ints
    seen: TargetLists
    tells: TargetLists

    def numbers(self, told: Told, state: State) -> Ints:
        """How many numbers everybody sends in the step, (N,); 0 for who does not take part."""
        found = np.zeros(len(state.positions), np.int64)
        found[self.agents] = numbers_in(told, self.agents, self.tells, rows_of(state.memory, self.agents))
        return found

    def received_by(self, told: Told, state: State, agents: Ints, triangles: Floats) -> Received:
        """What agents (A,) were told, by those of the look, in triangles (A, 3, 2); anchors nothing."""
        row_of = np.full(len(told.network), -1)
        row_of[self.agents] = np.arange(len(self.agents))
        senders = row_of[told.network.in_neighbors[agents]]
        senders[told.network.layer[agents] <= 0] = -1
        told_points, slots = told_in(self.tells, senders, triangles)
        if told.summary is None:
            return Received(told_points, slots, TargetLists.empty(len(agents)), np.empty(0, np.int64))
        children = told.family.children[agents]
        mothers, which = np.nonzero(children >= 0)
        said = report(told, rows_of(state.memory, children[mothers, which]))
        # Children come in the order of their parents: so do their points.
        counts = np.bincount(mothers, np.diff(said.offsets), len(agents)).astype(np.int64)
        reports = TargetLists.of(counts, said.names, said.points, said.weights, said.fresh)
        return Received(told_points, slots, reports, np.repeat(which, np.diff(said.offsets)))


def look_around(mission: Mission, state: State, told: Told, agents: Ints) -> Look | None:
    """What agents (A,) and all whom they listen to see and tell; None if everybody sees everything alike."""
    if mission.world.sensor.sees_all:
        return None
    links = told.network.in_neighbors[agents[told.network.layer[agents] > 0]]
    who = np.union1d(agents, links).astype(np.int64)
    places = state.positions[who]
    seen = mission.world.sensor.see(mission.scene_at(state.step), who, places)
    if not isinstance(seen, TargetLists):
        return None
    view = View(state.step, who, places, np.full((len(who), 3, 2), np.nan), seen)
    return Look(who, seen, tell(view, told, rows_of(state.memory, who)))


def told_in(tells: TargetLists, senders: Ints, triangles: Floats) -> tuple[TargetLists, Ints]:
    """Which points of what senders (A, 3) tell are in triangles (A, 3, 2), and which of the three told each."""
    longest = int(np.diff(tells.offsets).max(initial=1))
    block = max(1, AT_ONCE // (3 * max(longest, 1)))
    parts = [_heard_by(tells, senders[k : k + block], triangles[k : k + block]) for k in range(0, len(senders), block)]
    if not parts:
        return TargetLists.empty(0), np.empty(0, np.int64)
    counts = np.concatenate([np.diff(part.offsets) for part, _ in parts])
    columns = [np.concatenate([getattr(p, n) for p, _ in parts]) for n in ("names", "points", "weights", "fresh")]
    return TargetLists.of(counts, *columns), np.concatenate([slots for _, slots in parts])


def _heard_by(tells: TargetLists, senders: Ints, triangles: Floats) -> tuple[TargetLists, Ints]:
    listening = np.flatnonzero(senders[:, 0] >= 0)
    triples = tells.rows(senders[listening].ravel())
    counts = np.zeros(len(senders), np.int64)
    counts[listening] = np.diff(triples.offsets).reshape(-1, 3).sum(axis=1)
    slots = np.repeat(np.tile(np.arange(3), len(listening)), np.diff(triples.offsets))
    lists = TargetLists.of(counts, triples.names, triples.points, triples.weights, triples.fresh)
    kept = inside(lists, triangles)
    return lists.where(kept), slots[kept]
