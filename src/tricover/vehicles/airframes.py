"""Quadrotors as measured: the parameters that RotorPy publishes for two well-known airframes.

Rotors 1 to 4 sit at (+, +), (+, -), (-, -), (-, +) times ``arm`` in body coordinates (x forward, y left, z up);
rotors 1 and 3 turn one way, 2 and 4 the other. Attitude gains are those that RotorPy ships with each airframe.
"""

from typing import NamedTuple

from tricover.errors import InputError, advice, shown

__all__ = ["AIRFRAMES", "Airframe", "airframe"]


class Airframe(NamedTuple):
    """A quadrotor's physical constants, in SI units, and the gains of its attitude loop."""

    mass: float  # kg
    inertia_x: float  # kg m²
    inertia_y: float
    inertia_z: float
    arm: float  # m, along x and along y
    thrust: float  # N/(rad/s)²
    torque: float  # N m/(rad/s)²
    rotor_drag: float  # kg/rad, in the rotor's plane
    inflow: float  # kg/rad, along its axis
    lift: float  # kg/m, translational
    flapping: float  # kg m/rad
    drag_x: float  # N/(m/s)², of the frame
    drag_y: float
    drag_z: float
    lag: float  # s, of the motors
    slowest: float  # rad/s
    fastest: float
    attitude_gain: float  # 1/s²
    rate_gain: float  # 1/s


DIAGONAL = 0.70710678118  # to the digits RotorPy gives

AIRFRAMES = {
    "crazyflie": Airframe(
        mass=0.03,
        inertia_x=1.43e-5,
        inertia_y=1.43e-5,
        inertia_z=2.89e-5,
        arm=0.043 * DIAGONAL,
        thrust=2.3e-8,
        torque=7.8e-10,
        rotor_drag=10.2506e-7,
        inflow=7.553e-7,
        lift=0.0,
        flapping=0.0,
        drag_x=0.0,
        drag_y=0.0,
        drag_z=0.0,
        lag=0.072,
        slowest=0.0,
        fastest=2500.0,
        attitude_gain=310.0,
        rate_gain=57.0,
    ),
    "hummingbird": Airframe(
        mass=0.5,
        inertia_x=3.65e-3,
        inertia_y=3.68e-3,
        inertia_z=7.03e-3,
        arm=0.17 * DIAGONAL,
        thrust=5.57e-6,
        torque=1.36e-7,
        rotor_drag=1.19e-4,
        inflow=2.32e-4,
        lift=3.39e-3,
        flapping=0.0,
        drag_x=0.5e-2,
        drag_y=0.5e-2,
        drag_z=1e-2,
        lag=0.005,
        slowest=0.0,
        fastest=1500.0,
        attitude_gain=544.0,
        rate_gain=46.64,
    ),
}


def airframe(name: str) -> Airframe:
    """The airframe of that name."""
    if name not in tuple(AIRFRAMES):  # what a file says may not even be hashable
        raise InputError(f"unknown airframe {shown(name)}; {advice(str(name), AIRFRAMES)}")
    return AIRFRAMES[name]
