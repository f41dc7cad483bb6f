"""The vehicle that is flown by MAVLink, against our own autopilot."""

import socket
import subprocess
import sys
from contextlib import contextmanager
from math import nan
from threading import Thread
from time import monotonic, sleep

import numpy as np
import pytest
from pymavlink.dialects.v20 import common
from tests.fleet.served import Recorded, served
from tests.ports import free_port

import tricover as tc
from tricover.cli.subject import open_run
from tricover.errors import AutopilotError, InputError, LostControlError, MissingExtraError, TakenOverError
from tricover.vehicles import Mixed, Piloted, check_aoc, step_draws, vehicle
from tricover.vehicles import link as links
from tricover.vehicles import mavlink as module
from tricover.vehicles.flight_modes import ARDUPILOT, PX4
from tricover.vehicles.mavlink import Frame

LONG = 300.0  # s: of patience, on a machine that is busy


@pytest.fixture(autouse=True)
def _quickly(monkeypatch):
    """Our autopilot flies faster than real time, so what it wants to see before offboard mode takes less, too."""
    monkeypatch.setattr(module, "_BEFORE_OFFBOARD", 0.2)
    monkeypatch.setattr(module, "_ANSWERED", 0.5)
    monkeypatch.setattr(links, "SILENCE", 60.0)
    yield
    module._let_go_of_all()


def drive(rider, states, x, y, seconds):
    return rider.drive(states, np.full((1, 3, 2), (x, y)), seconds, step_draws(0, 0, 1))


def drive_to(rider, states, x, y):
    """Drive until it is there and at rest: how many steps that takes is the machine's affair."""
    end = monotonic() + LONG
    while np.abs(states[0, :3] - (x, y, 1.0)).max() > 0.1 or np.abs(states[0, 3:]).max() > 0.1:
        assert monotonic() < end
        states = drive(rider, states, x, y, 0.2)
    return states


@contextmanager
def flown(autopilot=None, start=(10.0, 20.0), signed=None, **settings):
    """A vehicle that has taken off, its states, and its autopilot."""
    autopilot, port = autopilot or Recorded(), free_port("udp")
    with served(autopilot, port=port, key=signed):
        rider = vehicle(
            "mavlink", **{"address": f"udpin:127.0.0.1:{port}", "altitude": 1.0, "patience": LONG, **settings}
        )
        yield rider, rider.begin(rider.initial_state([start])), autopilot


def until(fact):
    """Wait for a fact about an autopilot that flies in another thread."""
    end = monotonic() + LONG
    while not fact():
        assert monotonic() < end
        sleep(0.01)


def setpoints(autopilot):
    return [one for one in autopilot.received if one.get_type() == "SET_POSITION_TARGET_LOCAL_NED"]


def count(autopilot, kind):
    return sum(one.get_type() == kind for one in autopilot.received)


@pytest.mark.parametrize("firmware", [PX4, ARDUPILOT], ids=lambda one: one.name)
def test_it_takes_off_drives_and_lands(firmware):
    autopilot = Recorded(firmware=firmware)
    with flown(autopilot) as (rider, states, _):
        assert isinstance(rider, Piloted)
        assert states[0, :3] == pytest.approx((10, 20, 1), abs=0.35)
        assert autopilot.flight.role == "guided"
        states = drive_to(rider, states, 11.0, 22.0)
        assert states[0, :3] == pytest.approx((11, 22, 1), abs=0.1)
        assert autopilot.flight.body.place == pytest.approx((1, 2, 1), abs=0.1)
        until(lambda: count(autopilot, "HEARTBEAT"))
        rider.finish()
        assert not autopilot.flight.armed
        assert autopilot.flight.body.place == pytest.approx((1, 2, 0), abs=0.1)
        rider.finish()  # nothing is left to be done
    own = {(one.get_srcSystem(), one.get_srcComponent()) for one in autopilot.received}
    assert own == {(245, common.MAV_COMP_ID_ONBOARD_COMPUTER)}
    beats = [one for one in autopilot.received if one.get_type() == "HEARTBEAT"]
    assert {(one.type, one.autopilot) for one in beats} == {(18, 8)}
    for one in autopilot.received:
        assert all(np.isfinite(getattr(one, name)) for name in one.get_fieldnames()), one
    assert {(one.coordinate_frame, one.type_mask) for one in setpoints(autopilot)} == {(1, 0xDF8)}
    last = setpoints(autopilot)[-1]
    assert (last.x, last.y, last.z) == pytest.approx((2, 1, -1), abs=1e-6)


