"""How messages get from agent to agent: at once, late, or never.

Everybody sends its position in every step, and those who listen to it hear of it. A *channel* says how many steps each
message takes. In an imperfect one

- a message is *late* by a number of steps, each as likely as the others from ``least`` to ``most``;
- it is *lost* with the chance p. Losses are independent, or come in bursts (Gilbert and Elliott's channel): a link is
  good or bad, and what is sent while it is bad is lost. Bad spells last L messages on average, and a link is bad with
  the chance p at any time. Then a bad link stays bad with the chance q = 1 - 1/L, and a good one turns bad with the
  chance g = p(1 - q)/(1 - p). Independent losses are the case q = g = p, L = 1/(1 - p); no shorter spells are possible
  unless one loss made the next less likely;
- a message goes no farther than the *radio* range. Others pass it on: it takes the shortest chain of agents that were
  within range of each other when it was sent, and a step for each of them. Without a chain it does not arrive. Loss and
  lateness are those of the whole way.

*How old can the newest message be?* A message of age ``most`` or more that was not lost has arrived. An age above
most + k means that k + 1 messages in a row were lost, which has the chance p·q^k. With F followers, 3F links and H
steps, no age exceeds

    D = most + k,   k the least whole number with 3FH·p·q^k ≤ δ,

with a chance of at least 1 - δ. Relays add their number.

All draws are functions of seed, link and step, so two processes that know the seed agree on which messages are lost.
"""

from dataclasses import dataclass
from math import ceil, inf, log
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from tricover.control.hearing import NOTHING
from tricover.draws import DELAYS, LOSSES, NEWS, uniforms
from tricover.errors import InputError
from tricover.threads import in_ranges
from tricover.world.relays import MOST_RELAYS, hops_between, hops_from

