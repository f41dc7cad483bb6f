"""Theorem 1: the team evolves by y[t+1] = Γ[t] y[t] with row-stochastic Γ[t].

There are three claims.

- *Structure*: Γ is zero outside the network, and strictly block lower triangular for followers. This is a fact about
  the network, and exact.
- *Anchors* stand still, so their rows are those of the identity. This is exact too, unless the vehicles never quite
  stand still. Then there is a tolerance.
- *Rows* of followers are stochastic: every follower lands in the triangle that its in-neighbours formed at t. A landing
  point is judged with the rounding of ``transition``.

Where messages are late, it is the triangle of what a follower had *heard* by t, see ``late``. One that has not heard of
all in-neighbours yet stays where it is.

With the motion ``morph`` rows are about t+1 alone, see ``transition``: every follower lands in the triangle that its
in-neighbours form at t+1. By substitution, layer by layer, it is a convex combination of the anchors of that time. It
may leave the triangle, and the hull of the anchors, of the step before.

Anchors that are free, as in a polish, have no places: no claim is made of them as long as they are.

Deviation: the paper's anchors stand at their desired positions from the start. Here they may have to go there first,
and the claim begins when they should be there.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.certificates.certificate import FAILS, HOLDS, NOT_APPLICABLE, NOTHING_SEEN, Claim, counted
from tricover.certificates.check import Step
from tricover.certificates.faults import Faults
from tricover.certificates.log import Log
from tricover.certificates.waiting import excused_claim

__all__ = ["Anchors", "Stochastic", "Structure"]

Floats = NDArray[np.float64]

_STRUCTURE = ("structure", "Γ lower triangular", "Γ_{l,h} = 0 unless h < l or l = h = 0 (38)")
_STOCHASTIC = ("theorem1", "Theorem 1: stochastic", "y[t+1] = Γ[t] y[t], Γ[t] ≥ 0, Γ[t] 1 = 1 (23)")


_LATE = ("theorem1", "Theorem 1: stochastic", "r_i[t+1] = Σ_j α_ij[t] r_j[t-τ_ij(t)], α ≥ 0, Σ_j α_ij = 1 (23, late)")
_MORPHING = ("theorem1", "Theorem 1: stochastic", "y[t+1] = Γ[t+1] y[t+1], Γ ≥ 0, Γ 1 = 1 (23, for morph)")


class Structure:
    """Γ is zero outside the network and strictly block lower triangular."""

    def __init__(self) -> None:
        self.faults = Faults(unit="")
        self.depth, self.links, self.seen = 0, 0, False

    def see(self, step: Step) -> None:
        """Look at the network of a new epoch."""
        if step.opens:
            violations = step.frame.violations
            agents, reasons = np.array([*violations], np.int64), [*violations.values()]
            self.faults.add(agents, step.index, np.ones(len(agents)), reasons)
            self.depth, self.links = step.frame.network.depth, 3 * len(step.frame.followers)
            self.seen = self.seen or self.links > 0

    def claims(self) -> list[Claim]:
        """The one verdict."""
        sound = not self.faults.count
        if sound and not self.seen:
            return [Claim(*_STRUCTURE, NOT_APPLICABLE, NOTHING_SEEN)]
        summary = (
            f"{counted(self.depth, 'layer')}; each agent hears earlier ones only."
            if sound
            else f"{counted(self.faults.count, 'agent')} out of place in the layers."
        )
        return [
            Claim(
                *_STRUCTURE,
                HOLDS if sound else FAILS,
                summary,
                {"depth": self.depth, "messages_per_step": self.links, **self.faults.figures},
                tuple(self.faults.first),
            )
        ]


class Anchors:
    """Anchors stand at their places. ``arrived`` is the step from which on they do so, in the epoch at hand."""

    def __init__(self, log: Log) -> None:
        self.tolerance = log.settings.tolerance
        self.faults = Faults()
        self.arrived: int | None = None
        self.places: Floats | None = None
        self.away, self.seen = 0.0, False
        self._pending: tuple[NDArray[np.integer], Floats, int] | None = None

    def see(self, step: Step) -> None:
        """Look at where the anchors are at t+1, and at t in the first step of an epoch."""
        if step.opens:
            self._close()
            self.arrived, self.places = None, step.epoch.places
            self._look(step, step.before, step.index)
        # Where nobody moved, there is nothing new to see, unless the anchors are not due before this step.
        if not step.same or self.arrived is None or self.faults.count:
            self._look(step, step.after, step.index + 1)

    def _look(self, step: Step, positions: Floats, time: int) -> None:
        if step.epoch.free:
            return
        anchors, due = step.frame.network.anchors, step.epoch.arrived
        if self.places is None and (due is None or time >= due):
            self.places = positions[anchors]
        if self.places is None:
            return
        away = np.linalg.norm(positions[anchors] - self.places, axis=1)
        there = bool((away <= self.tolerance).all())
        if self.arrived is None and (time >= due if due is not None else there):
            self.arrived = time
        self._pending = None
        if self.arrived is None:
            self._pending = (anchors, away, time) if time >= step.epoch.due else None
            return
        self.seen = True
        self.away = max(self.away, float(away.max()))
        self._record(anchors, away, time, "this anchor is not at its place")

    def _record(self, anchors: NDArray[np.integer], away: Floats, time: int, reason: str) -> None:
        bad = np.flatnonzero(away > self.tolerance)
        self.faults.add(anchors[bad], time, away[bad], [reason] * len(bad))

    def _close(self) -> None:
        """Anchors that never arrived in an epoch are faults at its end."""
        if self._pending is not None:
            self._record(*self._pending, "this anchor never got to its place")
            self._pending = None

    @property
    def _since(self) -> str:
        return "until the last repair" if self.arrived is None else f"from step {self.arrived} on"

    def claims(self) -> list[Claim]:
        """The one verdict."""
        self._close()
        good = not self.faults.count
        summary = (
            f"All stand still {self._since}" + (f", to {self.away:.2g} m." if self.away else ".")
            if good
            else f"Off their places {counted(self.faults.count, 'time')}, at most {self.faults.worst:.3g} m."
        )
        verdict = FAILS if not good else HOLDS if self.seen else NOT_APPLICABLE
        if verdict == NOT_APPLICABLE:
            summary = "The log ends before the anchors are due at their places."
        figures = {"arrived": self.arrived, "tolerance": self.tolerance, **self.faults.figures}
        return [
            Claim(
                "anchors",
                "Anchors stand still",
                "Γ_{0,0} = I (24)",
                verdict,
                summary,
                figures,
                tuple(self.faults.first),
            )
        ]


class Stochastic:
    """Rows of followers are stochastic."""

    def __init__(self, log: Log) -> None:
        self.told, self.ideal = log.settings.motion is not None, log.ideal
        self.head = _MORPHING if log.settings.motion == "morph" else _STOCHASTIC
        if log.late is not None and log.late.told:
            self.head = _LATE
        self.zones = log.settings.around is not None
        self.faults = Faults()
        self.rows, self.flat, self.smallest = 0, 0, 1.0
        self._before: NDArray[np.int32] | None = None

    def see(self, step: Step) -> None:
        """Look at the rows of Γ[t]."""
        rows, acting = step.rows, step.acting
        self.rows += int(acting.sum())
        self.flat += int(rows.flat[acting].sum())
        if not step.same:
            self.smallest = min(self.smallest, float(rows.weights[acting].min(initial=1.0)))
        bad = np.flatnonzero(rows.outside)
        if step.heard is not None:
            bad = bad[~step.heard.anchored[bad]]
        if bad.size:
            reasons = [self._reason(step, place) for place in bad.tolist()]
            self.faults.add(step.frame.followers[bad], step.index, rows.outside[bad], reasons, step.gave_way)
        self._before = step.frame.network.in_neighbors

    def _reason(self, step: Step, place: int) -> str:
        agent = int(step.frame.followers[place])
        if not step.acting[place]:
            return "moved before it had heard of all its in-neighbours"
        if step.opens and self._before is not None:
            before, now = self._before[agent : agent + 1], step.frame.corners[place]
            if not np.array_equal(before, now[None]):  # nobody before, or others
                return "outside its triangle after a repair gave it new in-neighbours"
        if step.rows.flat[place]:
            return "its triangle has no area, and it is not on it"
        if self.told and not self.ideal[agent]:
            return "its vehicle missed its reach set and left its triangle"
        if self.zones and np.array_equal(step.before[agent], step.after[agent]):
            return "held outside its triangle, as zones leave it no way back"
        return "outside its triangle"

    def claims(self) -> list[Claim]:
        """The one verdict."""
        if not self.rows:
            return [Claim(*self.head, NOT_APPLICABLE, NOTHING_SEEN)]
        if self.faults.excused and not self.faults.count:
            return [excused_claim(self.head, self.faults, f"of {self.rows} rows are not stochastic")]
        good = not self.faults.count
        summary = (
            f"All {self.rows} rows are stochastic; smallest weight {self.smallest:.3g}."
            if good
            else f"{self.faults.count} of {self.rows} rows are not stochastic, the worst by {self.faults.worst:.3g} m."
        )
        figures = {"rows": self.rows, "smallest_weight": self.smallest, "flat": self.flat, **self.faults.figures}
        return [
            Claim(
                *self.head,
                HOLDS if good else FAILS,
                summary,
                figures,
                tuple(self.faults.first),
            )
        ]
