"""Value iteration for any kernel: Gauss–Seidel sweeps of the Bellman equation, by breadth-first level from the goal.

A sweep uses new values at once, and news travels outwards from the goal, so a sweep carries it through the whole grid.
Three things make it quick with uncertain moves:

- In the linear form P(·|s,a) = Σ_j φ_j(s,a) μ_j(·), actions that intend the same cell share a measure, so that its mean
  value is taken once for all of them.
- What is slow in plain sweeps is the goal's own value, which all others copy: an error in it decays only like γ^k.
  Along with the value goes ``share`` = ∂V(s)/∂V(g), the mean discount on arrival at the goal, and after each sweep the
  goal's equation is solved: V(s) += share(s) · (what V(g) lacks) / (1 - γ Σ P(s|g) share(s)).
- A window of levels moves outwards, as values settle near the goal first, and those farther out need them.

Sweeping stops when no value changes by more than (1-γ)/γ · tolerance relative to its own size, or by more than
rounding. Means lag behind the values that a sweep has changed after them, so with kernels that carry agents far a value
can stand still for a sweep although its equation does not hold: the residual tells, and sweeping goes on. Plain sweeps
are a γ-contraction; should the lifted ones not settle soon, plain ones take over.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tricover.mdp import _sweeps
from tricover.mdp._sweeps import Limits
from tricover.mdp.problem import Problem
from tricover.mdp.solution import Solution, finished

__all__ = ["ValueIteration"]

NEARBY = 10  # levels that all but decide the goal's value
LAG = 64  # residuals of settled values, in units of what is enough: up to 17 but for those that lag (1e2 to 1e9)
AGAIN = 3  # times at most that sweeping goes on


@dataclass(frozen=True)
class ValueIteration:
    """Gauss–Seidel value iteration with the goal solved for; ``lifted`` sweeps of this kind before plain ones."""

    tolerance: float = 1e-10
    lifted: int = 200
    most: int = 100_000

    def __call__(self, problem: Problem, start: NDArray[np.float64] | None = None) -> Solution:
        """Solve ``problem``."""
        values, actions = problem.first_guess()
        if start is not None:
            values = start
        levels, enough = len(problem.states.ends), problem.enough(self.tolerance)
        limits = Limits(enough, NEARBY if start is None else levels, self.lifted, self.most)
        sweeps = _sweeps.value_sweeps(problem.model, problem.factors, problem.schedule, limits, values)
        found = finished(problem, values, actions, abs(sweeps), sweeps > 0, "ValueIteration")
        for _ in range(AGAIN):
            worst = found.residual / problem.unit  # relative to 1 + |value| it is less
            if not found.converged or worst <= LAG * enough:
                break
            if _sweeps.improve(problem.model, values, actions, False)[2] <= LAG * enough:
                break
            more = Limits(enough, levels, self.lifted, self.most - found.iterations)
            sweeps = _sweeps.value_sweeps(problem.model, problem.factors, problem.schedule, more, values)
            count = found.iterations + abs(sweeps)
            found = finished(problem, values, actions, count, sweeps > 0, "ValueIteration")
        return found
