"""The timetable: when every vehicle is where, on one clock, so that all keep together as in the run.

The run goes straight from step to step, Δt seconds each. A vehicle's plan has fewer waypoints: straight motion between
them, at one speed each, is within ``still`` metres of the run at every step, hence at all times between. Who moves by
no more stands, and holds.

No leg may be faster than the speed allowed. Where one is, all times of all vehicles are multiplied by one factor, the
*stretch*, such that the fastest leg has that speed. So everybody is where it was in the run, at the stretched time, and
distances at the same time do not change. Plans are never made faster than the run.

Autopilots fly badly at very low speeds. A leg below ``SLOWEST`` is held first and then flown at ``SLOWEST``, so that it
ends in time: within that step it is on the same straight way, but later.

Places are put on the grid on which MAVLink carries them, 10⁻⁷ degrees or about a centimetre, and then speeds are
computed: so that times are right to the last digit for what an autopilot is sent.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tricover.export._kernels import simplify
from tricover.export.flight import Flight
from tricover.export.tracks import Tracks
from tricover.formats import Projection

__all__ = ["DIGITS", "SLOWEST", "Timetable", "timetable_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SLOWEST = 0.1
"""Metres per second. ArduPilot documents no lower speed for waypoints."""
DIGITS = 7
"""Of longitude and latitude in degrees, as MAVLink carries them."""
_GRID = 0.02  # metres by which this may lengthen a leg: more than the diagonal of the grid


@dataclass(frozen=True, eq=False)
class Timetable:
    """Tracks on the ground, z = 0, from the first step of a run to its last, and by how much time was stretched."""

    tracks: Tracks
    stretch: float


def timetable_of(
    positions: Floats, duration: float, flight: Flight, agents: Ints, plane: Projection | None = None
) -> Timetable:
    """The timetable of a motion (T+1, N, 2) with steps of so many seconds, for some of its agents (A,).

    ``plane`` says where on earth it is, so that places are on MAVLink's grid; None: they stay as they are.
    """
    moves = np.hypot(*np.moveaxis(np.diff(positions[:, agents], axis=0), -1, 0))
    # A leg begins up to ``still`` beside the run, so per step it is at most that much longer than the longest move.
    fastest = (float(moves.max(initial=0.0)) + flight.still + _GRID) / duration
    slowest = SLOWEST * max(1.0, fastest / flight.speed) * duration  # metres a step, before time is stretched
    legs = [_legs(positions[:, agent], flight.still, slowest, plane) for agent in agents.tolist()]
    needed = [_fastest(steps, places) / duration for steps, places in legs]
    stretch = max(1.0, max(needed, default=0.0) / flight.speed)
    timed = [_timed(np.asarray(steps * (duration * stretch), np.float64), places) for steps, places in legs]
    return Timetable(Tracks.of(agents, timed), stretch)


def _legs(path: Floats, still: float, slowest: float, plane: Projection | None) -> tuple[Ints, Floats]:
    """Steps (K,) and places (K, 2) of the waypoints of a path (T+1, 2)."""
    steps, places = np.empty(len(path), np.int64), np.empty((len(path), 2))
    count = simplify(np.array(path), float(still), float(slowest), steps, places)
    found = places[:count]
    if plane is not None:
        found = plane.to_metres(plane.to_degrees(found).round(DIGITS))
    return steps[:count], found


def _fastest(steps: Ints, places: Floats) -> float:
    """Metres a step of the fastest leg."""
    spans, lengths = np.diff(steps), np.hypot(*np.diff(places, axis=0).T)
    return float((lengths / spans).max(initial=0.0))


def _timed(times: Floats, places: Floats) -> tuple[Floats, Floats]:
    """Breakpoints: times (K,) and points (K, 3). A leg that would be too slow is held first."""
    spans, lengths = np.diff(times), np.hypot(*np.diff(places, axis=0).T)
    slow = np.flatnonzero((lengths > 0) & (lengths < SLOWEST * spans))
    leaving = times[slow + 1] - lengths[slow] / SLOWEST
    times = np.insert(times, slow + 1, leaving)
    places = np.insert(places, slow + 1, places[slow], axis=0)
    return times, np.column_stack([places, np.zeros(len(places))])
