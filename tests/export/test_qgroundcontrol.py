"""Exported plans, held against the documented format of QGroundControl."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyproj
import pytest
import shapely

import tricover as tc
from tests.export.runs import ORIGIN, degrees, eventful, interrupted, scenario
from tricover.export import export_run, flight_of

WAYPOINT, LAND, TAKEOFF, CHANGE_SPEED = 16, 21, 22, 178
PLACED = {"AMSLAltAboveTerrain", "Altitude", "AltitudeMode"}
SIMPLE = {"autoContinue", "command", "doJumpId", "frame", "params", "type"}
STILL = 0.05
GRID = 0.51e-7
"""Half of the last digit of degrees that MAVLink carries."""


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value)


def check_item(item, number):
    """A SimpleItem: keys, types, seven parameters, a running number."""
    assert set(item) == (SIMPLE if item["command"] == CHANGE_SPEED else SIMPLE | PLACED)
    assert item["type"] == "SimpleItem"
    assert item["autoContinue"] is True
    assert item["doJumpId"] == number
    assert len(item["params"]) == 7
    assert all(value is None or is_number(value) for value in item["params"])
    if item["command"] == CHANGE_SPEED:
        assert item["frame"] == 2  # MAV_FRAME_MISSION
        assert item["params"][0] == 1  # ground speed
        assert item["params"][2:] == [-1, 0, 0, 0, 0]
        return
    assert item["frame"] == 3  # MAV_FRAME_GLOBAL_RELATIVE_ALT
    assert item["AltitudeMode"] == 1  # relative
    assert item["AMSLAltAboveTerrain"] is None
    assert item["Altitude"] == item["params"][6]
    assert item["params"][1:4] == [0, 0, None]
    latitude, longitude = item["params"][4:6]
    assert abs(latitude) <= 90
    assert abs(longitude) <= 180
    assert (latitude, longitude) == (round(latitude, 7), round(longitude, 7))


def check_fence(fence, zones=0):
    """One polygon to stay in, and so many to stay out of; all of them turn clockwise on the map."""
    assert set(fence) == {"circles", "polygons", "version"}
    assert (fence["circles"], fence["version"]) == ([], 2)
    assert [polygon["inclusion"] for polygon in fence["polygons"]] == [True] + [False] * zones
    for polygon in fence["polygons"]:
        assert set(polygon) == {"inclusion", "polygon", "version"}
        assert polygon["version"] == 1
        ring = shapely.LinearRing([(longitude, latitude) for latitude, longitude in polygon["polygon"]])
        assert ring.is_simple
        assert not ring.is_ccw


def check_plan(plan, zones=0):
    """The documented structure, and nothing else."""
    assert set(plan) == {"fileType", "geoFence", "groundStation", "mission", "rallyPoints", "version"}
    assert (plan["fileType"], plan["groundStation"], plan["version"]) == ("Plan", "QGroundControl", 1)
    check_fence(plan["geoFence"], zones)
    assert plan["rallyPoints"] == {"points": [], "version": 2}
    mission = plan["mission"]
    assert set(mission) == {
        *("cruiseSpeed", "firmwareType", "globalPlanAltitudeMode", "hoverSpeed", "items"),
        *("plannedHomePosition", "vehicleType", "version"),
    }
    assert (mission["version"], mission["firmwareType"], mission["vehicleType"]) == (2, 12, 2)
    assert mission["globalPlanAltitudeMode"] == 1
    assert all(is_number(value) for value in (mission["cruiseSpeed"], mission["hoverSpeed"]))
    assert len(mission["plannedHomePosition"]) == 3
    for number, item in enumerate(mission["items"], 1):
        check_item(item, number)
    commands = [item["command"] for item in mission["items"]]
    assert commands[:2] == [TAKEOFF, WAYPOINT]
    assert commands[-1] == LAND
    assert set(commands[2:-1]) <= {WAYPOINT, CHANGE_SPEED}
    pairs = list(pairwise(commands))
    assert (CHANGE_SPEED, CHANGE_SPEED) not in pairs
    assert (CHANGE_SPEED, LAND) not in pairs


def plans(folder):
    return {int(path.stem.removeprefix("agent-")): json.loads(path.read_text()) for path in folder.iterdir()}


def waypoints(plan):
    return [item["params"] for item in plan["mission"]["items"] if item["command"] == WAYPOINT]


def metres(places):
    """Latitudes and longitudes (K, 2) in metres around their first, by the lengths of a degree there (PROJ)."""
    places = np.asarray(places, float)
    east, north = degrees([[1.0, 0.0], [0.0, 1.0]])[[0, 1], [0, 1]] - ORIGIN
    return (places[:, ::-1] - ORIGIN) / [east, north]


@pytest.fixture(scope="module", params=["plain", "eventful", "interrupted", "stored"])
def exported(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("plans")
    run = {
        "plain": lambda: tc.simulate(scenario()),
        "eventful": lambda: tc.simulate(eventful()),
        "interrupted": lambda: interrupted(eventful(), 6),
        "stored": lambda: tc.simulate(eventful(), folder / "run.zarr"),
    }[request.param]()
    export_run(run, folder / "plans", "qgroundcontrol", origin=ORIGIN, altitude=40, spacing=8, speed=6, clearance=12)
    return run, plans(folder / "plans")


def test_one_documented_plan_for_everyone_who_took_part(exported):
    run, found = exported
    assert sorted(found) == np.flatnonzero(run.present.any(axis=0)).tolist()
    for plan in found.values():
        check_plan(plan)
        assert plan["mission"]["hoverSpeed"] == plan["mission"]["cruiseSpeed"] == 6


def test_every_plan_takes_off_on_the_pad_and_lands_there(exported):
    run, found = exported
    for agent, plan in found.items():
        items = plan["mission"]["items"]
        home, (first, *_, last) = plan["mission"]["plannedHomePosition"], items
        there = np.flatnonzero(run.present[:, agent])
        pad = degrees(run.positions[there[:1], agent])[0]
        np.testing.assert_allclose([home[1], home[0]], pad, rtol=0, atol=GRID)
        assert home[2] == last["Altitude"] == 0
        assert first["params"][4:6] == last["params"][4:6] == waypoints(plan)[0][4:6] == home[:2]
        assert {params[6] for params in waypoints(plan)} == {first["Altitude"]}


def test_waypoints_are_where_the_agent_was(exported):
    """Every waypoint is a place of the run, and every place of the run is on the way between waypoints."""
    run, found = exported
    for agent, plan in found.items():
        places = np.array(waypoints(plan), float)[:, 4:6]
        where = run.positions[:, agent]
        off = np.abs(degrees(where) - places[:, None, ::-1]).max(axis=2)
        assert off.min(axis=1).max() <= GRID
        flown = metres(places)
        way = shapely.LineString(flown if len(flown) > 1 else [flown[0], flown[0]])
        assert shapely.distance(way, shapely.points(where)).max() <= STILL + 0.02


def test_speeds_and_holds_make_everybody_arrive_in_time(exported):
    """Lengths by the geodesic of PROJ over the speeds, and the holds: the same sum for all."""
    earth = pyproj.Geod(ellps="WGS84")
    sums = []
    for plan in exported[1].values():
        total, speed, place = 0.0, None, None
        for item in plan["mission"]["items"][1:-1]:
            if item["command"] == CHANGE_SPEED:
                speed = item["params"][1]
                assert 0.1 - 1e-9 <= speed <= 6 + 1e-9
                continue
            latitude, longitude = item["params"][4:6]
            if place is not None and place != (latitude, longitude):
                total += earth.inv(*place[::-1], longitude, latitude)[2] / speed
            place = latitude, longitude
            assert item["params"][0] >= 0
            total += item["params"][0]
        sums.append(total + 2 * plan["mission"]["items"][0]["Altitude"] / 1.5)
    np.testing.assert_allclose(sums, sums[0], rtol=1e-6)


def test_who_comes_near_flies_at_another_height(exported):
    run, found = exported
    heights = {agent: plan["mission"]["items"][0]["Altitude"] for agent, plan in found.items()}
    assert set(heights.values()) <= {40 + 8 * level for level in range(len(found))}
    assert len(set(heights.values())) > 1
    agents = sorted(found)
    near = tc.separation(run.positions[:, agents], 11.8).below  # 12 m less what waypoints leave out
    assert len(near)
    for one, two in near.tolist():
        assert heights[agents[one]] != heights[agents[two]]


def test_the_fence_holds_everybody_with_room(exported):
    run, found = exported
    fences = [plan["geoFence"] for plan in found.values()]
    assert all(fence == fences[0] for fence in fences)
    [polygon] = fences[0]["polygons"]
    inside = shapely.Polygon(metres(polygon["polygon"]))
    everywhere = shapely.points(run.positions[:, sorted(found)].reshape(-1, 2))
    assert shapely.contains(inside, everywhere).all()
    room = shapely.distance(inside.exterior, everywhere)
    assert 9.9 < room.min() < 10.2


def test_zones_are_polygons_to_stay_out_of(tmp_path):
    zones = [[[130, 0], [150, 0], [150, 30], [140, 10]], [[-60, 10], [-50, 40], [-40, 10], [-60, 10]]]
    run = with_zones(tc.simulate(scenario(steps=3)), [np.array(zone, float) for zone in zones])
    export_run(run, tmp_path / "plans", "qgroundcontrol", origin=ORIGIN, margin=25)
    for plan in plans(tmp_path / "plans").values():
        check_plan(plan, zones=2)
        _, *outside = plan["geoFence"]["polygons"]
        for zone, polygon in zip(zones, outside, strict=True):
            assert len(polygon["polygon"]) == len({tuple(corner) for corner in zone})
            found = shapely.Polygon(metres(polygon["polygon"]))
            assert found.symmetric_difference(shapely.Polygon(zone)).area < 0.01 * found.area


def with_zones(run, zones):
    object.__setattr__(run.mission.ground, "zones", tuple(zones))
    return run


def test_defaults(tmp_path):
    run = tc.simulate(scenario(steps=3))
    export_run(run, tmp_path / "plans", "qgroundcontrol", origin=ORIGIN)
    found = plans(tmp_path / "plans")
    assert {plan["mission"]["items"][0]["Altitude"] for plan in found.values()} == {30}
    assert found[0]["mission"]["hoverSpeed"] == 5
    names = sorted(path.name for path in (tmp_path / "plans").iterdir())
    assert names[0] == "agent-00.plan"


@pytest.mark.parametrize(
    ("vehicle", "options", "altitude", "speed"),
    [
        ({"kind": "quadrotor", "altitude": 55.0, "max_speed": 3.0}, {}, 55, 3),
        ({"kind": "quadrotor", "altitude": 55.0, "max_speed": 3.0}, {"altitude": 20, "speed": 1.5}, 20, 1.5),
        ({"kind": "quadrotor"}, {}, 30, 2),
        ({"kind": "unicycle", "max_speed": 0.5}, {"altitude": 12}, 12, 0.5),
        ({"kind": "double-integrator", "max_speed": 7.0}, {}, 30, 7),
        (
            {
                "kind": "quadrotor",
                "altitude": 40.0,
                "max_speed": 6.0,
                "others": [{"agents": [0], "kind": "quadrotor", "altitude": 45.0, "max_speed": 4.0}],
            },
            {},
            45,
            4,
        ),
    ],
)
def test_altitude_and_speed_are_those_of_the_vehicle_unless_given(tmp_path, vehicle, options, altitude, speed):
    run = tc.simulate(scenario(steps=1, vehicle={"duration": 2.0, **vehicle}))
    export_run(run, tmp_path / "plans", "qgroundcontrol", origin=ORIGIN, clearance=12, **options)
    heights = set()
    for plan in plans(tmp_path / "plans").values():
        height = plan["mission"]["items"][0]["Altitude"]
        heights.add(height)
        assert {params[6] for params in waypoints(plan)} == {height}
        assert plan["mission"]["hoverSpeed"] == plan["mission"]["cruiseSpeed"] == speed
        speeds = [item["params"][1] for item in plan["mission"]["items"] if item["command"] == CHANGE_SPEED]
        assert max(speeds, default=0) <= speed * (1 + 1e-9)
    assert sorted(heights) == [altitude + 5 * level for level in range(len(heights))]
    assert len(heights) > 1


def test_it_is_said_where_the_numbers_come_from():
    flight = flight_of(tc.vehicle("quadrotor", altitude=40.0), spacing=7)
    assert flight.sources == {"altitude": "quadrotor", "spacing": "given", "speed": "quadrotor"}
    assert str(flight) == "altitude 40 m (quadrotor), 7 m more for each level (given), speed 2 m/s (quadrotor)"
    exact = flight_of(tc.vehicle("exact"))
    assert str(exact) == "altitude 30 m (default), 5 m more for each level (default), speed 5 m/s (default)"


@pytest.mark.parametrize("name", ["altitude", "spacing", "speed"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_a_flight_must_be_possible(tmp_path, name, value):
    run = tc.simulate(scenario(steps=1))
    with pytest.raises(tc.TricoverError, match=f"{name} must be a positive number"):
        export_run(run, tmp_path / "plans", "qgroundcontrol", origin=ORIGIN, **{name: value})


def test_a_warning_where_the_separation_is_not_kept(tmp_path):
    made = export_run(tc.simulate(scenario()), tmp_path / "plans", "qgroundcontrol", origin=ORIGIN)
    assert (made.separation, made.warning) == (None, None)
    found = made.flown.approach.distance
    assert replace(made, separation=found).warning is None
    asked = replace(made, separation=9.0)
    assert asked.warning == f"as flown, vehicles come to {found:.2f} m: nearer than the 9 m of safety.separation"


def test_the_separation_asked_for_is_the_clearance_and_the_least_spacing(tmp_path):
    run = tc.simulate(scenario(safety={"separation": 7.0}))
    made = export_run(run, tmp_path / "plans", "qgroundcontrol", origin=ORIGIN)
    assert (made.flights.flight.clearance, made.flights.flight.spacing, made.separation) == (7, 7, 7)
    assert made.flown.approach.distance >= 7
    assert made.warning is None


def test_a_folder_with_something_in_it_is_left_alone(tmp_path):
    run = tc.simulate(scenario(steps=1))
    folder = tmp_path / "plans"
    folder.mkdir()
    export_run(run, folder, "qgroundcontrol", origin=ORIGIN)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(tc.TricoverError, match="plans exists: choose another folder or remove it"):
        export_run(run, folder, "qgroundcontrol", origin=(0, 0))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    (tmp_path / "file").write_text("mine")
    with pytest.raises(tc.TricoverError, match="exists"):
        export_run(run, tmp_path / "file", "qgroundcontrol", origin=ORIGIN)
