"""The compiled loop of ``uncertain``: plans of one agent after another."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel
from tricover.mdp._acceleration import Past, new_past
from tricover.mdp._evaluation import arrange, evaluate, new_turns, prepare
from tricover.mdp._kernels import Floats, Places, Tables
from tricover.mdp._uncertain import Moves, Room, Rules, decide, guess, new_room, set_up, solve

UNSOUND = -1  # in place of sweeps: a measure of this agent is none
FAR = 0.02  # from where on values are swept by level first: the policy is far off, too
FIRST = 12  # sweeps by level at most: 10% slip is done by then
PLAIN = 300  # sweeps after which only plain ones by level follow


class Agents(NamedTuple):
    """Whose plans are made: A agents."""

    triangles: Floats
    """(A, 3, 2)"""
    goals: NDArray[np.int64]
    """(A,) cells."""
    indptr: NDArray[np.int64]
    """(A, M²+1), or (1, M²+1) of one kernel for all: where the measures of each kernel are."""
    ends: Places
    chances: Floats
    """(E,) of all measures."""
    earlier: NDArray[np.float32]
    """(A, M²+1) values to start from."""
    fresh: NDArray[np.bool_]
    """(A,) who has none."""


class Plans(NamedTuple):
    """What agents do, and what they start from next time."""

    values: NDArray[np.float32]
    """(A, M²+1) shaped values in units of α times the longest side; the last is outside."""
    policy: NDArray[np.uint8]
    """(A, M²) the best action of each cell: 0, 1, 2 for its neighbours, 3 to stay."""
    sweeps: NDArray[np.int64]
    """(A,) how many it took; 0 where the last values still hold."""


@kernel
def weigh_changes(room: Room, past: Past) -> None:
    """Changes count less where rewards are large."""
    for state in range(len(room.values)):
        past.weights[state] = 1 / (1 + room.bonuses[room.levels[state]])


@kernel
def certain(moves: Moves) -> bool:
    """Whether every move ends where it is intended to: then the first guess is exact."""
    starts, ends, _ = moves
    same = len(ends) == len(starts) - 1
    for t in range(len(ends) if same else 0):
        same &= starts[t] == t and ends[t] == t
    return same


@kernel
def plan(tables: Tables, rules: Rules, agents: Agents, first: int, last: int, plans: Plans) -> None:
    """Make the plans of agents ``first`` to ``last``."""
    triangles, goals, indptr, ends, chances, earlier, fresh = agents
    values, policy, sweeps = plans
    room, past = new_room(tables.size, rules.gamma), new_past(tables.size * tables.size + 1)
    cells = len(room.costs)
    starts, turns = np.empty(cells + 1, np.uint32), new_turns(cells + 1)
    for agent in range(first, last):
        row = agent if len(indptr) > 1 else 0
        begin, end = indptr[row, 0], indptr[row, cells]
        if row == agent or agent == first:
            for t in range(cells + 1):
                starts[t] = indptr[row, t] - begin
        moves = Moves(starts, ends[begin:end], chances[begin:end])
        if not set_up(tables, moves, rules, triangles[agent], goals[agent], room):
            sweeps[agent] = UNSOUND
            continue
        count, known = 0, not (fresh[agent] or certain(moves)) and np.isfinite(earlier[agent]).all()
        if known:
            for state in range(cells + 1):
                room.values[state] = earlier[agent, state]
        else:
            guess(tables.neighbors, rules, room)
        worst = decide(tables.neighbors, moves, rules, room, policy[agent])
        if worst > rules.enough:
            weigh_changes(room, past)
        if worst > FAR:
            count = solve(tables.neighbors, moves, rules, room, past, min(FIRST, rules.most), False)
            worst = decide(tables.neighbors, moves, rules, room, policy[agent])
        while worst > rules.enough and count < rules.most:
            if count >= PLAIN:
                count += solve(tables.neighbors, moves, rules, room, past, rules.most - count, True)
            else:
                arrange(tables.neighbors, moves, rules, policy[agent], turns)
                prepare(moves, rules, room, turns)
                count += evaluate(moves, rules, room, turns, past, worst)
            worst = decide(tables.neighbors, moves, rules, room, policy[agent])
        sweeps[agent] = count
        for state in range(cells + 1):
            values[agent, state] = room.values[state]
