"""Our autopilot on a virtual clock: what it does with messages, and what it sends."""

import struct
from math import isfinite, nan

import numpy as np
import pyproj
import pytest
from pymavlink import mavutil
from pymavlink.dialects.v20 import common
from scipy.spatial.transform import Rotation

from tests.fleet.served import Pilot
from tricover.errors import InputError, MissingExtraError
from tricover.fleet.autopilot import Autopilot
from tricover.fleet.autopilot_flight import PARAMETERS
from tricover.fleet.telemetry import STREAMS, Home, attitude
from tricover.vehicles import vehicle
from tricover.vehicles.flight_modes import ARDUPILOT, PX4
from tricover.vehicles.wire import Codec

ACCEPTED, REJECTED, DENIED, UNSUPPORTED = 0, 1, 2, 3
ARM, TAKE_OFF, LAND, RETURN, SET_MODE, REPOSITION, INTERVAL, REQUEST = 400, 22, 21, 20, 176, 192, 511, 512


@pytest.fixture
def pilot():
    return Pilot(Autopilot())


def mode(name, armed, firmware=PX4):
    return firmware.modes[name], int(armed)


def test_px4_modes_are_the_published_ones():
    published = {name: main << 16 | sub << 24 for name, (_, main, sub) in mavutil.px4_map.items()}
    ours = {name.removeprefix("AUTO."): number for name, number in PX4.modes.items()}
    others = {"FOLLOW": published["FOLLOWME"], "PRECLAND": 4 << 16 | 9 << 24, "READY": 4 << 16 | 1 << 24}
    assert ours == {name: (published | others)[name] for name in ours}
    assert [PX4.parameters(role) for role in PX4.roles] == [(6, 0), (4, 2), (4, 3), (4, 5), (4, 6), (3, 0)]


def test_ardupilot_modes_are_the_published_ones():
    assert {mavutil.mode_mapping_acm[number] for number in ARDUPILOT.modes.values()} == set(ARDUPILOT.modes)
    assert all(mavutil.mode_mapping_acm[number] == name for name, number in ARDUPILOT.modes.items())


def test_it_takes_off_follows_and_lands(pilot):
    flight = pilot.autopilot.flight
    pilot.flies(2.0)
    assert flight.body.place == pytest.approx((0, 0, 2), abs=0.02)
    pilot.waits(0.5, aim=(3.0, 1.0, -1.5))
    assert pilot.commands(SET_MODE, 1, 6) == ACCEPTED
    pilot.waits(6, aim=(3.0, 1.0, -1.5))
    assert flight.body.place == pytest.approx((1, 3, 1.5), abs=0.03)
    assert pilot.commands(LAND) == ACCEPTED
    pilot.waits(6)
    assert flight.body.place == pytest.approx((1, 3, 0), abs=0.05)
    assert not flight.body.flies
    ways = [
        ("AUTO.LOITER", 0),
        ("AUTO.LOITER", 1),
        ("AUTO.TAKEOFF", 1),
        ("AUTO.LOITER", 1),
        ("OFFBOARD", 1),
        ("AUTO.LAND", 1),
    ]
    assert pilot.modes() == [mode(*way) for way in [*ways, ("AUTO.LOITER", 0)]]
    landed = [one.landed_state for one in pilot.sent if one.get_type() == "EXTENDED_SYS_STATE"]
    assert list(dict.fromkeys(landed)) == [1, 3, 2, 4]
    assert landed[-1] == 1


def test_limits_of_climb_descent_and_speed_are_kept(pilot):
    pilot.flies(4.0)
    pilot.waits(0.5, aim=(20.0, 0.0, -4.0))
    pilot.commands(SET_MODE, 1, 6)
    pilot.waits(9, aim=(20.0, 0.0, -4.0))
    pilot.commands(LAND)
    pilot.waits(8)
    speeds = np.array([(one.vx, one.vy, one.vz) for one in pilot.sent if one.get_type() == "LOCAL_POSITION_NED"])
    assert -speeds[:, 2].min() == pytest.approx(1.5, abs=0.2)  # it catches up a little after the start
    assert speeds[:, 2].max() == pytest.approx(0.7, abs=0.2)
    assert speeds[:, 0].max() == pytest.approx(2.0, rel=0.2)  # of the vehicle


