"""The local step against its definition, one agent at a time and in exact arithmetic where it can be had."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tricover as tc
from tricover.control import MOTIONS, NO_CELL, Told, View, cells_of, decide, distances, inset, reach_sets_of, rows_of
from tricover.control.memory import nothing_planned
from tricover.geometry import barycentric, flat
from tricover.simulation import Mission
from tricover.simulation.deciding import decide_all, view_of

MARGIN = 0.05


@cache
def crowd():
    """A network with many followers: agents of a view are followers, whatever triangle is made up for them."""
    return tc.build_network(np.random.default_rng(0).random((400, 2)), "balanced")


def told(motion, resolution=6):
    network = crowd()
    return Told(network, network.reference[None, network.anchors], motion=motion, resolution=resolution, margin=MARGIN)


def followers(count):
    return crowd().followers[:count]


def decided(view, motion, resolution=6):
    """Everything that follows from a view, by name."""
    given, memory = told(motion, resolution), {}
    if motion == "morph":  # in-neighbours that stay, and an agent that has no weights yet
        view, memory = replace(view, announced=view.heard), nothing_planned(len(view.agents))
    decision = decide(view, given, memory)
    sets = reach_sets_of(view, given, decision)
    cells = cells_of(view, given, decision)
    return SimpleNamespace(**vars(decision) | {"cells": None}, **cells._asdict(), reach_sets=sets)


NAMES = ("state", "goal", "next", "goal_points", "reach_sets", "setpoints")


@st.composite
def views(draw):
    """Agents in and out of triangles of all kinds: ordinary, thin, flipped, flat, coincident, tiny, huge, far off."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(1, 12))
    triangles = rng.normal(size=(count, 3, 2))
    for row, kind in enumerate(rng.integers(0, 6, count)):
        if kind == 1:
            triangles[row, :, 1] *= 1e-4
        elif kind == 2:
            triangles[row] = triangles[row, 0] + np.outer([0, 1, 3], triangles[row, 1])
        elif kind == 3:
            triangles[row, 2] = triangles[row, 1]
        elif kind == 4:
            triangles[row] = np.round(triangles[row])
    weights = rng.dirichlet(np.ones(3), count)
    weights[rng.random(count) < 0.3] += [0.5, -0.5, 0.0]
    weights[rng.random(count) < 0.2] = [0.5, 0.5, 0.0]
    positions = (weights[..., None] * triangles).sum(axis=1)
    targets = rng.normal(size=(draw(st.integers(1, 40)), 2))
    scale, shift = draw(st.sampled_from([(1, 0), (1, 0), (1e-6, 0), (1e6, 0), (10, 100)]))
    seen = tc.Targets(targets * scale + shift)
    return View(0, followers(count), positions * scale + shift, triangles * scale + shift, seen)


def row(view, agent):
    one = slice(agent, agent + 1)
    return View(view.step, view.agents[one], view.positions[one], view.heard[one], view.seen)


@pytest.mark.parametrize("motion", MOTIONS)
@settings(max_examples=60)
@given(view=views())
def test_one_agent_is_a_batch_of_one(motion, view):
    together = decided(view, motion)
    for agent in range(len(view.agents)):
        alone = decided(row(view, agent), motion)
        for name in NAMES:
            np.testing.assert_array_equal(getattr(alone, name)[0], getattr(together, name)[agent], err_msg=name)


@pytest.mark.parametrize("motion", MOTIONS)
@settings(max_examples=40)
@given(view=views())
def test_targets_outside_the_own_triangle_are_not_looked_at(motion, view):
    offsets, members = view.seen.members(view.heard)
    together = decided(view, motion)
    for agent in range(len(view.agents)):
        seen = view.seen.points[np.sort(members[offsets[agent] : offsets[agent + 1]])]
        if len(seen):
            own = row(view, agent)
            alone = decided(View(0, own.agents, own.positions, own.heard, tc.Targets(seen)), motion)
            np.testing.assert_allclose(alone.goal_points[0], together.goal_points[agent], rtol=1e-12, atol=1e-300)


@settings(max_examples=80)
@given(view=views(), resolution=st.integers(1, 9))
def test_walk_keeps_its_margin_and_follows_the_policy(view, resolution):
    grid = tc.CellGrid(resolution)
    decision = decided(view, "walk", resolution)
    without_area = flat(view.heard)
    np.testing.assert_array_equal(decision.goal == -1, without_area)
    for agent in np.flatnonzero(without_area):
        mean = view.heard[agent].mean(axis=0)
        np.testing.assert_array_equal(decision.reach_sets[agent], [mean, mean, mean])
        assert decision.state[agent] == decision.next[agent] == -1
    for agent in np.flatnonzero(~without_area):
        triangle, state, reach_set = view.heard[agent], decision.state[agent], decision.reach_sets[agent]
        if state == -1:
            assert decision.next[agent] == -1
            around = triangle
        else:
            mdp = tc.LocalMDP(grid, triangle, int(decision.goal[agent]))
            assert decision.next[agent] == mdp.solve().policy[state]
            around = grid.corners(int(decision.next[agent])) @ triangle
        # Corners keep η from two edges and 1 - 2η from the third: edge-aligned, strictly inside, as large as can be.
        size = np.ptp(around, axis=0).max()
        wanted = np.full((3, 3), MARGIN) + np.eye(3) * (1 - 3 * MARGIN)
        slack = 1e-9 * size + 1e-12 * np.abs(around).max()
        np.testing.assert_allclose(reach_set, wanted @ around, atol=slack, rtol=0)
        np.testing.assert_allclose(decision.setpoints[agent], reach_set.mean(axis=0), atol=slack, rtol=0)


