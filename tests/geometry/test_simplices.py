from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tricover.errors import InputError
from tricover.geometry import barycentric, flat, volumes


def exact_coordinates(point, simplex):
    """Cramer's rule in rational numbers, by expanding determinants along the first row."""

    def det(rows):
        if len(rows) == 1:
            return rows[0][0]
        return sum((-1) ** k * rows[0][k] * det([row[:k] + row[k + 1 :] for row in rows[1:]]) for k in range(len(rows)))

    rows = [[*map(Fraction, corner), Fraction(1)] for corner in simplex.tolist()]
    new = [*map(Fraction, point.tolist()), Fraction(1)]
    whole = det(rows)
    return whole, [whole and det([*rows[:k], new, *rows[k + 1 :]]) / whole for k in range(len(rows))]


@pytest.mark.parametrize("n", [2, 3])
@given(data=st.data())
def test_agrees_with_rational_arithmetic(n, data):
    integers = st.integers(-50, 50).map(float)
    simplex = data.draw(arrays(np.float64, (n + 1, n), elements=integers))
    point = data.draw(arrays(np.float64, (n,), elements=integers))
    whole, expected = exact_coordinates(point, simplex)
    assert volumes(simplex) == whole
    assert bool(flat(simplex)) == (whole == 0)
    if whole:
        np.testing.assert_allclose(barycentric(point, simplex), np.array(expected, float), rtol=1e-12, atol=1e-13)


def test_broadcasts_many_points_over_one_simplex_and_many_simplices():
    triangle = np.array([[0.0, 0], [4, 0], [0, 4]])
    assert barycentric(np.zeros((7, 2)), triangle).tolist() == [[1, 0, 0]] * 7
    assert barycentric(np.zeros(2), np.stack([triangle, triangle[[1, 0, 2]]])).tolist() == [
        [1, 0, 0],
        [0, 1, 0],
    ]


def test_flat_simplex_is_named():
    with pytest.raises(InputError, match="simplex 1 has no volume"):
        barycentric([[0.0, 0], [0, 0]], [[[0, 0], [1, 0], [0, 1]], [[0, 0], [1, 1], [2, 2]]])


@given(st.permutations(range(3)), st.floats(1, 1e9))
def test_needles_and_far_points(order, distance):
    """A needle narrower than rounding is flat whichever corner comes first; far from a thin triangle λ stays finite."""
    needle = np.array([[0.3, 0.1], [0.3, np.nextafter(0.1, 1)], [7.1, 5.3]])[order]
    assert flat(needle)
    thin = np.array([[0.0, 0.0], [1.0, 1e-9], [2.0, 0.0]])[order]
    assert not flat(thin)
    away = barycentric([distance + 2.5, distance], thin)
    assert away.sum() == pytest.approx(1, abs=1e-6 * np.abs(away).max())
    assert away.min() < 0
