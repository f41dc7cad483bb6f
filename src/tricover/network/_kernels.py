"""Compiled kernels of Algorithm 1: choose the mentee of a cell, hand its other members to the child cells, go on.

A cell is a row of corner agents, positively oriented, and a slice of the members' arrays, in which members ascend.
Child k is the cell with corner k replaced by the mentee μ. Member x belongs to the child whose ratio λ_k(x)/λ_k(μ) is
least. Two ratios compare by one orientation sign,

    λ_b(x) λ_j(μ) - λ_j(x) λ_b(μ) = det(cell with corner b replaced by x and corner j by μ) / det(cell),

and signs are exact, so nobody is lost and nobody is placed twice. As a function of x that determinant is a plane
through μ, normal·(x - μ); ``planes`` (n+1, n+1, 2n+1) holds for each pair b < j the normal, the absolute size of its
terms, and an offset of +∞ or -∞ that rules out child b or j where it is flat.

Members alternate between two buffers from layer to layer; the dead are marked by the complement of their index.

``axes`` is a tuple of length n. Its length is part of its type, so that the compiler knows the dimension.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import inlined, kernel
from tricover.geometry._predicates import exact_orientation, orient2d, orient3d
from tricover.network.mentees import balanced, fermat

__all__ = ["Links", "Members", "Room", "Span", "Stack", "cut", "descend", "grow", "label", "nearest", "place"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Indices = NDArray[np.int64]
Labels = NDArray[np.int8]
Axes = tuple[int, ...]

_FILTER = 8e-16  # covers the rounding of planar and spatial determinants
_UNDERFLOW = 1e-280
_UNSURE = 8  # added to a label that rounding could have changed


class Members(NamedTuple):
    """All members of all cells; a cell has a slice of one of the two buffers."""

    ids: Ints
    """(2, S) agents; the complement for the dead."""
    places: Floats
    """(2, n, S) their coordinates, axis by axis, so that loops over members become vectors."""
    labels: Labels
    """(S,) the child that each member goes to."""
    scores: Floats
    """(S,) by the mentee rule."""


class Stack(NamedTuple):
    """Cells that wait to be handled."""

    cells: Ints
    """(K, n+1) corner agents."""
    spans: Indices
    """(K, 4) start, stop, buffer and layer of each."""


class Links(NamedTuple):
    """The network that is built."""

    in_neighbors: Ints
    """(N, n+1)"""
    layer: Ints
    """(N,)"""
    descendants: Ints
    """(N, n+1) living agents below each child."""


class Room(NamedTuple):
    """Arrays to work in, for one cell at a time."""

    corners: Floats
    """(n+1, n) the cell."""
    planes: Floats
    """(n+1, n+1, 2n+1)"""
    sizes: Indices
    """(3, n+1) of each child: where it starts, how many members it has, and how many of them live."""


class Span(NamedTuple):
    """A cell's members: start … stop of buffer ``side``."""

    side: int
    start: int
    stop: int


@kernel
def _is_flat(axes: Axes, corners: Floats, mentee: Floats, k: int) -> bool:
    """Whether the child that replaces corner k by the mentee has no volume."""
    if len(axes) == 2:
        a, b = corners[(k + 1) % 3], corners[(k + 2) % 3]
        return orient2d(a[0], a[1], b[0], b[1], mentee[0], mentee[1]) == 0.0
    return orient3d(corners[(k + 1) % 4], corners[(k + 2) % 4], corners[(k + 3) % 4], mentee) == 0.0


