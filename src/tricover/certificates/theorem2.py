"""Theorem 2: condition C2, the contraction that follows from it, the finite-time fact, and where followers end up.

A[t] is the followers' part of Γ[t], and Φ(t, s) = A[t-1] ⋯ A[s]. All entries are non-negative, so ‖Φ(t, s)‖∞ is the
largest entry of Φ(t, s)·1. The anchors' share in row i of a product of Γ is 1 - (Φ·1)_i. So a vector is carried from
step to step, and products of matrices are never formed. C2 says that this share is at least η after any T steps. Then
‖Φ(t, s)‖∞ ≤ (1-η)^⌊(t-s)/T⌋.

The paper does not say that A[t] is strictly block lower triangular, so that Φ(t, s) = 0 once t - s ≥ depth. Therefore
C2 holds with T = depth for every η < 1, and at most ``depth`` vectors are needed at a time.

A row with negative entries (where Theorem 1 fails) counts with their absolute values. This bounds the norm from above.
Products do not reach over a repair: every epoch is looked at on its own.

With the motion ``morph`` there are no such products: positions follow from the anchors' positions of the same time, and
nothing of earlier ones is left after a single step. What holds of them is containment.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tricover.certificates import _kernels
from tricover.certificates.certificate import (
    FAILS,
    HOLDS,
    NOT_APPLICABLE,
    NOTHING_SEEN,
    Claim,
    Contraction,
    Fault,
    counted,
)
from tricover.certificates.check import Step
from tricover.certificates.faults import Faults
from tricover.certificates.log import ROUNDING, Log
from tricover.certificates.theorem1 import Anchors
from tricover.errors import FormationError, InputError
from tricover.geometry.hull import convex_hull
from tricover.threads import in_ranges

if TYPE_CHECKING:
    from tricover.certificates.late import Forgetting

__all__ = ["C2", "CONTRACTION", "FINITE_TIME", "Containment", "Products"]

Floats = NDArray[np.float64]

C2 = ("C2", "Condition C2", "Σ_{j∈V_0} (Γ[t+T-1] ⋯ Γ[t])_{ij} ≥ η (25)")
CONTRACTION = ("theorem2", "Theorem 2: contraction", "‖Φ(t,s)‖∞ ≤ (1-η)^⌊(t-s)/T⌋ (27)")
FINITE_TIME = ("finite-time", "Finite time", "Φ(t,s) = 0 for t - s ≥ depth (A[t] strictly block lower triangular)")
_HULL = ("containment", "Theorem 2: containment", "lim y_F is a convex combination of the anchors (Theorem 2)")


_MORPHS = "Those who morph go by the anchors' positions of the same time: of earlier ones nothing is left."


class Products:
    """‖Φ(s+k, s)‖∞ for all s and k, and the claims about it."""

    def __init__(self, log: Log, eta: float | None, window: int | None) -> None:
        if eta is not None and not 0 < eta < 1:
            raise InputError(f"eta must lie between 0 and 1, not {eta}")
        if window is not None and window < 1:
            raise InputError(f"window must be at least 1 step, not {window}")
        self.wanted, self.window = eta, window
        self.margin = log.settings.margin or 0.05
        self.depth, self.sound = 0, True
        self.measured = np.full(1, 1.0)
        self.largest_at: dict[int, tuple[int, int]] = {}  # lag to agent and s of the largest norm
        self._vectors: list[Floats] = []
        self._unchanged = 0
        self.morphs = log.settings.motion == "morph"

    def see(self, step: Step) -> None:
        """One factor more, in the products of all lags.

        While nobody moves, a product of that many equal factors or fewer is what it was: it is not computed again.
        """
        if self.morphs:
            return
        if step.opens:
            self._open(step)
        self._unchanged = self._unchanged + 1 if step.same else 0
        newest = min(step.index - step.epoch.start + 1, len(self._vectors) - 1)
        # From the longest lag on: each product is made from the next shorter one of the step before.
        for lag in range(newest, self._unchanged, -1):
            product, vector = self._vectors[lag], self._vectors[lag - 1]
            if not len(product):
                continue
            place = _multiply(step, vector, product)
            norm = float(product[place])
            if not norm <= self.measured[lag]:
                self.measured[lag] = norm
                agent = step.frame.followers[place + len(step.frame.followers) - len(product)]
                self.largest_at[lag] = (int(agent), step.index + 1 - lag)

    def _open(self, step: Step) -> None:
        frame, sound = step.frame, not step.frame.violations
        count, depth = len(frame.followers), frame.network.depth
        # Layers up to the lag have forgotten: their entries are zero and left out.
        left_out = frame.starts if sound else np.zeros(depth + 1, np.int64)
        products = [np.zeros(count - left_out[lag]) for lag in range(1, depth + 1)]
        self._vectors = [np.ones(count), *products]  # Φ·1 by the lag
        self._unchanged = 0
        self.depth, self.sound = max(self.depth, depth), self.sound and sound
        longer = np.full(max(0, depth + 1 - len(self.measured)), np.nan)
        self.measured = np.append(self.measured, longer)
        if sound:
            self.measured[depth] = np.fmax(self.measured[depth], 0.0)

    def _best_eta(self, window: int) -> float:
        return float(1.0 - self.measured[min(window, self.depth)])

    def _smallest_window(self, eta: float) -> int | None:
        fits = np.flatnonzero(self.measured[1:] <= 1.0 - eta)
        return int(fits[0]) + 1 if fits.size else None

    @property
    def contraction(self) -> Contraction | None:
        """Measured norms, beside the constants of C2; None where there are no products."""
        return None if self.morphs else self._contraction

    @property
    def _contraction(self) -> Contraction:
        eta = self.wanted or self.margin
        window = self.window or self._smallest_window(eta) or max(self.depth, 1)
        best = self._best_eta(window)
        given = self.wanted is not None and self.window is not None
        return Contraction(self.measured, eta if given or not best > 0 else best, window, self.depth)

    def claims(self) -> list[Claim]:
        """C2, the theorem's bound, and the finite-time fact."""
        if self.morphs:
            return [Claim(*head, NOT_APPLICABLE, _MORPHS) for head in (C2, CONTRACTION, FINITE_TIME)]
        if not self.depth:
            return [Claim(*head, NOT_APPLICABLE, NOTHING_SEEN) for head in (C2, CONTRACTION, FINITE_TIME)]
        return [self._condition(), self._bound(), self._finite_time()]

    def _condition(self) -> Claim:
        found = self._contraction
        share, eta, window = self._best_eta(found.window), found.eta, found.window
        figures = {
            "eta": eta,
            "window": window,
            "best_eta_for_window": share,
            "wanted_eta": self.wanted or self.margin,
            "smallest_window_for_wanted_eta": self._smallest_window(self.wanted or self.margin),
        }
        if np.isnan(share):
            return Claim(
                *C2, NOT_APPLICABLE, f"The log has no {counted(window, 'step')} in a row with one network.", figures
            )
        if share >= eta:
            every = "every η < 1" if share == 1 else f"η = {eta:.3g}"
            return Claim(*C2, HOLDS, f"T = {window} with {every}: anchors have that share after T steps.", figures)
        agent, start = self.largest_at.get(min(window, self.depth), (-1, 0))
        fault = Fault(agent, start, eta - share, "of the weight", f"anchors have a share of only {share:.3g}")
        return Claim(*C2, FAILS, f"T = {window} is too short for η = {eta:.3g}.", figures, (fault,))

    def _bound(self) -> Claim:
        found = self._contraction
        slack = ROUNDING * np.arange(len(found.measured))
        above = np.flatnonzero(found.measured > found.bound + slack)
        seen = np.flatnonzero(~np.isnan(found.measured[1:]))
        at_window = float(found.measured[min(found.window, self.depth)])
        figures = {"windows": len(seen), "measured_at_window": at_window}
        if not above.size:
            text = f"‖Φ‖∞ stays below the bound of η = {found.eta:.3g}, T = {found.window}."
            return Claim(*CONTRACTION, HOLDS, text, figures)
        faults = tuple(
            Fault(agent, start, float(found.measured[lag]), "", f"‖Φ({start + lag}, {start})‖∞ exceeds its bound")
            for lag, (agent, start) in ((int(lag), self.largest_at[int(lag)]) for lag in above)
        )
        return Claim(*CONTRACTION, FAILS, f"‖Φ‖∞ exceeds the bound at {above.size} of the lags.", figures, faults)

    def _finite_time(self) -> Claim:
        last = float(self.measured[self.depth])
        if self.sound and last == 0.0:
            text = f"What happened {counted(self.depth, 'step')} ago is forgotten, to the bit."
            return Claim(*FINITE_TIME, HOLDS, text, {"depth": self.depth, "norm": last})
        agent, start = self.largest_at.get(self.depth, (-1, 0))
        fault = Fault(agent, start, last, "", f"‖Φ({start + self.depth}, {start})‖∞ is not zero")
        faults = (fault,) if agent >= 0 else ()
        text = "Some agent hears itself, through others, or one of its own layer."
        return Claim(*FINITE_TIME, FAILS, text, {"depth": self.depth, "norm": last}, faults)


