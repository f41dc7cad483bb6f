"""What agents observe, against plain loops; and that it is theirs alone to know."""

import numpy as np
import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

import tricover as tc
from tests.rl.teams import at_random, eventful, given, played
from tricover.geometry import barycentric
from tricover.rl import Observer, parallel_env
from tricover.rl.knowing import targets_in
from tricover.rl.observing import Known, unit_of

ALL = Observer(
    ("place", "shape", "size", "heading", "targets", "histogram", "ages", "goal", "cell", "goal_cell"), bins=3
)


def plainly(position, triangle, points, weights, unit, goal):
    """The same numbers, one agent at a time."""
    sides = [np.linalg.norm(triangle[(k + 2) % 3] - triangle[(k + 1) % 3]) for k in range(3)]
    way = triangle[1] - triangle[0]
    turn = np.linalg.det([triangle[1] - triangle[0], triangle[2] - triangle[0]])
    shares = weights / weights.sum() if weights.sum() else weights
    inside = [barycentric(point, triangle) for point in points]
    centre = np.sum([s * w for s, w in zip(shares, inside, strict=True)], axis=0) if weights.sum() else [1 / 3] * 3
    histogram = np.zeros(9)
    for share, place in zip(shares, inside, strict=True):
        clipped = np.maximum(place, 0)
        histogram[tc.CellGrid(3).locate(clipped / clipped.sum())] += share
    return np.concatenate(
        [
            np.clip(barycentric(position, triangle), -1, 2),
            np.array(sides) / max(sides),
            [max(sides) / unit],
            way / np.linalg.norm(way),
            [np.sign(turn), np.log1p(weights.sum())],
            centre,
            histogram,
            [0, 0, 0],
            goal,
        ]
    )


@pytest.mark.parametrize("motion", ["walk", "reach"])
@pytest.mark.parametrize("seed", [0, 3, 12])
def test_against_plain_loops(motion, seed):
    one = given(
        motion, seed=seed, targets={"positions": given(seed=seed).targets.positions, "weights": np.arange(40) % 3}
    )
    env = parallel_env(one, parts=ALL.parts, bins=3)
    observations, _ = env.reset()
    network, targets = env.turn.mission.epochs[0].network, env.turn.mission.targets
    unit = unit_of(network.reference)
    for _ in range(4):
        positions = env.turn.state.positions
        for name, seen in observations.items():
            agent = env.numbers[name]
            triangle = positions[network.in_neighbors[agent]]
            mine = targets.within(triangle)
            point = tc.goal_points(network, positions, targets, agents=[agent])[0]
            goal = barycentric(point, triangle)
            if motion == "walk":
                goal = tc.CellGrid(5).weights[seen["goal_cell"] - 1]
                assert tc.CellGrid(5).holding(point[None], triangle[None], within=True)[0] == seen["goal_cell"] - 1
            expected = plainly(positions[agent], triangle, mine.points, mine.weights, unit, goal)
            np.testing.assert_allclose(seen["observation"], expected, atol=2e-6)
            assert seen["cell"] - 1 == tc.CellGrid(5).holding(positions[agent][None], triangle[None])[0]
        observations, *_ = env.step(at_random(np.random.default_rng(2))(env))


def test_observations_are_in_their_spaces():
    for motion in ("walk", "reach"):
        env = parallel_env(eventful(motion), parts=ALL.parts)
        observations, _ = env.reset()
        while env.agents:
            for name, seen in observations.items():
                assert seen in env.observation_space(name)
            observations, *_ = env.step(at_random(np.random.default_rng(1))(env))


def test_layout_says_where_parts_are():
    env = parallel_env(given(), parts=("size", "histogram", "place"), bins=2)
    assert env.layout == {"size": slice(0, 1), "histogram": slice(1, 5), "place": slice(5, 8)}
    assert env.observation_space("follower_8")["observation"].shape == (8,)
    everything, _ = parallel_env(given(), parts=ALL.parts, bins=2).reset()
    some, _ = env.reset()
    whole, layout = everything["follower_8"]["observation"], Observer(ALL.parts, 2).layout
    for name, where in env.layout.items():
        np.testing.assert_array_equal(some["follower_8"]["observation"][where], whole[layout[name]])


