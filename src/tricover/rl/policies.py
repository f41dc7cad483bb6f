"""Policies both ways: our rules as players of an environment, and trained policies as rules of a scenario.

``Baseline`` plays the followers of an environment by any goal rule and kernel, whatever the environment's own scenario
says. It knows what ``decide`` knows, and keeps what agents remember.

``goal_rule`` and ``walk_policy`` make a rule for a ``Scenario`` of a function of observations:

    rule = goal_rule(function)       control = {"goal": "mine:rule"}          function(observations) -> weights
    walker = walk_policy(function)   control = {"policy": "mine:walker", …}   function(observations, masks) -> slots

with observations (A, K) as in the environment, masks (A, 4), weights (A, 3) from 0 to 1 and slots (A,) from 0 to 3.
Write them into a module of your own, and the scenario can be written down, stored, resumed and opened again by name.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.control import Decision, Memory, Told, View, decide, learn, memory_of, rows_of
from tricover.control.planning import PLANS
from tricover.control.policies import LocalMoves
from tricover.control.records import RECORDS
from tricover.errors import InputError
from tricover.geometry import CellGrid, combine
from tricover.goals import GoalRule, LocalGoal
from tricover.goals.rules import TEAM_RULES
from tricover.network import Network
from tricover.rl.acting import checked_array, method_actions
from tricover.rl.knowing import Part, targets_in
from tricover.rl.observing import PARTS, Known, Observer, cell_weights, unit_of
from tricover.rl.parallel import TeamEnv
from tricover.targets import TargetLists, Targets

__all__ = ["OF_GOALS", "Baseline", "GoalPolicy", "WalkPolicy", "goal_rule", "walk_policy"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

OF_GOALS = ("shape", "size", "heading", "targets", "histogram")
"""What a goal rule can observe: the triangle and the targets in it, but neither its own place nor the time."""


# --- our rules as players ------------------------------------------------------------------------------------------


class Baseline:
    """Plays the followers of an environment by a goal rule and, where they walk, a kernel.

    >>> import tricover as tc
    >>> from tricover.rl import parallel_env
    >>> team = [[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2], [3, 2.5]]
    >>> env = parallel_env(tc.Scenario(reference=team, targets=[[1, 1], [3, 2]], control={"motion": "walk"}))
    >>> play = Baseline(env, goal="predictive")
    >>> _ = env.reset()
    >>> _ = env.step(play())
    """

    def __init__(self, env: TeamEnv, *, goal: str | GoalRule | None = None, kernel: str | float | None = None) -> None:
        """``goal`` and ``kernel`` are as in a scenario; None: the environment's own. A slip is a number.

        Goals of the whole team, such as "cellplan", make epochs of their own: play them in an environment of a scenario
        that has them.
        """
        if goal in TEAM_RULES:
            raise InputError(
                f"the goal {goal!r} is about the whole team: make the environment of a scenario that has it, and leave "
                "goal out here"
            )
        given = {"goal": goal, "kernel": kernel}
        self._env = env
        self._changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        self._tolds: dict[Told, Told] = {}  # what agents are told by these rules: kept, as goals are prepared with it
        self._memory: Memory = {}
        self._last: list[tuple[View, Told, Memory, Decision]] = []
        self._step = -1

    def __call__(self) -> dict[str, Any]:
        """What it would do now, by agents' names: to be handed to ``env.step``. To learn, it is asked in every step."""
        turn = self._env.turn
        self._remember(turn.state.step, turn.state.positions)
        chosen, self._last = turn.method_actions(), []
        for part in turn.parts:
            told, agents = self._told(part.told), part.view.agents
            memory = {**part.memory, **rows_of(self._memory, agents)}
            decision = decide(part.view, told, memory)
            self._last.append((part.view, told, memory, decision))
            chosen[agents] = method_actions(Part(part.view, told, memory, decision))
        return {name: chosen[self._env.numbers[name]] for name in self._env.agents}

    def _told(self, told: Told) -> Told:
        if told not in self._tolds:
            self._tolds[told] = replace(told, **self._changes)
        return self._tolds[told]

    def _remember(self, step: int, positions: Floats) -> None:
        """Keep what agents learn from the step before; a new episode, or one that was not watched, begins anew."""
        if step == 0 or step not in (self._step, self._step + 1):
            new = memory_of(self._told(self._env.turn.parts[0].told), positions)
            self._memory = {name: values for name, values in new.items() if name in (*PLANS, *RECORDS)}
        elif step == self._step + 1 and self._memory:
            kept = {name: np.array(values) for name, values in self._memory.items()}
            for view, told, memory, decision in self._last:
                learned = learn(view, told, memory, decision, positions[view.agents])
                for name in kept:
                    kept[name][view.agents] = learned[name]
            self._memory = kept
        self._step = step