def test_everything_that_is_sent_can_be_decoded(pilot):
    pilot.flies(2.0)
    pilot.commands(SET_MODE, 1, 6)
    pilot.says(common.MAVLink_param_request_list_message(1, 1))
    pilot.says(common.MAVLink_timesync_message(0, 77))
    for number in STREAMS:
        assert pilot.commands(REQUEST, number) == ACCEPTED
    pilot.commands(RETURN)
    pilot.waits(20)
    ours, theirs = Codec(7, 1), common.MAVLink(None)
    for place, message in enumerate(pilot.sent):
        [read] = theirs.parse_buffer(ours.pack(message))
        assert (read.get_srcSystem(), read.get_srcComponent(), read.get_seq()) == (7, 1, place % 256)
        assert read.get_type() == message.get_type()
        fields = {name: getattr(read, name) for name in read.get_fieldnames()}
        assert all(isfinite(value) for value in fields.values() if isinstance(value, float)), read
        assert fields.get("lat", 0) in (0, *range(473977000, 473978000))
        assert 0 <= fields.get("hdg", 0) < 36000
    kinds = {one.get_type() for one in pilot.sent}
    assert kinds >= {STREAMS[number][1](pilot.autopilot.status).get_type() for number in STREAMS}


def test_messages_come_as_often_as_they_should(pilot):
    pilot.waits(20)
    for rate, make in STREAMS.values():
        kind = make(pilot.autopilot.status).get_type()
        assert abs(sum(one.get_type() == kind for one in pilot.sent) - 20 * rate) <= 1, kind


def test_places_on_earth_agree_with_pyproj():
    pilot = Pilot(Autopilot(home=Home(151.2, -33.9, 20.0)))
    pilot.flies(2.0)
    pilot.waits(0.5, aim=(30.0, -40.0, -2.0))
    pilot.commands(SET_MODE, 1, 6)
    pilot.waits(40, aim=(30.0, -40.0, -2.0))
    found = [one for one in pilot.sent if one.get_type() == "GLOBAL_POSITION_INT"][-1]
    fix = [one for one in pilot.sent if one.get_type() == "GPS_RAW_INT"][-1]
    east_of_north, _, distance = pyproj.Geod(ellps="WGS84").inv(151.2, -33.9, found.lon / 1e7, found.lat / 1e7)
    assert distance == pytest.approx(50.0, abs=0.03)  # the field itself steps by a centimetre
    assert east_of_north == pytest.approx(np.degrees(np.arctan2(-40, 30)), abs=0.05)
    assert (found.relative_alt, found.alt) == pytest.approx((2000, 22000), abs=20)
    assert (fix.lat, fix.lon, fix.fix_type) == pytest.approx((found.lat, found.lon, 3), abs=100)
    [home] = [one for one in pilot.autopilot.advance(2.0) if one.get_type() == "HOME_POSITION"]
    assert (home.latitude, home.longitude, home.altitude) == (-339000000, 1512000000, 20000)


def test_places_and_speeds_point_north_and_east(pilot):
    pilot.flies(2.0)
    pilot.autopilot.flight.body.state[0, :6] = 7.0, 8.0, 3.0, 1.0, 2.0, 0.5  # east, north, up, and their speeds
    status = pilot.autopilot.status
    make = {number: STREAMS[number][1](status) for number in (24, 32, 33, 74)}
    assert (make[32].x, make[32].y, make[32].z) == (8.0, 7.0, -3.0)
    assert (make[32].vx, make[32].vy, make[32].vz) == (2.0, 1.0, -0.5)
    assert (make[33].vx, make[33].vy, make[33].vz) == (200, 100, -50)
    assert (make[24].vel, make[24].cog) == (224, 2657)  # √5 m/s, arctan(1/2) east of north
    assert (make[74].groundspeed, make[74].climb) == pytest.approx((5**0.5, 0.5))


@pytest.mark.parametrize("seed", range(20))
def test_attitude_is_that_of_the_body_in_frames_of_mavlink(seed, pilot):
    turn = Rotation.random(random_state=seed)
    body = pilot.autopilot.flight.body
    body.state[0, 6:10], body.state[0, 10:13] = turn.as_quat(), (0.1, 0.2, 0.3)
    to_ned, to_frd = np.array([[0, 1, 0], [1, 0, 0], [0, 0, -1.0]]), np.diag([1.0, -1, -1])
    yaw, pitch, roll = Rotation.from_matrix(to_ned @ turn.as_matrix() @ to_frd).as_euler("ZYX")
    assert attitude(body) == pytest.approx((roll, pitch, yaw), abs=1e-9)
    sent = STREAMS[30][1](pilot.autopilot.status)
    assert (sent.rollspeed, sent.pitchspeed, sent.yawspeed) == pytest.approx((0.1, -0.2, -0.3))