@for_all(st.integers(0, 10**6))
def test_a_frame_of_ones_own(seed):
    """Turned, moved and scaled together with its targets, an agent observes the same; but for heading and size."""
    rng = np.random.default_rng(seed)
    triangle, points, place = rng.random((3, 2)), rng.random((30, 2)), rng.random(2)
    angle, scale, shift = rng.uniform(0, 6), rng.uniform(0.1, 9), rng.uniform(-5, 5, 2)
    turn = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    observer = Observer(("place", "shape", "targets"))

    def seen(triangle, points, place):
        lists = targets_in(triangle[None], tc.Targets(points))
        return observer(Known(triangle[None], np.ones(1), lambda: lists, place[None]))[0]

    here, there = seen(triangle, points, place), seen(*(part @ turn.T + shift for part in (triangle, points, place)))
    np.testing.assert_allclose(here, there, atol=1e-4)


def test_only_what_lies_in_the_triangle_counts():
    """Targets beyond change no bit."""
    env = parallel_env(given("reach", seed=3), parts=("targets", "histogram"))
    observations, _ = env.reset()
    network, positions = env.turn.mission.epochs[0].network, env.turn.state.positions
    for name, seen in observations.items():
        triangle = positions[network.in_neighbors[env.numbers[name]]]
        mine = env.turn.mission.targets.within(triangle)
        lists = (
            targets_in(triangle[None], mine) if len(mine) else (np.zeros(2, np.int64), np.empty((0, 2)), np.empty(0))
        )
        alone = Observer(("targets", "histogram"))(Known(triangle[None], np.ones(1), lambda lists=lists: lists))[0]
        np.testing.assert_allclose(seen["observation"], alone, rtol=1e-6)


def test_flat_and_coinciding_triangles():
    triangles = np.array([[[0, 0], [1, 1], [2, 2]], [[1, 1], [1, 1], [1, 1]], [[0, 0], [0, 0], [3, 4]]], float)
    lists = targets_in(triangles, tc.Targets([[1, 1]]))
    rows = ALL(Known(triangles, np.ones(3), lambda: lists, np.zeros((3, 2))))
    assert np.isfinite(rows).all()
    np.testing.assert_allclose(rows[:, ALL.layout["shape"]], [[0.5, 1, 0.5], [0, 0, 0], [1, 1, 0]], atol=1e-6)
    np.testing.assert_allclose(rows[0, ALL.layout["heading"]], [0.5**0.5, 0.5**0.5, 0], atol=1e-6)
    np.testing.assert_array_equal(rows[1:, ALL.layout["heading"]], 0)
    np.testing.assert_allclose(rows[:, ALL.layout["targets"]][:2], [[np.log(2), 1 / 3, 1 / 3, 1 / 3]] * 2, atol=1e-6)
    assert not rows[:, ALL.layout["histogram"]].any()


def test_ages_of_what_is_heard():
    env = parallel_env(given("reach", world={"delay": 3}, steps=8), parts=("ages", "place"))
    observations, _ = env.reset()
    assert all((seen["observation"] == [-1, -1, -1, 0, 0, 0]).all() for seen in observations.values())
    while env.agents:
        agents = env.agents
        observations, *_ = env.step(env.method_actions())
        for name in agents:
            ages = env.turn.state.memory["ages"][env.numbers[name]]
            np.testing.assert_array_equal(observations[name]["observation"][:3], ages)
    assert max(seen["observation"][:3].max() for seen in observations.values()) > 0


def test_short_sighted_agents_observe_what_they_know():
    one = given("reach", world={"sight": 0.15, "summary": 4}, steps=5, targets=np.random.default_rng(3).random((60, 2)))
    env, all_seeing = parallel_env(one), parallel_env(one.replace(world={"sight": None, "summary": None}))
    few, _ = env.reset()
    many, _ = all_seeing.reset()
    weight = env.layout["targets"].start
    known = np.array([[few[name]["observation"][weight], many[name]["observation"][weight]] for name in few])
    assert (known[:, 0] <= known[:, 1] + 1e-6).all()
    assert (known[:, 0] < known[:, 1]).any()
    played(env)
