"""What a sensor with a radius shows, against brute force and against the statistics that it promises."""

import numpy as np
import pytest
from scipy import stats

import tricover as tc
from tricover.errors import InputError
from tricover.world import RangeSensor, Scene


def scene(seed, count=300, step=0, size=100.0):
    rng = np.random.default_rng(seed)
    return Scene(step, tc.Targets(rng.uniform(0, size, (count, 2)), rng.random(count)), rng.permutation(1000)[:count])


@pytest.mark.parametrize("radius", [1e-9, 3.0, 20.0, 141.0, 1e9, 1e99])
def test_what_is_within_the_radius_is_seen(radius):
    given, positions = scene(1), np.random.default_rng(2).uniform(-20, 120, (25, 2))
    found = RangeSensor(radius).see(given, np.arange(25), positions)
    for row, place in enumerate(positions):
        near = np.flatnonzero(((given.targets.points - place) ** 2).sum(axis=1) <= radius**2)
        near = near[np.argsort(given.names[near])]
        some = slice(found.offsets[row], found.offsets[row + 1])
        np.testing.assert_array_equal(found.names[some], given.names[near])
        np.testing.assert_array_equal(found.points[some], given.targets.points[near])
        np.testing.assert_array_equal(found.weights[some], given.targets.weights[near])
    assert found.fresh.all()


def test_on_the_edge_of_sight_is_in_sight():
    given = Scene(0, tc.Targets([[3.0, 4.0], [5.0, 0.0], [0.0, 5.000001]]), np.arange(3))
    assert RangeSensor(5.0).see(given, np.array([0]), np.zeros((1, 2))).names.tolist() == [0, 1]


def test_far_from_the_origin_and_far_apart():
    given = Scene(0, tc.Targets([[9e99, 0.0], [-9e99, 1.0], [1.0, 1.0]]), np.arange(3))
    found = RangeSensor(1e100).see(given, np.arange(2), np.array([[0.0, 0.0], [9e99, 5.0]]))
    assert found.names.tolist() == [0, 1, 2, 0, 2]


def test_noise_is_normal_and_new_in_every_step_for_every_agent_and_target():
    sensor, positions = RangeSensor(30.0, noise=0.7, seed=5), np.full((40, 2), 50.0)
    points = scene(3, 100, size=60.0)
    offs = []
    for step in range(5):
        found = sensor.see(points._replace(step=step), np.arange(40), positions)
        true = points.targets.points[[points.names.tolist().index(name) for name in found.names]]
        offs.append(found.points - true)
    offs = np.concatenate(offs)
    assert len(offs) > 3000
    assert len(np.unique(offs)) == offs.size
    for axis in range(2):
        assert stats.kstest(offs[:, axis] / 0.7, "norm").pvalue > 0.01
    assert abs(np.corrcoef(offs.T)[0, 1]) < 0.05


def test_so_many_are_missed_as_was_asked_for():
    sensor, positions = RangeSensor(1e3, missed=0.3, seed=6), np.zeros((50, 2))
    given = scene(4)
    found = sensor.see(given, np.arange(50), positions)
    counts = np.diff(found.offsets)
    assert stats.binomtest(int(counts.sum()), 50 * 300, 0.7).pvalue > 0.01
    each = np.array([(found.names == name).sum() for name in given.names])
    assert stats.kstest(stats.binom(50, 0.7).cdf(each), "uniform").statistic < 0.15
    other = sensor.see(given._replace(step=1), np.arange(50), positions)
    assert not np.array_equal(found.names[: len(other.names)], other.names[: len(found.names)])


def test_an_agent_sees_the_same_whoever_else_looks_and_whatever_else_is_there():
    sensor = RangeSensor(30.0, noise=0.5, missed=0.2, seed=7)
    given, positions = scene(5), np.random.default_rng(8).uniform(0, 100, (20, 2))
    together = sensor.see(given, np.arange(20), positions)
    for agent in (0, 7, 19):
        alone = sensor.see(given, np.array([agent]), positions[[agent]])
        some = slice(together.offsets[agent], together.offsets[agent + 1])
        np.testing.assert_array_equal(alone.points, together.points[some])
        half = Scene(0, tc.Targets(given.targets.points[::2], given.targets.weights[::2]), given.names[::2])
        fewer = sensor.see(half, np.array([agent]), positions[[agent]])
        kept = np.isin(alone.names, half.names)
        np.testing.assert_array_equal(fewer.points, alone.points[kept])


def test_nothing_to_see_and_nobody_to_look():
    empty = tc.Targets([[0.0, 0.0]]).within([[5, 5], [6, 5], [5, 6]])
    assert not len(RangeSensor(5.0).see(Scene(0, empty, np.empty(0, np.int64)), np.arange(3), np.zeros((3, 2))).names)
    assert len(RangeSensor(5.0).see(scene(0), np.empty(0, np.int64), np.empty((0, 2)))) == 0


@pytest.mark.parametrize(
    "given", [{"radius": 0.0}, {"radius": np.nan}, {"radius": 1, "noise": -1}, {"radius": 1, "missed": 1}]
)
def test_a_sensor_that_cannot_be_is_refused(given):
    with pytest.raises(InputError, match=r"sight|noise|missed"):
        RangeSensor(**given)
