"""Where it is safe to land: what keeps agents from landing where they decided to.

``KeepApart`` lets agents decide in turns, upper layers first, in a layer by their numbers. Each takes the first of its
options (``control.options``) on whose way it comes no closer than d to anybody: to those who have decided, on their
ways, and to all others, who stand where they are. Else it stays.

*Nobody ever comes closer than d, or than it was at the start.* Of a pair, the one that decides last has compared its
way with that of the other. Staying is safe, too: whoever decided before took it for standing. So the least distance of
a pair in a step is at least d, or what it was at the beginning of the step, whatever is less.

*That everybody arrives is not proved.* An agent asks the undecided who stand in its way to make room, and they do where
they can; since upper layers go first, nobody waits for one below it that could make room. In a crowd some may be stuck.

Vehicles that may miss are given the distance d = S + 2·e instead of S, where e is how far they may miss. They are sent
no farther than they can go in a step (``vehicles.step_lengths``), and as they do not go at even speed, it is their
whole ways that are kept apart. What is proved is then about straight ways that end within e of where they were to end.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tricover.control.options import ASIDE, Options
from tricover.control.reach_sets import points_as_sets

__all__ = ["AllClear", "Clearance", "KeepApart", "Request"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROUNDING = 1 + 1e-12  # by so much more is kept, so that rounding does not take it back


class Request(NamedTuple):
    """What agents ask for.

    Attributes:
        positions: where everybody stands, (N, 2), in metres.
        reach_sets: where everybody would like to land, (N, 3, 2).
        radii: how far from the middle of its set an agent may land if all goes well, (N,), in metres.
        options: where agents may go instead, a row for each of ``order``.
        order: who takes part, (K,): those with the right of way first.
    """

    positions: Floats
    reach_sets: Floats
    radii: Floats
    options: Options
    order: Ints


class Clearance(Protocol):
    """A keeper of distances."""

    @property
    def apart(self) -> float:
        """Metres that agents are kept apart; 0: every landing is safe, so that nobody need ask."""

    def clear(self, request: Request) -> Floats:
        """Reach sets (N, 3, 2) that are safe."""


@dataclass(frozen=True)
class AllClear:
    """Every landing is safe."""

    apart: ClassVar[float] = 0.0

    def clear(self, request: Request) -> Floats:
        """The reach sets that were asked for."""
        return request.reach_sets


@dataclass(frozen=True)
class KeepApart:
    """Agents wait, go aside or make room, so that they are always so many metres apart.

    Attributes:
        apart: the distance d.
        together: whether all go at even speed, from the beginning of a step to its end. If not, the whole ways of two
            agents are kept apart, whoever is where on them.
    """

    apart: float
    together: bool = True

    def clear(self, request: Request) -> Floats:
        """The reach sets that were asked for, other points, or where agents stand."""
        from tricover.world._kernels import Moves, take_turns

        order = request.order
        if not order.size:
            return request.reach_sets
        points = np.full((len(request.positions), *request.options.points.shape[1:]), np.nan)
        own = np.zeros(len(points), np.int64)
        points[order], own[order] = request.options
        moves = Moves(request.positions, points, request.radii, own, ASIDE, self.apart * _ROUNDING, self.together)
        taken = take_turns(moves, order)
        sets = points_as_sets(request.positions)
        elsewhere = np.flatnonzero(taken > 0)
        sets[elsewhere] = points_as_sets(points[elsewhere, taken[elsewhere]])
        as_asked = taken == 0
        sets[as_asked] = request.reach_sets[as_asked]
        return sets
