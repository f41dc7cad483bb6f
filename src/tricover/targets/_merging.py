"""Kernel that merges weighted points: the group with the largest scatter is cut in two, until there are enough."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel

__all__ = ["Groups", "merge_all"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class Groups(NamedTuple):
    """Results: groups (A, K) of each list."""

    members: Indices
    """(A, K): how many points a group has; 0: there is no such group."""
    lone: Indices
    """(A, K): the point of a group that has one alone, as a place in the table; else -1."""
    points: Floats
    """(A, K, 2): centroids."""
    weights: Floats
    """(A, K)"""


@kernel
def _measure(points: Floats, weights: Floats, order: Indices, first: int, last: int, about: Floats) -> None:
    """Weight, centroid and scatter of a group: Σw, its centroid, Σw·|x - centroid|² per axis; written to ``about``."""
    total, count = 0.0, last - first
    middle_x, middle_y, sum_x, sum_y = 0.0, 0.0, 0.0, 0.0
    for k in range(first, last):
        j = order[k]
        total += weights[j]
        sum_x += weights[j] * points[j, 0]
        sum_y += weights[j] * points[j, 1]
        middle_x += points[j, 0] / count
        middle_y += points[j, 1] / count
    if total > 0.0:  # points without weight have their plain mean
        middle_x, middle_y = sum_x / total, sum_y / total
    wide, high = 0.0, 0.0
    for k in range(first, last):
        j = order[k]
        wide += weights[j] * (points[j, 0] - middle_x) ** 2
        high += weights[j] * (points[j, 1] - middle_y) ** 2
    about[0], about[1], about[2], about[3], about[4] = total, middle_x, middle_y, wide, high


@kernel
def _cut(points: Floats, order: Indices, first: int, last: int, axis: int, middle: float, spare: Indices) -> int:
    """Put the points of a group that are before the middle first; returns where the others begin.

    Neither part is empty unless all are at one place along the axis. Points keep their order within each part.
    """
    least, most = np.inf, -np.inf
    for k in range(first, last):
        least, most = min(least, points[order[k], axis]), max(most, points[order[k], axis])
    limit = min(max(middle, least), most)  # rounding may have put it beyond
    front, back = first, 0
    for k in range(first, last):
        j = order[k]
        if points[j, axis] < limit or (points[j, axis] == limit and limit < most):
            order[front] = j
            front += 1
        else:
            spare[back] = j
            back += 1
    for k in range(back):
        order[front + k] = spare[k]
    return front


@kernel
def merge_all(
    offsets: Indices, points: Floats, weights: Floats, limits: Indices, first: int, last: int, groups: Groups
) -> None:
    """Merge the lists first … last down to at most so many points each, (A,)."""
    longest, largest = 0, 1
    for row in range(first, last):
        longest, largest = max(longest, offsets[row + 1] - offsets[row]), max(largest, limits[row])
    order, spare = np.empty(longest, np.int64), np.empty(longest, np.int64)
    spans, about = np.empty((largest, 2), np.int64), np.empty((largest, 5))
    for row in range(first, last):
        count = offsets[row + 1] - offsets[row]
        if count == 0:
            continue
        for k in range(count):
            order[k] = offsets[row] + k
        spans[0, 0], spans[0, 1] = 0, count
        _measure(points, weights, order, 0, count, about[0])
        found = 1
        while found < limits[row]:
            # The group with the largest scatter is next; the first of equals.
            worst, scatter = -1, 0.0
            for group in range(found):
                if about[group, 3] + about[group, 4] > scatter:
                    worst, scatter = group, about[group, 3] + about[group, 4]
            if worst < 0:
                break
            start, stop = spans[worst, 0], spans[worst, 1]
            axis = 0 if about[worst, 3] >= about[worst, 4] else 1
            middle = _cut(points, order, start, stop, axis, about[worst, 1 + axis], spare)
            if middle in (start, stop):
                about[worst, 3] = about[worst, 4] = 0.0  # rounding alone made it wide
                continue
            spans[worst, 1] = middle
            spans[found, 0], spans[found, 1] = middle, stop
            _measure(points, weights, order, start, middle, about[worst])
            _measure(points, weights, order, middle, stop, about[found])
            found += 1
        for group in range(found):
            start, stop = spans[group, 0], spans[group, 1]
            groups.members[row, group] = stop - start
            groups.lone[row, group] = order[start] if stop - start == 1 else -1
            groups.weights[row, group] = about[group, 0]
            groups.points[row, group, 0], groups.points[row, group, 1] = about[group, 1], about[group, 2]
