"""Compiled kernels of the convex hull and of the search for the cone that holds a point."""

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel
from tricover.geometry._predicates import orient2d, orient3d

__all__ = ["extremes", "find_cones", "flat_cells", "keep_inside", "monotone_chain", "quickhull", "strictly_inside"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]


@kernel
def extremes(points: Floats, directions: Floats) -> NDArray[np.int64]:
    """The farthest point along each direction (K, 2), and against it: (2K,)."""
    count = len(directions)
    found = np.zeros(2 * count, np.int64)
    heights = np.full(2 * count, -np.inf)
    for i in range(len(points)):
        for k in range(count):
            height = points[i, 0] * directions[k, 0] + points[i, 1] * directions[k, 1]
            if height > heights[k]:
                heights[k], found[k] = height, i
            if -height > heights[count + k]:
                heights[count + k], found[count + k] = -height, i
    return found


@kernel
def strictly_inside(points: Floats, polygon: Floats, start: int, stop: int, inside: Flags) -> None:
    """Mark the points start … stop that lie strictly inside a counter-clockwise polygon (C, 2)."""
    corners = len(polygon)
    for i in range(start, stop):
        x, y = points[i, 0], points[i, 1]
        inside[i] = True
        for k in range(corners):
            a = polygon[k]
            b = polygon[(k + 1) % corners]
            if orient2d(a[0], a[1], b[0], b[1], x, y) <= 0.0:
                inside[i] = False
                break


