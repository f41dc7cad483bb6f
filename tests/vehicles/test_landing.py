from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tricover.vehicles import inside, middles


def exactly_inside(point, triangle):
    """Rational arithmetic: the point is no convex combination's outsider, edges and flat triangles included."""
    x, y = map(Fraction, point)
    corners = [tuple(map(Fraction, corner)) for corner in triangle]

    def turn(a, b, c):
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    turns = [turn(corners[k], corners[(k + 1) % 3], (x, y)) for k in range(3)]
    if turn(*corners) != 0:
        return all(t >= 0 for t in turns) or all(t <= 0 for t in turns)
    between = all(min(c[k] for c in corners) <= (x, y)[k] <= max(c[k] for c in corners) for k in range(2))
    return all(t == 0 for t in turns) and between


@given(
    triangle=arrays(np.float64, (3, 2), elements=st.integers(-6, 6).map(float)),
    point=arrays(np.float64, (2,), elements=st.integers(-7, 7).map(float)),
)
def test_agrees_with_rational_arithmetic_on_whole_numbers(triangle, point):
    assert inside(point[None], triangle[None])[0] == exactly_inside(point.tolist(), triangle.tolist())


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6, 1e9])
@given(data=st.data())
def test_convex_combinations_of_the_corners_are_inside(scale, data):
    unit = st.floats(0, 1, allow_subnormal=False)
    triangle = scale * data.draw(arrays(np.float64, (3, 2), elements=st.floats(-1, 1, allow_subnormal=False)))
    share = sorted((data.draw(unit), data.draw(unit)))
    weights = np.array([share[0], share[1] - share[0], 1 - share[1]])
    assert inside((weights @ triangle)[None], triangle[None])[0]


@given(arrays(np.float64, (2,), elements=st.floats(-1e9, 1e9)))
def test_a_single_point_is_its_own_goal_to_the_bit_and_holds_no_other(point):
    reach_set = np.broadcast_to(point, (1, 3, 2))
    assert middles(reach_set)[0].tolist() == point.tolist()
    assert inside(point[None], reach_set)[0]
    away = point + np.array([0.0, max(1.0, np.abs(point).max()) * 1e-13])
    assert not inside(away[None], reach_set)[0]
    assert inside(away[None], reach_set, tolerance=1e-3)[0]


def test_tolerance_is_a_distance_in_metres():
    triangle = [[[0.0, 0], [10, 0], [0, 10]]]
    assert inside([[5.0, -0.099]], triangle, tolerance=0.1)[0]
    assert not inside([[5.0, -0.101]], triangle, tolerance=0.1)[0]
