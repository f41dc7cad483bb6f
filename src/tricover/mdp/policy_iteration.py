"""Howard's policy iteration for any kernel, each policy evaluated by one sparse linear solve:

    (I - γ P_π) V_π = C_π,   π'(s) = argmin_a { C(s,a) + γ Σ_s' P(s'|s,a) V_π(s') }.

An action that ties with the best is kept, so that the method cannot cycle between policies that differ only in
rounding.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tricover.mdp import _sweeps
from tricover.mdp.problem import Problem
from tricover.mdp.solution import Solution, finished

__all__ = ["PolicyIteration"]


@dataclass(frozen=True)
class PolicyIteration:
    """Policy iteration with sparse evaluation. It stops when the policy no longer changes."""

    most: int = 1000

    def __call__(self, problem: Problem, start: NDArray[np.float64] | None = None) -> Solution:
        """Solve ``problem``; a start gives the first policy."""
        values, actions = problem.first_guess()
        if start is not None:
            _sweeps.improve(problem.model, start, actions, False)
        for rounds in range(1, self.most + 1):
            values = _evaluated(problem, actions)
            changed, _, _ = _sweeps.improve(problem.model, values, actions, True)
            if changed == 0:
                return finished(problem, values, actions, rounds, True, "PolicyIteration")
        return finished(problem, values, actions, self.most, False, "PolicyIteration")


def _evaluated(problem: Problem, actions: NDArray[np.int32]) -> NDArray[np.float64]:
    from scipy import sparse
    from scipy.sparse.linalg import splu

    cells = np.arange(len(actions))
    chosen = problem.kernel.matrix[4 * cells + actions]
    system = sparse.eye_array(len(actions), format="csc") - problem.gamma * chosen.tocsc()
    return np.asarray(splu(sparse.csc_matrix(system)).solve(problem.stage[cells, actions]))