@kernel
def _plane(axes: Axes, corners: Floats, mentee: Floats, b: int, j: int, plane: Floats) -> None:
    """Normal of det(cell; b → x, j → mentee) as a function of x, and the absolute size of its terms."""
    n = len(axes)
    sign = 1.0 if j == n else -1.0  # the mentee is moved to the last row, where a determinant takes its origin
    if n == 2:
        row = corners[n if j < n else 1 - b]
        flip = sign if b == 0 else -sign
        plane[0] = flip * (row[1] - mentee[1])
        plane[1] = -flip * (row[0] - mentee[0])
        plane[2], plane[3] = abs(plane[0]), abs(plane[1])
    else:
        second, third = (b + 1) % n, (b + 2) % n
        p = corners[n if second == j else second]
        q = corners[n if third == j else third]
        for axis in range(n):
            u, v = (axis + 1) % n, (axis + 2) % n
            left = (p[u] - mentee[u]) * (q[v] - mentee[v])
            right = (p[v] - mentee[v]) * (q[u] - mentee[u])
            plane[axis] = sign * (left - right)
            plane[n + axis] = abs(left) + abs(right)


@kernel
def _set_planes(axes: Axes, corners: Floats, mentee: Floats, planes: Floats) -> None:
    """Planes of all pairs of children, with flat children ruled out."""
    for b in range(len(axes)):
        for j in range(b + 1, len(axes) + 1):
            _plane(axes, corners, mentee, b, j, planes[b, j])
            planes[b, j, -1] = 0.0
    for k in range(len(axes), -1, -1):  # downwards: where both are flat, the lower one is ruled out last
        if _is_flat(axes, corners, mentee, k):
            for b in range(k):
                planes[b, k, -1] = -np.inf
            for j in range(k + 1, len(axes) + 1):
                planes[k, j, -1] = np.inf


@kernel
def _child(axes: Axes, corners: Floats, mentee: Floats, planes: Floats, x: Floats) -> int:
    """The child that holds x: the least ratio, ties to the lowest; exact where rounding could matter."""
    n = len(axes)
    best = 0
    # The least so far against each of the others: n signs decide.
    for j in range(1, n + 1):
        value, size = planes[best, j, -1], _UNDERFLOW
        for axis in range(n):
            side = x[axis] - mentee[axis]
            value += planes[best, j, axis] * side
            size += _FILTER * planes[best, j, n + axis] * abs(side)
        if abs(value) <= size:  # rounding could have changed the sign
            cell = corners.copy()
            for axis in range(n):
                cell[best, axis] = x[axis]
                cell[j, axis] = mentee[axis]
            value = exact_orientation(cell)
        if value > 0.0:
            best = j
    return best


@kernel
def _label_plane(places: Floats, start: int, stop: int, mentee: Floats, planes: Floats, labels: Labels) -> None:
    """Children of all members in the plane, without branches so that the compiler makes vectors of it."""
    xs, ys = places[0], places[1]
    mx, my = mentee[0], mentee[1]
    ax, ay, au, av, a0 = planes[0, 1, 0], planes[0, 1, 1], planes[0, 1, 2], planes[0, 1, 3], planes[0, 1, 4]
    bx, by, bu, bv, b0 = planes[0, 2, 0], planes[0, 2, 1], planes[0, 2, 2], planes[0, 2, 3], planes[0, 2, 4]
    cx, cy, cu, cv, c0 = planes[1, 2, 0], planes[1, 2, 1], planes[1, 2, 2], planes[1, 2, 3], planes[1, 2, 4]
    for i in range(start, stop):
        x, y = xs[i] - mx, ys[i] - my
        u, v = _FILTER * abs(x), _FILTER * abs(y)
        first = ax * x + ay * y + a0
        from_0 = bx * x + by * y + b0
        from_1 = cx * x + cy * y + c0
        second = from_1 if first > 0.0 else from_0
        sure = (abs(first) > au * u + av * v + _UNDERFLOW) & (
            abs(second) > (cu * u + cv * v if first > 0.0 else bu * u + bv * v) + _UNDERFLOW
        )
        label = 2 if second > 0.0 else (1 if first > 0.0 else 0)
        labels[i] = label if sure else label + _UNSURE


