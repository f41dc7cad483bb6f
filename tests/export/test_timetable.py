"""The timetable: fewer waypoints, on one clock, at speeds that are allowed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tricover as tc
from tests.export.runs import ORIGIN
from tricover.export.flight import Flight
from tricover.export.timetable import SLOWEST, timetable_of
from tricover.formats import Projection


def made(positions, duration=1.0, plane=None, **flight):
    positions = np.asarray(positions, float)
    return timetable_of(positions, duration, Flight(**flight), np.arange(positions.shape[1]), plane)


def legs(track):
    """Spans, lengths and speeds of the legs of a track."""
    times, points = track
    spans, lengths = np.diff(times), np.linalg.norm(np.diff(points, axis=0), axis=1)
    moving = lengths > 0
    return spans[moving], lengths[moving], lengths[moving] / spans[moving]


def wandering(seed, agents=7, steps=40):
    """Some walk, some stand, some shiver on the spot, some crawl."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice([0.0, 0.004, 0.02, 0.6, 3.0], (steps, agents), p=[0.2, 0.3, 0.1, 0.2, 0.2])
    headings = rng.choice([0.0, 0.7, 2.0], (steps, agents))
    ways = kinds[..., None] * np.stack([np.cos(headings), np.sin(headings)], axis=-1)
    return np.concatenate([rng.uniform(0, 50, (1, agents, 2)), ways]).cumsum(axis=0)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("still", [0.0, 0.05, 1.0])
def test_everybody_is_where_it_was_at_every_step(seed, still):
    positions = wandering(seed)
    table = made(positions, 2.0, still=still, speed=1.0)
    for step, where in enumerate(positions):
        found = table.tracks.at(step * 2.0 * table.stretch)
        off = np.linalg.norm(found[:, :2] - where, axis=1).max()
        assert off <= still + 1e-9
    assert table.tracks.duration == pytest.approx(40 * 2.0 * table.stretch)
    assert {float(times[-1]) for times, _ in table.tracks} == {table.tracks.duration}


@pytest.mark.parametrize("seed", range(4))
def test_between_steps_it_is_the_same_motion_unless_it_is_very_slow(seed):
    positions = wandering(seed)
    positions[1:] = positions[0] + 40 * (positions[1:] - positions[0])  # no leg is slow
    table = made(positions, still=0.5, speed=1e3)
    assert table.stretch == 1
    for time in np.random.default_rng(seed).uniform(0, 40, 200):
        step, share = int(time), time % 1
        where = positions[step] + share * (positions[step + 1] - positions[step])
        assert np.linalg.norm(table.tracks.at(time)[:, :2] - where, axis=1).max() <= 0.5 + 1e-9


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.01, 0.05, 0.3]), st.sampled_from([0.1, 0.3, 2.0, 9.5]))
@settings(max_examples=30, deadline=None)
def test_no_leg_is_too_fast_too_slow_or_too_short(seed, still, duration):
    table = made(wandering(seed), duration, still=still, speed=0.8)
    for track in table.tracks:
        _, lengths, speeds = legs(track)
        assert (lengths > still).all()
        assert (speeds <= 0.8 * (1 + 1e-9)).all()
        assert (speeds >= SLOWEST * (1 - 1e-9)).all()


def test_who_shivers_stands():
    """Seventeen steps under a centimetre are one hold."""
    rng = np.random.default_rng(1)
    path = np.concatenate([[[0, 0], [4, 0]], np.array([4, 0]) + rng.uniform(-0.004, 0.004, (17, 2)), [[8, 0]]])
    [(times, points)] = made(path[:, None]).tracks
    assert times.tolist() == [0, 1, 18, 19, 19]
    np.testing.assert_allclose(points[:, 0], [0, 4, 4, 8, 8], atol=0.004)


def test_out_and_back_is_not_one_short_leg():
    """6 cm out and 3 back: the straight way to the end is within 5 cm of that, but too short to be flown."""
    [(times, points)] = made([[[0, 0]], [[0.06, 0]], [[0.03, 0]]], 0.1).tracks
    np.testing.assert_allclose(times, [0, 0.1, 0.2, 0.2])
    np.testing.assert_allclose(points[:, 0], [0, 0.06, 0.06, 0.06])


