"""Descent: the coverage cost never rises while a team goes by the goal ``descent``.

    J[t+1] ≤ J[t],      J = Σ_j w_j min_i |d_j - r_i|² / Σ_j w_j

``control.descent`` has the proof. It is about agents that land where they are sent, and targets that stand still. Here
the cost itself is measured at every step of the epochs that go by this goal, from when the targets stand still. What
rounding adds to a sum is no rise.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.certificates.certificate import FAILS, HOLDS, NOT_APPLICABLE, Claim, Figure, counted
from tricover.certificates.check import Step
from tricover.certificates.log import Log
from tricover.targets.placing import mean_square

__all__ = ["DESCENT", "Descent"]

DESCENT = ("descent", "Coverage cost never rises", "J[t+1] ≤ J[t] while the goal is descent")
_ROUNDING = 1e-9  # of the cost: morph keeps agents off the edges by a thousand millionth of the extent in a first step


class Descent:
    """The cost of a log whose team goes by descent, at some time."""

    def __init__(self, log: Log) -> None:
        self.log, self.steps, self.rises = log, 0, 0
        self.largest, self.at = 0.0, -1
        self.first = self.last = np.nan
        self._known = (-1, np.nan)  # the last step whose cost is known, and that cost
        nothing = np.empty((0, 2)), np.empty(0)
        self.points, self.weights = nothing if log.targets is None else log.targets.weighed()

    def see(self, step: Step) -> None:
        """Compare the costs at t and t+1."""
        if step.epoch.goal != "descent" or step.index < self.log.still_from or not len(self.points):
            return
        before = self._known[1] if self._known[0] == step.index else self._cost(step, step.before)
        after = before if step.same else self._cost(step, step.after)
        self._known = step.index + 1, after
        self.first, self.last = (before if self.steps == 0 else self.first), after
        self.steps += 1
        rise = (after - before) / before if before > 0 else float(after > 0)
        self.rises += rise > _ROUNDING
        if rise > self.largest:
            self.largest, self.at = rise, step.index

    def _cost(self, step: Step, positions: NDArray[np.float64]) -> float:
        return mean_square(positions[step.present], self.points, self.weights)

    def claims(self) -> list[Claim]:
        """The one verdict."""
        if not self.steps:
            return [Claim(*DESCENT, NOT_APPLICABLE, "Targets move, or have no weight, in all steps of descent.")]
        figures: dict[str, Figure] = {
            "steps": self.steps,
            "rises": int(self.rises),
            "largest_rise": self.largest,
            "step_of_largest_rise": self.at,
            "cost_at_the_start": self.first,
            "cost_at_the_end": self.last,
        }
        if self.rises:
            times = counted(int(self.rises), "time")
            text = f"The cost rose {times}, by up to {self.largest:.3g} of itself (step {self.at})."
            return [Claim(*DESCENT, FAILS, text, figures)]
        fell = 1 - self.last / self.first if self.first > 0 else 0.0
        text = (
            f"No rise in {counted(self.steps, 'step')} beyond {self.largest:.1g} of the cost, which fell by {fell:.1%}."
        )
        return [Claim(*DESCENT, HOLDS, text, figures)]
