"""Where claims fail, collected step by step: the first few in full, all of them counted."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tricover.certificates.certificate import Fault, Figure

__all__ = ["MOST_KEPT", "Faults"]

MOST_KEPT = 20
"""Faults that are kept in full: enough to see a pattern, few enough to read."""


@dataclass
class Faults:
    """Faults of one claim; amounts are in ``unit``."""

    unit: str = "m"
    first: list[Fault] = field(default_factory=list)
    count: int = 0
    excused: int = 0
    worst: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)

    def add(
        self,
        agents: NDArray[np.integer],
        step: int,
        amounts: NDArray[np.float64],
        reasons: Sequence[str],
        gave_way: NDArray[np.bool_] | None = None,
    ) -> None:
        """Faults of several agents (K,) in one step, with amounts (K,) and reasons (K,).

        Those of agents that ``gave_way`` (N,) to others are excused, and counted apart.
        """
        if gave_way is not None and gave_way[agents].any():
            left = np.flatnonzero(~gave_way[agents])
            self.excused += len(agents) - len(left)
            agents, amounts, reasons = agents[left], amounts[left], [reasons[row] for row in left.tolist()]
        self.count += len(agents)
        self.worst = max(self.worst, float(np.max(amounts, initial=0.0)))
        self.reasons.update(reasons)
        room = MOST_KEPT - len(self.first)
        for agent, amount, reason in zip(agents[:room].tolist(), amounts[:room].tolist(), reasons, strict=False):
            self.first.append(Fault(agent, step, amount, self.unit, reason))

    @property
    def figures(self) -> dict[str, Figure]:
        """How many there are, the worst, and how many for each reason."""
        return {"faults": self.count, "worst": self.worst, "reasons": dict(self.reasons)}
