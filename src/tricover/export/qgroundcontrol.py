"""Plans for QGroundControl: one file per agent, in its documented JSON format, versions 1 (plan) and 2 (mission).

A plan takes off on the agent's pad, flies its part of the timetable at its level, and lands (see ``flights``): a
waypoint for every leg, a speed before it such that it is flown in its time, a hold where the vehicle waits. The way
back is flown waypoint by waypoint and ends with a landing: MAVLink's own return to launch would lead everybody home at
one height and along straight lines that cross.

The fence has sixteen sides around the motion of the whole team, a margin away, and every zone of the scenario as a
polygon to stay out of. Polygons turn clockwise. Heights are above the place of take-off; how high that is above the sea
is not known and given as 0.

Plans are for PX4's mission mode. After they are written they are read again and flown (see ``flown``): what is said of
their distances comes from there.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.export.flight import Flight
from tricover.export.flights import Flights, flights_of
from tricover.export.flown import CHANGE_SPEED, LAND, TAKEOFF, WAYPOINT, Flown, as_flown
from tricover.export.journeys import agents_of
from tricover.export.timetable import DIGITS
from tricover.formats import Projection
from tricover.simulation import Run

__all__ = ["Plans", "write_plans"]

Floats = NDArray[np.float64]

PX4, QUADROTOR = 12, 2  # MAV_AUTOPILOT_PX4, MAV_TYPE_QUADROTOR
MISSION_FRAME, ABOVE_HOME = 2, 3  # MAV_FRAME_MISSION, MAV_FRAME_GLOBAL_RELATIVE_ALT
RELATIVE = 1  # altitude mode of QGroundControl
_SIDES = 16  # of the fence


@dataclass(frozen=True, eq=False)
class Plans:
    """Plans that were written: the flights that were planned, the plans as flown, and the separation asked for."""

    flights: Flights
    flown: Flown
    separation: float | None

    @property
    def warning(self) -> str | None:
        """What is wrong with them, if anything."""
        found = self.flown.approach.distance
        if self.separation is None or found >= self.separation:
            return None
        return f"as flown, vehicles come to {found:.2f} m: nearer than the {self.separation:g} m of safety.separation"

    def facts(self) -> dict[str, Any]:
        """What there is to know of them, for programs; a distance is None where there are no two vehicles."""
        flights, approach = self.flights, self.flown.approach
        return {
            "flight": vars(flights.flight),
            "levels": flights.heights.tolist(),
            "stretch": flights.stretch,
            "duration": flights.tracks.duration,
            "as_flown": {
                "distance": approach.distance if approach.agents else None,
                "agents": approach.agents,
                "time": approach.time,
                "late": approach.late,
            },
            "separation": self.separation,
            "warning": self.warning,
        }


def write_plans(
    run: Run, folder: Path, tell: Callable[[int, int], None], plane: Projection, flight: Flight | None = None
) -> Plans:
    """Write ``agent-0.plan``, … to a new folder; numbers have as many digits as the largest needs."""
    agents = agents_of(run)
    digits = len(str(agents - 1))
    folder.mkdir()
    flight = flight or Flight()
    flights = flights_of(run, flight, plane)
    fence = _fence(flights, plane, run.mission.ground.zones or ())
    for agent, (times, points) in zip(flights.tracks.agents.tolist(), flights.tracks, strict=True):
        plan = _plan(times, points, plane, flight.speed, fence)
        text = json.dumps(plan, indent=4) + "\n"
        (folder / f"agent-{agent:0{digits}d}.plan").write_text(text, encoding="utf-8")
        tell(agent + 1, agents)
    flown = as_flown(folder, plane, flight.climb, flight.delay)
    return Plans(flights, flown, run.scenario.safety.separation)


def _plan(times: Floats, points: Floats, plane: Projection, speed: float, fence: dict[str, Any]) -> dict[str, Any]:
    places = _on_earth(points[:, :2], plane)
    items = list(_items(times, points, places))
    return {
        "fileType": "Plan",
        "geoFence": fence,
        "groundStation": "QGroundControl",
        "mission": {
            "cruiseSpeed": speed,
            "firmwareType": PX4,
            "globalPlanAltitudeMode": RELATIVE,
            "hoverSpeed": speed,
            "items": [{**item, "doJumpId": number} for number, item in enumerate(items, 1)],
            "plannedHomePosition": [*places[0], 0.0],
            "vehicleType": QUADROTOR,
            "version": 2,
        },
        "rallyPoints": {"points": [], "version": 2},
        "version": 1,
    }


def _on_earth(metres: Floats, plane: Projection) -> list[tuple[float, float]]:
    """Latitudes and longitudes as MAVLink carries them."""
    degrees = plane.to_degrees(metres).round(DIGITS).tolist()
    return [(latitude, longitude) for longitude, latitude in degrees]


def _items(times: Floats, points: Floats, places: list[tuple[float, float]]) -> Iterator[dict[str, Any]]:
    """Take-off, legs with their speeds and holds, landing: the items of a track that climbs first and descends last."""
    ways = np.diff(points, axis=0)
    legs = np.flatnonzero((ways[:, :2] != 0).any(axis=1))
    descent = np.flatnonzero(ways[:, 2] < 0)[-1]
    height = float(points[1, 2])
    yield _at(TAKEOFF, places[0], height)
    # Between two legs, and before the first and after the last, it holds.
    holds = times[np.append(legs, descent)] - times[np.append(1, legs + 1)]
    yield _at(WAYPOINT, places[0], height, float(holds[0]))
    speeds = np.hypot(*ways[legs, :2].T) / (times[legs + 1] - times[legs])
    for leg, speed, hold in zip(legs.tolist(), speeds.tolist(), holds[1:].tolist(), strict=True):
        yield _item(CHANGE_SPEED, MISSION_FRAME, [1, speed, -1, 0, 0, 0, 0])
        yield _at(WAYPOINT, places[leg + 1], height, hold)
    yield _at(LAND, places[-1], 0.0)


def _at(command: int, place: tuple[float, float], height: float, hold: float = 0.0) -> dict[str, Any]:
    shown = {"AMSLAltAboveTerrain": None, "Altitude": height, "AltitudeMode": RELATIVE}
    return {**shown, **_item(command, ABOVE_HOME, [hold, 0, 0, None, *place, height])}


def _item(command: int, frame: int, params: list[float | None]) -> dict[str, Any]:
    return {"autoContinue": True, "command": command, "frame": frame, "params": params, "type": "SimpleItem"}


def _fence(flights: Flights, plane: Projection, zones: tuple[Floats, ...]) -> dict[str, Any]:
    """The polygon that holds the motion of the whole team, and those that nobody enters."""
    around = _around(flights.tracks.flat.points[:, :2], flights.flight.margin)
    inside = [_polygon(around, plane, inclusion=True)]
    outside = [_polygon(zone, plane, inclusion=False) for zone in zones]
    return {"circles": [], "polygons": inside + outside, "version": 2}


def _around(points: Floats, margin: float) -> Floats:
    """Corners (sides, 2), counter-clockwise, of a convex polygon whose sides are a margin or more from all points."""
    angles = 2 * np.pi * np.arange(_SIDES) / _SIDES
    normals = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    reach = (points @ normals.T).max(axis=0) + margin
    # A corner is where a side meets the next one: n·x = r and n'·x = r'.
    corners: Floats = np.linalg.solve(
        np.stack([normals, np.roll(normals, -1, axis=0)], axis=1),
        np.stack([reach, np.roll(reach, -1)], axis=1)[..., None],
    )
    return corners[..., 0]


def _polygon(corners: Floats, plane: Projection, inclusion: bool) -> dict[str, Any]:
    """A polygon as QGroundControl wants it: clockwise, no corner twice."""
    if len(corners) > 1 and (corners[0] == corners[-1]).all():
        corners = corners[:-1]
    x, y = (corners - corners[0]).T
    turns = float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))
    clockwise = corners if turns < 0 else corners[::-1]
    return {"inclusion": inclusion, "polygon": [list(place) for place in _on_earth(clockwise, plane)], "version": 1}
