"""Plans as flown, from their items alone: by hand, against the flights they come from, and with one thing broken."""

import json

import numpy as np
import pytest

import tricover as tc
from tests.export.random_flights import check_random_team
from tests.export.runs import ORIGIN, eventful, scenario
from tricover.errors import FileFormatError
from tricover.export import as_flown, export_run
from tricover.formats import Projection

PLANE = Projection.at(ORIGIN)
WAYPOINT, RETURN, LAND, TAKEOFF, CHANGE_SPEED = 16, 20, 21, 22, 178


def item(command, *params):
    return {"command": command, "params": [*params]}


def at(command, place, height, hold=0.0):
    longitude, latitude = PLANE.to_degrees(np.array([place], float))[0].tolist()
    return item(command, hold, 0, 0, None, latitude, longitude, height)


def speed(value, kind=1):
    return item(CHANGE_SPEED, kind, value, -1, 0, 0, 0, 0)


def written(folder, *missions, home=((0, 0),), hover=5.0):
    folder.mkdir(exist_ok=True)
    for agent, items in enumerate(missions):
        longitude, latitude = PLANE.to_degrees(np.array([home[agent]], float))[0].tolist()
        mission = {"hoverSpeed": hover, "plannedHomePosition": [latitude, longitude, 0], "items": items}
        (folder / f"agent-{agent}.plan").write_text(json.dumps({"mission": mission}))
    return folder


def test_a_plan_by_hand(tmp_path):
    """Up 20 m at 2 m/s; 3 s of hold; 30 m at 5 m/s; 8 m at 4 m/s, 6 m higher, 1.5 s of hold; down 26 m."""
    items = [
        at(TAKEOFF, (0, 0), 20),
        at(WAYPOINT, (0, 0), 20, hold=3),
        at(WAYPOINT, (30, 0), 20),
        speed(4.0),
        at(WAYPOINT, (30, 8), 26, hold=1.5),
        at(LAND, (30, 8), 0),
    ]
    flown = as_flown(written(tmp_path / "plans", items), PLANE, climb=2.0)
    [(times, points)] = flown.tracks
    key, first = np.unique(times.round(6), return_index=True)
    np.testing.assert_allclose(key, [0, 10, 13, 19, 22, 23.5, 36.5], atol=1e-6)  # the climb takes longer than the way
    expected = [[0, 0, 0], [0, 0, 20], [0, 0, 20], [30, 0, 20], [30, 8, 26], [30, 8, 26], [30, 8, 0]]
    np.testing.assert_allclose(points[first], expected, atol=1e-6)
    assert str(flown) == "there are no two vehicles"


def test_a_landing_elsewhere_is_flown_to_at_the_same_height(tmp_path):
    items = [at(TAKEOFF, (0, 0), 10), at(LAND, (10, 0), 0)]
    [(times, points)] = as_flown(written(tmp_path / "plans", items), PLANE, climb=1.0).tracks
    np.testing.assert_allclose(points[times.searchsorted(12 - 1e-6)], [10, 0, 10], atol=1e-6)
    assert times[-1] == pytest.approx(22)


def test_starts_that_differ_by_twice_the_delay_count(tmp_path):
    """One follows the other 6 m behind, at 3 m/s: they meet if it is a second early and the other a second late."""
    ways = [
        [at(TAKEOFF, (x, 0), 9), speed(3.0), at(WAYPOINT, (x + 60, 0), 9), at(LAND, (x + 60, 0), 0)] for x in (6, 0)
    ]
    folder = written(tmp_path / "plans", *ways, home=((6, 0), (0, 0)))
    for delay, distance in ((0, 6), (0.5, 3), (1, 0)):
        assert as_flown(folder, PLANE, climb=1.0, delay=delay).approach.distance == pytest.approx(distance, abs=1e-6)


def test_speeds_that_are_not_over_the_ground_change_nothing(tmp_path):
    items = [at(TAKEOFF, (0, 0), 10), speed(1.0, kind=2), at(WAYPOINT, (10, 0), 10)]
    assert as_flown(written(tmp_path / "plans", items), PLANE, climb=1.0).tracks.duration == pytest.approx(12)


def test_what_is_not_known_is_not_flown(tmp_path):
    folder = written(tmp_path / "plans", [at(TAKEOFF, (0, 0), 10), item(RETURN, 0, 0, 0, 0, 0, 0, 0)])
    with pytest.raises(FileFormatError, match=r"agent-0.plan: what MAV_CMD 20 does in flight is not known here"):
        as_flown(folder, PLANE, climb=1.0)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"mission": {"items": [{"command": 16, "params": [1]}]}}'])
