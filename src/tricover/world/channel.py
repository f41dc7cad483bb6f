"""What agents hear of their in-neighbours, and how old it is."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tricover.threads import in_ranges

__all__ = ["Channel", "Heard", "PerfectChannel"]

Floats = NDArray[np.float64]


class Heard(NamedTuple):
    """What agents have heard: positions (A, 3, 2), and their ages in steps (A, 3); None where all are of this step."""

    positions: Floats
    ages: NDArray[np.int64] | None


class Channel(Protocol):
    """A way for messages from in-neighbours."""

    @property
    def immediate(self) -> bool:
        """Whether every message arrives in the step in which it is sent."""

    def hear(self, step: int, positions: Floats, senders: NDArray[np.integer]) -> Heard:
        """What is heard at a step of senders (A, 3), where everybody stands at positions (N, 2)."""


@dataclass(frozen=True)
class PerfectChannel:
    """Every message arrives at once."""

    immediate: ClassVar[bool] = True

    def hear(self, step: int, positions: Floats, senders: NDArray[np.integer]) -> Heard:
        """The senders' present positions; an agent without senders (-1) hears NaN."""
        heard = np.empty((*senders.shape, 2))

        def gather(first: int, last: int) -> None:
            # Nothing has to be clipped: the mode spares NumPy a copy.
            positions.take(senders[first:last], axis=0, out=heard[first:last], mode="clip")

        in_ranges(gather, len(senders))
        heard[senders[:, 0] < 0] = np.nan
        return Heard(heard, None)
