"""Lloyd's algorithm: the centralised baseline. Each agent moves to the centroid of the targets that are nearest to it.

``targets.placing`` has it. It needs what our agents do not have: everybody's position, for everybody, at every step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from tricover.coverage.metrics import present_targets
from tricover.errors import InputError, listed
from tricover.formats.points import checked_positions
from tricover.targets import Targets, as_targets
from tricover.targets.placing import settle

__all__ = ["LloydResult", "lloyd"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class LloydResult:
    """Final positions (N, 2), and the cost of the team at the start and after each iteration (iterations + 1,).

    Where an array is wanted, it stands for its positions.
    """

    positions: Floats
    costs: Floats
    converged: bool

    @property
    def iterations(self) -> int:
        """How many times the agents moved."""
        return len(self.costs) - 1

    @property
    def cost(self) -> float:
        """Coverage cost of the final positions."""
        return float(self.costs[-1])

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.positions, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        state = "converged" if self.converged else "stopped"
        return f"LloydResult({len(self.positions)} agents, cost {self.cost:.6g}, {state} after {self.iterations})"


def lloyd(
    positions: ArrayLike,
    targets: Targets | ArrayLike,
    iterations: int | None = None,
    *,
    fixed: Sequence[int] | NDArray[np.integer] = (),
    tolerance: float = 0.0,
) -> LloydResult:
    """Move agents (N, 2) over still targets for some ``iterations``, or until they have converged (None).

    Agents in ``fixed`` stay. Converged means that nobody moves, or that the cost falls by no more than ``tolerance``
    times itself.

    >>> result = lloyd([[0.0, 0], [1, 0]], [[0, 0], [0, 2], [9, 0], [9, 2]])
    >>> result.positions.tolist(), result.cost, result.converged
    ([[0.0, 1.0], [9.0, 1.0]], 1.0, True)
    """
    if iterations is not None and iterations < 0:
        raise InputError(f"iterations must be 0 or more, not {iterations}")
    agents = checked_positions(positions, dimensions=(2,))
    free = _free(len(agents), fixed)
    points, weights = present_targets(as_targets(targets))
    return LloydResult(*settle(agents, points, weights, ~free, tolerance, iterations))


def _free(count: int, fixed: Sequence[int] | NDArray[np.integer]) -> NDArray[np.bool_]:
    held = np.asarray(fixed, dtype=np.int64)
    culprits = held[(held < 0) | (held >= count)]
    if culprits.size:
        raise InputError(f"fixed agent {listed(culprits)} does not exist: there are {count} agents")
    free = np.ones(count, dtype=np.bool_)
    free[held] = False
    return free
