"""MAVSDK's importer reads every plan: items, speeds, holds, fence and landing arrive as they were written.

It wants some vehicle to be connected. Here that is one heartbeat of PX4, handed to it as bytes: no network, no port.
"""

import json

import numpy as np
import pytest

import tricover as tc
from tests.export.runs import ORIGIN, eventful, interrupted, scenario
from tests.export.test_qgroundcontrol import with_zones
from tricover.export import export_run

WAYPOINT, LAND, TAKEOFF, CHANGE_SPEED = 16, 21, 22, 178
STAY_IN, STAY_OUT = 5001, 5002  # MAV_CMD_NAV_FENCE_POLYGON_VERTEX_INCLUSION, …_EXCLUSION
MISSION, FENCE = 0, 1  # MAV_MISSION_TYPE


@pytest.fixture(scope="module")
def importer():
    """MAVSDK's importer, connected to a vehicle that is nothing but a heartbeat."""
    from mavsdk import ComponentType, Configuration, Mavsdk
    from mavsdk.plugins.mission_raw import MissionRaw
    from pymavlink.dialects.v20 import common

    station = Mavsdk(Configuration.create_with_component_type(ComponentType.GROUND_STATION))
    try:
        assert station.add_any_connection("raw://") == 0
        station.subscribe_raw_bytes_to_be_sent(lambda data: None)
        vehicle = common.MAVLink(None, srcSystem=1, srcComponent=common.MAV_COMP_ID_AUTOPILOT1)
        beat = vehicle.heartbeat_encode(
            common.MAV_TYPE_QUADROTOR, common.MAV_AUTOPILOT_PX4, 0, 0, common.MAV_STATE_STANDBY
        )
        station.pass_received_raw_bytes(beat.pack(vehicle))
        system = station.first_autopilot(60.0)  # at once, unless the machine is very busy
        assert system is not None
        yield MissionRaw(system).import_qgroundcontrol_mission
    finally:
        station.destroy()


RUNS = {
    "plain": lambda: tc.simulate(scenario()),
    "eventful": lambda: tc.simulate(eventful()),
    "interrupted": lambda: interrupted(eventful(), 6),
    "standing": lambda: tc.simulate(scenario(steps=0)),
    "quadrotors": lambda: tc.simulate(
        scenario(steps=10, vehicle={"kind": "quadrotor", "duration": 4.0, "max_speed": 4.0})
    ),
}
ZONES = [np.array([[130.0, 0], [150, 0], [150, 30]]), np.array([[-60.0, 10], [-50, 40], [-40, 10], [-45, 0]])]


@pytest.mark.parametrize("options", [{}, {"landing": "place", "delay": 2, "stay": 30, "clearance": 15}])
@pytest.mark.parametrize("name", RUNS)
def test_the_importer_reads_every_plan(importer, tmp_path, name, options):
    run = with_zones(RUNS[name](), ZONES)
    export_run(run, tmp_path / "plans", "qgroundcontrol", origin=ORIGIN, **options)
    files = sorted((tmp_path / "plans").iterdir())
    assert len(files) == np.count_nonzero(run.present.any(axis=0))
    commands = set()
    for path in files:
        found = importer(str(path))
        plan = json.loads(path.read_text())
        check_mission(found.mission_items, plan["mission"]["items"])
        check_fence(found.geofence_items, plan["geoFence"]["polygons"])
        assert found.rally_items == []
        commands |= {item.command for item in found.mission_items}
    moving = name != "standing"
    assert commands == ({TAKEOFF, WAYPOINT, CHANGE_SPEED, LAND} if moving else {TAKEOFF, WAYPOINT, LAND})


def check_mission(found, items):
    assert [item.command for item in found] == [item["command"] for item in items]
    assert [item.seq for item in found] == list(range(len(items)))
    assert [item.current for item in found] == [1] + [0] * (len(items) - 1)
    for item, wanted in zip(found, items, strict=True):
        first, second, third, fourth, x, y, z = wanted["params"]
        assert (item.frame, item.autocontinue, item.mission_type) == (wanted["frame"], 1, MISSION)
        np.testing.assert_allclose([item.param1, item.param2, item.param3], [first, second, third], rtol=1e-6)
        assert np.isnan(item.param4) if fourth is None else item.param4 == fourth
        if wanted["command"] == CHANGE_SPEED:
            assert (item.x, item.y, item.z) == (0, 0, 0)
        else:  # nothing is lost: the importer's whole numbers are the degrees of the file
            assert (item.x, item.y) == (round(x * 1e7), round(y * 1e7))
            assert (item.x / 1e7, item.y / 1e7, item.z) == (x, y, np.float32(z))


def check_fence(found, polygons):
    corners = [(polygon, corner) for polygon in polygons for corner in polygon["polygon"]]
    assert len(found) == len(corners) == 16 + 3 + 4
    for item, (polygon, (latitude, longitude)) in zip(found, corners, strict=True):
        assert item.command == (STAY_IN if polygon["inclusion"] else STAY_OUT)
        assert item.param1 == len(polygon["polygon"])
        assert (item.x, item.y) == (round(latitude * 1e7), round(longitude * 1e7))
        assert item.mission_type == FENCE


def test_a_broken_plan_is_not_read(importer, tmp_path):
    """So reading one is a fact."""
    from mavsdk import MavsdkError

    export_run(tc.simulate(scenario(steps=1)), tmp_path / "plans", "qgroundcontrol", origin=ORIGIN)
    path = tmp_path / "plans" / "agent-00.plan"
    plan = json.loads(path.read_text())
    del plan["mission"]["items"][1]["params"]
    path.write_text(json.dumps(plan))
    with pytest.raises(MavsdkError, match="FAILED_TO_PARSE_QGC_PLAN"):
        importer(str(path))