def test_drive_begins_by_itself_and_the_end_of_the_process_sends_it_home():
    autopilot, port = Recorded(), free_port("udp")
    with served(autopilot, port=port):
        rider = vehicle("mavlink", address=f"udpin:127.0.0.1:{port}", altitude=1.0, patience=LONG)
        states = drive_to(rider, rider.initial_state([[0.0, 0.0]]), 1.0, 0.0)
        assert rider.output(states)[0] == pytest.approx((1, 0), abs=0.1)
        module._let_go_of_all()
        until(lambda: autopilot.flight.role == "return" or not autopilot.flight.armed)
    assert not module._LINKS


def test_go_home_lands_where_it_took_off():
    with flown() as (rider, states, autopilot):
        drive_to(rider, states, 11.0, 21.0)
        rider.go_home()
        assert not autopilot.flight.armed
        assert autopilot.flight.body.place == pytest.approx((0, 0, 0), abs=0.1)


def test_it_lands_where_it_is_if_return_is_refused(monkeypatch):
    class NoHome(Recorded):
        def handle(self, message):
            wants_home = message.get_type() == "COMMAND_LONG" and (message.command, message.param3) == (176, 5.0)
            if wants_home:
                return [common.MAVLink_command_ack_message(176, 2, 0, 0, 245, 191)]
            return super().handle(message)

    with flown(NoHome()) as (rider, states, autopilot):
        drive_to(rider, states, 11.0, 21.0)
        rider.go_home()
        assert autopilot.flight.body.place == pytest.approx((1, 1, 0), abs=0.1)


def test_a_landing_that_is_refused_can_be_asked_for_again():
    class Hovering(Recorded):
        refuses = True

        def handle(self, message):
            if self.refuses and message.get_type() == "COMMAND_LONG" and message.command == 176 and message.param3:
                return [common.MAVLink_command_ack_message(176, 1, 0, 0, 245, 191)]
            return super().handle(message)

    with flown(Hovering()) as (rider, states, autopilot):
        for come_down in (rider.finish, rider.go_home):
            with pytest.raises(AutopilotError, match=r"refused mode AUTO.LAND \(TEMPORARILY_REJECTED\)"):
                come_down()
        states = drive_to(rider, states, 11.0, 20.0)
        autopilot.refuses = False
        rider.finish()
        assert not autopilot.flight.armed
    with flown(Hovering()) as (rider, states, autopilot):
        with pytest.raises(AutopilotError, match="refused"):
            rider.finish()
        autopilot.flight.disarm(force=True)
        with pytest.raises(TakenOverError, match="disarmed"):  # as before it was asked
            drive(rider, states, 11.0, 20.0, LONG)


def test_setpoints_go_on_between_drives():
    with flown() as (rider, states, autopilot):
        drive(rider, states, 10.0, 20.0, 0.1)
        before = len(setpoints(autopilot))
        until(lambda: len(setpoints(autopilot)) > before + 10)


def quickest(autopilot, setpoint_count=12):
    """Seconds in which so many setpoints in a row were sent, by their own times, where that was fastest."""
    times = [one.time_boot_ms / 1000 for one in setpoints(autopilot)]
    return min((end - start for start, end in zip(times, times[setpoint_count - 1 :], strict=False)), default=LONG)


