"""Compiled kernels of the convex hull and of the search for the cone that holds a point."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel, typed
from tricover.geometry._predicates import orient2d, orient3d

__all__ = ["Fan", "extremes", "find_cones", "flat_cells", "keep_inside", "monotone_chain", "strictly_inside"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]

_FIRST = typed(0)  # barycentric coordinate


class Fan(NamedTuple):
    """The cones from one point inside a hull over its facets."""

    apex: int
    facets: Ints
    """(F, n)"""
    across: Ints
    """(F, n) the facet behind the ridge that lacks each corner."""
    is_flat: Flags
    """(F,) whether the apex lies on the facet's own line or plane."""
    gradients: Floats
    """(F, n) of n_f·(x - apex) / h_f, which is 1 on the facet."""


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
    # The lower chain forwards, then the upper chain backwards, onto the same stack.
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
        is_flat[f] = _weight_sign(points, facets[f], apex, _FIRST, facets[f, 0]) == 0.0
    return is_flat


@kernel
def keep_inside(points: Floats, facets: Ints, agents: NDArray[np.int64], inside: Flags) -> None:
    """Clear the flag of every agent that lies beyond one of the facets."""
    for position in range(len(agents)):
        for f in range(len(facets)):
            if _weight_sign(points, facets[f], agents[position], _FIRST, facets[f, 0]) < 0.0:
                inside[position] = False
                break


@kernel
def _lowest_cone(points: Floats, fan: Fan, i: int) -> int:
    """The first cone that holds point i, by exact signs; -1 if none does."""
    apex, facets, _, is_flat, _ = fan
    for f in range(len(facets)):
        if not is_flat[f]:
            holds = True
            for k in range(facets.shape[1]):
                holds = holds and _weight_sign(points, facets[f], apex, k, i) >= 0.0
            if holds:
                return f
    return -1


@kernel
def find_cones(points: Floats, fan: Fan, agents: NDArray[np.int64], start: int, stop: int, cones: Ints) -> None:
    """For agents[start:stop]: the facet whose cone from the apex holds the agent; the lowest where several do.

    A guess by floating point, the largest ratio n_f·(x - apex) / h_f over some facets, is followed by a walk across
    facets whose turns are exact. Each turn raises the ratio, so the walk ends, and at the only local maximum.
    """
    apex, facets, across, is_flat, gradients = fan
    count, n = facets.shape
    stride = int(np.sqrt(count))  # so that guess and walk take about as long
    for position in range(start, stop):
        i = agents[position]
        best = -np.inf
        f = -1
        # The guess.
        for guess in range(0, count, stride):
            if not is_flat[guess]:
                ratio = 0.0
                for axis in range(n):
                    ratio += gradients[guess, axis] * (points[i, axis] - points[apex, axis])
                if ratio > best or f < 0:
                    best, f = ratio, guess
        while f < 0 or is_flat[f]:
            f += 1
        # The walk: beyond the ridge that lacks corner k, all over again; with no such ridge, here it is.
        zeros, k = 0, _FIRST
        while k < n:
            sign = _weight_sign(points, facets[f], apex, k, i)
            if sign < 0.0:
                f = across[f, k]
                zeros, k = 0, _FIRST
            else:
                if sign == 0.0:
                    zeros += 1
                k += 1
        cones[position] = _lowest_cone(points, fan, i) if zeros > 0 else f
