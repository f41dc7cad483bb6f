"""Policies of the user's own: who chooses the next cells of a walk, in place of the optimal policy.

A policy is called once with the network and the cells, and hands back the function that the team calls in every step:

    policy(network, grid) -> local_moves
    local_moves(view, states (A,), goals (A,)) -> next cells (A,)

``states`` are the cells in which followers stand, ``goals`` those that hold their goal points. A next cell is the
agent's own, or one that shares an edge with it. So whatever a policy does, its agents land in their triangles, and what
follows from that holds: row-stochastic steps, containment. That they arrive is up to the policy.

Row by row it may use only what that agent knows, see ``View``; a single agent is a batch of one. Agents outside of
their triangle have no cell, and are not asked. Where zones touch an agent's triangle it goes around them by the optimal
policy, whatever its own says.

>>> import numpy as np
>>> def stay(network, grid):
...     return lambda view, states, goals: states
>>> prepare_policy(stay, None, CellGrid(3))(None, np.array([4, 2]), np.array([0, 1]))
array([4, 2])
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tricover.control.view import View
from tricover.errors import InputError, listed
from tricover.geometry import OUTSIDE, CellGrid
from tricover.network import Network
from tricover.own import check_form, found

__all__ = ["LocalMoves", "Policy", "prepare_policy"]

Ints = NDArray[np.int64]

LocalMoves: TypeAlias = Callable[[View, Ints, Ints], Ints]
Policy: TypeAlias = Callable[[Network, CellGrid], LocalMoves]


def prepare_policy(policy: str | Policy, network: Network, grid: CellGrid) -> LocalMoves:
    """The function of a policy, itself or by name, that is called in every step; a move that cannot be is an error."""
    rule = found(policy) if isinstance(policy, str) else policy
    check_form(rule, "a policy", "network", "grid")
    chosen = rule(network, grid)
    check_form(chosen, "what a policy gives back", "view", "states", "goals")

    def local_moves(view: View, states: Ints, goals: Ints) -> Ints:
        moves = np.full(len(states), OUTSIDE, np.int64)
        inside = np.flatnonzero(states != OUTSIDE)
        if inside.size:
            part = view if inside.size == len(states) else view.rows(inside)
            moves[inside] = _checked(chosen(part, states[inside], goals[inside]), states[inside], grid, part)
        return moves

    return local_moves


def _checked(given: object, states: Ints, grid: CellGrid, view: View) -> Ints:
    """Next cells (A,) that can be reached in one move."""
    moves = np.asarray(given)
    if moves.shape != states.shape or not np.issubdtype(moves.dtype, np.integer):
        raise InputError(
            f"the policy gave {moves.dtype} of shape {moves.shape} for {len(states)} agents: give each a whole number"
        )
    near = (moves == states) | ((grid.neighbors[states] == moves[:, None]).any(axis=1) & (moves >= 0))
    if not near.all():
        raise InputError(
            f"the policy sent agent {listed(view.agents[~near])} to a cell that is neither its own nor next to it"
        )
    return moves.astype(np.int64)
