"""Descent: pulls against linear algebra, turns, and a cost that never rises."""

from dataclasses import replace

import numpy as np
import pytest

import tricover as tc
from tricover.control.descent import _turns, anchor_places, descent_weights, pull, weights_now
from tricover.control.near import own_cells
from tricover.errors import InputError
from tricover.geometry import volumes
from tricover.goals.voronoi import Cells as VoronoiCells
from tricover.network.fan import fan_of
from tricover.simulation import Mission
from tricover.simulation.deciding import _up_the_layers, view_of
from tricover.simulation.deciding import rows_of as some_rows

DESCENT = {"motion": "morph", "goal": "descent"}
ODD = 3  # a seed whose team has an odd number of boundary agents


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


@pytest.mark.parametrize("seed", range(6))
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


@pytest.mark.parametrize("seed", [3, 6])
def test_one_layer_moves_its_weights_at_a_time_and_neighbours_on_the_boundary_do_not(seed):
    run = tc.simulate(scenario(seed, 30, steps=40))
    assert len(run.network.boundary) % 2 == (1 if seed == ODD else 0)
    told, network = run.epochs[0].told, run.network
    turns = _turns(told)
    assert turns[network.core] == 0
    on_boundary = turns[network.boundary]
    assert (on_boundary != np.roll(on_boundary, 1)).all()
    assert sorted({*turns.tolist()}) == list(range(told.round))
    assert not {*turns[network.anchors].tolist()} & {*turns[network.followers].tolist()}
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


def one_of(mission, agents, pulled, masses=0.0):
    """What some agents know at the start, with made-up Voronoi cells and pulls from below."""
    state, told = mission.start(), mission.epochs[0].told
    view = view_of(mission, state, agents, state.positions)
    cells = VoronoiCells(np.full(len(agents), masses), np.zeros((len(agents), 2)))
    return replace(view, cells=cells, pulled=np.asarray(pulled, float)), told


def test_who_has_nothing_to_gain_keeps_its_weights_however_near_to_an_edge():
    """Half-way between two corners but for a millionth, and nobody pulls: the inset of other goals does not count."""
    rng = np.random.default_rng(0)
    corners = np.array([[0.0, 0.0], [100.0, 0.0], [0.0, 100.0], [100.0, 100.0], [50.0, 50.0], [50.0, 1e-4]])
    given = tc.Scenario(reference=corners, targets=100 * rng.random((9, 2)), control=DESCENT)
    mission = Mission.of(given)
    follower = mission.epochs[0].network.followers
    assert follower.tolist() == [5]
    view, told = one_of(mission, follower, np.zeros((1, 3)))
    memory = some_rows(mission.start().memory, follower)
    turn = int(_turns(told)[5])
    before = weights_now(view, memory)
    assert before.min() < 1e-5
    found = descent_weights(replace(view, step=turn), told, memory)
    np.testing.assert_array_equal(found, before)
    # With somebody who pulls it goes, and not nearer to the edge than it is.
    pulled = replace(view, step=turn, pulled=np.array([[20.0, -50.0, 1.0]]))
    moved = descent_weights(pulled, told, memory)
    assert np.abs(moved - before).max() > 0.05
    assert moved.min() >= before.min() * (1 - 1e-9)
    # A pull that would move it by less than it cares for leaves it where it is.
    little = replace(view, step=turn, pulled=np.array([[0.5 * told.rest, 0.0, 1.0]]))
    np.testing.assert_array_equal(descent_weights(little, told, memory), before)


def test_weights_in_needles_are_kept():
    given = scenario(1, 12)
    mission = Mission.of(given)
    agents = mission.epochs[0].network.layers[1][:1]
    view, told = one_of(mission, agents, [[30.0, 30.0, 1.0]])
    needle = np.array([[[0.0, 0.0], [100.0, 0.0], [50.0, 1e-6]]])
    memory = {"weights": np.array([[0.3, 0.3, 0.4]]), "corners": needle}
    view = replace(view, step=int(_turns(told)[agents[0]]), announced=needle, heard=needle)
    np.testing.assert_array_equal(descent_weights(view, told, memory), memory["weights"])
    wide = np.array([[[0.0, 0.0], [100.0, 0.0], [50.0, 60.0]]])
    assert (descent_weights(replace(view, announced=wide, heard=wide), told, memory) != memory["weights"]).any()


def test_anchors_go_until_a_first_cell_has_half_of_its_area_or_would_be_thin():
    rng = np.random.default_rng(2)
    bound, thin = 0, 0
    for seed in range(40):
        given = scenario(seed, 10, control={"speed": 1e6})
        mission = Mission.of(given)
        told, start = mission.epochs[0].told, mission.start().positions
        network = told.network
        agent = int(rng.choice(network.anchors))
        pull_by = [*(300 * rng.normal(size=2)), 1.0]
        view, _ = one_of(mission, np.array([agent]), [pull_by])
        after = start.copy()
        after[agent] = anchor_places(replace(view, step=int(_turns(told)[agent])), told)[0]
        cells = network.anchors[fan_of(network)]
        cells = cells[(cells == agent).any(axis=1)]
        sides = start[cells] - np.roll(start[cells], 1, axis=1)
        longest = np.hypot(sides[..., 0], sides[..., 1]).max(axis=1)
        areas, kept = volumes(start[cells]), volumes(after[cells])
        least = np.minimum(areas, np.maximum(areas / 2, 1e-3 * longest**2))
        assert (kept >= least * (1 - 1e-9)).all()
        whole = np.allclose(after[agent] - start[agent], pull_by[:2])
        bound += not whole and bool(np.isclose(kept, areas / 2).any())
        thin += bool((areas <= 1e-3 * longest**2).any())
        assert whole or np.isclose(kept, least).any()
    assert bound > 10


def test_anchors_that_would_hardly_move_stay():
    mission = Mission.of(scenario(1, 12))
    told = mission.epochs[0].told
    agents = np.array([told.network.core])
    view, _ = one_of(mission, agents, [[0.9 * told.rest, 0.0, 1.0]])
    np.testing.assert_array_equal(anchor_places(replace(view, step=0), told), view.positions)
    view, _ = one_of(mission, agents, [[1.1 * told.rest, 0.0, 1.0]])
    assert (anchor_places(replace(view, step=0), told) != view.positions).any()


def test_a_first_cell_that_is_thin_is_made_no_thinner():
    """The core stands next to a side: pulled there it stays, pulled away it goes."""
    team = [[0.0, 0.0], [100.0, 0.0], [100.0, 100.0], [0.0, 100.0], [50.0, 0.02], [50.0, 60.0]]
    mission = Mission.of(tc.Scenario(reference=team, targets=[[5, 5]], network={"core": 4}, control=DESCENT))
    told = mission.epochs[0].told
    for pull_by, goes in ((-1.0, False), (1.0, True)):
        view, _ = one_of(mission, np.array([4]), [[0.0, pull_by, 1.0]])
        found = anchor_places(replace(view, step=0), told)
        assert (found != view.positions).any() == goes
