"""Γ[t] from positions: exact rational coordinates, the shape of the matrix, and triangles without area."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tricover as tc
from tests.certificates.flights import flight, roster, team
from tricover.certificates import log_of, transition_matrices, transition_matrix
from tricover.certificates.transition import frame_of, rows_of
from tricover.geometry import flat

EPS = float(np.finfo(np.float64).eps)


def rational(point, triangle):
    """Barycentric coordinates, exactly."""
    x, y = map(Fraction, point)
    corners = [tuple(map(Fraction, corner)) for corner in triangle]

    def det(a, b, c):
        return (a[0] - c[0]) * (b[1] - c[1]) - (b[0] - c[0]) * (a[1] - c[1])

    area = det(*corners)
    return [det(*([*corners[:k], (x, y), *corners[k + 1 :]])) / area for k in range(3)]


def lonely(triangle):
    """A network with one follower, 5, that listens to agents at the corners of a triangle, and positions for it."""
    network = tc.build_network([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]])
    positions = network.reference.copy()
    positions[network.in_neighbors[5]] = triangle
    return network, positions


def row(triangle, point):
    network, before = lonely(triangle)
    after = before.copy()
    after[5] = point
    return rows_of(frame_of(network), before, after)


@pytest.mark.parametrize("seed", range(24))
def test_rows_are_the_exact_barycentric_coordinates(seed):
    network, positions = team(seed, steps=3, least=0.01)
    for before, after in itertools.pairwise(positions):
        matrix = transition_matrix(network, before, after).toarray()
        for agent in network.followers:
            corners = network.in_neighbors[agent]
            if flat(before[corners]):  # where a mentee stands on an edge of its cell
                continue
            exact = rational(after[agent], before[corners])
            heights = abs(np.linalg.det(np.column_stack([before[corners], np.ones(3)])))
            size = np.ptp(before[corners], axis=0).max()
            rounding = 64 * EPS * np.abs(before[corners]).max() * size / heights
            np.testing.assert_allclose(matrix[agent, corners], [float(x) for x in exact], atol=rounding, rtol=0)


coordinates = st.floats(-1e6, 1e6, allow_subnormal=False) | st.sampled_from([0.0, 1.0, 1e-6, 1e6, 1 / 3])
points = st.tuples(coordinates, coordinates)
unit = st.floats(0, 1, allow_subnormal=False)


@settings(max_examples=300, deadline=None)
@given(triangle=st.lists(points, min_size=3, max_size=3), u=unit, v=unit)
def test_convex_combinations_are_accepted_and_given_back(triangle, u, v):
    weights = np.array([(1 - np.sqrt(u)), np.sqrt(u) * (1 - v), np.sqrt(u) * v])
    corners = np.array(triangle)
    point = weights @ corners
    found = row(corners, point)
    largest = max(np.abs(corners).max(), np.abs(point).max())
    assert found.outside[0] == 0
    assert (found.weights >= 0).all()
    assert found.weights.sum() == pytest.approx(1, abs=8 * EPS)
    # Rounding of the point, seen from a thin triangle, is not seen in the position that the row gives back.
    area = abs(np.linalg.det(np.column_stack([corners - corners[0], np.ones(3)])))
    if area > 1e-6 * np.ptp(corners, axis=0).max() ** 2:
        np.testing.assert_allclose(found.weights[0] @ corners, point, atol=1e-9 * largest + 1e-300, rtol=0)


@settings(max_examples=300, deadline=None)
@given(triangle=st.lists(points, min_size=3, max_size=3), along=unit, lift=st.floats(0, 1e-14))
def test_the_same_triangles_have_no_area_as_for_the_agents(triangle, along, lift):
    corners = np.array(triangle)
    sliver = corners.copy()
    sliver[2] = corners[0] + along * (corners[1] - corners[0]) + lift * (corners[2] - corners[0])
    for shape in (corners, sliver):
        assert row(shape, shape[0]).flat[0] == flat(shape)


@settings(max_examples=300, deadline=None)
@given(triangle=st.lists(points, min_size=3, max_size=3), k=st.integers(0, 2), along=unit, beyond=st.floats(1e-12, 10))
def test_points_beyond_an_edge_are_never_hidden(triangle, k, along, beyond):
    corners = np.array(triangle)
    largest = np.abs(corners).max()
    edge = corners[(k + 2) % 3] - corners[(k + 1) % 3]
    length = np.hypot(*edge)
    if length == 0 or largest == 0:
        return
    outward = np.array([edge[1], -edge[0]]) / length
    if outward @ (corners[k] - corners[(k + 1) % 3]) > 0:
        outward = -outward
    point = corners[(k + 1) % 3] + along * edge + beyond * largest * outward
    found = row(corners, point)
    assert found.outside[0] == pytest.approx(beyond * largest, rel=1e-2)


@pytest.mark.parametrize(
    ("triangle", "point", "accepted"),
    [
        ([[0, 0], [2, 0], [4, 0]], [2, 0], True),  # flat: the mean of the corners
        ([[0, 0], [2, 0], [4, 0]], [3.5, 0], True),  # flat: on it
        ([[0, 0], [2, 0], [4, 0]], [3.5, 1e-9], False),
        ([[0, 0], [2, 0], [4, 0]], [-1e-9, 0], False),
        ([[3, 3], [3, 3], [3, 3]], [3, 3], True),  # all at one place
        ([[3, 3], [3, 3], [3, 3]], [3, 3.001], False),
        ([[0, 0], [0, 1], [1, 0]], [0, 0], True),  # flipped, and at a corner
        ([[0, 0], [0, 1], [1, 0]], [0.5, 0.5], True),  # on an edge
        ([[0, 0], [0, 1], [1, 0]], [0.5, 0.5 + 1e-13], False),
    ],
)
def test_degenerate_triangles(triangle, point, accepted):
    found = row(triangle, point)
    assert (found.outside[0] == 0) == accepted
    if accepted:
        assert (found.weights >= 0).all()
        np.testing.assert_allclose(found.weights[0] @ np.array(triangle, float), point, atol=1e-12)


def test_the_mean_of_a_flat_triangle_has_a_third_each():
    assert row([[0, 0], [1, 0], [5, 0]], [2, 0]).weights[0].tolist() == [1 / 3] * 3


@pytest.mark.parametrize("seed", range(12))
def test_the_matrix_has_the_shape_of_the_theorem(seed):
    network, positions = team(seed, mentee=["balanced", "fermat"][seed % 2])
    log = log_of(positions, network)
    for before, after, matrix in zip(positions, positions[1:], transition_matrices(log), strict=False):
        dense = matrix.toarray()
        assert (dense >= 0).all()
        np.testing.assert_allclose(dense.sum(axis=1), 1, atol=8 * EPS)
        assert np.array_equal(dense[network.anchors], np.eye(len(network))[network.anchors])
        allowed = network.layer[:, None] > network.layer[None]
        assert not dense[~allowed & ~np.eye(len(network), dtype=bool)].any()
        assert not np.diag(dense)[network.followers].any()
        assert (np.diff(matrix.indptr)[network.followers] == 3).all()
        np.testing.assert_allclose(dense @ before, after, atol=1e-9 * np.abs(before).max(), rtol=0)


def test_absent_agents_have_the_row_of_the_identity():
    network = tc.build_network(roster(3, 30)).without([7])
    after = flight(network, 1)[1]
    dense = transition_matrix(network, network.reference, after).toarray()
    assert np.array_equal(dense[7], np.eye(30)[7])
    assert not np.delete(dense[:, 7], 7).any()
