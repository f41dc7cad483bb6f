"""A team of several kinds of vehicle, seen as one vehicle.

A state row is (which vehicle, that vehicle's state, zeros up to the longest), so a row says itself how to drive it: any
part of the team, in any order, is a batch, and a stored run needs nothing else to go on.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError, LostControlError, listed
from tricover.vehicles.protocol import Floats, Landing, Piloted, Vehicle, placed, ready

__all__ = ["Mixed", "come_down", "flies_for_real", "lands", "take_off"]


@dataclass(frozen=True)
class Mixed:
    """Agent i rides ``vehicles[assignment[i]]``."""

    vehicles: tuple[Vehicle, ...]
    assignment: tuple[int, ...]

    kind: ClassVar[str] = "mixed"

    def __post_init__(self) -> None:
        if not self.vehicles:
            raise InputError("a mixed team needs at least one vehicle")
        wrong = [agent for agent, which in enumerate(self.assignment) if not 0 <= which < len(self.vehicles)]
        if wrong:
            raise InputError(
                f"agent {listed(wrong)} is assigned a vehicle that is not among the {len(self.vehicles)} given"
            )

    @property
    def landing(self) -> Landing:
        """What can be relied on for all of them; ``lands`` tells them apart."""
        ways = {vehicle.landing for vehicle in self.vehicles}
        return "anywhere" if "anywhere" in ways else "inside" if "inside" in ways else "centre"

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
        for vehicle, rows, columns in self._groups(states):
            states[rows, columns] = vehicle.initial_state(points[rows])
        return states

    def output(self, states: Floats) -> Floats:
        """Ground positions (agents, 2)."""
        outputs = np.empty((len(states), 2))
        for vehicle, rows, columns in self._groups(states):
            outputs[rows] = vehicle.output(states[rows, columns])
        return outputs

    def drive(self, states: Floats, reach_sets: Floats, duration: float, draws: Floats) -> Floats:
        """Each vehicle drives its own agents."""
        states, corners = ready(self, states, reach_sets, duration)
        new = states.copy()
        for vehicle, rows, columns in self._groups(states):
            try:
                new[rows, columns] = vehicle.drive(states[rows, columns], corners[rows], duration, draws[rows])
            except LostControlError as error:  # name agents by their rows in the whole batch
                raise error.of(rows[list(error.agents)].tolist()) from error
        return new

    def begin(self, states: Floats) -> Floats:
        """Those that fly for real take off; the states (agents, state_size) of all once they are up."""
        new = states.copy()
        for vehicle, rows, columns in self._groups(states):
            if rows.size:
                new[rows, columns] = take_off(vehicle, states[rows, columns], rows)
        return new

    def _groups(self, states: Floats) -> Iterator[tuple[Vehicle, NDArray[np.intp], slice]]:
        """Each vehicle with its rows, and the columns of its own state."""
        unknown = np.flatnonzero(~np.isin(states[:, 0], np.arange(len(self.vehicles))))
        if unknown.size:
            raise InputError(f"agent {listed(unknown)} has a state of none of the {len(self.vehicles)} vehicles")
        for which, vehicle in enumerate(self.vehicles):
            yield vehicle, np.flatnonzero(states[:, 0] == which), slice(1, 1 + vehicle.state_size)


def take_off(vehicle: Vehicle, states: Floats, agents: NDArray[np.intp]) -> Floats:
    """States (A, S) of agents (A,) once those of them that fly for real are up; others stay as they are."""
    try:
        return vehicle.begin(states) if isinstance(vehicle, Mixed | Piloted) else states.copy()
    except LostControlError as error:  # it names rows of the batch
        raise error.of(agents[list(error.agents)].tolist()) from error


def come_down(vehicle: Piloted, agent: int) -> None:
    """Land the real vehicle of an agent; an error names the agent."""
    try:
        vehicle.finish()
    except LostControlError as error:
        raise error.of([agent]) from error


def flies_for_real(vehicle: Vehicle) -> bool:
    """Whether driving this vehicle, or one of a mixed team, moves something in the world."""
    kinds = vehicle.vehicles if isinstance(vehicle, Mixed) else (vehicle,)
    return any(isinstance(one, Piloted) for one in kinds)


def lands(vehicle: Vehicle, agents: int, *ways: Landing) -> NDArray[np.bool_]:
    """Which of a team's agents (N,) land in one of these ways; read-only.

    >>> from tricover.vehicles import vehicle
    >>> lands(Mixed((vehicle("exact"), vehicle("anywhere")), (0, 1, 0)), 3, "centre").tolist()
    [True, False, True]
    """
    if not isinstance(vehicle, Mixed):
        return np.broadcast_to(np.bool_(vehicle.landing in ways), (agents,))
    found = np.array([one.landing in ways for one in vehicle.vehicles])[list(vehicle.assignment)]
    found.flags.writeable = False
    return found
