"""The AOC worst case: all that is known is that the output lands in the reach set, so it lands uniformly in it.

With draws u, v the landing point is (1 - √u) p_0 + √u (1 - v) p_1 + √u v p_2, uniform in the triangle p. State: (x, y).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tricover.vehicles.protocol import Floats, Landing, placed, ready

__all__ = ["Anywhere"]


@dataclass(frozen=True)
class Anywhere:
    """Lands uniformly in its reach set."""

    kind: ClassVar[str] = "anywhere"
    state_size: ClassVar[int] = 2
    landing: ClassVar[Landing] = "inside"

    def initial_state(self, positions: ArrayLike) -> Floats:
        """States (agents, 2): the positions."""
        return placed(positions)

    def output(self, states: Floats) -> Floats:
        """Positions (agents, 2)."""
        return states.copy()

    def drive(self, states: Floats, reach_sets: Floats, duration: float, draws: Floats) -> Floats:
        """A point of each reach set, chosen by the draws."""
        _, corners = ready(self, states, reach_sets, duration)
        first, second, third = np.moveaxis(corners, 1, 0)
        root, share = np.sqrt(draws[:, :1]), draws[:, 1:]
        # Differences to the first corner, so that three equal corners give back exactly that point.
        return np.asarray(first + root * ((1 - share) * (second - first) + share * (third - first)))
