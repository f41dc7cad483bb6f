"""Cell plan: the team plans its own formation, with few numbers on few links.

Nobody knows all targets, and nobody outside plans anything. Four steps, each with its messages:

1. *Summary.* In each first cell the agent of the lowest layer tells the core what is in its cone, as a few weighted
   points (``frame``).
2. *Frame.* The core works out where the anchors go and how many followers each first cell gets, and tells everybody:
   2H + 2 numbers for the places, H for the counts.
3. *Members.* Who does what follows from the roster and these numbers, so that everybody finds the same. The agents
   whose reference positions fit the corners and the core best, by the least sum of squared distances, are the new
   anchors. All others are sorted by the angle of their reference positions around the core's place, and the list is cut
   at the cumulated counts.
4. *Places.* In each first cell the member with the lowest number is the planner. It hears where the members are, sees
   the targets in the cone, works out their places (``cell_places``), assigns them by the least sum of squared
   distances, and builds the network of the cell. It tells each member to whom it listens, and with which weights.

The places are the reference positions of a new network. Agents keep them by their weights, as with the goal
``reference``: so a plan settles like that, layer by layer, and all that is proved of it holds.

Where the anchors have given places, steps 1 and 2 need one number for each first cell, and boundary and core stay.
They stay, too, where the targets span no area, or are too few to plan a frame.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.geometry.assignment import least_travel
from tricover.goals.cell_places import cell_places
from tricover.goals.frame import (
    POINTS,
    Frame,
    cones_of,
    first_cells,
    fixed_frame,
    planned_frame,
    summary_of,
)
from tricover.network import Network, network_in_frame
from tricover.network.roster import told_apart
from tricover.network.structure import parents_and_slots
from tricover.targets import Targets
from tricover.targets.placing import spread_of

__all__ = ["EVERYBODY", "KINDS", "CellPlan", "Messages", "cell_plan", "followers_wanted", "phase_messages"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EVERYBODY = -1
"""The receiver of a message that all agents get."""
KINDS = ("summary", "frame", "position", "place", "arrived", "phase")
"""Messages: what is in a cone, the frame, where a member is, what it is told, that it is there, and when to go on."""
_SUMMARY, _FRAME, _POSITION, _PLACE, _ARRIVED, _PHASE = range(len(KINDS))
_PER_POINT, _PER_POSITION, _PER_PLACE = 3, 2, 5  # x, y, weight · x, y · three in-neighbours and two weights


class Messages(NamedTuple):
    """Who sent how many numbers to whom, one entry per message.

    Attributes:
        kinds: what for, as a place in ``KINDS``, (L,).
        senders: agents, (L,).
        receivers: agents, (L,); -1: everybody.
        numbers: how many, (L,).
    """

    kinds: Ints
    senders: Ints
    receivers: Ints
    numbers: Ints

    @property
    def total(self) -> int:
        """All numbers that were sent; one to everybody counts once."""
        return int(self.numbers.sum())


@dataclass(frozen=True, eq=False)
class CellPlan:
    """A plan: the network of the planned places, which are its reference positions, and what was said to make it."""

    network: Network
    messages: Messages


class _Known(NamedTuple):
    """What is known of the targets of each cone: points (D, 2), weights (D,), and the cone (D,) of each."""

    points: Floats
    weights: Floats
    cones: Ints

    def of(self, cone: int) -> tuple[Floats, Floats]:
        """What the agent of a cone knows: points and weights."""
        some = self.cones == cone
        return self.points[some], self.weights[some]


def phase_messages(network: Network) -> Messages:
    """What is said before a team goes on together: everybody reports once up the layers, and the core says when."""
    followers = network.followers
    _, slots = parents_and_slots(network.in_neighbors, network.layer)
    parents = network.in_neighbors[followers, slots[followers]].astype(np.int64)
    return _joined([_told(_ARRIVED, followers, parents, 1), _told(_PHASE, np.array([network.core]), EVERYBODY, 1)])


class _Layout(NamedTuple):
    """The frame, and who stands at its corners (H,) and at the core's place."""

    frame: Frame
    boundary: Ints
    core: int


def cell_plan(
    present: Network, roster: Network, positions: Floats, targets: Targets, anchors: Floats | None = None
) -> CellPlan:
    """A plan for the living agents of a roster.

    Args:
        present: the network in use: its cones are summed up.
        roster: the network of the living, which everybody can derive.
        positions: where everybody is, (N, 2).
        targets: still targets.
        anchors: given places of the roster's anchors, (len(roster.anchors), 2), in their order; None: they are planned.
    """
    field = targets.weighed()
    layout: _Layout | None = None
    said: list[Messages] = []
    if anchors is None:
        cones = cones_of(field[0], positions[present.boundary], positions[present.core])
        layout, said = _planned(_Known(*field, cones), present, roster)
    if layout is None:
        places = roster.reference[roster.anchors] if anchors is None else anchors
        layout = _Layout(_frame_of(*field, places, roster), roster.boundary, roster.core)
        said = [*said, _told(_SUMMARY, _speakers(roster, roster), roster.core, 1)]
    frame, boundary, core = layout
    said.append(_told(_FRAME, np.array([roster.core]), EVERYBODY, 3 * len(frame.corners) + 2))
    cells = _members(layout, roster)
    places = roster.reference.copy()
    places[boundary], places[core] = frame.corners, frame.core
    known = _Known(*field, cones_of(field[0], frame.corners, frame.core))
    for cell, corners in enumerate(first_cells(frame.corners, frame.core)):
        members = np.flatnonzero(cells == cell)
        if members.size:
            found = cell_places(corners, *known.of(cell), len(members))
            places[members] = found[least_travel(positions[members], found)]
            said += _among(members)
    alive = roster.layer >= 0
    network = network_in_frame(told_apart(places, ~alive), boundary, core, cells, roster.mentee, alive)
    return CellPlan(network, _joined(said))