@kernel
def monotone_chain(points: Floats, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Hull vertices, counter-clockwise, of points in lexicographic order (Andrew); points on edges are left out."""
    count = len(order)
    hull = np.empty(2 * count, np.int64)
    size = 0
    for half in range(2):
        floor = size + 1
        for step in range(1 if half else 0, count):
            i = order[count - 1 - step] if half else order[step]
            while size > floor - half:
                a, b = points[hull[size - 2]], points[hull[size - 1]]
                if orient2d(a[0], a[1], b[0], b[1], points[i, 0], points[i, 1]) > 0.0:
                    break
                size -= 1
            hull[size] = i
            size += 1
    return hull[: size - 1]


@kernel
def _side(points: Floats, facet: Ints, i: int) -> float:
    """Positive if point i is on the inner side of the facet, negative if outside, zero on its plane."""
    return orient3d(points[facet[0]], points[facet[1]], points[facet[2]], points[i])


@kernel
def _longer(array: Ints, length: int) -> Ints:
    """The same rows with room for at least ``length`` of them."""
    if length <= len(array):
        return array
    grown = np.empty((2 * length, array.shape[1]), np.int32)
    grown[: len(array)] = array
    return grown


@kernel
def quickhull(points: Floats, first: Ints) -> Ints:
    """Facets (F, 3) of the convex hull of points in space, from a first tetrahedron with positive orientation.

    Exact: a facet is removed when the new point sees it or lies on its plane, so that the vertices are the extreme
    points alone and no facet is flat. Why this is safe: moving the new point outwards by a hair makes it see exactly
    the facets that it saw weakly, so what is removed is a disc. Corners of a facet turn so that the hull is on its
    inner side.
    """
    facets = np.empty((64, 3), np.int32)
    across = np.empty((64, 3), np.int32)  # across[f, k]: the facet behind the edge opposite corner k
    heads = np.full((64, 1), -1, np.int32)  # first point outside each facet; -2 for a facet that was removed
    following = np.full(len(points), -1, np.int32)
    for k in range(4):
        facets[k] = np.array([first[(k + 1) % 4], first[(k + 2) % 4], first[(k + 3) % 4]], np.int32)
        if _side(points, facets[k], first[k]) < 0.0:
            facets[k, 1], facets[k, 2] = facets[k, 2], facets[k, 1]
        for corner in range(3):
            for other in range(4):
                if first[other] == facets[k, corner]:
                    across[k, corner] = other
    for i in range(len(points)):
        for k in range(4):
            if _side(points, facets[k], i) < 0.0:
                following[i] = heads[k, 0]
                heads[k, 0] = i
                break
    count = 4
    seen = np.full((64, 1), -1, np.int32)  # the round in which a facet was last visited, negative if not removed then
    facet_from = np.full(len(points), -1, np.int32)
    stack = [np.int32(k) for k in range(4)]
    rounds = np.int32(0)
    while len(stack) > 0:
        start = stack.pop()
        if heads[start, 0] < 0:
            continue
        rounds += np.int32(1)
        apex = i = heads[start, 0]
        farthest = 0.0
        while i >= 0:
            distance = -_side(points, facets[start], i)
            if distance > farthest:
                farthest, apex = distance, i
            i = following[i]
        removed = [start]  # then all that the apex sees, on from neighbour to neighbour
        seen = _longer(seen, count)
        seen[start, 0] = rounds
        old_count = count
        next_up = 0
        while next_up < len(removed):
            f = removed[next_up]
            next_up += 1
            for k in range(3):
                g = across[f, k]
                if seen[g, 0] == rounds:
                    continue
                if _side(points, facets[g], apex) <= 0.0:
                    seen[g, 0] = rounds
                    removed.append(g)
        for f in removed:
            for k in range(3):
                g = across[f, k]
                if seen[g, 0] == rounds:
                    continue
                facets, across, heads = (
                    _longer(facets, count + 1),
                    _longer(across, count + 1),
                    _longer(heads, count + 1),
                )
                u, v = facets[f, (k + 1) % 3], facets[f, (k + 2) % 3]
                facets[count] = np.array([u, v, apex], np.int32)
                across[count, 2] = g
                for slot in range(3):
                    if across[g, slot] == f and facets[g, slot] != u and facets[g, slot] != v:
                        across[g, slot] = count
                heads[count, 0] = -1
                facet_from[u] = count
                count += 1
        for new in range(old_count, count):
            neighbour = facet_from[facets[new, 1]]
            across[new, 0] = neighbour
            across[neighbour, 1] = new
        seen = _longer(seen, count)
        for new in range(old_count, count):
            seen[new, 0] = -1
        for f in removed:
            i = heads[f, 0]
            heads[f, 0] = -2
            while i >= 0:
                after = following[i]
                if i != apex:
                    for new in range(old_count, count):
                        if _side(points, facets[new], i) < 0.0:
                            following[i] = heads[new, 0]
                            heads[new, 0] = i
                            break
                i = after
        for new in range(old_count, count):
            if heads[new, 0] >= 0:
                stack.append(np.int32(new))
    kept = np.empty((count, 3), np.int32)
    size = 0
    for row in range(count):
        if heads[row, 0] != -2:
            kept[size] = facets[row]
            size += 1
    return kept[:size]


@kernel
def _weight_sign(points: Floats, facet: Ints, apex: int, k: int, i: int) -> float:
    """Sign of barycentric coordinate k of point i in the cell of a facet and the apex, which turns positively."""
    if points.shape[1] == 2:
        a = points[i] if k == 0 else points[facet[0]]
        b = points[i] if k == 1 else points[facet[1]]
        c = points[apex]
        return orient2d(a[0], a[1], b[0], b[1], c[0], c[1])
    return orient3d(
        points[i] if k == 0 else points[facet[0]],
        points[i] if k == 1 else points[facet[1]],
        points[i] if k == 2 else points[facet[2]],
        points[apex],
    )


@kernel
def flat_cells(points: Floats, facets: Ints, apex: int) -> Flags:
    """Which facets have the apex on their own line or plane."""
    is_flat = np.empty(len(facets), np.bool_)
    for f in range(len(facets)):
        is_flat[f] = _weight_sign(points, facets[f], apex, 0, facets[f, 0]) == 0.0
    return is_flat


@kernel
def keep_inside(points: Floats, facets: Ints, agents: NDArray[np.int64], inside: Flags) -> None:
    """Clear the flag of every agent that lies beyond one of the facets."""
    for position in range(len(agents)):
        for f in range(len(facets)):
            if _weight_sign(points, facets[f], agents[position], 0, facets[f, 0]) < 0.0:
                inside[position] = False
                break


@kernel
def _lowest_cone(points: Floats, facets: Ints, is_flat: Flags, apex: int, i: int) -> int:
    for f in range(len(facets)):
        if not is_flat[f]:
            holds = True
            for k in range(facets.shape[1]):
                holds = holds and _weight_sign(points, facets[f], apex, k, i) >= 0.0
            if holds:
                return f
    return -1


@kernel
def find_cones(
    points: Floats,
    facets: Ints,
    across: Ints,
    is_flat: Flags,
    gradients: Floats,
    apex: int,
    agents: NDArray[np.int64],
    start: int,
    stop: int,
    cones: Ints,
) -> None:
    """For agents[start:stop]: the facet whose cone from the apex holds the agent; the lowest where several do.

    A guess by floating point, the largest ratio n_f·(x - apex) / h_f over some facets, is followed by a walk across
    facets whose turns are exact. Each turn raises the ratio, so the walk ends, and at the only local maximum.
    """
    count, n = facets.shape
    stride = int(np.sqrt(count))
    for position in range(start, stop):
        i = agents[position]
        best = -np.inf
        f = -1
        for guess in range(0, count, stride):
            if not is_flat[guess]:
                ratio = 0.0
                for axis in range(n):
                    ratio += gradients[guess, axis] * (points[i, axis] - points[apex, axis])
                if ratio > best or f < 0:
                    best, f = ratio, guess
        if f < 0:
            f = int(np.argmin(is_flat))
        zeros, k = 0, 0
        while k < n:
            sign = _weight_sign(points, facets[f], apex, k, i)
            if sign < 0.0:
                f = across[f, k]
                zeros, k = 0, 0
            else:
                if sign == 0.0:
                    zeros += 1
                k += 1
        cones[position] = _lowest_cone(points, facets, is_flat, apex, i) if zeros > 0 else f
