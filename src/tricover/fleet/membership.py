"""Who is alive, as one agent sees it, with some patience.

The bus says when the token of another comes or goes. A token that goes and comes back soon, as on a bad link, changes
nothing: the belief in an agent changes when its token has said otherwise for ``patience`` seconds without a break. At
the start everybody is taken for alive, for ``grace`` seconds: processes do not all begin at once.

Who sees nobody else is probably itself cut off, or the router is down: it keeps its belief, and others decide whether
to go on without it. When it sees the first of them again, it waits for the others for twice as long as usual.

Time is given, not asked for, so that all of it can be tested without waiting.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError

__all__ = ["Membership", "Patience"]

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Patience:
    """Seconds: ``grace`` until who was never seen is missed, ``patience`` until who was seen is, and the other way."""

    patience: float = 0.6
    grace: float = 15.0

    def __post_init__(self) -> None:
        for name in ("patience", "grace"):
            if not 0 <= getattr(self, name) < 1e6:
                raise InputError(f"{name} must be a number of seconds from 0 on, not {getattr(self, name)}")


class Membership:
    """Whom an agent takes for alive.

    >>> team = Membership(agents=3, own=0, patience=Patience(patience=1.0, grace=0.0), now=0.0)
    >>> team.seen(1, "a", True, now=0.0), team.seen(2, "b", True, now=0.0), team.seen(2, "b", False, now=5.0)
    (None, None, None)
    >>> team.living(now=5.5).tolist(), team.living(now=6.0).tolist()
    ([True, True, True], [True, True, False])
    """

    def __init__(self, agents: int, own: int, patience: Patience, now: float) -> None:
        self.own = own
        self._patience = patience.patience
        self._tokens: dict[int, set[str]] = {}  # an agent that began again may have two for a moment
        self._here = np.zeros(agents, np.bool_)
        self._here[own] = True
        self._believed = np.ones(agents, np.bool_)
        # Since when each token says otherwise than is believed.
        self._since = np.full(agents, now + patience.grace - patience.patience)

    def seen(self, agent: int, token: str, alive: bool, now: float) -> None:
        """A token came or went; it may be said more than once."""
        tokens = self._tokens.setdefault(agent, set())
        (tokens.add if alive else tokens.discard)(token)
        here = agent == self.own or bool(tokens)
        if here == self._here[agent]:
            return
        was_alone, self._here[agent] = self.alone, here
        # When the router is back tokens come one by one: nobody is missed before all had time to come.
        self._since[:] = np.maximum(self._since, now + self._patience) if was_alone and here else self._since
        self._since[agent] = now

    @property
    def alone(self) -> bool:
        """Whether nobody else is seen."""
        return int(self._here.sum()) == 1

    def living(self, now: float) -> Flags:
        """Whom the agent takes for alive, (N,)."""
        overdue = (self._here != self._believed) & (now - self._since >= self._patience)
        if overdue.any() and not self.alone:
            self._believed = np.where(overdue, self._here, self._believed)
        return self._believed.copy()

    @property
    def next_change(self) -> float:
        """When the belief changes if no token comes or goes; infinity: never."""
        open_rows = self._here != self._believed
        if not open_rows.any() or self.alone:
            return float("inf")
        return float(self._since[open_rows].min() + self._patience)
