"""Our autopilot on the network, flown by MAVSDK."""

import asyncio
import socket

import pytest
from mavsdk import log_subscribe
from mavsdk.asyncio import ComponentType, Configuration, Mavsdk
from mavsdk.asyncio.plugins.action import ActionAsync
from mavsdk.asyncio.plugins.offboard import OffboardAsync
from mavsdk.asyncio.plugins.telemetry import TelemetryAsync
from mavsdk.plugins.action import ActionError
from mavsdk.plugins.offboard import PositionNedYaw
from pymavlink.dialects.v20 import common

from tests.fleet.served import PATIENT, served
from tests.ports import free_port
from tricover.errors import InputError
from tricover.fleet.autopilot import Autopilot
from tricover.fleet.autopilot_udp import Station

LONG = 300.0  # s: for facts that take a second, on a machine that is busy


async def until(updates, fact):
    """The first update for which a fact is true."""
    async for update in updates:
        if fact(update):
            return update
    raise AssertionError("no more updates")


async def fly(port):
    """Take off, go to a place in offboard mode and land, by MAVSDK; gives what it saw."""
    async with Mavsdk(Configuration.create_with_component_type(ComponentType.GROUND_STATION)) as sdk:
        await sdk.add_any_connection(f"udpin://127.0.0.1:{port}")
        system = await sdk.first_autopilot(LONG)
        action, offboard, telemetry = ActionAsync(system), OffboardAsync(system), TelemetryAsync(system)
        health = await until(telemetry.subscribe_health(), lambda one: one.is_armable and one.is_home_position_ok)
        with pytest.raises(ActionError):  # not armed
            await action.takeoff()
        await action.set_takeoff_altitude(1.5)
        await action.arm()
        await action.takeoff()
        await until(telemetry.subscribe_position(), lambda one: one.relative_altitude_m > 1.3)
        await offboard.set_position_ned(PositionNedYaw(2.0, 1.0, -1.2, 90.0))
        await offboard.start()
        places = telemetry.subscribe_position_velocity_ned()
        there = await until(places, lambda one: abs(one.position.north_m - 2) + abs(one.velocity.north_m_s) < 0.05)
        await action.land()
        await until(telemetry.subscribe_armed(), lambda armed: not armed)
        return await system.get_system_id(), health, there.position


def test_mavsdk_flies_it():
    log_subscribe(lambda *_: True)
    port, autopilot = free_port("udp"), Autopilot(system=7, parameters=PATIENT)
    with served(autopilot, port=port):
        system, health, there = asyncio.run(asyncio.wait_for(fly(port), LONG))
    assert system == 7
    assert health.is_global_position_ok
    assert health.is_local_position_ok
    assert (there.north_m, there.east_m, there.down_m) == pytest.approx((2.0, 1.0, -1.2), abs=0.1)
    assert autopilot.flight.body.place == pytest.approx((1.0, 2.0, 0.0), abs=0.1)


@pytest.fixture
def listener():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        one.settimeout(LONG)
        yield one


def heard(listener):
    """The next message, and where it came from."""
    data, peer = listener.recvfrom(2048)
    [message] = common.MAVLink(None).parse_buffer(data)
    return message, peer


def test_two_on_one_port_are_told_apart_and_each_obeys_its_own(listener):
    first, second = Autopilot(system=1, parameters=PATIENT), Autopilot(system=2, parameters=PATIENT)
    ground = common.MAVLink(None, 255, 190)
    with served(first, second, port=listener.getsockname()[1]):
        peers = {}
        while set(peers) != {1, 2}:
            message, peer = heard(listener)
            peers[message.get_srcSystem()] = peer
        for peer in peers.values():  # both hear it, as behind a router
            listener.sendto(common.MAVLink_command_long_message(2, 1, 400, 0, 1, 0, 0, 0, 0, 0, 0).pack(ground), peer)
        message = None
        while message is None or message.get_type() != "COMMAND_ACK":
            message, _ = heard(listener)
    assert (message.get_srcSystem(), message.result, message.target_system) == (2, 0, 255)
    assert (first.flight.armed, second.flight.armed) == (False, True)


def test_who_waits_to_be_spoken_to_answers_everybody_who_did(listener):
    station = Station(Autopilot(), ["udpin:127.0.0.1:0"])
    try:
        [port], [one] = station.ports, station.sockets
        station.advance(1.0)
        listener.sendto(b"no message", ("127.0.0.1", port))
        listener.sendto(b"\xfd" * 300, ("127.0.0.1", port))
        station.hear(one)
        station.advance(1.0)
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):  # nobody has spoken yet
            listener.recv(2048)
        listener.settimeout(LONG)
        beat = common.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3)
        listener.sendto(b"\xfdgarbage", ("127.0.0.1", port))
        listener.sendto(beat.pack(common.MAVLink(None, 255, 190)), ("127.0.0.1", port))
        station.hear(one)
        station.advance(1.0)
        assert heard(listener)[0].get_srcSystem() == 1
    finally:
        station.close()


@pytest.mark.parametrize(
    "address", ["", "udp", "tcp:127.0.0.1:5760", "udpin:14540", "udpin:127.0.0.1:x", "udpout:127.0.0.1:70000"]
)
def test_addresses_that_are_none_are_told(address):
    with pytest.raises(InputError, match="give udpout:HOST:PORT or udpin:HOST:PORT"):
        Station(Autopilot(), [address])


def test_a_port_that_is_taken_is_told(listener):
    address = f"udpin:127.0.0.1:{listener.getsockname()[1]}"
    with pytest.raises(InputError, match=f"address {address}: Address already in use"):
        Station(Autopilot(), [address])
