"""Descent: pulls against linear algebra, turns, and a cost that never rises."""

import numpy as np
import pytest

import tricover as tc
from tricover.control.descent import _turns, pull, weights_now
from tricover.control.near import own_cells
from tricover.errors import InputError
from tricover.geometry import volumes
from tricover.network.fan import fan_of
from tricover.simulation import Mission
from tricover.simulation.deciding import _up_the_layers, view_of
from tricover.simulation.deciding import rows_of as some_rows


def scenario(seed=0, agents=30, goal="descent", targets=400, **more):
    rng = np.random.default_rng(seed)
    control = {"motion": "morph", "goal": goal, **more.pop("control", {})}
    team, points = 100 * rng.random((agents, 2)), 100 * rng.random((targets, 2))
    weights = None if seed % 2 else rng.uniform(0.1, 3.0, targets)
    kept = {"steps": 80, **more}
    return tc.Scenario(
        reference=team, targets=tc.Targets(points, weights), network={"mentee": "balanced"}, control=control, **kept
    )


def cost(positions, targets):
    """By brute force."""
    weights = np.ones(len(targets)) if targets.weights is None else targets.weights
    squares = ((targets.points[:, None] - positions[None]) ** 2).sum(axis=2).min(axis=1)
    return float((weights * squares).sum() / weights.sum())


@pytest.mark.parametrize("seed", range(12))
def test_the_cost_never_rises_and_falls_a_lot(seed):
    given = scenario(seed, agents=[12, 30, 57][seed % 3])
    run = tc.simulate(given)
    costs = np.array([cost(positions, given_targets(run)) for positions in run.positions])
    assert (np.diff(costs) <= 1e-9 * costs[:-1]).all()
    assert costs[-1] < 0.8 * costs[0]


def given_targets(run):
    return run.mission.targets_at(0)


@pytest.mark.parametrize("goal", ["centroid", "predictive"])
def test_as_a_polish_it_begins_where_the_goal_has_led(goal):
    run = tc.simulate(scenario(3, 40, goal, control={"polish": {"descent": 40}}, steps=400, anchors="fit"))
    _, polish, hold = run.epochs
    assert [epoch.told.goal for epoch in run.epochs] == [goal, "descent", "reference"]
    costs = [cost(positions, given_targets(run)) for positions in run.positions[polish.start :]]
    assert (np.diff(costs) <= 1e-9 * costs[0]).all()
    assert costs[-1] < 0.9 * costs[0]
    assert run.converged
    extent = np.ptp(run.positions[-1], axis=0).max()
    assert np.abs(run.positions[hold.start] - run.positions[-1]).max() <= 1e-8 * extent


def test_pulls_are_derivatives_of_everybody_who_is_carried():
    """A_i and H_i are Σ_j W_ji m_j (c_j - r_j) and Σ_j W_ji m_j, W the inverse of I - weights, by dense algebra."""
    mission = Mission.of(scenario(4, 40))
    state, told = mission.start(), mission.epochs[0].told
    network = told.network
    views = _up_the_layers(mission, state, told, None)
    everybody = np.arange(40)
    cells = own_cells(view_of(mission, state, everybody), told)
    links = np.zeros((40, 40))
    for agent in network.followers:
        corners = state.positions[network.in_neighbors[agent]]
        system = np.vstack([corners.T, np.ones(3)])
        links[agent, network.in_neighbors[agent]] = np.linalg.solve(system, [*state.positions[agent], 1.0])
    carried = np.linalg.inv(np.eye(40) - links)
    expected = carried.T @ np.column_stack([cells.moments, cells.masses])
    for layer, view in views.items():
        found = view.pulled + np.column_stack([view.cells.moments, view.cells.masses])
        np.testing.assert_allclose(found, expected[network.layers[layer]], rtol=1e-9, atol=1e-9 * 400)


def test_three_numbers_go_up_each_link():
    mission = Mission.of(scenario(5, 20))
    state, told = mission.start(), mission.epochs[0].told
    deepest = told.network.layers[-1]
    view = _up_the_layers(mission, state, told, None)[told.network.depth]
    memory = some_rows(state.memory, deepest)
    sent = pull(view, told, memory)
    assert sent.shape == (len(deepest), 3, 3)
    own = np.column_stack([view.cells.moments, view.cells.masses])
    np.testing.assert_allclose(sent.sum(axis=1), own, rtol=1e-9, atol=1e-9)  # weights sum to one
    np.testing.assert_allclose(weights_now(view, memory).sum(axis=1), 1.0)


def test_one_layer_moves_its_weights_at_a_time_and_neighbours_on_the_boundary_do_not():
    run = tc.simulate(scenario(6, 30, steps=40))
    told, network = run.epochs[0].told, run.network
    turns = _turns(told)
    assert turns[network.core] == 0
    on_boundary = turns[network.boundary]
    assert (on_boundary != np.roll(on_boundary, 1)).all()
    assert sorted({*turns.tolist()}) == list(range(told.round))
    for step in range(1, run.steps):
        moved = np.flatnonzero((np.abs(run.weights[step] - run.weights[step - 1]) > 1e-12).any(axis=1))
        assert {*turns[moved].tolist()} <= {step % told.round}
        anchors = network.anchors[(run.positions[step + 1] != run.positions[step])[network.anchors].any(axis=1)]
        assert {*turns[anchors].tolist()} <= {step % told.round}


def test_first_cells_stay_counter_clockwise_and_lose_at_most_half_of_their_area():
    run = tc.simulate(scenario(7, 25))
    cells = run.network.anchors[fan_of(run.network)]
    areas = np.array([volumes(positions[cells]) for positions in run.positions])
    assert (areas > 0).all()
    assert (areas[1:] >= 0.5 * areas[:-1] * (1 - 1e-9)).all()


def test_given_anchors_stay():
    given = scenario(8, 25)
    network = tc.build_network(given.reference, "balanced")
    run = tc.simulate(given.replace(anchors=given.reference[network.anchors]))
    assert (run.positions[:, network.anchors] == given.reference[network.anchors]).all()
    moved = (run.positions[-1] != run.positions[0]).any(axis=1)
    assert moved[network.followers].any()


def test_nobody_is_too_fast():
    run = tc.simulate(scenario(9, 30, control={"speed": 1.0}))
    assert np.linalg.norm(np.diff(run.positions, axis=0), axis=2).max() <= 1.0


def test_it_comes_to_rest_and_then_nobody_would_move():
    run = tc.simulate(scenario(2, 8, targets=60, steps=4000))
    assert run.settled_at is not None
    assert run.steps - run.settled_at >= run.epochs[0].told.round
    assert run.converged


@pytest.mark.parametrize(
    ("control", "world", "message"),
    [
        ({"motion": "reach"}, {}, "take motion"),
        ({"motion": "walk"}, {}, "take motion"),
        ({"polish": 5}, {}, "needs no polish"),
        ({}, {"delay": 1}, "leave delay, loss"),
        ({}, {"sight": 10.0}, "leave sight out"),
    ],
)
def test_what_it_does_not_go_with_is_one_clear_error(control, world, message):
    with pytest.raises(InputError, match=message):
        scenario(0, 20, control=control, world=world)


def test_a_polish_by_descent_needs_morph():
    with pytest.raises(InputError, match='"descent" moves a layer'):
        scenario(0, 20, "predictive", control={"motion": "reach", "polish": {"descent": 5}})
