"""Plans for QGroundControl: one file per agent, in its documented JSON format, versions 1 (plan) and 2 (mission).

A plan takes off where the agent started, sets the speed, and flies to every place where the agent was, in order; where
it stood still for k steps more the waypoint holds it k·Δt seconds. Altitudes are above the place of take-off,

    altitude + spacing · layer,

so that agents of different layers are never at the same height, whoever flies early or late: plans know nothing of each
other. Agents of one layer are kept apart by nothing but their paths. The mission ends over the last place, without a
landing. Home altitudes above sea level are not known and given as 0.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tricover.errors import InputError
from tricover.export.journeys import Journey, agents_of, journeys, seconds
from tricover.formats import Projection
from tricover.simulation import Run

__all__ = ["Flight", "write_plans"]

PX4, QUADROTOR = 12, 2  # MAV_AUTOPILOT_PX4, MAV_TYPE_QUADROTOR
MISSION_FRAME, ABOVE_HOME = 2, 3  # MAV_FRAME_MISSION, MAV_FRAME_GLOBAL_RELATIVE_ALT
WAYPOINT, TAKEOFF, CHANGE_SPEED = 16, 22, 178  # MAV_CMD
RELATIVE = 1  # altitude mode of QGroundControl


@dataclass(frozen=True)
class Flight:
    """Altitude of layer 0 and spacing of layers in metres, speed in metres per second."""

    altitude: float = 30.0
    spacing: float = 5.0
    speed: float = 5.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0 < value < np.inf:
                raise InputError(f"{name} must be a positive number, not {value}")


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