@kernel
def label(axes: Axes, places: Floats, span: Span, chosen: int, corners: Floats, planes: Floats, labels: Labels) -> None:
    """Which child each member belongs to.

    This, ``_move`` and ``_mentee`` take plain arrays: most cells are small, and a tuple of arrays takes time to unpack.
    """
    _, start, stop = span
    n = len(axes)
    mentee, x = np.empty(n), np.empty(n)
    for axis in range(n):
        mentee[axis] = places[axis, chosen]
    _set_planes(axes, corners, mentee, planes)
    if n == 2:
        _label_plane(places, start, stop, mentee, planes, labels)
    # In the plane only those that rounding leaves in doubt are left; in space all.
    for i in range(start, stop):
        if i != chosen and (n == 3 or labels[i] >= _UNSURE):
            for axis in range(n):
                x[axis] = places[axis, i]
            labels[i] = _child(axes, corners, mentee, planes, x)


@kernel
def _move(axes: Axes, ids: Ints, places: Floats, span: Span, chosen: int, labels: Labels, sizes: Indices) -> None:
    """Move all members but the chosen one to the other buffer, child by child, in ascending order."""
    side, start, stop = span
    n = len(axes)
    sizes[:] = 0
    # A counting sort: how many go to each child, where each child starts, and then everybody there.
    for i in range(start, stop):
        if i != chosen:
            sizes[1, labels[i]] += 1
            sizes[2, labels[i]] += ids[side, i] >= 0
    sizes[0, 0] = start
    for k in range(n):
        sizes[0, k + 1] = sizes[0, k] + sizes[1, k]
    for i in range(start, stop):
        if i != chosen:
            to = sizes[0, labels[i]]
            sizes[0, labels[i]] = to + 1
            ids[1 - side, to] = ids[side, i]
            for axis in range(n):
                places[1 - side, axis, to] = places[side, axis, i]
    for k in range(n + 1):  # back from where each child ends to where it starts
        sizes[0, k] -= sizes[1, k]


@inlined
def place(axes: Axes, members: Members, stack: Stack, waiting: int, chosen: int, room: Room, links: Links) -> int:
    """Make the member at ``chosen`` the mentee of the cell on top of the stack, and put its children there instead.

    Larger children wait below smaller ones, so a stack grows by no more than n·log₂N. Returns its new height.
    ``room`` has the cell's corners. Compiled into ``grow``: one call per agent would cost a tenth of the time.
    """
    ids, places, labels, _ = members
    cells, spans = stack
    corners, planes, sizes = room
    in_neighbors, layer, descendants = links
    n = len(axes)
    top = waiting - 1
    start, stop, side, depth = spans[top, 0], spans[top, 1], spans[top, 2], spans[top, 3]
    mentee = ids[side, chosen]
    layer[mentee] = depth
    for k in range(n + 1):
        in_neighbors[mentee, k] = cells[top, k]
    if stop - start == 1:
        return top
    span = Span(side, start, stop)
    label(axes, places[side], span, chosen, corners, planes, labels)
    _move(axes, ids, places, span, chosen, labels, sizes)
    waiting = top
    for k in range(n + 1):
        descendants[mentee, k] = sizes[2, k]
    # The largest child that is left, n+1 times; one without a living member needs no cell.
    for _ in range(n + 1):
        k = 0
        for other in range(1, n + 1):
            if sizes[1, other] > sizes[1, k]:
                k = other
        if sizes[2, k] > 0:
            for other in range(n + 1):
                cells[waiting, other] = in_neighbors[mentee, other]
            cells[waiting, k] = mentee
            spans[waiting, 0], spans[waiting, 1] = sizes[0, k], sizes[0, k] + sizes[1, k]
            spans[waiting, 2], spans[waiting, 3] = 1 - side, depth + 1
            waiting += 1
        sizes[1, k] = -1
    return waiting