def test_a_straight_way_at_one_speed_is_one_leg():
    path = np.linspace([0, 0], [30, 40], 26)
    [(times, points)] = made(path[:, None]).tracks
    assert times.tolist() == [0, 25, 25]
    np.testing.assert_allclose(points[-1], [30, 40, 0])
    bent = np.concatenate([path, path[-1] + np.linspace([0, 0], [10, 0], 6)[1:]])
    [(times, _)] = made(bent[:, None]).tracks
    assert times.tolist() == [0, 25, 30, 30]
    faster = np.concatenate([path, path[-1] + 2 * (path[1:6] - path[0])])  # straight on, at twice the speed
    [(times, _)] = made(faster[:, None]).tracks
    assert times.tolist() == [0, 25, 30, 30]


def test_all_wait_for_the_fastest():
    """One goes 30 m in a second, at most 5 m/s are allowed: everything takes six times as long."""
    positions = [[[0, 0], [0, 10]], [[30, 0], [1, 10]], [[30, 0], [1, 10]]]
    table = made(positions, 1.0, speed=5.0)
    assert table.stretch == pytest.approx(6)
    (times, _), (others, _) = table.tracks
    np.testing.assert_allclose(times, [0, 6, 12, 12])
    np.testing.assert_allclose(others, [0, 6, 12, 12])
    assert made(positions, 1.0, speed=30.0).stretch == 1
    assert made(positions, 1.0, speed=90.0).stretch == 1  # never faster than the run


def test_a_slow_leg_waits_and_then_flies():
    """0.5 m in 20 s: 15 s of hold, 5 s at 0.1 m/s."""
    [(times, points)] = made([[[0, 0]], [[0.5, 0]], [[8, 0]]], 20.0).tracks
    np.testing.assert_allclose(times, [0, 15, 20, 40, 40])
    np.testing.assert_allclose(points[:, 0], [0, 0, 0.5, 8, 8])


def test_a_slow_drift_is_kept_up_with():
    """A centimetre a step: never more than `still` behind, in legs that are longer than that."""
    path = np.linspace([0, 0], [1, 0], 101)
    table = made(path[:, None], 1.0)
    for step in range(101):
        assert abs(table.tracks.at(step)[0, 0] - path[step, 0]) <= 0.05 + 1e-9


def test_places_are_those_that_mavlink_can_carry():
    plane = Projection.at(ORIGIN)
    positions = wandering(3)
    table = made(positions, 2.0, plane)
    degrees = plane.to_degrees(table.tracks.flat.points[:, :2])
    np.testing.assert_allclose(degrees, degrees.round(7), rtol=0, atol=1e-11)
    for step, where in enumerate(positions):
        off = np.linalg.norm(table.tracks.at(step * 2.0 * table.stretch)[:, :2] - where, axis=1).max()
        assert off <= 0.05 + 0.0079  # half the diagonal of the grid
    for track in table.tracks:
        assert (legs(track)[2] <= 5 * (1 + 1e-9)).all()


def test_a_run_without_steps_and_a_team_that_stands():
    [(times, points)] = made(np.zeros((1, 1, 2))).tracks
    assert (times[0], times[-1], len(points)) == (0, 0, len(times))
    [(times, points)] = made(np.ones((9, 1, 2)), 3.0).tracks
    assert (times[-1], np.ptp(points, axis=0).max()) == (24, 0)


def test_a_quadrotor_stays_in_step():
    """All plans of a simulated flight take as long as the flight."""
    rng = np.random.default_rng(0)
    team = rng.uniform(0, 40, (7, 2))
    run = tc.simulate(
        tc.Scenario(
            reference=team,
            targets=rng.uniform(0, 40, (30, 2)),
            vehicle={"kind": "quadrotor", "duration": 5.0, "max_speed": 4.0, "wind": [1.0, 0.0], "gust": 0.2},
            steps=12,
        )
    )
    moves = np.linalg.norm(np.diff(run.positions, axis=0), axis=2)
    assert ((moves > 0) & (moves < 0.01)).sum() > 5  # what used to be waypoints
    table = timetable_of(run.positions, 5.0, Flight(speed=4.0), np.arange(7))
    assert table.stretch == 1
    assert table.tracks.duration == run.steps * 5.0
    assert all((legs(track)[1] > 0.05).all() for track in table.tracks)
