"""Flight modes of PX4 and ArduPilot as HEARTBEAT carries them: one number, ``custom_mode``.

PX4 packs a main mode into the third byte and, for its automatic modes, a sub mode into the fourth
(``px4_custom_mode.h``). ArduPilot numbers the modes of a copter (``Mode::Number``). To set a mode, DO_SET_MODE carries
the two PX4 bytes, or ArduPilot's number, as its second and third parameter.

A role says what a mode is for, whatever the firmware calls it: "guided" follows setpoints from outside, "hold" stays.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["ARDUPILOT", "FIRMWARES", "PX4", "Firmware"]


def _px4(main: int, sub: int = 0) -> int:
    return main << 16 | sub << 24


@dataclass(frozen=True, eq=False)
class Firmware:
    """A kind of autopilot: its MAV_AUTOPILOT number, its modes by name, and which mode has which role."""

    name: str
    autopilot: int
    modes: Mapping[str, int]
    roles: Mapping[str, str]

    def mode(self, role: str) -> int:
        """The ``custom_mode`` of a role."""
        return self.modes[self.roles[role]]

    def role(self, custom_mode: int) -> str | None:
        """The role of a ``custom_mode``; None where it has none."""
        return next((role for role in self.roles if self.mode(role) == custom_mode), None)

    def mode_name(self, custom_mode: int) -> str:
        """The firmware's own name of a mode.

        >>> PX4.mode_name(6 << 16), ARDUPILOT.mode_name(4), ARDUPILOT.mode_name(99)
        ('OFFBOARD', 'GUIDED', '99')
        """
        return next((name for name, number in self.modes.items() if number == custom_mode), str(custom_mode))

    def parameters(self, role: str) -> tuple[float, float]:
        """The second and third parameter of DO_SET_MODE; the first is 1, custom modes.

        >>> PX4.parameters("guided"), PX4.parameters("return"), ARDUPILOT.parameters("guided")
        ((6.0, 0.0), (4.0, 5.0), (4.0, 0.0))
        """
        number = self.mode(role)
        return (float(number >> 16 & 0xFF), float(number >> 24)) if self is PX4 else (float(number), 0.0)

    def asked(self, second: float, third: float) -> int:
        """The ``custom_mode`` that DO_SET_MODE asks for by these parameters, finite numbers."""
        main, sub = int(second) & 0xFF, int(third) & 0xFF
        return _px4(main, sub) if self is PX4 else main


PX4 = Firmware(
    "PX4",
    12,
    MappingProxyType(
        {
            "MANUAL": _px4(1),
            "ALTCTL": _px4(2),
            "POSCTL": _px4(3),
            "AUTO.READY": _px4(4, 1),
            "AUTO.TAKEOFF": _px4(4, 2),
            "AUTO.LOITER": _px4(4, 3),
            "AUTO.MISSION": _px4(4, 4),
            "AUTO.RTL": _px4(4, 5),
            "AUTO.LAND": _px4(4, 6),
            "AUTO.FOLLOW": _px4(4, 8),
            "AUTO.PRECLAND": _px4(4, 9),
            "ACRO": _px4(5),
            "OFFBOARD": _px4(6),
            "STABILIZED": _px4(7),
        }
    ),
    MappingProxyType(
        {
            "guided": "OFFBOARD",
            "take-off": "AUTO.TAKEOFF",
            "hold": "AUTO.LOITER",
            "return": "AUTO.RTL",
            "land": "AUTO.LAND",
            "pilot": "POSCTL",
        }
    ),
)

ARDUPILOT = Firmware(
    "ArduPilot",
    3,
    MappingProxyType(
        {
            "STABILIZE": 0,
            "ACRO": 1,
            "ALT_HOLD": 2,
            "AUTO": 3,
            "GUIDED": 4,
            "LOITER": 5,
            "RTL": 6,
            "CIRCLE": 7,
            "LAND": 9,
            "DRIFT": 11,
            "SPORT": 13,
            "POSHOLD": 16,
            "BRAKE": 17,
            "SMART_RTL": 21,
        }
    ),
    MappingProxyType({"guided": "GUIDED", "hold": "BRAKE", "return": "RTL", "land": "LAND", "pilot": "LOITER"}),
)

FIRMWARES: Mapping[int, Firmware] = MappingProxyType({one.autopilot: one for one in (PX4, ARDUPILOT)})
"""By their MAV_AUTOPILOT numbers."""
