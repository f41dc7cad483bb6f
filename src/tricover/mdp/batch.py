"""Decisions for many agents at once: they share grid, kernel and settings, and differ in triangle, goal and cell.

``next_moves`` is what a simulator or an agent calls every step. For moves that always succeed, with the default
reward, the optimal walks are the shortest ones (``cost``), so the next move from a cell depends only on the cells that
lie on shortest walks between it and the goal, and where only one neighbour is nearer to the goal it is the answer.
That gives, bit for bit, what the solution of the whole grid gives. ``solve_many`` gives whole values and policies.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError
from tricover.geometry import OUTSIDE, CellGrid
from tricover.mdp import _kernels
from tricover.mdp._kernels import Settings
from tricover.mdp.cost import default_beta, sufficient_beta
from tricover.mdp.problem import tables
from tricover.mdp.process import LocalMDP, check_settings, checked_agents
from tricover.mdp.solution import Solver
from tricover.mdp.transition import Kernel
from tricover.threads import in_ranges, side_by_side

__all__ = ["Solutions", "next_moves", "solve_many"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class _Common(NamedTuple):
    """What the processes of all agents share, and how they are solved."""

    grid: CellGrid
    alpha: float
    beta: float | None
    gamma: float
    kernel: Kernel | None
    solver: Solver | str | None


@dataclass(frozen=True, eq=False)
class Solutions:
    """Values and policies of many agents, and which of them had to be solved."""

    values: Floats
    """(agents, M²)"""
    policies: Ints
    """(agents, M²)"""
    solved: NDArray[np.bool_]
    """(agents,) False where an earlier solution still holds."""
    triangles: Floats = field(repr=False)
    goal_cells: Ints = field(repr=False)
    _common: _Common = field(repr=False)

    def updated(self, triangles: ArrayLike, goal_cells: ArrayLike) -> "Solutions":
        """The solutions for new triangles (agents, 3, 2) and goal cells (agents,), with the same settings.

        Agents whose triangle and goal are the same as before are not solved again.
        """
        corners, goals = checked_agents(self._common.grid, triangles, goal_cells, np.array(True))
        if len(goals) != len(self.goal_cells):
            raise InputError(f"there are solutions of {len(self.goal_cells)} agents, not of {len(goals)}")
        changed = (self.triangles != corners).any(axis=(1, 2)) | (self.goal_cells != goals)
        return _solved(self.values.copy(), self.policies.copy(), changed, corners, goals, self._common)


def next_moves(
    grid: CellGrid,
    triangles: ArrayLike,
    goal_cells: ArrayLike,
    cells: ArrayLike,
    *,
    alpha: float = 1.0,
    beta: float | None = None,
    gamma: float = 0.95,
    kernel: Kernel | None = None,
) -> Ints:
    """The optimal next cell (agents,) of agents in ``cells`` (agents,) with triangles (agents, 3, 2) and goal cells.

    An agent outside its triangle (-1) gets -1: it operates at resolution 1, where there is nothing to decide, and its
    triangle and goal are not looked at. The settings are those of ``LocalMDP``.
    """
    check_settings(alpha, beta, gamma)
    places = np.asarray(cells)
    inside = places != OUTSIDE
    corners, goals = checked_agents(grid, triangles, goal_cells, inside)
    places = np.where(inside, grid.checked(np.where(inside, places, 0)), OUTSIDE)
    if places.shape != goals.shape:
        raise InputError(f"cells must have shape {goals.shape}, one per triangle, not {places.shape}")
    out = places.copy()
    if kernel is None or kernel.certain:
        table, enough = tables(grid), sufficient_beta(grid.resolution, gamma)
        if beta is None:
            default_beta(grid.resolution, gamma)  # raises where there is none
        reward = np.inf if beta is None else float(beta)
        settings = Settings(float(alpha), reward, enough, float(gamma))

        def decide(first: int, last: int) -> None:
            some = slice(first, last)
            _kernels.next_moves(table, settings, corners[some], goals[some], places[some], out[some])

        in_ranges(decide, len(out), smallest=1024)
        return out
    for agent in np.flatnonzero(inside):
        mdp = LocalMDP(grid, corners[agent], int(goals[agent]), alpha, beta, gamma, kernel)
        out[agent] = mdp.solve().policy[places[agent]]
    return out


def solve_many(
    grid: CellGrid,
    triangles: ArrayLike,
    goal_cells: ArrayLike,
    *,
    alpha: float = 1.0,
    beta: float | None = None,
    gamma: float = 0.95,
    kernel: Kernel | None = None,
    solver: Solver | str | None = None,
) -> Solutions:
    """Values and policies (agents, M²) for triangles (agents, 3, 2) and goal cells (agents,)."""
    corners, goals = checked_agents(grid, triangles, goal_cells, np.array(True))
    shape = len(goals), len(grid)
    values, policies = np.empty(shape), np.empty(shape, np.int64)
    common = _Common(grid, alpha, beta, gamma, kernel, solver)
    return _solved(values, policies, np.ones(len(goals), np.bool_), corners, goals, common)


def _solved(
    values: Floats, policies: Ints, wanted: NDArray[np.bool_], triangles: Floats, goal_cells: Ints, common: _Common
) -> Solutions:
    """Solutions with the values and policies of the wanted agents filled in.

    Triangles are copied: who changes the array later must not change what was solved.
    """
    grid, alpha, beta, gamma, kernel, solver = common

    def solve(agent: int) -> None:
        mdp = LocalMDP(grid, triangles[agent], int(goal_cells[agent]), alpha, beta, gamma, kernel)
        found = mdp.solve(solver)
        values[agent], policies[agent] = found.value, found.policy

    side_by_side(solve, np.flatnonzero(wanted).tolist())
    return Solutions(values, policies, wanted, triangles.copy(), goal_cells, common)
