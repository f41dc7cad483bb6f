"""Who hears only of those near by, and sees only what is around it, decides the same bits as in the team."""

from dataclasses import replace

import numpy as np
import pytest
import shapely

import tricover as tc
from tests.simulation.teams import team
from tricover.control import Near, Told, View, decide, memory_of
from tricover.errors import InputError
from tricover.geometry import barycentric
from tricover.geometry.closest import inset_triangles
from tricover.goals.voronoi import voronoi_cells
from tricover.simulation import Mission
from tricover.simulation.deciding import decide_all, view_of
from tricover.simulation.state import State


def a_mission(seed, agents=40, **control):
    reference, targets = team(seed, agents=agents, targets=300)
    return Mission.of(tc.Scenario(reference=reference, targets=targets, control={"goal": "voronoi", **control}))


def moved(mission, seed):
    """The start of a mission with everybody somewhere else, so that triangles are of every kind."""
    state, rng = mission.start(), np.random.default_rng(seed)
    extent = np.ptp(state.positions, axis=0).max()
    return replace(state, positions=state.positions + 0.1 * extent * rng.normal(size=state.positions.shape))


def alone(mission, state, agent, agents, targets):
    """What an agent decides that is handed some agents, and some targets."""
    told = mission.epoch_at(state.step).told
    own = np.array([agent])
    heard = np.full((1, 3, 2), np.nan)
    if told.network.layer[agent] > 0:
        heard = state.positions[told.network.in_neighbors[agent]][None]
    near = Near(agents, state.positions[agents])
    view = View(state.step, own, state.positions[own], heard, targets, near=near)
    return decide(view, told, memory_of(told, state.positions[own]))


def only(targets, some):
    """Some of the targets, which may be none, in their order."""
    if some.any():
        return tc.Targets(targets.points[some])
    far = np.abs(targets.points).max() * 3 + 1
    return tc.Targets(targets.points).within(np.array([[far, far], [2 * far, far], [far, 2 * far]]))


@pytest.mark.parametrize("share", [0.05, 0.2, 0.6])
@pytest.mark.parametrize("seed", range(6))
def test_with_a_range_nobody_needs_more_than_who_is_within_it_and_targets_within_half(seed, share):
    reach = share * float(np.ptp(team(seed, agents=40)[0], axis=0).max())
    mission = a_mission(seed, range=reach)
    state = moved(mission, seed)
    everybody = decide_all(mission, state).decision
    targets = mission.targets_at(0)
    for agent in range(mission.agents):
        here = state.positions[agent]
        near = np.flatnonzero(np.hypot(*(state.positions - here).T) <= reach)
        around = np.hypot(*(targets.points - here).T) <= reach / 2 * (1 + 1e-12)
        found = alone(mission, state, agent, near, only(targets, around))
        np.testing.assert_array_equal(found.goal_points[0], everybody.goal_points[agent])
        np.testing.assert_array_equal(found.setpoints[0], everybody.setpoints[agent])


@pytest.mark.parametrize("seed", range(4))
def test_without_a_range_nobody_needs_more_than_who_borders_on_its_targets(seed):
    """All agents within twice the distance to the farthest of its own targets, and all targets within that distance."""
    mission = a_mission(seed)
    state = moved(mission, seed)
    everybody = decide_all(mission, state).decision
    targets = mission.targets_at(0)
    squares = ((targets.points[:, None] - state.positions) ** 2).sum(axis=2)
    owners = squares.argmin(axis=1)
    for agent in range(mission.agents):
        own = np.sqrt(squares[owners == agent, agent]).max(initial=0.0) * (1 + 1e-9)
        near = np.flatnonzero(np.hypot(*(state.positions - state.positions[agent]).T) <= 2 * own)
        near = np.union1d(near, [agent])
        around = (np.sqrt(squares[:, agent]) <= own) & (own > 0)
        found = alone(mission, state, agent, near, only(targets, around))
        np.testing.assert_array_equal(found.goal_points[0], everybody.goal_points[agent])


