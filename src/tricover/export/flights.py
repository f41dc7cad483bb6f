"""Flights: a run as its vehicles are to fly it, in space: climb, wait, fly, come back, land.

With H the highest level, c the rate of climb and d the largest delay of a start, everybody

1. climbs straight up over its pad to its level, and waits there until H/c + 2d seconds have passed: then the last to
   start is at its level, too, and the first may move sideways;
2. flies its part of the timetable at its level; with the landing on the pad also back, reversed in time, which has
   the distances of the way out;
3. waits until everybody must have arrived, and comes straight down, the highest first, so that all touch down together.

Agents that join during the run wait at their level over the place where they will join, and those who leave wait where
they left: everybody is in the air from the beginning to the end.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tricover.export.flight import Flight
from tricover.export.heights import colouring
from tricover.export.journeys import seconds
from tricover.export.timetable import timetable_of
from tricover.export.tracks import Tracks, pairs_within
from tricover.formats import Projection
from tricover.simulation import Run

__all__ = ["Flights", "flights_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Flights:
    """The flights of all agents that took part in a run.

    Attributes:
        flight: how they were asked to fly.
        tracks: in space, metres above the place of take-off.
        levels: the level of each, (A,), from 0 on.
        near: pairs of agents (P, 2) that come nearer than the clearance in the plane, and so have different levels.
        stretch: how many times as long as in the run everything takes.
    """

    flight: Flight
    tracks: Tracks
    levels: Ints
    near: Ints
    stretch: float

    @property
    def heights(self) -> Floats:
        """The height of each level, (levels,), in metres."""
        return np.asarray(self.flight.altitude + self.flight.spacing * np.arange(self.levels.max(initial=0) + 1))

    @property
    def sideways(self) -> tuple[float, float]:
        """The time, from one second to another, in which vehicles may move sideways: all are at their levels."""
        ready = float(self.heights[-1]) / self.flight.climb + 2 * self.flight.delay
        return ready, self.tracks.duration - ready

    def __str__(self) -> str:
        heights = self.heights
        levels = "1 level" if len(heights) == 1 else f"{len(heights)} levels up to {heights[-1]:g} m"
        slower = "" if self.stretch == 1 else f", stretched {self.stretch:.2f} times"
        return f"{levels}; {self.tracks.duration:.1f} s from take-off to landing{slower}"


def flights_of(run: Run, flight: Flight, plane: Projection | None = None) -> Flights:
    """The flights of a run; ``plane`` says where on earth it is, so that places are those that MAVLink can carry."""
    agents = np.flatnonzero(run.present.any(axis=0))
    timetable = timetable_of(run.positions, seconds(run), flight, agents, plane)
    near = pairs_within(timetable.tracks, flight.clearance, 2 * flight.delay)
    levels = colouring(near, len(agents))
    heights = flight.altitude + flight.spacing * levels
    top = float(heights.max(initial=0.0))
    tracks = [
        _flown(times, points, height, top, flight)
        for (times, points), height in zip(timetable.tracks, heights.tolist(), strict=True)
    ]
    return Flights(flight, Tracks.of(agents, tracks), levels, agents[near], timetable.stretch)


def _flown(times: Floats, points: Floats, height: float, top: float, flight: Flight) -> tuple[Floats, Floats]:
    """Breakpoints in space of a track on the ground."""
    if flight.landing == "pad":
        turn = 2 * times[-1] + flight.stay
        times, points = np.append(times, turn - times[::-1]), np.concatenate([points, points[::-1]])
    else:
        times, points = np.append(times, times[-1] + flight.stay), np.concatenate([points, points[-1:]])
    up, ready = height / flight.climb, top / flight.climb + 2 * flight.delay
    times = times + ready
    end = times[-1] + ready
    times = np.maximum.accumulate(np.concatenate([[0.0, up], times, [end - up, end]]))  # rounding must not turn it back
    points = np.concatenate([points[[0, 0]], points, points[[-1, -1]]])
    points[1:-1, 2] = height
    return times, points
