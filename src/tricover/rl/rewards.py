"""Rewards: the paper's cost, the gain in coverage, or a function of the user's own.

**cost**, the default. The paper's cost with its sign turned, for the cell s that the agent is in after the step and its
goal cell g there, in units of α times the longest side S of its triangle:

    -|r(s) - r(g)| / S  for s ≠ g,    β / (α S)  in the goal cell,    -1  outside the triangle.

β is the scenario's, or the one that suits the triangle (``mdp.cost``). Agents without a goal cell get 0: who holds, has
not heard of everybody yet, or has a triangle without area. (In the Bellman equation a cost is paid on leaving a cell,
here on entering it: the same sum, but for the first cell and one factor γ.)

**coverage**. What the team has gained, the same for everybody: (J[t] - J[t+1]) / J[0], where J is the mean squared
distance of the targets to the nearest agent. Over an episode with still targets it adds up to the share of the first
J that is gone. Both terms are for the targets of step t+1.

**A function** of two moments, before and after the step: it gives back a number for each of ``after.agents``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tricover.control import Cells, Told, View
from tricover.coverage import coverage_cost, has_targets
from tricover.errors import InputError, shown
from tricover.geometry import OUTSIDE
from tricover.geometry.simplices import longest_sides
from tricover.goals import cell_points
from tricover.mdp import default_beta
from tricover.own import check_form
from tricover.targets import Targets

__all__ = ["REWARDS", "Moment", "Reward", "check_reward", "coverage_of", "own_rewards", "paper_rewards"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

REWARDS = ("cost", "coverage")


@dataclass(frozen=True, eq=False)
class Moment:
    """A team at a step, for rewards of the user's own; arrays are read-only.

    Attributes:
        step: t.
        positions: where everybody is, (N, 2), in metres.
        present: who takes part, (N,).
        targets: as they are at t.
        agents: the followers whose actions are asked for, (A,), ascending.
        cells: (A,) each; see ``control.Cells``.
        heard: the triangles that they have heard of, (A, 3, 2).
    """

    step: int
    positions: Floats
    present: NDArray[np.bool_]
    targets: Targets
    agents: Ints
    cells: Cells
    heard: Floats


Reward: TypeAlias = str | Callable[[Moment, Moment], Any]


def check_reward(reward: Reward) -> None:
    """Refuse what is no reward."""
    if callable(reward):
        check_form(reward, "a reward", "before", "after")
    elif reward not in REWARDS:
        raise InputError(f"reward must be {' or '.join(map(repr, REWARDS))}, or a function, not {shown(reward)}")


def paper_rewards(view: View, told: Told, cells: Cells) -> Floats:
    """-C(s) of agents (A,), in units of α times the longest side of each triangle."""
    rewards = np.zeros(len(cells.state))
    rows = np.flatnonzero((cells.goal >= 0) & (cells.state >= OUTSIDE))
    state, goal, heard = cells.state[rows], cells.goal[rows], view.heard[rows]
    sides = longest_sides(heard)
    apart = cell_points(state, heard, told.grid) - cell_points(goal, heard, told.grid)
    rewards[rows] = np.where(state == OUTSIDE, -1.0, -np.hypot(apart[:, 0], apart[:, 1]) / sides)
    there = state == goal
    rewards[rows[there]] = _betas(told, sides[there])
    return rewards


def _betas(told: Told, sides: Floats) -> Floats | float:
    """β over α times the longest side, (A,)."""
    return default_beta(told.resolution, told.gamma) if told.beta is None else told.beta / (told.alpha * sides)


def coverage_of(positions: Floats, targets: Targets) -> float:
    """J, in square metres; 0 where there is no target."""
    return coverage_cost(positions, targets) if has_targets(targets) else 0.0


def own_rewards(reward: Callable[[Moment, Moment], Any], before: Moment, after: Moment) -> Floats:
    """What a function of the user's gives, a number for each of ``after.agents``."""
    given = np.asarray(reward(before, after), dtype=np.float64)
    if given.shape != after.agents.shape or not np.isfinite(given).all():
        raise InputError(
            f"the reward must give a finite number for each of {len(after.agents)} agents, not {shown(given)}"
        )
    return given
