"""A rule for shallow networks: nearest to the mean of the cell's roster, in the cell's own barycentric metric.

The distance of a place x from the mean m is ‖λ(x) - λ(m)‖ with barycentric coordinates λ in the cell. They are
affine, so λ_k(x) - λ_k(m) = N_k·(x - m) / det(cell), where N_k is normal to the facet opposite corner k and as long
as that facet is large. The common divisor does not change the order and is left out. The paper's rule picks agents
next to the obtuse corner of a thin triangle and peels them off one by one, so that depth grows like √N; this one
splits every cell about evenly and depth grows like log₃N, with the same guarantees.

The interface is described in ``fermat``; ``state`` holds the mean relative to corner 0, as double-doubles.
"""

import math

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel
from tricover.geometry import _doubles as dd
from tricover.geometry._predicates import two_sum

__all__ = ["precise", "score"]

Floats = NDArray[np.float64]
Axes = tuple[int, ...]

_ROUNDING = 2.0**-45  # of a normal times the cell's size: differences, products and three or four terms, generously


@kernel
def _mean(axes: Axes, places: Floats, start: int, stop: int, corners: Floats, state: Floats) -> None:
    for axis in range(len(axes)):
        row, origin = places[axis], corners[0, axis]
        total, rest = 0.0, 0.0
        for i in range(start, stop):
            side, side_low = two_sum(row[i], -origin)
            total, total_low = two_sum(total, side)
            rest += total_low + side_low
        state[axis, 0], state[axis, 1] = dd.divide(total, rest, float(stop - start))


@kernel
def _normal(axes: Axes, corners: Floats, k: int, axis: int) -> tuple[float, float]:
    """One coordinate of N_k as a double-double, from the sides around the corner after k; its sign does not matter."""
    base = corners[(k + 1) % (len(axes) + 1)]
    a = corners[(k + 2) % (len(axes) + 1)]
    if len(axes) == 2:
        high, low = two_sum(a[1 - axis], -base[1 - axis])
        return (high, low) if axis == 0 else (-high, -low)
    b = corners[(k + 3) % 4]
    u, v = (axis + 1) % 3, (axis + 2) % 3
    au, au_low = two_sum(a[u], -base[u])
    av, av_low = two_sum(a[v], -base[v])
    bu, bu_low = two_sum(b[u], -base[u])
    bv, bv_low = two_sum(b[v], -base[v])
    left, left_low = dd.multiply(au, au_low, bv, bv_low)
    right, right_low = dd.multiply(av, av_low, bu, bu_low)
    return dd.subtract(left, left_low, right, right_low)


@kernel
def score(axes: Axes, places: Floats, start: int, stop: int, corners: Floats, state: Floats, scores: Floats) -> float:
    """Barycentric distance to the mean, times the determinant of the cell, for each member."""
    _mean(axes, places, start, stop, corners, state)
    size, longest = 0.0, 0.0
    for k in range(len(axes) + 1):
        length = 0.0
        for axis in range(len(axes)):
            size = max(size, abs(corners[k, axis] - corners[0, axis]))
            length += abs(_normal(axes, corners, k, axis)[0])
        longest = max(longest, length)
    if len(axes) == 2:
        xs, ys = places[0], places[1]
        ox, oy, mx, my = corners[0, 0], corners[0, 1], state[0, 0], state[1, 0]
        ax, ay = corners[1, 0] - ox, corners[1, 1] - oy
        bx, by = corners[2, 0] - ox, corners[2, 1] - oy
        for i in range(start, stop):
            x, y = (xs[i] - ox) - mx, (ys[i] - oy) - my
            a, b, c = x * ay - y * ax, x * by - y * bx, x * (by - ay) - y * (bx - ax)
            scores[i] = math.sqrt(a * a + b * b + c * c)
    else:
        for i in range(start, stop):
            scores[i] = 0.0
        for k in range(len(axes) + 1):
            normal_x, normal_y, normal_z = (
                _normal(axes, corners, k, 0)[0],
                _normal(axes, corners, k, 1)[0],
                _normal(axes, corners, k, 2)[0],
            )
            for i in range(start, stop):
                part = normal_x * ((places[0, i] - corners[0, 0]) - state[0, 0])
                part += normal_y * ((places[1, i] - corners[0, 1]) - state[1, 0])
                part += normal_z * ((places[2, i] - corners[0, 2]) - state[2, 0])
                scores[i] += part * part
        for i in range(start, stop):
            scores[i] = math.sqrt(scores[i])
    return _ROUNDING * longest * size


@kernel
def precise(axes: Axes, places: Floats, i: int, corners: Floats, state: Floats) -> tuple[float, float]:
    """The same for member i alone, to about 30 digits of the cell's size."""
    total, total_low = 0.0, 0.0
    for k in range(len(axes) + 1):
        part, part_low = 0.0, 0.0
        for axis in range(len(axes)):
            side, side_low = two_sum(places[axis, i], -corners[0, axis])
            side, side_low = dd.subtract(side, side_low, state[axis, 0], state[axis, 1])
            normal, normal_low = _normal(axes, corners, k, axis)
            term, term_low = dd.multiply(side, side_low, normal, normal_low)
            part, part_low = dd.add(part, part_low, term, term_low)
        square, square_low = dd.multiply(part, part_low, part, part_low)
        total, total_low = dd.add(total, total_low, square, square_low)
    return dd.root(total, total_low)
