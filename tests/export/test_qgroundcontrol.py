"""Exported plans, held against the documented format of QGroundControl."""

import json

import numpy as np
import pytest

import tricover as tc
from tests.export.runs import ORIGIN, assert_on_earth, eventful, interrupted, scenario
from tricover.export import export_run, flight_of

WAYPOINT, TAKEOFF, CHANGE_SPEED = 16, 22, 178
PLACED = {"AMSLAltAboveTerrain", "Altitude", "AltitudeMode"}
SIMPLE = {"autoContinue", "command", "doJumpId", "frame", "params", "type"}


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value)


def check_item(item, number):
    """A SimpleItem: keys, types, seven parameters, a running number."""
    assert set(item) == (SIMPLE | PLACED if item["command"] in (WAYPOINT, TAKEOFF) else SIMPLE)
    assert item["type"] == "SimpleItem"
    assert item["autoContinue"] is True
    assert item["doJumpId"] == number
    assert len(item["params"]) == 7
    assert all(value is None or is_number(value) for value in item["params"])
    if item["command"] == CHANGE_SPEED:
        assert item["frame"] == 2  # MAV_FRAME_MISSION
        assert item["params"][0] == 1  # ground speed
        return
    assert item["frame"] == 3  # MAV_FRAME_GLOBAL_RELATIVE_ALT
    assert item["AltitudeMode"] == 1  # relative
    assert item["AMSLAltAboveTerrain"] is None
    assert item["Altitude"] == item["params"][6]
    latitude, longitude = item["params"][4:6]
    assert abs(latitude) <= 90
    assert abs(longitude) <= 180


def check_plan(plan):
    """The documented structure, and nothing else."""
    assert set(plan) == {"fileType", "geoFence", "groundStation", "mission", "rallyPoints", "version"}
    assert (plan["fileType"], plan["groundStation"], plan["version"]) == ("Plan", "QGroundControl", 1)
    assert plan["geoFence"] == {"circles": [], "polygons": [], "version": 2}
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
    assert commands[:2] == [TAKEOFF, CHANGE_SPEED]
    assert len(commands) >= 3
    assert set(commands[2:]) == {WAYPOINT}


def plans(folder):
    return {int(path.stem.removeprefix("agent-")): json.loads(path.read_text()) for path in folder.iterdir()}


def waypoints(plan):
    return [item["params"] for item in plan["mission"]["items"] if item["command"] == WAYPOINT]


@pytest.fixture(scope="module", params=["plain", "eventful", "interrupted", "stored"])
def exported(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("plans")
    run = {
        "plain": lambda: tc.simulate(scenario()),
        "eventful": lambda: tc.simulate(eventful()),
        "interrupted": lambda: interrupted(eventful(), 6),
        "stored": lambda: tc.simulate(eventful(), folder / "run.zarr"),
    }[request.param]()
    export_run(run, folder / "plans", "qgroundcontrol", origin=ORIGIN, altitude=40, spacing=8, speed=6)
    return run, plans(folder / "plans")


def test_one_documented_plan_for_everyone_who_took_part(exported):
    run, found = exported
    assert sorted(found) == np.flatnonzero(run.present.any(axis=0)).tolist()
    for plan in found.values():
        check_plan(plan)
        assert plan["mission"]["hoverSpeed"] == plan["mission"]["items"][1]["params"][1] == 6


def test_waypoints_are_the_positions_without_repetition(exported):
    run, found = exported
    for agent, plan in found.items():
        there = np.flatnonzero(run.present[:, agent])
        metres = run.positions[there, agent]
        layers = np.array([run.network_at(step).layer[agent] for step in there])
        new = np.append(True, (np.diff(metres, axis=0) != 0).any(axis=1) | (np.diff(layers) != 0))
        flown = np.array(waypoints(plan), float)
        assert_on_earth(flown[:, [5, 4]], metres[new])
        home = plan["mission"]["plannedHomePosition"]
        assert_on_earth([[home[1], home[0]]], metres[:1])
        assert plan["mission"]["items"][0]["params"][4:] == waypoints(plan)[0][4:]
        kept = np.flatnonzero(new)
        np.testing.assert_allclose(flown[:-1, 0], (np.diff(kept) - 1) * 0.25)
        assert flown[-1, 0] == 0


def test_layers_fly_apart_at_every_step(exported):
    run, found = exported
    for agent, plan in found.items():
        there = np.flatnonzero(run.present[:, agent])
        heights = {params[6] for params in waypoints(plan)}
        assert heights == {40 + 8 * int(run.network_at(step).layer[agent]) for step in there}
    last = {agent: waypoints(plan)[-1][6] for agent, plan in found.items() if run.present[-1, agent]}
    layers = run.network.layer
    for one in last:
        for other in last:
            assert (last[one] == last[other]) == (layers[one] == layers[other])


def test_defaults(tmp_path):
    run = tc.simulate(scenario(steps=3))
    export_run(run, tmp_path / "plans", "qgroundcontrol", origin=ORIGIN)
    found = plans(tmp_path / "plans")
    assert waypoints(found[int(run.network.core)])[0][6] == 30
    assert waypoints(found[int(run.network.layers[1][0])])[0][6] == 35
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
    export_run(run, tmp_path / "plans", "qgroundcontrol", origin=ORIGIN, **options)
    for agent, plan in plans(tmp_path / "plans").items():
        height = altitude + 5 * int(run.network.layer[agent])
        assert {params[6] for params in waypoints(plan)} == {height}
        assert plan["mission"]["items"][0]["Altitude"] == height
        assert plan["mission"]["hoverSpeed"] == plan["mission"]["cruiseSpeed"] == speed
        assert plan["mission"]["items"][1]["params"][1] == speed


def test_it_is_said_where_the_numbers_come_from():
    flight = flight_of(tc.vehicle("quadrotor", altitude=40.0), spacing=7)
    assert flight.sources == {"altitude": "quadrotor", "spacing": "given", "speed": "quadrotor"}
    assert str(flight) == "altitude 40 m (quadrotor), 7 m more for each layer (given), speed 2 m/s (quadrotor)"
    exact = flight_of(tc.vehicle("exact"))
    assert str(exact) == "altitude 30 m (default), 5 m more for each layer (default), speed 5 m/s (default)"


@pytest.mark.parametrize("name", ["altitude", "spacing", "speed"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_a_flight_must_be_possible(tmp_path, name, value):
    run = tc.simulate(scenario(steps=1))
    with pytest.raises(tc.TricoverError, match=f"{name} must be a positive number"):
        export_run(run, tmp_path / "plans", "qgroundcontrol", origin=ORIGIN, **{name: value})


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
