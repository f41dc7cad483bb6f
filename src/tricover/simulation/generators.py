"""Formations and targets made by rule, for scenarios that bring no file; the same seed gives the same points."""

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError
from tricover.limits import check_room

__all__ = ["clusters", "disc", "polygon", "square"]

Floats = NDArray[np.float64]

_CROSSES = "the targets' polygon crosses itself: give its corners in order around it"
_AGENT_BYTES, _TARGET_BYTES = 600.0, 60.0  # what one takes in a run

# Points are drawn from the polygon's box where it fills at least this share of it, and from trapezoids where not.
_ROOMY = 1 / 16
_LEAST = 1e-9  # share of the box below which a polygon is a line
_ENOUGH = 2048  # points that have been tried before their share inside says that something is wrong
_MOST_PAIRS = 1 << 20  # of points and sides that are looked at together


def square(agents: int, size: float, rng: np.random.Generator) -> Floats:
    """Positions (agents, 2): corners of a square of side ``size`` around the origin, its centre, the rest inside.

    >>> square(6, 2.0, np.random.default_rng(0))[:5].tolist()
    [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [0.0, 0.0]]
    """
    if agents < 6:
        raise InputError(f"a square formation needs at least 6 agents, not {agents}: 4 corners, a core and a follower")
    check_room(_AGENT_BYTES * agents, f"{agents} agents")
    frame = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [0, 0]], np.float64)
    return np.concatenate([frame, rng.uniform(-1, 1, (agents - 5, 2))]) * (size / 2)


def disc(agents: int, size: float, rng: np.random.Generator) -> Floats:
    """Positions (agents, 2), uniform in a disc of diameter ``size`` around the origin."""
    check_room(_AGENT_BYTES * agents, f"{agents} agents")
    radii, angles = size / 2 * np.sqrt(rng.random(agents)), rng.uniform(0, 2 * np.pi, agents)
    return np.asarray(radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1))


def clusters(count: int, centres: Floats, spread: float, rng: np.random.Generator) -> Floats:
    """Points (count, 2), normal with standard deviation ``spread`` around centres (K, 2), each as likely."""
    check_room(_TARGET_BYTES * count, f"{count} targets")
    return np.asarray(centres[rng.integers(len(centres), size=count)] + rng.normal(0, spread, (count, 2)))


def polygon(count: int, corners: Floats, rng: np.random.Generator) -> Floats:
    """Points (count, 2), uniform in a simple polygon with corners (K, 2)."""
    check_room(_TARGET_BYTES * count, f"{count} targets")
    low, high = corners.min(axis=0), corners.max(axis=0)
    width, height = (high - low).tolist()
    share = 0.0
    if len(corners) >= 3 and width > 0 and height > 0:
        unit = (corners - low) / (high - low)
        after = np.roll(unit, -1, axis=0)
        share = abs(float(unit[:, 0] @ after[:, 1] - unit[:, 1] @ after[:, 0])) / 2
    if not share > _LEAST:
        raise InputError("the targets' polygon has no area: give at least three corners that are not on one line")
    if share < _ROOMY:
        return np.asarray(low + (high - low) * _from_trapezoids(count, unit, rng))
    return _from_box(count, corners, rng)


def _from_box(count: int, corners: Floats, rng: np.random.Generator) -> Floats:
    """Points (count, 2), drawn from the box of the corners until enough are inside."""
    low, high = corners.min(axis=0), corners.max(axis=0)
    sides = np.roll(corners, -1, axis=0) - corners
    at_once = max(1, _MOST_PAIRS // len(corners))
    points, tries = np.empty((0, 2)), 0
    while len(points) < count:
        if tries >= _ENOUGH and len(points) < tries * _ROOMY / 4:
            raise InputError(_CROSSES)
        tried = rng.uniform(low, high, (max(2 * count, 64), 2))
        parts = [tried[start : start + at_once] for start in range(0, len(tried), at_once)]
        points = np.concatenate([points, *(part[_inside(part, corners, sides)] for part in parts)])
        tries += len(tried)
    return points[:count]


def _inside(points: Floats, corners: Floats, sides: Floats) -> NDArray[np.bool_]:
    """Even–odd rule: how many sides does a ray to the right cross?"""
    offsets = points[:, None] - corners
    spans = (offsets[..., 1] >= 0) != (offsets[..., 1] - sides[:, 1] >= 0)
    heights = np.where(sides[:, 1] == 0, 1.0, sides[:, 1])
    right = offsets[..., 0] < sides[:, 0] * offsets[..., 1] / heights
    return np.asarray((spans & right).sum(axis=1) % 2 == 1)


def _from_trapezoids(count: int, corners: Floats, rng: np.random.Generator) -> Floats:
    """Points (count, 2): the polygon is cut at the height of every corner, and each piece gets its share."""
    after = np.roll(corners, -1, axis=0)
    upwards = (corners[:, 1] < after[:, 1])[:, None]
    lower, upper = np.where(upwards, corners, after), np.where(upwards, after, corners)
    levels = np.unique(corners[:, 1])
    check_room(8.0 * len(levels) * len(corners), f"the pieces of a polygon with {len(corners)} corners")
    slabs, sides = np.nonzero((lower[:, 1] <= levels[:-1, None]) & (upper[:, 1] >= levels[1:, None]))
    slopes = (upper[sides, 0] - lower[sides, 0]) / (upper[sides, 1] - lower[sides, 1])
    # Where each side enters and leaves each slab that it spans, from left to right: every two bound a trapezoid.
    ends = np.stack([levels[slabs], levels[slabs + 1]], axis=1)
    xs = lower[sides, :1] + slopes[:, None] * (ends - lower[sides, 1:])
    order = np.lexsort((xs.sum(axis=1), slabs))
    xs, ends, slabs = xs[order], ends[order], slabs[order]
    if (np.diff(xs, axis=0)[np.diff(slabs) == 0] < -_LEAST).any():
        raise InputError(_CROSSES)
    lefts, widths, ends = xs[::2], np.maximum(xs[1::2] - xs[::2], 0), ends[::2]
    areas = widths.sum(axis=1) * (ends[:, 1] - ends[:, 0])
    which = rng.choice(len(areas), count, p=areas / areas.sum())
    low, high = widths[which].T
    along, across = rng.random((2, count))
    # The share of a trapezoid below a height grows with the square of it where the sides are not parallel.
    heights = along * (low + high) / (low + np.sqrt(low**2 + along * (high**2 - low**2)))
    bottoms, tops = ends[which].T
    starts = lefts[which, 0] + heights * (lefts[which, 1] - lefts[which, 0])
    return np.stack([starts + across * (low + heights * (high - low)), bottoms + heights * (tops - bottoms)], axis=1)
