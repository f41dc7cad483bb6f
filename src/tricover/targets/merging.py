"""Lists of weighted points with fewer points: groups that are close together become one point each.

A group keeps its weight Σw and its centroid Σw·x/Σw, up to rounding. So sums over all points of a list do not change,
and with them the centroid. Groups are compact: the group with the largest scatter Σw·|x - centroid|² is cut in two at
its centroid, across its wider axis, until there are as many as allowed. What comes out depends on the points alone and
not on the order in which they came. A group of one point is that point, with its name.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.targets._kernels import hold_each
from tricover.targets._merging import Groups, merge_all
from tricover.targets.lists import NAMELESS, TargetLists
from tricover.threads import in_ranges

__all__ = ["inside", "merged"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


def inside(lists: TargetLists, triangles: Floats) -> Flags:
    """Which points (L,) of the lists are in the closed triangles (A, 3, 2) of their agents, exactly."""
    rows, points = lists.owners, lists.points
    found = np.empty(len(rows), np.bool_)
    in_ranges(lambda first, last: hold_each(triangles, rows, points, first, last, found), len(rows))
    return found


def merged(lists: TargetLists, most: int | Ints) -> TargetLists:
    """The lists with at most so many points each, one number for all or (A,), sorted.

    A list that has no more keeps all of them.

    >>> points = np.array([[0.0, 0.0], [0.0, 1.0], [9.0, 0.0]])
    >>> lists = TargetLists.of(np.array([3]), np.arange(3), points, np.ones(3), np.zeros(3, bool))
    >>> fewer = merged(lists, 2)
    >>> fewer.names.tolist(), fewer.points.tolist(), fewer.weights.tolist()
    ([-1, 2], [[0.0, 0.5], [9.0, 0.0]], [2.0, 1.0])
    """
    lists = lists.sorted()
    limits = np.broadcast_to(most, len(lists))
    long = np.diff(lists.offsets) > limits
    if not long.any():
        return lists
    kept = lists.where(~long[lists.owners])
    return TargetLists.joined([kept, _grouped(lists.where(long[lists.owners]), limits)])[0].sorted()


def _grouped(lists: TargetLists, limits: Ints) -> TargetLists:
    """Every list as groups, at most so many, (A,)."""
    shape = (len(lists), int(limits.max()))
    lone = np.full(shape, -1)
    groups = Groups(np.zeros(shape, np.int64), lone, np.zeros((*shape, 2)), np.zeros(shape))
    work = lists.offsets, np.ascontiguousarray(lists.points), lists.weights, np.ascontiguousarray(limits)
    in_ranges(lambda first, last: merge_all(*work, first, last, groups), len(lists), smallest=16)
    there = groups.members > 0
    alone = lone[there]
    names = np.where(alone >= 0, lists.names[alone], NAMELESS)
    # A single point is itself, to the bit.
    points = np.where((alone >= 0)[:, None], lists.points[alone], groups.points[there])
    weights = np.where(alone >= 0, lists.weights[alone], groups.weights[there])
    fresh = (alone >= 0) & lists.fresh[alone]
    return TargetLists.of(there.sum(axis=1), names, points, weights, fresh)