@kernel
def _mentee(axes: Axes, rule: int, ids: Ints, places: Floats, span: Span, corners: Floats, scores: Floats) -> int:
    """Position of the living member with the least score; ties go to the lowest index."""
    _, start, stop = span
    if stop - start == 1 or (rule == 1 and stop - start == 2):  # two members are equally far from their mean
        return start if ids[start] >= 0 else start + 1
    if rule == 0:
        slack = fermat.score(axes, places, start, stop, corners, scores)
    else:
        slack = balanced.score(axes, places, start, stop, corners, scores)
    # The best and the second best in floating point: mostly they are far enough apart.
    best, least, second = -1, np.inf, np.inf
    for i in range(start, stop):
        if scores[i] < second and ids[i] >= 0:
            if scores[i] < least:
                best, least, second = i, scores[i], least
            else:
                second = scores[i]
    if second > least + slack:
        return best
    # Otherwise an exact comparison of all that rounding could have made the best.
    best = stop  # none yet
    for i in range(start, stop):
        if scores[i] <= least + slack and ids[i] >= 0:
            if best == stop:
                best = i
            elif rule == 0:
                best = i if fermat.compare(axes, places, start, stop, i, best, corners) < 0.0 else best
            else:
                best = i if balanced.compare(axes, places, start, stop, i, best, corners) < 0.0 else best
    return best


@kernel
def grow(
    axes: Axes,
    rule: int,
    reference: Floats,
    members: Members,
    stack: Stack,
    waiting: int,
    budget: int,
    links: Links,
) -> int:
    """Work through a stack of cells until it is empty or about ``budget`` members were handled; returns its height."""
    ids, places, _, scores = members
    cells, spans = stack
    n = len(axes)
    corners, sizes = np.empty((n + 1, n)), np.empty((3, n + 1), np.int64)
    room = Room(corners, np.empty((n + 1, n + 1, 2 * n + 1)), sizes)
    while waiting > 0 and budget > 0:
        top = waiting - 1
        span = Span(spans[top, 2], spans[top, 0], spans[top, 1])
        budget -= span.stop - span.start
        for k in range(n + 1):
            for axis in range(n):
                corners[k, axis] = reference[cells[top, k], axis]
        chosen = _mentee(axes, rule, ids[span.side], places[span.side], span, corners, scores)
        waiting = place(axes, members, stack, waiting, chosen, room, links)
    return waiting


@kernel
def descend(axes: Axes, reference: Floats, in_neighbors: Ints, children: Ints, agents: Indices, at: Ints) -> None:
    """Follow each agent down to the deepest cell that holds it: ``at`` has a first mentee, or -1, and gets the last."""
    n = len(axes)
    corners, planes = np.empty((n + 1, n)), np.empty((n + 1, n + 1, 2 * n + 1))
    for position in range(len(agents)):
        x = reference[agents[position]]
        below = at[position]
        while below >= 0:
            at[position] = below
            mentee = reference[below]
            for k in range(n + 1):
                for axis in range(n):
                    corners[k, axis] = reference[in_neighbors[below, k], axis]
            _set_planes(axes, corners, mentee, planes)
            below = children[below, _child(axes, corners, mentee, planes, x)]


@kernel
def nearest(points: Floats, agents: Indices, place: Floats) -> int:
    """Position in ``agents`` of the one nearest to a place."""
    best, least = 0, np.inf
    for position in range(len(agents)):
        square = 0.0
        for axis in range(len(place)):
            side = points[agents[position], axis] - place[axis]
            square += side * side
        if square < least:
            best, least = position, square
    return best


@kernel
def cut(points: Floats, agents: Indices, bounds: Floats, agent: int, value: float, slope: Floats, limit: float) -> int:
    """Raise the lower bounds of a convex function by its tangent at one agent; keep, in front, those within the limit.

    Returns how many are kept; the agent itself is not.
    """
    count = 0
    for position in range(len(agents)):
        bound = value
        for axis in range(len(slope)):
            bound += (points[agents[position], axis] - points[agent, axis]) * slope[axis]
        bound = max(bound, bounds[position])
        if bound <= limit and agents[position] != agent:
            agents[count], bounds[count] = agents[position], bound
            count += 1
    return count