__all__ = ["Channel", "ImperfectChannel", "PerfectChannel", "heard_at_once"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_SENDERS = 1 << 31  # a link has the number receiver · 2³¹ + sender
_LEAST = 2.0**-60  # below every draw but 0, which has no logarithm


class Channel(Protocol):
    """A way for messages."""

    @property
    def perfect(self) -> bool:
        """Whether every message arrives in the step in which it is sent."""

    @property
    def history(self) -> int:
        """How many steps a message may be on its way: so many steps of what was sent are kept for it."""

    def delays(self, step: int, positions: Floats, senders: Ints) -> Ints:
        """How many steps the messages take that are sent at a step, (N, 3); -1: they never arrive.

        Senders (N, 3) are those to whom each agent listens, -1 for nobody. Everybody is at positions (N, 2), NaN for
        those who do not take part.
        """

    def hops(self, positions: Floats, senders: Ints) -> Ints:
        """Over how many links messages go, (N, 3): 1 where they need no relay, -1 where none gets through."""

    def news(self, epoch: int, positions: Floats, sources: Ints) -> Floats:
        """How many steps after it began everybody hears of an epoch, (N,); infinity: it never does."""

    def late_by(self, links: int, steps: int, risk: float) -> int:
        """D: no newest message on any of so many links is older in so many steps, but for a risk."""


@dataclass(frozen=True)
class PerfectChannel:
    """Every message arrives at once."""

    perfect: ClassVar[bool] = True
    history: ClassVar[int] = 0

    def delays(self, step: int, positions: Floats, senders: Ints) -> Ints:
        """None."""
        return np.where(senders < 0, NOTHING, 0)

    def hops(self, positions: Floats, senders: Ints) -> Ints:
        """One to everybody."""
        return np.where(senders < 0, -1, 1)

    def news(self, epoch: int, positions: Floats, sources: Ints) -> Floats:
        """At once."""
        return np.zeros(len(positions))

    def late_by(self, links: int, steps: int, risk: float) -> int:
        """Never."""
        return 0


def heard_at_once(positions: Floats, senders: NDArray[np.integer]) -> Floats:
    """The present positions (A, 3, 2) of senders (A, 3); an agent without senders (-1) hears NaN."""
    heard = np.empty((*senders.shape, 2))

    def gather(first: int, last: int) -> None:
        # Nothing has to be clipped: the mode spares NumPy a copy.
        positions.take(senders[first:last], axis=0, out=heard[first:last], mode="clip")

    in_ranges(gather, len(senders))
    heard[senders[:, 0] < 0] = np.nan
    return heard


@dataclass(frozen=True)
class ImperfectChannel:
    """Messages are late, lost, or out of range.

    Attributes:
        seed: of the draws.
        least: steps that a message takes at least.
        most: steps that it takes at most, relays apart.
        loss: p, the chance that it is lost.
        burst: L, the mean length of a row of losses; None: losses are independent.
        radio: metres that a message goes at most; None: any distance.
        relays: whether agents in range pass messages on.
    """

    seed: int = 0
    least: int = 0
    most: int = 0
    loss: float = 0.0
    burst: float | None = None
    radio: float | None = None
    relays: bool = True
    perfect: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 <= self.least <= self.most:
            raise InputError(f"messages are late by {self.least} to {self.most} steps: give ascending steps from 0 on")
        if not 0 <= self.loss < 1:
            raise InputError(f"loss must be a chance from 0 to less than 1, not {self.loss}")
        # A value that is meant to be the shortest may have been rounded.
        if self.burst is not None and not self.burst * (1 - self.loss) >= 1 - 1e-9:
            shortest = 1 / (1 - self.loss)
            raise InputError(
                f"losses of chance {self.loss:g} come in rows of {shortest:.6g} messages on average where they are "
                f"independent: a burst of {self.burst:g} would be shorter, give at least that, or leave it out"
            )

    @property
    def history(self) -> int:
        """How many steps a message may be on its way."""
        return self.most + (MOST_RELAYS if self.radio is not None and self.relays else 0)

    @property
    def stays_bad(self) -> float:
        """q: the chance that a loss is followed by another one."""
        return self.loss if self.burst is None else 1 - 1 / self.burst

    def delays(self, step: int, positions: Floats, senders: Ints) -> Ints:
        """How many steps the messages take that are sent at a step, (N, 3); -1: they never arrive."""
        hops = self.hops(positions, senders)
        rows, slots = np.nonzero(hops > 0)
        links = rows * _SENDERS + senders[rows, slots]
        late = self._late(uniforms(self.seed, DELAYS, step, links)[:, 0]) + hops[rows, slots] - 1
        found = np.full(senders.shape, NOTHING, np.int64)
        found[rows, slots] = np.where(self.lost(step, links), NOTHING, late)
        return found

    def hops(self, positions: Floats, senders: Ints) -> Ints:
        """Over how many links messages go, (N, 3): 1 where they need no relay, -1 where none gets through."""
        found = np.full(senders.shape, -1, np.int64)
        rows, slots = np.nonzero((senders >= 0) & ~np.isnan(positions[senders, 0]) & ~np.isnan(positions[:, :1]))
        if self.radio is None:
            found[rows, slots] = 1
        else:
            found[rows, slots] = hops_between(positions, senders[rows, slots], rows, self.radio, self.relays)
        return found

    def lost(self, step: int, links: Ints) -> Flags:
        """Which of the messages on links (K,) that are sent at a step are lost.

        A draw below g makes a link bad, one from q on makes it good, whatever it was; any other leaves it as it is. So
        one looks back until a draw decides: on average some L steps. At step 0 a link is bad with the chance p.
        """
        if not self.loss:
            return np.zeros(len(links), np.bool_)
        stays = self.stays_bad
        turns = min(self.loss * (1 - stays) / (1 - self.loss), stays)
        lost = np.zeros(len(links), np.bool_)
        open_rows = np.arange(len(links))
        for past in range(step, -1, -1):
            drawn = uniforms(self.seed, LOSSES, past, links[open_rows])[:, 0]
            lost[open_rows] = drawn < (turns if past else self.loss)
            if not past:
                break
            open_rows = open_rows[(drawn >= turns) & (drawn < stays)]
            if not open_rows.size:
                break
        return lost

    def news(self, epoch: int, positions: Floats, sources: Ints) -> Floats:
        """How many steps after it began everybody hears of an epoch, (N,); infinity: it never does.

        Word of it is sent in every step, until it arrives. It spreads from ``sources``, those who left or joined, and
        all pass it on. Everybody is at positions (N, 2), NaN for those who do not take part.
        """
        drawn = uniforms(self.seed, NEWS, epoch, len(positions))
        found = self._late(drawn[:, 0]).astype(np.float64)
        if self.loss:  # at least k times in a row with the chance p·q^(k-1)
            again = np.log(np.maximum(drawn[:, 1], _LEAST) / self.loss) / log(self.stays_bad)
            found += np.where(drawn[:, 1] < self.loss, 1 + np.floor(again), 0)
        if self.radio is not None:
            hops = hops_from(positions, sources, self.radio)
            found += np.where(hops < 0, inf, np.maximum(hops - 1, 0))
        return found

    def late_by(self, links: int, steps: int, risk: float) -> int:
        """D: no newest message on any of so many links is older in so many steps, but for a risk; relays apart."""
        if not self.loss or not links * steps:
            return self.most
        return self.most + max(0, ceil(log(risk / (links * steps * self.loss)) / log(self.stays_bad)))

    def _late(self, drawn: Floats) -> Ints:
        return self.least + np.floor(drawn * (self.most - self.least + 1)).astype(np.int64)
