"""The default method: what suits the kernel.

Deterministic kernels are solved exactly. Others get value iteration, which needs some 15 sweeps where agents can get to
the goal; should it not settle (mostly with an own reward so small that agents do best to stay where they are), policy
iteration goes on from there.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tricover.mdp.exact import Exact
from tricover.mdp.policy_iteration import PolicyIteration
from tricover.mdp.problem import Problem
from tricover.mdp.solution import Solution
from tricover.mdp.value_iteration import ValueIteration

__all__ = ["Automatic"]


@dataclass(frozen=True)
class Automatic:
    """Exact for deterministic kernels, otherwise at most ``patience`` sweeps of value iteration, then policies."""

    patience: int = 200

    def __call__(self, problem: Problem, start: NDArray[np.float64] | None = None) -> Solution:
        """Solve ``problem``."""
        if problem.kernel.certain:
            return Exact()(problem, start)
        first = ValueIteration(most=self.patience)(problem, start)
        return first if first.converged else PolicyIteration()(problem, problem.shaped(first.value))
