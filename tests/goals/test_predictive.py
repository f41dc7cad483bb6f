"""Predictive and rollout goals: the least of what their formulas say, by plain loops."""

import numpy as np
import pytest

import tricover as tc
from tests.goals import plain
from tricover.geometry import CellGrid
from tricover.goals import predictive as module
from tricover.goals import prepare

RNG = np.random.default_rng(11)
POINTS = np.concatenate([RNG.random((250, 2)), 0.2 + 0.1 * RNG.normal(size=(150, 2))])
WEIGHTS = RNG.uniform(0.5, 2.0, len(POINTS))


def network_of(agents, seed):
    inner = np.random.default_rng(seed).random((agents - 4, 2))
    return tc.build_network(np.concatenate([[[-0.2, -0.2], [1.2, -0.2], [1.2, 1.2], [-0.2, 1.2]], inner]), "balanced")


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_predictive_place_costs_least_of_all_cells(weights):
    network, targets = network_of(40, 2), tc.Targets(POINTS, weights)
    masses = np.ones(len(POINTS)) if weights is None else weights
    density = plain.density(POINTS, masses)
    np.testing.assert_allclose(targets.density, density, rtol=1e-9)
    found = tc.desired_configuration(network, targets, goal="predictive")
    for agent in network.followers[::6]:
        triangle = found[network.in_neighbors[agent]]
        seen = np.array([plain.holds(triangle, point) for point in POINTS])
        if seen.any():
            data = (triangle, network.descendants[agent], POINTS[seen], masses[seen], density[seen])
            others = [plain.predicted(weights @ triangle, *data) for weights in CellGrid(6).weights]
            assert plain.predicted(found[agent], *data) <= min(others) * (1 + 1e-9)


def test_asking_the_index_and_walking_lists_find_the_same(monkeypatch):
    network, targets = network_of(120, 4), tc.Targets(POINTS, WEIGHTS)
    monkeypatch.setattr(module, "_MANY", 0)
    asked = tc.desired_configuration(network, targets, goal="predictive")
    monkeypatch.setattr(module, "_MANY", 10**9)
    walked = tc.desired_configuration(network, targets, goal="predictive")
    assert (network.descendants[network.followers] > 0).all(axis=1).sum() > 5  # both ways were gone
    np.testing.assert_allclose(asked, walked, atol=1e-9)


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
