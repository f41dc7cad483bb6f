"""Compiled flight of quadrotors: the rigid body, its integration and its controller; ``quadrotor`` has the equations.

A state row is position 0:3, velocity 3:6, attitude quaternion (x, y, z, w) 6:10, body rates 10:13, rotor speeds 13:17,
integral of the horizontal position error 17:19.
"""

from math import exp, hypot, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel
from tricover.vehicles.airframes import Airframe

__all__ = ["GRAVITY", "SIZE", "Pilot", "fly", "follow", "minimum_jerk", "plan", "spin"]

Floats = NDArray[np.float64]

GRAVITY = 9.81  # m/s²
SIZE = 19  # numbers of a state

# A minimum-jerk motion over T: largest speed and acceleration of a displacement d, in d/T and d/T², and the largest
# acceleration that bringing a start speed v to rest adds, in v/T.
PEAK_SPEED = 15 / 8
PEAK_ACCELERATION = 10 / sqrt(3)
PEAK_BRAKING = (224 + 152 * sqrt(19)) / 225
LEAST_LIFT = GRAVITY / 4  # thrust per mass that is kept up to steer with
PLANNED = 0.7  # share of a step for the planned motion; the rest is for settling


class Pilot(NamedTuple):
    """What the controller keeps to, in SI units: altitude, limits of the plan, largest sideways command, gains."""

    altitude: float
    speed: float
    acceleration: float
    sideways: float
    position_gain: float
    velocity_gain: float
    integral_gain: float
    altitude_gain: float
    climb_gain: float


@kernel
def plan(leg_x: float, leg_y: float, speed: float, duration: float, pilot: Pilot) -> tuple[float, float]:
    """Time of the planned motion, and the share of the leg to the goal that the limits allow in it."""
    time = max(PLANNED * duration, PEAK_BRAKING * speed / pilot.acceleration)
    reach = (pilot.acceleration * time - PEAK_BRAKING * speed) * time / PEAK_ACCELERATION
    reach = min(max(reach, 0.0), pilot.speed * time / PEAK_SPEED)
    length = hypot(leg_x, leg_y)
    return time, 1.0 if length <= reach else reach / length


@kernel
def minimum_jerk(leg: float, speed: float, time: float, now: float) -> tuple[float, float, float]:
    """Displacement, velocity and acceleration at ``now`` of the quintic from (0, speed) to rest at ``leg``."""
    if now >= time:
        return leg, 0.0, 0.0
    u, v = now / time, speed * time
    place = leg * u**3 * (10 - 15 * u + 6 * u**2) + v * u * (1 - u**2 * (6 - 8 * u + 3 * u**2))
    pace = leg * 30 * u**2 * (1 - u) ** 2 + v * (1 - u**2 * (18 - 32 * u + 15 * u**2))
    change = leg * 60 * u * (1 - u) * (1 - 2 * u) - v * u * (36 - 96 * u + 60 * u**2)
    return place, pace / time, change / time**2


@kernel
def _columns(x: float, y: float, z: float, w: float, R: Floats) -> None:
    """The rotation matrix of a unit quaternion."""
    R[0, 0], R[0, 1], R[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)
    R[1, 0], R[1, 1], R[1, 2] = 2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)
    R[2, 0], R[2, 1], R[2, 2] = 2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)


