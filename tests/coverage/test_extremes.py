"""Accepted input of extreme size, weight and shape: numbers, no warnings (they are errors here), or one clear line.

``TRICOVER_CASES`` sets how many random target sets are planned for.
"""

import os

import numpy as np
import pytest

import tricover as tc
from tricover.coverage import measure_coverage, voronoi_cells
from tricover.coverage.compare import compare_methods
from tricover.errors import InputError
from tricover.geometry import CellGrid, barycentric, flat

CASES = int(os.environ.get("TRICOVER_CASES", "60"))
TEAM = np.random.default_rng(3).random((25, 2))
SCALES = [1e-310, 1e-160, 9.9e99]


def target_sets(rng):
    points = rng.random((60, 2))
    yield points, None
    yield points[:4], None
    yield points[:1], None
    yield np.repeat(points[:1], 30, axis=0), None
    yield np.zeros((9, 2)), None
    yield np.outer(points[:, 0], [1.0, 1.0]), None
    yield np.repeat(points[:10], 3, axis=0), None
    yield points, np.eye(60)[3]
    yield points, 10.0 ** rng.uniform(-100, 98, 60)
    yield points * 10.0 ** -rng.uniform(0, 200, (60, 2)), None


def answered(function, *arguments, **options):
    """A finite answer, or an error of ours in one line."""
    try:
        found = function(*arguments, **options)
    except InputError as error:
        if len(str(error).splitlines()) != 1:
            raise
        return None
    assert np.isfinite(np.asarray(found, dtype=np.float64)).all()
    return found


@pytest.mark.parametrize("scale", SCALES)
def test_every_function_answers_at_every_scale(scale):
    for points, weights in target_sets(np.random.default_rng(1)):
        targets = tc.Targets(points * scale, weights)
        assert np.isfinite(targets.density).all()
        for size in (1.0, scale):
            network = tc.build_network(TEAM * size)
            for goal in ("centroid", "predictive", "rollout", "reference"):
                assert answered(tc.desired_configuration, network, targets, goal=goal) is not None
                assert answered(tc.desired_configuration, network, targets, goal=goal, resolution=9) is not None
                assert answered(tc.goal_points, network, TEAM * 1e-150 * size, targets, goal=goal) is not None
            answered(tc.desired_configuration, network, targets, anchors="fit")
            assert answered(tc.coverage_cost, TEAM * size, targets) is not None
            assert np.isfinite(measure_coverage(TEAM * size, targets, radius=1.0, network=network).idle)
            assert answered(tc.lloyd, TEAM * size, targets, 20) is not None
        answered(lambda targets: tc.plan_formation(targets, 7).reference, targets)


@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e50])
def test_methods_are_compared_at_every_scale(scale):
    targets = np.random.default_rng(5).random((60, 2))
    plain = compare_methods(TEAM, targets)
    other = compare_methods(TEAM * scale, targets * scale)
    assert [method.messages for method in other.methods[:4]] == [method.messages for method in plain.methods[:4]]
    assert np.isfinite([method.cost for method in other.methods]).all()


@pytest.mark.parametrize("power", [-300, 300])
def test_a_plan_times_a_power_of_two_is_the_plan_of_the_targets_times_it(power):
    points = np.random.default_rng(6).random((80, 2))
    for agents in (9, 100):
        plan = tc.plan_formation(points, agents)
        assert np.array_equal(
            tc.plan_formation(np.ldexp(points, power), agents).reference, np.ldexp(plan.reference, power)
        )


def test_plans_for_any_targets_work_or_say_why_not():
    """Few targets, on one line, on one spot, fewer than agents: a formation that its own network holds, or one line."""
    rng = np.random.default_rng(7)
    planned = 0
    for case in range(CASES):
        points = rng.random((int(rng.integers(1, 30)), 2))
        if case % 6 == 1:
            points = rng.integers(0, 3, points.shape).astype(float)
        elif case % 6 == 2:
            points[:, 1] = 0.3 * points[:, 0]
        elif case % 6 == 3:
            points = np.repeat(points[:5], 4, axis=0)
        elif case % 6 == 4:
            points[:, 1] = 0.1 + 1e-16 * rng.integers(-3, 4, len(points))
        weights = None if case % 2 else rng.integers(0, 3, len(points)) + np.eye(len(points))[0]
        points.setflags(write=False)
        plan = answered(lambda *some: tc.plan_formation(*some).reference, tc.Targets(points, weights), 4 + case % 9)
        if plan is not None:
            assert len(plan) == 4 + case % 9
            tc.build_network(plan, "balanced")
            planned += 1
    assert planned > CASES // 3


def frozen(*values):
    """Read-only arrays, one of them a view: what a caller may hand in."""
    arrays = [np.array(value, dtype=np.float64) for value in values]
    for array in arrays:
        array.setflags(write=False)
    return [arrays[0][::1], *arrays[1:]]


def test_arrays_that_are_handed_in_are_only_read():
    team, points, weights = frozen(TEAM, np.random.default_rng(8).random((40, 2)), np.ones(40))
    before = [array.copy() for array in (team, points, weights)]
    targets, network = tc.Targets(points, weights), tc.build_network(team)
    network.without([int(network.followers[0])])
    network.with_agents(points[:2] + 0.001)
    for goal in ("centroid", "predictive", "rollout", "reference"):
        for anchors in (None, "fit", team[network.anchors]):
            tc.desired_configuration(network, points, anchors=anchors, goal=goal, resolution=5)
        tc.goal_points(network, team, targets, goal=goal)
    triangles = team[network.in_neighbors[network.followers]]
    triangles.setflags(write=False)
    targets.in_triangles(triangles)
    targets.members(triangles)
    targets.sums_in_triangles(triangles, weights)
    targets.within(triangles[0])
    tc.coverage_cost(team, targets)
    for result in (tc.lloyd(team, targets, 0), tc.lloyd(team, targets, 5, fixed=[0])):
        assert result.positions.shape == team.shape
    for agents in (4, 9, 60):
        tc.plan_formation(targets, agents)
    compare_methods(team, targets)
    voronoi_cells(team, [[0, 0], [1, 1]])
    proper = triangles[~flat(triangles)]
    CellGrid(5).locate(barycentric(proper.mean(axis=1), proper))
    assert all(np.array_equal(old, new) for old, new in zip(before, (team, points, weights), strict=True))


@pytest.mark.parametrize("power", [-470, 300])
def test_cells_do_not_depend_on_the_scale(power):
    rng = np.random.default_rng(9)
    triangles, points = rng.random((500, 3, 2)), rng.random((500, 2))
    grid = CellGrid(13)
    expected = grid.holding(points, triangles)
    assert (expected >= 0).any()
    assert np.array_equal(grid.holding(np.ldexp(points, power), np.ldexp(triangles, power)), expected)


def test_triangles_whose_area_cannot_be_held_are_flat():
    triangle = np.array([[0, 0], [4e-145, 0], [0, 4e-145]])
    assert flat([triangle / 8, triangle / 1e10]).all()
    assert not flat(triangle)
    assert barycentric(triangle.mean(axis=0), triangle).tolist() == pytest.approx([1 / 3] * 3)
    solid = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    assert flat([solid * 1e-98, solid * 1e-90]).tolist() == [True, False]
