"""Convex hull in space by Quickhull (Barber, Dobkin and Huhdanpaa), with exact signs instead of tolerances.

Facets are triangles whose corners turn so that the hull is on their inner, positive side. Each facet keeps a list of
points outside it. The farthest of these becomes the apex of a cone: all facets that it sees are removed, and the
edges around them, the horizon, are joined to it.

A facet is removed also when the apex lies on its plane. So the vertices are the extreme points alone, and no facet is
flat. It is safe: moving the apex outwards by a hair makes it see exactly the facets that it saw at least weakly, so
what is removed is a disc, and a point that saw a removed facet and is still outside sees a facet of the cone.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel, typed
from tricover.geometry._predicates import orient3d

__all__ = ["quickhull"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

_FIRST = typed(0)  # facet
_REMOVED = -2  # in place of the first point outside a facet; -1 stands for none


class _Surface(NamedTuple):
    """The hull so far, in arrays that have room for more facets."""

    facets: Ints
    """(R, 3) corners."""
    across: Ints
    """(R, 3) the facet behind the edge that lacks each corner."""
    heads: Ints
    """(R, 1) the first point on the facet's list, or -1, or that it was removed."""
    marks: Ints
    """(R, 1) the last apex that saw the facet, by its number in turn."""


@kernel
def _side(points: Floats, facet: Ints, i: int) -> float:
    """Positive if point i is on the inner side of the facet, negative if outside, zero on its plane."""
    return orient3d(points[facet[0]], points[facet[1]], points[facet[2]], points[i])


@kernel
def _roomy(array: Ints, length: int) -> Ints:
    """The same rows, with room for at least ``length`` of them."""
    if length <= len(array):
        return array
    longer = np.empty((2 * length, array.shape[1]), np.int32)
    for row in range(len(array)):
        for column in range(array.shape[1]):
            longer[row, column] = array[row, column]
    return longer


@kernel
def _with_room(surface: _Surface, length: int) -> _Surface:
    """The same surface, with room for at least ``length`` facets."""
    facets, across, heads, marks = surface
    return _Surface(_roomy(facets, length), _roomy(across, length), _roomy(heads, length), _roomy(marks, length))


@kernel
def _tetrahedron(points: Floats, first: Ints, surface: _Surface) -> None:
    """The four facets of the first simplex; facet k lacks corner k."""
    facets, across, _, _ = surface
    for k in range(4):
        for corner in range(3):
            facets[k, corner] = first[(k + 1 + corner) % 4]
            across[k, corner] = (k + 1 + corner) % 4
        if _side(points, facets[k], first[k]) < 0.0:  # two corners change places, so that it turns the other way
            facets[k, 1], facets[k, 2] = facets[k, 2], facets[k, 1]
            across[k, 1], across[k, 2] = across[k, 2], across[k, 1]


@kernel
def _hand_to(points: Floats, facets: Ints, heads: Ints, following: Ints, i: int, start: int, stop: int) -> None:
    """Put point i on the list of the first facet from start to stop that it is outside of, if any.

    Takes plain arrays: it is called for each point of each cone.
    """
    for f in range(start, stop):
        if _side(points, facets[f], i) < 0.0:
            following[i] = heads[f, 0]
            heads[f, 0] = i
            return


@kernel
def _farthest(points: Floats, facet: Ints, head: int, following: Ints) -> int:
    """The point on a facet's list that is farthest from its plane."""
    apex, i, most = head, head, 0.0
    while i >= 0:
        distance = -_side(points, facet, i)
        if distance > most:
            most, apex = distance, i
        i = following[i]
    return apex


@kernel
def _mark_seen(points: Floats, surface: _Surface, mark: int, start: int, apex: int, seen: Ints) -> int:
    """Collect in ``seen`` the facets that the apex sees or lies on, from neighbour to neighbour; returns how many."""
    facets, across, _, marks = surface
    seen[0] = start
    marks[start, 0] = mark
    count, done = 1, 0
    while done < count:  # ``seen`` is the queue as well
        for k in range(3):
            g = across[seen[done], k]
            if marks[g, 0] != mark and _side(points, facets[g], apex) <= 0.0:
                marks[g, 0] = mark
                seen[count] = g
                count += 1
        done += 1
    return count


@kernel
def _join_horizon(surface: _Surface, mark: int, seen: Ints, apex: int, begins: Ints, count: int) -> int:
    """Append the cone from the horizon of the seen facets to the apex; returns the new number of facets.

    ``begins`` (N,) is scratch: the new facet whose horizon edge begins in each point.
    """
    facets, across, heads, marks = surface
    first = count
    # A facet for every edge between one that is seen and one that is not.
    for f in seen:
        for k in range(3):
            g = across[f, k]
            if marks[g, 0] == mark:
                continue
            u, v = facets[f, (k + 1) % 3], facets[f, (k + 2) % 3]
            facets[count, 0], facets[count, 1], facets[count, 2] = u, v, apex
            across[count, 2] = g
            for slot in range(3):
                if facets[g, slot] != u and facets[g, slot] != v:
                    across[g, slot] = count
            heads[count, 0], marks[count, 0] = -1, -1
            begins[u] = count
            count += 1
    # The horizon is a closed walk: the next facet begins where this one's edge ends.
    for f in range(first, count):
        after = begins[facets[f, 1]]
        across[f, 0], across[after, 1] = after, f
    return count


@kernel
def quickhull(points: Floats, first: Ints) -> Ints:
    """Facets (F, 3) of the convex hull of points (N, 3), from four points ``first`` that span a volume."""
    facets, across = np.empty((64, 3), np.int32), np.empty((64, 3), np.int32)
    heads, marks = np.full((64, 1), -1, np.int32), np.full((64, 1), -1, np.int32)
    surface = _Surface(facets, across, heads, marks)
    following, begins = np.full(len(points), -1, np.int32), np.empty(len(points), np.int32)
    _tetrahedron(points, first, surface)
    count, start, mark = len(first), _FIRST, 0
    for i in range(len(points)):
        _hand_to(points, facets, heads, following, i, start, count)
    # Facets in the order in which they were made; new ones come at the end, so their turn comes too.
    while start < count:
        head = heads[start, 0]
        if head < 0:
            start += 1
            continue
        mark += 1
        apex = _farthest(points, facets[start], head, following)
        seen = np.empty(count, np.int32)
        seen = seen[: _mark_seen(points, surface, mark, start, apex, seen)]
        # A disc of triangles has at most two more edges around it.
        surface = _with_room(surface, count + len(seen) + 2)
        facets, _, heads, _ = surface
        old = count
        count = _join_horizon(surface, mark, seen, apex, begins, count)
        # Points of the removed facets go to the new ones, or are inside now.
        for gone in seen:
            i = heads[gone, 0]
            heads[gone, 0] = _REMOVED
            while i >= 0:
                after = following[i]
                if i != apex:
                    _hand_to(points, facets, heads, following, i, old, count)
                i = after
    kept = 0
    for f in range(count):
        if heads[f, 0] != _REMOVED:
            for corner in range(3):
                facets[kept, corner] = facets[f, corner]
            kept += 1
    return facets[:kept]
