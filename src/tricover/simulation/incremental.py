"""Who knows nothing new decides nothing: a shortcut that changes no bit.

A decision is a function of what an agent knows: its own position, the positions of its three in-neighbours, the
targets in its triangle, and what it has recorded, if it learns. Where none of these has changed since the last step, to
the bit (of records: where they cannot change its mind, see ``control.planning``), the decision of the last step stands.
So a step costs what the agents cost that moved or listen to one who did, and a settled team costs next to nothing.
``decide_all`` is the same without the shortcut.

It is for worlds in which everybody hears and sees the truth at once. In others knowledge changes in other ways, and
everybody decides anew; so it does on the way from the pads, and with the motion ``morph``, in which everybody hears of
the next step. Where agents hear of those near by, everybody decides anew, too.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tricover.control import View, decide
from tricover.control.memory import rows_of
from tricover.control.planning import due
from tricover.network import Network
from tricover.simulation import _kernels
from tricover.simulation.deciding import Decisions, decide_all, view_of
from tricover.simulation.mission import Mission
from tricover.simulation.state import State
from tricover.threads import in_ranges, side_by_side

__all__ = ["Incremental", "near_each_other"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

AT_ONCE = 16384
"""Agents who decide together: few enough that what one function leaves behind is in the cache for the next.

A first step of a million agents over a million targets took 0.61 s of two cores; with twice as many together 0.60 s,
with half as many 0.68 s, with ten times as many 0.66 s.
"""
TILES = 64
"""Per axis, by which agents are sorted: agents near each other look at the same targets.

The same step took 0.59 to 0.64 s with 16 to 250 tiles: any number will do.
"""


class Incremental:
    """``decide_all`` for one step after another: those decide anew whose knowledge has changed.

    It keeps the last step and its decisions, and nothing that does not follow from them. In another mission or epoch
    everybody decides anew.
    """

    def __init__(self) -> None:
        self._mission: Mission | None = None
        self._last: Decisions | None = None
        self._links: _Links | None = None
        self._epoch = self._targets = -1

    def __call__(self, mission: Mission, state: State) -> Decisions:
        """What everybody decides at a step."""
        world, motion = mission.world, mission.scenario.control.motion
        told = mission.epoch_at(state.step).told
        anew = motion == "morph" or state.step < mission.launch or told.hears_near
        if not world.channel.perfect or not world.sensor.sees_all or anew:
            return decide_all(mission, state)
        links, changed = self._look(mission, state)
        anchors = links.network.anchors
        view = view_of(mission, state, anchors)
        if told.learns:
            changed = links.also(due(told, state.memory), changed)
        decision = decide(view, told, rows_of(state.memory, anchors))
        last = self._last
        if (
            last is not None
            and changed is None
            and np.array_equal(last.decision.setpoints[anchors], decision.setpoints)
        ):
            return replace(last, replanned=[])
        decisions = Decisions.none_yet(mission, state) if last is None else last.copy()
        decisions.put(mission, view, told, decision)
        if changed is not None:
            _follow(mission, state, links, changed, decisions)
        self._last = decisions
        return decisions

    def _look(self, mission: Mission, state: State) -> tuple["_Links", Flags | None]:
        """The epoch's links, and whose positions have changed: None if nobody's, all if the targets are others."""
        epoch = mission.epoch_at(state.step)
        targets = min(state.step, mission.targets_still_from)
        if self._links is None or self._mission is not mission or self._epoch != epoch.start:
            self._links, self._last = _Links(epoch.network, state.positions), None
        anew = self._last is None or self._targets != targets
        self._mission, self._epoch, self._targets = mission, epoch.start, targets
        return self._links, self._links.changed(state.positions, anew)


class _Links:
    """Who hears whom in an epoch, laid out so that agents near each other are near each other in memory."""

    def __init__(self, network: Network, positions: Floats) -> None:
        self.network = network
        self.followers = near_each_other(network.followers, positions)
        # Everybody who is heard once more in the followers' order, anchors at the end.
        self._rows = np.concatenate([self.followers, network.anchors])
        row_of = np.empty(len(network), np.int32)
        row_of[self._rows] = np.arange(len(self._rows))
        self.links = row_of[network.in_neighbors[self.followers]]
        self.positions, self._before = np.empty((2, len(self._rows), 2))
        self._seen: Floats | None = None

    def changed(self, positions: Floats, anew: bool) -> Flags | None:
        """Which rows have moved since the last call, all if ``anew``; None if none has."""
        if not anew and self._seen is not None and np.array_equal(self._seen, positions):
            return None
        self._seen = positions
        self.positions, self._before = self._before, self.positions
        rows, here, there = self._rows, self.positions, self._before

        def gather(first: int, last: int) -> None:
            # Nothing has to be clipped: the mode spares NumPy a copy.
            positions.take(rows[first:last], axis=0, out=here[first:last], mode="clip")

        in_ranges(gather, len(rows))
        flags = np.ones(len(rows), np.bool_)
        if not anew:
            in_ranges(lambda first, last: _kernels.moved(there, here, first, last, flags), len(flags))
        return flags

    def also(self, wanted: Flags, changed: Flags | None) -> Flags | None:
        """Rows that have moved, and those of agents (N,) who decide anew for another reason; None if there is none."""
        rows: Flags = wanted[self._rows]
        if not rows.any():
            return changed
        return rows if changed is None else changed | rows


def _follow(mission: Mission, state: State, links: _Links, changed: Flags, decisions: Decisions) -> None:
    """Let those followers decide who have moved, or hear somebody who has."""
    told = mission.epoch_at(state.step).told
    seen = mission.targets_at(state.step)  # all of them: else nobody takes this shortcut

    def act(first: int, last: int) -> None:
        found = _kernels.changed_views(links.followers, links.links, links.positions, changed, first, last)
        view = View(state.step, *found, seen)
        decisions.put(mission, view, told, decide(view, told, rows_of(state.memory, view.agents) if told.plans else {}))

    everybody = len(links.followers)
    if (
        everybody <= AT_ONCE or callable(told.goal) or callable(told.policy)
    ):  # a rule of the user's need not be safe in threads
        act(0, everybody)
        return
    act(0, 0)  # what all share, such as the index of the targets, is made once
    side_by_side(lambda first: act(first, min(first + AT_ONCE, everybody)), range(0, everybody, AT_ONCE))


def near_each_other(agents: Ints, positions: Floats) -> Ints:
    """Agents (A,) tile by tile of where they stand."""
    tiles = np.zeros(len(agents), np.uint16)
    for axis in positions.T[::-1]:  # one axis after the other, which NumPy does much faster than both at once
        scale = TILES / max(np.ptp(axis), 1e-200)
        tiles = tiles * (TILES + 1) + ((axis[agents] - axis.min()) * scale).astype(np.uint16)
    return agents[np.argsort(tiles, kind="stable")]
