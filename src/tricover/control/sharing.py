"""What agents tell each other of targets, where they see only so far.

In each step an agent sends two messages besides its position. Each is a list of weighted points, with the names of
those that have one, and a mark for those that somebody sees in this very step:

- to all who listen to it, what it *tells*: the targets that it knows by itself (``recall``), those nearest to it first,
  and at most 4K if a summary of K points was asked for; else all that it can remember. The message is one for all the
  triangles whose corner it is: it does not know them, as it does not hear those below it;
- to its parent its *report* (see ``family``): what it knew a step ago. So reports go up a layer a step.

A report has at most K points. Up to half of them are targets outside of the agent's triangle, by name, the nearest to
the parent first: they may be in the parent's triangle, where perhaps nobody else sees them. (Without these 91% and not
97% of the agents of 50 teams of 57 ended where full sight puts them, with a sight of 20% of the field.) Targets beyond
the edge that both triangles have in common are surely not in the parent's, and are left out.

The rest of a report is of the agent's own triangle: ``targets.merging`` makes fewer points of it, and those that stand
for several have no name. These cannot be told apart from others. So the sender leaves out what the parent knows anyway:
what is in the parent's sight (it hears where the parent is, and knows how far it sees), and all that its in-neighbours
told it by name. These are the parent, and two of those whom the parent listens to.

With the summary "sums" a report is one weighted point, Σw at Σw·x/Σw, over the agent's cell of the partition of
``family``. If there is no summary, there are no reports.

    report_names    (A, K)     the report that is sent in the next step, as in ``recall``
    report_points   (A, K, 2)
    report_weights  (A, K)
    report_fresh    (A, K)     whether somebody saw it in the step before
"""

import numpy as np
from numpy.typing import NDArray

from tricover.control.recall import Arrays, known_by_itself, nearest
from tricover.control.rows import Memory
from tricover.control.told import Told
from tricover.control.view import View
from tricover.errors import InputError
from tricover.targets import TargetLists
from tricover.targets.lists import EMPTY
from tricover.targets.merging import merged

__all__ = ["REPORT", "next_report", "nothing_reported", "numbers_in", "report", "tell", "told_of_own"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

REPORT = ("report_names", "report_points", "report_weights", "report_fresh")
PER_POSITION, PER_POINT = 2, 3
"""Numbers in a message: x and y; x, y and weight. Names and marks are not counted."""
_TELLS = 4  # times K: what an agent tells serves all the triangles whose corner it is
_OUTER = 2  # one part in so many of a report is for points outside of the triangle


def tell(view: View, told: Told, memory: Memory) -> TargetLists:
    """What agents tell all who listen to them; ``view`` needs what they see, and not yet what they received."""
    own = known_by_itself(view, told, memory)
    return own.where(told_of_own(own, view.positions, told))


def told_of_own(own: TargetLists, positions: Floats, told: Told) -> Flags:
    """Which points (L,) of what they know by themselves agents at positions (A, 2) tell."""
    return nearest(own, positions, _most_told(told))


def report(told: Told, memory: Memory) -> TargetLists:
    """What agents report to their parents."""
    if told.summary is None:
        raise InputError("nobody reports where there is no summary: give Told.summary")
    return TargetLists.unpacked(*(memory[name] for name in REPORT))


def nothing_reported(told: Told, agents: int) -> Arrays:
    """What so many agents have to report before they know anything."""
    if told.summary is None:
        return {}
    return dict(zip(REPORT, TargetLists.empty(agents).packed(_width(told)), strict=True))


def next_report(view: View, told: Told, inner: TargetLists, outer: TargetLists) -> Arrays:
    """What agents report in the next step, of what they know now: in their triangles, and by name outside of them."""
    assert isinstance(told.summary, int)
    inner, outer = (_not_known_above(view, told, known) for known in (inner, outer))
    outer = outer.where(_perhaps_above(view, told, outer))
    places = _places_above(view, told)
    outer = outer.where(nearest(outer, places, told.summary // _OUTER))
    inner = merged(inner, told.summary - np.diff(outer.offsets))
    whole, _ = TargetLists.joined([inner, outer])
    return dict(zip(REPORT, whole.sorted().packed(told.summary), strict=True))


def _places_above(view: View, told: Told) -> Floats:
    """Where the parents are, (A, 2); for who has none, where some in-neighbour is."""
    return np.asarray(view.heard[np.arange(len(view.agents)), told.family.slots[view.agents]])


def _not_known_above(view: View, told: Told, known: TargetLists) -> TargetLists:
    """What the parents do not see, and are not told by those to whom the child listens, too."""
    assert view.received is not None
    assert told.sight is not None
    rows = known.owners
    apart = known.points - _places_above(view, told)[rows]
    beyond = apart[:, 0] * apart[:, 0] + apart[:, 1] * apart[:, 1] > told.sight * told.sight
    reports = told.family.parents[view.agents] >= 0
    return known.where(reports[rows] & beyond & ~_named_in(known, view.received.told))


def _perhaps_above(view: View, told: Told, outer: TargetLists) -> Flags:
    """Which points (L,) may be in the parent's triangle: those on its side of the edge that the two have in common."""
    rows, slots = outer.owners, told.family.slots[view.agents]
    everybody = np.arange(len(slots))
    start, end = view.heard[everybody, slots - 2], view.heard[everybody, slots - 1]
    along, parent = end - start, _places_above(view, told) - start
    turn = along[:, 0] * parent[:, 1] - along[:, 1] * parent[:, 0]
    away = outer.points - start[rows]
    turns = along[rows, 0] * away[:, 1] - along[rows, 1] * away[:, 0]
    return np.asarray(np.sign(turns) * np.sign(turn)[rows] >= 0)


def numbers_in(told: Told, agents: NDArray[np.int64], tells: TargetLists, memory: Memory) -> NDArray[np.int64]:
    """How many numbers agents (A,) send in a step in which they tell this."""
    family = told.family
    counts = PER_POSITION + PER_POINT * np.where(family.heard[agents], np.diff(tells.offsets), 0)
    if told.summary is None:
        return np.asarray(counts)
    points = (memory["report_names"] != EMPTY).sum(axis=1)
    if told.summary == "sums":
        points = np.ones(len(agents), np.int64)  # nothing is a message, too
    return np.asarray(counts + PER_POINT * np.where(family.parents[agents] >= 0, points, 0))


def _most_told(told: Told) -> int:
    """How many points an agent tells at most."""
    return min(_TELLS * told.summary, told.recall) if isinstance(told.summary, int) else told.recall


def _width(told: Told) -> int:
    return told.summary if isinstance(told.summary, int) else 1


def _named_in(lists: TargetLists, others: TargetLists) -> Flags:
    """Which points (L,) have a name that is in the other list of the same agent."""
    keys, known = (part.owners << 32 | part.names for part in (lists, others))
    return np.isin(keys, known) & (lists.names >= 0)
