"""Messages that are late or lost: what can still be claimed (Theorems 1 to 3 with delays).

At step t follower i acts on the position r_j[t - τ_ij(t)] of each in-neighbour j, which is τ_ij(t) steps old. One that
has not heard of all three yet stays where it is; the steps since it began to listen count as its age.

*Theorem 1.* r_i[t+1] = Σ_j α_ij[t] r_j[t - τ_ij(t)], so Γ[t] is row-stochastic over the last D + 1 positions, where D
is the oldest age. A follower lands in the triangle that it *heard*, which need not be the present one.

*Theorem 2.* How far back does a position depend on others? Let b_i(t) be that number of steps:

    b_i(t+1) = max_j (1 + τ_ij(t) + b_j(t - τ_ij(t))),  b = 0 for anchors,   and b_i(t) + 1 for one that waits.

By induction over the layers b_i ≤ l·(D+1) in layer l. What lies farther back is forgotten, to the bit: C2 holds with
T = max b for every η < 1. And whoever depends on nothing before the anchors came to rest stands in their hull.

*Theorem 3.* If the layers above are at rest from step s on, layer l acts on where they rest from s + D on. So it is at
rest after D more steps than with perfect messages: by l·(D+1) with ``reach``, by l·(2M - 1 + D) with ``walk``.

*Before the run* D is known only where no message can be lost. Else it is exceeded with a chance of at most δ, see
``world.channel``.
"""

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tricover.certificates.certificate import (
    FAILS,
    HOLDS,
    NOT_APPLICABLE,
    NOTHING_SEEN,
    Claim,
    Fault,
    Figure,
    counted,
)
from tricover.certificates.log import Log
from tricover.certificates.theorem2 import C2, CONTRACTION, FINITE_TIME
from tricover.errors import agents

if TYPE_CHECKING:
    from tricover.certificates.check import Step

__all__ = ["MESSAGES", "RISK", "Forgetting", "Messages", "as_far_as_told"]

Ints = NDArray[np.int64]

RISK = 0.01
"""δ: the chance that messages are older than is said before a run."""
_NOT_TOLD = "Messages may be late or lost, and the log does not tell which positions agents acted on."
_BY_POSITIONS = ("theorem1", "C1", "C2", "theorem2", "finite-time", "containment")
MESSAGES = ("messages", "Messages", "τ_ij(t) ≤ D for all followers i, in-neighbours j and steps t")


