"""Exact signs of orientation determinants.

A floating-point filter answers nearly every call. Where rounding could change the sign, the determinant is expanded
into products of coordinates and summed without error. They are scaled by a power of two first, so that the largest
products just do not overflow and the smallest keep all their bits: signs are exact for all numbers as long as those of
one call, zeros aside, span less than 280 decades in the plane and 180 in space.
"""

import math

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel
from tricover.geometry._expansions import EMPTY, add, two_product

__all__ = ["exact_orientation", "orient2d", "orient3d"]

_FILTER_2D = 3.3306690738754716e-16  # (3 + 16ε)ε with ε = 2⁻⁵³
_FILTER_3D = 7.771561172376103e-16  # (7 + 56ε)ε
_UNDERFLOW = 1e-280  # below this the filter's own products may have lost bits
_TOP_2D, _TOP_3D = 480, 320  # exponent of the largest coordinate: products of two or three, split, are below 2¹⁰²³


@kernel
def _add_triple(expansion: NDArray[np.float64], length: int, a: float, b: float, c: float) -> int:
    high, low = two_product(a, b)
    for part in (low, high):
        product, rest = two_product(part, c)
        length = add(expansion, length, rest)
        length = add(expansion, length, product)
    return length


@kernel
def exact_orientation(points: NDArray[np.float64]) -> float:
    """Value with the exact sign of det[p_i 1] for n+1 points (n+1, n), n = 2 or 3."""
    corners, n = points.shape
    largest = 0.0
    for i in range(corners):
        for axis in range(n):
            largest = max(largest, abs(points[i, axis]))
    if largest == 0.0:
        return 0.0
    scaled = np.ones((corners, 3))  # planar points get a third coordinate of one: z is the column of ones
    shift = (_TOP_2D if n == 2 else _TOP_3D) - math.frexp(largest)[1]
    for i in range(corners):
        for axis in range(n):
            scaled[i, axis] = math.ldexp(points[i, axis], shift)
    expansion = np.empty(128)
    length = EMPTY
    for left_out in range(4 if n == 3 else 1):
        rows = np.empty((3, 3))
        row = 0
        for i in range(corners):
            if n == 2 or i != left_out:
                for axis in range(3):
                    rows[row, axis] = scaled[i, axis]
                row += 1
        sign = -1.0 if n == 3 and left_out % 2 == 0 else 1.0
        for first in range(3):
            second, third = (first + 1) % 3, (first + 2) % 3
            a = sign * rows[0, first]
            length = _add_triple(expansion, length, a, rows[1, second], rows[2, third])
            length = _add_triple(expansion, length, -a, rows[1, third], rows[2, second])
    return float(expansion[length - 1])


@kernel
def _exact_2d(ax: float, ay: float, bx: float, by: float, cx: float, cy: float) -> float:
    points = np.empty((3, 2))
    points[0, 0], points[1, 0], points[2, 0] = ax, bx, cx
    points[0, 1], points[1, 1], points[2, 1] = ay, by, cy
    return exact_orientation(points)


@kernel
def orient2d(ax: float, ay: float, bx: float, by: float, cx: float, cy: float) -> float:
    """Twice the signed area of triangle abc: positive if counter-clockwise. The sign is exact, the size is not."""
    left = (ax - cx) * (by - cy)
    right = (ay - cy) * (bx - cx)
    determinant = left - right
    if abs(determinant) > _FILTER_2D * (abs(left) + abs(right)) + _UNDERFLOW:
        result = determinant
    else:
        result = _exact_2d(ax, ay, bx, by, cx, cy)
    return result


@kernel
def orient3d(a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64], d: NDArray[np.float64]) -> float:
    """Six times the signed volume det(a-d, b-d, c-d) of a tetrahedron. The sign is exact, the size is not."""
    adx, ady, adz = a[0] - d[0], a[1] - d[1], a[2] - d[2]
    bdx, bdy, bdz = b[0] - d[0], b[1] - d[1], b[2] - d[2]
    cdx, cdy, cdz = c[0] - d[0], c[1] - d[1], c[2] - d[2]
    determinant = adx * (bdy * cdz - bdz * cdy) + ady * (bdz * cdx - bdx * cdz) + adz * (bdx * cdy - bdy * cdx)
    size = (
        abs(adx) * (abs(bdy * cdz) + abs(bdz * cdy))
        + abs(ady) * (abs(bdz * cdx) + abs(bdx * cdz))
        + abs(adz) * (abs(bdx * cdy) + abs(bdy * cdx))
    )
    if abs(determinant) > _FILTER_3D * size + _UNDERFLOW:
        return float(determinant)
    points = np.empty((4, 3))
    for axis in range(3):
        points[0, axis], points[1, axis], points[2, axis], points[3, axis] = a[axis], b[axis], c[axis], d[axis]
    return exact_orientation(points)
