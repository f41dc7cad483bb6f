"""Flights in space: who is where, and that nobody comes near anybody, sampled densely for all kinds of delays."""

import numpy as np
import pytest

import tricover as tc
from tests.export.runs import eventful, interrupted, scenario
from tricover.errors import InputError
from tricover.export import Flight, closest_approach, flight_of, flights_of


@pytest.fixture(scope="module")
def crowded():
    """Twenty-five agents from pads 4 m apart, over few targets: many pass each other and end at one place."""
    x, y = np.meshgrid(4.0 * np.arange(5), 4.0 * np.arange(5))
    start = np.stack([x.ravel(), y.ravel()], axis=1)
    team = np.random.default_rng(4).uniform(-20, 40, (25, 2))
    formation = {"positions": team, "start": start}
    targets = [[0, 0], [12, 3], [5, 20]]
    control = {"motion": "walk", "resolution": 10}
    return tc.simulate(tc.Scenario(formation=formation, targets=targets, control=control, steps=60))


def least(tracks, shifts, step=0.1):
    """Least distance of any two at samples of time, everybody's clock shifted by so many seconds."""
    best = np.inf
    moved = [(times + shift, points) for (times, points), shift in zip(tracks, shifts, strict=True)]
    for now in np.arange(-5, tracks.duration + 5, step):
        where = np.array([[np.interp(now, times, points[:, k]) for k in range(3)] for times, points in moved])
        apart = np.linalg.norm(where[:, None] - where, axis=2) + 1e9 * np.eye(len(where))
        best = min(best, apart.min())
    return best


@pytest.mark.parametrize("delay", [0.0, 1.5])
def test_nobody_comes_near_anybody_whoever_is_late(crowded, delay):
    flight = Flight(clearance=3.0, spacing=3.5, delay=delay)
    flights = flights_of(crowded, flight)
    assert crowded.separation.distance < 0.5  # in the plane they do
    assert len(flights.near) > 20
    found = closest_approach(flights.tracks, 2 * delay)
    assert found.distance >= 3.0
    rng = np.random.default_rng(7)
    for shifts in [np.zeros(25), *(delay * rng.choice([-1.0, 1.0], (3, 25)))]:
        assert least(flights.tracks, shifts, step=0.25) >= found.distance - 1e-9


def test_on_one_level_they_would_meet(crowded):
    """The same with the heights taken away: so it is the levels that keep them apart."""
    flights = flights_of(crowded, Flight(clearance=3.0))
    flights.tracks.flat.points[:, 2] = 0
    assert closest_approach(flights.tracks).distance == pytest.approx(crowded.separation.distance, abs=0.11)


@pytest.mark.parametrize("seed", range(3))
def test_two_who_are_forced_on_one_level_are_found(crowded, seed):
    flights = flights_of(crowded, Flight(clearance=3.0))
    rows = np.searchsorted(flights.tracks.agents, flights.near)
    one, two = rows[np.random.default_rng(seed).integers(len(rows))]
    heights = flights.heights[flights.levels]
    assert heights[one] != heights[two]
    flat = flights.tracks.flat
    own = slice(flat.starts[one], flat.starts[one + 1])
    flat.points[own, 2] *= heights[two] / heights[one]
    assert closest_approach(flights.tracks).distance < 3.0


def test_a_delay_puts_those_apart_who_pass_the_same_place_one_after_the_other():
    """Two fly one way, 10 m apart, at 5 m/s: one level if they are on time, two if they are 2 s off it."""
    way = np.linspace([0, 0], [60, 0], 13)[:, None]
    positions = np.concatenate([way, way - [10, 0]], axis=1)
    run = chasing(positions)
    assert flights_of(run, Flight(clearance=3.0)).levels.tolist() == [0] * 6
    assert flights_of(run, Flight(clearance=3.0, delay=0.6)).levels.tolist() == [0] * 6  # 6 m off, 4 m remain
    late = flights_of(run, Flight(clearance=3.0, delay=0.8))
    assert late.near.tolist() == [[4, 5]]
    assert sorted(late.levels.tolist()) == [0] * 5 + [1]


def chasing(positions):
    """A run of six: four corners far away, and two who go where they are told."""
    steps, own = len(positions), positions.shape[1]
    corners = np.broadcast_to(np.array([[-500, -500], [500, -500], [500, 500], [-500, 500]]), (steps, 4, 2))
    team = np.concatenate([corners[0], positions[0] + [[0, 1], [0, -1]]])
    run = tc.simulate(tc.Scenario(reference=team, targets=[[0, 0]], steps=steps - 1))
    where = np.concatenate([corners, positions], axis=1)
    return Motion(run, where, np.ones((steps, 4 + own), bool))


class Motion:
    """What flights need of a run."""

    def __init__(self, run, positions, present):
        self.scenario, self.mission = run.scenario, run.mission
        self.positions, self.present = positions, present


