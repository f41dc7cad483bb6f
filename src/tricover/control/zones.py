"""Who is cut off: agents that zones keep from their goals.

An agent is cut off where its goal cell is free, and no walk over free cells leads there; and where it holds, because
every way from where it is would meet a zone. It stays in its part of the triangle, or where it is.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.control.decision import HOLD, decide
from tricover.control.memory import Memory
from tricover.control.told import Told
from tricover.control.view import View
from tricover.errors import agents, listed
from tricover.goals.zones import CUT_OFF

__all__ = ["CutOff", "cut_off", "named_by_zone"]


class CutOff(NamedTuple):
    """An agent that is cut off from its goal."""

    agent: int
    zone: int
    """The zone on its straight way to the goal point; the nearest to it where none is on it."""
    holds: bool
    """Whether it does not move at all."""


def cut_off(view: View, told: Told, memory: Memory) -> list[CutOff]:
    """Who of these agents is cut off, by what they know; by zones that they walk around, hence with ``walk`` alone."""
    zones = told.obstacles
    if zones is None:
        return []
    decision = decide(view, told, memory)
    assert decision.cells is not None
    held = decision.cells.next == HOLD
    lost = held.copy()
    rows = np.flatnonzero(told.network.layer[view.agents] > 0)
    parts = view.positions[rows], view.heard[rows], decision.goal_points[rows]
    lost[rows] |= zones.goals(*parts, told.grid)[:, 0] == CUT_OFF
    who: NDArray[np.int64] = np.flatnonzero(lost)
    ways = view.positions[who], decision.goal_points[who]
    met = zones.crossed(*ways)
    between = np.where(met >= 0, met, zones.nearest(*ways))
    return [CutOff(int(view.agents[row]), int(zone), bool(held[row])) for row, zone in zip(who, between, strict=True)]


def named_by_zone(found: list[CutOff]) -> str:
    """Who is cut off, for people.

    >>> named_by_zone([CutOff(3, 1, False), CutOff(5, 0, True), CutOff(7, 1, False)])
    'agent 5 by zone 0 and agents 3 and 7 by zone 1'
    """
    zones = sorted({one.zone for one in found})
    return listed(f"{agents(one.agent for one in found if one.zone == zone)} by zone {zone}" for zone in zones)
