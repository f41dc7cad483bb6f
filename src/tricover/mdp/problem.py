"""What solvers work on: the normalised, shaped problem of ``cost`` as plain arrays."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.geometry import CellGrid
from tricover.mdp import _kernels, _sweeps
from tricover.mdp._kernels import Tables, Walks
from tricover.mdp._sweeps import Measures, Model, Schedule
from tricover.mdp.transition import Kernel

__all__ = ["Problem", "States", "tables"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Places = NDArray[np.uint32]


@lru_cache(maxsize=16)
def tables(grid: CellGrid) -> Tables:
    """The tables of a grid, made once."""
    filled = np.where(grid.neighbors < 0, len(grid), grid.neighbors)
    coordinates, thirds = grid.coordinates.astype(np.int32), grid.thirds.astype(np.int32)
    return Tables(coordinates, thirds, filled.astype(np.uint32), grid.resolution)


class States(NamedTuple):
    """What a kernel leads to: the M² cells, and outside as state M² where the kernel knows it."""

    levels: Ints
    """(≥ S,) moves to the goal; outside has one more than the cell that it comes back to."""
    order: Places
    """(S,) by level: the goal first."""
    ends: Places
    """(levels,) where each level ends in ``order``."""
    bonuses: Floats
    """(levels,) β γ^n in units; 0 for a last level of cells that cannot get to the goal."""
    costs: Floats
    """(S,) in units."""


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
    outside_cost: float
    """Of a step outside, in units: no cell costs more."""
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
    def states(self) -> States:
        """The states that the kernel knows."""
        if not self.kernel.outside:
            return States(self.levels, self.order, self.ends, self.bonuses, self.costs)
        return _with_outside(self)

    @cached_property
    def stage(self) -> Floats:
        """(S, 4) stage costs C'(s, a), infinite where there is no such action."""
        levels, _, _, bonuses, costs = self.states
        out = np.empty((len(costs), 4))
        _sweeps.stage_costs(self.measures, levels, costs, bonuses, self.gamma, out)
        return out

    @property
    def model(self) -> Model:
        """This problem for any kernel."""
        return Model(self.measures, self.stage, self.gamma)

    @cached_property
    def factors(self) -> Floats:
        """(S, 9) of the Bellman equation solved for the chance to remain in a state, by its order."""
        return _sweeps.solve_remaining(self.model, self.states.order)

    @cached_property
    def schedule(self) -> Schedule:
        """States by level, and base measures by the level after which a sweep needs their mean anew.

        A measure of intending a cell is needed from that cell's level on, one of a single action before its own cell.
        """
        levels, order, ends, _, costs = self.states
        if self.kernel.lookup.by_cell:
            if not self.kernel.outside:
                return Schedule(order, ends, order, ends)
            due, due_ends = _by_level(levels[:-1], len(ends))
        else:
            due, due_ends = _by_level(np.repeat(np.maximum(levels[: len(costs)] - 1, 0), 4), len(ends))
        return Schedule(order, ends, due, due_ends)

    def shaped(self, value: Floats) -> Floats:
        """An original value (M²,) in the terms of this problem, (S,)."""
        shaped = np.asarray((value + self.rewards) / self.unit)
        if not self.kernel.outside:
            return shaped
        levels, _, _, bonuses, _ = self.states
        return np.append(shaped, self.outside_value(value) / self.unit + bonuses[levels[-1]] / (1 - self.gamma))

    def outside_value(self, value: Floats) -> float:
        """The original value outside, by its equation, from an original value (M²,) of the cells."""
        matrix, cells = self.kernel.matrix, len(self.grid)
        ends, chances = matrix.indices[matrix.indptr[-2] :], matrix.data[matrix.indptr[-2] :]
        inside = ends < cells
        mean, remain = chances[inside] @ value[ends[inside]], chances[~inside].sum()
        return float((self.unit * self.outside_cost + self.gamma * mean) / (1 - self.gamma * remain))

    def enough(self, tolerance: float) -> float:
        """The relative change of a sweep below which values are within ``tolerance``, or as exact as rounding lets."""
        return max(tolerance * min(1.0, (1 - self.gamma) / self.gamma), 16 * float(np.finfo(np.float64).eps))

    def first_guess(self) -> tuple[Floats, Ints]:
        """Values and actions of the best shortest walks, as if moves always succeeded."""
        parts = self.neighbors, self.order, self.costs, np.zeros(len(self.costs))
        value, policy = _kernels.shortest(*parts, self.gamma, 1.0, self.reaching)
        actions = np.full(len(self.states.costs), _kernels.STAY, np.int32)
        _kernels.slots(self.neighbors, policy, actions)
        if self.kernel.outside:  # one step from the cell that it comes back to
            value = np.append(value, self.outside_cost + self.gamma * value[self.kernel.back])
        return value, actions


def _with_outside(problem: Problem) -> States:
    """The cells of a problem, and outside one level beyond the cell that an agent there goes to.

    Cells that cannot get to the goal stay the last level, and make room where outside is farther than all others.
    """
    cells = problem.levels[:-1]
    outside, farthest = int(cells[problem.kernel.back]) + 1, int(cells[problem.order[problem.reaching - 1]])
    levels = np.append(np.where(cells > farthest, np.maximum(cells, outside + 1), cells), outside).astype(np.int32)
    count = int(levels.max()) + 1
    bonuses = np.empty(count)
    _kernels.powers(problem.bonuses[0], problem.gamma, bonuses)
    bonuses[max(farthest, outside) + 1 :] = 0.0
    return States(levels, *_by_level(levels, count), bonuses, np.append(problem.costs, problem.outside_cost))


def _by_level(levels: Ints, count: int) -> tuple[Places, Places]:
    """Places by their level, of which there are ``count``, and where each level ends."""
    ends = np.cumsum(np.bincount(levels, minlength=count))
    return np.argsort(levels, kind="stable").astype(np.uint32), ends.astype(np.uint32)