def test_level_and_facing_east_is_a_yaw_of_a_quarter_turn(pilot):
    assert attitude(pilot.autopilot.flight.body) == pytest.approx((0, 0, np.pi / 2))
    assert STREAMS[33][1](pilot.autopilot.status).hdg == 9000


def test_offboard_without_setpoints_is_refused(pilot):
    pilot.flies()
    assert pilot.commands(SET_MODE, 1, 6) == REJECTED
    assert pilot.texts() == ["Offboard denied: no setpoints"]
    pilot.aims(0, 0, -2)
    pilot.waits(0.6)
    assert pilot.commands(SET_MODE, 1, 6) == REJECTED


def test_it_holds_where_it_is_when_setpoints_stop(pilot):
    pilot.flies()
    pilot.waits(0.5, aim=(30.0, 0.0, -2.0))
    assert pilot.commands(SET_MODE, 1, 6) == ACCEPTED
    pilot.waits(4, aim=(30.0, 0.0, -2.0))
    before = pilot.autopilot.flight.body.place
    pilot.waits(0.4)
    assert pilot.modes()[-1] == mode("OFFBOARD", True)
    pilot.waits(0.3)
    assert pilot.modes()[-1] == mode("AUTO.LOITER", True)
    assert pilot.texts() == ["Failsafe: no offboard setpoints, holding"]
    pilot.waits(5)
    here = pilot.autopilot.flight.body.place
    assert before[1] < here[1] < before[1] + 3
    pilot.waits(2, aim=(30.0, 0.0, -2.0))  # they come back: it is not its own decision to follow again
    assert pilot.autopilot.flight.body.place == pytest.approx(here, abs=0.1)
    assert pilot.modes()[-1] == mode("AUTO.LOITER", True)


def test_it_returns_and_lands_when_nobody_is_there(pilot):
    pilot.flies()
    pilot.waits(0.5, aim=(6.0, -4.0, -2.0))
    pilot.commands(SET_MODE, 1, 6)
    pilot.waits(6, aim=(6.0, -4.0, -2.0))
    pilot.waits(9, linked=False)
    assert pilot.modes()[-1] == mode("AUTO.LOITER", True)
    pilot.waits(2, linked=False)
    assert pilot.modes()[-1] == mode("AUTO.RTL", True)
    assert pilot.texts()[-1] == "Failsafe: data link lost, returning"
    heights = []
    for _ in range(40):
        pilot.waits(1, linked=False)
        heights.append(pilot.autopilot.flight.body.place[2])
    assert max(heights) == pytest.approx(PARAMETERS["RTL_RETURN_ALT"], abs=0.1)
    assert pilot.autopilot.flight.body.place == pytest.approx((0, 0, 0), abs=0.1)
    assert pilot.modes()[-1] == mode("AUTO.LOITER", False)


def test_on_the_ground_nobody_need_be_there():
    pilot = Pilot(Autopilot(parameters={"COM_DISARM_PRFLT": 1e6}))
    pilot.commands(ARM, 1)
    pilot.waits(12, linked=False)
    assert pilot.modes()[-1] == mode("AUTO.LOITER", True)
    assert pilot.texts() == []


def test_it_returns_as_high_as_it_is_if_that_is_higher(pilot):
    pilot.flies(8.0)
    pilot.waits(4)
    pilot.waits(0.5, aim=(6.0, 0.0, -8.0))
    pilot.commands(SET_MODE, 1, 6)
    pilot.waits(8, aim=(6.0, 0.0, -8.0))
    assert pilot.commands(RETURN) == ACCEPTED
    heights = []
    while pilot.autopilot.flight.body.place[1] > 1:
        pilot.waits(0.5)
        heights.append(pilot.autopilot.flight.body.place[2])
    assert min(heights) == pytest.approx(8.0, abs=0.1)


def test_an_autopilot_is_nobody_on_the_ground(pilot):
    pilot.flies()
    for _ in range(12):
        pilot.says(common.MAVLink_heartbeat_message(2, 12, 0, 0, 4, 3))
        pilot.waits(1, linked=False)
    assert pilot.modes()[-1] == mode("AUTO.RTL", True)


