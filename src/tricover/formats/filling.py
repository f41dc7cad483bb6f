"""Polygons filled evenly with a given number of points: on rows, or one point at random around each of these places.

A polygon of area A gets n points: as many as are asked for, or A times a density, rounded. Rows are √(A/n) apart. What
lies of them inside the polygon is laid end to end and cut into n equal pieces; the middle of each is a point. So every
point stands for the same area, and a rectangle gets a square grid. Inside is where a ray crosses the rings an odd
number of times: holes are holes and rings may run in any direction. With a generator each point moves within the square
around it, unless it would leave the polygon.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError
from tricover.formats.points import check_count
from tricover.limits import check_room

__all__ = ["Filling", "area_of", "filled", "shares"]

Floats = NDArray[np.float64]

_POINT_BYTES = 100  # of a point while it is made, and of a target later on
_CROSSING_BYTES = 60  # of a place where a row meets a ring
_LEAST = 1e-9  # share of its box below which a polygon is a line
_ONE = 1 - 1e-9  # one point, but for rounding


@dataclass(frozen=True)
class Filling:
    """How many points polygons get: so many in all, or so many per square metre; jittered with a seed."""

    points: int | None = None
    density: float | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.points is not None and self.density is not None:
            raise InputError("points and density both say how many points there are: give one of the two")
        if self.density is not None and not 0 < self.density < np.inf:
            raise InputError(f"density must be a positive number of points per square metre, not {self.density}")
        check_count(self.points)

    def counts(self, areas: Sequence[float]) -> list[int]:
        """How many points each polygon gets, by its area in square metres."""
        area = sum(areas)
        total = self.density * area if self.density is not None else float(self.points or 0)
        rate = f"{total:.3g} points" if self.density is None else f"{self.density:.3g} points per m²"
        check_room(_POINT_BYTES * total, f"{rate} in polygons of {area:.3g} m²")
        if self.density is not None:
            return [round(area * self.density) for area in areas]
        return shares(areas, self.points or 0) if areas else []


def area_of(rings: Sequence[Floats]) -> float:
    """Area, in square metres, of a polygon of closed rings (K, 2): the outer one without the holes."""
    area = abs(_area(rings[0])) - sum(abs(_area(hole)) for hole in rings[1:])
    width, height = np.ptp(rings[0], axis=0).tolist()
    if area <= _LEAST * width * height or not area > 0:
        raise InputError("polygon without area")
    return area


def _area(ring: Floats) -> float:
    """Signed area of a closed ring (K, 2), first corner repeated at the end."""
    x, y = (ring - ring[0]).T
    return float(x[:-1] @ y[1:] - x[1:] @ y[:-1]) / 2


def shares(areas: Sequence[float], points: int) -> list[int]:
    """How many of so many points each polygon gets: by area, the largest remainders rounded up, and at least one.

    >>> shares([600.0, 300.0, 1.0], 10)
    [6, 3, 1]
    """
    if points < len(areas):
        raise InputError(f"{points} points are too few for {len(areas)} polygons: each needs one")
    sizes, large = np.asarray(areas, np.float64), np.ones(len(areas), np.bool_)
    while True:
        left = points - np.count_nonzero(~large)
        exact = np.where(large, left * sizes / sizes[large].sum(), 1.0)
        if (exact >= _ONE).all():
            break
        large &= exact >= _ONE  # the others get their one, and the rest is shared anew
    counts = np.floor(exact + (1 - _ONE))
    missing = points - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:missing]] += 1
    found: list[int] = counts.astype(np.int64).tolist()
    return found


def filled(rings: Sequence[Floats], points: int, rng: np.random.Generator | None = None) -> Floats:
    """So many points (points, 2) inside the polygon of closed rings, each for the same area."""
    area = area_of(rings)
    low, high = rings[0][:, 1].min(), rings[0][:, 1].max()
    rows = int(np.clip(np.round((high - low) / np.sqrt(area / points)), 1, points))
    apart = (high - low) / rows
    heights = low + apart * (np.arange(rows) + 0.5)
    starts, ends, which = _chords(rings, heights)
    reached = np.cumsum(ends - starts)
    if not (reached.size and reached[-1] > 0):
        raise InputError("polygon without area")
    piece = reached[-1] / points
    along = piece * (np.arange(points) + 0.5)
    chord = np.minimum(np.searchsorted(reached, along, side="right"), len(reached) - 1)
    xs = np.clip(ends[chord] - (reached[chord] - along), starts[chord], ends[chord])
    places = np.stack([xs, heights[which[chord]]], axis=1)
    if rng is None:
        return places
    moved = places + (rng.random(places.shape) - 0.5) * [piece, apart]
    return np.where(_inside(moved, rings)[:, None], moved, places)


def _chords(rings: Sequence[Floats], heights: Floats) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Where rows at ascending heights enter and leave the polygon, and which row it is; row by row, from the left."""
    tails, heads = (np.concatenate([ring[part] for ring in rings]) for part in (slice(None, -1), slice(1, None)))
    bottoms, tops = np.minimum(tails[:, 1], heads[:, 1]), np.maximum(tails[:, 1], heads[:, 1])
    # An edge meets the rows from its lower end on and below its upper end: so each ring is met an even number of times.
    first, stop = np.searchsorted(heights, bottoms), np.searchsorted(heights, tops)
    met = stop - first
    check_room(_CROSSING_BYTES * float(met.sum()), f"{len(heights)} rows through a polygon of {len(tails)} sides")
    edge = np.repeat(np.arange(len(met)), met)
    row = np.arange(len(edge)) - np.repeat(np.cumsum(met) - met, met) + first[edge]
    (ax, ay), (bx, by) = tails[edge].T, heads[edge].T
    xs = ax + (heights[row] - ay) * ((bx - ax) / (by - ay))
    order = np.lexsort((xs, row))
    return xs[order][::2], xs[order][1::2], row[order][::2]


def _inside(points: Floats, rings: Sequence[Floats]) -> NDArray[np.bool_]:
    """Even-odd rule, one vectorised pass over the points per edge."""
    inside = np.zeros(len(points), dtype=np.bool_)
    x, y = points.T
    for ring in rings:
        for (ax, ay), (bx, by) in zip(ring[:-1].tolist(), ring[1:].tolist(), strict=True):
            if ay != by:
                spans = (ay <= y) != (by <= y)
                inside[spans] ^= x[spans] < ax + (y[spans] - ay) * ((bx - ax) / (by - ay))
    return inside