def test_setpoints_come_as_often_as_they_should():
    with flown(rate=8.0) as (_, _, autopilot):
        until(lambda: len(setpoints(autopilot)) > 15)
        assert quickest(autopilot) > 0.5 * 11 / 8  # one that was late is followed by another at once
    with flown(rate=50.0) as (_, _, autopilot):
        until(lambda: quickest(autopilot) < 0.5 * 11 / 8)


@pytest.mark.parametrize(
    ("firmware", "taken", "name"),
    [(PX4, (3, 0), "POSCTL"), (PX4, (4, 3), "AUTO.LOITER"), (ARDUPILOT, (5, 0), "LOITER"), (ARDUPILOT, (6, 0), "RTL")],
)
def test_a_pilot_takes_over_and_keeps_control(firmware, taken, name):
    autopilot = Recorded(firmware=firmware)
    with flown(autopilot) as (rider, states, _):
        pilot = common.MAVLink_command_long_message(1, 1, 176, 0, 1, *taken, 0, 0, 0, 0)
        pilot.pack(common.MAVLink(None, 255, 190))
        autopilot.received.clear()
        Thread(target=autopilot.handle, args=(pilot,)).start()
        with pytest.raises(TakenOverError, match=f"mavlink of agent 0 changed to mode {name}, by itself or") as caught:
            drive(rider, states, 11.0, 20.0, LONG)
        assert isinstance(caught.value, LostControlError)
        with pytest.raises(TakenOverError):  # for good
            drive(rider, states, 11.0, 20.0, 0.1)
        link, _ = module._LINKS[rider]
        sent, beats = link.setpoints, count(autopilot, "HEARTBEAT")
        until(lambda: count(autopilot, "HEARTBEAT") > beats)  # we are still there, and silent
        assert link.setpoints == sent
        autopilot.flight.disarm(force=True)
        until(lambda: not link.armed)
        with pytest.raises(TakenOverError, match=f"changed to mode {name}"):  # what came first is said
            rider.finish()
        asked = [one.command for one in autopilot.received if one.get_type() == "COMMAND_LONG"]
        assert asked == [176]  # the pilot's
        assert rider not in module._LINKS


def test_a_failsafe_is_told_with_what_the_autopilot_said():
    with flown() as (rider, states, autopilot):
        autopilot.flight.parameters["COM_OF_LOSS_T"] = 1e-3  # as if every setpoint came late
        with pytest.raises(TakenOverError, match=r"AUTO.LOITER.*it said 'Failsafe: no offboard setpoints, holding'"):
            drive(rider, states, 11.0, 20.0, LONG)


def test_disarming_in_flight_is_a_loss():
    with flown() as (rider, states, autopilot):
        autopilot.flight.disarm(force=True)
        with pytest.raises(TakenOverError, match="disarmed, by itself or by its pilot"):
            drive(rider, states, 11.0, 20.0, LONG)


def test_what_others_are_answered_is_no_answer_to_us():
    class Busy(Recorded):
        def handle(self, message):
            replies = super().handle(message)
            to_other = common.MAVLink_command_ack_message(getattr(message, "command", 0), 2, 0, 0, 255, 190)
            return [to_other, *replies]

    with flown(Busy()) as (rider, _, autopilot):
        assert autopilot.flight.armed
        rider.finish()


class Refusing(Recorded):
    """Says that it is ready, and does not arm."""

    def __init__(self, result, **settings):
        super().__init__(**settings)
        self.result = result

    def handle(self, message):
        if message.get_type() == "COMMAND_LONG" and message.command == 400:
            text = common.MAVLink_statustext_message(2, b"Preflight Fail: \x1b[31mcompass")
            return [text, common.MAVLink_command_ack_message(400, self.result, 0, 0, 245, 191)]
        return super().handle(message)


@pytest.mark.parametrize(("result", "name"), [(1, "TEMPORARILY_REJECTED"), (2, "DENIED"), (4, "FAILED"), (99, "99")])
def test_a_refusal_names_the_command_and_the_reason(result, name):
    said = rf"refused to arm \({name}\): it said .*Preflight Fail: .*compass"
    with pytest.raises(AutopilotError, match=said) as caught, flown(Refusing(result)):
        pass
    assert "\x1b" not in str(caught.value)
    assert not module._LINKS


