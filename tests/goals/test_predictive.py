"""Predictive and rollout goals beside plain loops that do what the rules say, step by step."""

import numpy as np
import pytest

import tricover as tc
from tests.goals import plain
from tricover.geometry import CellGrid
from tricover.goals import prepare

RNG = np.random.default_rng(11)
POINTS = np.concatenate([RNG.random((250, 2)), 0.2 + 0.1 * RNG.normal(size=(150, 2))])
WEIGHTS = RNG.uniform(0.5, 2.0, len(POINTS))
SPARSE = WEIGHTS * (RNG.random(len(POINTS)) < 0.7)


GOALS = ("predictive", "rollout")


def network_of(agents, seed):
    inner = np.random.default_rng(seed).random((agents - 4, 2))
    return tc.build_network(np.concatenate([[[-0.2, -0.2], [1.2, -0.2], [1.2, 1.2], [-0.2, 1.2]], inner]), "balanced")


def one_cell(followers, seed=0):
    """A network whose followers are all below one of them, in the cell between two boundary agents and the core."""
    corners = np.array([[0, 0], [1, 0], [0, 1], [0.2, 0.2]])
    shares = np.random.default_rng(seed).dirichlet([1, 1, 1], followers)
    network = tc.build_network(np.concatenate([corners, shares @ corners[1:]]), "balanced", core=3)
    (top,) = network.layers[1]
    assert network.descendants[top].sum() == followers - 1
    return network, int(top)


def weights_of(weights, count):
    return np.ones(count) if weights is None else weights


def own_goal(goal, network, agent, triangle, targets):
    """The goal of one agent, as weights of its triangle's corners."""
    point = prepare(goal, network)(np.array([agent]), triangle[None], targets)
    return plain.coordinates(triangle, point)[0]


@pytest.mark.parametrize("weights", [None, WEIGHTS, SPARSE])
@pytest.mark.parametrize("seed", range(3))
def test_predictive_goal_is_that_of_a_plain_search(weights, seed):
    network, targets = network_of(40, seed), tc.Targets(POINTS, weights)
    positions = network.reference + 0.02 * np.random.default_rng(seed).normal(size=(40, 2))
    found = tc.goal_points(network, positions, targets, "predictive")
    for agent, point in zip(network.followers, found, strict=True):
        triangle = positions[network.in_neighbors[agent]]
        seen = plain.own_list(triangle, POINTS, weights_of(weights, len(POINTS)))
        expected = plain.predictive(triangle, network.descendants[agent], *seen)
        np.testing.assert_allclose(point, expected @ triangle, atol=1e-12)


def test_agents_of_these_tests_are_of_all_kinds():
    """Followers below all children, below some, below none: each term of the predicted cost decides somewhere."""
    followers = np.concatenate([(n := network_of(40, seed)).descendants[n.followers] for seed in range(3)])
    assert {int((row > 0).sum()) for row in followers} == {0, 1, 2, 3}


def test_predictive_place_costs_least_of_all_cells():
    network, targets = network_of(40, 2), tc.Targets(POINTS, WEIGHTS)
    found = tc.desired_configuration(network, targets, goal="predictive")
    for agent in network.followers[::6]:
        triangle = found[network.in_neighbors[agent]]
        seen = plain.own_list(triangle, POINTS, WEIGHTS)
        if len(seen[0]):
            data = (triangle, network.descendants[agent], *seen, plain.densities(triangle, *seen))
            others = plain.predicted(CellGrid(6).weights, *data)
            place = plain.coordinates(triangle, found[agent][None])
            assert plain.predicted(place, *data) <= min(others) * (1 + 1e-9)


@pytest.mark.parametrize("count", [4096, 4097, 26_000])
@pytest.mark.parametrize("below", [[5, 1, 3], [0, 4, 2], [0, 0, 0]])
def test_more_than_4096_targets_are_summarised_by_cell(count, below):
    """Before, at and after the limit, and where the number of cells has reached its own, 64 along a side."""
    from tricover.goals.lists import own_lists
    from tricover.goals.predictive import predictive_places

    rng = np.random.default_rng(count)
    triangle = np.array([[0.0, 0.0], [3.0, 0.5], [1.0, 2.0]])
    points = rng.dirichlet([0.7, 1, 2], count) @ triangle
    weights = rng.random(count) * (rng.random(count) < 0.8)
    order = np.lexsort((points[:, 1], points[:, 0]))
    found = predictive_places(np.array([below], float), own_lists(triangle[None], tc.Targets(points, weights)))
    expected = plain.predictive(triangle, below, points[order], weights[order])
    np.testing.assert_allclose(found[0], expected, atol=1e-12)


@pytest.mark.parametrize("goal", GOALS)
def test_places_keep_a_hundredth_off_the_edges(goal, monkeypatch):
    """Targets along the edges draw agents there; limits of 0.003 and 0.02 would have them go elsewhere."""
    network, agent = one_cell(2 if goal == "rollout" else 1)
    triangle = network.reference[network.in_neighbors[agent]]
    rule = getattr(plain, goal)
    differ, count = {0.003: 0, 0.02: 0}, 12 if goal == "rollout" else 3
    for seed in range(120):
        points = np.random.default_rng(seed).dirichlet([0.05, 0.5, 0.5], count) @ triangle
        seen = plain.own_list(triangle, points, np.ones(count))
        first = (network, agent, triangle) if goal == "rollout" else (triangle, network.descendants[agent])
        expected = rule(*first, *seen)
        found = own_goal(goal, network, agent, triangle, tc.Targets(points))
        np.testing.assert_allclose(found, expected, atol=1e-9)
        assert found.min() >= 0.01 - 1e-12
        for inset in differ:
            with monkeypatch.context() as patch:
                patch.setattr(plain, "INSET", inset)
                differ[inset] += not np.allclose(rule(*first, *seen), expected)
    assert min(differ.values()) > 0, differ


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("seed", range(3))
def test_rollout_goal_is_that_of_a_plain_simulation(weights, seed):
    network, targets = network_of(30, seed), tc.Targets(POINTS, weights)
    found = tc.goal_points(network, network.reference, targets, "rollout")
    moved = 0
    for agent, point in zip(network.followers, found, strict=True):
        triangle = network.reference[network.in_neighbors[agent]]
        seen = plain.own_list(triangle, POINTS, weights_of(weights, len(POINTS)))
        expected = plain.rollout(network, int(agent), triangle, *seen)
        np.testing.assert_allclose(point, expected @ triangle, atol=1e-12)
        moved += not np.allclose(expected, plain.predictive(triangle, network.descendants[agent], *seen))
    assert moved >= 4


