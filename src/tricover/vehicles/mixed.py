"""A team of several kinds of vehicle, seen as one vehicle.

A state row is (which vehicle, that vehicle's state, zeros up to the longest), so a row says itself how to drive it: any
part of the team, in any order, is a batch, and a stored run needs nothing else to go on.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError, listed
from tricover.vehicles.protocol import Floats, Vehicle, placed, ready

__all__ = ["Mixed"]


@dataclass(frozen=True)
class Mixed:
    """Agent i rides ``vehicles[assignment[i]]``."""

    vehicles: tuple[Vehicle, ...]
    assignment: tuple[int, ...]

    kind: ClassVar[str] = "mixed"

    def __post_init__(self) -> None:
        wrong = [agent for agent, which in enumerate(self.assignment) if not 0 <= which < len(self.vehicles)]
        if wrong:
            raise InputError(
                f"agent {listed(wrong)} is assigned a vehicle that is not among the {len(self.vehicles)} given"
            )

    @property
    def state_size(self) -> int:
        """One number for the vehicle, and room for the longest state."""
        return 1 + max(vehicle.state_size for vehicle in self.vehicles)

    def initial_state(self, positions: ArrayLike) -> Floats:
        """States (agents, state_size) of the whole team at rest at positions (agents, 2), agent by agent."""
        points = placed(positions)
        if len(points) != len(self.assignment):
            raise InputError(f"{len(self.assignment)} agents have a vehicle, but {len(points)} positions are given")
        states = np.zeros((len(points), self.state_size))
        states[:, 0] = self.assignment
        return self._by_vehicle(states, lambda vehicle, rows: vehicle.initial_state(points[rows]), states)

    def output(self, states: Floats) -> Floats:
        """Ground positions (agents, 2)."""
        out = np.empty((len(states), 3))
        return self._by_vehicle(states, lambda vehicle, rows: vehicle.output(self._own(vehicle, states[rows])), out)[
            :, 1:
        ]

    def drive(self, states: Floats, reach_sets: Floats, duration: float, draws: Floats) -> Floats:
        """Each vehicle drives its own agents."""
        states, corners = ready(self, states, reach_sets, duration)
        return self._by_vehicle(
            states,
            lambda vehicle, rows: vehicle.drive(self._own(vehicle, states[rows]), corners[rows], duration, draws[rows]),
            states.copy(),
        )

    @staticmethod
    def _own(vehicle: Vehicle, states: Floats) -> Floats:
        return np.ascontiguousarray(states[:, 1 : 1 + vehicle.state_size])

    def _by_vehicle(
        self, states: Floats, work: Callable[[Vehicle, NDArray[np.intp]], Floats], results: Floats
    ) -> Floats:
        """Fill the columns of ``results`` after the first with what each vehicle makes of its own rows."""
        for which, vehicle in enumerate(self.vehicles):
            rows = np.flatnonzero(states[:, 0] == which)
            if rows.size:
                part = work(vehicle, rows)
                results[rows, 1 : 1 + part.shape[1]] = part
        return results
