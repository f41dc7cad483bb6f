"""Who waits, goes aside or makes room: against other ways to compute distances of motions."""

from dataclasses import replace

import numpy as np
import pytest
from shapely import LineString

import tricover as tc
from tests.safety.crowds import crowd
from tricover.control.options import ASIDE, OPTIONS, Limits, Options, options_of
from tricover.control.reach_sets import points_as_sets
from tricover.draws import uniforms
from tricover.simulation import Mission
from tricover.simulation.deciding import decide_all, view_of
from tricover.world import KeepApart, Request


def request(seed, agents=40, size=10.0, far=6.0, radius=0.0):
    """Agents in a square who all want to go somewhere, with random options; some of them have few."""
    rng = np.random.default_rng(seed)
    positions = rng.uniform(0, size, (agents, 2))
    points = positions[:, None] + rng.uniform(-far, far, (agents, OPTIONS, 2)) * rng.random((agents, 1, 1))
    points[rng.random(agents) < 0.2, 0] = positions[rng.random(agents) < 0.2][:1]
    points[:, 1:][rng.random((agents, OPTIONS - 1)) < 0.3] = np.nan
    corners = radius * rng.normal(size=(agents, 3, 2))
    corners -= corners.mean(axis=1, keepdims=True)
    sets = points[:, :1] + corners
    radii = np.linalg.norm(corners, axis=2).max(axis=1)
    own = rng.integers(ASIDE, OPTIONS + 1, agents)
    order = rng.permutation(agents)
    return Request(positions, sets, radii, Options(points[order], own[order]), order)


def least_distances(positions, landed):
    """Of every pair (N, N) on straight ways, by the vertex of the parabola |d + s·v|²."""
    before, after = (points[:, None] - points[None] for points in (positions, landed))
    change = after - before
    along, squared = (before * change).sum(axis=2), (change**2).sum(axis=2)
    share = np.clip(-along / np.where(squared > 0, squared, 1), 0, 1)
    return np.linalg.norm(before + share[..., None] * change, axis=2)


def allowed(positions, apart):
    """How close every pair may come, (N, N)."""
    return np.minimum(np.linalg.norm(positions[:, None] - positions[None], axis=2), apart)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("apart", [0.05, 0.4, 1.5])
def test_nobody_comes_closer_than_asked_for_or_than_it_was(seed, apart):
    asked = request(seed, far=[0.5, 6.0, 30.0][seed % 3])
    landed = KeepApart(apart).clear(asked)[:, 0]
    found, wanted = least_distances(asked.positions, landed), allowed(asked.positions, apart)
    assert (found >= wanted * (1 - 1e-9)).all()
    assert (landed != asked.positions).any()
    assert (least_distances(asked.positions, asked.reach_sets[:, 0]) < wanted * (1 - 1e-9)).any()


@pytest.mark.parametrize("seed", range(30))
def test_who_lands_anywhere_in_its_reach_set_keeps_apart_wherever_it_lands(seed):
    asked = request(seed, radius=0.3)
    sets = KeepApart(0.4).clear(asked)
    rng = np.random.default_rng(seed)
    assert (sets != sets[:, :1]).any(axis=(1, 2)).sum() > 2
    for _ in range(50):
        shares = rng.dirichlet(np.ones(3) / 3, len(sets))  # often near a corner
        landed = np.einsum("ak,akx->ax", shares, sets)
        found = least_distances(asked.positions, landed)
        assert (found >= allowed(asked.positions, 0.4) - 1e-9).all()


@pytest.mark.parametrize("seed", range(30))
def test_ways_are_apart_where_nobody_knows_who_is_where_on_them(seed):
    asked = request(seed)
    landed = KeepApart(0.4, together=False).clear(asked)[:, 0]
    ways = [LineString([one, other]) for one, other in zip(asked.positions, landed, strict=True)]
    for i in range(40):
        for j in range(i):
            before = np.linalg.norm(asked.positions[i] - asked.positions[j])
            assert ways[i].distance(ways[j]) >= min(0.4, before) - 1e-9


def test_who_is_far_from_all_gets_what_it_asked_for():
    rng = np.random.default_rng(0)
    positions = np.stack(np.meshgrid(np.arange(20.0), np.arange(20.0)), -1).reshape(-1, 2) * 10
    points = positions[:, None] + rng.uniform(-2, 2, (400, OPTIONS, 2))
    sets = points[:, :1] + rng.uniform(-0.1, 0.1, (400, 3, 2))
    asked = Request(positions, sets, np.full(400, 0.2), Options(points, np.full(400, OPTIONS)), np.arange(400))
    np.testing.assert_array_equal(KeepApart(3.0).clear(asked), sets)


