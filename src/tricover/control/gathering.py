"""What agents know of the targets in their triangles, where they see only so far.

An agent puts together what it knows by itself (``recall``), what its in-neighbours tell and what its children report
(``sharing``). A target that it hears of more than once it takes from one source: own eyes come first, then what an
in-neighbour sees, then what somebody below sees. After these come memories in the same order. What is not in the
triangle is left out at the end, so a target that is seen elsewhere is not there.

*Points that stand for several targets* cannot be told apart from those targets. A report that has such points is of a
child's triangle, a child cell of the agent. In that cell it takes only what the child was able to leave out: what it
sees itself, what it told the child, what their two common in-neighbours tell, and the report. The third in-neighbour
and the other children, whom that child does not hear, are not asked there.

*Sums* cannot be taken apart at all, so they go by the partition (``family``): a child tells of its cell, and the agent
itself, with what its in-neighbours tell, knows the cells in which it has no child. Targets on edges and corners that
its own cell leaves out count for its goal, and not for its report.

Reports are a step old for each layer that they came through. Points that are not in the triangle, as they may be where
it moves, are left out; so the goal is in the triangle.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.control.recall import Arrays, first_of_each, known_by_itself, recalled
from tricover.control.rows import Memory
from tricover.control.sharing import REPORT, next_report, told_of_own
from tricover.control.told import Told
from tricover.control.view import View
from tricover.errors import InputError
from tricover.geometry import barycentric, flat
from tricover.targets import TargetLists
from tricover.targets.lists import NAMELESS
from tricover.targets.merging import inside

__all__ = ["knowledge", "looked_around"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_OWN, _TOLD, _REPORTED = range(3)
_OUTSIDE_BY = 1e-9  # barycentric: by so much rounding may put a centroid of targets on an edge outside of it


def looked_around(view: View, told: Told, memory: Memory) -> Arrays:
    """What agents remember of what they see, whatever they do."""
    return recalled(known_by_itself(view, told, memory), view.positions, told.recall)


def knowledge(view: View, told: Told, memory: Memory, triangles: Floats) -> tuple[TargetLists, Arrays]:
    """What followers know in triangles (A, 3, 2), sorted; and what they remember of it and will report."""
    if view.received is None:
        raise InputError("agents that see only so far need what they were told: give View.received")
    own = known_by_itself(view, told, memory)
    seen = recalled(own, view.positions, told.recall)
    if told.summary == "sums":
        known, report = _by_cells(view, told, own, triangles)
        return known, seen | report
    received = _apart(view, told, own, triangles)
    known, source = TargetLists.joined([*received])
    known = known.where(first_of_each(known, np.where(known.fresh, source, 3 + source)))
    held = _held(known, triangles)
    inner, outer = known.where(held).sorted(), known.where(~held & (known.names >= 0))
    return inner, seen if told.summary is None else seen | next_report(view, told, inner, outer)


def _held(lists: TargetLists, triangles: Floats) -> Flags:
    """Which points (L,) are in the triangles; those that stand for several up to rounding."""
    found = inside(lists, triangles)
    doubtful = np.flatnonzero(~found & (lists.names == NAMELESS))
    rows = lists.owners[doubtful]
    proper = ~flat(triangles[rows])
    doubtful, rows = doubtful[proper], rows[proper]
    found[doubtful] = barycentric(lists.points[doubtful], triangles[rows]).min(axis=1) >= -_OUTSIDE_BY
    return found


def _apart(view: View, told: Told, own: TargetLists, triangles: Floats) -> tuple[TargetLists, ...]:
    """Own points, those told and those reported, without what a report with nameless points may hold, too."""
    received = view.received
    assert received is not None
    crowded = np.zeros((len(own), 3), np.bool_)
    nameless = received.reports.names == NAMELESS
    crowded[received.reports.owners[nameless], received.slots[nameless]] = True
    if not crowded.any():
        return own, received.told, received.reports
    kept_back = ~own.fresh & ~told_of_own(own, view.positions, told)
    own_kept, told_kept = np.ones(len(own.names), np.bool_), np.ones(len(received.senders), np.bool_)
    reported = np.ones(len(received.slots), np.bool_)
    for k in range(3):
        cells = triangles.copy()
        cells[:, k] = view.positions
        some = kept_back & crowded[own.owners, k]
        own_kept[some] &= ~_inside_some(own, cells, some)
        others = (received.senders == k) & crowded[received.told.owners, k]
        told_kept[others] &= ~_inside_some(received.told, cells, others)
        strangers = (received.slots != k) & crowded[received.reports.owners, k]
        reported[strangers] &= ~_inside_some(received.reports, cells, strangers)
    return own.where(own_kept), received.told.where(told_kept), received.reports.where(reported)


def _inside_some(lists: TargetLists, cells: Floats, some: Flags) -> Flags:
    return inside(lists.where(some), cells)


def _by_cells(view: View, told: Told, own: TargetLists, triangles: Floats) -> tuple[TargetLists, Arrays]:
    """The same for sums: reports for cells with a child, own points and told ones for the others."""
    received, family = view.received, told.family
    assert received is not None
    named, source = TargetLists.joined([own, received.told])
    named = named.where(first_of_each(named, np.where(named.fresh, source, 2 + source)))
    named = named.where(_held(named, triangles))
    rows = named.owners
    cell = _cells_of(named, view.positions, triangles)
    has_child = family.children[view.agents] >= 0
    watched = (cell < 0) | ~has_child[rows, cell]
    elsewhere = _left_out(named, view, told, triangles)
    reports = received.reports.where(_held(received.reports, triangles))
    known, _ = TargetLists.joined([named.where(watched | elsewhere), reports])
    mine, _ = TargetLists.joined([named.where(watched & ~elsewhere), reports])
    return known.sorted(), _sum_of(mine.sorted(), family.parents[view.agents] >= 0)


def _cells_of(lists: TargetLists, positions: Floats, triangles: Floats) -> Ints:
    """The lowest child cell (L,) that holds each point; -1: none does, as the agent is not in its triangle."""
    found = np.full(len(lists.names), -1)
    for k in (2, 1, 0):
        cells = triangles.copy()
        cells[:, k] = positions
        found[inside(lists, cells)] = k
    return found


def _left_out(lists: TargetLists, view: View, told: Told, triangles: Floats) -> Flags:
    """Which points (L,) are on edges and corners that the agents' cells leave to others."""
    rows = lists.owners
    edges, corners = (part[view.agents][rows] for part in (told.family.edges, told.family.corners))
    at = (lists.points[:, None] == triangles[rows]).all(axis=2)
    found = np.zeros(len(rows), np.bool_)
    for k in range(3):
        sides = triangles.copy()
        sides[:, k] = triangles[:, k - 1]  # without area: the edge across from corner k
        found |= edges[:, k] & inside(lists, sides)
    some = at.any(axis=1)
    found[some] = (at & corners)[some].any(axis=1)
    return found


def _sum_of(lists: TargetLists, report: Flags) -> Arrays:
    """Every list as one weighted point, for those who report."""
    sums = lists.sums()
    there = report & (sums[:, 0] > 0)
    weights = sums[there, 0]
    count, nameless = int(there.sum()), np.full(int(there.sum()), NAMELESS)
    points = sums[there, 1:] / weights[:, None]
    one = TargetLists.of(there.astype(np.int64), nameless, points, weights, np.zeros(count, np.bool_))
    return dict(zip(REPORT, one.packed(1), strict=True))
