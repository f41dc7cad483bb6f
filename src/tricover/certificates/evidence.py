"""Evidence: what a log must have before anything can be claimed from it.

A claim about every step is true of a log without steps, and says nothing. So a log needs at least one step of at least
one follower, after its launch if it has one: in a launch nobody follows.

Γ[t] takes y[t] to y[t+1], one step Δt later. If positions are missing in between, or if there are more than one per
step, the positions of the log are not those of the steps, and what holds for them says nothing about the flight. So
every two times that follow each other must be Δt apart. Δt is the scenario's ``duration``, or the median of the log's
own steps where no scenario is known. Clocks jitter: a share of Δt is allowed. It must be less than a half, so that a
position halfway between two steps never counts as one.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.certificates.certificate import FAILS, HOLDS, Claim, Figure, counted
from tricover.certificates.check import Step
from tricover.certificates.log import ROUNDING, Log
from tricover.errors import InputError

__all__ = ["EVIDENCE", "JITTER", "NO_FOLLOWERS", "Evidence"]

Floats = NDArray[np.float64]

#: Share of a step by which times may be off. A missed step is off by a whole one, a flight controller by a hundredth.
JITTER = 0.1

EVIDENCE = ("evidence", "Evidence", "y[t] and y[t+1] are one step Δt apart, for all t")
NO_FOLLOWERS = "There are no followers, hence nothing to certify."


class Evidence:
    """There are steps and followers to look at, and the steps are even."""

    def __init__(self, log: Log, jitter: float) -> None:
        if not 0 <= jitter < 0.5:
            raise InputError(f"jitter must be a share of a step from 0 to less than 0.5, not {jitter}")
        self.log, self.jitter = log, jitter
        self.landings = 0

    def see(self, step: Step) -> None:
        """Count the followers."""
        self.landings += len(step.frame.followers)

    def claims(self) -> list[Claim]:
        """The one verdict."""
        figures: dict[str, Figure] = {"steps": self.log.steps, "landings": self.landings}
        if not self.log.steps:
            return [Claim(*EVIDENCE, FAILS, "There is a single time, hence no step to certify.", figures)]
        if self.log.launched:
            figures["launched"] = self.log.launched
        if self.log.steps <= self.log.launched:
            text = f"There is no step after the launch of {counted(self.log.launched, 'step')}: nobody followed yet."
            return [Claim(*EVIDENCE, FAILS, text, figures)]
        if not self.landings:
            return [Claim(*EVIDENCE, FAILS, NO_FOLLOWERS, figures)]
        seen = f"{counted(self.log.steps, 'step')}, {counted(self.landings, 'landing')} of followers"
        if self.log.launched:
            seen += f" after a launch of {self.log.launched}"
        if self.log.times is None:
            return [Claim(*EVIDENCE, HOLDS, f"{seen}; no times are known, and steps count as even.", figures)]
        return [self._timing(self.log.times, seen, figures)]

    def _timing(self, times: Floats, seen: str, figures: dict[str, Figure]) -> Claim:
        steps, told = np.diff(times), self.log.settings.duration
        duration = float(np.median(steps)) if told is None else told
        off = np.abs(steps - duration)
        bad = np.flatnonzero(off > self.jitter * duration + ROUNDING * np.abs(times).max())
        worst = int(off.argmax())
        figures |= {
            "duration": duration,
            "jitter": self.jitter,
            "shortest": float(steps.min()),
            "longest": float(steps.max()),
            "uneven": len(bad),
        }
        if not bad.size:
            return Claim(*EVIDENCE, HOLDS, f"{seen}; {duration:.6g} s a step, to {off[worst]:.2g} s.", figures)
        figures |= {"worst_step": worst, "worst_time": float(times[worst])}
        whose = "the log's median" if told is None else "the scenario's duration"
        text = (
            f"{len(bad)} of {counted(len(steps), 'step')} not {duration:.6g} s long ({whose}, ± {self.jitter:.0%}); "
            f"the worst takes {steps[worst]:.6g} s, from time {times[worst]:.12g} on (step {worst})."
        )
        return Claim(*EVIDENCE, FAILS, text, figures)
