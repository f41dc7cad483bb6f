"""Separation: no two agents that take part come closer than S, over the whole motion, between steps too.

Between two recorded positions every agent counts as going straight, all at the same time (``geometry.approach``). For
agents that land where they decided to this is the motion itself. Vehicles may fly otherwise between their recorded
positions: then the claim is about these straight ways, and says so.

A distance counts as S within 16 ε·c, where c is the largest coordinate at hand, as landing points do.

Nothing is measured where no S was asked for: that would take longer than all other claims together.
"""

from collections.abc import Iterator

import numpy as np

from tricover.certificates.certificate import FAILS, HOLDS, NOT_APPLICABLE, Claim, Fault, Figure, counted
from tricover.certificates.check import Step
from tricover.certificates.faults import MOST_KEPT
from tricover.certificates.log import ROUNDING, Log
from tricover.errors import InputError
from tricover.formats.points import LARGEST
from tricover.geometry import Separation as Found
from tricover.geometry.approach import Watch
from tricover.units import length

__all__ = ["SEPARATION", "Separation"]

SEPARATION = ("separation", "Separation", "|r_i(t) - r_j(t)| ≥ S for all i ≠ j and all t, straight between steps")
_NOT_ASKED = "No separation was asked for."
_NOBODY = "There are no steps with two agents to look at."
_MOST = 1_000_000  # pairs that are too close in a step: more are not listed
_STRAIGHT = " Ways between recorded positions count as straight."


class Separation:
    """Agents keep the distance that was asked for."""

    def __init__(self, log: Log) -> None:
        self.wanted = log.settings.separation
        if self.wanted is not None and not 0 < self.wanted <= LARGEST:
            raise InputError(f"separation must be a positive number of metres, not {self.wanted}")
        self.told = "" if log.ideal.all() else _STRAIGHT
        self.watch = None if self.wanted is None else Watch(self.wanted, _MOST, ROUNDING)

    def see(self, step: Step) -> None:
        """Look at all pairs that take part."""
        if self.watch is not None:
            self.watch.look(step.index, step.before, step.after, step.present)

    def claims(self) -> list[Claim]:
        """The one verdict."""
        if self.watch is None or self.wanted is None:
            return [Claim(*SEPARATION, NOT_APPLICABLE, _NOT_ASKED)]
        found = self.watch.result()
        if found.agents is None:
            return [Claim(*SEPARATION, NOT_APPLICABLE, _NOBODY, {"separation": self.wanted})]
        return [self._judged(found, self.wanted)]

    def _judged(self, found: Found, wanted: float) -> Claim:
        first, second = found.agents or (-1, -1)
        close = _MOST if found.crowded else len(found.below)
        figures: dict[str, Figure] = {
            "separation": wanted,
            "least_distance": found.distance,
            "step": found.step,
            "agent": first,
            "other": second,
            "faults": close,
        }
        if not close:
            text = f"Nobody came closer than {length(wanted)}: the least is {found.words}.{self.told}"
            return Claim(*SEPARATION, HOLDS, text, figures)
        figures["worst"] = wanted - found.distance
        pairs = f"more than {_MOST:,} pairs" if found.crowded else counted(close, "pair")
        text = f"Closer than {length(wanted)}: {pairs}; the closest {found.words}.{self.told}"
        return Claim(*SEPARATION, FAILS, text, figures, tuple(_faults(found, wanted)))


def _faults(found: Found, wanted: float) -> Iterator[Fault]:
    """The first pairs that are too close, where they are closest; the closest of all where there are too many."""
    order = np.argsort(found.steps, kind="stable")[:MOST_KEPT]
    rows = [(*found.below[row].tolist(), int(found.steps[row]), float(found.distances[row])) for row in order]
    if found.crowded and found.agents is not None:
        rows = [(*found.agents, found.step, found.distance)]
    for agent, other, step, distance in rows:
        yield Fault(agent, step, wanted - distance, "m short", f"came within {length(distance)} of agent {other}")
