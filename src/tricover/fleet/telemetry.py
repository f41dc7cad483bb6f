"""What our autopilot tells of itself, message by message, in MAVLink's units and frames.

MAVLink's world has north, east and down, its body forward, right and down; ours has east, north, up and forward, left,
up. So north, east, down are (y, x, -z), roll keeps its sense, and pitch and yaw turn the other way round. Places on
earth come from the local plane around home, heights from the ground there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import asin, atan2, degrees, hypot
from typing import Any

import numpy as np

from tricover.errors import InputError
from tricover.fleet.body import Body, Goal
from tricover.formats import Projection
from tricover.vehicles.flight_modes import Firmware
from tricover.vehicles.wire import dialect

__all__ = ["HEARTBEAT", "STREAMS", "Home", "Status", "attitude", "version"]

_QUADROTOR = 2  # MAV_TYPE_QUADROTOR
_ARMABLE = 0x10000000  # MAV_SYS_STATUS_PREARM_CHECK
_HEALTH = 0x20202F | _ARMABLE  # and gyro, accelerometer, compass, barometer, GPS, control of height, attitude
_CUSTOM, _ARMED, _GUIDED, _STABILIZED = 1, 128, 8, 16  # MAV_MODE_FLAG
_CAPABILITIES = 2 | 8 | 128 | 8192  # MAV_PROTOCOL_CAPABILITY: float parameters, COMMAND_INT, local setpoints, MAVLink 2
_VERSION = 1 << 24 | 15 << 16 | 255  # 1.15.0, a release: what clients may expect of the protocol
_HIGHEST = 10_000.0  # m
_FASTEST = 32_767  # of 16-bit fields


@dataclass(frozen=True)
class Home:
    """Where an autopilot was switched on: degrees, and metres above sea level."""

    longitude: float = 8.545594
    latitude: float = 47.397742
    altitude: float = 488.0

    def __post_init__(self) -> None:
        if not abs(self.altitude) <= _HIGHEST:
            raise InputError(f"home must be within {_HIGHEST:g} m of the level of the sea, not at {self.altitude:g} m")
        Projection.at((self.longitude, self.latitude))

    def moved(self, east: float) -> "Home":
        """A home so many metres further east."""
        longitude, latitude = self.plane.to_degrees([[east, 0.0]])[0].tolist()
        return Home(longitude, latitude, self.altitude)

    @property
    def plane(self) -> Projection:
        """The local plane around home."""
        return Projection.at((self.longitude, self.latitude))

    def on_earth(self, east: float, north: float) -> tuple[int, int]:
        """Latitude and longitude in units of 1e-7 degrees."""
        longitude, latitude = self.plane.to_degrees([[east, north]])[0].tolist()
        return round(latitude * 1e7), round(longitude * 1e7)

    def in_metres(self, longitude: float, latitude: float) -> tuple[float, float]:
        """Metres east and north of home."""
        east, north = self.plane.to_metres([[longitude, latitude]])[0].tolist()
        return east, north


@dataclass(frozen=True, eq=False)
class Status:
    """All that is told of an autopilot at one moment."""

    time: float  # s since it was switched on
    home: Home
    firmware: Firmware
    mode: int
    armed: bool
    landed_state: int
    healthy: bool
    body: Body

    @property
    def milliseconds(self) -> int:
        """Time in 32 bits."""
        return int(self.time * 1000) & 0xFFFFFFFF

    @property
    def microseconds(self) -> int:
        """Time in 64 bits."""
        return int(self.time * 1e6)

    @property
    def speeds(self) -> Goal:
        """Metres per second north, east and down."""
        east, north, up = self.body.state[0, 3:6].tolist()
        return north, east, -up


def heartbeat(status: Status) -> Any:
    """HEARTBEAT."""
    base = _CUSTOM | _STABILIZED | _GUIDED | (_ARMED if status.armed else 0)
    state = 4 if status.armed else 3  # MAV_STATE: active, or standby
    return dialect().MAVLink_heartbeat_message(_QUADROTOR, status.firmware.autopilot, base, status.mode, state, 3)


def health(status: Status) -> Any:
    """SYS_STATUS: all sensors there are; a battery that is full."""
    healthy = _HEALTH if status.healthy else _HEALTH & ~_ARMABLE
    return dialect().MAVLink_sys_status_message(_HEALTH, _HEALTH, healthy, 100, 16_000, -1, 100, 0, 0, 0, 0, 0, 0)


def local_position(status: Status) -> Any:
    """LOCAL_POSITION_NED, from home."""
    x, y, z = status.body.place
    return dialect().MAVLink_local_position_ned_message(status.milliseconds, y, x, -z, *status.speeds)


def global_position(status: Status) -> Any:
    """GLOBAL_POSITION_INT."""
    x, y, z = status.body.place
    *_, yaw = attitude(status.body)
    return dialect().MAVLink_global_position_int_message(
        status.milliseconds,
        *status.home.on_earth(x, y),
        round((status.home.altitude + z) * 1000),
        round(z * 1000),
        *(_small(100 * speed) for speed in status.speeds),
        round(degrees(yaw) * 100) % 36_000,
    )


def satellites(status: Status) -> Any:
    """GPS_RAW_INT: a fix in three dimensions, of ten satellites."""
    x, y, z = status.body.place
    north, east, _ = status.speeds
    course = round(degrees(atan2(east, north)) * 100) % 36_000
    return dialect().MAVLink_gps_raw_int_message(
        status.microseconds,
        3,
        *status.home.on_earth(x, y),
        round((status.home.altitude + z) * 1000),
        100,
        100,
        _small(100 * hypot(north, east)),
        course,
        10,
    )


def attitude(body: Body) -> tuple[float, float, float]:
    """Roll, pitch and yaw in MAVLink's frames, in radians; yaw counts from north to the east."""
    x, y, z, w = body.state[0, 6:10].tolist()
    forward = (1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w))  # of the body, seen east, north, up
    left_up, up_up = 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)
    return atan2(left_up, up_up), asin(max(-1.0, min(1.0, forward[2]))), atan2(forward[0], forward[1])


