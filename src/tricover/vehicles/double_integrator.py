"""A point mass p̈ = u with |u| ≤ a and |ṗ| ≤ v (2-norms), driven to rest at its goal point. State: (x, y, ẋ, ẏ).

Along one axis, with distance D to go and speed w in the direction of the first acceleration, the time-optimal motion to
rest is bang-bang, or a trapezoid where the speed limit is reached:

    peak = min(v, √(aD + w²/2)),   t_1 = (peak - w)/a,   t_2 = (D - (2 peak² - w²)/(2a)) / peak,   t_3 = peak/a.

The first acceleration points to the side of the goal on which the agent would stop if it braked at once. Two axes, one
along the line to the goal and one across it, share the limits as (a cos φ, v cos φ) and (a sin φ, v sin φ), so neither
norm is ever exceeded. From rest φ = 0: the straight line in the shortest time there is, 2√(D/a) or D/v + v/a. With a
speed across the line (after a step that was too short) φ is the one for which both axes arrive together, found by
bisection within the range that allows the present speeds. Where braking to a stop and starting anew arrives sooner,
because a fast agent has no room to turn, it does that. Then the motion is the best of this family, not of all.

Everything is evaluated in closed form at Δt, so there is no integration error; an agent that arrives is at its goal
point to the bit, with speed 0. One that does not is on its way, and its speed carries over to the next step.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tricover.vehicles.limits import require_positive
from tricover.vehicles.protocol import Floats, Landing, middles, placed, ready

__all__ = ["DoubleIntegrator", "profile"]

HALVINGS = 50  # bisections of the angle φ: below its rounding
STRAIGHT = 1e-12  # share of the speed limit below which a speed across the line is rounding


@dataclass(frozen=True)
class Profile:
    """Bang, cruise, bang along an axis: the sign of the first acceleration, start and peak speeds, the three times."""

    sign: Floats
    start: Floats
    peak: Floats
    acceleration: Floats
    rise: Floats
    cruise: Floats
    fall: Floats

    @property
    def total(self) -> Floats:
        """Seconds until rest at the goal."""
        return np.asarray(self.rise + self.cruise + self.fall)

    def at(self, time: float | Floats) -> tuple[Floats, Floats]:
        """Displacement since the start, and velocity, after ``time`` seconds, for motions that are not over by then."""
        first = np.minimum(time, self.rise)
        second = np.clip(time - self.rise, 0, self.cruise)
        third = np.clip(time - self.rise - self.cruise, 0, self.fall)
        travelled = (self.start + self.acceleration * first / 2) * first
        travelled = travelled + self.peak * second + (self.peak - self.acceleration * third / 2) * third
        speed = self.start + self.acceleration * (first - third)
        return self.sign * travelled, self.sign * speed


@dataclass(frozen=True)
class Journey:
    """Seconds until rest at the goal, (agents,); places and velocities, (agents, 2), when the step is over."""

    total: Floats
    places: Floats
    velocities: Floats


def _directions(vectors: Floats) -> tuple[Floats, Floats]:
    """Lengths (agents,) and directions (agents, 2) of vectors; the x axis for those of no length."""
    length = np.hypot(vectors[:, 0], vectors[:, 1])
    ahead = np.tile([1.0, 0.0], (len(vectors), 1))
    return length, np.divide(vectors, length[:, None], out=ahead, where=length[:, None] > 0)


def profile(distance: Floats, speed: Floats, acceleration: Floats, limit: Floats) -> Profile:
    """The time-optimal motion to rest at a signed distance, for signed speeds within ±limit; all broadcast."""
    braked = speed * np.abs(speed) / (2 * acceleration)
    sign = np.where(distance >= braked, 1.0, -1.0)
    ahead, start = sign * distance, sign * speed
    peak = np.minimum(limit, np.sqrt(np.maximum(acceleration * ahead + start**2 / 2, 0)))
    peak = np.maximum(peak, start)  # by rounding only
    level = np.maximum(ahead - (2 * peak**2 - start**2) / (2 * acceleration), 0)
    cruise = np.divide(level, peak, out=np.zeros_like(level), where=peak > 0)
    return Profile(sign, start, peak, acceleration, (peak - start) / acceleration, cruise, peak / acceleration)


@dataclass(frozen=True)
class DoubleIntegrator:
    """A point mass with bounded acceleration (m/s²) and speed (m/s)."""

    max_acceleration: float = 2.0
    max_speed: float = 2.0

    kind: ClassVar[str] = "double-integrator"
    state_size: ClassVar[int] = 4
    landing: ClassVar[Landing] = "anywhere"

    def __post_init__(self) -> None:
        require_positive(self.kind, "m/s²", max_acceleration=self.max_acceleration)
        require_positive(self.kind, "m/s", max_speed=self.max_speed)

    def initial_state(self, positions: ArrayLike) -> Floats:
        """States (agents, 4) at rest."""
        points = placed(positions)
        return np.hstack([points, np.zeros_like(points)])

    def output(self, states: Floats) -> Floats:
        """Positions (agents, 2)."""
        return states[:, :2].copy()

    def drive(self, states: Floats, reach_sets: Floats, duration: float, draws: Floats) -> Floats:
        """States on the way to, or at rest on, the centroids of the reach sets."""
        states, corners = ready(self, states, reach_sets, duration)
        goals = middles(corners)
        turning, braking = self._turn(states, goals, duration), self._brake(states, goals, duration)
        sooner = (braking.total < turning.total)[:, None]
        arrived = (np.minimum(braking.total, turning.total) <= duration)[:, None]
        moved = np.where(sooner, braking.places, turning.places)
        velocities = np.where(sooner, braking.velocities, turning.velocities)
        return np.hstack([np.where(arrived, goals, moved), np.where(arrived, 0.0, velocities)])

    def _turn(self, states: Floats, goals: Floats, duration: float) -> Journey:
        """Towards the goal at once, along the line to it and across it at the same time."""
        length, along = _directions(goals - states[:, :2])
        across = np.stack([-along[:, 1], along[:, 0]], axis=1)
        speeds = np.stack([(states[:, 2:] * axis).sum(axis=1) for axis in (along, across)])
        speeds[1, np.abs(speeds[1]) <= STRAIGHT * self.max_speed] = 0.0
        straight, sideways = self._profiles(length, speeds)
        (ahead, onward), (aside, drift) = straight.at(duration), sideways.at(duration)
        moved = states[:, :2] + ahead[:, None] * along + aside[:, None] * across
        velocities = onward[:, None] * along + drift[:, None] * across
        return Journey(np.maximum(straight.total, sideways.total), moved, velocities)

    def _brake(self, states: Floats, goals: Floats, duration: float) -> Journey:
        """To a stop first, then straight to the goal: sooner where the present speed leaves no room to turn."""
        speed, heading = _directions(states[:, 2:])
        stop = speed / self.max_acceleration
        first = np.minimum(duration, stop)
        stopping = (speed - self.max_acceleration * first / 2) * first
        length, along = _directions(goals - (states[:, :2] + heading * (speed * stop / 2)[:, None]))
        limits = np.full_like(length, self.max_acceleration), np.full_like(length, self.max_speed)
        straight = profile(length, np.zeros_like(length), *limits)
        ahead, onward = straight.at(duration - first)
        moved = states[:, :2] + stopping[:, None] * heading + ahead[:, None] * along
        velocities = (speed - self.max_acceleration * first)[:, None] * heading + onward[:, None] * along
        return Journey(stop + straight.total, moved, velocities)

    def _profiles(self, length: Floats, speeds: Floats) -> tuple[Profile, Profile]:
        """Motions along and across the line to the goal, with the split of the limits that lets both end together."""
        angles = np.zeros_like(length)  # without a speed across the line, all of the limits go along it
        rows = np.flatnonzero(speeds[1])
        angles[rows] = self._balance(length[rows], speeds[:, rows])
        return self._motions(angles, length, speeds)

    def _motions(self, angles: Floats, length: Floats, speeds: Floats) -> tuple[Profile, Profile]:
        along, across = np.cos(angles), np.where(speeds[1] == 0, 1.0, np.sin(angles))
        a, v = self.max_acceleration, self.max_speed
        return (
            profile(length, speeds[0], a * along, v * along),
            profile(np.zeros_like(length), speeds[1], a * across, v * across),
        )

    def _balance(self, length: Floats, speeds: Floats) -> Floats:
        """The angle φ at which both motions take equally long, or the nearest that allows the present speeds."""
        ratios = np.clip(np.abs(speeds) / self.max_speed, 0, 1)
        least = np.arcsin(ratios[1])
        most = np.maximum(np.arccos(ratios[0]), least)
        for _ in range(HALVINGS):
            middle = (least + most) / 2
            straight, sideways = self._motions(middle, length, speeds)
            later = sideways.total > straight.total
            least, most = np.where(later, middle, least), np.where(later, most, middle)
        return np.asarray(least)
