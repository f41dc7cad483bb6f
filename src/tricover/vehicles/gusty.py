"""A vehicle in gusts: it ends in the middle of its reach set, but with probability ``chance`` a gust carries it away.

It then lands ``gust`` = (east, north) metres off. All gusts are alike, so there is something to learn from them: the
chance that a move ends so many cells away from the cell it intended. State: (x, y).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tricover.vehicles.limits import require_chance, require_vector
from tricover.vehicles.protocol import Floats, Landing, middles, placed, ready

__all__ = ["Gusty"]


@dataclass(frozen=True)
class Gusty:
    """Lands on the centroid of its reach set, or with probability ``chance`` by ``gust`` (m) beside it."""

    chance: float = 0.3
    gust: tuple[float, float] = (0.0, 0.0)

    kind: ClassVar[str] = "gusty"
    state_size: ClassVar[int] = 2
    landing: ClassVar[Landing] = "anywhere"

    def __post_init__(self) -> None:
        require_chance(self.kind, chance=self.chance)
        require_vector(self.kind, "m", gust=self.gust)
        object.__setattr__(self, "chance", float(self.chance))
        object.__setattr__(self, "gust", tuple(map(float, self.gust)))

    def initial_state(self, positions: ArrayLike) -> Floats:
        """States (agents, 2): the positions."""
        return placed(positions)

    def output(self, states: Floats) -> Floats:
        """Positions (agents, 2)."""
        return states.copy()

    def drive(self, states: Floats, reach_sets: Floats, duration: float, draws: Floats) -> Floats:
        """The centroids of the reach sets, moved where the first draw brings a gust."""
        aims = middles(ready(self, states, reach_sets, duration)[1])
        return np.where(draws[:, :1] < self.chance, aims + self.gust, aims)
