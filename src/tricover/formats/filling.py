"""Polygons filled with points at a given density: a square grid, or one point at random in each square of it.

The grid's spacing is 1/√density and it is centred on the polygon's bounding box. A point belongs to the polygon when a
ray from it crosses the rings an odd number of times, so holes are holes and rings may run in any direction. With a
generator each point moves within its own square before it is tested, which keeps the expected number at area × density.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError
from tricover.limits import check_room

__all__ = ["filled"]

Floats = NDArray[np.float64]

_POINT_BYTES = 100  # of a point of the grid while it is made, and of a target later on


def _area(ring: Floats) -> float:
    """Signed area of a closed ring (K, 2), first corner repeated at the end."""
    x, y = (ring - ring[0]).T
    return float(x[:-1] @ y[1:] - x[1:] @ y[:-1]) / 2


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


def filled(rings: Sequence[Floats], density: float, rng: np.random.Generator | None = None) -> Floats:
    """Points (K, 2) inside the polygon of closed rings, ``density`` of them per square metre."""
    area = abs(_area(rings[0])) - sum(abs(_area(hole)) for hole in rings[1:])
    low, high = rings[0].min(axis=0), rings[0].max(axis=0)
    width, height = (high - low).tolist()
    if area <= 1e-9 * width * height or not area > 0:
        raise InputError("polygon without area")
    spacing = density**-0.5
    tried = (width / spacing + 1) * (height / spacing + 1)
    check_room(_POINT_BYTES * tried, f"{density:.3g} points per m² in a box of {width:.3g} m by {height:.3g} m")
    # The grid alone gives the most even number; squares to jitter in must cover the whole polygon.
    squares = np.round((high - low) / spacing) if rng is None else np.ceil((high - low) / spacing - 1e-6)
    counts = np.maximum(squares, 1).astype(np.int64)
    starts = (low + high - (counts - 1) * spacing) / 2
    xs, ys = (start + spacing * np.arange(count) for start, count in zip(starts, counts, strict=True))
    points = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    if rng is not None:
        points = points + spacing * (rng.random(points.shape) - 0.5)
    points = points[_inside(points, rings)]
    if not len(points):
        raise InputError(f"polygon of {area:.3g} m² gets no point at {density:.3g} points per m²: raise the density")
    return points
