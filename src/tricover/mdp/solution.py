"""The solution of a local decision process, and what a solver is."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tricover.mdp import _kernels, _sweeps
from tricover.mdp.problem import Problem

__all__ = ["Solution", "Solver", "finished"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Solution:
    """Optimal value and policy of the contained cells, and how far from the optimum they can be."""

    value: Floats
    """(M²,) V*(s)."""
    policy: Ints
    """(M²,) the cell to move to, π*(s); a cell's own number for staying."""
    residual: float
    """Largest violation of the Bellman equation by ``value`` (0: exact to rounding)."""
    iterations: int
    """Sweeps or rounds of the solver."""
    converged: bool
    """Whether the solver reached its tolerance."""
    solver: str
    problem: Problem = field(repr=False)

    @property
    def bound(self) -> float:
        """``value`` is within this of the optimal value in every cell: residual / (1-γ)."""
        return self.residual / (1 - self.problem.gamma)

    @cached_property
    def outside(self) -> float | None:
        """V* outside the triangle; None if the kernel does not know the uncontained state."""
        return self.problem.outside_value(self.value) if self.problem.kernel.outside else None

    @property
    def reaches_goal(self) -> bool:
        """Whether the policy leads every contained cell to the goal (with probability one), if a walk does at all."""
        return not self._lost and bool(self._reached[len(self.policy) :].all())

    @property
    def _lost(self) -> int:
        """How many cells have a walk to the goal, but not by the policy."""
        return self.problem.reaching - int(self.reaching.sum())

    @property
    def reaching(self) -> NDArray[np.bool_]:
        """(M²,) which cells the policy leads to the goal; with an uncertain kernel, which can still get there."""
        return self._reached[: len(self.policy)]

    @cached_property
    def _reached(self) -> NDArray[np.bool_]:
        """(S,) the same of all states that the kernel knows."""
        order = self.problem.states.order
        marks, actions = np.zeros(len(order), np.bool_), np.full(len(order), _kernels.STAY, np.int32)
        marks[self.problem.goal_cell] = True
        _kernels.slots(self.problem.neighbors, self.policy, actions)
        _sweeps.reached(self.problem.measures, order, actions, marks)
        return marks

    def path(self, cell: int) -> Ints:
        """The cells (moves+1,) that the policy intends from ``cell`` on, up to the goal or the first repetition."""
        cells = [int(self.problem.grid.checked(cell))]
        while (following := int(self.policy[cells[-1]])) not in cells:
            cells.append(following)
        return np.array(cells)

    def __repr__(self) -> str:
        lost = self._lost
        end = "reaches the goal" if self.reaches_goal else "may not come back from outside"
        end = f"{lost} cells never reach the goal" if lost else end
        return (
            f"Solution({len(self.policy)} cells, goal {self.problem.goal_cell}, {self.solver}: "
            f"{self.iterations} iteration{'s' * (self.iterations != 1)}, within {self.bound:.2g} of the optimum, {end})"
        )


class Solver(Protocol):
    """A method: solve a problem, from shaped values (M²,) of an earlier one if there are any."""

    def __call__(self, problem: Problem, start: Floats | None = None) -> Solution:
        """Solve ``problem``."""
        ...


def finished(
    problem: Problem, values: Floats, actions: NDArray[np.int32], iterations: int, converged: bool, solver: str
) -> Solution:
    """The solution for final shaped values: greedy actions by the fixed order of ties, and the Bellman residual."""
    _, residual, _ = _sweeps.improve(problem.model, values, actions, False)
    cells = len(problem.rewards)
    parts = problem.rewards, problem.unit, problem.neighbors, values[:cells], actions[:cells]
    value, policy = _kernels.original(*parts)
    return Solution(value, policy, residual * problem.unit, iterations, converged, solver, problem)
