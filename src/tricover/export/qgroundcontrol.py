"""Plans for QGroundControl: one file per agent, in its documented JSON format, versions 1 (plan) and 2 (mission).

A plan takes off where the agent started, sets the speed, and flies to every place where the agent was, in order; where
it stood still for k steps more the waypoint holds it k·Δt seconds. Altitudes are above the place of take-off,

    altitude + spacing · layer,

which keeps agents of different layers apart in height while all of them are at their waypoints' heights, and only then:
whoever climbs after take-off, or to a new layer, passes the heights of others. Plans know nothing of each other, so
nothing keeps a climbing agent, or two of one layer, from meeting but their paths. The mission ends over the last place,
without a landing. Home altitudes above sea level are not known and given as 0.

Altitude and speed are those of the run's vehicle, where it has an ``altitude`` and a ``max_speed``: in a mixed team the
highest altitude and the lowest speed. The altitude counts only if the scenario sets it: simulated quadrotors hover a
metre above the ground unless told, and nobody wants to fly there.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tricover.errors import InputError
from tricover.export.journeys import Journey, agents_of, journeys, seconds
from tricover.formats import Projection
from tricover.simulation import Run
from tricover.vehicles import Mixed, Vehicle
from tricover.vehicles.limits import finite_number

__all__ = ["Flight", "flight_of", "write_plans"]

PX4, QUADROTOR = 12, 2  # MAV_AUTOPILOT_PX4, MAV_TYPE_QUADROTOR
MISSION_FRAME, ABOVE_HOME = 2, 3  # MAV_FRAME_MISSION, MAV_FRAME_GLOBAL_RELATIVE_ALT
WAYPOINT, TAKEOFF, CHANGE_SPEED = 16, 22, 178  # MAV_CMD
RELATIVE = 1  # altitude mode of QGroundControl


@dataclass(frozen=True)
class Flight:
    """Altitude of layer 0 and spacing of layers in metres, speed in metres per second.

    ``sources`` says of each of them where it comes from: "given", "default" or the vehicle.
    """

    altitude: float = 30.0
    spacing: float = 5.0
    speed: float = 5.0
    sources: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("altitude", "spacing", "speed"):
            value = getattr(self, name)
            if not 0 < value < np.inf:
                raise InputError(f"{name} must be a positive number, not {value}")

    def __str__(self) -> str:
        said = {name: f" ({source})" for name, source in self.sources.items()}
        return (
            f"altitude {self.altitude:g} m{said.get('altitude', '')}, "
            f"{self.spacing:g} m more for each layer{said.get('spacing', '')}, "
            f"speed {self.speed:g} m/s{said.get('speed', '')}"
        )


def flight_of(
    vehicle: Vehicle, altitude: float | None = None, spacing: float | None = None, speed: float | None = None
) -> Flight:
    """What is given, else what the vehicle says, else the defaults.

    >>> import tricover as tc
    >>> print(flight_of(tc.vehicle("quadrotor", altitude=40.0, max_speed=6.0), speed=4.0))
    altitude 40 m (quadrotor), 5 m more for each layer (default), speed 4 m/s (given)
    """
    rides = vehicle.vehicles if isinstance(vehicle, Mixed) else (vehicle,)
    heights = [getattr(ride, "altitude", 0.0) for ride in rides if _says_altitude(ride)]
    limits = [getattr(ride, "max_speed", None) for ride in rides]
    speeds = [limit for limit in limits if limit is not None and finite_number(limit)]
    own = {"altitude": max(heights, default=None), "speed": min(speeds, default=None)}
    given = {"altitude": altitude, "spacing": spacing, "speed": speed}
    values, sources = {}, {}
    for name, value in given.items():
        found, source = (value, "given") if value is not None else (own.get(name), vehicle.kind)
        sources[name] = "default" if found is None else source
        if found is not None:
            values[name] = float(found)
    return Flight(**values, sources=sources)


def _says_altitude(ride: Vehicle) -> bool:
    """Whether somebody has set the altitude: it is not the one that the class has for everybody."""
    altitude = getattr(ride, "altitude", None)
    return finite_number(altitude) and altitude != getattr(type(ride), "altitude", None)


def write_plans(
    run: Run, folder: Path, tell: Callable[[int, int], None], plane: Projection, flight: Flight | None = None
) -> None:
    """Write ``agent-0.plan``, … to a new folder; numbers have as many digits as the largest needs."""
    agents = agents_of(run)
    digits = len(str(agents - 1))
    folder.mkdir()
    for journey in journeys(run):
        plan = _plan(journey, seconds(run), plane, flight or Flight())
        text = json.dumps(plan, indent=4) + "\n"
        (folder / f"agent-{journey.agent:0{digits}d}.plan").write_text(text, encoding="utf-8")
        tell(journey.agent + 1, agents)


def _plan(journey: Journey, duration: float, plane: Projection, flight: Flight) -> dict[str, Any]:
    places = [(latitude, longitude) for longitude, latitude in plane.to_degrees(journey.positions).tolist()]
    items = list(_items(journey, places, duration, flight))
    return {
        "fileType": "Plan",
        "geoFence": {"circles": [], "polygons": [], "version": 2},
        "groundStation": "QGroundControl",
        "mission": {
            "cruiseSpeed": flight.speed,
            "firmwareType": PX4,
            "globalPlanAltitudeMode": RELATIVE,
            "hoverSpeed": flight.speed,
            "items": [{**item, "doJumpId": number} for number, item in enumerate(items, 1)],
            "plannedHomePosition": [*places[0], 0.0],
            "vehicleType": QUADROTOR,
            "version": 2,
        },
        "rallyPoints": {"points": [], "version": 2},
        "version": 1,
    }


def _items(
    journey: Journey, places: list[tuple[float, float]], duration: float, flight: Flight
) -> Iterator[dict[str, Any]]:
    heights = (flight.altitude + flight.spacing * journey.layers).tolist()
    stays = (np.diff(journey.steps, append=journey.steps[-1] + 1) - 1) * duration
    yield _at(TAKEOFF, places[0], heights[0])
    yield _item(CHANGE_SPEED, MISSION_FRAME, [1, flight.speed, -1, 0, 0, 0, 0])
    for place, height, stay in zip(places, heights, stays.tolist(), strict=True):
        yield _at(WAYPOINT, place, height, stay)


def _at(command: int, place: tuple[float, float], height: float, hold: float = 0.0) -> dict[str, Any]:
    shown = {"AMSLAltAboveTerrain": None, "Altitude": height, "AltitudeMode": RELATIVE}
    return {**shown, **_item(command, ABOVE_HOME, [hold, 0, 0, None, *place, height])}


def _item(command: int, frame: int, params: list[float | None]) -> dict[str, Any]:
    return {"autoContinue": True, "command": command, "frame": frame, "params": params, "type": "SimpleItem"}