def test_what_is_no_plan_is_named(tmp_path, text):
    (tmp_path / "agent-3.plan").write_text(text)
    with pytest.raises(FileFormatError, match=r"agent-3\.plan: this is not a plan of QGroundControl"):
        as_flown(tmp_path, PLANE, climb=1.0)


@pytest.fixture(scope="module")
def team():
    """Sixteen agents, some of whom cross."""
    return tc.simulate(scenario(targets=[[20, 30], [70, 60], [40, 80]]))


@pytest.mark.parametrize(
    "options",
    [{}, {"landing": "place"}, {"delay": 1.5, "stay": 20}, {"clearance": 20, "climb": 3, "speed": 2, "still": 0.5}],
)
def test_plans_are_flown_as_they_were_planned(team, tmp_path, options):
    plans = export_run(team, tmp_path / "plans", "qgroundcontrol", origin=ORIGIN, **options)
    planned, flown = plans.flights.tracks, plans.flown.tracks
    np.testing.assert_array_equal(planned.agents, flown.agents)
    assert flown.duration == pytest.approx(planned.duration)
    for time in np.linspace(0, planned.duration, 60):
        np.testing.assert_allclose(planned.at(time), flown.at(time), atol=1e-5)
    # All take the same time, each by itself: what is appended in the end is of no length.
    assert max(float(times[-1] - times[-2]) for times, _ in flown) < 1e-6


def test_agents_that_come_and_go_fly_together(tmp_path):
    plans = export_run(tc.simulate(eventful()), tmp_path / "plans", "qgroundcontrol", origin=ORIGIN)
    assert len(plans.flown.tracks) == 18
    assert max(float(times[-1] - times[-2]) for times, _ in plans.flown.tracks) < 1e-6


@pytest.fixture
def plans(team, tmp_path):
    made = export_run(team, tmp_path / "plans", "qgroundcontrol", origin=ORIGIN, clearance=6, spacing=8, delay=0.5)
    return made, tmp_path / "plans"


def change(folder, agent, edit):
    path = folder / f"agent-{agent:02d}.plan"
    plan = json.loads(path.read_text())
    edit(plan["mission"]["items"])
    path.write_text(json.dumps(plan))


def flown(folder):
    return as_flown(folder, PLANE, climb=1.5, delay=0.5).approach.distance


def test_a_hold_that_is_left_out_is_seen(plans):
    made, folder = plans

    def hurry(items):
        for each in items:
            if each["command"] == WAYPOINT:
                each["params"][0] = 0.0

    moving = [agent for agent, (_, points) in enumerate(made.flown.tracks) if np.ptp(points[:, 0]) > 1]
    change(folder, moving[0], hurry)
    again = as_flown(folder, PLANE, climb=1.5, delay=0.5)
    times, _ = list(again.tracks)[moving[0]]
    assert times[-1] - times[-2] > 1  # it stands on the ground before the others


def test_one_who_flies_at_anothers_level_is_seen(plans):
    made, folder = plans
    assert flown(folder) == made.flown.approach.distance >= 6 - 1e-3
    one, two = made.flights.near[0].tolist()
    height = float(list(made.flown.tracks)[two][1][:, 2].max())

    def join(items):
        for each in items:
            if each["command"] in (WAYPOINT, TAKEOFF):
                each["params"][6] = height

    change(folder, one, join)
    assert flown(folder) < 6


def test_one_who_goes_too_fast_is_seen(plans):
    made, folder = plans
    moving = [agent for agent, (_, points) in enumerate(made.flown.tracks) if np.ptp(points[:, 0]) > 1]

    def race(items):
        for each in items:
            if each["command"] == CHANGE_SPEED:
                each["params"][1] *= 3

    for agent in moving[:3]:
        change(folder, agent, race)
    again = as_flown(folder, PLANE, climb=1.5)
    assert any(times[-1] - times[-2] > 1 for times, _ in again.tracks)


def test_a_longer_delay_is_never_better(plans):
    _, folder = plans
    distances = [as_flown(folder, PLANE, climb=1.5, delay=delay).approach.distance for delay in (0, 0.5, 2, 8)]
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < distances[0]


def test_the_delay_is_part_of_the_claim(plans):
    made, folder = plans
    assert str(made.flown).endswith(" (starts up to 0.5 s early or late)")
    assert "starts" not in str(as_flown(folder, PLANE, climb=1.5))


@pytest.mark.parametrize("seed", range(12))
def test_a_random_team_as_flown(seed, tmp_path):
    check_random_team(seed, tmp_path / "plans")