def test_state_and_goal_cell_in_exact_arithmetic():
    """Cells found from rational barycentric coordinates, away from the cells' edges."""
    rng = np.random.default_rng(0)
    triangles = rng.integers(-50, 50, (200, 3, 2)).astype(float)
    triangles = triangles[~flat(triangles)]
    positions = rng.integers(-50, 50, (len(triangles), 2)).astype(float)
    view = View(0, followers(len(triangles)), positions, triangles, tc.Targets([[1e3, 1e3]]))
    grid = tc.CellGrid(7)
    decision = decided(view, "walk", 7)
    checked = 0
    for corners, position, state in zip(triangles.tolist(), positions.tolist(), decision.state, strict=True):
        (ax, ay), (bx, by), (cx, cy) = [[Fraction(c) for c in corner] for corner in corners]
        x, y = Fraction(position[0]), Fraction(position[1])
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        second = ((x - ax) * (cy - ay) - (y - ay) * (cx - ax)) / area
        third = ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / area
        scaled = [7 * (1 - second - third), 7 * second, 7 * third]
        if any(part == part.__floor__() for part in scaled):
            continue
        checked += 1
        if min(scaled) < 0:
            assert state == -1
        else:
            assert grid.coordinates[state].tolist() == [part.__floor__() for part in scaled]
    assert checked > 100


def test_a_goal_on_an_edge_belongs_to_one_cell():
    triangle = np.array([[[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]])
    for target in ([1.0, 1.0], [2.0, 0.0], [0.0, 0.0], [2.0, 2.0], [1.0, 2.0]):
        view = View(0, followers(1), np.array([[1.0, 1.5]]), triangle, tc.Targets([target]))
        decision = decided(view, "walk", 4)
        corners = tc.CellGrid(4).corners(decision.goal) @ triangle
        inside = barycentric(np.array([target]), corners)
        assert inside.min() >= 0
        np.testing.assert_array_equal(decision.goal_points, [target])


def test_reach_asks_for_the_goal_point_itself():
    triangle = np.array([[[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]] * 2)
    view = View(0, followers(2), np.array([[1.0, 1.5], [9.0, 9.0]]), triangle, tc.Targets([[1.0, 0.5], [2.0, 0.5]]))
    decision = decided(view, "reach")
    np.testing.assert_array_equal(decision.reach_sets, np.tile([1.5, 0.5], (2, 3, 1)))
    assert decision.state.tolist()[1] == -1


def test_inset_of_a_batch():
    triangles = np.random.default_rng(1).random((4, 5, 3, 2))
    small = inset(triangles, 0.1)
    np.testing.assert_allclose(barycentric(small, triangles[..., None, :, :]).min(axis=(-1, -2)), 0.1)


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize("goal", ["centroid", "predictive", "rollout", "reference"])
def test_a_whole_team_decides_row_by_row(motion, goal):
    """Anchors and followers together, with places that some anchors have to remember."""
    rng = np.random.default_rng(6)
    reference = rng.random((30, 2)) * 20
    network = tc.build_network(reference, "balanced")
    mission = Mission.of(
        tc.Scenario(
            reference=reference,
            targets={"positions": rng.random((90, 2)) * 20, "weights": rng.random(90)},
            anchors=reference[network.anchors] + 0.5,
            network={"mentee": "balanced"},
            control={"motion": motion, "goal": goal, "resolution": 7},
            events={"leave": [{"step": 2, "agents": network.boundary[:1]}]},
            vehicle="anywhere",
            steps=6,
        )
    )
    states = [step.state for step in tc.steps(mission)]
    for state in (states[0], states[3]):
        given = mission.epoch_at(state.step).told
        agents = np.flatnonzero(given.network.layer >= 0)[::-1]  # in any order
        following = decide_all(mission, state).decision.setpoints if motion == "morph" else None
        view, memory = view_of(mission, state, agents, following), rows_of(state.memory, agents)
        together = decide(view, given, memory)
        cells, sets = cells_of(view, given, together), reach_sets_of(view, given, together)
        away = distances(view, given, together)
        for row, agent in enumerate(agents):
            one = view_of(mission, state, np.array([agent]), following)
            alone = decide(one, given, rows_of(state.memory, np.array([agent])))
            np.testing.assert_array_equal(alone.setpoints[0], together.setpoints[row])
            np.testing.assert_array_equal(alone.goal_points[0], together.goal_points[row])
            assert [cell[0] for cell in cells_of(one, given, alone)] == [cell[row] for cell in cells]
            np.testing.assert_array_equal(reach_sets_of(one, given, alone)[0], sets[row])
            assert distances(one, given, alone)[0] == away[row]
            if given.network.layer[agent] == 0:
                assert {cell[row] for cell in cells} == {NO_CELL}
                assert away[row] == np.hypot(*(state.positions[agent] - together.setpoints[row]))
            for name, rows in together.remembered.items():
                np.testing.assert_array_equal(alone.remembered[name][0], rows[row])
    assert given.some_stay == (motion != "morph")  # whose anchors' ways are worked out before
