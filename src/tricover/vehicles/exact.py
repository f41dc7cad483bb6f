"""The ideal vehicle: it is at the goal point, the centroid of its reach set, after every step, whatever the distance.

It makes single-step reachability hold to the bit, and is what the paper's Section VI assumes. State: (x, y).
"""

from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike

from tricover.vehicles.protocol import Floats, Landing, middles, placed, ready

__all__ = ["Exact"]


@dataclass(frozen=True)
class Exact:
    """Lands on the centroid of its reach set."""

    kind: ClassVar[str] = "exact"
    state_size: ClassVar[int] = 2
    landing: ClassVar[Landing] = "centre"

    def initial_state(self, positions: ArrayLike) -> Floats:
        """States (agents, 2): the positions."""
        return placed(positions)

    def output(self, states: Floats) -> Floats:
        """Positions (agents, 2)."""
        return states.copy()

    def drive(self, states: Floats, reach_sets: Floats, duration: float, draws: Floats) -> Floats:
        """The centroids of the reach sets."""
        return middles(ready(self, states, reach_sets, duration)[1])
