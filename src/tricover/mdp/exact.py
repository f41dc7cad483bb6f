"""Exact solution for moves that always succeed: Gauss–Seidel by level from the goal until nothing changes.

Where the reward suffices for shortest walks (``cost``), one pass by level is exact. Otherwise sweeps start from above:
nothing is known, and staying put bounds every value. An optimal walk does not return to a cell, and a sweep settles at
least the next cell of each, so values become exact, not just close, in at most M² + 2 sweeps (2 to 27 at resolution
35).

From an earlier value sweeps need not end, as values that are too low rise only like γ^k. A start gets a few sweeps to
settle; if it does not, it is dropped.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError
from tricover.mdp import _kernels
from tricover.mdp.problem import Problem
from tricover.mdp.solution import Solution

__all__ = ["Exact"]

PATIENCE = 8


@dataclass(frozen=True)
class Exact:
    """The exact method for deterministic kernels. It has no settings: it stops when a sweep changes nothing."""

    def __call__(self, problem: Problem, start: NDArray[np.float64] | None = None) -> Solution:
        """Solve ``problem``."""
        if not problem.kernel.certain:
            raise InputError("the exact solver needs a deterministic kernel; use another solver, or none")
        if problem.shortest_only:
            parts = problem.neighbors, problem.order, problem.costs, problem.rewards
            value, policy = _kernels.shortest(*parts, problem.gamma, problem.unit, problem.reaching)
            return Solution(value, policy, 0.0, 1, True, "Exact", problem)
        cells = len(problem.costs)
        values, actions, sweeps = np.full(cells + 1, np.inf), np.empty(cells, np.int32), 0
        if start is not None:
            values[:cells] = start[:cells]
            sweeps = _kernels.repeat(problem.walks, values, actions, PATIENCE)
        if sweeps == 0:
            values[:] = np.inf
            sweeps = _kernels.repeat(problem.walks, values, actions, cells + 2)
        value, policy = _kernels.original(problem.rewards, problem.unit, problem.neighbors, values, actions)
        return Solution(value, policy, 0.0, sweeps, True, "Exact", problem)
