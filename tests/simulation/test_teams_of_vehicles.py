"""A team of real vehicles settles with every agent in its goal cell, at a step length that ``check_aoc`` gave."""

import numpy as np

import tricover as tc

REFERENCE = np.array([[0, 0], [8, 0], [8, 8], [0, 8], [4, 4], [2, 4], [6, 4], [4, 2], [4, 6], [4, 0.7], [2, 3.2]])
CONTROL = {"motion": "walk", "resolution": 6, "margin": 0.05}
OTHERS = [
    {"agents": [5, 6], "kind": "unicycle"},
    {"agents": [7, 9], "kind": "quadrotor"},
    {"agents": [8], "kind": "rotorpy"},
]


def reach_set_sizes(network, desired):
    """Smallest height and longest side of the reach sets in the desired triangles, in metres."""
    triangles = desired[network.in_neighbors[network.followers]]
    sides = np.roll(triangles, -1, axis=1) - triangles
    lengths = np.linalg.norm(sides, axis=2)
    areas = np.abs(sides[:, 0, 0] * sides[:, 1, 1] - sides[:, 0, 1] * sides[:, 1, 0])
    shrunk = (1 - 3 * CONTROL["margin"]) / CONTROL["resolution"]
    return [float((areas / lengths.max(axis=1)).min() * shrunk), float(lengths.max() * shrunk)]


def long_enough(kinds, sizes):
    """The shortest step at which all starts of all kinds land; RotorPy flies the quadrotor's model and plan."""
    return max(row.shortest for kind in kinds for row in tc.check_aoc(tc.vehicle(kind), sizes, 2.0, starts=60).rows)


def test_a_mixed_team_settles_with_everybody_in_its_goal_cell():
    targets = np.random.default_rng(4).uniform(0, 8, (300, 2)) ** 1.3 % 8
    network = tc.build_network(REFERENCE, "balanced")
    desired = tc.desired_configuration(network, tc.Targets(targets), resolution=CONTROL["resolution"])
    kinds = ("double-integrator", "unicycle", "quadrotor")
    duration = long_enough(kinds, reach_set_sizes(network, desired))
    given = tc.Scenario(
        reference=REFERENCE,
        targets=targets,
        network={"mentee": "balanced"},
        control=CONTROL,
        vehicle={"kind": "double-integrator", "duration": duration, "others": OTHERS},
        steps=40,
    )
    run = tc.simulate(given)
    followers = network.followers
    assert {vehicle.kind for vehicle in given.vehicle.team(11).vehicles} == {*kinds, "rotorpy"}
    assert run.settled_at > 1  # there was a way to go
    assert run.converged
    np.testing.assert_array_equal(run.states[-1, followers], run.goal_cells[-1, followers])
    np.testing.assert_allclose(run.positions[-1], desired, atol=0.02)
    assert run.weights[:, followers].min() > 0  # nobody left its triangle on the way


def test_a_vehicle_that_is_too_slow_misses_and_goes_on_from_where_it_is():
    targets = [[7.0, 4.0], [6.5, 4.5]]
    vehicle = {"kind": "double-integrator", "max_speed": 0.2, "duration": 1.0}
    given = tc.Scenario(reference=REFERENCE, targets=targets, vehicle=vehicle, control={"tolerance": 1e-6}, steps=200)
    run = tc.simulate(given)
    moved = np.linalg.norm(np.diff(run.positions, axis=0), axis=2)
    assert moved.max() <= 0.2 + 1e-9
    assert run.missed > 0
    late = run.misses[0] > 0
    np.testing.assert_allclose(
        run.misses[0, late], np.linalg.norm(run.positions[1, late] - run_goal(run)[late], axis=1), atol=1e-12
    )
    assert run.converged
    np.testing.assert_allclose(run.positions[-1], run.desired, atol=1e-5)


def run_goal(run):
    """The goal points of the first step."""
    goals = run.positions[0].copy()
    followers = run.network.followers
    corners = run.positions[0][run.network.in_neighbors[followers]]
    counts, sums = run.targets.in_triangles(corners)
    goals[followers] = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], corners.mean(axis=1))
    return goals
