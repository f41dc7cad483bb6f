"""Radii against exact arithmetic, and against agents that land and stand as badly as their radii allow."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import tricover as tc
from tricover.certificates import Settings
from tricover.certificates.radii import neighbourhood

# Followers 5, 6 and 7 are of the layers 1, 2 and 3; each listens to 3, 0 and the one before it (5 to the core, 4).
CHAIN = tc.build_network([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2], [0.5, 2.1], [0.4, 2.3]])
RIGHT = [[0, 0], [4, 0], [0, 3]]  # sides 4, 3 and 5: the smallest height is 12/5
HEIGHT = Fraction(12, 5)

assert CHAIN.in_neighbors[5:].tolist() == [[3, 0, 4], [3, 0, 5], [3, 0, 6]]


def goal_cell(resolution, numbers):
    """Corners and centre of a cell, as weights: exact, by the definition. Numbers (i, j, k) sum to M-1 (up) or M-2."""
    unit = [[int(a == b) for b in range(3)] for a in range(3)]
    up = sum(numbers) == resolution - 1
    offsets = unit if up else [[1 - x for x in row] for row in unit]
    corners = [[Fraction(n + x, resolution) for n, x in zip(numbers, row, strict=True)] for row in offsets]
    return corners, [sum(column) / 3 for column in zip(*corners, strict=True)]


def reach_set(resolution, numbers, margin):
    """Weights of the corners of the points whose coordinates in the cell are at least the margin."""
    corners, _ = goal_cell(resolution, numbers)
    margin = Fraction(margin)
    return [
        [sum((1 - 2 * margin if n == k else margin) * corners[n][axis] for n in range(3)) for axis in range(3)]
        for k in range(3)
    ]


def at(weights, triangle):
    """The point with these weights, exactly."""
    return [sum(w * Fraction(corner[axis]) for w, corner in zip(weights, triangle, strict=True)) for axis in range(2)]


def lone(triangle, weights, settings, exact=False, ideal=True):
    """Radius of agent 5 and whether it is proper; its triangle and its own weights are given."""
    desired = CHAIN.reference.copy()
    desired[CHAIN.in_neighbors[5]] = triangle
    desired[5] = [float(x) for x in at(weights, triangle)]
    flags = [np.full(8, value) for value in (exact, ideal)]
    found = neighbourhood(CHAIN, desired, settings, *flags)
    return float(found.radii[5]), bool(found.proper[5])


def settings_of(resolution=4, margin=0.1, tolerance=0.0, goal="reference", motion="walk"):
    return Settings(motion, goal, resolution, margin, tolerance=tolerance)


CELLS = [(2, (1, 0, 0)), (2, (0, 0, 0)), (4, (0, 1, 2)), (4, (1, 1, 0)), (7, (2, 3, 0)), (1, (0, 0, 0))]


@pytest.mark.parametrize(("resolution", "numbers"), CELLS)
@pytest.mark.parametrize("margin", [0.0, 0.125, 0.25])
@pytest.mark.parametrize("tolerance", [0.0, 2.0**-12])
def test_a_radius_is_one_cell_and_the_weighted_radii(resolution, numbers, margin, tolerance):
    _, centre = goal_cell(resolution, numbers)
    middle = at(centre, RIGHT)
    corners = [at(weights, RIGHT) for weights in reach_set(resolution, numbers, margin)]
    squares = [sum((a - b) ** 2 for a, b in zip(corner, middle, strict=True)) for corner in corners]
    found, _ = lone(RIGHT, centre, settings_of(resolution, margin, tolerance))
    moving = tolerance > 0 and resolution > 1
    if moving and 2 * resolution * tolerance > margin * (float(HEIGHT) - 2 * tolerance):
        assert found == pytest.approx(max(math.dist(middle, corner) for corner in RIGHT) + tolerance, rel=1e-12)
    else:
        assert found == pytest.approx(tolerance + math.sqrt(max(squares)), rel=1e-12)


@pytest.mark.parametrize(("resolution", "numbers"), CELLS[:-1])
@pytest.mark.parametrize("margin", [0.02, 0.125, 0.3])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("turn", range(3))
def test_proper_up_to_the_motion_that_the_margin_allows(resolution, numbers, margin, exact, turn):
    """All in-neighbours within τ: M·2τ ≤ η·(h - 2τ), so the largest τ is η·h / (2·(M + η))."""
    _, centre = goal_cell(resolution, numbers)
    triangle = RIGHT[turn:] + RIGHT[:turn]
    allowed = Fraction(1, 3) if exact else Fraction(margin)
    limit = float(allowed * HEIGHT / (2 * (resolution + allowed)))
    for factor, proper in ((1 - 1e-9, True), (1 + 1e-9, False)):
        settings = settings_of(resolution, margin, limit * factor)
        assert lone(triangle, centre, settings, exact=exact)[1] == proper


@pytest.mark.parametrize("resolution", [2, 4, 9])
def test_a_little_more_motion_than_allowed_carries_an_agent_out_of_its_cell(resolution):
    """Its triangle as a whole moves by 2τ, across the longest side: with 2τ·M/h > η the agent is in another cell."""
    margin = Fraction(1, 8)
    numbers = (0, resolution - 1, 0)
    _, centre = goal_cell(resolution, numbers)
    edge = np.array([-4.0, 3.0])
    normal = np.array([edge[1], -edge[0]]) / 5  # from the right angle towards the longest side
    landing = max(reach_set(resolution, numbers, margin), key=lambda weights: -weights[0])
    for excess, stays in ((-1e-6, True), (1e-6, False)):
        motion = float(margin * HEIGHT / resolution) * (1 + excess)
        point = np.array([float(x) for x in at(landing, RIGHT)])
        after = np.array(RIGHT) - motion * normal * np.sign(normal @ (np.array([4.0, 0.0])))
        weights = np.linalg.solve(np.vstack([after.T, np.ones(3)]), [*point, 1.0])
        inside = weights[0] * resolution >= 0
        assert inside == stays
        tolerance = motion / 2
        claimed = lone(RIGHT, centre, settings_of(resolution, float(margin), tolerance))[1]
        assert not claimed or stays  # never claimed where it can be carried out
        assert not claimed  # h - 2τ is what the height may shrink to: a little less is allowed


def test_what_decides_about_the_kind_of_radius():
    _, centre = goal_cell(4, (1, 1, 1))
    tiny, huge = 1e-9, 10.0
    assert lone(RIGHT, centre, settings_of(tolerance=tiny))[1]
    assert not lone(RIGHT, centre, settings_of(tolerance=tiny, goal="centroid"))[1]  # its goal cell may change
    assert lone(RIGHT, centre, settings_of(goal="centroid"))[1]  # a triangle that stands
    assert not lone(RIGHT, centre, settings_of(tolerance=huge))[1]
    _, middle = goal_cell(1, (0, 0, 0))
    assert lone(RIGHT, middle, settings_of(1, tolerance=huge, goal="centroid"))[1]  # the only cell there is
    flat = [[0, 0], [4, 0], [2, 0]]
    assert lone(flat, [Fraction(1, 3)] * 3, settings_of(1)) == (2.0, False)


def test_containment_reaches_to_a_corner_and_no_farther_than_an_anchor():
    desired = CHAIN.reference.copy()
    flags = np.ones(8, np.bool_)
    found = neighbourhood(CHAIN, desired, settings_of(tolerance=0.5, goal="centroid"), ~flags, flags)
    assert not found.proper[5:].any()
    assert found.radii[CHAIN.anchors].tolist() == [0.5] * 5
    expected = np.zeros(8)
    expected[:5] = 0.5
    for agent in (5, 6, 7):
        own = desired[agent]
        corners = max(math.dist(own, desired[j]) + expected[j] for j in CHAIN.in_neighbors[agent])
        anchors = max(math.dist(own, desired[j]) for j in CHAIN.anchors) + 0.5
        expected[agent] = min(corners, anchors)
    np.testing.assert_allclose(found.radii, expected, rtol=1e-12)
    # An in-neighbour that may be far away: then the anchors bound the radius.
    desired[5:8] = [[2, 2], [0.1, 2], [0.05, 2]]
    found = neighbourhood(CHAIN, desired, settings_of(tolerance=0.5, goal="centroid"), ~flags, flags)
    assert found.radii[6] == pytest.approx(math.dist([0.1, 2], [4, 4]) + 0.5, rel=1e-12)


@pytest.mark.parametrize("goal", ["reference", "centroid"])
@pytest.mark.parametrize("tolerance", [0.0, 0.25])
def test_reach_lands_on_a_point_of_its_triangle(goal, tolerance):
    weights = [Fraction(1, 2), Fraction(3, 8), Fraction(1, 8)]
    settings = settings_of(tolerance=tolerance, goal=goal, motion="reach")
    radius, proper = lone(RIGHT, weights, settings)
    assert proper == (goal == "reference" or tolerance == 0)
    if proper:
        assert radius == pytest.approx(tolerance, abs=1e-15)
    assert not lone(RIGHT, weights, settings, ideal=False)[1]


@pytest.mark.parametrize("seed", range(40))
def test_deeper_layers_weigh_the_radii_of_their_in_neighbours(seed):
    rng = np.random.default_rng(seed)
    resolution, margin = int(rng.integers(2, 6)), float(rng.uniform(0.05, 0.3))
    tolerance = float(10 ** rng.uniform(-6, -2))
    desired = CHAIN.reference + rng.normal(0, 0.2, (8, 2))
    grid, cells = tc.CellGrid(resolution), rng.integers(resolution**2, size=8)
    for agent in (5, 6, 7):
        desired[agent] = grid.weights[cells[agent]] @ desired[CHAIN.in_neighbors[agent]]
    flags = np.ones(8, np.bool_)
    found = neighbourhood(CHAIN, desired, settings_of(resolution, margin, tolerance), ~flags, flags)
    for agent in (5, 6, 7):
        corners = CHAIN.in_neighbors[agent]
        triangle, radii = desired[corners], found.radii[corners]
        numbers = grid.coordinates[cells[agent]].tolist()
        landings = np.array(reach_set(resolution, numbers, margin), dtype=float)
        sides = [math.dist(triangle[a], triangle[b]) for a, b in ((0, 1), (1, 2), (2, 0))]
        cross = np.linalg.det(np.column_stack([triangle, np.ones(3)]))
        height = abs(cross) / max(sides) - 2 * max(radii)
        motion = 2 * max(landings @ radii)
        assert found.proper[agent] == (resolution * motion <= margin * height)
        if found.proper[agent]:
            reaches = [weights @ radii + math.dist(weights @ triangle, desired[agent]) for weights in landings]
            assert found.radii[agent] == pytest.approx(max(reaches), rel=1e-9)


def adversaries(seed):
    """Ways to choose a landing among the corners of a reach set, or a place around an anchor's: by an angle each."""
    rng = np.random.default_rng(seed)
    fixed = rng.uniform(0, 2 * np.pi)
    return [
        lambda step, agent: fixed + np.pi * step,  # all to one side, then all to the other
        lambda step, agent: fixed + np.pi * (step + agent),  # neighbours against each other
        lambda step, agent: rng.uniform(0, 2 * np.pi),
    ]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("which", range(3))
