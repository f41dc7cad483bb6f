"""What a check sees: one step of a log at a time, so that a log may be longer than memory."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tricover.certificates.certificate import Claim
from tricover.certificates.log import Stretch
from tricover.certificates.transition import Frame, Rows

__all__ = ["Check", "Step"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Step:
    """The step from t = ``index`` to t+1: positions (N, 2) before and after it, and the followers' rows of Γ[t].

    ``same`` says that Γ[t] is Γ[t-1], to the bit, because nobody moved in either step.
    """

    index: int
    before: Floats
    after: Floats
    stretch: Stretch
    frame: Frame
    rows: Rows
    same: bool

    @property
    def opens(self) -> bool:
        """Whether this is the first step of its stretch."""
        return self.index == self.stretch.start


class Check(Protocol):
    """One or a few claims that belong together."""

    def see(self, step: Step) -> None:
        """Look at a step."""

    def claims(self) -> list[Claim]:
        """The verdicts, after the last step."""