@kernel
def _slope(body: Floats, rotors: Floats, wind: Floats, air: Airframe, R: Floats, slope: Floats) -> None:
    """Time derivative of the rigid body (13,) at given rotor speeds (4,)."""
    x, y, z, w = body[6], body[7], body[8], body[9]
    norm = sqrt(x * x + y * y + z * z + w * w)
    _columns(x / norm, y / norm, z / norm, w / norm, R)
    p, q, r = body[10], body[11], body[12]
    ax, ay, az = body[3] - wind[0], body[4] - wind[1], body[5]
    bx = R[0, 0] * ax + R[1, 0] * ay + R[2, 0] * az
    by = R[0, 1] * ax + R[1, 1] * ay + R[2, 1] * az
    bz = R[0, 2] * ax + R[1, 2] * ay + R[2, 2] * az
    pace = sqrt(bx * bx + by * by + bz * bz)
    force_x, force_y, force_z = -pace * air.drag_x * bx, -pace * air.drag_y * by, -pace * air.drag_z * bz
    moment_x = moment_y = moment_z = 0.0
    for rotor in range(4):
        arm_x = air.arm if rotor < 2 else -air.arm
        arm_y = air.arm if rotor == 0 or rotor == 3 else -air.arm
        turn = 1.0 if rotor % 2 == 0 else -1.0
        speed = rotors[rotor]
        lx, ly, lz = bx - r * arm_y, by + r * arm_x, bz + p * arm_y - q * arm_x
        fx, fy = -speed * air.rotor_drag * lx, -speed * air.rotor_drag * ly
        fz = air.thrust * speed * speed + air.lift * (lx * lx + ly * ly) - speed * air.inflow * lz
        force_x, force_y, force_z = force_x + fx, force_y + fy, force_z + fz
        moment_x += arm_y * fz - air.flapping * speed * ly
        moment_y += -arm_x * fz + air.flapping * speed * lx
        moment_z += arm_x * fy - arm_y * fx + turn * air.torque * speed * speed
    for row in range(3):
        slope[row] = body[3 + row]
        slope[3 + row] = (R[row, 0] * force_x + R[row, 1] * force_y + R[row, 2] * force_z) / air.mass
    slope[5] -= GRAVITY
    slope[6] = 0.5 * (w * p - z * q + y * r)
    slope[7] = 0.5 * (z * p + w * q - x * r)
    slope[8] = 0.5 * (-y * p + x * q + w * r)
    slope[9] = 0.5 * (-x * p - y * q - z * r)
    slope[10] = (moment_x - (air.inertia_z - air.inertia_y) * q * r) / air.inertia_x
    slope[11] = (moment_y - (air.inertia_x - air.inertia_z) * r * p) / air.inertia_y
    slope[12] = (moment_z - (air.inertia_y - air.inertia_x) * p * q) / air.inertia_z


@kernel
def _advance(state: Floats, command: Floats, wind: Floats, h: float, air: Airframe, work: Floats, R: Floats) -> None:
    """One Runge-Kutta step of order 4 of h seconds, in place; the motors' lag is followed in closed form."""
    half, whole = exp(-h / 2 / air.lag), exp(-h / air.lag)
    rotors, body = work[5], work[4]
    for k in range(13):
        body[k] = state[k]
    for stage in range(4):
        fade = 1.0 if stage == 0 else half if stage < 3 else whole
        for rotor in range(4):
            rotors[rotor] = command[rotor] + (state[13 + rotor] - command[rotor]) * fade
        _slope(body, rotors, wind, air, R, work[stage])
        ahead = h if stage == 2 else h / 2
        for k in range(13):
            body[k] = state[k] + ahead * work[stage, k]
    for k in range(13):
        state[k] += h / 6 * (work[0, k] + 2 * work[1, k] + 2 * work[2, k] + work[3, k])
    norm = sqrt(state[6] ** 2 + state[7] ** 2 + state[8] ** 2 + state[9] ** 2)
    for k in range(4):
        state[6 + k] /= norm
        state[13 + k] = rotors[k]


@kernel
def _allocate(thrust: float, mx: float, my: float, mz: float, air: Airframe, command: Floats) -> None:
    """Rotor speeds that give this thrust and these moments, as near as the motors' limits allow."""
    lever, twist = 4 * air.arm, 4 * air.torque / air.thrust
    for rotor in range(4):
        side_x = 1.0 if rotor < 2 else -1.0
        side_y = 1.0 if rotor == 0 or rotor == 3 else -1.0
        turn = 1.0 if rotor % 2 == 0 else -1.0
        force = thrust / 4 + side_y * mx / lever - side_x * my / lever + turn * mz / twist
        command[rotor] = min(max(sqrt(max(force, 0.0) / air.thrust), air.slowest), air.fastest)


