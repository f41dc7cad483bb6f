"""Plans as flown, computed from what is written in their files alone, whoever wrote them.

A vehicle starts at the planned home position. Then it does what the items say, one after the other:

    take-off     climbs straight up to the item's altitude
    waypoint     flies straight there, then holds for so many seconds
    land         flies to the place at its height, comes straight down
    change speed from here on

A leg takes as long as its length in the plane at the speed that was last set, and not less than its climb at the rate
of climb. What this leaves out: accelerations, wind, the radius in which an autopilot takes a waypoint for reached, and
the errors of its position. The delay of a start stands for what they cost in time: two vehicles are compared at all
times that are no more than twice the delay apart (see ``tracks``).
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.errors import FileFormatError
from tricover.export.tracks import Approach, Tracks, closest_approach
from tricover.formats import Projection

__all__ = ["CHANGE_SPEED", "LAND", "TAKEOFF", "WAYPOINT", "Flown", "as_flown"]

Floats = NDArray[np.float64]

WAYPOINT, LAND, TAKEOFF, CHANGE_SPEED = 16, 21, 22, 178  # MAV_CMD
_GROUND_SPEED = 1  # SPEED_TYPE_GROUNDSPEED


@dataclass(frozen=True, eq=False)
class Flown:
    """Plans as flown: tracks in space, the delay of starts in seconds, and the closest approach under all delays."""

    tracks: Tracks
    delay: float
    approach: Approach

    def __str__(self) -> str:
        given = f" (starts up to {self.delay:g} s early or late)" if self.delay else ""
        return f"{self.approach}{given}"


def as_flown(folder: str | os.PathLike[str], plane: Projection, climb: float, delay: float = 0.0) -> Flown:
    """Fly the plans of a folder, ``agent-<number>.plan``.

    Args:
        folder: where the plans are.
        plane: the local plane in which distances are measured.
        climb: metres per second, up and down.
        delay: seconds by which each vehicle may start too early or too late.
    """
    files = {int(path.stem.removeprefix("agent-")): path for path in sorted(Path(folder).glob("agent-*.plan"))}
    agents = np.array(sorted(files), np.int64)
    tracks = Tracks.of(agents, (_track(files[agent], plane, climb) for agent in agents.tolist()))
    return Flown(tracks, delay, closest_approach(tracks, 2 * delay))


def _track(path: Path, plane: Projection, climb: float) -> tuple[Floats, Floats]:
    """Breakpoints of a plan: times (K,) and points (K, 3)."""
    try:
        mission = json.loads(path.read_text(encoding="utf-8"))["mission"]
        commands = {item["command"] for item in mission["items"]}
        stops = np.array(list(_stops(mission)), np.float64)
    except (ValueError, KeyError, TypeError) as error:
        raise FileFormatError(f"{path}: this is not a plan of QGroundControl: {error}") from error
    if unknown := commands - {WAYPOINT, LAND, TAKEOFF, CHANGE_SPEED}:
        raise FileFormatError(f"{path}: what MAV_CMD {min(unknown)} does in flight is not known here: leave it out")
    latitudes, longitudes, heights, speeds, holds = stops.T
    points = np.column_stack([plane.to_metres(np.stack([longitudes, latitudes], axis=1)), heights])
    ways = np.diff(points, axis=0)
    sideways, upwards = np.hypot(ways[:, 0], ways[:, 1]), np.abs(ways[:, 2])
    arriving = np.maximum(sideways / speeds[1:], upwards / climb)
    # Every stop but the first, home, has a time of arrival and one of departure.
    times = np.append(0.0, np.cumsum(np.stack([arriving, holds[1:]], axis=1)))
    return times, np.concatenate([points[:1], np.repeat(points[1:], 2, axis=0)])


def _stops(mission: dict[str, Any]) -> Iterator[tuple[float, float, float, float, float]]:
    """Latitude, longitude, height, speed to get there and hold of every stop; the first is the start."""
    speed = mission["hoverSpeed"]
    *place, _ = mission["plannedHomePosition"]
    height = 0.0
    yield (*place, height, speed, 0.0)
    for item in mission["items"]:
        first, second, *_, latitude, longitude, altitude = item["params"]
        if item["command"] == CHANGE_SPEED:
            speed = second if first == _GROUND_SPEED else speed
        elif item["command"] == LAND:
            yield latitude, longitude, height, speed, 0.0
            yield latitude, longitude, altitude, speed, 0.0
        else:
            height = altitude
            yield latitude, longitude, height, speed, first if item["command"] == WAYPOINT else 0.0