def crossing(order):
    """Two who would meet in the middle, with no options but to go or to stay."""
    points = np.full((2, OPTIONS, 2), np.nan)
    positions = np.array([[0.0, 0.0], [4.0, 0.0]])
    points[:, 0] = [[4.0, 4.0], [0.0, 4.0]]
    own = np.full(2, OPTIONS)
    return Request(positions, points_as_sets(points[:, 0]), np.zeros(2), Options(points[order], own), np.array(order))


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_the_first_has_the_right_of_way(order):
    sets = KeepApart(1.0).clear(crossing(order))
    first, second = order
    asked = crossing(order)
    np.testing.assert_array_equal(sets[first], asked.reach_sets[first])
    np.testing.assert_array_equal(sets[second, 0], asked.positions[second])


def test_who_stands_in_the_way_makes_room():
    points = np.full((2, OPTIONS, 2), np.nan)
    positions = np.array([[0.0, 0.0], [3.0, 0.0]])
    points[:, 0] = [[6.0, 0.0], [3.0, 0.0]]  # the second is where it wants to be
    points[1, OPTIONS - 1] = [3.0, 1.2]
    asked = Request(positions, points_as_sets(points[:, 0]), np.zeros(2), Options(points, np.full(2, 4)), np.arange(2))
    sets = KeepApart(1.0).clear(asked)
    np.testing.assert_array_equal(sets[:, 0], [[0.0, 0.0], [3.0, 1.2]])
    there = asked._replace(positions=np.array([[0.0, 0.0], [3.0, 1.2]]))
    np.testing.assert_array_equal(KeepApart(1.0).clear(there)[0, 0], [6.0, 0.0])


def test_nobody_to_ask_is_fine():
    asked = request(0)
    nobody = asked._replace(order=np.empty(0, np.int64))
    np.testing.assert_array_equal(KeepApart(1.0).clear(nobody), asked.reach_sets)


@pytest.mark.parametrize("motion", ["reach", "walk"])
@pytest.mark.parametrize("seed", range(4))
def test_teams_keep_apart_and_settle(seed, motion):
    given = crowd(seed, motion, agents=25)
    run = tc.simulate(given)
    assert run.separation.distance >= given.safety.separation
    assert run.converged
    assert tc.separation(run.desired[None]).distance >= given.safety.separation


@pytest.mark.parametrize("motion", ["reach", "walk"])
def test_killed_and_resumed_they_go_the_same_ways(tmp_path, motion):
    given = crowd(1, motion)
    whole = tc.simulate(given)
    assert whole.steps > 3
    free = tc.simulate(given.replace(safety={"separation": None}))
    assert not np.array_equal(whole.positions[: free.steps + 1], free.positions)

    def stop(now):
        if now.step == 2:
            raise KeyboardInterrupt

    tc.simulate(given, tmp_path / "run.zarr", progress=stop)
    resumed = tc.simulate(given, tmp_path / "run.zarr", resume=True)
    np.testing.assert_array_equal(resumed.positions, whole.positions)


@pytest.mark.parametrize("motion", ["reach", "walk"])
def test_options_are_an_agents_own(motion):
    """One that asks alone has the options of the batch, and who is inside its triangle goes aside only in it."""
    mission = Mission.of(crowd(5, motion))
    for step in list(tc.steps(mission))[:3]:
        told = mission.epochs[0].told
        agents = np.arange(mission.agents)
        view, decided = view_of(mission, step.state, agents), decide_all(mission, step.state).decision
        draws = uniforms(0, 1, step.step, agents)
        longest = np.where(agents % 2 == 0, 0.4, np.inf)
        points, own = options_of(view, told, decided, Limits(0.5, longest), draws)
        far = np.linalg.norm(points - view.positions[:, None], axis=2)
        assert np.nanmax(far[::2]) <= 0.4 + 1e-12
        assert np.nanmax(far[1::2]) > 0.4
        for agent in (0, 7, 19):
            row = np.array([agent])
            alone = options_of(view.rows(row), told, decided.rows(row), Limits(0.5, longest[row]), draws[row])
            np.testing.assert_array_equal(alone.points[0], points[agent])
            assert alone.own[0] == own[agent]
        np.testing.assert_array_equal(points[1::2, 0], decided.setpoints[1::2])
        for agent in told.network.followers:
            triangle = view.heard[agent]
            if tc.geometry.barycentric(view.positions[agent], triangle).min() < 0:
                continue
            aside = points[agent, ASIDE:10]
            aside = aside[np.isfinite(aside[:, 0])]
            assert (tc.geometry.barycentric(aside, triangle[None]) >= -1e-12).all()


def test_slow_vehicles_are_sent_no_farther_than_they_get():
    given = crowd(2, "reach", separation=1.0, vehicle={"kind": "double-integrator", "duration": 2.0}, agents=12)
    run = tc.simulate(given)
    assert run.converged
    assert run.separation.distance >= 1.0
    assert run.missed == 0
    assert np.linalg.norm(np.diff(run.positions, axis=0), axis=2).max() <= 2.0 * 2.0**2 / 16 + 1e-9


@pytest.mark.parametrize("kind", ["quadrotor", "unicycle", "anywhere"])
@pytest.mark.parametrize("motion", ["reach", "walk"])
def test_other_vehicles_keep_apart_too(kind, motion):
    run = tc.simulate(crowd(3, motion, separation=1.0, vehicle={"kind": kind, "duration": 4.0}, agents=12, steps=120))
    assert run.separation.distance >= 1.0
    assert run.misses.max() <= 0.05 or motion == "walk"


