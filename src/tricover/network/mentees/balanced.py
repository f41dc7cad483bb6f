"""A rule for shallow networks: nearest to the mean of the cell's roster, in the cell's own barycentric metric.

The distance of a place x from the mean m is ‖λ(x) - λ(m)‖ with barycentric coordinates λ in the cell. They are
affine, so λ_k(x) - λ_k(m) = N_k·(x - m) / det(cell), where N_k is normal to the facet opposite corner k and as long
as that facet is large. The common divisor does not change the order and is left out. The paper's rule picks agents
next to the obtuse corner of a thin triangle and peels them off one by one, so that depth grows like √N; this one
splits every cell about evenly and depth grows like log₃N, with the same guarantees.

The interface is described in ``fermat``.
"""

import math

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel
from tricover.geometry._expansions import EMPTY, PAIR, ROOM, add, add_product, compress, two_sum

__all__ = ["add_members", "add_sides", "compare", "compare_about", "score", "score_about"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Axes = tuple[int, ...]

_ROUNDING = 2.0**-45  # of a normal times the cell's size: differences, products and three or four terms, generously


@kernel
def _normal(axes: Axes, corners: Floats, k: int, axis: int, normal: Floats) -> int:
    """One coordinate of N_k as an expansion, from the sides around the corner after k; its sign does not matter."""
    n = len(axes)
    base, a = corners[(k + 1) % (n + 1)], corners[(k + 2) % (n + 1)]
    if n == 2:
        normal[1], normal[0] = two_sum(a[1 - axis], -base[1 - axis])
        if axis == 1:
            normal[0], normal[1] = -normal[0], -normal[1]
        return PAIR
    b = corners[(k + 3) % (n + 1)]
    u, v = (axis + 1) % n, (axis + 2) % n
    sides = np.empty((4, 2))
    sides[0, 1], sides[0, 0] = two_sum(a[u], -base[u])
    sides[1, 1], sides[1, 0] = two_sum(b[v], -base[v])
    sides[2, 1], sides[2, 0] = two_sum(a[v], -base[v])
    sides[3, 1], sides[3, 0] = two_sum(b[u], -base[u])
    length = add_product(normal, EMPTY, sides[0], PAIR, sides[1], PAIR, 1.0)
    return add_product(normal, length, sides[2], PAIR, sides[3], PAIR, -1.0)


@kernel
def add_sides(row: Floats, start: int, stop: int, origin: float, total: float, rest: float) -> tuple[float, float]:
    """Add how far members are from an origin along an axis to a sum, and to what rounding has left of it."""
    for i in range(start, stop):
        total, low = two_sum(total, row[i] - origin)
        rest += low
    return total, rest


@kernel
def score(axes: Axes, places: Floats, start: int, stop: int, corners: Floats, scores: Floats) -> float:
    """Barycentric distance to the mean, times the determinant of the cell, for each member."""
    mean = np.empty(len(axes))
    for axis in range(len(axes)):
        total, rest = add_sides(places[axis], start, stop, corners[0, axis], 0.0, 0.0)
        mean[axis] = (total + rest) / (stop - start)
    return score_about(axes, places, start, stop, corners, mean, scores)


@kernel
def score_about(
    axes: Axes, places: Floats, start: int, stop: int, corners: Floats, mean: Floats, scores: Floats
) -> float:
    """The same with the mean given, as seen from the first corner: that of these members and of others."""
    n = len(axes)
    normals, parts = np.empty((n + 1, n)), np.empty(64)
    size, longest = 0.0, 0.0
    for k in range(n + 1):
        length = 0.0
        for axis in range(n):
            normals[k, axis] = parts[_normal(axes, corners, k, axis, parts) - 1]
            length += abs(normals[k, axis])
            size = max(size, abs(corners[k, axis] - corners[0, axis]))
        longest = max(longest, length)
    if n == 2:
        xs, ys = places[0], places[1]
        ox, oy, mx, my = corners[0, 0], corners[0, 1], mean[0], mean[1]
        ax, ay, bx, by = normals[0, 0], normals[0, 1], normals[1, 0], normals[1, 1]
        cx, cy = normals[2, 0], normals[2, 1]
        for i in range(start, stop):
            x, y = (xs[i] - ox) - mx, (ys[i] - oy) - my
            a, b, c = ax * x + ay * y, bx * x + by * y, cx * x + cy * y
            scores[i] = math.sqrt(a * a + b * b + c * c)
    else:
        for i in range(start, stop):
            square = 0.0
            for k in range(n + 1):
                part = 0.0
                for axis in range(n):
                    part += normals[k, axis] * ((places[axis, i] - corners[0, axis]) - mean[axis])
                square += part * part
            scores[i] = math.sqrt(square)
    return _ROUNDING * longest * size


@kernel
def add_members(axes: Axes, places: Floats, start: int, stop: int, sums: Floats, lengths: Indices) -> None:
    """Add the members' coordinates to their exact sums, an expansion for each axis."""
    for axis in range(len(axes)):
        length = lengths[axis]
        for member in range(start, stop):
            length = add(sums[axis], length, places[axis, member])
        lengths[axis] = compress(sums[axis], length)


@kernel
def compare(axes: Axes, places: Floats, start: int, stop: int, i: int, j: int, corners: Floats) -> float:
    """Exact sign of score(i) - score(j)."""
    sums, lengths = np.empty((len(axes), ROOM)), np.zeros(len(axes), np.int64)
    add_members(axes, places, start, stop, sums, lengths)
    return compare_about(axes, places[:, i], places[:, j], stop - start, sums, lengths, corners)


@kernel
def compare_about(
    axes: Axes, x: Floats, y: Floats, members: int, sums: Floats, lengths: Indices, corners: Floats
) -> float:
    """Exact sign of the difference of the scores of two places, with so many members of these sums.

    With c members of sum s, and x and y the two places, the squares differ by

        Σ_k (N_k·(x - y)) (N_k·(c(x + y) - 2s)) / c.
    """
    n = len(axes)
    count, twice = np.full(1, float(members)), np.full(1, 2.0)
    total, near, far, normal = np.empty(ROOM), np.empty(ROOM), np.empty(ROOM), np.empty(ROOM)
    apart, beyond, beyond_lengths = np.empty((n, 2)), np.empty((n, ROOM)), np.zeros(n, np.int64)
    for axis in range(n):
        apart[axis, 1], apart[axis, 0] = two_sum(x[axis], -y[axis])
        near[1], near[0] = two_sum(x[axis], y[axis])
        length = add_product(beyond[axis], EMPTY, near, PAIR, count, len(count), 1.0)
        beyond_lengths[axis] = add_product(beyond[axis], length, sums[axis], lengths[axis], twice, len(twice), -1.0)
    length = EMPTY
    for k in range(n + 1):
        near_length, far_length = EMPTY, EMPTY
        for axis in range(n):
            normal_length = _normal(axes, corners, k, axis, normal)
            near_length = add_product(near, near_length, normal, normal_length, apart[axis], PAIR, 1.0)
            far_length = add_product(far, far_length, normal, normal_length, beyond[axis], beyond_lengths[axis], 1.0)
        length = add_product(total, length, near, near_length, far, far_length, 1.0)
    return float(total[length - 1])