@pytest.mark.parametrize("landing", ["pad", "place"])
@pytest.mark.parametrize("delay", [0.0, 2.0])
def test_nobody_moves_sideways_while_anybody_climbs_or_descends(crowded, landing, delay):
    flights = flights_of(crowded, Flight(clearance=3.0, landing=landing, delay=delay, stay=7.0))
    climbing, moving, ends = [], [], []
    for times, points in flights.tracks:
        assert (np.diff(times) >= 0).all()
        ways = np.diff(points, axis=0)
        sideways, upwards = np.flatnonzero(ways[:, :2].any(axis=1)), np.flatnonzero(ways[:, 2])
        assert not set(sideways) & set(upwards)
        assert len(upwards) == 2  # up once, down once
        assert (ways[upwards[0], 2], ways[upwards[1], 2]) == (points[1, 2], -points[1, 2])
        climbing.append((times[upwards[0] + 1], times[upwards[1]]))
        if len(sideways):
            moving.append((times[sideways[0]], times[sideways[-1] + 1]))
        ends.append(times[upwards[1] + 1])
        assert points[0, 2] == points[-1, 2] == 0
    up, down = np.array(climbing).T
    first, last = np.array(moving).T
    assert first.min() - up.max() >= 2 * delay - 1e-9
    assert down.min() - last.max() >= 2 * delay - 1e-9
    assert np.ptp(ends) < 1e-9  # all touch down together
    assert flights.tracks.duration == pytest.approx(ends[0])


def test_who_lands_where(crowded):
    start, end = crowded.positions[0], crowded.positions[-1]
    home, there = flights_of(crowded, Flight()), flights_of(crowded, Flight(landing="place"))
    for flights, places, off in ((home, start, 1e-9), (there, end, 0.051)):
        for (_, points), pad, place in zip(flights.tracks, start, places, strict=True):
            np.testing.assert_allclose(points[0], [*pad, 0])
            assert np.linalg.norm(points[-1] - [*place, 0]) <= off
    assert closest_approach(home.tracks).distance >= 3.99  # pads are 4 m apart
    assert closest_approach(there.tracks).distance < 0.5  # two of them land on each other


def test_the_way_back_is_the_way_out_reversed(crowded):
    tracks = flights_of(crowded, Flight(stay=10.0, delay=1.0)).tracks
    for time in np.linspace(0, tracks.duration / 2, 40):
        np.testing.assert_allclose(tracks.at(time), tracks.at(tracks.duration - time), atol=1e-9)
    without = flights_of(crowded, Flight(delay=1.0)).tracks
    assert tracks.duration - without.duration == pytest.approx(10)


def test_everybody_is_in_the_air_from_the_beginning_to_the_end():
    run = tc.simulate(eventful())
    flights = flights_of(run, Flight())
    assert flights.tracks.agents.tolist() == list(range(18))
    heights = flights.heights[flights.levels]
    middle = flights.tracks.at(flights.tracks.duration / 2)
    np.testing.assert_allclose(middle[:, 2], heights)
    start = flights.tracks.at(0.0)
    for agent in range(18):
        there = np.flatnonzero(run.present[:, agent])
        np.testing.assert_allclose(start[agent, :2], run.positions[there[0], agent])
        assert np.linalg.norm(middle[agent, :2] - run.positions[-1, agent]) <= 0.051


def test_who_did_not_come_to_join_has_no_flight():
    run = interrupted(eventful(), 6)
    assert flights_of(run, Flight()).tracks.agents.tolist() == list(range(16))


def test_levels_in_words():
    run = tc.simulate(scenario())
    one, two = flights_of(run, Flight()), flights_of(run, Flight(clearance=12.0, altitude=20.0))
    assert str(one) == "1 level; 54.9 s from take-off to landing, stretched 2.71 times"
    assert str(two).startswith("2 levels up to 25 m; ")
    assert two.heights.tolist() == [20, 25]
    assert "stretched" not in str(flights_of(run, Flight(speed=50.0)))


def test_the_separation_asked_for_is_the_clearance():
    vehicle = tc.vehicle("exact")
    assert flight_of(vehicle).clearance == flight_of(vehicle).spacing == 5
    near = flight_of(vehicle, separation=2.0)
    assert (near.clearance, near.spacing, near.sources["spacing"]) == (2, 5, "default")
    far = flight_of(vehicle, separation=9.0)
    assert (far.clearance, far.spacing, far.sources["spacing"]) == (9, 9, "separation")
    own = flight_of(vehicle, separation=9.0, clearance=4.0, spacing=6.0)
    assert (own.clearance, own.spacing, own.sources["spacing"]) == (4, 6, "given")
    assert flight_of(vehicle, delay=None, landing="place").landing == "place"


@pytest.mark.parametrize("name", ["altitude", "spacing", "speed", "climb", "clearance", "margin"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_a_flight_must_be_possible(name, value):
    with pytest.raises(InputError, match=f"{name} must be a positive number"):
        Flight(**{name: value})


@pytest.mark.parametrize("name", ["delay", "still", "stay"])
@pytest.mark.parametrize("value", [-1, float("nan"), float("inf")])
def test_nothing_takes_less_than_no_time(name, value):
    with pytest.raises(InputError, match=f"{name} must be a number from 0 on"):
        Flight(**{name: value})


def test_a_landing_that_there_is_not():
    with pytest.raises(InputError, match=r"unknown landing 'pads'; did you mean 'pad'\?"):
        Flight(landing="pads")
