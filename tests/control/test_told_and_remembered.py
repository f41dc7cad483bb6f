"""What agents were told and what they remember has its effect on what they decide, each setting its own."""

from dataclasses import replace

import numpy as np
import pytest

import tricover as tc
from tests.simulation.plain import cell_of, coordinates
from tests.simulation.teams import scenario, team
from tricover import mdp
from tricover.control import Near, Told, View, cells_of, decide, distances, memory_of, reach_sets_of
from tricover.errors import InputError
from tricover.goals.voronoi import Cells
from tricover.simulation import Mission

TRIANGLE = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])


def a_team(motion="walk", **settings):
    """What a small team was told, and a view of everybody at its reference position."""
    reference, points = team(3, agents=40)
    network = tc.build_network(reference, "balanced")
    told = Told(network, reference[None, network.anchors], motion=motion, resolution=7, **settings)
    heard = np.where(network.in_neighbors[..., None] < 0, np.nan, reference[network.in_neighbors])
    return told, View(0, np.arange(len(network)), reference.copy(), heard, tc.Targets(points))


def test_the_decision_process_has_the_settings_that_were_told(monkeypatch):
    """They seldom change a move, so it is asked what they are."""
    told, view = a_team(alpha=2.0, beta=3.0, gamma=0.5)
    asked, solve = [], mdp.next_moves

    def listen(grid, *parts, **settings):
        asked.append((grid.resolution, settings))
        return solve(grid, *parts, **settings)

    monkeypatch.setattr(mdp, "next_moves", listen)
    decide(view, told, {})
    assert asked == [(7, {"alpha": 2.0, "beta": 3.0, "gamma": 0.5})]


@pytest.mark.parametrize("margin", [0.0, 0.05, 0.2])
def test_reach_sets_have_the_margin_that_was_told(margin):
    told, view = a_team(margin=margin)
    start = view.positions.copy()
    start[told.network.followers[::3]] += 50.0
    view = replace(view, positions=start)
    decision = decide(view, told, {})
    sets, grid = reach_sets_of(view, told, decision), tc.CellGrid(7)
    state, goal, step = decision.cells
    for agent in told.network.followers[goal[told.network.followers] >= 0]:
        corners = view.heard[agent] if state[agent] < 0 else grid.corners(int(step[agent])) @ view.heard[agent]
        wanted = (np.full((3, 3), margin) + np.eye(3) * (1 - 3 * margin)) @ corners
        np.testing.assert_allclose(sets[agent], wanted, atol=1e-12)
    assert (state[told.network.followers] == -1).any()
    assert (state[told.network.followers] >= 0).any()


@pytest.mark.parametrize("motion", ["reach", "walk"])
def test_cells_of_everybody(motion):
    """Anchors have none; of followers in every layer, the state is found point by point."""
    told, view = a_team(motion)
    network, grid = told.network, tc.CellGrid(7)
    for rows in (np.arange(len(network)), network.anchors, network.followers):
        some = view.rows(rows)
        decision = decide(some, told, {})
        cells = cells_of(some, told, decision)
        if motion == "walk":
            assert decision.cells is cells
        for row, agent in enumerate(rows):
            found = [int(part[row]) for part in cells]
            if network.layer[agent] == 0:
                assert found == [-2, -2, -2]
                continue
            assert found[0] == cell_of(coordinates(view.positions[agent], *view.heard[agent]), grid)
            assert found[1] == cell_of(coordinates(decision.goal_points[row], *view.heard[agent]), grid)
            if motion == "reach":
                assert found[2] == found[1]


def walking(positions, targets, resolution=3):
    """Followers in the same triangle, and what they decide."""
    told, view = a_team()
    told = replace(told, resolution=resolution)
    agents = told.network.followers[: len(positions)]
    view = View(0, agents, np.array(positions), np.tile(TRIANGLE, (len(positions), 1, 1)), tc.Targets(targets))
    return view, told, decide(view, told, {})


@pytest.mark.parametrize("cell", range(9))
def test_who_walks_has_arrived_anywhere_in_its_goal_cell(cell):
    """Otherwise the way is that to the middle of the cell, from outside the triangle too."""
    grid = tc.CellGrid(3)
    corners = grid.corners(cell) @ TRIANGLE
    middle, near_a_corner = corners.mean(axis=0), corners.mean(axis=0) * 0.3 + corners[0] * 0.7
    away = np.array([-3.0, -4.0])
    view, told, decision = walking([near_a_corner, middle, away], [near_a_corner])
    assert decision.cells.goal.tolist() == [cell] * 3
    before = decision.goal_points.copy()
    found = distances(view, told, decision)
    np.testing.assert_allclose(found, [0.0, 0.0, np.hypot(*(away - middle))], rtol=1e-12, atol=0)
    np.testing.assert_array_equal(decision.goal_points, before)
    other = tc.CellGrid(3).corners((cell + 4) % 9) @ TRIANGLE
    view, told, decision = walking([other.mean(axis=0)], [near_a_corner])
    np.testing.assert_allclose(distances(view, told, decision), np.hypot(*(other.mean(axis=0) - middle)), rtol=1e-12)


