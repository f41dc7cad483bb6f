"""Modified policy iteration for any kernel: greedy actions, then a few cheap sweeps of their value instead of a solve.

Sweeps of a policy's value go by breadth-first level from the goal, with the goal itself solved for: V(s) = toll(s) +
share(s) V(g), where toll is the cost on the way to the goal and share the mean discount at arrival. Moves lead towards
the goal, so both settle in a few sweeps; what is slow in plain sweeps is V(g), which every other value copies.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tricover.mdp import _sweeps
from tricover.mdp.problem import Problem
from tricover.mdp.solution import Solution, finished

__all__ = ["ModifiedPolicyIteration"]


@dataclass(frozen=True)
class ModifiedPolicyIteration:
    """Modified policy iteration with the goal solved for: the fastest here for kernels that are not deterministic."""

    tolerance: float = 1e-10
    sweeps: int = 8
    most: int = 10_000

    def __call__(self, problem: Problem, start: NDArray[np.float64] | None = None) -> Solution:
        """Solve ``problem``."""
        values, actions = problem.first_guess()
        if start is not None:
            values = start
        order, levels = problem.states.order, problem.states.levels[: len(values)]
        toll, share = values - values[order[0]], problem.gamma ** levels.astype(np.float64)
        enough = problem.enough(self.tolerance)
        model = problem.model
        for rounds in range(1, self.most + 1):
            _, _, off = _sweeps.improve(model, values, actions, True)
            if off <= enough:
                return finished(problem, values, actions, rounds, True, "ModifiedPolicyIteration")
            _sweeps.evaluate(model, order, actions, toll, share, enough / 4, self.sweeps, values)
        return finished(problem, values, actions, self.most, False, "ModifiedPolicyIteration")
