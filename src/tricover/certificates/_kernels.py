"""Compiled kernels: the rows of Γ from positions, and one factor more in a product of them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel

__all__ = ["Motion", "Rows", "apply", "rows"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

_FLAT = 8 * 2.0**-52  # as in geometry.flat


class Motion(NamedTuple):
    """Where everybody was and is: the input of ``rows``.

    Attributes:
        before: positions (N, 2) at t.
        after: positions (N, 2) at t+1.
        followers: (F,) whose rows are wanted.
        corners: (F, 3) their in-neighbours.
        rounding: relative to the largest coordinate.
    """

    before: Floats
    after: Floats
    followers: NDArray[np.int64]
    corners: Ints
    rounding: float


class Rows(NamedTuple):
    """The followers' rows of Γ[t], in the order of the followers.

    Attributes:
        weights: (F, 3) by in-neighbour.
        outside: (F,) metres beyond the triangle, 0 within rounding.
        flat: (F,) which triangles have no area.
    """

    weights: Floats
    outside: Floats
    flat: NDArray[np.bool_]


@kernel
def _distance(a: Floats, b: Floats) -> float:
    return float(np.hypot(a[0] - b[0], a[1] - b[1]))


@kernel
def _nearest_on_edges(x: float, y: float, corners: Floats, weights: Floats) -> float:
    """Weights (3,) of the point on the triangle's edges that is nearest to (x, y), and its distance."""
    best = np.inf
    for k in range(3):  # the edge from corner k to the next one
        a, b = corners[k], corners[(k + 1) % 3]
        sx, sy = b[0] - a[0], b[1] - a[1]
        square = sx * sx + sy * sy
        along = 0.0  # an edge without length is its first corner
        if square > 0.0:
            along = ((x - a[0]) * sx + (y - a[1]) * sy) / square
            along = min(1.0, max(0.0, along))
        distance = np.hypot(x - a[0] - along * sx, y - a[1] - along * sy)
        if distance < best:
            best = distance
            weights[k] = 1.0 - along
            weights[(k + 1) % 3] = along
            weights[(k + 2) % 3] = 0.0
    return best


@kernel
def rows(motion: Motion, found: Rows, start: int, stop: int) -> None:
    """Write entries start … stop of ``found``: barycentric coordinates of landing points.

    A point within rounding of an edge gets the weights of the nearest point on that edge. They give its position back
    also where the triangle is a sliver or has no area.
    """
    weights, outside, flat = found
    triangle, parts = np.empty((3, 2)), np.empty(3)
    for f in range(start, stop):
        agent = motion.followers[f]
        x, y = motion.after[agent, 0], motion.after[agent, 1]

        # The triangle at t, and the largest coordinate at hand: rounding is relative to it.
        largest = max(abs(x), abs(y))
        for k in range(3):
            for axis in range(2):
                triangle[k, axis] = motion.before[motion.corners[f, k], axis]
                largest = max(largest, abs(triangle[k, axis]))
        slack = motion.rounding * largest

        # Twice its area with a sign, relative to c: less is lost to rounding far from the origin.
        a, b, c = triangle[0], triangle[1], triangle[2]
        area = (a[0] - c[0]) * (b[1] - c[1]) - (b[0] - c[0]) * (a[1] - c[1])
        ab, bc, ca = _distance(a, b), _distance(b, c), _distance(c, a)
        flat[f] = abs(area) <= _FLAT * max(ab * bc, bc * ca, ca * ab)

        # Twice the areas of the three parts into which the point divides it, relative to the point: where it is close
        # to an edge, the sign of the small part can be trusted.
        least, sign = np.inf, 1.0 if area > 0.0 else -1.0
        for k in range(3):
            a, b = triangle[(k + 1) % 3], triangle[(k + 2) % 3]
            parts[k] = (a[0] - x) * (b[1] - y) - (b[0] - x) * (a[1] - y)
            least = min(least, sign * parts[k])
        inside = not flat[f] and least >= 0.0

        # Only a point near an edge, or outside, needs its distance. Within slack of an edge, a part is at most slack
        # times that edge, hence at most slack times the longest: no such point is left out.
        near_edge = flat[f] or least <= slack * max(ab, bc, ca)
        distance = 0.0
        if near_edge:
            distance = _nearest_on_edges(x, y, triangle, weights[f])
            if flat[f]:
                apart_x, apart_y = x - triangle[:, 0].mean(), y - triangle[:, 1].mean()
                if np.hypot(apart_x, apart_y) <= slack:
                    weights[f], distance = 1 / 3, 0.0
        outside[f] = 0.0 if inside or distance <= slack else distance

        # All others get the parts' shares. Inside, the parts are divided by their own sum, so that weights sum to one.
        if not flat[f] and (not near_edge or distance > slack):
            total = parts[0] + parts[1] + parts[2] if inside else area
            for k in range(3):
                weights[f, k] = parts[k] / total


@kernel
def apply(weights: Floats, inner: Ints, vector: Floats, skipped: int, start: int, stop: int, product: Floats) -> None:
    """Write entries start … stop of ``product`` = |A|·vector.

    ``inner`` (F, 3) are the places of in-neighbours among the followers, -1 for anchors. Both vectors leave out the
    first followers, whose entries are zero: ``vector`` the first ``skipped``, ``product`` as many as it is shorter
    than F.
    """
    offset = len(inner) - len(product)
    for place in range(start, stop):
        f = place + offset
        total = 0.0
        for k in range(3):
            # Anchors (-1) and followers that are left out have nothing to add.
            if inner[f, k] >= skipped:
                total += abs(weights[f, k]) * vector[inner[f, k] - skipped]
        product[place] = total