def pair(goals, aside, order=(0, 1), positions=((0.0, 0.0), (3.0, 0.0))):
    """Two agents with a goal each, and one point aside for the first."""
    points = np.full((2, OPTIONS, 2), np.nan)
    points[:, 0] = goals
    points[0, ASIDE] = aside
    order, own = np.array(order), np.full(len(order), OPTIONS)
    sets = points_as_sets(points[:, 0])
    return Request(np.array(positions), sets, np.zeros(2), Options(points[order], own), order)


def test_who_is_too_close_may_part_and_not_come_closer():
    near = ((0.0, 0.0), (0.3, 0.0))
    parts = pair([[-2.0, 0.0], [0.3, 0.0]], [np.nan] * 2, positions=near)
    np.testing.assert_array_equal(KeepApart(1.0).clear(parts)[0, 0], [-2.0, 0.0])
    closer = pair([[0.1, 0.0], [0.3, 0.0]], [np.nan] * 2, positions=near)
    np.testing.assert_array_equal(KeepApart(1.0).clear(closer)[0, 0], [0.0, 0.0])


def test_who_meets_one_that_stands_goes_aside_and_who_meets_one_that_moves_waits():
    standing = pair([[6.0, 0.0], [3.0, 0.0]], [0.0, 2.0])
    np.testing.assert_array_equal(KeepApart(1.0).clear(standing)[0, 0], [0.0, 2.0])
    moving = pair([[6.0, 0.0], [3.0, 3.0]], [0.0, -2.0], order=(1, 0), positions=((0.0, 0.0), (3.0, -3.0)))
    np.testing.assert_array_equal(KeepApart(1.0).clear(moving)[:, 0], [[0.0, 0.0], [3.0, 3.0]])
    # One that does not take part is not there.
    absent = pair([[6.0, 0.0], [3.0, 0.0]], [0.0, 2.0], order=(0,))
    np.testing.assert_array_equal(KeepApart(1.0).clear(absent)[0, 0], [6.0, 0.0])


@pytest.mark.parametrize("seed", range(20))
def test_long_ways_through_a_crowd_find_everybody_beside_them(seed):
    rng = np.random.default_rng(seed)
    positions = rng.uniform(0, 10, (300, 2))
    points = np.full((300, OPTIONS, 2), np.nan)
    points[:, 0] = positions
    points[:40, 0] = rng.uniform(0, 10, (40, 2))
    sets = points_as_sets(points[:, 0])
    asked = Request(positions, sets, np.zeros(300), Options(points, np.full(300, OPTIONS)), np.arange(300))
    landed = KeepApart(0.05).clear(asked)[:, 0]
    assert (least_distances(positions, landed) >= allowed(positions, 0.05) * (1 - 1e-9)).all()
    assert (landed != positions).any(axis=1).sum() > 2


@pytest.mark.parametrize("seed", range(6))
def test_nobody_goes_aside_into_a_zone(seed):
    given = crowd(seed, "walk", agents=30, separation=1.0)
    walls = [[[30.0, 20.0], [33.0, 20.0], [33.0, 75.0], [30.0, 75.0]], [[55.0, 40.0], [70.0, 45.0], [60.0, 60.0]]]
    zones = tc.geometry.as_zones(walls)
    free = given.reference[zones.holding(given.reference) < 0]
    run = tc.simulate(given.replace(reference=free, safety={"zones": walls}))
    assert run.separation.distance >= 1.0
    assert tc.geometry.crossings(run.positions, walls) == []
    assert [tc.certify(run)[key].verdict for key in ("separation", "zones")] == ["holds", "holds"]


def test_options_into_zones_are_none():
    given = crowd(5, "walk", agents=40)
    walls = [[[10.0 * k + 1, 3.0], [10.0 * k + 2, 3.0], [10.0 * k + 2, 97.0], [10.0 * k + 1, 97.0]] for k in range(10)]
    zones = tc.geometry.as_zones(walls)
    free = given.reference[zones.holding(given.reference) < 0]
    mission = Mission.of(given.replace(reference=free, safety={"zones": walls}))
    told, state, agents = mission.epochs[0].told, mission.start(), np.arange(mission.agents)
    view, decided = view_of(mission, state, agents), decide_all(mission, state).decision
    limits, draws = Limits(2.0, np.full(len(agents), np.inf)), uniforms(0, 1, 0, agents)
    points = options_of(view, told, decided, limits, draws).points[:, 1:]
    ways = np.broadcast_to(view.positions[:, None], points.shape)
    there = np.isfinite(points[..., 0])
    assert (zones.crossed(ways[there], points[there]) == -1).all()
    careless = options_of(view, replace(told, zones=None), decided, limits, draws).points[:, 1:]
    anywhere = np.isfinite(careless[..., 0])
    met = zones.crossed(ways[anywhere], careless[anywhere]) >= 0
    assert met.sum() == anywhere.sum() - there.sum() > 5
