"""Decisions of agents that morph, one at a time: speed, ways that are clear, first steps, and room asked for."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import tricover as tc
from tricover.control import Told, View, decide
from tricover.control.memory import learn, memory_of
from tricover.control.speed import limits_of, settling_steps, speed_of
from tricover.errors import InputError
from tricover.geometry import combine
from tricover.geometry.nesting import inside_all_the_way

SPEED = 0.5
# Four corners and a core, agents 5 and 6 in first cells of their own, and 7 below 5.
TEAM = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 8.0], [0.0, 8.0], [5.0, 4.0], [5.0, 2.5], [8.0, 4.2], [5.0, 1.5]])
FIRST, SECOND = 5, 7
TIMES = np.linspace(0, 1, 25)


def told(**settings):
    network = tc.build_network(TEAM, core=4)
    assert network.layer[[FIRST, SECOND]].tolist() == [1, 2]
    return Told(network, TEAM[None, network.anchors], **{"motion": "morph", "speed": SPEED, **settings})


def triangle_of(given, agent):
    return TEAM[given.network.in_neighbors[agent]]


def view_of(given, agent, positions, following, target=(3.0, 0.5)):
    heard = given.network.in_neighbors[agent]
    known = np.array([agent]), positions[[agent]], positions[heard][None]
    return View(1, *known, tc.Targets([target]), announced=following[heard][None])


def moved(given, agent, weights, now, following, target):
    """The decision of an agent with these weights, whose in-neighbours go from (3, 2) to (3, 2)."""
    positions, later = TEAM.copy(), TEAM.copy()
    heard = given.network.in_neighbors[agent]
    positions[heard], later[heard] = now, following
    memory = {"weights": np.array([weights]), "corners": now[None]}
    return decide(view_of(given, agent, positions, later, target), given, memory)


def distances(point, triangle):
    """From the three lines, each opposite its corner."""
    edges = np.roll(triangle, -2, axis=0) - np.roll(triangle, -1, axis=0)
    to_point = point - np.roll(triangle, -1, axis=0)
    return (edges[:, 0] * to_point[:, 1] - edges[:, 1] * to_point[:, 0]) / np.linalg.norm(edges, axis=1)


def smallest_area(triangle, following):
    return min(np.linalg.det(np.c_[triangle + s * (following - triangle), np.ones(3)]) for s in TIMES)


def swung(triangle, angle):
    middle, turn = triangle.mean(axis=0), [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
    return middle + (triangle - middle) @ turn


@pytest.mark.parametrize("agent", [FIRST, 6, SECOND])
def test_in_a_still_triangle_an_agent_goes_straight_to_its_goal_at_full_speed(agent):
    given = told()
    triangle, limit = triangle_of(given, agent), given.limits[given.network.layer[agent]]
    weights, goal = np.array([0.2, 0.2, 0.6]), np.array([0.6, 0.3, 0.1])
    far = np.linalg.norm((goal - weights) @ triangle)
    steps = 0
    while steps < 100:
        steps += 1
        decision = moved(given, agent, weights, triangle, triangle, goal @ triangle)
        new = decision.remembered["weights"][0]
        np.testing.assert_allclose(decision.setpoints[0], new @ triangle, atol=1e-13)
        if np.allclose(new, goal, atol=1e-12):
            break
        assert np.linalg.norm(decision.setpoints[0] - weights @ triangle) == pytest.approx(limit, rel=1e-9)
        weights = new
    assert steps == np.ceil(far / limit)
    again = moved(given, agent, new, triangle, triangle, goal @ triangle)
    np.testing.assert_array_equal(again.remembered["weights"][0], new)
    np.testing.assert_array_equal(again.setpoints, decision.setpoints)


def test_nobody_exceeds_its_limit_however_it_is_carried():
    """Random in-neighbours within their own limits: with the step of its own an agent stays within its limit."""
    rng, given = np.random.default_rng(0), told()
    limits, whole = given.limits, 0
    for _ in range(300):
        triangle = triangle_of(given, SECOND) + rng.normal(size=(3, 2)) * 0.2
        way = rng.normal(size=(3, 2))
        length = rng.choice([0.0, 0.5, 1.0]) * limits[1]
        following = triangle + length * way / np.linalg.norm(way, axis=1, keepdims=True)
        weights, goal = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3))
        decision = moved(given, SECOND, weights, triangle, following, goal @ following)
        start, new = combine(weights, triangle), decision.remembered["weights"][0]
        assert np.linalg.norm(decision.setpoints[0] - start) <= limits[2] * (1 + 1e-12)
        assert inside_all_the_way(start, decision.setpoints[0], triangle, following)
        assert new.min() > 0
        assert new.sum() == pytest.approx(1, abs=1e-14)
        own = np.linalg.norm((new - weights) @ following)
        whole += bool(own >= (limits[2] - limits[1]) * 0.999 or np.allclose(new, goal, atol=0.02))
    assert whole > 270  # what is left for a step of its own is used, but where the way is not clear


@pytest.mark.parametrize("way", [[3.0, 0.0], [-3.0, 0.0], [0.0, 3.0]])
def test_who_is_carried_too_far_keeps_its_weights(way):
    """In-neighbours that break their limits: there is no step of its own with which an agent could keep its own."""
    given, weights = told(), np.array([0.3, 0.3, 0.4])
    triangle = triangle_of(given, SECOND)
    following = triangle + np.array(way)
    decision = moved(given, SECOND, weights, triangle, following, following[0])
    np.testing.assert_array_equal(decision.remembered["weights"][0], weights)


def test_limits_grow_from_half_the_speed_to_all_of_it():
    given = told()
    limits = given.limits
    np.testing.assert_allclose(limits, SPEED * np.array([0.5, 0.75, 1.0]), rtol=1e-9)
    assert limits[-1] <= SPEED
    assert speed_of(given.network, None) == pytest.approx(1.0)  # a tenth of ten metres
    np.testing.assert_allclose(limits_of(given.network, None), limits * 2, rtol=1e-9)
    far = tc.build_network(TEAM + 1e9)  # where positions are rounded to a ten-millionth of a metre
    assert 0 < 4 * np.spacing(1e9) < SPEED - limits_of(far, SPEED)[-1] <= 0.002 * SPEED


def test_weights_on_the_way_are_at_least_half_of_those_at_its_ends():
    """Triangles that swing: a whole step would leave some of them on the way, and is halved until it does not."""
    given, rng = told(speed=1000.0), np.random.default_rng(1)
    seen = halved = partly = 0
    for _ in range(200):
        triangle = triangle_of(given, FIRST)
        following = swung(triangle, rng.uniform(-2.5, 2.5)) + rng.normal(size=2) * 3
        if smallest_area(triangle, following) < 0.5:
            continue  # nobody could be nested in it
        weights, goal = 0.97 * rng.dirichlet(np.ones(3) * 0.5) + 0.01, rng.dirichlet(np.ones(3) * 0.5)
        decision = moved(given, FIRST, weights, triangle, following, goal @ following)
        new, start = decision.remembered["weights"][0], weights @ triangle
        seen, halved = seen + 1, halved + bool(np.abs(new - goal).max() > 0.05)
        partly += bool(np.abs(new - goal).max() > 0.05 and np.abs(new - weights).max() > 0.01)
        for share in TIMES:
            corners = triangle + share * (following - triangle)
            point = start + share * (decision.setpoints[0] - start)
            found = np.linalg.solve(np.c_[corners, np.ones(3)].T, [*point, 1])
            assert (found >= 0.5 * np.minimum(weights, new) - 1e-9).all()
    assert seen > 50
    assert halved > 5
    assert partly > 3  # half of a step or less, and not none at all


@pytest.mark.parametrize("weights", [[0.5, 0.5, 0.0], [0.0, 0.3, 0.7], [1.0, 0.0, 0.0]])
def test_the_first_step_is_off_the_edge_and_no_farther(weights):
    given, positions = told(), TEAM.copy()
    triangle = triangle_of(given, FIRST)
    positions[FIRST] = weights @ triangle
    start = memory_of(given, positions[[FIRST]])
    decision = decide(view_of(given, FIRST, positions, positions), given, start)
    assert 0 < np.linalg.norm(decision.setpoints[0] - positions[FIRST]) < 1e-6
    assert inside_all_the_way(positions[FIRST], decision.setpoints[0], triangle, triangle)
    assert distances(decision.setpoints[0], triangle).min() >= given.floor * (1 - 1e-6)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("separation", [None, 0.2])
def test_rounding_does_not_hold_anybody_on_an_edge(seed, separation):
    """Places on an edge are beyond it by a bit as often as not: all the same, the first step is off it."""
    rng, given = np.random.default_rng(seed), told(separation=separation)
    positions = TEAM + rng.normal(size=TEAM.shape) * 0.1
    triangle = positions[given.network.in_neighbors[FIRST]]
    share = rng.random()
    positions[FIRST] = share * triangle[seed % 3] + (1 - share) * triangle[seed % 3 - 1]
    decision = decide(view_of(given, FIRST, positions, positions), given, memory_of(given, positions[[FIRST]]))
    assert distances(decision.setpoints[0], triangle).min() >= given.floor * (1 - 1e-6)


def test_cells_do_not_shrink_below_what_floats_tell_apart():
    """In a triangle of some millionths of a metre a goal at a corner is the floor away from all edges."""
    given = told()
    corner = np.array([5.0, 2.0])
    triangle = corner + 20 * given.floor * np.array([[0.0, 0.0], [1.0, 0.1], [0.2, 1.0]])
    decision = moved(given, SECOND, np.full(3, 1 / 3), triangle, triangle, corner)
    assert distances(decision.setpoints[0], triangle).min() >= given.floor * (1 - 1e-4)


def test_who_stands_inside_stays_in_the_first_step():
    given = told(separation=0.9)
    decision = decide(view_of(given, FIRST, TEAM, TEAM), given, memory_of(given, TEAM[[FIRST]]))
    np.testing.assert_allclose(decision.setpoints[0], TEAM[FIRST], atol=1e-14)
    assert np.linalg.norm(decision.goal_points[0] - TEAM[FIRST]) > 0.5


def test_what_vehicles_do_does_not_change_the_plan():
    """A decision with a plan looks at the plan alone, wherever the vehicles are."""
    given = told()
    memory = {"weights": np.array([[0.2, 0.3, 0.5]]), "corners": triangle_of(given, FIRST)[None]}
    view = view_of(given, FIRST, TEAM, TEAM)
    off = replace(view, positions=view.positions + 0.3, heard=view.heard - 0.2)
    one, other = decide(view, given, memory), decide(off, given, memory)
    np.testing.assert_array_equal(one.setpoints, other.setpoints)
    np.testing.assert_array_equal(one.remembered["weights"], other.remembered["weights"])


def test_the_step_is_learnt():
    given = told()
    start = memory_of(given, TEAM[[FIRST]])
    view = view_of(given, FIRST, TEAM, TEAM + 0.01)
    decision = decide(view, given, start)
    after = learn(view, given, start, decision, decision.setpoints)
    np.testing.assert_array_equal(after["corners"], view.announced)
    np.testing.assert_array_equal(combine(after["weights"], after["corners"]), decision.setpoints)


def test_without_announcements_nobody_morphs():
    given = told()
    view = replace(view_of(given, FIRST, TEAM, TEAM), announced=None)
    with pytest.raises(InputError, match="announce"):
        decide(view, given, memory_of(given, TEAM[[FIRST]]))


def test_a_separation_is_kept_from_the_edges_where_there_is_room():
    given = told(separation=0.3)
    triangle, weights = triangle_of(given, SECOND), np.full(3, 1 / 3)
    for _ in range(60):
        decision = moved(given, SECOND, weights, triangle, triangle, triangle[0])
        weights = decision.remembered["weights"][0]
        assert distances(decision.setpoints[0], triangle).min() >= 0.3 - 1e-6
    np.testing.assert_array_equal(decision.setpoints, decision.goal_points)


def test_without_room_for_a_separation_agents_arrive_all_the_same():
    given = told(separation=50.0)
    triangle, weights = triangle_of(given, SECOND), np.array([0.1, 0.1, 0.8])
    for _ in range(60):
        decision = moved(given, SECOND, weights, triangle, triangle, triangle[0])
        weights = decision.remembered["weights"][0]
    np.testing.assert_array_equal(decision.setpoints, decision.goal_points)
    assert distances(decision.setpoints[0], triangle).max() < 50


def test_with_a_separation_no_step_comes_closer_than_it_must():
    """Triangles that change: the distance asked for is kept, or that of the goal, or that of who stays."""
    rng, asked = np.random.default_rng(5), 0.5
    given, halved = told(separation=asked, speed=1000.0), 0
    for _ in range(150):
        triangle = triangle_of(given, SECOND) * rng.uniform(0.5, 1.5)
        following = swung(triangle, rng.uniform(-0.9, 0.9)) + rng.normal(size=(3, 2)) * 0.2
        if smallest_area(triangle, following) < 0.5:
            continue
        weights, goal = 0.9 * rng.dirichlet(np.ones(3)) + 0.1 / 3, rng.dirichlet(np.ones(3))
        decision = moved(given, SECOND, weights, triangle, following, goal @ following)
        start, kept, end = weights @ triangle, weights @ following, decision.setpoints[0]
        corners = [triangle + share * (following - triangle) for share in TIMES]
        found, stayed = (
            np.min([distances(start + share * (to - start), now) for share, now in zip(TIMES, corners, strict=True)], 0)
            for to in (end, kept)
        )
        allowed = np.minimum(np.minimum(asked, distances(decision.goal_points[0], following)), stayed)
        # Lengths of edges change a little on the way, and only their longest is counted with.
        assert (found >= 0.8 * allowed - 1e-9).all()
        halved += bool(np.linalg.norm(end - decision.goal_points[0]) > 1e-6)
    assert halved > 5


def test_settling_steps_are_sides_over_limits():
    given = told()
    wanted = [0]
    for layer in (1, 2):
        corners = [TEAM[given.network.in_neighbors[agent]] for agent in given.network.layers[layer]]
        sides = [float(np.hypot(*(three[k] - three[k - 1]))) for three in corners for k in range(3)]
        wanted.append(wanted[-1] - int(-Fraction(max(sides)) // Fraction(float(given.limits[layer]))))
    assert settling_steps(given.network, TEAM, SPEED).tolist() == wanted
