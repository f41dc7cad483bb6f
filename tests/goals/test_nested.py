"""Goals strictly inside their triangles."""

import numpy as np
import pytest

import tricover as tc
from tricover.geometry import barycentric, combine
from tricover.goals import settled_configuration
from tricover.goals.nested import EPSILON, floor_of, nested_weights, standing_weights
from tricover.goals.room import least_weights

TRIANGLE = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 6.0]])


def weights_of(weights, separation=1e-9, below=(0, 0, 0)):
    triangle = TRIANGLE[None]
    return nested_weights(combine(np.array([weights]), triangle), triangle, np.array([below]), separation)[0]


def test_a_goal_well_inside_stays():
    np.testing.assert_allclose(weights_of([0.2, 0.3, 0.5]), [0.2, 0.3, 0.5], rtol=1e-14)
    np.testing.assert_allclose(weights_of([EPSILON, 0.4, 0.6 - EPSILON]), [EPSILON, 0.4, 0.6 - EPSILON], rtol=1e-12)


@pytest.mark.parametrize("weights", [[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0], [0.001, 0.4, 0.599], [0, 0.003, 0.997]])
def test_others_come_as_far_as_they_must(weights):
    found = weights_of(np.array(weights, float))
    assert found.min() >= EPSILON * (1 - 1e-12)
    assert found.sum() == pytest.approx(1, abs=1e-15)
    assert np.abs(found - weights).max() <= 2 * EPSILON + 1e-12


@pytest.mark.parametrize("below", [(0, 0, 0), (3, 0, 0), (5, 4, 1), (300, 0, 0)])
@pytest.mark.parametrize("separation", [0.05, 0.18, 0.5])
def test_room_is_left_before_epsilon(separation, below):
    found = weights_of(np.array([0.0, 0.0, 1.0]), separation, below)
    least = least_weights(TRIANGLE[None], np.array([below]), separation)[0]
    assert (found >= least * (1 - 1e-12)).all()
    roomy = np.maximum(least, EPSILON).sum() < 1
    assert (found >= EPSILON * (1 - 1e-12)).all() or not roomy
    assert found.min() > 0
    assert found.sum() == pytest.approx(1, abs=1e-14)


def test_points_just_outside_are_inside():
    found = standing_weights(np.array([[4.0, -1e-17], [9.0, 0.0]]), np.array([TRIANGLE, TRIANGLE]))
    assert found.min() >= 0
    np.testing.assert_allclose(found.sum(axis=1), 1)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("mentee", ["fermat", "balanced"])
def test_the_settled_configuration_of_morph_is_strictly_nested(seed, mentee):
    rng = np.random.default_rng(seed)
    reference, targets = rng.random((80, 2)) * 50, rng.random((1 if seed % 2 else 40, 2)) * 50
    network = tc.build_network(reference, mentee)
    plain = tc.desired_configuration(network, targets)
    found = settled_configuration(network, targets, None, "centroid", "morph", 35)
    followers = network.followers
    weights = barycentric(found[followers], found[network.in_neighbors[followers]])
    assert weights.min() > 0
    assert len(np.unique(found, axis=0)) == len(found)
    # First-layer goals that were well inside are where they were.
    first = network.layers[1]
    inside = barycentric(plain[first], plain[network.in_neighbors[first]]).min(axis=1) > EPSILON
    np.testing.assert_allclose(found[first][inside], plain[first][inside], atol=1e-12)


def test_the_other_motions_settle_where_they_did():
    rng = np.random.default_rng(3)
    network, targets = tc.build_network(rng.random((40, 2))), tc.Targets(rng.random((90, 2)))
    reach = settled_configuration(network, targets, None, "centroid", "reach", 9)
    walk = settled_configuration(network, targets, None, "centroid", "walk", 9)
    np.testing.assert_array_equal(reach, tc.desired_configuration(network, targets))
    np.testing.assert_array_equal(walk, tc.desired_configuration(network, targets, resolution=9))
    assert not np.array_equal(reach, walk)


def test_the_floor_is_of_the_size_of_the_living_team():
    reference = np.random.default_rng(0).random((20, 2)) * 100
    reference[0] = [1000.0, 50.0]
    network = tc.build_network(reference)
    assert 0.9e-6 <= floor_of(network) <= 1.1e-6
    assert floor_of(network.without([0])) <= 1.1e-7
    far = tc.build_network(reference + 1e9)
    assert floor_of(far) >= 1000 * np.spacing(1e9)