def test_who_reaches_has_arrived_at_its_goal_point_alone():
    told, view = a_team("reach")
    decision = decide(view, told, {})
    apart = view.positions - decision.goal_points
    np.testing.assert_allclose(distances(view, told, decision), np.hypot(*apart.T), rtol=1e-12)


@pytest.mark.parametrize("motion", ["reach", "walk"])
def test_an_anchor_without_a_place_goes_back_to_where_it_remembers(motion):
    """Wherever it was blown, and whoever else decides with it."""
    told, view = a_team(motion)
    network = told.network
    paths = told.paths.copy()
    own = [0, len(network.anchors) - 1]
    paths[:, own] = np.nan
    told = replace(told, paths=paths)
    memory = memory_of(told, view.positions)
    blown = replace(view, positions=view.positions + 0.25)
    for rows in (np.arange(len(network)), network.anchors, network.anchors[own][::-1]):
        decision = decide(blown.rows(rows), told, {"place": memory["place"][rows]})
        for row, agent in enumerate(rows):
            if network.layer[agent] == 0:
                wanted = view.positions[agent].tolist()
                assert decision.setpoints[row].tolist() == decision.goal_points[row].tolist() == wanted


def test_memory_is_ones_own_and_there_is_none_where_nobody_needs_it():
    told, view = a_team()
    assert dict(memory_of(told, view.positions)) == {}
    paths = told.paths.copy()
    paths[0, 0] = np.nan
    staying, positions = replace(told, paths=paths), view.positions.copy()
    memory = memory_of(staying, positions)
    positions += 1.0
    np.testing.assert_array_equal(memory["place"], view.positions)
    assert dict(Mission.of(scenario(0, agents=20)).start().memory) == {}


def test_what_was_told_by_default_is_what_a_scenario_says_by_default():
    given = scenario(0, agents=20)
    told = Mission.of(given).epochs[0].told
    default = Told(told.network, told.paths)
    for name in ("goal", "motion", "resolution", "alpha", "beta", "gamma", "margin"):
        assert getattr(default, name) == getattr(told, name) == getattr(given.control, name), name
    control = {"goal": "rollout", "motion": "walk", "resolution": 9, "alpha": 2.0, "beta": 3.0, "gamma": 0.5}
    other = Mission.of(given.replace(control={**control, "margin": 0.1})).epochs[0].told
    for name, value in {**control, "margin": 0.1}.items():
        assert getattr(other, name) == value, name


def test_rows_of_a_view_are_rows_of_all_that_it_holds():
    _, view = a_team()
    rng = np.random.default_rng(0)
    ages = rng.integers(0, 9, (40, 3))
    near, cells = Near(np.arange(7), rng.random((7, 2))), Cells(rng.random(40), rng.random((40, 2)))
    view = replace(view, step=5, ages=ages, near=near, cells=cells)
    for rows in ([3, 39, 3, 0], [], [7]):
        some = view.rows(np.array(rows, np.int64))
        assert some.step == 5
        assert some.agents.tolist() == rows
        np.testing.assert_array_equal(some.positions, view.positions[rows])
        np.testing.assert_array_equal(some.heard, view.heard[rows])
        np.testing.assert_array_equal(some.ages, ages[rows])
        assert some.seen is view.seen
        assert some.near is near  # of which a row reads what is in its range
        np.testing.assert_array_equal(some.cells.masses, cells.masses[rows])
        np.testing.assert_array_equal(some.cells.moments, cells.moments[rows])
    assert a_team()[1].rows(np.array([1])).near is None


@pytest.mark.parametrize("name", ["speed", "separation"])
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf"), [1.0, 2.0], "2"])
def test_lengths_that_are_none_are_named(name, value):
    network = tc.build_network([[0, 0], [4, 0], [0, 4], [1, 1]])
    with pytest.raises(InputError, match=f"{name} must be a positive number of metres"):
        Told(network, network.reference[None, network.anchors], **{name: value})
