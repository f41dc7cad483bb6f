"""A vehicle of the user's own whose class is gone: a run with it can be looked at, and not go on."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from tricover.errors import UnknownNameError
from tricover.vehicles.protocol import Floats, Landing

__all__ = ["Gone"]


@dataclass(frozen=True)
class Gone:
    """Stands for the vehicle of a kind; whoever wants to drive it is told why it cannot be found."""

    kind: str
    reason: str
    landing: Landing = "anywhere"  # nothing is claimed of how it lands
    state_size: int = 0

    def initial_state(self, positions: ArrayLike) -> Floats:
        """There is none."""
        raise UnknownNameError(self.reason)

    def output(self, states: Floats) -> Floats:
        """There is none."""
        raise UnknownNameError(self.reason)

    def drive(self, states: Floats, reach_sets: Floats, duration: float, draws: Floats) -> Floats:
        """It cannot be driven."""
        raise UnknownNameError(self.reason)
