"""Autopilots for tests: in this process, on a loopback port, faster than real time."""

from contextlib import contextmanager
from threading import Event, Thread

from pymavlink.dialects.v20 import common

from tricover.fleet.autopilot import Autopilot
from tricover.fleet.autopilot_udp import Station, serve

PATIENT = {"COM_OF_LOSS_T": 1e6, "COM_DL_LOSS_T": 1e6, "COM_DISARM_LAND": 0.2, "COM_DISARM_PRFLT": 1e6}
"""No failsafe comes because a machine is busy."""


@contextmanager
def served(*autopilots, port, speed=8.0, key=None):
    """Let autopilots fly, all of them towards one port."""
    stations = [Station(one, [f"udpout:127.0.0.1:{port}"], key) for one in autopilots]
    ended = Event()
    thread = Thread(target=serve, args=(stations, speed, lambda _: not ended.is_set()))
    thread.start()
    try:
        yield stations
    finally:
        ended.set()
        thread.join()
        for station in stations:
            station.close()


class Recorded(Autopilot):
    """An autopilot that remembers what it was sent."""

    def __init__(self, **settings):
        super().__init__(**{"parameters": PATIENT, **settings})
        self.received = []

    def handle(self, message):
        self.received.append(message)
        return super().handle(message)


class Pilot:
    """Somebody at the ground who speaks to an autopilot on the virtual clock, and keeps all that it sends."""

    def __init__(self, autopilot, system=255, component=190):
        self.autopilot, self.sent = autopilot, []
        self._codec = common.MAVLink(None, system, component)

    def says(self, message):
        """Send a message as bytes, as the wire would carry it; gives the replies."""
        [heard] = common.MAVLink(None).parse_buffer(message.pack(self._codec))
        replies = self.autopilot.handle(heard)
        self.sent += replies
        return replies

    def commands(self, command, *parameters, system=None):
        """The result of a command."""
        system = self.autopilot.system if system is None else system
        filled = [*parameters, *[0.0] * (7 - len(parameters))]
        replies = self.says(common.MAVLink_command_long_message(system, 1, command, 0, *filled))
        return next((one.result for one in replies if one.get_type() == "COMMAND_ACK"), None)

    def aims(self, north, east, down, mask=0xDF8, frame=1):
        place = north, east, down, *[0.0] * 8
        return self.says(common.MAVLink_set_position_target_local_ned_message(0, 1, 1, frame, mask, *place))

    def waits(self, seconds, *, linked=True, aim=None):
        """Let time pass, with a heartbeat a second and, if asked for, setpoints."""
        for tenth in range(round(seconds * 10)):
            if linked and tenth % 10 == 0:
                self.says(common.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3))
            if aim is not None:
                self.aims(*aim)
            self.sent += self.autopilot.advance(0.1)

    def flies(self, height=2.0):
        """Arm and take off."""
        self.waits(1)
        assert self.commands(400, 1) == 0
        above_sea = self.autopilot.home.altitude + height
        assert self.commands(22, 0, 0, 0, float("nan"), 0, 0, above_sea) == 0
        self.waits(5)

    def texts(self):
        return [one.text for one in self.sent if one.get_type() == "STATUSTEXT"]

    def modes(self):
        """Modes and arming as the heartbeats said, without repetitions."""
        said = [(one.custom_mode, one.base_mode >> 7) for one in self.sent if one.get_type() == "HEARTBEAT"]
        return [one for place, one in enumerate(said) if not place or said[place - 1] != one]