def test_armed_without_a_take_off_it_disarms(pilot):
    assert pilot.commands(ARM, 1) == ACCEPTED
    pilot.waits(9.9)
    assert pilot.autopilot.flight.armed
    pilot.waits(0.3)
    assert not pilot.autopilot.flight.armed
    assert pilot.texts() == ["Disarmed: no take-off"]


def test_what_cannot_be_is_refused(pilot):
    assert pilot.commands(TAKE_OFF, 0, 0, 0, nan, nan, nan, nan) == REJECTED
    assert pilot.commands(LAND) == REJECTED
    assert pilot.commands(RETURN) == REJECTED
    assert pilot.commands(REPOSITION, 0, 0, 0, 0, 47.4, 8.5, 490) == REJECTED
    assert pilot.commands(ARM, 7) == DENIED
    assert pilot.commands(SET_MODE, 1, nan) == DENIED
    assert pilot.commands(SET_MODE, 1, 4, 99) == UNSUPPORTED
    assert pilot.commands(SET_MODE, 0, 4, 3) == UNSUPPORTED  # no custom mode
    assert pilot.commands(REQUEST, 30000) == UNSUPPORTED
    assert pilot.commands(REQUEST, nan) == UNSUPPORTED
    assert pilot.commands(INTERVAL, 30000, 1e5) == UNSUPPORTED
    assert pilot.commands(31000) == UNSUPPORTED
    pilot.autopilot.flight.healthy = False
    assert pilot.commands(ARM, 1) == REJECTED
    assert pilot.texts()[-1] == "Arming denied: not ready"
    assert STREAMS[1][1](pilot.autopilot.status).onboard_control_sensors_health & 0x10000000 == 0


@pytest.mark.parametrize("height", [-1.0, 0.0, 2e5])
def test_no_take_off_to_heights_that_are_none(pilot, height):
    pilot.commands(ARM, 1)
    assert pilot.commands(TAKE_OFF, 0, 0, 0, 0, 0, 0, 488 + height) == REJECTED


def test_rotors_stop_in_the_air_by_force_only(pilot):
    pilot.flies()
    assert pilot.commands(ARM, 0) == REJECTED
    assert pilot.autopilot.flight.armed
    assert pilot.commands(ARM, 0, 21196) == ACCEPTED
    pilot.waits(0.5)
    assert pilot.autopilot.flight.body.place[2] == pytest.approx(2 - 9.81 / 2 * 0.25, abs=0.3)  # free fall, with a lag
    pilot.waits(1)
    assert pilot.autopilot.flight.body.place[2] == 0
    assert not pilot.autopilot.flight.body.flies


@pytest.mark.parametrize(
    ("mask", "frame", "place"),
    [
        (0xDC7, 1, (1, 1, -1)),  # velocity
        (0xDF8 | 0x200, 1, (1, 1, -1)),  # a force
        (0xDF8, 7, (1, 1, -1)),  # an offset
        (0xDF8, 1, (nan, 1, -1)),
        (0xDF8, 1, (1, float("inf"), -1)),
        (0xDF8, 1, (1, 1, -1e6)),
    ],
)
def test_setpoints_that_it_cannot_follow_are_refused_and_do_not_count(pilot, mask, frame, place):
    pilot.flies()
    for _ in range(5):
        pilot.aims(*place, mask=mask, frame=frame)
        pilot.waits(0.1)
    assert pilot.commands(SET_MODE, 1, 6) == REJECTED
    assert pilot.texts()[0].startswith("Setpoint refused: ")
    assert len(pilot.texts()) == 2  # once, not five times
    assert pilot.autopilot.flight.body.place == pytest.approx((0, 0, 2), abs=0.02)


def test_a_setpoint_below_the_ground_is_one_on_it(pilot):
    pilot.flies()
    pilot.waits(0.5, aim=(0.0, 0.0, 5.0))
    pilot.commands(SET_MODE, 1, 6)
    pilot.waits(5, aim=(0.0, 0.0, 5.0))
    assert pilot.autopilot.flight.body.place[2] == pytest.approx(0, abs=0.05)


