"""What an agent decides near zones: cases that one can draw, each with one agent of a small team."""

import pickle

import numpy as np
import pytest
import shapely

import tricover as tc
from tricover.control import HOLD, Told, View, cut_off, decide, distances, reach_sets_of

# A square of anchors, the core in the middle; agent 5 listens to the corners 3 and 0, on the left, and the core.
TEAM = np.array([[0.0, 0], [12, 0], [12, 12], [0, 12], [6, 6], [2, 6]])
NETWORK = tc.build_network(TEAM, core=4)
HEARD = TEAM[NETWORK.in_neighbors[5]]


def told(zones, resolution=12, **more):
    return Told(NETWORK, TEAM[None, NETWORK.anchors], motion="walk", resolution=resolution, zones=zones, **more)


def rings(*zones):
    return tuple(np.asarray(zone, float) for zone in zones)


def view(position, target, heard=HEARD, agent=5):
    return View(0, np.array([agent]), np.array([position], float), heard[None], tc.Targets([target]))


def box(x0, y0, x1, y1):
    return [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]


def walked(start, target, zones, resolution=12, steps=200):
    """The places of an agent that decides step by step, until it stays."""
    said, places = told(rings(*zones), resolution), [np.array(start, float)]
    for _ in range(steps):
        now = view(places[-1], target)
        places.append(decide(now, said, {}).setpoints[0])
        if np.array_equal(places[-1], places[-2]):
            break
    return np.array(places), now, said


def test_far_from_zones_nothing_changes():
    far = told(rings(box(100, 100, 101, 101)))
    for position in ([2, 6], [1, 8], [9, 3]):
        here = view(position, [3, 6])
        one, other = decide(here, far, {}), decide(here, told(None), {})
        assert np.array_equal(one.setpoints, other.setpoints)
        assert all(np.array_equal(a, b) for a, b in zip(one.cells, other.cells, strict=True))
        assert np.array_equal(reach_sets_of(here, far, one), reach_sets_of(here, told(None), other))
    assert cut_off(here, far, {}) == []


def test_the_walk_leads_around_a_zone_to_the_goal():
    places, last, said = walked([1, 9], [1, 3], [box(0.4, 5.7, 2.2, 6.3)])
    assert places[-1] == pytest.approx([1, 3], abs=0.4)
    assert places[:, 0].max() > 2.2  # around its right end, as there is no way on the left
    assert tc.geometry.crossings(places[:, None], said.zones) == []
    assert cut_off(last, said, {}) == []


def test_a_goal_in_a_zone_is_replaced_by_the_nearest_free_cell():
    zone = box(0.5, 5, 2.5, 7)
    places, last, said = walked([4, 6], [1.8, 6], [zone])
    cells = decide(last, said, {}).cells
    blocked = said.obstacles.cells(HEARD[None], said.grid)[0]
    centres = said.grid.weights @ HEARD
    away = np.where(blocked, np.inf, np.linalg.norm(centres - [1.8, 6], axis=1))
    assert cells.goal[0] == cells.next[0] == np.argmin(away)
    assert np.allclose(places[-1], centres[np.argmin(away)], rtol=0, atol=1e-12)
    assert cut_off(last, said, {}) == []
    assert distances(last, said, decide(last, said, {})).tolist() == [0.0]


def test_a_triangle_cut_in_two_keeps_its_agent_on_its_side_and_names_it():
    wall = box(-1, 5.9, 7, 6.1)
    places, last, said = walked([1, 9], [1, 3], [[[9, 9], [9.1, 9], [9, 9.1]], wall])
    assert (places[:, 1] > 6.1).all()
    assert len(places) > 2
    [found] = cut_off(last, said, {})
    assert found == (5, 1, False)
    assert distances(last, said, decide(last, said, {})).tolist() == [0.0]  # as near as it can


def test_a_goal_in_a_wall_is_replaced_on_the_agents_own_side_and_nobody_is_cut_off():
    """The nearest free cell is on the other side; the goal itself is in the zone, so nothing is kept from the agent."""
    places, last, said = walked([1, 9], [1, 5.2], [box(-1, 5, 7, 6.2)])
    assert (places[:, 1] > 6.2).all()
    assert len(places) > 2
    assert cut_off(last, said, {}) == []


def test_outside_with_a_free_way_it_goes_to_its_goal_cell_and_within_it():
    said = told(rings(box(0.2, 1, 0.4, 2)))  # touches the triangle, and is not on the way
    here = view([9, 6], [3, 6])
    decision = decide(here, said, {})
    goal = said.grid.holding(np.array([[3.0, 6.0]]), HEARD[None])[0]
    assert decision.cells.state.tolist() == [-1]
    assert decision.cells.next.tolist() == decision.cells.goal.tolist() == [goal]
    sets = reach_sets_of(here, said, decision)
    assert np.ptp(sets[0], axis=0).max() < 1.1  # of a cell, not of the triangle
    assert said.grid.holding(sets[0].mean(axis=0)[None], HEARD[None])[0] == goal


def test_outside_behind_a_zone_it_goes_to_the_nearest_free_cell_with_a_free_way():
    said = told(rings(box(6.5, 5.5, 7, 6.5)))  # between it and the goal, but not before the whole triangle
    here = view([9, 6], [3, 6])
    cell = decide(here, said, {}).cells.next[0]
    ways = [[here.positions[0], corner] for corner in said.grid.corners(cell) @ HEARD]
    assert cell >= 0
    assert tc.geometry.crossings(np.swapaxes(ways, 0, 1), said.zones) == []
    # None that is nearer has a free way.
    blocked = said.obstacles.cells(HEARD[None], said.grid)[0]
    away = np.linalg.norm(said.grid.weights @ HEARD - here.positions[0], axis=1)
    for other in np.flatnonzero((away < away[cell]) & ~blocked):
        ways = [[here.positions[0], corner] for corner in said.grid.corners(int(other)) @ HEARD]
        assert tc.geometry.crossings(np.swapaxes(ways, 0, 1), said.zones)


