"""Fitted anchors: a convex polygon in the boundary's order, around all targets, with the core inside."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tricover as tc
from tests.goals import plain
from tests.network.formations import formations
from tricover.errors import InputError


def turns(corners, points):
    """Twice the area of each side's triangle with each point, (sides, points); positive inside."""
    sides, away = np.roll(corners, -1, axis=0) - corners, points[None] - corners[:, None]
    return sides[:, None, 0] * away[..., 1] - sides[:, None, 1] * away[..., 0]


@settings(max_examples=40)
@given(st.data(), formations(most=16))
def test_polygon_holds_all_targets_and_keeps_the_order(data, reference):
    assume(1e-12 < np.abs(reference).max() < 1e12)
    try:
        network = tc.build_network(reference)
    except tc.TricoverError:
        assume(False)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    scale = data.draw(st.sampled_from([1e-6, 1.0, 1e6]))
    points = rng.normal(size=(data.draw(st.integers(3, 40)), 2)) * [
        scale,
        scale * data.draw(st.sampled_from([1, 1e-3])),
    ]
    targets = tc.Targets(points + data.draw(st.sampled_from([0.0, 10 * scale])))
    found = tc.desired_configuration(network, targets, anchors="fit")[network.anchors]
    corners, core = found[:-1], found[-1]
    assert turns(corners, targets.points).min() >= 0
    assert turns(corners, core[None]).min() > 0
    following = np.roll(corners, -2, axis=0)
    rounding = 1e-6 * np.ptp(corners, axis=0).prod()
    assert np.diagonal(turns(corners, following)).min() >= -rounding


def test_a_square_team_fits_a_square_of_targets():
    grid = np.stack(np.meshgrid(np.linspace(2, 3, 12), np.linspace(5, 6, 12)), -1).reshape(-1, 2)
    network = tc.build_network([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [2, 1], [3, 2], [2, 3], [1, 2]])
    found = tc.desired_configuration(network, tc.Targets(grid), anchors="fit")
    np.testing.assert_allclose(found[network.core], [2.5, 5.5], atol=1e-12)
    np.testing.assert_allclose(found[:4], [[2, 5], [3, 5], [3, 6], [2, 6]], atol=0.1)


def test_cells_get_targets_in_proportion_to_their_followers():
    rng = np.random.default_rng(0)
    network = tc.build_network(rng.random((200, 2)), "balanced")
    targets = tc.Targets(rng.random((4000, 2)))
    found = tc.desired_configuration(network, targets, anchors="fit")
    tops = network.layers[1]
    counts, _ = targets.in_triangles(found[network.in_neighbors[tops]])
    followers = 1 + network.descendants[tops].sum(axis=1)
    assert np.corrcoef(counts, followers)[0, 1] > 0.97


@pytest.mark.parametrize("seed", range(8))
def test_fitted_anchors_are_those_of_a_plain_loop(seed):
    """Even and uneven fields, many and few corners, so that each limit of the rule decides somewhere."""
    rng = np.random.default_rng(seed)
    reference = rng.random((int(rng.choice([6, 12, 30])), 2))
    if seed >= 6:  # three corners, and all followers in one first cell, which wants nearly all angles for itself
        corners = np.array([[0, 0], [1, 0], [0, 1], [0.2, 0.2]])
        reference = np.concatenate([corners, rng.dirichlet([1, 1, 1], 20) @ corners[1:]])
    network = tc.build_network(reference, "balanced", core=3 if seed >= 6 else None)
    points = np.concatenate([rng.random((40, 2)), [3, 1] * rng.random(2) + 0.05 * rng.normal(size=(20, 2))])
    weights = rng.uniform(0.5, 2.0, len(points))
    found = tc.desired_configuration(network, tc.Targets(points, weights), anchors="fit")
    corners, core = plain.fitted(network, points, weights)
    np.testing.assert_allclose(found[network.core], core, atol=1e-12)
    np.testing.assert_allclose(found[network.boundary], corners, atol=1e-6)
    away, expected = (np.linalg.norm(one - core, axis=1) for one in (found[network.boundary], corners))
    np.testing.assert_allclose(away / expected, 1 + 1e-9, rtol=1e-10)  # a billionth is added against rounding


@pytest.mark.parametrize(("depth", "stays"), [(0.002, True), (0.0005, False)])
def test_the_core_stands_at_the_centroid_unless_that_is_on_the_edge(depth, stays):
    """The edge is a thousandth of the targets' extent wide; from there the core moves halfway to the middle."""
    network = tc.build_network([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]])
    targets = tc.Targets([[0, 0], [1, 0], [1, 1], [0, 1]], weights=[1 - depth, 1 - depth, depth, depth])
    core = tc.desired_configuration(network, targets, anchors="fit")[network.core]
    np.testing.assert_allclose(core, [0.5, depth if stays else (depth + 0.5) / 2], atol=1e-12)


def test_weight_in_one_corner_leaves_the_core_strictly_inside():
    network = tc.build_network([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]])
    targets = tc.Targets([[0, 0], [1, 0], [1, 1], [0, 1]], weights=[1, 0, 0, 0])
    core = tc.desired_configuration(network, targets, anchors="fit")[network.core]
    assert ((core > 0) & (core < 1)).all()


@pytest.mark.parametrize("points", [[[1, 1]], [[0, 0], [1, 1]], [[0, 0], [1, 1], [2, 2], [5, 5]], [[1, 1]] * 5])
def test_targets_on_one_line_have_no_polygon(points):
    network = tc.build_network([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]])
    with pytest.raises(InputError, match="one line"):
        tc.desired_configuration(network, tc.Targets(points), anchors="fit")