@kernel
def _steer(state: Floats, wanted: Floats, pilot: Pilot, air: Airframe, R: Floats, D: Floats, command: Floats) -> None:
    """Rotor commands of the geometric controller; wanted: position, velocity and acceleration (3, 2) on the ground."""
    gain, damping, integral = pilot.position_gain, pilot.velocity_gain, pilot.integral_gain
    fx = wanted[2, 0] - gain * (state[0] - wanted[0, 0]) - damping * (state[3] - wanted[1, 0]) - integral * state[17]
    fy = wanted[2, 1] - gain * (state[1] - wanted[0, 1]) - damping * (state[4] - wanted[1, 1]) - integral * state[18]
    over = max(1.0, hypot(fx, fy) / pilot.sideways)
    fx, fy = fx / over, fy / over
    fz = GRAVITY - pilot.altitude_gain * (state[2] - pilot.altitude) - pilot.climb_gain * state[5]
    fz = min(max(fz, LEAST_LIFT), 2 * GRAVITY)
    _columns(state[6], state[7], state[8], state[9], R)
    # Upside down the wanted thrust is negative; rotors that stand still could not turn the frame over.
    thrust = air.mass * max(fx * R[0, 2] + fy * R[1, 2] + fz * R[2, 2], LEAST_LIFT)
    size, flank = sqrt(fx * fx + fy * fy + fz * fz), hypot(fz, fy)
    # Wanted attitude: third axis along the force, second across it and the heading, which is kept east.
    D[0, 2], D[1, 2], D[2, 2] = fx / size, fy / size, fz / size
    D[0, 1], D[1, 1], D[2, 1] = 0.0, fz / flank, -fy / flank
    D[0, 0] = D[1, 1] * D[2, 2] - D[2, 1] * D[1, 2]
    D[1, 0] = D[2, 1] * D[0, 2]
    D[2, 0] = -D[1, 1] * D[0, 2]
    ex = ey = ez = 0.0
    for row in range(3):
        ex += (D[row, 2] * R[row, 1] - D[row, 1] * R[row, 2]) / 2
        ey += (D[row, 0] * R[row, 2] - D[row, 2] * R[row, 0]) / 2
        ez += (D[row, 1] * R[row, 0] - D[row, 0] * R[row, 1]) / 2
    p, q, r = state[10], state[11], state[12]
    mx = -air.inertia_x * (air.attitude_gain * ex + air.rate_gain * p) + (air.inertia_z - air.inertia_y) * q * r
    my = -air.inertia_y * (air.attitude_gain * ey + air.rate_gain * q) + (air.inertia_x - air.inertia_z) * r * p
    mz = -air.inertia_z * (air.attitude_gain * ez + air.rate_gain * r) + (air.inertia_y - air.inertia_x) * p * q
    _allocate(thrust, mx, my, mz, air, command)


@kernel
def _add_drift(state: Floats, wanted: Floats, h: float, pilot: Pilot) -> None:
    """Add a control period to the integral of the position error; it asks for half the sideways limit at most."""
    most = pilot.sideways / 2 / max(pilot.integral_gain, 1e-9)
    for axis in range(2):
        drift = state[17 + axis] + h * (state[axis] - wanted[0, axis])
        state[17 + axis] = min(max(drift, -most), most)


@kernel
def spin(states: Floats, commands: Floats, winds: Floats, h: float, steps: int, air: Airframe) -> None:
    """Fly with constant rotor commands (agents, 4) for ``steps`` times h seconds, in place."""
    work, R = np.empty((6, 13)), np.empty((3, 3))
    for agent in range(len(states)):
        for _ in range(steps):
            _advance(states[agent], commands[agent], winds[agent], h, air, work, R)


@kernel
def fly(states: Floats, goals: Floats, winds: Floats, h: float, steps: int, pilot: Pilot, air: Airframe) -> None:
    """Fly towards goals (agents, 2) for ``steps`` control periods of h seconds, in place."""
    work, R, D = np.empty((6, 13)), np.empty((3, 3)), np.empty((3, 3))
    wanted, start, leg, command = np.empty((3, 2)), np.empty(4), np.empty(2), np.empty(4)
    for agent in range(len(states)):
        state = states[agent]
        for axis in range(2):
            start[axis], start[2 + axis] = state[axis], state[3 + axis]
            leg[axis] = goals[agent, axis] - state[axis]
        time, share = plan(leg[0], leg[1], hypot(start[2], start[3]), h * steps, pilot)
        for step in range(steps):
            for axis in range(2):
                place, pace, change = minimum_jerk(share * leg[axis], start[2 + axis], time, step * h)
                wanted[0, axis], wanted[1, axis], wanted[2, axis] = start[axis] + place, pace, change
            _add_drift(state, wanted, h, pilot)
            _steer(state, wanted, pilot, air, R, D, command)
            _advance(state, command, winds[agent], h, air, work, R)


@kernel
def follow(states: Floats, wanted: Floats, winds: Floats, h: float, steps: int, pilot: Pilot, air: Airframe) -> None:
    """Follow points (agents, 3, 2), position, velocity and acceleration, for ``steps`` control periods of h seconds.

    States and points move on, in place.
    """
    work, R, D, command = np.empty((6, 13)), np.empty((3, 3)), np.empty((3, 3)), np.empty(4)
    for agent in range(len(states)):
        state, point = states[agent], wanted[agent]
        for _ in range(steps):
            _add_drift(state, point, h, pilot)
            _steer(state, point, pilot, air, R, D, command)
            _advance(state, command, winds[agent], h, air, work, R)
            for axis in range(2):
                point[0, axis] += h * (point[1, axis] + h / 2 * point[2, axis])
                point[1, axis] += h * point[2, axis]
