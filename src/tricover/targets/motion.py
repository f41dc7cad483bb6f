"""How targets move: along an array over time, all with one velocity, in a velocity field, or by a function of time.

A motion says where all targets stand at a step; steps are whole numbers from 0 on, and time is counted in steps.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError
from tricover.formats.points import checked_positions

__all__ = ["Drift", "Motion", "Path", "Steady", "Track"]

Floats = NDArray[np.float64]


class Motion(Protocol):
    """Where the targets stand at each step."""

    def at(self, step: int) -> Floats:
        """Positions (D, 2) at a step."""
        ...


def _checked(positions: ArrayLike, count: int | None, step: float) -> Floats:
    try:
        found = checked_positions(positions, dimensions=(2,))
    except InputError as error:
        raise InputError(f"moving targets at step {step}: {error}") from error
    if count is not None and len(found) != count:
        raise InputError(f"moving targets at step {step}: {len(found)} positions for {count} targets")
    return found


def _refused_beyond(found: Floats, step: int) -> Floats:
    """Positions that were worked out here, unless targets have gone farther than coordinates reach."""
    found.setflags(write=False)  # nobody else has them: no copy is needed
    return _checked(found, len(found), step)


@dataclass(frozen=True, eq=False)
class Track:
    """Positions over time (T, D, 2), one row per step; after the last, targets stay where they are."""

    positions: Floats

    @classmethod
    def checked(cls, positions: ArrayLike) -> "Track":
        """A track from positions that a user gave."""
        steps = np.asarray(positions)
        if not len(steps):
            raise InputError("points over time need at least one step")
        return cls(np.stack([_checked(row, None, step) for step, row in enumerate(steps)]))

    def at(self, step: int) -> Floats:
        """Positions (D, 2) at a step."""
        return np.asarray(self.positions[min(step, len(self.positions) - 1)])


@dataclass(frozen=True, eq=False)
class Steady:
    """Targets that start at (D, 2) and all move by ``velocity`` (2,) in each step, up to the step ``until``."""

    start: Floats
    velocity: Floats
    until: int | None = None

    def at(self, step: int) -> Floats:
        """Positions (D, 2) at a step."""
        moved = step if self.until is None else min(step, self.until)
        with np.errstate(over="ignore"):  # what has left all bounds is refused by name
            found = self.start + moved * self.velocity
        return _refused_beyond(found, step)


@dataclass(frozen=True, eq=False)
class Path:
    """Positions (D, 2) as a function of the step."""

    function: Callable[[int], Floats]
    count: int

    def at(self, step: int) -> Floats:
        """Positions (D, 2) at a step."""
        return _checked(self.function(step), self.count, step)


@dataclass(frozen=True, eq=False)
class Drift:
    """Targets carried by a velocity field ``velocity(positions, time)``, in metres per step, from ``start`` (D, 2).

    Integrated by the classical Runge-Kutta method, one step at a time; the furthest step so far is kept.
    """

    start: Floats
    velocity: Callable[[Floats, float], Floats]
    _reached: dict[int, Floats] = field(default_factory=dict, repr=False)

    def at(self, step: int) -> Floats:
        """Positions (D, 2) at a step."""
        known = max((earlier for earlier in self._reached if earlier <= step), default=0)
        here = self._reached.get(known, self.start)
        for now in range(known, step):
            here = self._next(here, now)
        self._reached.clear()
        self._reached[step] = here
        return here

    def _next(self, here: Floats, now: int) -> Floats:
        def slope(positions: Floats, time: float) -> Floats:
            return _checked(self.velocity(positions, time), len(here), time)

        a = slope(here, now)
        b = slope(here + a / 2, now + 0.5)
        c = slope(here + b / 2, now + 0.5)
        d = slope(here + c, now + 1.0)
        return _refused_beyond(here + (a + 2 * b + 2 * c + d) / 6, now + 1)