def test_who_is_armed_and_does_not_take_off_is_told_to_land_and_let_go():
    class Grounded(Recorded):
        def handle(self, message):
            if message.get_type() == "COMMAND_LONG" and message.command == 22:
                self.received.append(message)
                return [common.MAVLink_command_ack_message(22, 4, 0, 0, 245, 191)]
            return super().handle(message)

    autopilot, port = Grounded(firmware=ARDUPILOT), free_port("udp")
    with served(autopilot, port=port):
        rider = vehicle("mavlink", address=f"udpin:127.0.0.1:{port}", patience=LONG)
        with pytest.raises(AutopilotError, match=r"refused to take off \(FAILED\)"):
            rider.begin(rider.initial_state([[0.0, 0.0]]))
        asked = [(one.command, one.param2) for one in autopilot.received if one.get_type() == "COMMAND_LONG"]
        assert asked[-2:] == [(22, 0.0), (176, ARDUPILOT.mode("land"))]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as again:
            again.bind(("127.0.0.1", port))  # it is free


def test_an_autopilot_that_is_never_ready_is_told():
    autopilot = Recorded()
    autopilot.flight.healthy = False
    with pytest.raises(AutopilotError, match=r"ready to arm|a heartbeat"), flown(autopilot, patience=0.5):
        pass
    assert not autopilot.flight.armed


def test_an_autopilot_that_somebody_flies_is_left_alone():
    autopilot = Recorded()
    autopilot.flight.arm()
    with pytest.raises(AutopilotError, match="is armed already, and somebody"), flown(autopilot):
        pass
    assert not setpoints(autopilot)


def test_nobody_there_and_nobody_any_more(monkeypatch):
    lonely = vehicle("mavlink", address=f"udpin:127.0.0.1:{free_port('udp')}", patience=0.3)
    with pytest.raises(AutopilotError, match="s for a heartbeat at udpin:127"):
        lonely.begin(lonely.initial_state([[0.0, 0.0]]))
    with flown() as (rider, states, _):
        pass  # its autopilot is gone
    monkeypatch.setattr(links, "SILENCE", 0.3)
    with pytest.raises(AutopilotError, match=r"has been silent for 0\.3 s"):
        drive(rider, states, 11.0, 20.0, LONG)


def test_places_that_are_none_are_not_believed():
    class Lost(Recorded):
        def advance(self, seconds):
            messages = super().advance(seconds)
            for one in messages:
                if one.get_type() == "LOCAL_POSITION_NED":
                    one.x = nan
            return messages

    with pytest.raises(AutopilotError, match=r"ready to arm|a heartbeat"), flown(Lost(), patience=1.0):
        pass


def test_of_two_on_a_port_it_flies_the_one_that_was_asked_for():
    first, second, port = Recorded(system=1), Recorded(system=2), free_port("udp")
    with served(first, second, port=port):
        rider = vehicle("mavlink", address=f"udpin:127.0.0.1:{port}", altitude=1.0, system=2, patience=LONG)
        states = rider.begin(rider.initial_state([[5.0, 5.0]]))
        states = drive_to(rider, states, 6.0, 5.0)
        assert states[0, :2] == pytest.approx((6, 5), abs=0.1)
        rider.finish()
    assert first.flight.body.place == (0, 0, 0)
    assert second.flight.body.place == pytest.approx((1, 0, 0), abs=0.1)


def test_who_is_neither_px4_nor_ardupilot_is_told():
    class Other(Recorded):
        def advance(self, seconds):
            messages = super().advance(seconds)
            for one in messages:
                if one.get_type() == "HEARTBEAT":
                    one.autopilot = 0
            return messages

    with pytest.raises(AutopilotError, match=r"neither PX4 nor ArduPilot \(MAV_AUTOPILOT 0\)"), flown(Other()):
        pass