def test_what_is_out_of_range_does_not_count():
    """Two targets, one of them farther away than half of the range: by hand."""
    reference = np.array([[0.0, 0.0], [90.0, 0.0], [0.0, 90.0], [20.0, 20.0], [10.0, 30.0]])
    targets = tc.Targets([[22.0, 20.0], [20.0, 26.0]])
    for reach, goal in ((4.0, [22.0, 20.0]), (12.0, [21.0, 23.0]), (3.9, [20.0, 20.0])):
        scenario = tc.Scenario(reference=reference, targets=targets.points, control={"goal": "voronoi", "range": reach})
        mission = Mission.of(scenario)
        assert mission.epochs[0].network.core in (3, 4)
        decision = decide_all(mission, mission.start()).decision
        assert decision.goal_points[3].tolist() == goal


@pytest.mark.parametrize("seed", range(3))
def test_who_has_no_targets_stays_if_it_is_well_inside_its_triangle(seed):
    """With weights of a hundredth at least; who has less goes no farther than to have them."""
    reference = np.random.default_rng(seed).random((40, 2))
    far = reference.max(axis=0) + 10 * np.ptp(reference, axis=0)
    mission = Mission.of(tc.Scenario(reference=reference, targets=far[None], control={"goal": "voronoi"}))
    state = mission.start()
    decision = decide_all(mission, state).decision
    nearest = np.argmin(((reference - far) ** 2).sum(axis=1))
    others = np.arange(40) != nearest
    network = mission.epochs[0].network
    weights = np.ones((40, 3))
    weights[network.followers] = barycentric(
        reference[network.followers], reference[network.in_neighbors[network.followers]]
    )
    inside = others & (weights.min(axis=1) >= 0.01)
    assert inside.sum() >= 30
    np.testing.assert_array_equal(decision.goal_points[inside], reference[inside])
    moves = np.hypot(*(decision.goal_points - reference)[others].T)
    assert moves.max() < 0.02
    if network.layer[nearest] == 0:  # an anchor without a given place goes to its target itself
        np.testing.assert_allclose(decision.goal_points[nearest], far, rtol=1e-12)


def test_anchors_with_given_places_go_there_and_others_to_their_centroids():
    reference, targets = team(0, agents=30, targets=200)
    network = tc.build_network(reference)
    places = reference[network.anchors] * 1.02
    given = tc.Scenario(reference=reference, targets=targets, anchors=places, control={"goal": "voronoi"})
    mission = Mission.of(given)
    assert not mission.epochs[0].told.free
    decision = decide_all(mission, mission.start()).decision
    np.testing.assert_array_equal(decision.setpoints[network.anchors], places)
    free = Mission.of(given.replace(anchors=None))
    assert free.epochs[0].told.free
    decision = decide_all(free, free.start()).decision
    nearest = ((targets[:, None] - reference) ** 2).sum(axis=2).argmin(axis=1)
    for anchor in network.anchors:
        centroid = targets[nearest == anchor].mean(axis=0) if (nearest == anchor).any() else reference[anchor]
        np.testing.assert_allclose(decision.setpoints[anchor], centroid, atol=1e-12)


def test_the_rest_is_a_thousandth_of_the_mean_spacing():
    mission = a_mission(0)
    told = mission.epochs[0].told
    extent = np.ptp(mission.ground.reference, axis=0).max()
    assert told.rest == pytest.approx(1e-3 * extent / np.sqrt(40), rel=0.5)
    larger = replace(told, network=tc.build_network(8 * mission.ground.reference), paths=told.paths)
    assert larger.rest == pytest.approx(8 * told.rest)
    fewer = replace(told, network=told.network.without(told.network.followers[:10]))
    assert fewer.rest == pytest.approx(told.rest * np.sqrt(40 / 30))


