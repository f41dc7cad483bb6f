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
    """A way for messages from in-neighbours. Everybody sends its position in every step."""

    @property
    def history(self) -> int:
        """How many steps a message may be late, D: so many steps of what was sent are kept for it.

        0: every message arrives in the step in which it is sent.
        """

    def hear(self, step: int, sent: Floats, senders: NDArray[np.integer]) -> Heard:
        """What is heard at a step of senders (A, 3); NaN where nothing was.

        ``sent`` (D + 1, N, 2) are everybody's positions at this step and at those before, the newest first; NaN before
        step 0.
        """


@dataclass(frozen=True)
class PerfectChannel:
    """Every message arrives at once."""

    history: ClassVar[int] = 0

    def hear(self, step: int, sent: Floats, senders: NDArray[np.integer]) -> Heard:
        """The senders' present positions; an agent without senders (-1) hears NaN."""
        positions, heard = sent[0], np.empty((*senders.shape, 2))

        def gather(first: int, last: int) -> None:
            # Nothing has to be clipped: the mode spares NumPy a copy.
            positions.take(senders[first:last], axis=0, out=heard[first:last], mode="clip")

        in_ranges(gather, len(senders))
        heard[senders[:, 0] < 0] = np.nan
        return Heard(heard, None)
