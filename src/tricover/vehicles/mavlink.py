"""A real multicopter, flown through its autopilot by MAVLink: PX4 in OFFBOARD mode, ArduPilot in GUIDED mode.

One address, one agent. ``begin`` waits until the autopilot is healthy, takes control, arms and climbs to ``altitude``;
``drive`` has it follow the middle of the reach set for ``duration`` seconds of real time, at that altitude, and gives
back what the autopilot then reports; ``finish`` lands it, ``go_home`` sends it back first. Between drives the last
setpoint is repeated, or PX4 would leave OFFBOARD. A process that ends while its vehicle flies sends it home.

Frames: our plane has x east and y north, in metres; the autopilot's local frame has north, east and down from an origin
of its own. The two are joined where the vehicle stands when it begins: there the autopilot's local position is the
agent's start. Nothing turns: both know where north is. Heights count from where it stands then.

    north = y - y_start + north_start,   east = x - x_start + east_start,   down = down_start - height

A state is x, y, height and their speeds, as reported. The vehicle itself holds constants only; ``_LINKS`` is the cache
of open connections of this process, by the vehicles that they belong to.

Control is never taken back: once the autopilot leaves our mode or disarms, by its own failsafes or by the pilot's hand,
setpoints stop and a ``TakenOverError`` says so.
"""

import atexit
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tricover.errors import AutopilotError, InputError, TakenOverError, shown
from tricover.vehicles.flight_modes import PX4
from tricover.vehicles.limits import require_positive
from tricover.vehicles.link import Link
from tricover.vehicles.protocol import Floats, Landing, middles, placed, ready
from tricover.vehicles.wire import dialect, read_key

__all__ = ["Frame", "Mavlink"]

_BEFORE_OFFBOARD = 1.0  # s of setpoints that PX4 wants to see before it goes into OFFBOARD mode
_LEAST_RATE = 2.0  # Hz: with fewer setpoints PX4 leaves that mode
_ANSWERED = 2.0  # s for an answer that can be done without
_ON_GROUND = 1  # MAV_LANDED_STATE_ON_GROUND
_WANTED = {1: 2.0, 32: 20.0, 245: 2.0}  # Hz of SYS_STATUS, LOCAL_POSITION_NED, EXTENDED_SYS_STATE
_MOST_SYSTEM = 255


class Frame(NamedTuple):
    """Where our plane and the autopilot's local frame meet: metres to add to east, north and height."""

    x: float
    y: float
    height: float

    @classmethod
    def joined(cls, start: ArrayLike, local: tuple[float, ...]) -> "Frame":
        """The frames of a vehicle that stands at ``start`` (2,), and at north, east, down in its local frame."""
        x, y = np.asarray(start, dtype=np.float64).tolist()
        return cls(x - local[1], y - local[0], local[2])

    def to_local(self, x: float, y: float, height: float) -> tuple[float, float, float]:
        """North, east and down of a place.

        >>> Frame(10.0, 20.0, 0.5).to_local(11.0, 22.0, 3.0)
        (2.0, 1.0, -2.5)
        """
        return y - self.y, x - self.x, self.height - height

    def to_state(self, local: tuple[float, ...]) -> Floats:
        """A state (1, 6) from north, east, down and their speeds."""
        north, east, down, v_north, v_east, v_down = local
        return np.array([[east + self.x, north + self.y, self.height - down, v_east, v_north, -v_down]])