def test_nobody_leaves_a_proper_radius_or_its_cell(seed, which):
    """A walk written anew: in-neighbours and landings as bad as they may be, radii as large as can be proper."""
    rng = np.random.default_rng([seed, 1])
    resolution, margin = int(rng.integers(1, 4)), float(rng.uniform(0.25, 0.32))
    desired = np.array([[0, 0], [9, 0], [9, 9], [0, 9], [9, 4], [0, 0], [0, 0], [0, 0]], dtype=float)
    desired[:5] += rng.normal(0, 0.3, (5, 2))
    grid, cells = tc.CellGrid(resolution), rng.integers(resolution**2, size=8)
    for agent in (5, 6, 7):
        desired[agent] = grid.weights[cells[agent]] @ desired[CHAIN.in_neighbors[agent]]
    flags = np.ones(8, np.bool_)
    tolerance = 0.6
    while True:  # the largest tolerance, on a scale, with which the first follower has a proper radius
        found = neighbourhood(CHAIN, desired, settings_of(resolution, margin, tolerance), ~flags, flags)
        if found.proper[5]:
            break
        tolerance *= 0.97
    angle = adversaries(seed)[which]
    now = desired.copy()
    for step in range(60):
        after = now.copy()
        for agent in (3, 0, 4):
            turn = angle(step, agent)
            after[agent] = desired[agent] + tolerance * np.array([np.cos(turn), np.sin(turn)])
        for agent in (5, 6, 7):
            if not found.proper[agent]:
                break
            triangle, turn = now[CHAIN.in_neighbors[agent]], angle(step, agent)
            numbers = grid.coordinates[cells[agent]].tolist()
            landings = np.array(reach_set(resolution, numbers, margin), dtype=float) @ triangle
            after[agent] = max(landings, key=lambda p: p @ [np.cos(turn), np.sin(turn)])
        now = after
        for agent in itertools.takewhile(lambda agent: found.proper[agent], (5, 6, 7)):
            assert math.dist(now[agent], desired[agent]) <= found.radii[agent] * (1 + 1e-12)
            triangle = now[CHAIN.in_neighbors[agent]]
            weights = np.linalg.solve(np.vstack([triangle.T, np.ones(3)]), [*now[agent], 1.0])
            if resolution > 1:
                offsets = resolution * weights - grid.coordinates[cells[agent]]
                own = offsets if grid.up[cells[agent]] else 1 - offsets
                assert own.min() >= -1e-9


def test_nothing_is_claimed_of_the_lost():
    repaired = CHAIN.without([6])
    flags = np.ones(8, np.bool_)
    found = neighbourhood(repaired, CHAIN.reference, settings_of(tolerance=0.5, goal="centroid"), ~flags, flags)
    assert found.radii[6] == 0
    assert (np.delete(found.radii, 6) > 0).all()
    assert found.proper[CHAIN.anchors].all()
