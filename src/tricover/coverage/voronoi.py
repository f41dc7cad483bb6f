"""Voronoi cells: the part of a box that is nearer to an agent than to any other,

    V_i = { x in the box : |x - r_i| ≤ |x - r_j| for all j }.

Four points far outside are added, so that every agent's cell is bounded whatever the team looks like (one agent, a row
of them); they are too far to take anything from the box. What comes out is convex and is cut at the box's four sides.
Their dual is Delaunay's triangulation.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError
from tricover.formats.points import LARGEST, checked_positions
from tricover.network.roster import scaled

__all__ = ["triangulate", "voronoi_cells"]

Floats = NDArray[np.float64]

_FAR = 4.0  # half-extents of box and agents: from nowhere in the box is a far point nearer than an agent


def voronoi_cells(positions: ArrayLike, box: ArrayLike) -> list[Floats]:
    """Cells of agents (N, 2) within ``box``, ((x0, y0), (x1, y1)): a polygon (K, 2) each, counter-clockwise.

    Of agents at the same point the first has the cell and the others have none, (0, 2); so has an agent whose cell lies
    outside the box. The cells fill the box and do not overlap.

    >>> left, right = voronoi_cells([[0, 0], [2, 0]], [[0, 0], [4, 2]])
    >>> left.max(axis=0).tolist(), right.min(axis=0).tolist()
    ([1.0, 2.0], [1.0, 0.0])
    """
    from scipy.spatial import Voronoi

    agents, corners = checked_positions(positions, dimensions=(2,)), _checked_box(box)
    everything = np.concatenate([agents, corners])
    low, high = everything.min(axis=0), everything.max(axis=0)
    middle, scale = (low + high) / 2, float((high - low).max()) / 2
    local, frame = (agents - middle) / scale, (corners - middle) / scale
    far = _FAR * np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    diagram = Voronoi(np.concatenate([local, far]))
    regions, owners = np.unique(diagram.point_region[: len(agents)], return_index=True)  # shared by those on one spot
    cells = [np.empty((0, 2))] * len(agents)
    for owner, region in zip(owners.tolist(), regions.tolist(), strict=True):
        polygon = _clipped(_counter_clockwise(diagram.vertices[diagram.regions[region]]), frame)
        cells[owner] = np.clip(polygon * scale + middle, *corners)
    return cells


def triangulate(points: Floats) -> NDArray[np.int64]:
    """Delaunay's triangles (T, 3) of points (N, 2), as indices; points that are nearly on one line are an error.

    They are scaled first, by a power of two: that changes no triangle, and no product overflows.
    """
    from scipy.spatial import Delaunay, QhullError

    try:
        return np.asarray(Delaunay(scaled(points)).simplices, dtype=np.int64)
    except QhullError:  # of many lines
        raise InputError("these points stand on one line, or nearly so: they have no triangulation") from None


def _checked_box(box: ArrayLike) -> Floats:
    corners = np.asarray(box, dtype=np.float64)
    if corners.shape != (2, 2) or not (np.abs(corners) <= LARGEST).all() or not (corners[0] < corners[1]).all():
        given = corners.tolist()
        raise InputError(f"box must be two corners, ((x0, y0), (x1, y1)) with x0 < x1 and y0 < y1, not {given}")
    return corners


def _counter_clockwise(polygon: Floats) -> Floats:
    """Corners of a convex polygon in order."""
    sides = polygon - polygon.mean(axis=0)
    return polygon[np.argsort(np.arctan2(sides[:, 1], sides[:, 0]))]


def _clipped(polygon: Floats, box: Floats) -> Floats:
    """A convex polygon cut at the sides of a box, one after the other (Sutherland and Hodgman)."""
    for axis in (0, 1):
        for side, sign in ((box[0, axis], 1.0), (box[1, axis], -1.0)):
            depth = sign * (polygon[:, axis] - side)  # how far inside
            if len(polygon) and not (depth >= 0).all():
                polygon = _cut(polygon, depth)
    return polygon


def _cut(polygon: Floats, depth: Floats) -> Floats:
    kept: list[Floats] = []
    for here, there, inside, next_inside in zip(
        polygon, np.roll(polygon, -1, axis=0), depth, np.roll(depth, -1), strict=True
    ):
        if inside >= 0:
            kept.append(here)
        if inside * next_inside < 0:
            kept.append(here + inside / (inside - next_inside) * (there - here))
    return np.array(kept).reshape(-1, 2)
