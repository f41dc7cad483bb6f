"""Where the anchors go: where the user says, at their reference positions, or at the corners of a fitted polygon.

The paper keeps anchors at their reference positions, although its example moves a square team onto a triangular domain;
so anchors take desired positions of their own (and the reference by default).

Fitted: a convex polygon around all targets, with as many corners as the network has boundary agents. The smallest of
all such polygons is a poor choice: a team whose hull has twelve corners would crowd some into a rounded corner of
the targets' hull, with the followers between them, and leave whole sides to cells that have no followers. So

1. the core goes to the targets' centroid, and corner h to a ray from it; between two rays lies one first cell, and the
   rays are turned so that each cell gets a share of the spread Σ_j w_j f_j^{-1/2} (see ``predictive``) in proportion to
   its followers, and one for its anchors. Turning all rays together is free: 48 turns are tried.
2. On given rays θ_h the inverse distances u_h of the corners from the core make everything linear: a target at
   distance r and angle φ between rays h and h+1 is inside when

       r (u_h sin(θ_{h+1} - φ) + u_{h+1} sin(φ - θ_h)) ≤ sin(θ_{h+1} - θ_h),

   and corner h is convex when u_h sin(θ_{h+1} - θ_{h-1}) ≤ u_{h-1} sin(θ_{h+1} - θ_h) + u_{h+1} sin(θ_h - θ_{h-1}).
   A linear program makes the u large, hence the polygon small.
3. The turn with the smallest polygon is taken; among those within 5% of it the one with the least travel.

Corners keep the order of the boundary. One part in 10⁹ is added all around against rounding.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import FormationError, InputError
from tricover.formats.points import LARGEST
from tricover.geometry.hull import convex_hull
from tricover.network import Network
from tricover.targets import Targets

__all__ = ["anchor_positions"]

Floats = NDArray[np.float64]

# Figures are changes of the mean cost of ``predictive`` on 24 teams of 57 and 200 agents (``benchmarks/coverage.py``);
# single teams change by up to a fifth either way.
_TURNS = 48  # of 7.5° each. 24: +0.9%, 96: +1.4%
_WIDEST = 2.6  # radians between two rays: half a turn would leave no triangle. 2.3: +0.9%, 2.9: no change
_NARROWEST = 0.05  # radians between two rays, so that no first cell is a needle. 0.025: -0.1%, 0.1: +1.5%
_EQUAL = 1.05  # polygons up to this much larger than the smallest count as equal. 1.025: +1.2%, 1.1: +0.7%
_SLACK = 1e-9  # added all around: far above the rounding of a corner (1e-16), far below what anybody flies
_ON_THE_EDGE = 1e-3  # of the hull's width: a core nearer to an edge than this would make needles of first cells
_FINITE = 1e150  # sizes of the targets' hull: from that far off, all polygons are as far
_FARTHEST = 1e3  # corners from the core, in sizes of the targets' hull: without a bound a corner may go to infinity


def anchor_positions(network: Network, targets: Targets, anchors: ArrayLike | str | None) -> Floats:
    """Desired positions (len(network.anchors), 2), in the order of ``network.anchors``."""
    if anchors is None:
        return network.reference[network.anchors]
    if isinstance(anchors, str):
        if anchors != "fit":
            raise InputError(f"anchors must be positions, None or 'fit', not {anchors!r}")
        return _fitted(network, targets)
    positions = np.array(anchors, dtype=np.float64)
    if positions.shape != (len(network.anchors), 2):
        raise InputError(
            f"anchors must have the shape ({len(network.anchors)}, 2), one row for each of network.anchors, "
            f"not {positions.shape}"
        )
    broken = network.anchors[~(np.abs(positions) <= LARGEST).all(axis=1)]
    if broken.size:
        raise InputError(f"the position given for anchor {broken[0]} is not finite, or beyond {LARGEST:g} metres")
    return positions


def _fitted(network: Network, targets: Targets) -> Floats:
    """Corners of the fitted polygon in the order of the boundary, and the core's place."""
    hull = _hull(targets.points)
    core = _centre(targets, hull)
    size = float(np.ptp(hull, axis=0).max())
    rim, start = (hull - core) / size, _far(network.reference[network.boundary] - core, size) / size
    shares = _followers(network) + 1.0
    trials = []
    for turn in np.arange(_TURNS) * (2 * np.pi / _TURNS):
        rays = _rays(targets, core, shares, turn)
        corners = np.stack([np.cos(rays), np.sin(rays)], axis=1) / _inverse_distances(rim, rays)[:, None]
        trials.append(((1 + _SLACK) * corners, _area(corners)))
    smallest = min(area for _, area in trials)
    small = [corners for corners, area in trials if area <= _EQUAL * smallest]
    nearest = min(small, key=lambda corners: float(((corners - start) ** 2).sum()))
    places = np.concatenate([core + size * nearest, [core]])
    if np.abs(places).max() > LARGEST:
        raise InputError(
            f"the polygon around the targets reaches beyond {LARGEST:g} metres: give the anchors positions"
        )
    return places


