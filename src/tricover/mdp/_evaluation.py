"""Values of a policy whose moves may fail, compiled: sweeps in an order that its moves suggest.

A gust carries agents far, often away from the goal, and a sweep by level hands its effect on by one gust only. Under a
policy, though, moves lead on, seldom in circles. So put the states in the order in which a depth-first search over the
moves of the policy leaves them: each then comes after all that its move may lead to, but for those that close a circle.
One sweep in that order solves the equations of a policy without circles. Otherwise it leaves a few slow modes, which
acceleration takes out.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel
from tricover.mdp._acceleration import Past, extrapolate
from tricover.mdp._kernels import STAY, Floats, Places
from tricover.mdp._uncertain import Moves, Room, Rules, mean

ROUND = 8  # sweeps at most before actions are chosen anew
SHARE = 0.1  # of what the Bellman equation was off, at which sweeps stop


class Turns(NamedTuple):
    """The states (S,) in the order of a sweep, and what they do."""

    states: Places
    aims: Places
    """The cell that each intends."""
    stage: Floats
    """What it costs, with the extra y of the intended cell."""
    scale: Floats
    """1 / (1 - γ times the chance to remain)."""
    intended: Places
    """By state; S where the search has not been yet."""
    nexts: Places
    """By state: where the search goes on among the ends of its move."""
    stack: Places


@kernel
def new_turns(states: int) -> Turns:
    """Room for the turns of one process after another."""
    a, b, c = np.empty(states, np.uint32), np.empty(states, np.uint32), np.empty(states, np.uint32)
    d, e = np.empty(states, np.uint32), np.empty(states, np.uint32)
    return Turns(a, b, np.empty(states), np.empty(states), c, d, e)


@kernel
def arrange(neighbors: Places, moves: Moves, rules: Rules, slots: NDArray[np.uint8], turns: Turns) -> None:
    """Order the states by a depth-first search over where the actions of a policy may lead."""
    starts, ends, _ = moves
    intended, nexts, stack = turns.intended, turns.nexts, turns.stack
    states = len(intended)
    nobody = states
    intended[:] = nobody
    count = 0
    for root in range(states):
        top = root if intended[root] == nobody else nobody
        depth = 0
        while top != nobody:
            if intended[top] == nobody:  # new: look at its ends from the first on
                aim = rules.back
                if top < states - 1:
                    aim = top if slots[top] == STAY else neighbors[top, slots[top]]
                intended[top], nexts[top] = aim, starts[aim]
                stack[depth] = top
                depth += 1
            place, last = nexts[top], starts[intended[top] + 1]
            while place < last and intended[ends[place]] != nobody:
                place += 1
            nexts[top] = place + 1
            if place < last:
                top = ends[place]
                continue
            # All that it may lead to has been found: its turn comes next.
            turns.states[count], turns.aims[count] = top, intended[top]
            count += 1
            depth -= 1
            top = stack[depth - 1] if depth > 0 else nobody


@kernel
def prepare(moves: Moves, rules: Rules, room: Room, turns: Turns) -> None:
    """What a turn costs, and what remaining makes of it."""
    starts, ends, chances = moves
    costs, levels, bonuses = room.costs, room.levels, room.bonuses
    gamma, cells = rules.gamma, len(costs)
    for place in range(len(turns.states)):
        state, aim = turns.states[place], turns.aims[place]
        stage = 1.0
        if state < cells:
            level = levels[state]
            farther = 1.0 if aim == state else 0.0 if levels[aim] < level else 1.0 + gamma
            stage = costs[state] + bonuses[level] * farther
            if level == 0:  # the goal itself: no cost, and coming back is a step later
                stage = 0.0 if aim == state else bonuses[0] * gamma
        own = 0.0
        for at in range(starts[aim], starts[aim + 1]):
            own += chances[at] if ends[at] == state else 0.0
        turns.stage[place] = stage + room.extras[aim]
        turns.scale[place] = 1 / (1 - gamma * own)


@kernel
def sweep_policy(moves: Moves, gamma: float, turns: Turns, values: Floats) -> float:
    """One Gauss–Seidel sweep of a policy's own equation; returns the largest change relative to 1 + |value|."""
    starts, ends, chances = moves
    worst = 0.0
    for place in range(len(values)):
        state, aim = turns.states[place], turns.aims[place]
        old = values[state]
        move = turns.stage[place] + gamma * mean(starts, ends, chances, aim, values) - old
        move *= turns.scale[place]
        values[state] = old + move
        worst = max(worst, abs(move) / (1 + abs(old)))
    return worst


@kernel
def evaluate(moves: Moves, rules: Rules, room: Room, turns: Turns, past: Past, off: float) -> int:
    """Bring the values, which miss the Bellman equation by ``off``, near to those of the policy: how many sweeps."""
    nothing = room.means[:0]
    near, kept = max(SHARE * off, rules.enough / 4), 0
    for count in range(1, ROUND):
        past.last[0][:] = room.values
        if sweep_policy(moves, rules.gamma, turns, room.values) <= near:
            return count
        kept = extrapolate(past, kept, count, room.values, nothing)
    sweep_policy(moves, rules.gamma, turns, room.values)
    return ROUND
