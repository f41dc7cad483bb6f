"""How plans are to be flown: heights, speeds, waits and the landing.

Altitude and speed are those of the run's vehicle, where it has an ``altitude`` and a ``max_speed``: in a mixed team the
highest altitude and the lowest speed. The altitude counts only if the scenario sets it: simulated quadrotors hover a
metre above the ground unless told, and nobody wants to fly there. Clearance and spacing follow the separation that the
scenario asks for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tricover.errors import InputError, advice, shown
from tricover.vehicles import Mixed, Vehicle
from tricover.vehicles.limits import finite_number

__all__ = ["LANDINGS", "Flight", "flight_of"]

LANDINGS = ("pad", "place")
_SPACING = 5.0


@dataclass(frozen=True)
class Flight:
    """How plans are to be flown, in metres, seconds and metres per second.

    Attributes:
        altitude: of the lowest level, above the place of take-off.
        spacing: from each level to the next.
        speed: that no leg exceeds.
        climb: at which vehicles climb and descend.
        clearance: who comes nearer to each other in the plane than this flies at different levels.
        delay: by which a vehicle may start too early or too late.
        still: who moves by no more stands still, and how far a plan may leave the run's motion.
        landing: "pad": all fly back the way they came and land where they took off; "place": all land where the run
            ends.
        stay: seconds that all hover at the end of the run, before they go back or land.
        margin: from the motion of the team to the fence around it.
        sources: of altitude, spacing and speed where they come from: "given", "default", the vehicle's kind, or
            "separation".
    """

    altitude: float = 30.0
    spacing: float = _SPACING
    speed: float = 5.0
    climb: float = 1.5
    clearance: float = _SPACING
    delay: float = 0.0
    still: float = 0.05
    landing: str = "pad"
    stay: float = 0.0
    margin: float = 10.0
    sources: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("altitude", "spacing", "speed", "climb", "clearance", "margin"):
            value = getattr(self, name)
            if not 0 < value < np.inf:
                raise InputError(f"{name} must be a positive number, not {value}")
        for name in ("delay", "still", "stay"):
            value = getattr(self, name)
            if not 0 <= value < np.inf:
                raise InputError(f"{name} must be a number from 0 on, not {value}")
        if self.landing not in LANDINGS:
            raise InputError(f"unknown landing {shown(self.landing)}; {advice(str(self.landing), LANDINGS)}")

    def __str__(self) -> str:
        said = {name: f" ({source})" for name, source in self.sources.items()}
        return (
            f"altitude {self.altitude:g} m{said.get('altitude', '')}, "
            f"{self.spacing:g} m more for each level{said.get('spacing', '')}, "
            f"speed {self.speed:g} m/s{said.get('speed', '')}"
        )


def flight_of(
    vehicle: Vehicle,
    altitude: float | None = None,
    spacing: float | None = None,
    speed: float | None = None,
    separation: float | None = None,
    **more: Any,
) -> Flight:
    """What is given, else what the vehicle and the separation asked for say, else the defaults.

    ``more`` are other attributes of a ``Flight``; None stands for the default.

    >>> import tricover as tc
    >>> print(flight_of(tc.vehicle("quadrotor", altitude=40.0, max_speed=6.0), speed=4.0))
    altitude 40 m (quadrotor), 5 m more for each level (default), speed 4 m/s (given)
    """
    given = {"altitude": altitude, "spacing": spacing, "speed": speed}
    own = _own(vehicle)
    if separation is not None and separation > _SPACING:
        own["spacing"] = (separation, "separation")
    values: dict[str, Any] = {name: value for name, value in more.items() if value is not None}
    if separation is not None:
        values.setdefault("clearance", float(separation))
    sources = {}
    for name, value in given.items():
        found, source = (value, "given") if value is not None else own.get(name, (None, "default"))
        sources[name] = source
        if found is not None:
            values[name] = float(found)
    return Flight(**values, sources=sources)


def _own(vehicle: Vehicle) -> dict[str, tuple[float, str]]:
    """Altitude and speed of a vehicle, where it has them, with its kind."""
    rides = vehicle.vehicles if isinstance(vehicle, Mixed) else (vehicle,)
    heights = [getattr(ride, "altitude", 0.0) for ride in rides if _says_altitude(ride)]
    limits = [getattr(ride, "max_speed", None) for ride in rides]
    speeds = [limit for limit in limits if limit is not None and finite_number(limit)]
    found = {"altitude": max(heights, default=None), "speed": min(speeds, default=None)}
    return {name: (float(value), vehicle.kind) for name, value in found.items() if value is not None}


def _says_altitude(ride: Vehicle) -> bool:
    """Whether somebody has set the altitude: it is not the one that the class has for everybody."""
    altitude = getattr(ride, "altitude", None)
    return finite_number(altitude) and altitude != getattr(type(ride), "altitude", None)