def test_with_a_key_only_what_is_signed_is_heard(tmp_path):
    raw, hexadecimal, other = tmp_path / "raw", tmp_path / "hex", tmp_path / "other"
    key = bytes(range(1, 33))
    raw.write_bytes(key)
    hexadecimal.write_text(key.hex() + "\n")
    other.write_bytes(bytes(32))
    for file in (raw, hexadecimal):
        with flown(signed=key, key=str(file)) as (rider, _, autopilot):
            assert autopilot.flight.armed
            rider.finish()
    for name, said in ((str(other), "for a heartbeat"), ("", "no answer to mode|setpoints to be sent")):
        with pytest.raises(AutopilotError, match=said), flown(signed=key, key=name, patience=0.5):
            pass


def test_settings_are_checked():
    for setting, value, said in (
        ("altitude", -1, "altitude must be a positive number of m"),
        ("rate", 2, "rate must be above 2 Hz, not 2"),
        ("system", 256, "system must be a whole number from 0 to 255, not 256"),
        ("own_system", 0, "own_system must be a whole number from 1 to 255, not 0"),
        ("system", 1.0, "not 1.0"),
        ("system", True, "not True"),
        ("address", "", "address must not be empty"),
        ("address", 7, "address must be text, not 7"),
        ("key", 7, "key must be text"),
        ("patience", nan, "patience must be a positive number of s"),
    ):
        with pytest.raises(InputError, match=f"vehicle 'mavlink': .*{said}"):
            vehicle("mavlink", **{setting: value})


@pytest.mark.parametrize("address", ["udpin:nowhere", "tcp:127.0.0.1:0", "/dev/no-such-port"])
def test_an_address_that_cannot_be_opened_is_told(address, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)  # pymavlink tries again
    rider = vehicle("mavlink", address=address)
    with pytest.raises(InputError, match=r"MAVLink address .* cannot be opened"):
        rider.begin(rider.initial_state([[0.0, 0.0]]))


@pytest.mark.parametrize("content", [b"", b"x" * 31, b"zz" * 32])
def test_a_key_that_is_none_is_told(content, tmp_path):
    (tmp_path / "key").write_bytes(content)
    rider = vehicle("mavlink", key=str(tmp_path / "key"), address=f"udpin:127.0.0.1:{free_port('udp')}")
    with pytest.raises(InputError, match="a key has 32 bytes, or 64 hexadecimal digits"):
        rider.begin(rider.initial_state([[0.0, 0.0]]))
    missing = vehicle("mavlink", key="no-such-file")
    with pytest.raises(InputError, match="no-such-file: the key cannot be read: No such file"):
        missing.begin(missing.initial_state([[0.0, 0.0]]))


def test_one_address_is_one_agent():
    rider = vehicle("mavlink")
    states = rider.initial_state([[0.0, 0.0], [1.0, 1.0]])
    with pytest.raises(InputError, match=r"one agent, not of 2: write a \[\[vehicle.others\]\]"):
        rider.drive(states, np.zeros((2, 3, 2)), 1.0, step_draws(0, 0, 2))
    nobody = rider.drive(states[:0], np.zeros((0, 3, 2)), 1.0, step_draws(0, 0, 0))
    assert nobody.shape == (0, 6)
    with flown() as (flying, _, _):
        with pytest.raises(InputError, match="has begun already"):
            flying.begin(states[:1])
        other = vehicle("mavlink", address=flying.address, system=2)
        with pytest.raises(InputError, match="is in use: each agent needs an address of its own"):
            other.begin(states[:1])


def test_without_pymavlink_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymavlink.dialects.v20.common", None)
    rider = vehicle("mavlink")  # it can be written down and read without
    with pytest.raises(MissingExtraError, match=r"pip install 'tricover\[fleet\]'"):
        rider.begin(rider.initial_state([[0.0, 0.0]]))