class Containment:
    """From ``depth`` steps after the anchors' arrival on, followers stand in the convex hull of the anchors.

    Or earlier, if nobody moves any more: then the same step could be repeated ``depth`` times.
    """

    def __init__(self, anchors: Anchors, forgetting: "Forgetting | None" = None) -> None:
        self.anchors, self.forgetting, self.faults = anchors, forgetting, Faults()
        self.since: int | None = None
        self._hull: Floats | None = None

    def see(self, step: Step) -> None:
        """Look at the followers' positions at t+1."""
        if step.opens:
            self._hull = self.since = None
        arrived, time = self.anchors.arrived, step.index + 1
        if arrived is None or self.anchors.places is None:
            return
        settled = self._settled(step, arrived)
        if not settled.size:
            return
        if self._hull is None:
            self._hull = _hull(self.anchors.places)
        elif step.same and not self.faults.count:
            return
        if self._hull is not None:
            if self.since is None and len(settled) == len(step.frame.followers):
                self.since = time
            points = step.after[settled]
            outside = _beyond(points, self._hull, step.frame.network.depth) - self.anchors.tolerance
            bad = np.flatnonzero(outside > 0)
            reasons = ["outside the hull of the anchors"] * len(bad)
            self.faults.add(settled[bad], time, outside[bad], reasons)

    def _settled(self, step: Step, arrived: int) -> NDArray[np.int64]:
        """Followers (K,) whose positions at t+1 depend on nothing before the anchors' arrival."""
        followers, since = step.frame.followers, step.index + 1 - arrived
        if self.forgetting is not None:
            if step.index < step.epoch.known_from:
                return followers[:0]
            return followers[self.forgetting.back[followers] <= since]
        enough = since >= step.frame.network.depth or np.array_equal(step.before, step.after)
        return followers if enough else followers[:0]

    def claims(self) -> list[Claim]:
        """The one verdict."""
        figures = {"since": self.since, **self.faults.figures}
        if self.faults.count:
            text = f"{counted(self.faults.count, 'time')} outside, at most {self.faults.worst:.3g} m."
            return [Claim(*_HULL, FAILS, text, figures, tuple(self.faults.first))]
        if self.since is None:
            text = "The log ends before depth steps with standing anchors, or these stand on one line."
            return [Claim(*_HULL, NOT_APPLICABLE, text, figures)]
        return [Claim(*_HULL, HOLDS, f"All followers in the hull of the anchors from step {self.since} on.", figures)]


