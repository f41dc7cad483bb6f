"""``Claim``: one statement of the paper, where it stands, what we measured, and the verdict.

A claim *holds* or *does not hold*. Where the paper contradicts itself, or is wrong as printed, there is a third
verdict: it *deviates* when the printed reading does not work and ours, which the row names, does. If ours does not
work either, the claim does not hold. Verdicts come from measurements alone.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["DEVIATES", "FAILS", "HOLDS", "Claim", "Verdict", "at_most", "judged"]

Verdict: TypeAlias = Literal["holds", "deviates", "does not hold"]
HOLDS: Verdict = "holds"
DEVIATES: Verdict = "deviates"
FAILS: Verdict = "does not hold"


@dataclass(frozen=True)
class Claim:
    """A row of the table. Numbers of sections, equations and figures are those of the paper, and so are agents'."""

    id: str
    where: str
    statement: str
    measured: str
    verdict: Verdict
    note: str = ""


def judged(printed: bool, ours: bool | None = None) -> Verdict:
    """The verdict on what is printed, and on our reading where there is one.

    >>> judged(True), judged(False), judged(printed=False, ours=True), judged(printed=False, ours=False)
    ('holds', 'does not hold', 'deviates', 'does not hold')
    """
    if ours is None:
        return HOLDS if printed else FAILS
    if not ours:
        return FAILS
    return HOLDS if printed else DEVIATES


def at_most(value: float, floor: float = 1e-9) -> str:
    """A residual for the table: what rounding leaves is not spelt out, as it differs between machines.

    >>> at_most(3e-15), at_most(0.0123)
    ('1e-9', '0.0123')
    """
    return f"{max(value, floor):.3g}".replace("e-0", "e-")