def test_commands_to_others_are_not_obeyed(pilot):
    assert pilot.commands(ARM, 1, system=2) is None
    assert not pilot.autopilot.flight.armed
    camera = common.MAVLink_command_long_message(1, 100, ARM, 0, 1, 0, 0, 0, 0, 0, 0)
    assert pilot.says(camera) == []
    assert pilot.commands(ARM, 1, system=0) == ACCEPTED


def test_reposition_goes_to_a_place_on_earth_and_holds(pilot):
    pilot.flies()
    longitude, latitude, _ = pyproj.Geod(ellps="WGS84").fwd(8.545594, 47.397742, 90, 5.0)
    place = round(latitude * 1e7), round(longitude * 1e7)
    message = common.MAVLink_command_int_message(1, 1, 0, REPOSITION, 0, 0, -1, 1, 0, nan, *place, 491.0)
    assert [one.result for one in pilot.says(message) if one.get_type() == "COMMAND_ACK"] == [ACCEPTED]
    pilot.waits(8)
    assert pilot.autopilot.flight.body.place == pytest.approx((5, 0, 3), abs=0.05)
    assert pilot.modes()[-1] == mode("AUTO.LOITER", True)


def test_parameters_are_listed_read_and_set(pilot):
    listed = pilot.says(common.MAVLink_param_request_list_message(1, 1))
    assert {one.param_id: one.param_value for one in listed} == PARAMETERS
    assert [one.param_index for one in listed] == list(range(len(PARAMETERS)))
    assert {one.param_count for one in listed} == {len(PARAMETERS)}
    name = b"MIS_TAKEOFF_ALT"
    [one] = pilot.says(common.MAVLink_param_set_message(1, 1, name, 4.0, 9))
    [two] = pilot.says(common.MAVLink_param_request_read_message(1, 1, name, -1))
    [three] = pilot.says(common.MAVLink_param_request_read_message(1, 1, b"", one.param_index))
    assert {(each.param_id, each.param_value) for each in (one, two, three)} == {("MIS_TAKEOFF_ALT", 4.0)}
    for bad in (nan, float("inf"), -1.0, 0.0):
        [kept] = pilot.says(common.MAVLink_param_set_message(1, 1, name, bad, 9))
        assert kept.param_value == 4.0
    assert pilot.says(common.MAVLink_param_request_read_message(1, 1, b"NO_SUCH", -1)) == []
    assert pilot.says(common.MAVLink_param_request_read_message(1, 1, b"", 999)) == []
    assert pilot.says(common.MAVLink_param_set_message(1, 1, b"NO_SUCH", 1.0, 9)) == []
    pilot.commands(ARM, 1)
    assert pilot.commands(TAKE_OFF, 0, 0, 0, nan, nan, nan, nan) == ACCEPTED
    pilot.waits(6)
    assert pilot.autopilot.flight.body.place[2] == pytest.approx(4.0, abs=0.03)


def test_rates_can_be_set_stopped_and_set_back(pilot):
    def count(seconds=2.0):
        return sum(one.get_type() == "ATTITUDE" for one in pilot.autopilot.advance(seconds))

    assert count() == pytest.approx(20, abs=1)
    for interval, expected in ((40_000, 50), (-1, 0), (0, 20), (1, 100)):
        assert pilot.commands(INTERVAL, 30, interval) == ACCEPTED
        assert count() == pytest.approx(expected, abs=1)


def test_time_and_missions_are_answered(pilot):
    pilot.waits(1.5)
    [answer] = pilot.says(common.MAVLink_timesync_message(0, 1234))
    assert (answer.tc1, answer.ts1) == (pytest.approx(1.5e9, abs=3e7), 1234)
    assert pilot.says(answer) == []  # an answer needs none
    [none] = pilot.says(common.MAVLink_mission_request_list_message(1, 1, 2))
    assert (none.count, none.mission_type, none.target_system) == (0, 2, 255)
    assert pilot.commands(520) == ACCEPTED
    assert pilot.sent[-1].get_type() == "AUTOPILOT_VERSION"


