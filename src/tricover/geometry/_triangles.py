"""Kernels for triangles in the plane: area, barycentric coordinates, cells. Each exists once, for one triangle.

What ``simplices`` and ``cells`` say about them in words and formulas holds here; batches run over ``first … last``.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel

__all__ = [
    "cell_of",
    "doubled_area",
    "find_cells",
    "find_flat",
    "find_weights",
    "is_flat",
    "lattice_cell",
    "locate",
    "weigh",
]

Floats = NDArray[np.float64]
Weights = tuple[float, float, float]

_EPS = 2.220446049250313e-16
_TINY = 1e-290  # square metres: products near it lose bits, and so would barycentric coordinates


@kernel
def doubled_area(triangle: Floats) -> float:
    """Twice the area of a triangle (3, 2), positive if it runs counter-clockwise."""
    x0, y0 = triangle[0, 0] - triangle[2, 0], triangle[0, 1] - triangle[2, 1]
    x1, y1 = triangle[1, 0] - triangle[2, 0], triangle[1, 1] - triangle[2, 1]
    return float(x0 * y1 - x1 * y0)


@kernel
def is_flat(triangle: Floats) -> bool:
    """Whether a triangle has no area, as far as floating point can tell; under 1e-290 square metres none has."""
    x0, y0 = triangle[0, 0] - triangle[2, 0], triangle[0, 1] - triangle[2, 1]
    x1, y1 = triangle[1, 0] - triangle[0, 0], triangle[1, 1] - triangle[0, 1]
    x2, y2 = triangle[2, 0] - triangle[1, 0], triangle[2, 1] - triangle[1, 1]
    area = abs(doubled_area(triangle))
    a, b, c = abs(x0) + abs(y0), abs(x1) + abs(y1), abs(x2) + abs(y2)
    if area > 9 * _EPS * max(a * b, b * c, c * a) + _TINY:  # sums are no less than roots of squares, which take longer
        return False
    a, b, c = np.hypot(x0, y0), np.hypot(x1, y1), np.hypot(x2, y2)
    return bool(area <= 8 * _EPS * max(a * b, b * c, c * a) + _TINY)


@kernel
def weigh(x: float, y: float, triangle: Floats) -> Weights:
    """Barycentric coordinates of a point in a triangle that has an area."""
    x0, y0 = triangle[0, 0] - x, triangle[0, 1] - y
    x1, y1 = triangle[1, 0] - x, triangle[1, 1] - y
    x2, y2 = triangle[2, 0] - x, triangle[2, 1] - y
    a, b, c = x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, x0 * y1 - x1 * y0
    whole, total = doubled_area(triangle), a + b + c
    if abs(total - whole) > 1e-3 * abs(whole):  # far from a thin triangle the parts cancel
        c, total = whole - (a + b), whole
    return a / total, b / total, c / total


@kernel
def _snapped(value: float, slack: float) -> float:
    whole = np.rint(value)
    return float(whole if abs(value - whole) <= slack else value)


@kernel
def cell_of(a: float, b: float, size: int) -> int:
    """The cell that holds the point with first two barycentric coordinates a and b, or -1 (``CellGrid.locate``)."""
    slack = 32 * _EPS * size
    t0, t1 = _snapped(a * size, slack), _snapped(b * size, slack)
    t2 = _snapped(size - (t0 + t1), slack)
    if not (t0 >= 0 and t1 >= 0 and t2 >= 0):
        return -1
    i, j = int(t0), int(t1)
    down = t2 < size - 1 - i - j
    if not down and i + j == size:  # a corner of cells on the edge where the last coordinate is 0
        if j > 0:
            j -= 1
        else:
            i -= 1
    row = size - 1 - i
    return int(row * row + 2 * j + down)


@kernel
def lattice_cell(a: float, b: float, size: int) -> tuple[int, int, int]:
    """The cell (i, j, k) of a point, also beyond the triangle, where the lattice goes on with negative numbers, too.

    Inside the triangle it is the cell of ``cell_of``. No coordinate may be above a million.
    """
    slack = 32 * _EPS * size
    t0, t1 = _snapped(a * size, slack), _snapped(b * size, slack)
    t2 = _snapped(size - (t0 + t1), slack)
    i, j = int(np.floor(t0)), int(np.floor(t1))
    down = t2 < size - 1 - i - j
    if t2 == 0 and not down and i >= 0 and j >= 0 and i + j == size:  # a corner of cells, as in cell_of
        if j > 0:
            j -= 1
        else:
            i -= 1
    return i, j, size - 1 - i - j - int(down)


@kernel
def locate(weights: Floats, size: int, cells: NDArray[np.int64]) -> None:
    """Cells (A,) of barycentric coordinates (A, 3)."""
    for i in range(len(weights)):
        cells[i] = cell_of(weights[i, 0], weights[i, 1], size)


@kernel
def find_cells(
    points: Floats, triangles: Floats, size: int, within: bool, first: int, last: int, cells: NDArray[np.int64]
) -> None:
    """Cells (A,) of triangles (A, 3, 2) that hold points (A, 2), -1 outside and where a triangle is flat.

    ``within``: the point is in the triangle, and what rounding puts outside does not count.
    """
    for i in range(first, last):
        cells[i] = -1
        if not is_flat(triangles[i]):
            a, b, c = weigh(points[i, 0], points[i, 1], triangles[i])
            if within:
                a, b, c = max(a, 0.0), max(b, 0.0), max(c, 0.0)
                total = a + b + c
                a, b = a / total, b / total
            cells[i] = cell_of(a, b, size)


@kernel
def find_weights(points: Floats, triangles: Floats, first: int, last: int, weights: Floats) -> None:
    """Barycentric coordinates (A, 3) of points (A, 2) in triangles (A, 3, 2); a third each where one is flat."""
    for i in range(first, last):
        weights[i] = 1 / 3
        if not is_flat(triangles[i]):
            weights[i, 0], weights[i, 1], weights[i, 2] = weigh(points[i, 0], points[i, 1], triangles[i])


@kernel
def find_flat(triangles: Floats, first: int, last: int, found: NDArray[np.bool_]) -> None:
    """Which triangles (A, 3, 2) are flat."""
    for i in range(first, last):
        found[i] = is_flat(triangles[i])
