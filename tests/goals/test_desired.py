"""The desired configuration beside a plain loop, on ordinary and degenerate formations, and what it refuses."""

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tricover as tc
from tests.goals import plain
from tests.network.formations import formations
from tricover.errors import InputError
from tricover.geometry import flat
from tricover.goals import RULES, goal_cells, prepare
from tricover.goals.rules import inner_weights

SQUARE = [[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2], [3, 2.5], [2, 1], [2.2, 3], [1.2, 2.1], [2.8, 2.6]]


def team(agents, seed, mentee="fermat"):
    return tc.build_network(np.random.default_rng(seed).random((agents, 2)), mentee)


@pytest.mark.parametrize("resolution", [None, 5, 35])
@pytest.mark.parametrize("mentee", ["fermat", "balanced"])
def test_centroid_equals_a_plain_loop(mentee, resolution):
    rng = np.random.default_rng(7)
    network, points, weights = team(25, 3, mentee), rng.random((120, 2)), rng.integers(0, 4, 120).astype(float)
    anchors = network.reference[network.anchors] * 1.1
    found = tc.desired_configuration(network, tc.Targets(points, weights), anchors=anchors, resolution=resolution)
    np.testing.assert_allclose(found, plain.desired(network, points, weights, anchors, resolution), atol=1e-12)


def test_reference_goal_reproduces_the_formation_and_its_affine_images():
    network, targets = team(60, 1, "balanced"), tc.Targets([[0.5, 0.5]])
    found = tc.desired_configuration(network, targets, goal="reference")
    np.testing.assert_allclose(found, network.reference, atol=1e-12)
    turned = network.reference @ [[0.6, 0.8], [-1.6, 1.2]] + [3, -2]
    moved = tc.desired_configuration(network, targets, anchors=turned[network.anchors], goal="reference")
    np.testing.assert_allclose(moved, turned, atol=1e-12)


