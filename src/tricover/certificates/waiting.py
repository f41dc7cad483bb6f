"""What can be claimed of agents that wait for each other.

Where a separation is asked for, agents of the motions ``reach`` and ``walk`` wait, go aside or make room for others
(``world.clearance``), and a run records who gave way, and when. One that waits outside its triangle, or leaves it to
make room, has a row of Γ[t] that is not stochastic, and lands in no reach set of its policy: such rows and landings are
excused, and these only. One that waits is late, so bounds on when need not hold, and what follows from stochastic rows
need not either. Where such a claim holds, it is made. Where it would fail and somebody gave way, it does not apply.

The log of a flight does not say who gave way. There nothing is excused.
"""

from dataclasses import replace

from tricover.certificates.certificate import FAILS, NOT_APPLICABLE, Claim
from tricover.certificates.faults import Faults
from tricover.certificates.log import Settings

__all__ = ["as_far_as_they_go", "excused_claim", "may_wait"]

_NEED_NOT_HOLD = ("anchors", "C2", "theorem2", "finite-time", "containment", "theorem3", "neighbourhood")


def as_far_as_they_go(claims: tuple[Claim, ...]) -> tuple[Claim, ...]:
    """The claims of a run in which somebody gave way: those that need not hold do not apply where they would fail."""
    return tuple(
        _excused(claim) if claim.verdict == FAILS and claim.key in _NEED_NOT_HOLD else claim for claim in claims
    )


def may_wait(settings: Settings) -> bool:
    """Whether agents may wait for each other: they were told to keep apart, and do not morph."""
    return settings.apart is not None and settings.motion in ("reach", "walk")


def excused_claim(head: tuple[str, str, str], faults: Faults, what: str) -> Claim:
    """A claim all of whose faults are those of agents that gave way."""
    text = f"{faults.excused} {what}, all of agents that gave way to others to keep apart."
    return Claim(*head, NOT_APPLICABLE, text, {**faults.figures, "excused": faults.excused})


def _excused(claim: Claim) -> Claim:
    text = f"Agents waited and made room to keep apart, which this does not allow for: {claim.summary}"
    return replace(claim, verdict=NOT_APPLICABLE, summary=text, faults=())
