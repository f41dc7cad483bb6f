"""Actions: how what somebody chose for an agent becomes its decision.

    motion   action                                                   where the agent goes
    walk     0, 1, 2: the cell across from corner k; 3: its own       the middle of that cell, within its reach set
    reach    weights (3,) from 0 to 1, divided by their sum           the weighted mean of its in-neighbours

Both stay in the triangle. So whatever is chosen, each step is row-stochastic, and nobody leaves the hull of the anchors
(Theorem 1). Agents without a choice do what the method decides: who is outside its triangle, has one without area, has
not heard of everybody yet, holds before a zone, or is on its way from the pads.

An action that says what the method would do itself leaves the decision as it is, to the bit. For weights this means
those of ``method_actions``, as single-precision numbers.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tricover.control import Cells, Decision
from tricover.errors import InputError, advice, agents, listed, shown
from tricover.geometry import combine
from tricover.goals import cell_points
from tricover.rl.knowing import MOVES, STAY, Part
from tricover.rl.observing import goal_weights

__all__ = ["Masked", "acted", "check_masked", "checked_array", "checked_by_name", "method_actions"]

Actions = NDArray[Any]
Flags = NDArray[np.bool_]
Masked = Literal["error", "stay"]

Names = Callable[[NDArray[np.int64]], Iterable[object]]
"""What to call agents in a message, by their rows."""


def method_actions(part: Part) -> Actions:
    """What the method would choose for the agents of a part: slots (A,), or weights (A, 3) as single precision."""
    if part.told.motion != "walk":
        return goal_weights(part).astype(np.float32)
    slots = np.full(len(part.view.agents), STAY, np.int64)
    rows = np.flatnonzero(part.choosers)
    around = part.told.grid.neighbors[part.cells.state[rows]]
    towards = around == part.cells.next[rows, None]
    slots[rows] = np.where(towards.any(axis=1), towards.argmax(axis=1), STAY)
    return slots


def acted(part: Part, actions: Actions) -> Decision:
    """The decision of agents for whom somebody chose actions: slots (A,), or weights (A, 3)."""
    return _walked(part, actions) if part.told.motion == "walk" else _reached(part, actions)


def _walked(part: Part, slots: Actions) -> Decision:
    decision, cells, grid = part.decision, part.cells, part.told.grid
    rows = np.flatnonzero(part.choosers)
    here = cells.state[rows]
    around = np.column_stack([grid.neighbors[here], here])
    following = around[np.arange(len(rows)), slots[rows]]
    setpoints, chosen = decision.setpoints.copy(), cells.next.copy()
    setpoints[rows], chosen[rows] = cell_points(following, part.view.heard[rows], grid), following
    return replace(decision, setpoints=setpoints, cells=Cells(cells.state, cells.goal, chosen))


def _reached(part: Part, weights: Actions) -> Decision:
    rows = np.flatnonzero(part.choosers & (weights != method_actions(part)).any(axis=1))
    setpoints = part.decision.setpoints.copy()
    shares = weights[rows].astype(np.float64)
    shares /= shares.sum(axis=1, keepdims=True)
    setpoints[rows] = combine(shares, part.view.heard[rows])
    return replace(part.decision, setpoints=setpoints)


# --- what comes in from outside ------------------------------------------------------------------------------------


def checked_by_name(
    given: Mapping[str, Any],
    acting: Mapping[str, int],
    known: Iterable[str],
    rest: Actions,
    masks: Flags,
    masked: Masked,
) -> Actions:
    """Actions by agents' names as one array for all agents; (N,) if they walk, else (N, 3). ``masks`` are (N, 4).

    Everybody who is ``acting`` needs one. Others do the ``rest``, (N,) or (N, 3), whatever is given for them. Names
    that are not ``known`` are an error.
    """
    if not isinstance(given, Mapping):
        raise InputError(f"actions must be a dictionary by agents' names, not {type(given).__name__}")
    for name in given:
        if name not in known:
            raise InputError(f"there is no agent {shown(name)}; {advice(str(name), known)}")
    silent = [name for name in acting if name not in given]
    if silent:
        raise InputError(f"no action is given for {listed(silent)}")
    actions, walks = rest.copy(), rest.ndim == 1
    for name, agent in acting.items():
        actions[agent] = _one(name, given[name], walks)
    rows = np.array(list(acting.values()), np.int64)
    actions[rows] = _possible(actions[rows], rows.__getitem__, masks[rows] if walks else None, masked)
    return actions


def _one(name: str, given: Any, walks: bool) -> Any:
    """The action of one agent, of the right shape and kind."""
    action = np.asarray(given)
    if walks:
        if action.shape != () or not np.issubdtype(action.dtype, np.integer):
            raise InputError(f"{name}: an action is a whole number from 0 to {STAY}, not {shown(given)}")
    elif action.shape != (3,) or not np.issubdtype(action.dtype, np.number) or np.iscomplexobj(action):
        raise InputError(f"{name}: an action is three weights, not {shown(given)}")
    return action


def checked_array(given: Any, rows: Flags, masks: Flags | None, masked: Masked, names: Names) -> Actions:
    """Actions of all agents as one array, (A,) or (A, 3); those of ``rows`` (A,) are looked at."""
    actions = np.asarray(given)
    shape = (len(rows),) if masks is not None else (len(rows), 3)
    kind: type[np.generic] = np.integer if masks is not None else np.floating
    if actions.shape != shape or not np.issubdtype(actions.dtype, kind):
        what = "whole numbers" if masks is not None else "weights"
        raise InputError(f"actions must be {what} of shape {shape}, not {actions.dtype} of shape {actions.shape}")
    if rows.all():
        return _possible(actions, names, masks, masked)
    found, here = actions.copy(), np.flatnonzero(rows)
    some = None if masks is None else masks[here]
    found[here] = _possible(actions[here], lambda wrong: names(here[wrong]), some, masked)
    return found


def _possible(actions: Actions, names: Names, masks: Flags | None, masked: Masked) -> Actions:
    """The actions, if all of them can be."""
    if masks is None:
        a, b, c = actions.T  # rows of three are quicker this way
        inside = (a >= 0) & (a <= 1) & (b >= 0) & (b <= 1) & (c >= 0) & (c <= 1)
        wrong = np.flatnonzero(~(inside & (a + b + c > 0)))
        if wrong.size:
            raise InputError(f"weights of {agents(names(wrong))} must be from 0 to 1, and not all 0")
        return actions
    beyond = np.flatnonzero((actions < 0) | (actions >= MOVES))
    if beyond.size:
        raise InputError(f"the action of {agents(names(beyond))} is not one of 0 to {STAY}")
    allowed = masks[np.arange(len(actions)), actions]
    if masked == "error" and not allowed.all():
        who = agents(names(np.flatnonzero(~allowed)))
        raise InputError(f"the action of {who} is masked: there is no free cell across that edge")
    return np.where(allowed, actions, STAY)


def check_masked(masked: str) -> None:
    """Refuse what cannot be done with masked actions."""
    if masked not in ("error", "stay"):
        raise InputError(f'masked must be "error" or "stay", not {shown(masked)}')
