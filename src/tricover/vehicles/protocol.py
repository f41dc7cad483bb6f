"""What a vehicle is: a model x[t+1] = f(x[t], u[t]) with an output r[t] = h(x[t]) on the ground (paper, Definition 1).

Anyway output controllability (AOC) asks that from any state there is an input that brings the output into a given
reach set P, and Assumption 1 that one time step is enough: r[t+1] ∈ P. A vehicle answers with ``drive``: bring the
output into this reach set within one step of Δt seconds. The output ends where it really ends, which may be a miss
(see ``landing``).

A vehicle handles a batch of agents of one kind. It holds only constants (a frozen dataclass: limits, gains, wind); what
changes is the caller's, a plain float64 array of states (agents, state_size), so that a run can be stored and resumed
to the bit. An agent's new state depends only on its own row of the arguments, never on the batch around it.

Randomness comes in as ``draws`` (agents, 2), uniform in [0, 1), which ``step_draws`` makes from (seed, step, agent) by
a counter-based generator: nothing has to be remembered between steps, and no order of calls or threads matters.

A vehicle says what can be relied on (``landing``), and nobody asks for its name:

    centre     it ends in the middle of its reach set, to the bit
    inside     it ends somewhere in its reach set, always
    anywhere   it makes for its reach set and may miss it, as real vehicles do
"""

from typing import Literal, Protocol, TypeAlias, get_args, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.draws import VEHICLES, uniforms
from tricover.errors import InputError, listed

__all__ = ["LANDINGS", "Landing", "Piloted", "Vehicle", "check_vehicle", "middles", "placed", "ready", "step_draws"]

Floats = NDArray[np.float64]

Landing: TypeAlias = Literal["centre", "inside", "anywhere"]
LANDINGS: tuple[Landing, ...] = get_args(Landing)


class Vehicle(Protocol):
    """A kind of vehicle with its limits; all methods work on a batch of agents, one row each, and change nothing."""

    @property
    def kind(self) -> str:
        """Its name, for people; ``vehicle`` makes the built-in kinds by it."""

    @property
    def landing(self) -> Landing:
        """How it lands: in the "centre" of its reach set, "inside" it, or "anywhere"."""

    @property
    def state_size(self) -> int:
        """How many numbers describe one agent."""

    def initial_state(self, positions: ArrayLike) -> Floats:
        """States (agents, state_size) of agents at rest at positions (agents, 2), in metres."""

    def output(self, states: Floats) -> Floats:
        """Ground positions (agents, 2) of agents in these states, in metres."""

    def drive(self, states: Floats, reach_sets: Floats, duration: float, draws: Floats) -> Floats:
        """States after one step of ``duration`` seconds in which each agent makes for its reach set.

        reach_sets (agents, 3, 2) are triangles, or single points (three equal corners); draws (agents, 2) come from
        ``step_draws``. An agent that cannot get there in time goes as far as it can.
        """


@runtime_checkable
class Piloted(Protocol):
    """What a vehicle has besides if it is a real one: it takes off, lands, and moves in real time when driven.

    Nobody drives such a vehicle to see what would happen.
    """

    def begin(self, states: Floats) -> Floats:
        """Take off; the states once it is up and follows. ``drive`` does it by itself if nobody did."""

    def finish(self) -> None:
        """Land here, and let go of it when it is on the ground."""

    def go_home(self) -> None:
        """Return to where it took off, land there, and let go of it."""


def step_draws(seed: int, step: int, agents: int | ArrayLike) -> Floats:
    """Uniform numbers (A, 2) in [0, 1) for one step of these agents, or of so many: see ``tricover.draws``.

    >>> bool((step_draws(7, 3, 5)[:2] == step_draws(7, 3, 2)).all())
    True
    """
    return uniforms(seed, VEHICLES, step, agents)


def check_vehicle(vehicle: object) -> None:
    """Refuse what is no vehicle; an error names what is missing or wrong."""
    parts = ("kind", "landing", "state_size", "initial_state", "output", "drive")
    missing = [part for part in parts if not hasattr(vehicle, part)]
    name = type(vehicle).__name__
    if missing:
        raise InputError(f"{name} is no vehicle: it has no {listed(missing)} (see tricover.vehicles.Vehicle)")
    landing = vehicle.landing  # type: ignore[attr-defined]
    if landing not in LANDINGS:
        raise InputError(f"vehicle {name}: landing must be {', '.join(map(repr, LANDINGS))}, not {landing!r}")


def middles(reach_sets: ArrayLike) -> Floats:
    """Where a vehicle aims: the centroids (agents, 2) of reach sets (agents, 3, 2).

    A single point, three equal corners, is its own centroid to the bit.

    >>> middles([[[0.0, 0], [3, 0], [0, 3]]]).tolist()
    [[1.0, 1.0]]
    """
    corners = np.asarray(reach_sets, dtype=np.float64)
    first = corners[..., 0, :]
    # Differences first: three equal corners give back exactly that point, which a mean of three does not.
    return np.asarray(first + ((corners[..., 1, :] - first) + (corners[..., 2, :] - first)) / 3)


def placed(positions: ArrayLike) -> Floats:
    """Positions (agents, 2) as a new float64 array; an error names the agents that stand nowhere."""
    points = np.array(positions, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise InputError(f"positions must have the shape (agents, 2), not {points.shape}")
    lost = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if lost.size:
        raise InputError(f"agent {listed(lost)} has a position that is not finite")
    return points


def ready(vehicle: Vehicle, states: ArrayLike, reach_sets: ArrayLike, duration: float) -> tuple[Floats, Floats]:
    """States and reach sets as float64 arrays, checked before a drive; an error names the agent or the duration."""
    rows, corners = np.asarray(states, dtype=np.float64), np.asarray(reach_sets, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != vehicle.state_size:
        raise InputError(
            f"states of {vehicle.kind} must have the shape (agents, {vehicle.state_size}), not {rows.shape}"
        )
    if corners.shape != (len(rows), 3, 2):
        raise InputError(
            f"reach sets of {len(rows)} agents must have the shape ({len(rows)}, 3, 2), not {corners.shape}"
        )
    if not (np.isfinite(duration) and duration > 0):
        raise InputError(f"duration must be a positive number of seconds, not {duration}")
    lost = np.flatnonzero(~(np.isfinite(rows).all(axis=1) & np.isfinite(corners).all(axis=(1, 2))))
    if lost.size:
        raise InputError(f"agent {listed(lost)} has a state or a reach set that is not finite")
    return rows, corners