@dataclass(frozen=True)
class Mavlink:
    """An autopilot at an address: altitude (m), rate of setpoints (Hz), arrival (m), patience (s), file with a key.

    Args:
        address: of pymavlink, such as "udpin:127.0.0.1:14540", "tcp:127.0.0.1:5760" or "/dev/ttyACM0".
        altitude: metres above where it stands.
        system: MAVLink id of the autopilot; 0: the first that is heard.
        own_system: our own id.
        rate: setpoints a second.
        tolerance: metres from its altitude within which it has arrived there.
        patience: seconds to wait for each of: the autopilot, its health, its mode, its arming, its altitude.
        key: file with the key of MAVLink 2 signing; empty: nothing is signed.
    """

    address: str = "udpin:127.0.0.1:14540"
    altitude: float = 5.0
    system: int = 0
    own_system: int = 245
    rate: float = 20.0
    tolerance: float = 0.3
    patience: float = 30.0
    key: str = ""

    kind: ClassVar[str] = "mavlink"
    state_size: ClassVar[int] = 6
    landing: ClassVar[Landing] = "anywhere"

    def __post_init__(self) -> None:
        require_positive(self.kind, "m", altitude=self.altitude, tolerance=self.tolerance)
        require_positive(self.kind, "s", patience=self.patience)
        require_positive(self.kind, "Hz", rate=self.rate)
        if self.rate <= _LEAST_RATE:
            raise InputError(f"vehicle {self.kind!r}: rate must be above {_LEAST_RATE:g} Hz, not {self.rate:g}")
        for name, least in (("system", 0), ("own_system", 1)):
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= _MOST_SYSTEM:
                raise InputError(
                    f"vehicle {self.kind!r}: {name} must be a whole number from {least} to {_MOST_SYSTEM}, "
                    f"not {shown(value)}"
                )
        for name in ("address", "key"):
            if not isinstance(getattr(self, name), str):
                raise InputError(f"vehicle {self.kind!r}: {name} must be text, not {shown(getattr(self, name))}")
        if not self.address:
            raise InputError(f"vehicle {self.kind!r}: address must not be empty, such as 'udpin:127.0.0.1:14540'")

    def initial_state(self, positions: ArrayLike) -> Floats:
        """States (agents, 6), on the ground; nothing is flown yet."""
        points = placed(positions)
        return np.hstack([points, np.zeros((len(points), 4))])

    def output(self, states: Floats) -> Floats:
        """Ground positions (agents, 2)."""
        return states[:, :2].copy()

    def begin(self, states: Floats) -> Floats:
        """Connect, take control, arm and climb; the state (1, 6) as reported when it is up."""
        self._check_alone(states)
        [start] = placed(states[:, :2])
        if self in _LINKS:
            raise InputError(f"vehicle {self.kind!r}: {self.address} has begun already")
        link = _connected(self)
        try:
            frame = _take_off(self, link, start)
        except BaseException:
            _let_go(link, "land")
            raise
        _LINKS[self] = link, frame
        return frame.to_state(link.where())

    def drive(self, states: Floats, reach_sets: Floats, duration: float, draws: Floats) -> Floats:
        """The state reported after ``duration`` seconds of flight towards the middle of the reach set."""
        states, corners = ready(self, states, reach_sets, duration)
        if not len(states):
            return states.copy()
        self._check_alone(states)
        if self not in _LINKS:
            self.begin(states)
        link, frame = _LINKS[self]
        x, y = middles(corners)[0].tolist()
        link.aim(frame.to_local(x, y, self.altitude))
        link.sleep(duration)
        return frame.to_state(link.where())

    def finish(self) -> None:
        """Land here, wait until it is disarmed, and close the connection; nothing if it has not begun."""
        self._come_down("land")

    def go_home(self) -> None:
        """Return to launch, or land where it is if that is refused; then as ``finish``."""
        self._come_down("return")

    def _come_down(self, role: str) -> None:
        if self not in _LINKS:
            return
        link, _ = _LINKS[self]
        try:
            _bring_down(link, role, self.patience)
        finally:
            if not link.follows:  # else it refused, hovers, and can be asked again
                _LINKS.pop(self)
                link.close()

    def _check_alone(self, states: Floats) -> None:
        if len(states) != 1:
            raise InputError(
                f"vehicle {self.kind!r}: {self.address} is the address of one agent, not of {len(states)}: write a "
                "[[vehicle.others]] with agents = [i] and an address of its own for each"
            )