def turning(status: Status) -> Any:
    """ATTITUDE."""
    p, q, r = status.body.state[0, 10:13].tolist()
    return dialect().MAVLink_attitude_message(status.milliseconds, *attitude(status.body), p, -q, -r)


def landed(status: Status) -> Any:
    """EXTENDED_SYS_STATE."""
    return dialect().MAVLink_extended_sys_state_message(0, status.landed_state)


def home_position(status: Status) -> Any:
    """HOME_POSITION."""
    place = *status.home.on_earth(0.0, 0.0), round(status.home.altitude * 1000)
    upright = [1.0, 0.0, 0.0, 0.0]
    return dialect().MAVLink_home_position_message(*place, 0, 0, 0, upright, 0, 0, 0, status.microseconds)


def instruments(status: Status) -> Any:
    """VFR_HUD."""
    north, east, down = status.speeds
    speed, heading = hypot(north, east), round(degrees(attitude(status.body)[2])) % 360
    height = status.home.altitude + status.body.place[2]
    return dialect().MAVLink_vfr_hud_message(speed, speed, heading, 50 if status.body.flies else 0, height, -down)


def version(status: Status) -> Any:
    """AUTOPILOT_VERSION."""
    return dialect().MAVLink_autopilot_version_message(
        _CAPABILITIES, _VERSION, 0, 0, 0, [0] * 8, [0] * 8, [0] * 8, 0, 0, 0
    )


def _small(value: float) -> int:
    return int(np.clip(round(value), -_FASTEST, _FASTEST))


HEARTBEAT = 0
STREAMS: dict[int, tuple[float, Callable[[Status], Any]]] = {
    HEARTBEAT: (1.0, heartbeat),
    1: (2.0, health),
    24: (5.0, satellites),
    30: (10.0, turning),
    32: (20.0, local_position),
    33: (10.0, global_position),
    74: (4.0, instruments),
    148: (0.0, version),
    242: (0.5, home_position),
    245: (2.0, landed),
}
"""By their message ids: how often they are sent, in Hz (0: when asked for), and what makes them."""
