"""An autopilot of our own to rehearse missions with: it speaks MAVLink as PX4 or ArduPilot do, and flies our quadrotor.

It has no input, no output and no clock: ``handle`` takes a message and gives the replies, ``advance`` lets time pass
and gives what is to be sent meanwhile. So a flight of minutes takes a test milliseconds, and depends on nothing but
what was sent when. ``autopilot_udp`` connects it to sockets and to the time of day.

What it knows: arming, take-off, setpoints of position in the local frame (OFFBOARD or GUIDED), reposition, hold,
landing, return (``flight``), parameters, and rates of messages (``telemetry``). What it does not know is refused, never
half done. Its heading is east, always: the yaw of a setpoint is not followed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite, nan
from typing import Any

from tricover.errors import InputError
from tricover.fleet.autopilot_flight import PARAMETERS, Flight
from tricover.fleet.body import TICK
from tricover.fleet.telemetry import HEARTBEAT, STREAMS, Home, Status
from tricover.vehicles.flight_modes import PX4, Firmware
from tricover.vehicles.quadrotor import Quadrotor
from tricover.vehicles.wire import dialect

__all__ = ["COMPONENT", "Autopilot"]

COMPONENT = 1  # MAV_COMP_ID_AUTOPILOT1
_NOBODY = 8  # MAV_AUTOPILOT_INVALID: the heartbeat of somebody who is no autopilot
_FORCE = 21_196  # second parameter of COMPONENT_ARM_DISARM: even in the air
_LOCAL_NED = 1  # MAV_FRAME_LOCAL_NED
_NO_POSITION = 0b111 | 1 << 9  # POSITION_TARGET_TYPEMASK: position ignored, or a force
_ACCEPTED, _REJECTED, _DENIED, _UNSUPPORTED = 0, 1, 2, 3  # MAV_RESULT
_WARNING, _INFO = 4, 6  # MAV_SEVERITY
_FLOAT = 9  # MAV_PARAM_TYPE_REAL32
_ROUNDING = 1e-6  # ticks: a sum of tenths of a second may fall short of a whole tick
_FASTEST = TICK  # s between two messages of a kind

Parameters = Sequence[float]
Answer = tuple[int, Sequence[Any]]  # MAV_RESULT, and further messages


class Autopilot:
    """A quadrotor with a MAVLink system id, a home, and a firmware to speak as; ``parameters``: see ``flight``."""

    def __init__(
        self,
        system: int = 1,
        firmware: Firmware = PX4,
        home: Home | None = None,
        vehicle: Quadrotor | None = None,
        parameters: Mapping[str, float] | None = None,
    ) -> None:
        self.system, self.home = system, home or Home()
        self.flight = Flight(vehicle or Quadrotor(), firmware, {**PARAMETERS, **(parameters or {})})
        self._passed = 0.0  # s
        self._intervals = {number: 1 / rate for number, (rate, _) in STREAMS.items() if rate}
        self._due = dict.fromkeys(self._intervals, 0.0)
        self._said: dict[str, float] = {}
        self._told = self._state

    @property
    def status(self) -> Status:
        """All that it tells."""
        flight = self.flight
        mode = flight.firmware.mode(flight.role)
        facts = flight.armed, flight.landed_state, flight.healthy, flight.body
        return Status(flight.time, self.home, flight.firmware, mode, *facts)

    @property
    def _state(self) -> tuple[str, bool]:
        return self.flight.role, self.flight.armed

    def advance(self, seconds: float) -> list[Any]:
        """Let time pass; gives the messages that are due meanwhile, in order."""
        sent: list[Any] = []
        self._passed += seconds
        while self.flight.ticks < int(self._passed / TICK + _ROUNDING):
            for text in self.flight.tick():
                sent += self._say(_WARNING if text.startswith("Failsafe") else _INFO, text)
            sent += [*self._changed(), *self._stream()]
        return sent

    def handle(self, message: Any) -> list[Any]:
        """Take a message from somebody else; gives the replies."""
        handler = _HANDLERS.get(message.get_type())
        system, component = getattr(message, "target_system", 0), getattr(message, "target_component", 0)
        if handler is None or system not in (0, self.system) or component not in (0, COMPONENT):
            return []
        return [*handler(self, message), *self._changed()]

    def _stream(self) -> Iterator[Any]:
        now = self.flight.time
        for number, interval in self._intervals.items():
            if now >= self._due[number]:
                self._due[number] = max(self._due[number] + interval, now)
                yield STREAMS[number][1](self.status)

    def _changed(self) -> Iterator[Any]:
        """A heartbeat at once when mode or arming changed."""
        if self._told != self._state:
            self._told = self._state
            yield STREAMS[HEARTBEAT][1](self.status)

    def _say(self, severity: int, text: str) -> Iterator[Any]:
        """A STATUSTEXT; the same text once a second at most."""
        now = self.flight.time
        if text and now - self._said.get(text, -1.0) >= 1.0:
            self._said[text] = now
            yield dialect().MAVLink_statustext_message(severity, text.encode()[:50])

    # Messages.

    def _on_heartbeat(self, message: Any) -> Iterator[Any]:
        if message.autopilot == _NOBODY:
            self.flight.heard_of_ground()
        yield from ()

    def _on_setpoint(self, message: Any) -> Iterator[Any]:
        if message.coordinate_frame != _LOCAL_NED or message.type_mask & _NO_POSITION:
            yield from self._on_other_setpoint(message)
        else:
            yield from self._say(_WARNING, self.flight.setpoint((message.y, message.x, -message.z)))

    def _on_other_setpoint(self, message: Any) -> Iterator[Any]:
        yield from self._say(_WARNING, "Setpoint refused: only positions in local NED")

    def _on_timesync(self, message: Any) -> Iterator[Any]:
        if message.tc1 == 0:
            yield dialect().MAVLink_timesync_message(int(self.flight.time * 1e9), message.ts1)

    def _on_mission_list(self, message: Any) -> Iterator[Any]:
        who = message.get_srcSystem(), message.get_srcComponent()
        yield dialect().MAVLink_mission_count_message(*who, 0, message.mission_type)

    def _on_parameter_list(self, message: Any) -> Iterator[Any]:
        yield from map(self._parameter, self.flight.parameters)

    def _on_parameter_read(self, message: Any) -> Iterator[Any]:
        names = list(self.flight.parameters)
        known = names[message.param_index : message.param_index + 1] if message.param_index >= 0 else [message.param_id]
        yield from (self._parameter(name) for name in known if name in names)

    def _on_parameter_set(self, message: Any) -> Iterator[Any]:
        name, value = message.param_id, message.param_value
        if name in self.flight.parameters:
            if isfinite(value) and value > 0:
                self.flight.parameters[name] = value
            yield self._parameter(name)  # as it is now, which says whether it was taken

    def _parameter(self, name: str) -> Any:
        names = list(self.flight.parameters)
        value, place = self.flight.parameters[name], names.index(name)
        return dialect().MAVLink_param_value_message(name.encode(), value, _FLOAT, len(names), place)

    # Commands.

    def _on_command(self, message: Any) -> Iterator[Any]:
        self.flight.heard_of_ground()
        given = [message.param1, message.param2, message.param3, message.param4]
        if message.get_type() == "COMMAND_INT":
            given += [message.x / 1e7, message.y / 1e7, message.z]
        else:
            given += [message.param5, message.param6, message.param7]
        command = _COMMANDS.get(message.command)
        result, more = command(self, given) if command is not None else (_UNSUPPORTED, ())
        who = message.get_srcSystem(), message.get_srcComponent()
        yield dialect().MAVLink_command_ack_message(message.command, result, 0, 0, *who)
        yield from more

    def _answer(self, refusal: str, result: int = _REJECTED) -> Answer:
        """What became of a request to the flight; a refusal is said, too."""
        return (result, list(self._say(_WARNING, refusal))) if refusal else (_ACCEPTED, ())

    def _arm(self, given: Parameters) -> Answer:
        if given[0] not in (0, 1):
            return _DENIED, ()
        return self._answer(self.flight.arm() if given[0] else self.flight.disarm(force=given[1] == _FORCE))

    def _take_off(self, given: Parameters) -> Answer:
        """PX4 counts the height from the sea and has one of its own; ArduPilot counts from home."""
        by_itself = not isfinite(given[6])
        height = given[6] - (self.home.altitude if self.flight.firmware is PX4 else 0.0)
        return self._answer(self.flight.take_off(self.flight.parameters["MIS_TAKEOFF_ALT"] if by_itself else height))

    def _set_mode(self, given: Parameters) -> Answer:
        if not (isfinite(given[1]) and isfinite(given[2])):
            return _DENIED, ()
        role = self.flight.firmware.role(self.flight.firmware.asked(given[1], given[2]))
        if role is None or not int(given[0] if isfinite(given[0]) else 0) & 1:
            return _UNSUPPORTED, ()
        return self._answer(self.flight.set_mode(role))

    def _reposition(self, given: Parameters) -> Answer:
        _, _, _, _, latitude, longitude, altitude = given
        try:
            x, y = self.home.in_metres(longitude, latitude)
        except InputError:
            x = y = nan
        height = altitude - self.home.altitude if isfinite(altitude) else self.flight.body.place[2]
        return self._answer(self.flight.go_to((x, y, max(height, 0.0))))

    def _request_message(self, given: Parameters) -> Answer:
        stream = STREAMS.get(int(given[0])) if isfinite(given[0]) else None
        return (_UNSUPPORTED, ()) if stream is None else (_ACCEPTED, [stream[1](self.status)])

    def _set_interval(self, given: Parameters) -> Answer:
        """Microseconds between two messages; 0 as at the start, less than 0 never."""
        number = int(given[0]) if isfinite(given[0]) else -1
        if number not in STREAMS or not isfinite(given[1]):
            return _UNSUPPORTED, ()
        self._intervals.pop(number, None)
        rate = STREAMS[number][0]
        if given[1] > 0 or (given[1] == 0 and rate):
            self._intervals[number] = max(given[1] / 1e6, _FASTEST) if given[1] > 0 else 1 / rate
            self._due[number] = self.flight.time
        return _ACCEPTED, ()


_HANDLERS: dict[str, Callable[[Autopilot, Any], Iterator[Any]]] = {
    "HEARTBEAT": Autopilot._on_heartbeat,
    "COMMAND_LONG": Autopilot._on_command,
    "COMMAND_INT": Autopilot._on_command,
    "SET_POSITION_TARGET_LOCAL_NED": Autopilot._on_setpoint,
    "SET_POSITION_TARGET_GLOBAL_INT": Autopilot._on_other_setpoint,
    "SET_ATTITUDE_TARGET": Autopilot._on_other_setpoint,
    "TIMESYNC": Autopilot._on_timesync,
    "MISSION_REQUEST_LIST": Autopilot._on_mission_list,
    "PARAM_REQUEST_LIST": Autopilot._on_parameter_list,
    "PARAM_REQUEST_READ": Autopilot._on_parameter_read,
    "PARAM_SET": Autopilot._on_parameter_set,
}

_COMMANDS: dict[int, Callable[[Autopilot, Parameters], Answer]] = {
    20: lambda autopilot, _: autopilot._answer(autopilot.flight.set_mode("return")),  # NAV_RETURN_TO_LAUNCH
    21: lambda autopilot, _: autopilot._answer(autopilot.flight.set_mode("land")),  # NAV_LAND
    22: Autopilot._take_off,  # NAV_TAKEOFF
    176: Autopilot._set_mode,  # DO_SET_MODE
    192: Autopilot._reposition,  # DO_REPOSITION
    400: Autopilot._arm,  # COMPONENT_ARM_DISARM
    511: Autopilot._set_interval,  # SET_MESSAGE_INTERVAL
    512: Autopilot._request_message,  # REQUEST_MESSAGE
    520: lambda autopilot, _: autopilot._request_message([148.0]),  # REQUEST_AUTOPILOT_CAPABILITIES
}
