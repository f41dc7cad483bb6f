"""Plans of many agents whose moves may fail: triangle, goal and kernel are each agent's own, and so is what it knows.

A plan is the optimal policy of an agent's decision process (``cost``, ``transition``) and the value it comes from. The
value is kept from step to step: as long as triangle, goal and kernel change slowly, little has to be done anew.

**What has changed enough to matter.** One pass over the cells shows by how much the last values V miss the Bellman
equation T of today's process: ρ = max_s |(TV)(s) - V(s)|. Then V is within ρ/(1-γ) of today's optimal value, and the
policy that is greedy for V loses at most 2γρ/(1-γ) by it, whatever it was that changed. So where

    |(TV)(s) - V(s)| ≤ ε (1 + |V(s)|) in every state s,   ε = 10⁻⁵ min(1, 19 (1-γ)/γ), but not below 10⁻⁶,

nothing is solved: the agent acts on its last values in today's process. Otherwise sweeps go on from them until the same
holds. Values are in units of α times the longest side and shaped as ``cost`` says, so 1 + |V(s)| is at least what a
step can cost. With γ = 0.95 such a plan loses less than 4·10⁻⁴ of the largest of them. The tolerance is above
what single precision loses, in which values are kept.

**How it is solved.** From values that are far off, a dozen Gauss–Seidel sweeps of the Bellman equation go outwards from
the goal. Where moves slip to neighbours that is all. Gusts carry agents far, and a sweep hands their effect on by one
gust only. So from there on policies are improved and evaluated in turn, each in an order that its own moves suggest
(``_evaluation``). What is slow in both kinds of sweeps is smooth: the goal's own value, which all others copy, and
drift against gusts. Anderson's method takes that out (``_acceleration``): the next values are the combination of the
last sweeps' results whose changes cancel best (least squares). Plain sweeps of the Bellman equation contract by γ; a
combination that leads astray is dropped, and after many sweeps only plain ones follow.

An agent's plan depends on its own row alone: it is the same to the bit alone and in any batch, on any number of
threads.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError, listed
from tricover.geometry import CellGrid
from tricover.mdp import _plans
from tricover.mdp._plans import Agents, Plans
from tricover.mdp._uncertain import Rules
from tricover.mdp.cost import default_beta
from tricover.mdp.problem import tables
from tricover.mdp.process import check_settings, checked_agents
from tricover.mdp.transition import Kernel
from tricover.threads import in_ranges

__all__ = ["KernelBatch", "Plans", "kernel_batch", "plan_moves"]

DECISIVE, LEAST = 1e-5, 1e-6
MOST = 600  # sweeps at most for one plan; the next step goes on from there
SMALLEST = 64  # agents in a range of their own


class KernelBatch(NamedTuple):
    """Kernels of many agents, one measure per intended cell: ends and chances of each."""

    indptr: NDArray[np.int64]
    """(A, M²+1) or (1, M²+1): intending cell t, agent a has the entries indptr[a, t] to indptr[a, t+1]; one row is
    that of all agents."""
    indices: NDArray[np.uint32]
    """(E,) cells, and M² for outside."""
    chances: NDArray[np.float64]
    """(E,) of each measure they sum to one."""


def kernel_batch(kernel: Kernel) -> KernelBatch:
    """A kernel with one measure per intended cell, for all agents."""
    measures, by_cell = kernel.lookup.measures, kernel.lookup.by_cell
    if not by_cell:
        raise InputError("kernel must have one measure per intended cell, as from_measures makes it")
    return KernelBatch(measures.indptr.astype(np.int64)[None], measures.indices, measures.chances)


def plan_moves(
    grid: CellGrid,
    triangles: ArrayLike,
    goal_cells: ArrayLike,
    kernels: KernelBatch,
    values: NDArray[np.float32],
    fresh: NDArray[np.bool_],
    *,
    alpha: float = 1.0,
    beta: float | None = None,
    gamma: float = 0.95,
) -> Plans:
    """Plans of agents with triangles (A, 3, 2), goal cells (A,) and kernels, from their last ``values`` (A, M²+1).

    ``fresh`` (A,) says who has none.
    """
    check_settings(alpha, beta, gamma)
    corners, goals = checked_agents(grid, triangles, goal_cells, np.array(True))
    count, states = len(goals), len(grid) + 1
    if values.shape != (count, states) or fresh.shape != (count,):
        raise InputError(
            f"values and fresh must have shapes {(count, states)} and {(count,)}, not {values.shape} and {fresh.shape}"
        )
    kernels = _checked_kernels(kernels, count, states)
    enough = max(LEAST, DECISIVE * min(1.0, 19 * (1 - gamma) / gamma))
    found, policy = np.empty((count, states), np.float32), np.empty((count, states - 1), np.uint8)
    plans = Plans(found, policy, np.empty(count, np.int64))
    start = np.ascontiguousarray(values, np.float32), np.ascontiguousarray(fresh, np.bool_)
    agents = Agents(corners, goals, *kernels, *start)
    work = tables(grid), rules_of(grid, alpha, beta, gamma, enough, MOST), agents

    def plan(first: int, last: int) -> None:
        _plans.plan(*work, first, last, plans)

    in_ranges(plan, count, smallest=SMALLEST)
    wrong = np.flatnonzero(plans.sweeps == _plans.UNSOUND)
    if wrong.size:
        raise InputError(f"chances of kernel {listed(wrong)} do not sum to one for every intended cell")
    return plans


def rules_of(grid: CellGrid, alpha: float, beta: float | None, gamma: float, enough: float, most: int) -> Rules:
    """Settings as compiled loops want them."""
    reward = np.inf if beta is None else float(beta)
    default = default_beta(grid.resolution, gamma) if beta is None else np.inf
    back = int(grid.locate([1 / 3, 1 / 3, 1 / 3]))
    return Rules(float(alpha), reward, default, float(gamma), back, enough, most)


def _checked_kernels(kernels: KernelBatch, count: int, states: int) -> KernelBatch:
    """Arrays in the form that compiled loops read without looking."""
    indptr = np.ascontiguousarray(kernels.indptr, np.int64)
    indices = np.ascontiguousarray(kernels.indices, np.uint32)
    chances = np.ascontiguousarray(kernels.chances, np.float64)
    if indptr.ndim != 2 or indptr.shape[1] != states or len(indptr) not in (1, count):
        raise InputError(f"indptr of kernels must have shape ({count}, {states}) or (1, {states}), not {indptr.shape}")
    if indices.ndim != 1 or indices.shape != chances.shape:
        raise InputError(
            f"indices and chances of kernels must have one length, not {indices.shape} and {chances.shape}"
        )
    wrong = (np.diff(indptr, axis=1) < 0).any(axis=1) | (indptr[:, 0] < 0) | (indptr[:, -1] > len(indices))
    if wrong.any():
        raise InputError(f"indptr of kernel {listed(np.flatnonzero(wrong))} does not ascend from 0 to {len(indices)}")
    if indices.size and int(indices.max()) >= states:
        raise InputError(
            f"kernels end in cell {indices.max()}: there are 0 to {states - 2}, and {states - 1} for outside"
        )
    return KernelBatch(indptr, indices, chances)
