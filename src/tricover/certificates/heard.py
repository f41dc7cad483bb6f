"""What agents acted on in a log in which messages are late or lost: positions that are some steps old."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tricover.control.hearing import NOTHING

if TYPE_CHECKING:
    from tricover.certificates.transition import Frame

__all__ = ["Heard", "Late", "hearing"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Late:
    """What a log knows of messages that are late or lost.

    Attributes:
        ages: ``ages(step)`` gives τ (N, 3), -1 where nothing was heard yet; None: the log does not tell.
        senders: ``senders(step)`` gives to whom everybody listened, (N, 3), -1 for nobody.
        oldest: D, the oldest of all ages, of those who take part; where the log does not tell, the oldest that there
            can be. (Whoever has not heard that another is lost goes on by its last position.)
        span: the oldest of all ages, of whomever.
        mean: of all ages; None where the log does not tell.
        allowed: D as it is known before a run; None: it is not, as links go over relays.
        sure: whether that is sure, and not only likely.
        unheard: agents and senders (K, 2) of whom nothing had been heard by the last step.
    """

    ages: Callable[[int], Ints] | None
    senders: Callable[[int], NDArray[np.integer]]
    oldest: int
    span: int
    mean: float | None
    allowed: int | None
    sure: bool
    unheard: Ints

    @property
    def told(self) -> bool:
        """Whether the log tells which positions agents acted on."""
        return self.ages is not None


@dataclass(frozen=True, eq=False)
class Heard:
    """What followers acted on in a step.

    Attributes:
        triangles: (F, 3, 2) the positions that they had heard, in the order of the frame's followers.
        ages: (N, 3).
        senders: (N, 3).
        waits: (F,) who did not act by a triangle: it had not heard of all in-neighbours, or took itself for an anchor.
            Its triangle is the point where it stood.
    """

    triangles: Floats
    ages: Ints
    senders: NDArray[np.integer]
    waits: Flags
    anchored: Flags
    """(F,) who took itself for an anchor, as it had not heard of a repair."""


def hearing(late: Late) -> "Callable[[int, Frame, Floats], Heard]":
    """What followers heard, step by step: to be asked for every step in turn, with the positions (N, 2) at it."""
    assert late.ages is not None
    ages_at = late.ages
    past: deque[Floats] = deque(maxlen=late.span + 1)

    def heard(step: int, frame: "Frame", positions: Floats) -> Heard:
        past.appendleft(positions)
        ages, senders = ages_at(step), late.senders(step)
        followers = frame.followers
        anchored = np.asarray((senders[followers] < 0).any(axis=1))
        waits = anchored | (ages[followers] == NOTHING).any(axis=1)
        triangles = np.repeat(positions[followers][:, None], 3, axis=1)
        for age in np.unique(ages[followers[~waits]]):
            rows, slots = np.nonzero((ages[followers] == age) & ~waits[:, None])
            triangles[rows, slots] = past[age][senders[followers[rows], slots]]
        return Heard(triangles, ages, senders, waits, anchored)

    return heard
