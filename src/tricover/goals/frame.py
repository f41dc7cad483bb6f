"""The frame of a cell plan: where the anchors go, and how many followers each first cell gets.

*Cones.* The directions of the boundary agents from the core cut the plane into cones, one for each first cell: the cell
itself, and what lies beyond its outer side. Every target is in exactly one.

*Summary.* One agent of each cone tells the core what is in it, as at most K weighted points (``targets.merging``).
There are ``POINTS`` of them in all.

*Frame.* From these points the core plans a rough formation by itself, of up to ``ROUGH`` places (``targets.placing``).
Its convex hull is the new polygon of anchors. The place inside that is nearest to the mean of all is the new core's.
The F followers are shared out to the H first cells by the spread S_h = Σ_j w_j f_j^{-1/2} of the points in each cone, f
the local density, less half of one for the corners, which are agents, too:

    n_h = S_h/ΣS·(F + H/2) - 1/2,       by largest remainders, none below 0, Σn_h = F.

A larger team has its outermost places nearer to the outermost targets than a rough plan has. So where there are n rough
places for N agents, corners go out by (1 - √(n/N))·d/2, d the distance to the nearest of the others.

Places of anchors that were given stay as they are. Then a cone tells its spread alone, of its targets.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.errors import FormationError
from tricover.geometry import flat, volumes
from tricover.geometry.hull import convex_hull
from tricover.targets import TargetLists
from tricover.targets.lists import NAMELESS
from tricover.targets.merging import merged
from tricover.targets.placing import find_nearest, improved, settle, spread_of, start_places

__all__ = [
    "POINTS",
    "ROUGH",
    "Frame",
    "cones_of",
    "first_cells",
    "fixed_frame",
    "planned_frame",
    "shares",
    "summary_of",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Both were chosen on teams of 200 and 1,000 agents. Half as many places cost those on clusters 10%, twice as many of
# both gain 6% there; elsewhere it makes 2% or less.
POINTS, ROUGH = 1024, 256
_POINTS_EACH = 4  # a rough place stands for at least so many points
_TOLERANCE = 1e-3  # Lloyd's cost falls by less than this share: a frame that is more exact covers no better
_THIN = 1e-9  # of the extent: a rough formation that is no wider has no inside but by rounding
_EPS = float(np.finfo(np.float64).eps)
_LONGEST = 3.0  # an acute corner goes out by at most so many times as much as its sides do


class Frame(NamedTuple):
    """Corners (H, 2) of the anchors' polygon, counter-clockwise, the core's place (2,), and followers per cell (H,)."""

    corners: Floats
    core: Floats
    counts: Ints


def cones_of(points: Floats, corners: Floats, core: Floats) -> Ints:
    """The cone (D,) that holds each point (D, 2): cone h lies between the directions of corners h and h+1.

    Corners go around the core, counter-clockwise as a rule. Given ones may be mirrored.

    >>> square = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    >>> cones_of(np.array([[2.0, 0.0], [3.0, 3.0], [-1.0, 5.0]]), square, np.zeros(2)).tolist()
    [0, 0, 1]
    """
    first = _angles(corners[:1], core)[0]
    starts = (_angles(corners, core) - first) % (2 * np.pi)
    order = np.argsort(starts, kind="stable")
    turned = (_angles(points, core) - first) % (2 * np.pi)
    found = order[np.searchsorted(starts[order], turned, side="right") - 1]
    # Going counter-clockwise from corner h one comes to h+1, or to h-1 where they are mirrored.
    mirrored = volumes(first_cells(corners, core)).sum() < 0
    return np.asarray((found - 1) % len(corners) if mirrored else found)


def _angles(points: Floats, core: Floats) -> Floats:
    away = points - core
    return np.asarray(np.arctan2(away[:, 1], away[:, 0]))


def summary_of(points: Floats, weights: Floats, most: int) -> tuple[Floats, Floats]:
    """At most so many points (K, 2) with weights (K,) that stand for points (D, 2) with weights (D,)."""
    nameless, unseen = np.full(len(points), NAMELESS), np.zeros(len(points), np.bool_)
    lists = TargetLists.of(np.array([len(points)]), nameless, points, weights, unseen)
    fewer = merged(lists, most)
    return fewer.points, fewer.weights


def planned_frame(points: Floats, weights: Floats, agents: int) -> Frame | None:
    """The frame for so many agents, by a summary (K, 2) with weights (K,); None if it has no formation with a core."""
    distinct = len(np.unique(points, axis=0))
    count = min(agents, ROUGH, distinct // _POINTS_EACH)
    if count < 4:
        return None
    spread = spread_of(points, weights)
    start = start_places(points, spread, count)
    found = settle(start, points, weights, tolerance=_TOLERANCE)
    rough = np.unique(improved(found, points, weights, tolerance=_TOLERANCE, gain=_TOLERANCE).places, axis=0)
    try:
        hull = convex_hull(rough).vertices
    except FormationError:  # all on one line
        return None
    inner = np.delete(rough, hull, axis=0)
    if not len(inner) or _is_thin(rough[hull]):
        return None
    core = int(np.argmin(((inner - rough.mean(axis=0)) ** 2).sum(axis=1)))
    corners = _pushed_out(rough, hull, agents)
    if flat(first_cells(corners, inner[core])).any():  # the core is on a side
        return None
    cones = cones_of(points, corners, inner[core])
    return fixed_frame(corners, inner[core], np.bincount(cones, spread, len(corners)).astype(np.float64), agents)


def first_cells(corners: Floats, core: Floats) -> Floats:
    """The triangles (H, 3, 2) between corners h and h+1 (H, 2) and the core (2,)."""
    return np.stack([corners, np.roll(corners, -1, axis=0), np.broadcast_to(core, corners.shape)], axis=1)


def _is_thin(corners: Floats) -> bool:
    """Whether a convex polygon (H, 2) is a line but for rounding: area over extent is a mean width."""
    x, y = (corners - corners[0]).T
    area = float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum()) / 2
    extent = float(np.ptp(corners, axis=0).max())
    return area <= extent * (_THIN * extent + 16 * _EPS * float(np.abs(corners).max()))


def _pushed_out(rough: Floats, hull: Ints, agents: int) -> Floats:
    """The corners of the hull, where a larger team would have them."""
    corners = rough[hull]
    by = (1 - np.sqrt(len(rough) / agents)) / 2
    if by <= 0:
        return corners
    nearest = find_nearest(rough, corners, 2)[0][:, 1]
    sides = np.roll(corners, -1, axis=0) - corners
    out = np.stack([sides[:, 1], -sides[:, 0]], axis=1) / np.hypot(*sides.T)[:, None]
    before = np.roll(out, 1, axis=0)
    # A corner that goes along this goes out by one from both of its sides.
    ways = (out + before) / np.maximum(1 + (out * before).sum(axis=1), _EPS)[:, None]
    ways *= np.minimum(1.0, _LONGEST / np.hypot(*ways.T))[:, None]
    moved = corners + by * nearest[:, None] * ways
    return np.asarray(moved[convex_hull(moved).vertices])  # corners that went out unevenly may make a dent


def fixed_frame(corners: Floats, core: Floats, spreads: Floats, agents: int) -> Frame:
    """The frame with given places of the anchors, by the spread (H,) of each cone."""
    parts = spreads if spreads.sum() > 0 else np.ones(len(corners))
    return Frame(corners, core, shares(parts, agents - len(corners) - 1))


def shares(parts: Floats, total: int) -> Ints:
    """Whole numbers (H,) with a given sum, in proportion to parts (H,) after half of one for the corners of each.

    >>> shares(np.array([1.0, 1.0, 2.0]), 6).tolist()
    [2, 1, 3]
    """
    wanted = np.maximum(parts / parts.sum() * (total + len(parts) / 2) - 0.5, 0.0)
    wanted *= total / wanted.sum() if wanted.sum() > 0 else 0.0
    counts = np.floor(wanted).astype(np.int64)
    most = np.argsort(counts - wanted, kind="stable")[: total - int(counts.sum())]
    counts[most] += 1
    return np.asarray(counts)
