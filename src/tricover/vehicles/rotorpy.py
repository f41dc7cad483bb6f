"""RotorPy itself: its published multirotor model flown by its own controller, one agent at a time.

The planned motion is that of ``quadrotor``; model, integrator and controller are RotorPy's (``Multirotor``,
``SE3Control``), called every ``control_period``. It is the reference that our compiled quadrotor is held against. It
costs about a millisecond per agent and call, so it is for small teams. RotorPy's controller has no integral term: a
steady wind leaves it off its goal point. State: the first 17 numbers of a ``quadrotor`` state.
"""

from dataclasses import dataclass
from importlib import import_module
from math import hypot
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tricover.errors import LostControlError, MissingExtraError
from tricover.vehicles._kernels import minimum_jerk, plan
from tricover.vehicles.limits import control_periods
from tricover.vehicles.protocol import Floats, Landing, middles, ready
from tricover.vehicles.quadrotor import Quadrotor, check_flight, flown, hovering

__all__ = ["RotorPy"]

# RotorPy's names for the parts of a state row: position, velocity, attitude, body rates, rotor speeds.
PARTS = {"x": slice(0, 3), "v": slice(3, 6), "q": slice(6, 10), "w": slice(10, 13), "rotor_speeds": slice(13, 17)}


def _library(name: str) -> tuple[Any, Any]:
    """RotorPy's model and controller of an airframe."""
    try:
        models = import_module("rotorpy.vehicles.multirotor")
        controllers = import_module("rotorpy.controllers.quadrotor_control")
        parameters = import_module(f"rotorpy.vehicles.{name}_params").quad_params
    except ImportError as error:
        raise MissingExtraError(
            "vehicle 'rotorpy' needs the library RotorPy: pip install 'tricover[vehicles]'"
        ) from error
    return models.Multirotor(parameters), controllers.SE3Control(parameters)


@dataclass(frozen=True)
class RotorPy:
    """RotorPy's quadrotor: airframe, altitude (m), limits of planned motion (m/s, m/s²), steady wind (m/s)."""

    airframe: str = "crazyflie"
    altitude: float = 1.0
    max_speed: float = 2.0
    max_acceleration: float = 4.0
    wind: tuple[float, float] = (0.0, 0.0)
    control_period: float = 0.01

    kind: ClassVar[str] = "rotorpy"
    state_size: ClassVar[int] = 17
    landing: ClassVar[Landing] = "anywhere"

    def __post_init__(self) -> None:
        check_flight(self)
        _library(self.airframe)

    def initial_state(self, positions: ArrayLike) -> Floats:
        """States (agents, 17), hovering level."""
        return hovering(positions, self.airframe, self.altitude)[:, :17].copy()

    def output(self, states: Floats) -> Floats:
        """Ground positions (agents, 2)."""
        return states[:, :2].copy()

    def drive(self, states: Floats, reach_sets: Floats, duration: float, draws: Floats) -> Floats:
        """States after a flight by RotorPy towards the centroids of the reach sets."""
        states, corners = ready(self, states, reach_sets, duration)
        library, new = _library(self.airframe), np.empty_like(states)
        for agent, goal in enumerate(middles(corners)):
            try:
                new[agent] = self._fly(states[agent], goal, duration, *library)
            except ValueError as error:  # what SciPy raises inside RotorPy once a number is not finite
                raise LostControlError(self.kind, [agent]) from error
        return flown(self.kind, new)

    def _fly(self, row: Floats, goal: Floats, duration: float, model: Any, controller: Any) -> Floats:
        """One agent's flight: the planned motion sampled at every control period."""
        steps = control_periods(self.kind, duration, self.control_period)
        period, (leg, speed) = duration / steps, (goal - row[:2], row[3:5])
        pilot = Quadrotor(max_speed=self.max_speed, max_acceleration=self.max_acceleration).pilot
        time, share = plan(leg[0], leg[1], hypot(*speed), duration, pilot)
        state: dict[str, Any] = {"wind": np.array([*self.wind, 0.0])}
        state |= {part: row[columns] for part, columns in PARTS.items()}
        for step in range(steps):
            axes = [minimum_jerk(share * leg[k], speed[k], time, step * period) for k in range(2)]
            place, pace, change = zip(*axes, strict=True)
            wanted = {
                "x": np.array([row[0] + place[0], row[1] + place[1], self.altitude]),
                "x_dot": np.array([*pace, 0.0]),
                "x_ddot": np.array([*change, 0.0]),
                "yaw": 0.0,
                "yaw_dot": 0.0,
            }
            state = model.step(state, controller.update(step * period, state, wanted), period)
        return np.concatenate([state[part] for part in PARTS])