def test_who_is_told_to_come_to_rest_stays_if_it_is_inside():
    """From a step on nobody looks at its cell: whoever is in the inset triangle stays, others go there."""
    mission = a_mission(0)
    state = moved(mission, 0)
    network = mission.epochs[0].network
    whole = decide_all(mission, state).decision.goal_points
    told = replace(mission.epochs[0].told, until=5)
    everybody = np.arange(40)
    heard = state.positions[network.in_neighbors]
    heard[network.anchors] = np.nan
    near = Near(everybody, state.positions)
    for step in (4, 5, 9):
        view = View(step, everybody, state.positions, heard, mission.targets_at(0), near=near)
        found = decide(view, told, memory_of(told, state.positions)).goal_points
        if step < 5:
            np.testing.assert_array_equal(found, whole)
            continue
        np.testing.assert_array_equal(found[network.anchors], state.positions[network.anchors])
        for agent in network.followers:
            cell = shapely.Polygon(inset_triangles(heard[agent][None], 0.01)[0])
            here = shapely.Point(state.positions[agent])
            if cell.contains(here) or cell.distance(here) < told.rest / 2:
                np.testing.assert_allclose(found[agent], state.positions[agent], atol=told.rest)
            else:
                assert np.hypot(*(found[agent] - state.positions[agent])) == pytest.approx(
                    cell.distance(here), rel=1e-9
                )
    assert not replace(told, goal="reference").comes_to_rest(99)
    assert not replace(told, until=None).comes_to_rest(99)
    assert told.comes_to_rest(5)
    assert not told.comes_to_rest(4)


def test_agents_near_by_have_to_be_given():
    mission = a_mission(0)
    state = mission.start()
    view = view_of(mission, state, np.arange(40))
    with pytest.raises(InputError, match=r"the goal 'voronoi' needs the agents near by: give View.near"):
        decide(replace(view, near=None), mission.epochs[0].told, {})


@pytest.mark.parametrize("bad", [0, -1.0, "far", float("nan"), 1e300])
def test_a_range_is_a_positive_number_of_metres(bad):
    told = a_mission(0).epochs[0].told
    with pytest.raises(InputError, match="range must be a positive number of metres"):
        replace(told, range=bad)


def test_what_was_told_can_be_written_down():
    told = replace(a_mission(0, range=0.25).epochs[0].told, until=7)
    again = Told.from_json(told.to_json())
    assert (again.range, again.free, again.until, again.goal) == (0.25, True, 7, "voronoi")
    assert again.network == told.network


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("reach", [None, 0.4, 0.2])
def test_with_limited_sight_only_what_is_seen_counts(seed, reach):
    """Each row's cell is that of the targets within its sight, by a plain loop over them."""
    reference, targets = np.random.default_rng(seed).random((30, 2)), np.random.default_rng(seed + 9).random((200, 2))
    given = tc.Scenario(
        reference=reference, targets=targets, control={"goal": "voronoi", "range": reach}, world={"sight": 0.15}
    )
    mission = Mission.of(given)
    state: State = mission.start()
    view = view_of(mission, state, np.arange(30))
    found = decide(view, mission.epochs[0].told, dict(state.memory))
    owners = ((targets[:, None] - reference) ** 2).sum(axis=2).argmin(axis=1)
    limit = 0.15 if reach is None else min(0.15, reach / 2)
    network = mission.epochs[0].network
    for anchor in network.anchors:
        own = (owners == anchor) & (np.hypot(*(targets - reference[anchor]).T) <= limit)
        expected = targets[own].mean(axis=0) if own.any() else reference[anchor]
        np.testing.assert_allclose(found.goal_points[anchor], expected, atol=1e-12)
    for agent in range(30):  # and what it does not see may be anywhere
        seen = np.hypot(*(targets - reference[agent]).T) <= 0.15
        other = np.where(seen[:, None], targets, 50.0 + targets)
        elsewhere = Mission.of(given.replace(targets=other))
        row = view_of(elsewhere, elsewhere.start(), np.array([agent]))
        memory = {name: rows[[agent]] for name, rows in state.memory.items()}
        decision = decide(row, elsewhere.epochs[0].told, memory)
        np.testing.assert_array_equal(decision.goal_points[0], found.goal_points[agent])


def test_cells_of_a_view_are_used_where_they_are_there():
    mission = a_mission(0)
    state = moved(mission, 1)
    view = view_of(mission, state, np.arange(40))
    cells = voronoi_cells(view.agents, view.near, view.seen)
    whole = decide(view, mission.epochs[0].told, {})
    again = decide(replace(view, near=None, cells=cells), mission.epochs[0].told, {})
    np.testing.assert_array_equal(again.goal_points, whole.goal_points)
