"""A follower's decision process M_i(S, D, A, g, P, C, γ) inside its communication triangle (paper, Section IV-A).

- States: the M² contained cells; the one uncontained state (-1) stands for everything outside.
- Actions: the cells that share an edge, and staying. Forbidden cells (``blocked``) are no actions.
- Kernel: the paper's linear form, see ``transition``; it may lead outside, from where an agent comes back around the
  centroid. Cost and reward: see ``cost``.
- Outside its triangle an agent operates at resolution 1 (paper, Section IV-B): one contained cell, one admissible
  successor, no Bellman recursion. ``LocalMDP.outside`` is that process.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError, listed
from tricover.geometry import OUTSIDE, CellGrid, flat
from tricover.mdp import _kernels, export
from tricover.mdp.automatic import Automatic
from tricover.mdp.cost import default_beta, sufficient_beta
from tricover.mdp.exact import Exact
from tricover.mdp.modified_policy_iteration import ModifiedPolicyIteration
from tricover.mdp.obstacles import Graph, as_forbidden, as_terrain, graph_of
from tricover.mdp.policy_iteration import PolicyIteration
from tricover.mdp.problem import Problem, tables
from tricover.mdp.solution import Solution, Solver
from tricover.mdp.transition import Kernel, deterministic
from tricover.mdp.value_iteration import ValueIteration

__all__ = ["SOLVERS", "LocalMDP", "check_settings", "checked_agents"]

Floats = NDArray[np.float64]

SOLVERS: dict[str, Callable[[], Solver]] = {
    "exact": Exact,
    "value_iteration": ValueIteration,
    "policy_iteration": PolicyIteration,
    "modified_policy_iteration": ModifiedPolicyIteration,
}


def check_settings(alpha: float, beta: float | None, gamma: float) -> None:
    """Raise an error that names the setting that cannot be used."""
    if not (np.isfinite(alpha) and alpha > 0):
        raise InputError(f"alpha must be positive, not {alpha}")
    if beta is not None and not (np.isfinite(beta) and beta > 0):
        raise InputError(f"beta must be positive, not {beta}; leave it out for one that suits the triangle")
    if not 0 < gamma < 1:
        raise InputError(f"gamma must lie between 0 and 1, both excluded, not {gamma}")


def checked_agents(
    grid: CellGrid, triangles: ArrayLike, goal_cells: ArrayLike, inside: NDArray[np.bool_]
) -> tuple[Floats, NDArray[np.int64]]:
    """Triangles and goals as arrays, checked where the agent is inside its triangle."""
    corners = np.ascontiguousarray(triangles, dtype=np.float64)
    if corners.ndim != 3 or corners.shape[1:] != (3, 2):
        raise InputError(f"triangles must have shape (agents, 3, 2), not {corners.shape}")
    goals = np.asarray(goal_cells)
    if goals.shape != corners.shape[:1]:
        raise InputError(f"goal cells must have shape {corners.shape[:1]}, one per triangle, not {goals.shape}")
    wrong = np.flatnonzero(inside & ~np.isfinite(corners).all(axis=(1, 2)))
    if wrong.size:
        raise InputError(f"triangle of agent {listed(wrong)} has a corner that is not finite")
    wrong = np.flatnonzero(inside & flat(np.where(np.isfinite(corners), corners, 0)))
    if wrong.size:
        raise InputError(f"triangle of agent {listed(wrong)} has no area; treat the agent as outside (cell -1)")
    return corners, grid.checked(np.where(inside, goals, 0), "goal cell")


@dataclass(frozen=True, init=False, eq=False)
class LocalMDP:
    """The decision process of one follower: a grid of cells over a triangle, a goal cell, a cost and a kernel.

    Without ``beta``, the reward at the goal is the least that provably makes every cell walk to the goal by a shortest
    walk, for this triangle and γ (see ``tricover.mdp.cost``); without ``kernel``, moves always succeed.

    ``blocked`` are cells that must not be entered, by their numbers or as a mask (M²,): walks go around them, and who
    would slip into one stays in its cell. ``terrain`` (M²,) are costs that are added to those of the cells. A cell
    without a walk to the goal has one action, to stay.

    >>> mdp = LocalMDP(CellGrid(5), [[0, 0], [4, 0], [1, 3]], goal_cell=12)
    >>> solution = mdp.solve()
    >>> solution.reaches_goal, solution.path(0).tolist()
    (True, [0, 2, 3, 7, 6, 12])
    >>> around = LocalMDP(CellGrid(5), [[0, 0], [4, 0], [1, 3]], goal_cell=12, blocked=[3])
    >>> around.solve().path(0).tolist()
    [0, 2, 1, 5, 6, 12]
    """

    grid: CellGrid
    triangle: Floats
    goal_cell: int
    alpha: float
    beta: float
    gamma: float
    kernel: Kernel = field(repr=False)
    blocked: NDArray[np.bool_] | None = field(repr=False)
    terrain: Floats | None = field(repr=False)
    _unit: float = field(repr=False)
    _costs: Floats = field(repr=False)

    def __init__(
        self,
        grid: CellGrid,
        triangle: ArrayLike,
        goal_cell: int,
        alpha: float = 1.0,
        beta: float | None = None,
        gamma: float = 0.95,
        kernel: Kernel | None = None,
        blocked: ArrayLike | None = None,
        terrain: ArrayLike | None = None,
    ) -> None:
        cells: object = grid
        if not isinstance(cells, CellGrid):
            raise InputError(f"grid must be a CellGrid, such as CellGrid(35), not {cells!r}")
        check_settings(alpha, beta, gamma)
        corners = _checked_triangle(triangle)
        goal = np.asarray(goal_cell)
        if goal.ndim:
            raise InputError(f"goal cell must be one whole number, not an array of shape {goal.shape}")
        if kernel is not None and kernel.grid != grid:
            raise InputError(
                f"kernel is for resolution {kernel.grid.resolution}, but the grid has resolution {grid.resolution}"
            )
        costs = np.empty(len(grid))
        chosen = int(grid.checked(goal, "goal cell"))
        unit = alpha * _kernels.distances(tables(grid).thirds, corners, chosen, grid.resolution, costs)
        forbidden, rough = as_forbidden(grid, blocked, chosen), as_terrain(grid, terrain)
        if rough is not None:
            costs += rough / unit
            costs[chosen] = 0.0
        found = {} if forbidden is None else {"graph": graph_of(grid, chosen, forbidden)}
        farthest = found["graph"].farthest if found else 0
        most = 1.0 if rough is None else 1.0 + float(rough.max()) / unit
        given = default_beta(grid.resolution, gamma, farthest) * most * unit if beta is None else beta
        if not np.isfinite(given / unit / (1 - gamma)) or not np.isfinite(given / (1 - gamma)):
            raise InputError(f"beta {given:g} is too large: the value of the goal, beta / (1 - gamma), overflows")
        settings = {"grid": grid, "triangle": corners, "goal_cell": chosen, "alpha": alpha, "beta": given}
        settings |= {"gamma": gamma, "kernel": kernel or deterministic(grid), "_unit": unit, "_costs": costs}
        self.__dict__.update(settings | {"blocked": forbidden, "terrain": rough} | found)

    @classmethod
    def outside(cls, triangle: ArrayLike, alpha: float = 1.0, beta: float | None = None, gamma: float = 0.95) -> Self:
        """The process of an agent outside its triangle: one contained cell, the triangle itself, and it is the goal."""
        return cls(CellGrid(1), triangle, 0, alpha, beta, gamma)

    def actions(self, cell: int) -> NDArray[np.int64]:
        """The cells to choose from in a cell: its neighbours and itself; outside (-1) the one cell that there is."""
        if cell == OUTSIDE:
            return np.zeros(1, np.int64)
        around = self.problem.kernel.targets[self.grid.checked(cell)]
        return around[around >= 0]

    @cached_property
    def costs(self) -> Floats:
        """(M²,) C(s): α times the distance of the centres to the goal's, and -β at the goal."""
        costs = np.asarray(self._unit * self._costs)
        costs[self.goal_cell] = -self.beta
        return costs

    @cached_property
    def problem(self) -> Problem:
        """The normalised, shaped problem that solvers work on."""
        levels, order, ends, neighbors, reaching = self.graph
        bonuses = np.empty(len(ends))
        _kernels.powers(self.beta / self._unit, self.gamma, bonuses)
        bonuses[self.graph.farthest + 1 :] = 0.0
        kernel = self.kernel if self.blocked is None else self.kernel.confined(levels[:-1] <= self.graph.farthest)
        return Problem(
            grid=self.grid,
            triangle=self.triangle,
            goal_cell=self.goal_cell,
            kernel=kernel,
            gamma=self.gamma,
            unit=self._unit,
            costs=self._costs,
            outside_cost=self._most,
            levels=levels,
            order=order,
            ends=ends,
            bonuses=bonuses,
            rewards=self._unit * bonuses[levels[:-1]] / (1 - self.gamma),
            neighbors=neighbors,
            shortest_only=self.beta / self._unit >= self._sufficient,
            reaching=reaching,
        )

    @cached_property
    def graph(self) -> Graph:
        """The cells by their moves to the goal."""
        return graph_of(self.grid, self.goal_cell, self.blocked)

    @property
    def _sufficient(self) -> float:
        """The reward, in units, from which on optimal walks are shortest walks."""
        farthest = 0 if self.blocked is None else self.graph.farthest
        return self._most * sufficient_beta(self.grid.resolution, self.gamma, farthest)

    @property
    def _most(self) -> float:
        """What a step can cost, in units; a step outside costs as much."""
        return 1.0 if self.terrain is None else 1.0 + float(self.terrain.max()) / self._unit

    @property
    def _state_costs(self) -> Floats:
        """(S,) C(s) of the states that the kernel knows: the cells, and outside."""
        return np.append(self.costs, self._unit * self._most) if self.kernel.outside else self.costs

    def solve(self, solver: Solver | str | None = None, start: Solution | ArrayLike | None = None) -> Solution:
        """Optimal value and policy.

        ``solver``: one of ``SOLVERS`` by name or object; by default the exact one for a deterministic kernel,
        otherwise value iteration, helped out by policy iteration where it is slow. ``start``: an earlier value (M²,)
        or solution to start from.
        """
        earlier = None if start is None else self.problem.shaped(self._checked_start(start))
        return self._method(solver)(self.problem, earlier)

    def to_quantecon(self) -> export.StateActionForm:
        """(R, Q, beta, s_indices, a_indices) for ``quantecon.markov.DiscreteDP``; its value is the negative of ours.

        Where the kernel knows the uncontained state, it is the last: there are M² + 1 then.
        """
        return export.state_action_form(self.problem.kernel.matrix, self._state_costs, self.gamma)

    def to_matrices(self) -> export.MatrixForm:
        """One (S, S) transition matrix per action, and costs (S, 4). Missing actions stay put, at the same cost.

        There are S = M² states, or M² + 1 where the kernel knows the uncontained one: it is the last.
        """
        return export.matrix_form(self.problem.kernel.matrix, self._state_costs)

    def _method(self, solver: Solver | str | None) -> Solver:
        if solver is None:
            return Automatic()
        if callable(solver):
            return solver
        if solver not in SOLVERS:
            raise InputError(f"no solver {solver!r}; there are {', '.join(SOLVERS)}")
        return SOLVERS[solver]()

    def _checked_start(self, start: Solution | ArrayLike) -> Floats:
        value = start.value if isinstance(start, Solution) else np.asarray(start, dtype=np.float64)
        if value.shape != (len(self.grid),) or not np.isfinite(value).all():
            raise InputError(f"start must be {len(self.grid)} finite values, one per cell, not shape {value.shape}")
        return value


def _checked_triangle(triangle: ArrayLike) -> Floats:
    corners = np.array(triangle, dtype=np.float64)
    if corners.shape != (3, 2):
        raise InputError(f"triangle must have shape (3, 2), not {corners.shape}")
    if not np.isfinite(corners).all():
        raise InputError("triangle has a corner that is not finite")
    if flat(corners):
        raise InputError(f"triangle {corners.tolist()} has no area: its corners lie on one line")
    return corners
