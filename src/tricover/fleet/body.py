"""The body behind our autopilot: the quadrotor of ``vehicles``, with take-off, climb, descent and ground.

The vehicle's own flight plans each leg to rest within a step. An autopilot is told new places at any time, so here a
point moves towards the goal instead, with limited speed and acceleration, and the same controller follows it: it asks
for a speed of min(v, √(a d), d/τ) at a distance d, so that it brakes at half its acceleration and comes to rest softly.
Height works alike, with the limits of climb and descent. The controller's altitude leads the point's height by the time
that it would lag behind.

Time goes in ticks of ``TICK`` seconds, so a flight depends on its commands and their ticks alone. On the ground the
body stands still; it lands where its height falls to 0. Coordinates: metres east, north and up from home.
"""

from dataclasses import dataclass, replace
from math import hypot, sqrt

import numpy as np

from tricover.vehicles._kernels import follow, spin
from tricover.vehicles.airframes import airframe
from tricover.vehicles.protocol import Floats, step_draws
from tricover.vehicles.quadrotor import Quadrotor, flown, hovering, winds

__all__ = ["TICK", "Body", "Goal", "advanced", "fallen", "load", "standing"]

TICK = 0.02  # s
_PERIODS = 4  # of control in a tick
_SOFTLY = 0.4  # s: τ, of the approach to a goal
_GENTLY = 0.5  # of its acceleration: with all of it a crazyflie exceeds its speed by a quarter, so by a seventh
_GUST = 50  # ticks that a gust lasts

Goal = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Body:
    """A quadrotor: its state (1, 19), the point that it follows with its velocity, and whether it is off the ground."""

    state: Floats
    point: Floats
    velocity: Floats
    flies: bool = False

    @property
    def place(self) -> Goal:
        """East, north and up, in metres."""
        x, y, z = self.state[0, :3].tolist()
        return x, y, z


def standing(vehicle: Quadrotor, x: float = 0.0, y: float = 0.0) -> Body:
    """A body at rest on the ground."""
    return Body(hovering([[x, y]], vehicle.airframe, 0.0), np.array([x, y, 0.0]), np.zeros(3))


def advanced(body: Body, vehicle: Quadrotor, goal: Goal, climb: float, descent: float, tick: int) -> Body:
    """The body a tick later, on its way to a goal; ``climb`` and ``descent`` are its limits in m/s."""
    pilot, air, hardest = vehicle.pilot, airframe(vehicle.airframe), _GENTLY * vehicle.max_acceleration
    wanted = np.empty(3)
    legs = np.asarray(goal) - body.point
    length = hypot(legs[0], legs[1])
    speed = _speed(length, vehicle.max_speed, hardest)
    wanted[:2] = legs[:2] / length * speed if length > 0 else 0.0
    up = legs[2] > 0
    wanted[2] = _speed(abs(legs[2]), climb if up else descent, hardest) * (1 if up else -1)
    change = wanted - body.velocity
    change /= max(1.0, hypot(*change) / (hardest * TICK))
    lead = (body.velocity[2] * pilot.climb_gain + change[2] / TICK) / pilot.altitude_gain
    state = body.state.copy()
    follow(
        state,
        np.array([[body.point[:2], body.velocity[:2], change[:2] / TICK]]),
        winds(vehicle.wind, vehicle.gust, step_draws(0, tick // _GUST, 1)),
        TICK / _PERIODS,
        _PERIODS,
        pilot._replace(altitude=float(body.point[2] + lead)),
        air,
    )
    point = body.point + (body.velocity + change / 2) * TICK
    return _above_ground(
        replace(body, state=flown(vehicle.kind, state), point=point, velocity=body.velocity + change), vehicle, up
    )


def fallen(body: Body, vehicle: Quadrotor) -> Body:
    """The body a tick later, with its rotors off."""
    state = body.state.copy()
    spin(state, np.zeros((1, 4)), np.array([vehicle.wind]), TICK / _PERIODS, _PERIODS, airframe(vehicle.airframe))
    return _above_ground(replace(body, state=flown(vehicle.kind, state)), vehicle, up=False)


def load(vehicle: Quadrotor) -> None:
    """Load what flying needs, which takes a while: afterwards a tick is soon over."""
    fallen(advanced(standing(vehicle), vehicle, (0.0, 0.0, 1.0), 1.0, 1.0, 0), vehicle)


def _speed(distance: float, fastest: float, acceleration: float) -> float:
    return min(fastest, sqrt(acceleration * distance), distance / _SOFTLY)


def _above_ground(body: Body, vehicle: Quadrotor, up: bool) -> Body:
    """The body, stopped by the ground; on its way up it may touch the ground, and goes on."""
    x, y, z = body.place
    if z > 0:
        return replace(body, flies=True)
    if not up:
        return standing(vehicle, x, y)
    state = body.state.copy()
    state[0, 2], state[0, 5] = 0.0, max(state[0, 5], 0.0)
    return replace(body, state=state, flies=True)