# --- trained policies as rules -------------------------------------------------------------------------------------


def goal_rule(
    function: Callable[[NDArray[np.float32]], Any], parts: Sequence[str] = OF_GOALS, bins: int = 4
) -> "GoalPolicy":
    """A goal rule that goes where a function of observations says: weights (A, 3), in the triangle."""
    strange = [name for name in parts if name not in OF_GOALS]
    if strange:
        raise InputError(f"a goal rule cannot observe {strange[0]!r}: it knows {', '.join(OF_GOALS)}")
    return GoalPolicy(function, Observer(tuple(parts), bins))


def walk_policy(
    function: Callable[[NDArray[np.float32], NDArray[np.bool_]], Any], parts: Sequence[str] = PARTS, bins: int = 4
) -> "WalkPolicy":
    """A policy for ``control.policy`` that takes the edges that a function of observations and masks says."""
    return WalkPolicy(function, Observer(tuple(parts), bins))


@dataclass(frozen=True)
class GoalPolicy:
    """A goal rule made of a function of observations."""

    function: Callable[[NDArray[np.float32]], Any]
    observer: Observer

    def __call__(self, network: Network) -> LocalGoal:
        """The local goal function, see ``goals.rules``."""

        def local_goal(agents: Ints, triangles: Floats, targets: Targets | TargetLists) -> Floats:
            known = Known(triangles, _units(network, agents), partial(_targets_in, triangles, targets))
            given = self.function(self.observer(known))
            everybody = np.ones(len(agents), np.bool_)
            weights = checked_array(given, everybody, None, "error", agents.__getitem__).astype(np.float64)
            return combine(weights / weights.sum(axis=1, keepdims=True), triangles)

        return local_goal


@dataclass(frozen=True)
class WalkPolicy:
    """A policy of walking made of a function of observations and masks."""

    function: Callable[[NDArray[np.float32], NDArray[np.bool_]], Any]
    observer: Observer

    def __call__(self, network: Network, grid: CellGrid) -> LocalMoves:
        """The function that is called in every step, see ``control.policies``."""

        def local_moves(view: View, states: Ints, goals: Ints) -> Ints:
            around = np.column_stack([grid.neighbors[states], states])
            units, targets = _units(network, view.agents), partial(_targets_in, view.heard, view.seen)
            known = Known(view.heard, units, targets, view.positions, view.ages, cell_weights(goals, grid))
            masks, everybody = around >= 0, np.ones(len(states), np.bool_)
            given = self.function(self.observer(known), masks)
            slots = checked_array(given, everybody, masks, "error", view.agents.__getitem__)
            return np.asarray(around[np.arange(len(states)), slots])

        return local_moves


def _units(network: Network, agents: Ints) -> Floats:
    return np.full(len(agents), unit_of(network.reference))


def _targets_in(triangles: Floats, targets: Targets | TargetLists) -> tuple[Ints, Floats, Floats]:
    if isinstance(targets, TargetLists):
        raise InputError("a policy of observations needs agents that see every target: leave world.sight out")
    return targets_in(triangles, targets)
