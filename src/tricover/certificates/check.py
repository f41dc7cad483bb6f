"""What a check sees: one step of a log at a time, so that a log may be larger than memory."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tricover.certificates.certificate import Claim
from tricover.certificates.heard import Heard
from tricover.certificates.log import LoggedEpoch
from tricover.certificates.transition import Frame, Rows

__all__ = ["Check", "Step"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Step:
    """The step from t = ``index`` to t+1.

    Attributes:
        index: t.
        before: positions (N, 2) at t.
        after: positions (N, 2) at t+1.
        epoch: the network, and where its anchors stand.
        frame: the network's followers, by layer.
        rows: the followers' rows of Γ[t]; with the motion ``morph``, in their triangles at t+1.
        same: whether Γ[t] is Γ[t-1], to the bit, because both steps have the same positions and the same network.
        gave_way: who was not let go where it decided to, to keep apart, (N,); None: not known.
        heard: what followers acted on, where messages are late or lost; None: the positions at t.
    """

    index: int
    before: Floats
    after: Floats
    epoch: LoggedEpoch
    frame: Frame
    rows: Rows
    same: bool
    gave_way: Flags | None = None
    heard: Heard | None = None

    @property
    def opens(self) -> bool:
        """Whether this is the first step of its epoch."""
        return self.index == self.epoch.start

    @property
    def acting(self) -> Flags:
        """Which followers (F,) acted by a triangle: not those who wait for messages."""
        return np.ones(len(self.frame.followers), np.bool_) if self.heard is None else ~self.heard.waits

    @property
    def triangles(self) -> Floats:
        """The triangles (F, 3, 2) by which followers acted."""
        return self.before[self.frame.corners] if self.heard is None else self.heard.triangles

    @property
    def present(self) -> Flags:
        """Who takes part, (N,): the agents of the network."""
        there = np.zeros(len(self.before), np.bool_)
        there[: len(self.epoch.network)] = self.epoch.network.layer >= 0
        return there


class Check(Protocol):
    """One or a few claims that belong together."""

    def see(self, step: Step) -> None:
        """Look at a step."""

    def claims(self) -> list[Claim]:
        """The verdicts, after the last step."""
