"""A link to one autopilot: what it last said, commands that it must answer, and a setpoint that is repeated.

One thread hears the autopilot, sends our HEARTBEAT once a second and repeats the last setpoint, so that the autopilot
goes on following while its agent thinks. Whoever uses the link waits for facts, and every wait ends: with the fact,
with an error after so many seconds, when the autopilot is silent, or when it leaves our control. In that last case the
thread itself stops the setpoints, at once, and nothing takes control back.

Numbers that are not finite are never believed: such a message counts as not sent.
"""

from collections import deque
from collections.abc import Callable
from importlib import import_module
from math import isfinite
from threading import Condition, Thread
from time import monotonic
from typing import Any, Literal, NoReturn

from tricover.errors import AutopilotError, InputError, TakenOverError, shown
from tricover.vehicles.flight_modes import FIRMWARES, Firmware
from tricover.vehicles.wire import Codec, dialect

__all__ = ["SILENCE", "Link"]

SILENCE = 5.0  # s without a word after which an autopilot counts as gone; it sends a heartbeat every second
_STALL = 0.5  # s that count at most if this process stood still: what was said meanwhile is still to be read
_AGAIN = 1.0  # s after which a command that is not answered is sent again
_TEXTS = 3  # last texts of the autopilot that an error shows
_COMPONENT, _AUTOPILOT = 191, 1  # MAV_COMP_ID_ONBOARD_COMPUTER, MAV_COMP_ID_AUTOPILOT1
_ONLY_POSITION = 0b1101_1111_1000  # POSITION_TARGET_TYPEMASK: no velocity, acceleration, yaw
_NOT_FINISHED = 5  # MAV_RESULT_IN_PROGRESS
_WARNING = 4  # MAV_SEVERITY_WARNING; lower numbers are worse


