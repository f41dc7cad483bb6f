"""Convex hull with exact vertices, and the fan of first cells around a core.

The *leading polytope* is the convex hull of the team (paper, Section III, Step 1). Its vertices are the boundary
agents; a point on an edge or face that is not a vertex is interior. The fan joins each facet of the hull to one
interior point, the core: these simplices are the cells R_{0,h}. A facet whose plane holds the core would make a flat
cell and is marked.

Qhull would be the obvious choice, but its vertices depend on a tolerance, and a network that loses or doubles an
agent by rounding is of no use. All turns here are decided by exact signs.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tricover.errors import FormationError, listed
from tricover.geometry._kernels import (
    Fan,
    extremes,
    find_cones,
    flat_cells,
    keep_inside,
    monotone_chain,
    strictly_inside,
)
from tricover.geometry._predicates import orient3d
from tricover.geometry._quickhull import quickhull
from tricover.threads import in_ranges

__all__ = ["Hull", "convex_hull", "fan_cones", "inside_hull"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


@dataclass(frozen=True)
class Hull:
    """Convex hull of points (N, n): indices of its vertices and facets.

    In the plane vertices go counter-clockwise from the lowest index and facet h joins vertices h and h+1; in space
    vertices ascend. Facet corners turn so that facet plus an inner point is a positively oriented simplex.
    ``across[f, k]`` is the facet behind the ridge of facet f that lacks its corner k.
    """

    vertices: NDArray[np.int64]
    facets: Ints
    across: Ints


_FEW = 1000  # points that are sorted sooner than looked at one by one


def convex_hull(points: Floats) -> Hull:
    """Hull of distinct points (N, n), n = 2 or 3, with exact vertices; points on one line or plane are an error."""
    return _planar_hull(points) if points.shape[1] == 2 else _spatial_hull(points)


def _planar_hull(points: Floats) -> Hull:
    outer = np.arange(len(points)) if len(points) <= _FEW else np.flatnonzero(~_surely_inside(points))
    order = outer[np.lexsort((points[outer, 1], points[outer, 0]))]
    hull = monotone_chain(points, order)
    if len(hull) < 3:
        raise _all_on_one("line", order)
    vertices = np.roll(hull, -int(np.argmin(hull)))
    count = len(vertices)
    facets = np.stack([vertices, np.roll(vertices, -1)], axis=1).astype(np.int32)
    turn = np.arange(count)
    across = np.stack([(turn + 1) % count, (turn - 1) % count], axis=1).astype(np.int32)
    return Hull(vertices, facets, across)


def _surely_inside(points: Floats) -> NDArray[np.bool_]:
    """Points strictly inside the polygon of the extreme points in sixteen directions: no need to sort these."""
    angles = np.arange(8) * (np.pi / 8)
    corners = np.unique(extremes(points, np.stack([np.cos(angles), np.sin(angles)], axis=1)))
    inside = np.zeros(len(points), np.bool_)
    if len(corners) >= 3:
        order = corners[np.lexsort((points[corners, 1], points[corners, 0]))]
        polygon = points[monotone_chain(points, order)]
        if len(polygon) >= 3:
            in_ranges(lambda first, last: strictly_inside(points, polygon, first, last, inside), len(points), 50_000)
    return inside


def _spatial_hull(points: Floats) -> Hull:
    vertices = np.unique(quickhull(points, _first_tetrahedron(points))).astype(np.int64)
    corners = points[vertices]  # again from the vertices alone: how a flat face is cut must not depend on other points
    facets = vertices[quickhull(corners, _first_tetrahedron(corners))].astype(np.int32)
    rotated = np.stack([np.roll(facet, -int(np.argmin(facet))) for facet in facets])
    facets = rotated[np.lexsort(rotated.T[::-1])]
    return Hull(vertices, facets, _across_edges(facets))


def _across_edges(facets: Ints) -> Ints:
    """Facet behind each edge of a closed triangulated surface: (F, 3)."""
    owner = {(int(f[(k + 1) % 3]), int(f[(k + 2) % 3])): row for row, f in enumerate(facets) for k in range(3)}
    return np.array([[owner[int(f[(k + 2) % 3]), int(f[(k + 1) % 3])] for k in range(3)] for f in facets], np.int32)


def _first_tetrahedron(points: Floats) -> Ints:
    """Four points with positive volume, by exact signs; the largest found in floating point where that is enough."""
    a = int(np.lexsort(points.T[::-1])[0])
    sides = points - points[a]
    b = int(np.argmax(np.vecdot(sides, sides)))
    areas = np.linalg.norm(np.cross(sides, sides[b]), axis=1)
    for c in np.argsort(-areas, kind="stable").tolist():
        heights = np.abs(sides @ np.cross(sides[b], sides[c]))
        for d in np.argsort(-heights, kind="stable").tolist():
            sign = orient3d(points[a], points[b], points[c], points[d])
            if sign != 0.0:
                return np.array([a, b, c, d] if sign > 0.0 else [a, c, b, d], np.int32)
        if not _collinear(points[[a, b, c]]):
            raise _all_on_one("plane", np.arange(len(points)))
    raise _all_on_one("line", np.arange(len(points)))


def _collinear(points: Floats) -> bool:
    """Whether three points in space stand on one line, exactly."""
    a, b, c = ([Fraction(x) for x in point] for point in points.tolist())
    u, v = ([x - y for x, y in zip(p, a, strict=True)] for p in (b, c))
    return all(u[i - 2] * v[i - 1] == u[i - 1] * v[i - 2] for i in range(3))


def _all_on_one(flat_thing: str, agents: NDArray[np.integer]) -> FormationError:
    return FormationError(
        f"agents {listed(agents)} stand on one {flat_thing}: a network needs a team that spans "
        + ("an area" if flat_thing == "line" else "a volume; for a flat team give two coordinates")
    )


def inside_hull(points: Floats, hull: Hull, agents: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of the agents stand in the closed hull, exactly."""
    inside = np.ones(len(agents), np.bool_)
    keep_inside(points, hull.facets, agents, inside)
    return inside


def fan_cones(points: Floats, hull: Hull, core: int, agents: NDArray[np.int64]) -> Ints:
    """For each agent, which must stand in the hull: the facet whose cone from the core holds it; ties to the lowest."""
    corners = points[hull.facets]
    is_flat = flat_cells(points, hull.facets, core)
    if points.shape[1] == 2:
        outward = np.stack([corners[:, 1, 1] - corners[:, 0, 1], corners[:, 0, 0] - corners[:, 1, 0]], axis=1)
    else:
        outward = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    heights = np.vecdot(corners[:, 0] - points[core], outward)
    gradients = outward / np.where(is_flat | (heights == 0.0), np.inf, heights)[:, None]
    cones = np.empty(len(agents), np.int32)
    fan = Fan(core, hull.facets, hull.across, is_flat, gradients)
    in_ranges(lambda first, last: find_cones(points, fan, agents, first, last, cones), len(agents), 50_000)
    return cones
