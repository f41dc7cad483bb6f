"""Moves of agents whose moves may fail: each plans by its own kernel, and keeps its plan until something matters.

A *plan* is the optimal policy of an agent's decision process, with the value that it comes from. It holds for a
triangle, a goal cell and a kernel, and is made anew where one of them has changed:

- *Triangle and goal.* Where a bit of them differs. Solving starts from the last value. It stops where a sweep of the
  Bellman equation changes nothing that matters, see ``mdp.uncertain``: often after the first.
- *Kernel.* A given one never changes. A learned one does with every move that is recorded. It is estimated anew when a
  tenth of the moves that it rests on are new. With m of n moves new, an estimate has moved by √(m/n) of its own
  standard error: by less than a third.

An agent that learns acts as if moves always succeed, until its records say otherwise (``mdp.learned``). Till then it
has no plan: it asks for the next move alone, as agents do whose moves are certain. Only a miss can change its mind, and
only when it has recorded enough moves to doubt.

    planned     (A,)       whether it has a plan
    values      (A, M²+1)  of the plan, in the form of ``mdp.uncertain``
    policy      (A, M²)    slot of the next move from each cell
    planned_in  (A, 3, 2)  the triangle that it holds for; NaN: none yet
    goal        (A,)       the goal cell that it holds for
    estimated   (A,)       moves that had been recorded when the kernel was estimated
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tricover.control.records import learned_from
from tricover.control.rows import Memory, rows_of
from tricover.control.told import Told
from tricover.control.view import View
from tricover.geometry import OUTSIDE

if TYPE_CHECKING:
    from tricover.mdp import KernelBatch

__all__ = ["PLANS", "Replanned", "due", "moves_by_plan", "no_plans", "with_plans"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Arrays: TypeAlias = dict[str, NDArray[Any]]

PLANS = ("planned", "values", "policy", "planned_in", "goal", "estimated")

_NEW_SHARE = 10  # a kernel is estimated anew when one in so many of its moves is new
_AT_ONCE = 32  # agents whose kernels are held at once: 32 · 1225 cells with some 10 ends each are 5 MB


class Replanned(NamedTuple):
    """New plans: of which rows (K,), and what is kept of them, arrays (K, …) by name."""

    rows: Ints
    plans: Arrays


def no_plans(told: Told, agents: int) -> Arrays:
    """What so many agents keep of plans before they have one."""
    cells = len(told.grid)
    return {
        "planned": np.zeros(agents, np.bool_),
        "values": np.zeros((agents, cells + 1), np.float32),
        "policy": np.zeros((agents, cells), np.uint8),
        "planned_in": np.full((agents, 3, 2), np.nan),
        "goal": np.full(agents, OUTSIDE, np.int32),
        "estimated": np.zeros(agents, np.int64),
    }


def due(told: Told, memory: Memory) -> Flags:
    """Who (A,) has recorded what may change its mind: a miss among enough moves; if it has a plan, enough new moves."""
    from tricover.mdp.learned import FEW

    planned, recorded, estimated = memory["planned"], memory["recorded"], memory["estimated"]
    doubts = np.asarray(memory["last_miss"] > estimated)
    if doubts.any():
        doubts &= recorded >= FEW
    if not planned.any():  # as where no move ever fails: learning is to cost next to nothing there
        return doubts
    enough = np.maximum(np.minimum(estimated, told.window), _NEW_SHARE)
    matters = (recorded - estimated) * _NEW_SHARE >= enough
    return np.where(planned, matters, doubts)


def moves_by_plan(view: View, told: Told, memory: Memory, states: Ints, goals: Ints) -> tuple[Ints, Replanned | None]:
    """The next cells (A,) of agents in cells ``states`` with goal cells (A,), and the plans that are new.

    Who is outside its triangle has no move (-1), and plans nothing.
    """
    from tricover.mdp import next_moves

    inside, planned = states != OUTSIDE, memory["planned"]
    wanted = due(told, memory) if told.learns else ~planned
    if planned.any():
        changed = (memory["planned_in"] != view.heard).any(axis=(1, 2)) | (memory["goal"] != goals)
        wanted |= planned & changed
    moves = np.full(len(states), OUTSIDE, np.int64)
    asking, old, new = inside & ~planned, inside & planned, None
    rows = np.flatnonzero(inside & wanted)
    if rows.size:
        new = _replanned(view, told, memory, goals, rows)
        uncertain = new.plans["planned"]
        asking[rows], old[rows] = ~uncertain, False
        moves[rows[uncertain]] = _by_policy(told, new.plans["policy"][uncertain], states[rows[uncertain]])
    rows = np.flatnonzero(old)
    if rows.size:
        moves[rows] = _by_policy(told, rows_of(memory, rows)["policy"], states[rows])
    rows = np.flatnonzero(asking)
    if rows.size:
        parts = view.heard[rows], goals[rows], states[rows]
        moves[rows] = next_moves(told.grid, *parts, alpha=told.alpha, beta=told.beta, gamma=told.gamma)
    return moves, new


def with_plans(memory: Memory, new: Sequence[Replanned]) -> Arrays:
    """All plans (A, …) of a memory in which some are new; nothing if none is."""
    found = {name: np.array(memory[name]) for name in PLANS} if new else {}
    for rows, plans in new:
        for name, values in plans.items():
            found[name][rows] = values
    return found


def _by_policy(told: Told, policies: NDArray[np.uint8], states: Ints) -> Ints:
    """The next cells (K,) of agents in cells (K,) by policies (K, M²)."""
    rows = np.arange(len(states))
    around = np.column_stack([told.grid.neighbors[states], states])
    return np.asarray(around[rows, policies[rows, states]])


def _replanned(view: View, told: Told, memory: Memory, goals: Ints, rows: Ints) -> Replanned:
    """The plans of some, made anew."""
    from tricover.mdp import learned_kernels

    kept = rows_of(memory, rows)
    plans = {name: np.array(kept[name]) for name in PLANS}
    heard, wanted = view.heard[rows], goals[rows]
    if not told.learns:
        _solve(told, heard, wanted, plans, np.arange(len(rows)), told.kernels)
        return Replanned(rows, plans)
    for first in range(0, len(rows), _AT_ONCE):
        some = np.arange(first, min(first + _AT_ONCE, len(rows)))
        kernels, certain = learned_kernels(told.grid, *learned_from(rows_of(kept, some)))
        plans["planned"][some] = ~certain
        uncertain = np.flatnonzero(~certain)
        kernels = kernels._replace(indptr=kernels.indptr[uncertain])
        _solve(told, heard, wanted, plans, some[uncertain], kernels)
    plans["estimated"] = kept["recorded"]
    return Replanned(rows, plans)


def _solve(told: Told, heard: Floats, goals: Ints, plans: Arrays, rows: Ints, kernels: "KernelBatch") -> None:
    """Bring the plans of rows up to date, from their last values where they have a plan."""
    from tricover.mdp import plan_moves

    if not rows.size:
        return
    fresh = np.isnan(plans["planned_in"][rows, 0, 0])
    parts = heard[rows], goals[rows], kernels, plans["values"][rows], fresh
    found = plan_moves(told.grid, *parts, alpha=told.alpha, beta=told.beta, gamma=told.gamma)
    plans["values"][rows], plans["policy"][rows], plans["planned"][rows] = found.values, found.policy, True
    plans["planned_in"][rows], plans["goal"][rows] = heard[rows], goals[rows]
