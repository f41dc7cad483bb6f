"""What solvers work on: the normalised, shaped problem of ``cost`` as plain arrays."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from tricover.geometry import CellGrid
from tricover.mdp import _kernels, _sweeps
from tricover.mdp._kernels import Tables, Walks
from tricover.mdp._sweeps import Measures, Model, Schedule
from tricover.mdp.transition import Kernel

__all__ = ["Problem", "tables"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Places = NDArray[np.uint32]


@lru_cache(maxsize=16)
def tables(grid: CellGrid) -> Tables:
    """The tables of a grid, made once."""
    filled = np.where(grid.neighbors < 0, len(grid), grid.neighbors)
    coordinates, thirds = grid.coordinates.astype(np.int32), grid.thirds.astype(np.int32)
    return Tables(coordinates, thirds, filled.astype(np.uint32), grid.resolution)


@dataclass(frozen=True, eq=False)
class Problem:
    """One decision process in units of α times the longest side, shaped so that the goal's reward drops out."""

    grid: CellGrid
    triangle: Floats
    goal_cell: int
    kernel: Kernel
    gamma: float
    unit: float
    """α times the longest side: one unit of cost."""
    costs: Floats
    """(M²,) distances to the goal."""
    levels: Ints
    """(M²+1,) moves to the goal, and a last entry beyond all."""
    order: Places
    """(M²,) cells by level: the goal first."""
    ends: Places
    """(levels,) where each level ends in ``order``; there are 2M-1 where no cell is forbidden."""
    bonuses: Floats
    """(levels,) β γ^n in units; 0 for a last level of cells that cannot get to the goal."""
    rewards: Floats
    """(M²,) β γ^n / (1-γ), not in units: what shaping adds to the value."""
    neighbors: Places
    """(M², 3) with M² where there is none."""
    shortest_only: bool
    """Whether β suffices for the optimal walks to be shortest walks."""
    reaching: int
    """How many cells have a walk to the goal: the first of ``order``."""

    @property
    def walks(self) -> Walks:
        """This problem for moves that always succeed, whatever the kernel says."""
        return Walks(self.neighbors, self.levels, self.order, self.costs, self.bonuses, self.gamma)

    @property
    def measures(self) -> Measures:
        """The kernel as compiled loops want it."""
        return self.kernel.lookup.measures

    @cached_property
    def stage(self) -> Floats:
        """(M², 4) stage costs C'(s, a), infinite where there is no such action."""
        out = np.empty((len(self.costs), 4))
        _sweeps.stage_costs(self.measures, self.levels, self.costs, self.bonuses, self.gamma, out)
        return out

    @property
    def model(self) -> Model:
        """This problem for any kernel."""
        return Model(self.measures, self.stage, self.gamma)

    @cached_property
    def factors(self) -> Floats:
        """(M², 9) of the Bellman equation solved for the chance to remain in a cell, by ``order``."""
        return _sweeps.solve_remaining(self.model, self.order)

    @cached_property
    def schedule(self) -> Schedule:
        """Cells by level, and base measures by the level after which a sweep needs their mean anew.

        A measure of intending a cell is needed from that cell's level on, one of a single action before its own cell.
        """
        if self.kernel.lookup.by_cell:
            return Schedule(self.order, self.ends, self.order, self.ends)
        after = np.repeat(np.maximum(self.levels[:-1] - 1, 0), 4)
        ends = np.cumsum(np.bincount(after, minlength=len(self.ends)))
        due = np.argsort(after, kind="stable").astype(np.uint32)
        return Schedule(self.order, self.ends, due, ends.astype(np.uint32))

    def shaped(self, value: Floats) -> Floats:
        """An original value (M²,) in the terms of this problem."""
        return np.asarray((value + self.rewards) / self.unit)

    def enough(self, tolerance: float) -> float:
        """The relative change of a sweep below which values are within ``tolerance``, or as exact as rounding lets."""
        return max(tolerance * min(1.0, (1 - self.gamma) / self.gamma), 16 * float(np.finfo(np.float64).eps))

    def first_guess(self) -> tuple[Floats, Ints]:
        """Values and actions of the best shortest walks, as if moves always succeeded."""
        parts = self.neighbors, self.order, self.costs, np.zeros(len(self.costs))
        value, policy = _kernels.shortest(*parts, self.gamma, 1.0, self.reaching)
        actions = np.empty(len(policy), np.int32)
        _kernels.slots(self.neighbors, policy, actions)
        return value, actions
