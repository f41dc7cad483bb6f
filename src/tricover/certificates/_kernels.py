"""Compiled kernels: the rows of Γ from positions, and one factor more in a product of them."""

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel

__all__ = ["apply", "rows"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

_FLAT = 8 * 2.0**-52  # as in geometry.flat


@kernel
def _nearest_on_edges(x: float, y: float, corners: Floats, weights: Floats) -> float:
    """Weights (3,) of the point on the triangle's edges that is nearest to (x, y), and its distance."""
    best = np.inf
    for k in range(3):
        a, b = corners[k], corners[(k + 1) % 3]
        sx, sy = b[0] - a[0], b[1] - a[1]
        square = sx * sx + sy * sy
        along = 0.0
        if square > 0.0:
            along = min(1.0, max(0.0, ((x - a[0]) * sx + (y - a[1]) * sy) / square))
        distance = np.hypot(x - a[0] - along * sx, y - a[1] - along * sy)
        if distance < best:
            best = distance
            weights[k], weights[(k + 1) % 3], weights[(k + 2) % 3] = 1.0 - along, along, 0.0
    return best


@kernel
def _distance(a: Floats, b: Floats) -> float:
    return float(np.hypot(a[0] - b[0], a[1] - b[1]))


@kernel
def rows(
    before: Floats,
    after: Floats,
    agents: NDArray[np.int64],
    corners: Ints,
    rounding: float,
    start: int,
    stop: int,
    weights: Floats,
    outside: Floats,
    flat: NDArray[np.bool_],
) -> None:
    """For agents[start:stop]: barycentric coordinates of ``after`` in the triangle of ``before`` at ``corners``.

    ``outside`` is the distance to the triangle, 0 within rounding. A point within rounding of an edge gets the weights
    of the nearest point on it: they give its position back also where the triangle is a sliver or has no area.
    """
    triangle, part = np.empty((3, 2)), np.empty(3)
    for f in range(start, stop):
        x, y = after[agents[f], 0], after[agents[f], 1]
        largest = max(abs(x), abs(y))
        for k in range(3):
            for axis in range(2):
                triangle[k, axis] = before[corners[f, k], axis]
                largest = max(largest, abs(triangle[k, axis]))
        a, b, c = triangle[0], triangle[1], triangle[2]
        area = (a[0] - c[0]) * (b[1] - c[1]) - (b[0] - c[0]) * (a[1] - c[1])
        ab, bc, ca = _distance(a, b), _distance(b, c), _distance(c, a)
        flat[f] = abs(area) <= _FLAT * max(ab * bc, bc * ca, ca * ab)
        least, sign = np.inf, 1.0 if area > 0.0 else -1.0
        for k in range(3):
            a, b = triangle[(k + 1) % 3], triangle[(k + 2) % 3]
            part[k] = (a[0] - x) * (b[1] - y) - (b[0] - x) * (a[1] - y)
            least = min(least, sign * part[k])
        slack, distance = rounding * largest, 0.0
        near_edge = flat[f] or least <= slack * max(ab, bc, ca)
        if near_edge:
            distance = _nearest_on_edges(x, y, triangle, weights[f])
            if flat[f] and np.hypot(x - triangle[:, 0].mean(), y - triangle[:, 1].mean()) <= slack:
                weights[f], distance = 1 / 3, 0.0
        inside = not flat[f] and least >= 0.0
        outside[f] = 0.0 if inside or distance <= slack else distance
        if not flat[f] and (not near_edge or distance > slack):
            total = part[0] + part[1] + part[2] if inside else area
            for k in range(3):
                weights[f, k] = part[k] / total


@kernel
def apply(weights: Floats, inner: Ints, vector: Floats, skipped: int, start: int, stop: int, product: Floats) -> None:
    """|A|·vector, where ``inner`` (F, 3) are the places of in-neighbours among the followers, -1 for anchors.

    Both vectors leave out the first followers, whose entries are zero: ``vector`` the first ``skipped``, ``product`` as
    many as it is shorter than F. Entries start … stop of ``product`` are written.
    """
    offset = len(inner) - len(product)
    for place in range(start, stop):
        f = place + offset
        total = 0.0
        for k in range(3):
            if inner[f, k] >= skipped:
                total += abs(weights[f, k]) * vector[inner[f, k] - skipped]
        product[place] = total