@st.composite
def fields(draw, network):
    """Targets among, on and outside the agents' cells: random, on the agents, on the cells' sides, all on one line."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    low, high = network.reference.min(axis=0), network.reference.max(axis=0)
    points = low + (high - low) * rng.uniform(-0.2, 1.2, (draw(st.integers(1, 40)), 2))
    cells = network.reference[network.in_neighbors[network.followers]]
    kind = draw(st.sampled_from(["random", "agents", "sides", "line", "one place"]))
    if kind == "agents":
        points = np.concatenate([points, network.reference])
    elif kind == "sides" and len(cells):
        points = np.concatenate([points, (cells[:, 0] + cells[:, 1]) / 2])
    elif kind == "line":
        points[:, 1] = network.reference[network.core, 1]
    elif kind == "one place":
        points[:] = network.reference[network.core]
    weights = rng.integers(0, 3, len(points)) + draw(st.sampled_from([0.0, 1.0]))
    return tc.Targets(points, weights if weights.any() else None)


@settings(max_examples=60)
@given(st.data(), st.sampled_from(RULES), st.sampled_from([None, 1, 6]))
def test_every_rule_is_total_stays_inside_and_answers_one_agent_as_it_answers_all(data, goal, resolution):
    reference = data.draw(formations(most=14))
    assume(1e-12 < np.abs(reference).max() < 1e12)
    try:
        network = tc.build_network(reference, data.draw(st.sampled_from(["fermat", "balanced"])))
    except tc.TricoverError:
        assume(False)
    targets = data.draw(fields(network))
    found = tc.desired_configuration(network, targets, goal=goal, resolution=resolution)
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found[network.anchors], network.reference[network.anchors])
    size = np.abs(reference).max()
    triangles = found[network.in_neighbors[network.followers]]
    below, above = triangles.min(axis=1) - 1e-12 * size, triangles.max(axis=1) + 1e-12 * size
    assert ((below <= found[network.followers]) & (found[network.followers] <= above)).all()
    weights = np.ones(len(targets)) if targets.weights is None else targets.weights
    local_goal = prepare(goal, network)
    for agent, triangle in zip(network.followers, triangles, strict=True):
        alone = local_goal(np.array([agent]), triangle[None], targets)
        if resolution is None:
            np.testing.assert_array_equal(alone[0], found[agent])
        if goal == "centroid" and not flat(triangle):
            expected = plain.centroid(triangle, targets.points, weights)
            np.testing.assert_allclose(alone[0], expected, rtol=1e-12, atol=1e-12 * size)


def test_flat_triangle_sends_its_agent_to_the_mean_and_has_no_cells():
    network = tc.build_network(SQUARE)
    anchors = np.array([[0, 0], [4, 0], [4, 0], [0, 0], [2, 0]], dtype=float)  # the whole square on one line
    targets = tc.Targets([[1, 0], [3.5, 0], [2, 2]])
    for goal, resolution in product(RULES, (None, 4)):
        found = tc.desired_configuration(network, targets, anchors=anchors, goal=goal, resolution=resolution)
        corners = found[network.in_neighbors[network.followers]]
        np.testing.assert_allclose(found[network.followers], corners.mean(axis=1), atol=1e-15)
        assert (goal_cells(found[network.followers], corners, tc.CellGrid(4)) == -1).all()


def test_no_targets_in_the_triangle_means_its_centroid():
    network = tc.build_network(SQUARE)
    for goal in ("centroid", "predictive", "rollout"):
        found = tc.desired_configuration(network, tc.Targets([[50, 50]]), goal=goal)
        corners = found[network.in_neighbors[network.followers]]
        np.testing.assert_allclose(found[network.followers], corners.mean(axis=1), atol=1e-12)


def test_a_step_without_any_targets_sends_all_to_their_centroids():
    network = tc.build_network(SQUARE)
    nobody = tc.Targets([[1, 1]], active=[[5, 9]]).at(0)
    for goal in ("centroid", "predictive", "rollout"):
        found = tc.desired_configuration(network, nobody, goal=goal)
        corners = found[network.in_neighbors[network.followers]]
        np.testing.assert_allclose(found[network.followers], corners.mean(axis=1), atol=1e-12)


def test_lost_agents_keep_their_reference_positions():
    network = team(30, 5).without([int(team(30, 5).followers[3])])
    found = tc.desired_configuration(network, tc.Targets([[0.4, 0.6], [0.2, 0.2]]))
    np.testing.assert_array_equal(found[network.lost], network.reference[network.lost])
    assert np.isfinite(found).all()


def test_a_rule_of_the_users_own():
    def near_the_first(network):
        return lambda agents, triangles, targets: np.array([0.5, 0.25, 0.25]) @ triangles

    network = tc.build_network(SQUARE)
    found = tc.desired_configuration(network, tc.Targets([[1, 1]]), goal=near_the_first)
    corners = found[network.in_neighbors[network.followers]]
    np.testing.assert_allclose(found[network.followers], corners.sum(axis=1) / 4 + corners[:, 0] / 4)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda triangles: triangles[:, 0] + [100.0, 0.0], "out of its triangle"),
        (lambda triangles: triangles[:, 0] * np.nan, "not finite"),
        (lambda triangles: triangles[0, 0], "shape"),
    ],
)
def test_a_rule_that_breaks_the_guarantee_is_refused(answer, message):
    def rule(network):
        return lambda agents, triangles, targets: answer(triangles)

    with pytest.raises(InputError, match=message):
        tc.desired_configuration(tc.build_network(SQUARE), tc.Targets([[1, 1]]), goal=rule)


@pytest.mark.parametrize(("beyond", "refused"), [(1e-12, False), (1e-7, True)])
def test_rounding_may_put_a_goal_outside_and_nothing_else_may(beyond, refused):
    """Beyond the corner of a triangle by a share of its size, straight away from the middle."""

    def rule(network):
        return lambda agents, triangles, targets: triangles[:, 0] + beyond * (triangles[:, 0] - triangles.mean(axis=1))

    network, targets = tc.build_network(SQUARE), tc.Targets([[1, 1]])
    if refused:
        with pytest.raises(InputError, match="out of its triangle"):
            tc.desired_configuration(network, targets, goal=rule)
    else:
        assert np.isfinite(tc.desired_configuration(network, targets, goal=rule)).all()


def test_inner_weights_are_never_negative():
    triangle = np.array([[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]])
    weights = inner_weights(np.array([[0.5, -1e-12]]), triangle)
    assert weights.min() == 0
    assert weights.sum() == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"goal": "nearest"}, "goal must be 'centroid'"),
        ({"anchors": "around"}, "'fit'"),
        ({"anchors": np.zeros((9, 2))}, r"shape \(5, 2\)"),
        ({"anchors": [[0, 0], [4, 0], [np.nan, 4], [0, 4], [2, 2]]}, "anchor 2 is not finite"),
        ({"anchors": [[0, 0], [4, 0], [4, -1e101], [0, 4], [2, 2]]}, r"anchor 2 is not finite, or beyond 1e\+100"),
        ({"resolution": 0}, "resolution"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        tc.desired_configuration(tc.build_network(SQUARE), tc.Targets([[1, 1]]), **settings)


def test_a_network_in_space_has_no_desired_configuration():
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.2, 0.2, 0.2]]
    with pytest.raises(InputError, match="in the plane"):
        tc.desired_configuration(tc.build_network(corners), tc.Targets([[0, 0]]))
