"""How far vehicles go in a step and come to rest there.

With speed v, acceleration a, turn rate ω and T = Δt - π/ω seconds for the way, the distance is v·T for who starts and
stops at once, else the lesser of v·T/4 and a·T²/16. That is less than they can, and leaves time to come to rest: a
crazyflie (2 m/s, 4 m/s²) sent so far in steps of 2 s, 1 m, lands within 0.1 m, in steps of 4 s, 2 m, within 0.02 m.
It is judged by ``max_speed``, ``max_acceleration`` and ``max_turn_rate``, which a vehicle of the user's own may have,
too. Who has no ``max_speed`` goes anywhere; who could not even turn is let go a tenth of v·Δt.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.vehicles.limits import finite_number
from tricover.vehicles.mixed import Mixed
from tricover.vehicles.protocol import Vehicle

__all__ = ["ranges"]

_LEAST = 0.1


def ranges(vehicle: Vehicle, agents: int, duration: float) -> NDArray[np.float64]:
    """Metres (N,) that each of a team goes in a step of so many seconds.

    >>> from tricover.vehicles import vehicle
    >>> ranges(vehicle("double-integrator", max_speed=2.0, max_acceleration=2.0), 2, 4.0).tolist()
    [2.0, 2.0]
    """
    if isinstance(vehicle, Mixed):
        return np.array([_range(one, duration) for one in vehicle.vehicles])[list(vehicle.assignment)]
    return np.full(agents, _range(vehicle, duration))


def _range(vehicle: Vehicle, duration: float) -> float:
    speed = getattr(vehicle, "max_speed", None)
    if not finite_number(speed) or speed is None:
        return np.inf
    acceleration, turning = (_or_none(vehicle, name) for name in ("max_acceleration", "max_turn_rate"))
    time = max(duration - (np.pi / turning if turning else 0.0), 0.0)
    length = speed * time if acceleration is None else min(speed * time / 4, acceleration * time**2 / 16)
    return float(max(length, _LEAST * speed * duration))


def _or_none(vehicle: Vehicle, name: str) -> float | None:
    value = getattr(vehicle, name, None)
    return float(value) if value is not None and finite_number(value) else None