_LINKS: dict[Mavlink, tuple[Link, Frame]] = {}
"""Cache: the open connections of this process, and where their frames meet."""


def _connected(vehicle: Mavlink) -> Link:
    if any(other.address == vehicle.address for other in _LINKS):
        raise InputError(
            f"vehicle {vehicle.kind!r}: {vehicle.address} is in use: each agent needs an address of its own"
        )
    key = read_key(vehicle.key)
    return Link(vehicle.kind, vehicle.address, vehicle.system, vehicle.own_system, vehicle.rate, key)


def _take_off(vehicle: Mavlink, link: Link, start: Floats) -> Frame:
    """Arm an autopilot that is ready, and climb."""
    common, patience = dialect(), vehicle.patience
    ground = _ready_to_arm(vehicle, link)
    frame = Frame.joined(start, ground)
    x, y = start.tolist()
    above = frame.to_local(x, y, vehicle.altitude)
    by_setpoint = link.the_firmware is PX4
    if by_setpoint:
        link.aim((ground[0], ground[1], ground[2]))
        link.wait(lambda: link.setpoints >= _BEFORE_OFFBOARD * vehicle.rate, patience, "setpoints to be sent")
    link.set_mode("guided", patience)
    link.command(common.MAV_CMD_COMPONENT_ARM_DISARM, 1.0, seconds=patience, what="to arm")
    link.wait(lambda: link.armed, patience, "it to arm")
    link.on_disarming("lose")
    if by_setpoint:
        link.aim(above)
    else:
        height = [0.0] * 6 + [vehicle.altitude]
        link.command(common.MAV_CMD_NAV_TAKEOFF, *height, seconds=patience, what="to take off")
    is_up = f"a height of {vehicle.altitude:g} m"
    link.wait(lambda: abs(link.where()[2] - above[2]) <= vehicle.tolerance, patience, is_up)
    link.aim(above)
    return frame


def _ready_to_arm(vehicle: Mavlink, link: Link) -> tuple[float, ...]:
    """Wait until an autopilot is heard, healthy and knows its place; gives that."""
    link.wait(lambda: link.firmware is not None, vehicle.patience, f"a heartbeat at {vehicle.address}")
    for message, rate in _WANTED.items():
        with suppress(AutopilotError):  # it may have rates of its own; what is missing is told below
            command, interval = dialect().MAV_CMD_SET_MESSAGE_INTERVAL, 1e6 / rate
            link.command(command, message, interval, seconds=_ANSWERED, what="a rate of messages")
    is_ready = "it to be ready to arm, with a local position"
    link.wait(lambda: link.healthy and link.fresh(), vehicle.patience, is_ready)
    if link.armed:
        raise AutopilotError(vehicle.kind, [0], "is armed already, and somebody may fly it: disarm it first")
    return link.where()


def _bring_down(link: Link, role: str, patience: float) -> None:
    """Land, or return first, and wait until the autopilot has disarmed."""
    link.on_disarming("end")
    try:
        _descend(link, role, patience)
    except AutopilotError:
        link.on_disarming("lose")  # it hovers, and follows
        raise
    link.aim(None)
    link.wait(lambda: link.landed == _ON_GROUND or not link.armed, inf, "it to land")
    link.wait(lambda: not link.armed, patience, "it to disarm")


def _descend(link: Link, role: str, patience: float) -> None:
    """Change to the mode of a role; where a return is refused, as it knows no home, to that of landing."""
    try:
        link.set_mode(role, patience, "land")
    except TakenOverError:
        raise
    except AutopilotError:
        if role == "land":
            raise
        link.set_mode("land", patience)


def _let_go(link: Link, role: str) -> None:
    """Close a link; an autopilot that still follows it is told to come down, but not waited for."""
    with suppress(AutopilotError):
        if link.follows:
            link.set_mode(role, _ANSWERED, "land")
    link.close()


@atexit.register
def _let_go_of_all() -> None:
    while _LINKS:
        _, (link, _) = _LINKS.popitem()
        _let_go(link, "return")