def test_frames_are_joined_where_it_stands():
    # It stands at (100, 200) in our plane, 3 m north, 4 m east and 0.5 m below its own origin.
    frame = Frame.joined([100.0, 200.0], (3.0, 4.0, 0.5, 0, 0, 0))
    assert frame.to_local(100.0, 200.0, 0.0) == (3.0, 4.0, 0.5)
    assert frame.to_local(101.0, 202.0, 10.0) == (5.0, 5.0, -9.5)
    state = frame.to_state((5.0, 5.0, -9.5, 0.1, 0.2, -0.3))
    assert state.tolist() == [[101.0, 202.0, 10.0, 0.2, 0.1, 0.3]]


def test_nobody_flies_it_to_see_what_would_happen(tmp_path):
    real = vehicle("mavlink", address=f"udpin:127.0.0.1:{free_port('udp')}")
    with pytest.raises(InputError, match="a mavlink flies for real"):
        check_aoc(real, 1.0, 1.0, starts=1)
    team = [[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2], [3, 2.5]]
    others = [{"agents": [5], "kind": "mavlink", "address": real.address}]
    settings = {"targets": [[1, 1], [2, 3]], "vehicle": {"kind": "exact", "others": others}}
    scenario = tc.Scenario(reference=team, control={"motion": "walk", "resolution": 5}, **settings)
    [claim] = [one for one in tc.certify(scenario).claims if one.key == "vehicle"]
    assert claim.summary == "Some fly for real: certify the run."
    scenario.save(tmp_path / "mine.toml")
    with pytest.raises(InputError, match="its vehicles would fly for real"):
        open_run(tmp_path / "mine.toml", quiet=True)
    pads = [[x + 1.0, y + 9.0] for x, y in team]
    tc.simulation.Mission.of(tc.Scenario(formation={"positions": team, "start": pads, "assign": True}, **settings))
    assert not module._LINKS


def test_a_mixed_team_names_the_agent_that_was_lost():
    autopilot, port = Recorded(), free_port("udp")
    with served(autopilot, port=port):
        real = vehicle("mavlink", address=f"udpin:127.0.0.1:{port}", altitude=1.0, patience=LONG)
        team = Mixed((vehicle("exact"), real), (0, 0, 1))
        goals = np.repeat([[[0.0, 0.0]], [[1.0, 0.0]], [[2.0, 1.0]]], 3, axis=1)
        states = team.drive(team.initial_state([[0, 0], [1, 0], [2, 0]]), goals, 0.6, step_draws(0, 0, 3))
        assert team.output(states)[2] == pytest.approx((2, 0.5), abs=0.7)  # on its way
        autopilot.flight.disarm(force=True)
        with pytest.raises(TakenOverError, match="mavlink of agent 2 disarmed") as caught:
            team.drive(states, goals, LONG, step_draws(0, 0, 3))
        assert caught.value.agents == [2]


SCENARIO = """
steps = 3
[formation]
positions = [[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2], [3, 2.5]]
[targets]
positions = [[1, 1], [2, 3]]
[vehicle]
duration = 0.5
[[vehicle.others]]
agents = [5]
kind = "mavlink"
address = "udpin:127.0.0.1:PORT"
altitude = 1.0
patience = 300
"""


def test_a_plain_run_flies_one_of_its_agents_and_sends_it_home_at_the_end(tmp_path):
    autopilot, port = Recorded(), free_port("udp")
    (tmp_path / "mine.toml").write_text(SCENARIO.replace("PORT", str(port)))
    code = "import sys; sys.argv[0] = 'tricover'; from tricover.cli.main import command; "
    code += "from tricover.vehicles import link; link.SILENCE = 60.0; command()"
    with served(autopilot, port=port):
        words = ["run", "mine.toml", "-q", "-o", "mine.zarr"]
        done = subprocess.run([sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode in (0, 1), done.stderr) == (True, "")
    run = tc.Run.open(tmp_path / "mine.zarr")
    last = setpoints(autopilot)[-1]
    assert (last.y + 1, last.x + 2) == pytest.approx(run.desired[5], abs=1.0)
    assert autopilot.flight.role == "return" or not autopilot.flight.armed
