"""Orientation signs against rational arithmetic, where floating point alone fails."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tricover.compiled import kernel
from tricover.geometry._predicates import orient2d, orient3d


@kernel
def orient_plane(a, b, c):
    return orient2d(a[0], a[1], b[0], b[1], c[0], c[1])


def sign(value):
    return int(value > 0) - int(value < 0)


def exact_sign(points):
    rows = [[Fraction(x) - Fraction(y) for x, y in zip(p, points[-1], strict=True)] for p in points[:-1].tolist()]
    if len(rows) == 2:
        return sign(rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0])
    a, b, c = rows
    return sign(sum(a[i] * (b[i - 2] * c[i - 1] - b[i - 1] * c[i - 2]) for i in range(3)))


def our_sign(points):
    return sign(orient_plane(*points) if len(points) == 3 else orient3d(*points))


@st.composite
def nearly_flat(draw, n):
    """Corners on one line or plane with coordinates that round, then nudged by a few units in the last place."""
    scale = draw(st.sampled_from([1.0, 0.1, 1e6, 1e-6, 1e100, 1e-100, 1e300, 1e-290]))
    start = [draw(st.integers(-9, 9)) for _ in range(n)]
    along = [[draw(st.integers(-9, 9)) for _ in range(n)] for _ in range(n - 1)]
    points = []
    for _ in range(n + 1):
        steps = [draw(st.integers(-9, 9)) for _ in range(n - 1)]
        points.append([s + sum(k * a[i] for k, a in zip(steps, along, strict=True)) for i, s in enumerate(start)])
    array = np.array(points, float) * scale
    nudges = draw(st.lists(st.integers(-2, 2), min_size=array.size, max_size=array.size))
    return array + np.where(array == 0, 0, np.reshape(nudges, array.shape) * np.spacing(array))


@pytest.mark.parametrize("n", [2, 3])
@given(data=st.data())
def test_sign_is_exact_on_nearly_flat_simplices(n, data):
    points = data.draw(nearly_flat(n))
    assert our_sign(points) == exact_sign(points)


@pytest.mark.parametrize("n", [2, 3])
@given(data=st.data())
def test_sign_is_exact_on_any_moderate_coordinates(n, data):
    number = st.floats(-1e6, 1e6, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) > 1e-30)
    points = np.array(data.draw(st.lists(number, min_size=n * (n + 1), max_size=n * (n + 1)))).reshape(n + 1, n)
    assert our_sign(points) == exact_sign(points)


@pytest.mark.parametrize(("n", "decades"), [(2, 140), (3, 90)])
def test_sign_is_exact_where_sizes_are_mixed(n, decades):
    """Zeros aside, coordinates span twice as many decades, around any scale."""
    rng = np.random.default_rng(n)
    for _ in range(400):
        sizes = 10.0 ** rng.uniform(-decades, decades, (n + 1, n))
        points = rng.choice([-1.0, 0.0, 1.0], sizes.shape) * sizes
        if rng.random() < 0.5:  # nearly flat: the last is between the others
            points[-1] = points[:-1].mean(axis=0)
        points *= 10.0 ** rng.integers(-150, 150)
        assert our_sign(points) == exact_sign(points)


def test_floating_point_alone_would_fail_here():
    """Kettner's classic: points a few ulps from a line, for which the plain determinant has the wrong sign."""
    steps = np.arange(16) * 2.0**-53
    grid = [np.array([[0.5 + x, 0.5 + y], [12, 12], [24, 24]]) for x in steps for y in steps]
    plain = [sign((p[0, 0] - p[2, 0]) * (p[1, 1] - p[2, 1]) - (p[0, 1] - p[2, 1]) * (p[1, 0] - p[2, 0])) for p in grid]
    assert plain != [exact_sign(p) for p in grid]
    assert [our_sign(p) for p in grid] == [exact_sign(p) for p in grid]