class Forgetting:
    """b_i: on how many steps back each position depends, and what follows for products of Γ."""

    def __init__(self, log: Log) -> None:
        assert log.late is not None, "asked where messages are late"
        self.late, self.steps = log.late, log.steps
        self.longest, self.depth = 0, 0
        self.back = np.empty(0, np.int64)
        self.agent, self.step = -1, 0  # of the longest
        self._past: deque[Ints] = deque(maxlen=self.late.span + 1)

    def see(self, step: "Step") -> None:
        """Work out b (N,) at t+1."""
        heard, followers = step.heard, step.frame.followers
        if heard is None or not len(followers):
            return
        if step.index < step.epoch.known_from:  # some act by another network
            return
        if step.index == step.epoch.known_from:
            self._open(step)
        self._past.appendleft(self.back)
        back = np.zeros_like(self.back)
        waiting = followers[heard.waits]
        back[waiting] = self.back[waiting] + 1
        ages = heard.ages[followers]
        for age in np.unique(ages[~heard.waits]):
            rows, slots = np.nonzero((ages == age) & ~heard.waits[:, None])
            who = followers[rows]
            known = self._past[min(age, len(self._past) - 1)]  # before that it is as at the beginning
            np.maximum.at(back, who, 1 + age + known[heard.senders[who, slots]])
        self.back = back
        worst = followers[back[followers].argmax()]
        if back[worst] > self.longest:
            self.longest, self.agent, self.step = int(back[worst]), int(worst), step.index + 1

    def _open(self, step: "Step") -> None:
        """Begin with a network: followers depend on what was before it."""
        self.depth = max(self.depth, step.frame.network.depth)
        self.back = np.zeros(len(step.before), np.int64)
        self.back[step.frame.followers] = 1
        self._past.clear()

    @property
    def contraction(self) -> None:
        """There are no norms by lag: what is forgotten is forgotten by the agent."""
        return

    def claims(self) -> list[Claim]:
        """C2, the theorem's bound, and the finite-time fact."""
        heads = (C2, CONTRACTION, FINITE_TIME)
        if not self.longest:
            return [Claim(*head, NOT_APPLICABLE, NOTHING_SEEN) for head in heads]
        if self.longest > self.steps:
            why = f"{agents([self.agent])} depends on where it stood at the beginning, to the end."
            return [Claim(*head, NOT_APPLICABLE, why) for head in heads]
        bound = self.depth * (self.late.oldest + 1)
        figures: dict[str, Figure] = {"window": self.longest, "bound": bound, "oldest": self.late.oldest}
        after = counted(self.longest, "step")
        if self.longest > bound:
            text = f"What happened {after} ago still counts; the bound is depth·(D+1) = {bound}."
            fault = Fault(self.agent, self.step, float(self.longest - bound), "steps", "depends on what is too old")
            return [Claim(*head, FAILS, text, figures, (fault,)) for head in heads]
        texts = (
            f"T = {self.longest} with every η < 1: anchors decide alone after {after}.",
            f"‖Φ(t,s)‖∞ = 0 from t - s = {self.longest} on, over the last {self.late.oldest + 1} positions.",
            f"What happened {after} ago is forgotten; the bound is depth·(D+1) = {bound}.",
        )
        return [Claim(*head, HOLDS, text, figures) for head, text in zip(heads, texts, strict=True)]


class Messages:
    """How old what was heard is, beside what is known before a run."""

    def __init__(self, log: Log) -> None:
        assert log.late is not None, "asked where messages are late"
        self.late, self.steps = log.late, log.steps

    def see(self, step: "Step") -> None:
        """Ages were looked at when the log was made."""

    def claims(self) -> list[Claim]:
        """The one verdict."""
        late = self.late
        figures: dict[str, Figure] = {"oldest": late.oldest, "mean": late.mean, "allowed": late.allowed}
        if not late.told:
            return [Claim(*MESSAGES, NOT_APPLICABLE, _NOT_TOLD, figures)]
        seen = f"What agents acted on was at most {counted(late.oldest, 'step')} old, {late.mean:.2g} on average"
        if len(late.unheard):
            (agent, sender), count = late.unheard[0].tolist(), len(late.unheard)
            text = f"{counted(count, 'link')} unheard to the end: no chain of agents in radio range, or all was lost."
            fault = Fault(agent, self.steps, float(self.steps), "steps", f"has never heard of agent {sender}")
            return [Claim(*MESSAGES, FAILS, text, {**figures, "unheard": count}, (fault,))]
        if late.allowed is None:
            return [Claim(*MESSAGES, HOLDS, f"{seen}; over relays, which nobody knows before.", figures)]
        chance = "" if late.sure else f" with a chance of {1 - RISK:.0%}"
        text = f"{seen}; the bound is {late.allowed}{chance}."
        if late.oldest <= late.allowed:
            return [Claim(*MESSAGES, HOLDS, text, figures)]
        return [Claim(*MESSAGES, FAILS if late.sure else NOT_APPLICABLE, text, figures)]


def as_far_as_told(claims: tuple[Claim, ...]) -> tuple[Claim, ...]:
    """The claims of a log that does not tell which positions agents acted on: what fails may be right."""
    return tuple(
        replace(claim, verdict=NOT_APPLICABLE, summary=f"{_NOT_TOLD} {claim.summary}", faults=())
        if claim.verdict == FAILS and claim.key in _BY_POSITIONS
        else claim
        for claim in claims
    )