def _multiply(step: Step, vector: Floats, product: Floats) -> int:
    """Write |A[t]|·vector to ``product``; returns the place of its largest entry."""
    work = (step.rows.weights, step.frame.inner, vector, len(step.frame.followers) - len(vector))
    in_ranges(lambda first, last: _kernels.apply(*work, first, last, product), len(product))
    return int(product.argmax())


def _hull(places: Floats) -> Floats | None:
    distinct = np.unique(places, axis=0)
    try:
        return distinct[convex_hull(distinct).vertices]
    except FormationError:
        return None


def _beyond(points: Floats, hull: Floats, depth: int) -> Floats:
    """How far points (K, 2) are beyond the sides of a counter-clockwise polygon (C, 2).

    0 within rounding, which each layer adds to.
    """
    farthest = np.full(len(points), -np.inf)
    for corner, following in zip(hull, np.roll(hull, -1, axis=0), strict=True):
        side = (following - corner) / np.hypot(*(following - corner))
        beyond = side[1] * (points[:, 0] - corner[0]) - side[0] * (points[:, 1] - corner[1])
        farthest = np.maximum(farthest, beyond)
    slack = (depth + 1) * ROUNDING * max(np.abs(points).max(initial=0.0), np.abs(hull).max())
    return np.where(farthest <= slack, 0.0, farthest)
