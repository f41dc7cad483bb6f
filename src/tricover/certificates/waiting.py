"""What can be claimed of agents that wait for each other.

Where a separation is asked for, agents of the motions ``reach`` and ``walk`` wait, go aside or make room for others
(``world.clearance``). One that waits outside its triangle, or leaves it to make room, has a row of Γ[t] that is not
stochastic, and one that waits is late. So the theorems need not hold for such a run. Where their claims hold, they are
made. Where one would fail, it does not apply: that is what keeping apart costs, and positions alone do not tell it from
other faults. The claims on separation and zones are made all the same.
"""

from dataclasses import replace

from tricover.certificates.certificate import FAILS, NOT_APPLICABLE, Claim
from tricover.certificates.log import Log, Settings

__all__ = ["as_far_as_they_go", "may_wait"]

_STAND = ("evidence", "structure", "separation", "zones", "nested", "speed")


def as_far_as_they_go(claims: tuple[Claim, ...], log: Log) -> tuple[Claim, ...]:
    """The claims; those that keeping apart may break do not apply where they would fail."""
    if not may_wait(log.settings):
        return claims
    return tuple(_excused(claim) if claim.verdict == FAILS and claim.key not in _STAND else claim for claim in claims)


def may_wait(settings: Settings) -> bool:
    """Whether agents may wait for each other: they were told to keep apart, and do not morph."""
    return settings.apart is not None and settings.motion in ("reach", "walk")


def _excused(claim: Claim) -> Claim:
    text = f"Agents wait and make room to keep apart, which this does not allow for: {claim.summary}"
    return replace(claim, verdict=NOT_APPLICABLE, summary=text, faults=())