def _planned(known: _Known, present: Network, roster: Network) -> tuple[_Layout | None, list[Messages]]:
    """Steps 1 and 2: the frame that the core makes of what each cone says; None if it makes none."""
    cones = len(present.boundary)
    each = -(-POINTS // cones)
    parts = [summary_of(*known.of(cone), each) for cone in range(cones)]
    points, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    sizes = np.array([_PER_POINT * len(part) for part, _ in parts])
    said = [_told(_SUMMARY, _speakers(present, roster), roster.core, sizes)]
    frame = planned_frame(points, weights, int((roster.layer >= 0).sum())) if len(points) else None
    return None if frame is None else _Layout(frame, *_anchors_of(frame, roster)), said


def _frame_of(points: Floats, weights: Floats, places: Floats, roster: Network) -> Frame:
    """The frame with the anchors at their places (A, 2), the core last."""
    corners, core = places[:-1], places[-1]
    spreads = _spreads(points, weights, corners, core)
    return fixed_frame(corners, core, spreads, int((roster.layer >= 0).sum()))


def _among(members: Ints) -> list[Messages]:
    """What the members (M,) of a first cell say: the first of them plans."""
    planner, others = members[0], members[1:]
    positions = _told(_POSITION, others, planner, _PER_POSITION)
    return [positions, _told(_PLACE, np.full(len(others), planner), others, _PER_PLACE)]


def _joined(said: list[Messages]) -> Messages:
    return Messages(*(np.concatenate(part) for part in zip(*said, strict=True)))


def followers_wanted(targets: Targets, corners: Floats, core: Floats, followers: int) -> Ints:
    """How many followers (H,) each first cell should have, by the spread of the targets in its cone."""
    spreads = _spreads(*targets.weighed(), corners, core)
    return fixed_frame(corners, core, spreads, followers + len(corners) + 1).counts


def _spreads(points: Floats, weights: Floats, corners: Floats, core: Floats) -> Floats:
    """The spread (H,) of the targets in each cone, by those targets alone."""
    known = _Known(points, weights, cones_of(points, corners, core))
    parts = [known.of(cone) for cone in range(len(corners))]
    return np.array([spread_of(*part).sum() if len(part[0]) else 0.0 for part in parts])


def _speakers(present: Network, roster: Network) -> Ints:
    """Who speaks for each first cell of a network, (H,): its highest living agent, else a corner or the core."""
    top = np.full(len(present.boundary), -1)
    facet = np.full(len(present), -1)
    facet[present.boundary] = np.arange(len(present.boundary))
    first = present.layers[1] if present.depth else np.empty(0, np.int64)
    top[facet[present.in_neighbors[first, 0]]] = first
    living = roster.layer >= 0
    for others in (present.boundary, np.full(len(top), roster.core)):
        top = np.where((top >= 0) & living[top], top, others)
    return top


def _told(kind: int, senders: Ints, receivers: "Ints | int", numbers: "Ints | int") -> Messages:
    """Messages of a kind; one receiver or size is that of all."""
    shape = np.shape(senders)
    columns = (np.full(shape, kind), senders, np.broadcast_to(receivers, shape), np.broadcast_to(numbers, shape))
    return Messages(*(np.asarray(column, np.int64) for column in columns))


def _anchors_of(frame: Frame, roster: Network) -> tuple[Ints, int]:
    """Step 3: who goes to the corners (H,), and who to the core's place."""
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial import cKDTree

    spots = np.concatenate([frame.corners, [frame.core]])
    living = np.flatnonzero(roster.layer >= 0)
    # Nobody needs to look at more candidates than there are spots: one of them is always left.
    near = cKDTree(roster.reference[living]).query(spots, k=min(len(spots), len(living)))[1]
    candidates = living[np.unique(near)]
    apart = spots[:, None] - roster.reference[candidates]
    chosen = candidates[linear_sum_assignment((apart * apart).sum(axis=2))[1]]
    return chosen[:-1], int(chosen[-1])


def _members(layout: _Layout, roster: Network) -> Ints:
    """Step 3: the first cell of each living follower, (N,); -1 for all others."""
    frame, boundary, core = layout
    follows = roster.layer >= 0
    follows[boundary] = follows[core] = False
    followers = np.flatnonzero(follows)
    away = roster.reference[followers] - frame.core
    first = frame.corners[0] - frame.core
    angles = (np.arctan2(away[:, 1], away[:, 0]) - np.arctan2(first[1], first[0])) % (2 * np.pi)
    cells = np.full(len(roster), -1)
    order = np.argsort(angles, kind="stable")
    cells[followers[order]] = np.repeat(np.arange(len(frame.counts)), frame.counts)
    return cells
