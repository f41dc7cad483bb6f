"""What an agent has seen itself: what it sees now, and what it remembers.

What was seen is remembered until it is seen to be gone: until its remembered place is in sight and it is not seen
there. A target that is seen again is where it is seen now. So an agent *knows by itself* the targets in sight, and
those remembered ones whose places are out of sight. There is room for C points:

    recalled_names    (A, C)     numbers of the targets; -1 a point that stands for several, -2 no point
    recalled_points   (A, C, 2)  where they were seen last, in metres
    recalled_weights  (A, C)     how much they count

If there are more, those nearest to the agent keep their names. All others are merged into C/16 points without a name
(``targets.merging``: weight and centroid are kept). Such a point is forgotten as soon as its place is in sight: then
the agent sees for itself what is there.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tricover.control.rows import Memory
from tricover.control.told import Told
from tricover.control.view import View
from tricover.targets import TargetLists
from tricover.targets.lists import EMPTY, NAMELESS
from tricover.targets.merging import merged

__all__ = ["RECALLED", "first_of_each", "known_by_itself", "nearest", "nothing_seen", "recalled"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Arrays: TypeAlias = dict[str, NDArray[Any]]

RECALLED = ("recalled_names", "recalled_points", "recalled_weights")
_PER_GROUP = 16  # of the room for points, one place for a group without a name


def nothing_seen(told: Told, agents: int) -> Arrays:
    """What so many agents remember before they have seen anything."""
    shape = agents, told.recall
    return {
        "recalled_names": np.full(shape, EMPTY, np.int32),
        "recalled_points": np.zeros((*shape, 2)),
        "recalled_weights": np.zeros(shape),
    }


def known_by_itself(view: View, told: Told, memory: Memory) -> TargetLists:
    """What agents see now, and what they remember of what is out of sight."""
    assert isinstance(view.seen, TargetLists)
    assert told.sight is not None
    names, points, weights = (memory[name] for name in RECALLED)
    # Whatever is remembered was seen before; what is in sight now is seen, or it is gone.
    before = TargetLists.unpacked(names, points, weights, np.zeros(names.shape, np.bool_))
    apart = before.points - view.positions[before.owners]
    beyond = apart[:, 0] * apart[:, 0] + apart[:, 1] * apart[:, 1] > told.sight * told.sight
    own, _ = TargetLists.joined([view.seen, before.where(beyond)])
    return own.where(first_of_each(own, ~own.fresh))


def recalled(own: TargetLists, positions: Floats, room: int) -> Arrays:
    """What agents at positions (A, 2) remember of what they know by themselves, in their order or in a fixed one."""
    crowded = np.diff(own.offsets) > room
    if crowded.any():
        groups = max(room // _PER_GROUP, 1)
        close = nearest(own, positions, room - groups) | ~crowded[own.owners]
        far = own.where(~close)
        own, _ = TargetLists.joined([own.where(close), merged(far, groups)])
    order = np.lexsort((own.points[:, 1], own.points[:, 0], own.names, own.owners))
    own = TargetLists(own.offsets, own.names[order], own.points[order], own.weights[order], own.fresh[order])
    return dict(zip(RECALLED, own.packed(room)[:3], strict=True))


def nearest(lists: TargetLists, positions: Floats, most: int) -> Flags:
    """Which points (L,) are among so many named ones that are nearest to their agents; of equals the lower names."""
    rows = lists.owners
    apart = lists.points - positions[rows]
    distances = apart[:, 0] * apart[:, 0] + apart[:, 1] * apart[:, 1]
    order = np.lexsort((lists.names, distances, lists.names == NAMELESS, rows))
    ranks = np.empty(len(rows), np.int64)
    ranks[order] = np.arange(len(rows)) - lists.offsets[rows[order]]
    return np.asarray((ranks < most) & (lists.names != NAMELESS))


def first_of_each(lists: TargetLists, priorities: NDArray[Any]) -> Flags:
    """Which points (L,) to keep so that each list has a target once: the one with the least priority.

    Of equal ones the first is kept, and points without a name are all kept.
    """
    rows, names = lists.owners, lists.names
    order = np.lexsort((priorities, names, rows))
    again = np.zeros(len(rows), np.bool_)
    again[1:] = (rows[order][1:] == rows[order][:-1]) & (names[order][1:] == names[order][:-1])
    kept = np.empty(len(rows), np.bool_)
    kept[order] = ~again | (names[order] == NAMELESS)
    return kept