@pytest.mark.parametrize("resolution", [1, 3, 12])
def test_a_small_zone_between_the_way_to_one_corner_and_to_another_is_seen(resolution):
    """It lands anywhere in a cell: what counts is all between it and the cell, not the ways to its corners alone."""
    zone = box(6.2, 6.1, 6.22, 6.12)
    said = told(rings(zone), resolution)
    here = view([9, 6], [3, 6])
    decision = decide(here, said, {})
    landing = np.concatenate([reach_sets_of(here, said, decision)[0], here.positions])
    assert decision.cells.next[0] != -1
    assert not shapely.MultiPoint(landing).convex_hull.intersects(shapely.Polygon(zone))
    assert (decision.cells.next[0] == HOLD) == (resolution == 1)


def test_behind_a_wall_it_holds_and_is_named():
    said = told(rings(box(6.5, -20, 7, 30)))
    here = view([9, 6], [3, 6])
    decision = decide(here, said, {})
    assert decision.cells.goal.tolist() == decision.cells.next.tolist() == [HOLD]
    assert decision.setpoints.tolist() == [[9, 6]]
    assert reach_sets_of(here, said, decision).tolist() == [[[9, 6]] * 3]
    assert distances(here, said, decision).tolist() == [0.0]
    assert cut_off(here, said, {}) == [(5, 0, True)]


def test_in_a_forbidden_cell_it_goes_to_a_free_one_or_holds():
    said = told(rings(box(1.9, 5.9, 2.1, 6.1)), resolution=3)
    here = view([2.4, 6.0], [3, 6])  # its cell touches the zone; it is beside it
    blocked = said.obstacles.cells(HEARD[None], said.grid)[0]
    cells = decide(here, said, {}).cells
    assert blocked[cells.state[0]]
    assert not blocked[cells.next[0]]
    closed = told(rings(box(1.9, 5.9, 2.1, 6.1), box(-9, -9, 9, 5.5), box(-9, 6.5, 9, 21), box(2.6, 5.5, 9, 6.5)), 3)
    assert decide(here, closed, {}).setpoints.tolist() == [[2.4, 6.0]]
    assert decide(here, closed, {}).cells.next.tolist() == [HOLD]


def test_one_that_was_blown_into_a_zone_leaves_it():
    said = told(rings(box(1.5, 5, 2.5, 7)))
    cells = decide(view([2.4, 6.0], [1, 6]), said, {}).cells
    blocked = said.obstacles.cells(HEARD[None], said.grid)[0]
    away = np.linalg.norm(said.grid.weights @ HEARD - [2.4, 6.0], axis=1)
    assert cells.next[0] == np.argmin(np.where(blocked, np.inf, away))


def test_in_a_triangle_without_area_it_goes_to_the_mean_unless_a_zone_is_between():
    flat = np.array([[0.0, 0], [4, 4], [8, 8]])
    here = view([9, 3], [3, 6], flat)
    assert decide(here, told(rings(box(20, 20, 21, 21))), {}).setpoints.tolist() == [[4, 4]]
    assert decide(here, told(rings(box(4, 0, 5, 1))), {}).setpoints.tolist() == [[4, 4]]  # near, not between
    assert decide(here, told(rings(box(6, 3, 7, 4))), {}).setpoints.tolist() == [[9, 3]]


def test_an_anchor_holds_where_its_way_would_meet_a_zone():
    here = View(0, np.array([0, 4]), np.array([[0.0, 0], [1, 6]]), np.full((2, 3, 2), np.nan), tc.Targets([[1, 1]]))
    said = told(rings(box(3, 5, 4, 7)))
    decision = decide(here, said, {})
    assert decision.setpoints.tolist() == [[0, 0], [1, 6]]  # the core is told to go to (6, 6)
    assert decision.cells.next.tolist() == [-2, HOLD]
    assert distances(here, said, decision).tolist() == [0, 0]
    assert cut_off(here, said, {}) == [(4, 0, True)]
    reaches = Told(NETWORK, TEAM[None, NETWORK.anchors], zones=said.zones)  # is judged, and does not go around
    assert decide(here, reaches, {}).setpoints.tolist() == [[0, 0], [6, 6]]


def test_with_its_own_reward_an_agent_walks_as_its_whole_process_says():
    said = told(rings(box(0.4, 5.7, 2.2, 6.3)), beta=0.5)
    here = view([1, 9], [1, 3])
    cells = decide(here, said, {}).cells
    blocked = said.obstacles.cells(HEARD[None], said.grid)[0]
    process = tc.LocalMDP(said.grid, HEARD, int(cells.goal[0]), beta=0.5, blocked=blocked)
    assert cells.next[0] == process.solve().policy[cells.state[0]]


def test_what_was_told_survives_json_and_pickle():
    said = told(rings(box(0.1, 1, 0.3, 2), [[3, 3], [1 / 3, 3], [2, 4]]))
    for again in (Told.from_json(said.to_json()), pickle.loads(pickle.dumps(said))):
        assert len(again.zones) == 2
        here = view([1, 9], [1, 3])
        assert np.array_equal(decide(here, again, {}).setpoints, decide(here, said, {}).setpoints)
    assert Told.from_json(told(None).to_json()).zones is None
    with pytest.raises(tc.TricoverError, match="not what agents were told"):
        Told.from_json(said.to_json().replace("[[3.0, 3.0]", "[[3.0]"))