class Link:
    """An open connection to one autopilot; ``kind`` is the vehicle's, for errors."""

    def __init__(self, kind: str, address: str, system: int, own: int, rate: float, key: bytes | None) -> None:
        self._common, self._kind = dialect(), kind
        self._codec = Codec(own, _COMPONENT, key)
        self._port, self._whole = _opened(address, own), address.startswith("udp")
        self._own, self._period = own, 1 / rate
        self._changed = Condition()  # guards all that follows
        self.system = system  # 0: the first that is heard
        self.firmware: Firmware | None = None
        self.mode, self.armed, self.healthy, self.landed = -1, False, False, 0
        self.position: tuple[float, ...] | None = None  # LOCAL_POSITION_NED: north, east, down, and their speeds
        self._position_at = self._heard_at = self._started = monotonic()
        self._quiet = 0.0  # s without a word
        self._allowed: frozenset[int] | None = None  # modes in which we have control; None: we have none
        self._on_disarming = "nothing"  # to be done when it disarms: "nothing", "lose" control, "end" our watch
        self._answers: dict[int, int] = {}
        self._texts: deque[str] = deque(maxlen=_TEXTS)
        self._setpoint: tuple[float, float, float] | None = None
        self.setpoints = 0  # that were sent
        self._lost: AutopilotError | None = None
        self._open = True
        self._thread = Thread(target=self._run, name=f"MAVLink {address}", daemon=True)
        self._thread.start()

    # Asking.

    def wait(self, fact: Callable[[], bool], seconds: float, what: str) -> None:
        """Wait until a fact is true; else an error says what was waited for, and what the autopilot said last."""
        end = monotonic() + seconds
        with self._changed:
            while True:
                self._check()
                if fact():
                    return
                left = end - monotonic()
                if left <= 0:
                    self._fail(f"waited {seconds:g} s for {what}")
                self._changed.wait(min(left, 0.1))

    def sleep(self, seconds: float) -> None:
        """Let the autopilot follow for so long; an error if control is lost meanwhile."""
        end = monotonic() + seconds
        with self._changed:
            while (left := end - monotonic()) > 0:
                self._check()
                self._changed.wait(min(left, 0.1))
            self._check()

    def command(self, number: int, *parameters: float, seconds: float, what: str) -> None:
        """Send a command until it is answered; an error names the command and why it was refused."""
        common, again, tries = self._common, 0.0, 0
        end = monotonic() + seconds
        with self._changed:
            self._answers.pop(number, None)
            while (answer := self._answers.get(number, _NOT_FINISHED)) == _NOT_FINISHED:
                self._check()
                now = monotonic()
                if now >= end:
                    self._fail(f"gave no answer to {what} for {seconds:g} s")
                if now >= again and number not in self._answers:
                    filled = [*parameters, *[0.0] * (7 - len(parameters))]
                    self._send(common.MAVLink_command_long_message(self.system, _AUTOPILOT, number, tries, *filled))
                    again, tries = now + _AGAIN, min(tries + 1, 255)
                self._changed.wait(min(end - now, 0.1))
            if answer != common.MAV_RESULT_ACCEPTED:
                name = common.enums["MAV_RESULT"].get(answer)
                reason = name.name.removeprefix("MAV_RESULT_") if name else str(answer)
                self._fail(f"refused {what} ({reason})")

    def set_mode(self, role: str, seconds: float, *then: str) -> None:
        """Ask for the mode of a role, and wait until the autopilot is in it.

        From then on any other mode is a loss of control, but those that come ``then`` by themselves.
        """
        firmware = self.the_firmware
        wanted = firmware.mode(role)
        with self._changed:
            before = self._allowed
            self._allowed = None if before is None else before | {wanted}
        name = f"mode {firmware.mode_name(wanted)}"
        try:
            self.command(self._common.MAV_CMD_DO_SET_MODE, 1.0, *firmware.parameters(role), seconds=seconds, what=name)
            self.wait(lambda: self.mode == wanted, seconds, name)
        except AutopilotError:
            self._allowed = before
            raise
        self._allowed = frozenset(map(firmware.mode, (role, *then)))

    def on_disarming(self, what: Literal["lose", "end"]) -> None:
        """What it means when the autopilot disarms: a loss of control in flight, the end of it after a landing."""
        with self._changed:
            self._on_disarming = what

    def aim(self, setpoint: tuple[float, float, float] | None) -> None:
        """Repeat this setpoint from now on: metres north, east and down; None: no more of them."""
        if setpoint is not None and not all(map(isfinite, setpoint)):
            raise InputError(f"vehicle {self._kind!r}: a setpoint must be finite, not {setpoint}")
        with self._changed:
            self._check()
            self._setpoint = setpoint

    def close(self) -> None:
        """End the thread and close the connection."""
        with self._changed:
            self._open, self._setpoint = False, None
        self._thread.join()
        self._port.close()

    @property
    def the_firmware(self) -> Firmware:
        """The firmware, once a heartbeat said it."""
        if self.firmware is None:
            self._fail("has not been heard yet")
        return self.firmware

    @property
    def follows(self) -> bool:
        """Whether the autopilot is armed and follows our setpoints; not one that lands or returns."""
        ours = self._lost is None and self._allowed is not None and self.firmware is not None
        return ours and self.armed and self.mode == self.the_firmware.mode("guided")

    def fresh(self) -> bool:
        """Whether there is a position, and not ``SILENCE`` older than the last word."""
        return self.position is not None and self._heard_at - self._position_at < SILENCE

    def where(self) -> tuple[float, ...]:
        """The last LOCAL_POSITION_NED; an error if there is none or it is old."""
        if self.position is None or not self.fresh():
            self._fail("does not say where it is")
        return self.position

    def _check(self) -> None:
        if self._lost is not None:
            raise self._lost

    def _fail(self, why: str) -> NoReturn:
        raise self._error(AutopilotError, why)

    def _error(self, kind: type[AutopilotError], why: str) -> AutopilotError:
        said = "; ".join(self._texts)
        return kind(self._kind, [0], why + (f": it said {said!r}" if said else ""))

    def _lose(self, kind: type[AutopilotError], why: str) -> None:
        """Stop the setpoints for good."""
        self._setpoint = None
        self._lost = self._lost or self._error(kind, why)
        self._changed.notify_all()

    # The thread.

    def _run(self) -> None:
        now = heartbeat = setpoint = monotonic()
        while self._open:
            try:
                self._port.select(self._period / 2)
                data = self._port.recv(4096)
                with self._changed:
                    before, now = now, monotonic()
                    self._quiet += min(now - before, _STALL)
                    if data:
                        self._hear(data)
                    if self.firmware is not None and self._quiet > SILENCE:
                        self._lose(AutopilotError, f"has been silent for {SILENCE:g} s")
                    if now >= heartbeat:
                        self._send(self._common.MAVLink_heartbeat_message(18, 8, 0, 0, 4, 3))  # an onboard computer
                        heartbeat = now + 1.0
                    if self._setpoint is not None and now >= setpoint:
                        self._send_setpoint(*self._setpoint)
                        setpoint = max(setpoint + self._period, now)
            except OSError as error:
                with self._changed:
                    self._lose(AutopilotError, f"cannot be reached: {error.strerror or error}")
                return

    def _send(self, message: Any) -> None:
        self._port.write(self._codec.pack(message))

    def _send_setpoint(self, north: float, east: float, down: float) -> None:
        self.setpoints += 1
        self._changed.notify_all()
        common, boot = self._common, int((monotonic() - self._started) * 1000) & 0xFFFFFFFF
        self._send(
            common.MAVLink_set_position_target_local_ned_message(
                boot, self.system, _AUTOPILOT, common.MAV_FRAME_LOCAL_NED, _ONLY_POSITION,
                north, east, down, 0, 0, 0, 0, 0, 0, 0, 0,
            )
        )  # fmt: skip

    def _hear(self, data: bytes) -> None:
        for message in self._codec.read(data, self._whole):
            if message.get_srcComponent() != _AUTOPILOT or message.get_srcSystem() == self._own:
                continue
            if not self.system and message.get_type() == "HEARTBEAT":
                self.system = message.get_srcSystem()
            if message.get_srcSystem() == self.system:
                self._heard_at, self._quiet = monotonic(), 0.0
                hear = _HEARD.get(message.get_type())
                if hear is not None:
                    hear(self, message)
        self._changed.notify_all()

    def _hear_heartbeat(self, message: Any) -> None:
        self.firmware = FIRMWARES.get(message.autopilot)
        if self.firmware is None:
            self._lose(AutopilotError, f"is neither PX4 nor ArduPilot (MAV_AUTOPILOT {message.autopilot})")
            return
        self.mode = message.custom_mode
        self.armed = bool(message.base_mode & self._common.MAV_MODE_FLAG_SAFETY_ARMED)
        if not self.armed and self._on_disarming == "end":
            self._allowed = None  # what mode it goes to after a landing is its own affair
        elif not self.armed and self._on_disarming == "lose":
            self._lose(TakenOverError, "disarmed, by itself or by its pilot: control is not taken back")
        elif self._allowed is not None and self.mode not in self._allowed:
            name = self.firmware.mode_name(self.mode)
            self._lose(TakenOverError, f"changed to mode {name}, by itself or by its pilot: control is not taken back")

    def _hear_position(self, message: Any) -> None:
        numbers = (message.x, message.y, message.z, message.vx, message.vy, message.vz)
        if all(map(isfinite, numbers)):
            self.position, self._position_at = numbers, monotonic()

    def _hear_health(self, message: Any) -> None:
        armable = self._common.MAV_SYS_STATUS_PREARM_CHECK
        needed = (
            armable if message.onboard_control_sensors_present & armable else message.onboard_control_sensors_enabled
        )
        self.healthy = message.onboard_control_sensors_health & needed == needed

    def _hear_landed(self, message: Any) -> None:
        self.landed = message.landed_state

    def _hear_answer(self, message: Any) -> None:
        if message.target_system in (0, self._own):
            self._answers[message.command] = message.result

    def _hear_text(self, message: Any) -> None:
        if message.severity <= _WARNING:
            self._texts.append(message.text)


_HEARD: dict[str, Callable[[Link, Any], None]] = {
    "HEARTBEAT": Link._hear_heartbeat,
    "LOCAL_POSITION_NED": Link._hear_position,
    "SYS_STATUS": Link._hear_health,
    "EXTENDED_SYS_STATE": Link._hear_landed,
    "COMMAND_ACK": Link._hear_answer,
    "STATUSTEXT": Link._hear_text,
}


def _opened(address: str, own: int) -> Any:
    """Pymavlink's connection of an address, of which only bytes are asked."""
    try:
        return import_module("pymavlink.mavutil").mavlink_connection(address, source_system=own)
    except (OSError, ValueError, ImportError) as error:  # no such port or host; no such address; no serial library
        raise InputError(f"MAVLink address {shown(address)} cannot be opened: {error}") from None