def test_rollout_keeps_the_predictive_place_where_no_other_is_better():
    """A target on a corner of the triangle costs nothing, wherever the subtree goes."""
    network, top = one_cell(9)
    triangle = network.reference[network.in_neighbors[top]]
    for corner in triangle:
        goals = [own_goal(goal, network, top, triangle, tc.Targets([corner])) for goal in GOALS]
        np.testing.assert_array_equal(*goals)


def test_agents_without_followers_have_nothing_to_simulate():
    network, agent = one_cell(1)
    triangle = network.reference[network.in_neighbors[agent]]
    for seed in range(40):
        targets = tc.Targets(np.random.default_rng(seed).dirichlet([1, 1, 1], 4) @ triangle)
        np.testing.assert_array_equal(*(own_goal(goal, network, agent, triangle, targets) for goal in GOALS))


@pytest.mark.parametrize(("followers", "count"), [(2, 500), (3, 1200), (4, 3000)])
def test_rollout_looks_at_every_kth_of_many_targets(followers, count):
    network, top = one_cell(followers)
    triangle = network.reference[network.in_neighbors[top]]
    points = np.random.default_rng(count).dirichlet([1, 1, 1], count) @ triangle
    order = np.lexsort((points[:, 1], points[:, 0]))
    expected = plain.rollout(network, top, triangle, points[order], np.ones(count))
    found = own_goal("rollout", network, top, triangle, tc.Targets(points))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert count > 128 * followers


@pytest.mark.parametrize(("below", "rings"), [(256, 2), (257, 1)])
def test_rollout_tries_fewer_places_for_large_subtrees(below, rings):
    """The first ring moves by eighths, the second by sixteenths: the move away from the prediction tells them apart."""
    network, top = one_cell(below + 1, seed=0)
    triangle = network.reference[network.in_neighbors[top]]
    targets = tc.Targets(np.random.default_rng(1).dirichlet([1, 2, 0.5], 120) @ triangle)
    predicted, found = (own_goal(goal, network, top, triangle, targets) for goal in GOALS)
    sixteenths = 16 * (found - predicted)
    np.testing.assert_allclose(sixteenths, sixteenths.round(), atol=1e-9)
    odd = sixteenths.round() % 2
    assert np.abs(sixteenths).max() > 0.5
    assert odd.any() == (rings == 2)


@pytest.mark.parametrize(("below", "tries"), [(1024, True), (1025, False)])
def test_rollout_tries_nothing_for_the_largest_subtrees(below, tries):
    network, top = one_cell(below + 1, seed=2)
    triangle = network.reference[network.in_neighbors[top]]
    targets = tc.Targets(np.random.default_rng(1).dirichlet([1, 2, 0.5], 400) @ triangle)
    goals = [own_goal(goal, network, top, triangle, targets) for goal in GOALS]
    assert (np.abs(goals[0] - goals[1]).max() > 0.01) == tries


def subtree_cost(network, targets, agent, triangle, place):
    """Squared distances of the triangle's targets when ``agent`` is at ``place``, its subtree placed predictively."""
    positions = np.full((len(network), 2), np.nan)
    positions[network.in_neighbors[agent]], positions[agent] = triangle, place
    local_goal = prepare("predictive", network)
    for layer in network.layers[network.layer[agent] + 1 :]:
        for one in layer:
            corners = positions[network.in_neighbors[one]]
            if np.isfinite(corners).all():  # all of them in the subtree or corners of the top's own triangle
                positions[one] = local_goal(np.array([one]), corners[None], targets)[0]
    team = positions[np.isfinite(positions).all(axis=1)]
    seen = POINTS[[plain.holds(triangle, point) for point in POINTS]]
    return (((seen[:, None] - team) ** 2).sum(axis=2).min(axis=1)).sum()


def test_rollout_beats_the_predictive_place_of_the_same_agent():
    network, targets = network_of(40, 6), tc.Targets(POINTS)
    found = tc.desired_configuration(network, targets, goal="rollout")
    predict, better = prepare("predictive", network), 0
    for agent in network.layers[1]:
        triangle = found[network.in_neighbors[agent]]
        first = predict(np.array([agent]), triangle[None], targets)[0]
        ours, theirs = (subtree_cost(network, targets, agent, triangle, place) for place in (found[agent], first))
        assert ours <= theirs * (1 + 1e-9)
        better += ours < theirs * 0.999
    assert better


def test_results_do_not_depend_on_threads(monkeypatch):
    network, targets = network_of(60, 8), tc.Targets(POINTS)
    monkeypatch.setenv("TRICOVER_THREADS", "1")
    alone = tc.desired_configuration(network, targets, goal="rollout")
    monkeypatch.setenv("TRICOVER_THREADS", "4")
    np.testing.assert_array_equal(alone, tc.desired_configuration(network, targets, goal="rollout"))
