"""What agents tell each other of targets, where they see only so far.

In each step an agent sends two messages besides its position. Each is a list of weighted points, with the names of
those that have one, and a mark for those that somebody sees in this very step:

- to all who listen to it, what it *tells*: the targets that it knows by itself (``recall``), those nearest to it first
  and at most K, if a summary of K points was asked for; else all that it can remember;
- to its parent its *report* (see ``family``): what it knew a step ago in its triangle. So reports go up a layer a step.

A report has at most K points: ``targets.merging`` makes them fewer, and those that stand for several have no name.
These cannot be told apart from others, so the sender leaves out what the parent knows anyway: what is in the parent's
sight (it hears where the parent is, and knows how far it sees), and all that its in-neighbours told it by name. These are the
parent, and two of those whom the parent listens to.

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
from tricover.targets import TargetLists
from tricover.targets.lists import EMPTY
from tricover.targets.merging import merged

__all__ = ["REPORT", "next_report", "nothing_reported", "numbers_in", "report", "tell", "told_of_own"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

REPORT = ("report_names", "report_points", "report_weights", "report_fresh")
PER_POSITION, PER_POINT = 2, 3
"""Numbers in a message: x and y; x, y and weight. Names and marks are not counted."""


def tell(view: View, told: Told, memory: Memory) -> TargetLists:
    """What agents tell all who listen to them; ``view`` needs what they see, and not yet what they received."""
    own = known_by_itself(view, told, memory)
    return own.where(told_of_own(own, view.positions, told))


def told_of_own(own: TargetLists, positions: Floats, told: Told) -> Flags:
    """Which points (L,) of what they know by themselves agents at positions (A, 2) tell."""
    return nearest(own, positions, told.summary if isinstance(told.summary, int) else told.recall)


def report(told: Told, memory: Memory) -> TargetLists:
    """What agents report to their parents."""
    if told.summary is None:
        raise ValueError("without a summary nobody reports")
    return TargetLists.unpacked(*(memory[name] for name in REPORT))


def nothing_reported(told: Told, agents: int) -> Arrays:
    """What so many agents have to report before they know anything."""
    if told.summary is None:
        return {}
    return dict(zip(REPORT, TargetLists.empty(agents).packed(_width(told)), strict=True))


def next_report(view: View, told: Told, known: TargetLists) -> Arrays:
    """What agents report in the next step, of what they know now."""
    assert isinstance(told.summary, int)
    assert view.received is not None
    assert told.sight is not None
    family = told.family
    parents = family.parents[view.agents]
    places = view.heard[np.arange(len(parents)), family.slots[view.agents]]
    rows = known.owners
    apart = known.points - places[rows]
    beyond = apart[:, 0] * apart[:, 0] + apart[:, 1] * apart[:, 1] > told.sight * told.sight
    wanted = (parents[rows] >= 0) & beyond & ~_named_in(known, view.received.told)
    return dict(zip(REPORT, merged(known.where(wanted), told.summary).packed(_width(told)), strict=True))


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


def _width(told: Told) -> int:
    return told.summary if isinstance(told.summary, int) else 1


def _named_in(lists: TargetLists, others: TargetLists) -> Flags:
    """Which points (L,) have a name that is in the other list of the same agent."""
    keys, known = (part.owners << 32 | part.names for part in (lists, others))
    return np.isin(keys, known) & (lists.names >= 0)
