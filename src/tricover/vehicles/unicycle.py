"""A wheeled robot (ẋ, ẏ, θ̇) = (v cos θ, v sin θ, ω) with 0 ≤ v ≤ max_speed and |ω| ≤ max_turn_rate. State: (x, y, θ).

It cannot move sideways, so a step is: turn on the spot to face the goal point, the shorter way round, then drive
straight on. From heading error e and distance D that takes |e|/max_turn_rate + D/max_speed seconds, at most
π/max_turn_rate + D/max_speed. The motion is in closed form: an agent that arrives is at its goal point to the bit; one
that does not has turned, or turned and driven, as far as Δt allows. At its goal point it keeps its heading.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tricover.vehicles.limits import require_positive
from tricover.vehicles.protocol import Floats, Landing, middles, placed, ready

__all__ = ["Unicycle"]


def wrapped(angles: Floats) -> Floats:
    """Angles brought into [-π, π)."""
    return np.asarray((angles + np.pi) % (2 * np.pi) - np.pi)


@dataclass(frozen=True)
class Unicycle:
    """Turns at most ``max_turn_rate`` (rad/s), drives forward at most ``max_speed`` (m/s)."""

    max_speed: float = 1.0
    max_turn_rate: float = 2.0

    kind: ClassVar[str] = "unicycle"
    state_size: ClassVar[int] = 3
    landing: ClassVar[Landing] = "anywhere"

    def __post_init__(self) -> None:
        require_positive(self.kind, "m/s", max_speed=self.max_speed)
        require_positive(self.kind, "rad/s", max_turn_rate=self.max_turn_rate)

    def initial_state(self, positions: ArrayLike) -> Floats:
        """States (agents, 3), facing east."""
        points = placed(positions)
        return np.hstack([points, np.zeros((len(points), 1))])

    def output(self, states: Floats) -> Floats:
        """Positions (agents, 2)."""
        return states[:, :2].copy()

    def drive(self, states: Floats, reach_sets: Floats, duration: float, draws: Floats) -> Floats:
        """States after turning towards, and driving to, the centroids of the reach sets."""
        states, corners = ready(self, states, reach_sets, duration)
        goals, headings = middles(corners), states[:, 2]
        legs = goals - states[:, :2]
        distances = np.hypot(legs[:, 0], legs[:, 1])
        bearings = np.where(distances > 0, np.arctan2(legs[:, 1], legs[:, 0]), headings)
        errors = wrapped(bearings - headings)
        most = self.max_turn_rate * duration
        turned = np.abs(errors) <= most
        faced = np.where(turned, bearings, wrapped(headings + np.clip(errors, -most, most)))
        room = np.maximum(duration - np.abs(errors) / self.max_turn_rate, 0) * self.max_speed
        share = np.divide(room, distances, out=np.zeros_like(room), where=distances > 0)[:, None]
        arrived = (turned & (room >= distances))[:, None]
        moved = np.where(arrived, goals, states[:, :2] + np.minimum(share, 1) * legs)
        return np.hstack([moved, faced[:, None]])
