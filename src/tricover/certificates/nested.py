"""Nested at every step: what the motion ``morph`` promises, checked on positions alone.

The claim: the anchors' polygon is a star around the core, as a convex one is with the core strictly inside, and every
follower is strictly inside the triangle of its in-neighbours' positions *of the same time*: at every step, and on the
straight ways between steps. Then all cells have disjoint interiors (see ``control.morph``), so nobody meets anybody and
no link crosses another. Signs are exact (``geometry.nesting``). In the first step of an epoch agents may set out from
an edge, as long as they leave it.

The figure ``least_margin`` is the least distance of a follower from an edge of its own triangle, in metres. By the
argument of ``goals.room``, any two agents of which one is a follower are at least that far apart.

The other claim: nobody goes farther than the speed v in a step.

*Vehicles that miss.* The plan is nested, and vehicles follow it with an error. Where the plan is known, as of a run,
both claims are about the plan, and the figures say how far vehicles were from it: with an error of at most e at the
steps, of the plan's least distance d there is d - 2e left. Where that is nothing, nothing is claimed. Between steps
such vehicles do not go straight, and nothing is said about it. Where the plan is not known, as of a flight log, both
claims are about the positions themselves.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.certificates.certificate import FAILS, HOLDS, NOT_APPLICABLE, NOTHING_SEEN, Claim, Figure, counted
from tricover.certificates.check import Step
from tricover.certificates.faults import Faults
from tricover.certificates.log import ROUNDING, Log
from tricover.control.speed import speed_of
from tricover.geometry import separation
from tricover.geometry.nesting import left_all_the_way, way_margins
from tricover.network.fan import fan_of, turns_around

__all__ = ["NESTED", "SPEED", "Nested"]

Floats = NDArray[np.float64]

NESTED = ("nested", "Nested at every step", "r_i[t] strictly inside the triangle of r_j[t], j ∈ N(i), for all times t")
SPEED = ("speed", "Speed kept", "|r_i[t+1] - r_i[t]| ≤ v")

_INSIDE = "not strictly inside its triangle, at a step or on the way to the next"
_SIDE = "the core is not inside the side of the anchors' polygon that begins here"
_AROUND = "the anchors' polygon does not go around the core once"


class Nested:
    """Every follower strictly inside its triangle, and nobody too fast."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.faults, self.too_fast = Faults(), Faults()
        self.margin, self.tightest = np.inf, (-1, -1)
        self.farthest, self.flown, self.share = 0.0, 0.0, 0.0
        self.miss, self.distance = 0.0, np.inf  # of vehicles from the plan, and of any two agents in it
        self._speeds: set[float] = set()
        self._before: Floats | None = None

    def see(self, step: Step) -> None:
        """Look at the plan from t to t+1, or at the positions where there is none."""
        before, after = step.before, step.after
        living = np.flatnonzero(step.frame.network.layer >= 0)
        if self.log.planned is not None:
            before = step.before if step.opens or self._before is None else self._before
            after = self._before = self.log.planned(step.index)
            self.miss = max(self.miss, float(_apart(step.after, after, living).max()))
            self.flown = max(self.flown, float(_apart(step.after, step.before, living).max()))
            self.distance = min(self.distance, separation(np.stack([before[living], after[living]])).distance)
        if np.array_equal(before, after) and not step.opens and not self.faults.count:
            return  # a team at rest is nested as it was when it came there
        self._look_at_followers(step, before, after)
        self._look_at_anchors(step, before, after)
        self._look_at_speed(step, _apart(after, before, living), living, float(np.abs(after[living]).max()))

    def _look_at_followers(self, step: Step, before: Floats, after: Floats) -> None:
        followers, corners = step.frame.followers, step.frame.corners
        if not len(followers):
            return
        margins, inside = way_margins(before[followers], after[followers], before[corners], after[corners])
        seen = margins
        if step.opens:  # on the way from an edge the margin is nothing
            seen, _ = way_margins(after[followers], after[followers], after[corners], after[corners])
        place = int(seen.argmin())
        if seen[place] < self.margin:
            self.margin, self.tightest = float(seen[place]), (int(followers[place]), step.index + 1)
        bad = np.flatnonzero(~inside)
        self.faults.add(followers[bad], step.index, np.maximum(-margins[bad], 0.0), [_INSIDE] * len(bad))

    def _look_at_anchors(self, step: Step, before: Floats, after: Floats) -> None:
        network = step.frame.network
        fan = network.anchors[fan_of(network)]
        bad = np.flatnonzero(~left_all_the_way(before[fan], after[fan]))
        self.faults.add(fan[bad, 1], step.index, np.zeros(len(bad)), [_SIDE] * len(bad))
        if step.opens and turns_around(network, before) != 1:
            self.faults.add(np.array([network.core]), step.index, np.zeros(1), [_AROUND])

    def _look_at_speed(self, step: Step, gone: Floats, living: NDArray[np.int64], largest: float) -> None:
        speed = speed_of(step.frame.network, self.log.settings.speed)
        self._speeds.add(speed)
        self.farthest = max(self.farthest, float(gone.max()))
        self.share = max(self.share, float(gone.max()) / speed)
        bad = np.flatnonzero(gone > speed + ROUNDING * largest)
        self.too_fast.add(living[bad], step.index, gone[bad] - speed, ["farther than the speed allows"] * len(bad))

    def claims(self) -> list[Claim]:
        """Nested, and not too fast."""
        if not self._speeds:
            return [Claim(*head, NOT_APPLICABLE, NOTHING_SEEN) for head in (NESTED, SPEED)]
        return [self._nested(), self._speed()]

    def _nested(self) -> Claim:
        margin = None if self.margin == np.inf else self.margin
        figures: dict[str, Figure] = {"least_margin": margin, "agent": self.tightest[0], "step": self.tightest[1]}
        left = self.distance - 2 * self.miss
        if self.log.planned is not None:
            figures |= {"least_distance": self.distance, "largest_miss": self.miss, "distance_left": left}
        figures |= self.faults.figures
        if self.faults.count:
            text = f"{counted(self.faults.count, 'time')} not nested, so agents may have met."
            return Claim(*NESTED, FAILS, text, figures, tuple(self.faults.first))
        if self.log.planned is None:
            return Claim(*NESTED, HOLDS, f"Nested, {self._kept()}: nobody meets, no link crosses.", figures)
        plan = f"The plan is nested, {self._kept()}. Vehicles are up to {self.miss:.3g} m off it"
        if left <= 0:
            text = f"{plan}, too far for its least distance of {self.distance:.3g} m: nothing is claimed of them."
            return Claim(*NESTED, NOT_APPLICABLE, text, figures)
        text = f"{plan}: of its least distance of {self.distance:.3g} m they keep {left:.3g} m at the steps."
        return Claim(*NESTED, HOLDS, text, figures)

    def _kept(self) -> str:
        return "with no followers" if self.margin == np.inf else f"{self.margin:.3g} m or more inside"

    def _speed(self) -> Claim:
        figures: dict[str, Figure] = {"speed": max(self._speeds), "farthest": self.farthest, "share": self.share}
        if self.log.planned is not None:
            figures["farthest_flown"] = self.flown
        figures |= self.too_fast.figures
        if self.too_fast.count:
            text = f"{counted(self.too_fast.count, 'time')} too fast, by up to {self.too_fast.worst:.3g} m."
            return Claim(*SPEED, FAILS, text, figures, tuple(self.too_fast.first))
        text = f"At most {self.farthest:.4g} m in a step, of {max(self._speeds):.4g} m."
        return Claim(*SPEED, HOLDS, text, figures)


def _apart(one: Floats, other: Floats, agents: NDArray[np.int64]) -> Floats:
    """Distances (A,) between the places of some agents."""
    return np.asarray(np.hypot(*(one[agents] - other[agents]).T))
