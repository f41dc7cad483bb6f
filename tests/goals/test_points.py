"""Goal points in any configuration: those of the desired one, of one agent alone, and what is refused."""

import numpy as np
import pytest

import tricover as tc
from tricover.errors import InputError
from tricover.goals import RULES, prepare

RNG = np.random.default_rng(5)
NETWORK = tc.build_network(RNG.random((40, 2)), "balanced")
TARGETS = tc.Targets(RNG.random((500, 2)), RNG.random(500))
POSITIONS = NETWORK.reference + 0.05 * RNG.normal(size=(40, 2))


@pytest.mark.parametrize("goal", RULES)
def test_a_team_at_its_desired_positions_is_at_its_goal_points(goal):
    desired = tc.desired_configuration(NETWORK, TARGETS, goal=goal)
    found = tc.goal_points(NETWORK, desired, TARGETS, goal)
    np.testing.assert_array_equal(found, desired[NETWORK.followers])


@pytest.mark.parametrize("goal", RULES)
def test_agents_are_answered_in_the_order_asked_for_and_by_what_they_see(goal):
    everybody = tc.goal_points(NETWORK, POSITIONS, TARGETS, goal)
    chosen = NETWORK.followers[[7, 2, 2, 11]]
    found = tc.goal_points(NETWORK, POSITIONS, TARGETS, goal, chosen)
    np.testing.assert_array_equal(found, everybody[[7, 2, 2, 11]])
    for agent, point in zip(chosen, found, strict=True):
        triangle = POSITIONS[NETWORK.in_neighbors[agent]]
        alone = tc.goal_points(NETWORK, POSITIONS, TARGETS.within(triangle), goal, [agent])
        np.testing.assert_allclose(alone[0], point, atol=1e-12 if goal == "centroid" else 0)


def test_a_goal_depends_on_the_in_neighbours_alone():
    agent = int(NETWORK.followers[9])
    moved = RNG.random((40, 2))
    moved[NETWORK.in_neighbors[agent]] = POSITIONS[NETWORK.in_neighbors[agent]]
    for goal in RULES:
        found = [tc.goal_points(NETWORK, where, TARGETS, goal, [agent]) for where in (POSITIONS, moved)]
        np.testing.assert_array_equal(*found)


def test_points_will_do_for_targets_and_nobody_may_be_asked_for():
    points = tc.goal_points(NETWORK, POSITIONS.tolist(), TARGETS.points.tolist())
    np.testing.assert_array_equal(points, tc.goal_points(NETWORK, POSITIONS, tc.Targets(TARGETS.points)))
    for goal in RULES:
        assert tc.goal_points(NETWORK, POSITIONS, TARGETS, goal, []).shape == (0, 2)


def test_a_rule_of_the_users_own():
    def middle(network):
        return lambda agents, triangles, targets: triangles.mean(axis=1)

    triangles = POSITIONS[NETWORK.in_neighbors[NETWORK.followers]]
    np.testing.assert_array_equal(tc.goal_points(NETWORK, POSITIONS, TARGETS, middle), triangles.mean(axis=1))


BROKEN = POSITIONS.copy()
BROKEN[[3, 8], 1] = np.nan, np.inf
LOST = NETWORK.without([int(NETWORK.followers[4])])


@pytest.mark.parametrize(
    ("network", "settings", "message"),
    [
        (NETWORK, {"positions": POSITIONS[:-1]}, r"shape \(40, 2\), not \(39, 2\)"),
        (NETWORK, {"positions": np.zeros((40, 3))}, r"shape \(40, 2\), not \(40, 3\)"),
        (NETWORK, {"positions": BROKEN}, "agent 3 and 8 is not finite"),
        (NETWORK, {"agents": [int(NETWORK.followers[0]), NETWORK.core]}, f"agent {NETWORK.core} is an anchor"),
        (NETWORK, {"agents": [40]}, "no agent 40"),
        (NETWORK, {"agents": [-1]}, "no agent -1"),
        (NETWORK, {"agents": [1.5]}, "whole numbers"),
        (LOST, {"agents": LOST.lost}, f"agent {LOST.lost[0]} is an anchor or lost"),
        (NETWORK, {"goal": "nearest"}, "goal must be"),
    ],
)
def test_what_cannot_be_answered_is_named(network, settings, message):
    arguments = {"positions": POSITIONS, "targets": TARGETS} | settings
    with pytest.raises(InputError, match=message):
        tc.goal_points(network, **arguments)


def test_a_network_in_space_has_no_goal_points():
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.2, 0.2, 0.2]])
    with pytest.raises(InputError, match="in the plane"):
        tc.goal_points(tc.build_network(corners), corners[:, :2], [[0, 0]])


@pytest.mark.parametrize("goal", RULES)
def test_a_network_can_be_pickled_after_it_was_asked_for_goals(goal):
    import pickle

    prepare(goal, NETWORK)(NETWORK.followers, POSITIONS[NETWORK.in_neighbors[NETWORK.followers]], TARGETS)
    again = pickle.loads(pickle.dumps(NETWORK))
    expected = tc.goal_points(NETWORK, POSITIONS, TARGETS, goal)
    np.testing.assert_array_equal(tc.goal_points(again, POSITIONS, TARGETS, goal), expected)