def test_ardupilot_takes_off_in_guided_mode_and_by_command_only():
    pilot = Pilot(Autopilot(firmware=ARDUPILOT))
    flight = pilot.autopilot.flight
    pilot.waits(1)
    assert pilot.commands(ARM, 1) == ACCEPTED
    assert pilot.commands(TAKE_OFF, 0, 0, 0, 0, 0, 0, 2.0) == REJECTED
    assert pilot.commands(SET_MODE, 1, 4) == ACCEPTED
    pilot.waits(2, aim=(1, 1, -2))
    assert not flight.body.flies
    assert pilot.commands(TAKE_OFF, 0, 0, 0, 0, 0, 0, 2.0) == ACCEPTED
    pilot.waits(5)
    assert flight.body.place == pytest.approx((0, 0, 2), abs=0.02)
    pilot.aims(2, 1, -1)
    pilot.waits(6)  # one setpoint is enough
    assert flight.body.place == pytest.approx((1, 2, 1), abs=0.03)
    assert pilot.modes()[-1] == mode("GUIDED", True, ARDUPILOT)
    assert pilot.commands(SET_MODE, 1, 9) == ACCEPTED
    pilot.waits(5)
    assert not flight.armed


def flown(chunks):
    """The bytes of a flight whose time passes in chunks of these lengths."""
    pilot = Pilot(Autopilot(vehicle=vehicle("quadrotor", wind=(1.0, 0.5), gust=0.5)))
    pilot.flies()
    pilot.aims(3, 2, -1)
    pilot.commands(SET_MODE, 1, 6)
    for seconds in chunks:
        pilot.sent += pilot.autopilot.advance(seconds)
    codec = Codec(1, 1)
    return b"".join(codec.pack(message) for message in pilot.sent)


def test_a_flight_depends_on_what_was_sent_when_and_on_nothing_else():
    assert flown([4.0]) == flown([4.0]) == flown([0.25] * 16) == flown([0.0078125] * 512)


def test_nothing_that_anybody_sends_stops_it():
    """Random bytes, damaged messages, and every message there is with random content and a right checksum."""
    rng, ground, codec = np.random.default_rng(3), common.MAVLink(None, 255, 190), Codec(1, 1)
    autopilot = Autopilot()
    kinds = list(common.mavlink_map.values())
    taken = 0
    for case in range(15_000):
        kind = kinds[rng.integers(len(kinds))] if case % 3 else common.MAVLink_command_long_message
        content = rng.bytes(kind.unpacker.size)
        if case % 5 == 0:
            data = rng.bytes(rng.integers(1, 300))
        else:
            data = bytes(as_message(kind, content).pack(ground))
            ground.seq = (ground.seq + 1) % 256
        if case % 5 == 1:
            place = rng.integers(len(data))
            data = data[:place] + rng.bytes(1) + data[place + 1 :]
        for message in codec.read(data, whole=True):
            taken += 1
            if hasattr(message, "target_system"):
                message.target_system = 1
            if hasattr(message, "target_component"):
                message.target_component = 1
            if message.get_type() in ("COMMAND_LONG", "COMMAND_INT"):
                message.command = int(rng.choice([20, 21, 22, 176, 192, 400, 511, 512, 520]))
                message.param1 = float(rng.choice([0, 1, message.param1]))
            for reply in autopilot.handle(message):
                codec.pack(reply)
        if case % 10 == 0:
            for sent in autopilot.advance(0.1):
                codec.pack(sent)
    assert taken > 9_000
    assert np.isfinite(autopilot.flight.body.state).all()
    autopilot.flight.parameters.update(PARAMETERS)
    pilot = Pilot(autopilot)
    if autopilot.flight.armed:
        pilot.waits(1)
        pilot.commands(LAND)
        pilot.waits(300)
    pilot.flies()
    assert autopilot.flight.body.place[2] == pytest.approx(2, abs=0.05)


def as_message(kind, content):
    """A message of a kind, read from random bytes."""
    values = list(struct.unpack(kind.unpacker.format, content))
    ordered, place = [], 0
    for length in kind.lengths:
        part = values[place] if isinstance(values[place], bytes) else values[place : place + length]
        ordered.append(part if length > 1 or isinstance(part, bytes) else part[0])
        place += 1 if isinstance(part, bytes) else length
    return kind(*(ordered[order] for order in kind.orders))


def test_homes_that_are_nowhere_are_refused():
    with pytest.raises(InputError, match="origin 8 and 95"):
        Home(8, 95)
    with pytest.raises(InputError, match="home must be within 10000 m"):
        Home(8, 47, nan)
    assert Home(8, 47).moved(1000).in_metres(8, 47)[0] == pytest.approx(-1000, abs=1e-3)


def test_without_pymavlink_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pymavlink.dialects.v20.common", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'tricover\[fleet\]'"):
        Autopilot().advance(1.0)