def _far(sides: Floats, size: float) -> Floats:
    """The sides, cut to lengths in units of ``size`` whose squares are finite."""
    return np.clip(sides, -_FINITE * size, _FINITE * size)


def _hull(points: Floats) -> Floats:
    """Corners (H, 2) of the targets' convex hull, counter-clockwise."""
    distinct = np.unique(points, axis=0)
    try:
        if len(distinct) < 3:
            raise FormationError
        return distinct[convex_hull(distinct).vertices]
    except FormationError:
        raise InputError("all targets stand on one line: no polygon fits them; give the anchors positions") from None


def _centre(targets: Targets, hull: Floats) -> Floats:
    """The targets' centroid, moved halfway to the hull's where it is on the edge (all weight in one corner, say)."""
    weights = targets.weights if targets.weights is not None and targets.weights.any() else None
    centre = np.average(targets.points, axis=0, weights=weights)
    after = np.roll(hull, -1, axis=0)
    depth = _cross(after - hull, centre - hull) / np.hypot(*(after - hull).T)
    inside = depth.min() > _ON_THE_EDGE * float(np.ptp(hull, axis=0).min())
    return np.asarray(centre if inside else (centre + hull.mean(axis=0)) / 2)


def _followers(network: Network) -> Floats:
    """Followers in each first cell: cell h lies between boundary agents h and h+1."""
    facet = np.full(len(network), -1)
    facet[network.boundary] = np.arange(len(network.boundary))
    tops = network.layers[1] if network.depth else network.followers
    followers = np.zeros(len(network.boundary))
    np.add.at(followers, facet[network.in_neighbors[tops, 0]], 1 + network.descendants[tops].sum(axis=1))
    return followers


def _rays(targets: Targets, core: Floats, shares: Floats, turn: float) -> Floats:
    """Ascending angles, the first at ``turn``, with the given shares of the targets' spread between them."""
    sides = targets.points - core
    angles = (np.arctan2(sides[:, 1], sides[:, 0]) - turn + 1e-9) % (2 * np.pi)  # one on the ray comes after it
    order = np.argsort(angles, kind="stable")
    weights = 1.0 if targets.weights is None or not targets.weights.any() else targets.weights
    spread = (weights / np.sqrt(targets.density))[order]
    passed = (np.cumsum(spread) - spread / 2) / spread.sum()
    inner = np.interp(np.cumsum(shares)[:-1] / shares.sum(), passed, angles[order])
    gaps = np.diff(np.concatenate([[0.0], inner, [2 * np.pi]]))
    return np.asarray(turn + np.append(0.0, np.cumsum(_tempered(gaps))[:-1]))


def _tempered(gaps: Floats) -> Floats:
    """Gaps blended with equal ones until none is too wide for a triangle or too narrow."""
    even, narrowest = 2 * np.pi / len(gaps), min(_NARROWEST, np.pi / len(gaps))
    wide = (gaps.max() - _WIDEST) / (gaps.max() - even) if gaps.max() > _WIDEST else 0.0
    narrow = (narrowest - gaps.min()) / (even - gaps.min()) if gaps.min() < narrowest else 0.0
    blend = max(wide, narrow)
    return np.asarray((1 - blend) * gaps + blend * even)


def _inverse_distances(rim: Floats, rays: Floats) -> Floats:
    """Inverse distances (k,) from the origin of the corners, on rays (k,), of a small polygon around ``rim`` (H, 2)."""
    from scipy.optimize import linprog

    count = len(rays)
    gaps = np.diff(np.append(rays, rays[0] + 2 * np.pi))
    past = (np.arctan2(rim[:, 1], rim[:, 0]) - rays[0]) % (2 * np.pi)
    cell = np.searchsorted(rays - rays[0], past, side="right") - 1
    past -= (rays - rays[0])[cell]
    radii, rows = np.hypot(*rim.T), np.arange(len(rim))
    holds = np.zeros((len(rim), count))
    holds[rows, cell] = radii * np.sin(gaps[cell] - past) / np.sin(gaps[cell])
    holds[rows, (cell + 1) % count] = radii * np.sin(past) / np.sin(gaps[cell])
    before, here = np.roll(gaps, 1), np.arange(count)
    convex = np.zeros((count, count))
    convex[here, here] = np.sin(before + gaps)
    convex[here, here - 1] = -np.sin(gaps)
    convex[here, (here + 1) % count] = -np.sin(before)
    bounds = np.append(np.ones(len(rim)), np.zeros(count))
    solved = linprog(-np.ones(count), A_ub=np.concatenate([holds, convex]), b_ub=bounds, bounds=(1 / _FARTHEST, None)).x
    found = np.ones(count) if solved is None else solved  # a circle's polygon is convex, too
    return np.asarray(found / max(1.0, float((holds @ found).max())))  # the solver keeps its limits to 1e-7 only


def _area(corners: Floats) -> float:
    return float(_cross(corners, np.roll(corners, -1, axis=0)).sum() / 2)


def _cross(a: Floats, b: Floats) -> Floats:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
