"""A quadrotor with six degrees of freedom, flown by a geometric controller at a constant altitude.

Model (the one RotorPy publishes; Folk, Paulos, Kumar 2023), with rotors i at r_i, speeds ω_i, attitude R, body rates Ω:

    ẋ = v,   m v̇ = R F - m g e_3,   Ṙ = R Ω^,   J Ω̇ = M - Ω × J Ω,   ω̇_i = (c_i - ω_i)/τ,
    F = Σ_i F_i - |b| C b,   F_i = (k_η ω_i² + k_h |l_i|²_xy) e_3 - ω_i diag(k_d, k_d, k_z) l_i,
    M = Σ_i r_i × F_i ± k_m ω_i² e_3 - k_flap ω_i l_i × e_3,   b = Rᵀ(v - wind),   l_i = b + Ω × r_i,

with commands c_i held over a control period and kept within the motors' limits.

Controller (Lee, Leok, McClamroch 2010, with an integral term against wind): a wanted acceleration
ẍ_d - k_p e - k_v ė - k_i ∫e, its sideways part kept below g tan(max_tilt), fixes thrust and attitude, and moments
J(-k_R e_R - k_Ω Ω) + Ω × JΩ bring the attitude there. A quarter of the weight is always lifted, to steer with. It
follows a minimum-jerk motion x_d from the present position and velocity to rest at the goal point in 0.7 Δt. If that
would exceed ``max_speed`` or ``max_acceleration``, the motion ends short of the goal, as far along as the limits allow:
a miss, from which the next step goes on.

Integration: Runge-Kutta of order 4 with one step per control period; the motors' lag is followed in closed form. State:
see ``_kernels``. Wind is steady; ``gust`` adds, anew for each step, a wind uniform in a disc of that radius.
"""

from dataclasses import dataclass
from math import pi, tan
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tricover.errors import InputError, LostControlError
from tricover.threads import in_ranges
from tricover.vehicles._kernels import GRAVITY, SIZE, Pilot, fly
from tricover.vehicles.airframes import airframe
from tricover.vehicles.limits import control_periods, require_at_least_zero, require_positive, require_vector
from tricover.vehicles.protocol import Floats, Landing, middles, placed, ready

__all__ = ["Quadrotor", "check_flight", "flown", "hovering", "winds"]


def check_flight(vehicle: Any) -> None:
    """Check the settings that all flying vehicles share, and keep the wind as two floats."""
    airframe(vehicle.airframe)
    require_positive(vehicle.kind, "m", altitude=vehicle.altitude)
    require_positive(vehicle.kind, "m/s", max_speed=vehicle.max_speed)
    require_positive(vehicle.kind, "m/s²", max_acceleration=vehicle.max_acceleration)
    require_positive(vehicle.kind, "s", control_period=vehicle.control_period)
    require_vector(vehicle.kind, "m/s", wind=vehicle.wind)
    object.__setattr__(vehicle, "wind", tuple(map(float, vehicle.wind)))


@dataclass(frozen=True)
class Quadrotor:
    """A quadrotor: airframe, altitude (m), limits of planned motion (m/s, m/s²), tilt (rad), wind and gusts (m/s)."""

    airframe: str = "crazyflie"
    altitude: float = 1.0
    max_speed: float = 2.0
    max_acceleration: float = 4.0
    max_tilt: float = 0.6
    wind: tuple[float, float] = (0.0, 0.0)
    gust: float = 0.0
    integral_gain: float = 4.0
    control_period: float = 0.005

    kind: ClassVar[str] = "quadrotor"
    state_size: ClassVar[int] = SIZE
    landing: ClassVar[Landing] = "anywhere"

    def __post_init__(self) -> None:
        check_flight(self)
        require_positive(self.kind, "rad", max_tilt=self.max_tilt)
        require_at_least_zero(self.kind, "m/s", gust=self.gust)
        require_at_least_zero(self.kind, "1/s³", integral_gain=self.integral_gain)
        if self.max_tilt > 1 or self.control_period > 0.01:
            raise InputError(f"vehicle {self.kind!r}: max_tilt must be at most 1 rad and control_period at most 0.01 s")

    @property
    def pilot(self) -> Pilot:
        """What the controller keeps to; the gains are those of RotorPy's controller."""
        return Pilot(
            altitude=float(self.altitude),
            speed=float(self.max_speed),
            acceleration=float(self.max_acceleration),
            sideways=GRAVITY * tan(self.max_tilt),
            position_gain=6.5,
            velocity_gain=4.0,
            integral_gain=float(self.integral_gain),
            altitude_gain=15.0,
            climb_gain=9.0,
        )

    def initial_state(self, positions: ArrayLike) -> Floats:
        """States (agents, 19), hovering level."""
        return hovering(positions, self.airframe, self.altitude)

    def output(self, states: Floats) -> Floats:
        """Ground positions (agents, 2)."""
        return states[:, :2].copy()

    def drive(self, states: Floats, reach_sets: Floats, duration: float, draws: Floats) -> Floats:
        """States after a flight towards the centroids of the reach sets."""
        states, corners = ready(self, states, reach_sets, duration)
        goals, air, pilot = middles(corners), airframe(self.airframe), self.pilot
        steps = control_periods(self.kind, duration, self.control_period)
        blown = winds(self.wind, self.gust, draws)
        new = np.array(states, order="C")

        def part(first: int, last: int) -> None:
            some = slice(first, last)
            fly(new[some], goals[some], blown[some], duration / steps, steps, pilot, air)

        in_ranges(part, len(new), smallest=16)
        return flown(self.kind, new)


def hovering(positions: ArrayLike, name: str, altitude: float) -> Floats:
    """States (agents, 19) of quadrotors that hover level at an altitude above positions (agents, 2)."""
    points, air = placed(positions), airframe(name)
    states = np.zeros((len(points), SIZE))
    states[:, :2], states[:, 2], states[:, 9] = points, altitude, 1.0
    states[:, 13:17] = np.sqrt(air.mass * GRAVITY / (4 * air.thrust))
    return states


def winds(steady: tuple[float, float], gust: float, draws: Floats) -> Floats:
    """Wind (agents, 2) of one step: the steady wind and a gust, uniform in a disc, chosen by the draws."""
    size, angle = gust * np.sqrt(draws[:, 0]), 2 * pi * draws[:, 1]
    return np.asarray(steady + size[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1))


def flown(kind: str, states: Floats) -> Floats:
    """The states, if all are finite; an error names the agents that were lost."""
    lost = np.flatnonzero(~np.isfinite(states).all(axis=1))
    if lost.size:
        raise LostControlError(kind, lost.tolist())
    return states
