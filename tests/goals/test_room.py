"""Goals that leave room: against heights and inradii from Shapely, and distances by brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from shapely import LineString, Point, Polygon

import tricover as tc
from tests.safety.crowds import apart
from tricover.goals.room import inset_by, least_weights, with_room
from tricover.goals.rules import prepare


def shape(triangle):
    """Heights (3,) and inradius, by Shapely."""
    sides = [LineString([triangle[(k + 1) % 3], triangle[(k + 2) % 3]]) for k in range(3)]
    polygon = Polygon(triangle)
    heights = [2 * polygon.area / side.length for side in sides]
    return np.array(heights), 2 * polygon.area / polygon.length


@pytest.mark.parametrize("seed", range(30))
def test_least_weights_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    triangle, below = rng.uniform(-5, 5, (3, 2)), rng.integers(0, 4, 3)
    heights, inradius = shape(triangle)
    total = (np.maximum(1 / heights, below / inradius)).sum()
    for share in (0.1, 0.99, 1.01, 5.0):  # of what there is room for
        wanted = share / total * np.maximum(1 / heights, below / inradius)
        found = least_weights(triangle[None], below[None], share / total)[0]
        np.testing.assert_allclose(found, wanted if share <= 1 else wanted / share, rtol=1e-9)
        assert found.sum() <= 1 + 1e-12


def test_weights_are_a_third_each_where_there_is_no_area():
    line = np.array([[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]], [[3.0, 3.0]] * 3])
    assert least_weights(line, np.zeros((2, 3), int), 1.0)[1].tolist() == [1 / 3] * 3
    assert least_weights(line, np.zeros((2, 3), int), 1.0).sum(axis=1).tolist() == pytest.approx([1, 1])


@given(
    st.lists(st.floats(0, 1), min_size=3, max_size=3).filter(lambda w: sum(w) > 0.01),
    st.lists(st.floats(0, 1 / 3), min_size=3, max_size=3),
)
def test_inset_weights_are_at_least_the_least_and_sum_to_one(weights, least):
    given_weights, bound = np.array([weights]) / sum(weights), np.array([least])
    found = inset_by(given_weights, bound)
    assert found.sum() == pytest.approx(1, abs=1e-12)
    assert (found >= bound - 1e-15).all()
    if (given_weights >= bound).all() and bound.sum() < 0.99:
        np.testing.assert_allclose(found, given_weights, atol=1e-12)


def first_cells(network, positions):
    """For each first cell: its inradius, and how many agents are inside."""
    rows = network.layers[1]
    inradii = [shape(positions[network.in_neighbors[agent]])[1] for agent in rows]
    return np.array(inradii), 1 + network.descendants[rows].sum(axis=1)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("goal", ["centroid", "predictive", "reference"])
def test_places_are_apart_where_the_first_cells_have_room(seed, goal):
    """With an inradius of n·S, n agents fit into a first cell, whatever their goals."""
    rng = np.random.default_rng(seed)
    reference = rng.uniform(0, 100, (int(rng.integers(12, 80)), 2))
    network = tc.build_network(reference, mentee=["fermat", "balanced"][seed % 2])
    targets = rng.uniform(0, 100, ([1, 3, 300][seed % 3], 2))
    inradii, counts = first_cells(network, reference)
    separation = float((inradii / counts).min()) * (1 - 1e-9)
    places = tc.desired_configuration(network, targets, goal=goal, separation=separation)
    followers, anchors = places[network.followers], places[network.anchors]
    among = pdist(followers).min() if len(followers) > 1 else np.inf
    to_anchors = np.linalg.norm(followers[:, None] - anchors[None], axis=2).min()
    assert min(among, to_anchors) >= separation * (1 - 1e-9)
    for agent in network.followers:
        triangle = Polygon(places[network.in_neighbors[agent]])
        assert triangle.contains(Point(places[agent]))
        assert triangle.exterior.distance(Point(places[agent])) >= separation * (1 - 1e-9)


def test_places_in_cells_are_apart_too():
    without = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        reference, target = apart(rng, 25, 5.0), rng.uniform(40, 60, (1, 2))
        network = tc.build_network(reference, mentee="balanced")
        places = tc.desired_configuration(network, target, resolution=40, separation=0.5)
        assert pdist(places).min() >= 0.5
        without.append(pdist(tc.desired_configuration(network, target, resolution=40)).min())
    assert sorted(without)[4] < 0.5


def test_goals_that_leave_room_already_are_the_same_to_the_bit():
    rng = np.random.default_rng(3)
    network = tc.build_network(rng.uniform(0, 100, (60, 2)))
    targets = tc.Targets(rng.uniform(0, 100, (500, 2)))
    plain = prepare("centroid", network)
    agents = network.followers
    triangles = network.reference[network.in_neighbors[agents]]
    goals = plain(agents, triangles, targets)
    roomy = with_room(plain, network, 0.5, None)(agents, triangles, targets)
    least = least_weights(triangles, network.descendants[agents], 0.5)
    enough = (tc.geometry.barycentric(goals, triangles) > least + 1e-12).all(axis=1)
    assert 3 < enough.sum() < len(agents)
    np.testing.assert_array_equal(roomy[enough], goals[enough])
    assert (roomy[~enough] != goals[~enough]).any(axis=1).all()
    alone = [with_room(plain, network, 0.5, None)(agents[k : k + 1], triangles[k : k + 1], targets) for k in range(9)]
    np.testing.assert_array_equal(np.concatenate(alone), roomy[:9])
