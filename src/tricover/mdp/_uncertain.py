"""Compiled loops of ``uncertain``: decision processes of many agents, each with its own triangle, goal and kernel.

With one measure μ_t per intended cell t the shaped Bellman equation of ``cost`` falls apart into what depends on t,

    Y_t = y_t + γ Σ_e μ_t(e) V(e),   y_t = γ Σ_e μ_t(e) β (γ^n(t) - γ^n(e)) / (1-γ),

and the extra of the move itself, as if it always succeeded:

    V(s) = C(s) + min { Y_t for t nearer to the goal, β γ^n(s) + Y_s, β γ^n(s) (1+γ) + Y_t for t farther }.

So a sweep takes one mean a cell and needs no table of stage costs. Outside is state M²: V(out) = 1 + Y_c. At the goal C
is -β. All is in units of α times the longest side; values are shaped (V' in ``cost``).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import inlined, kernel
from tricover.mdp._acceleration import Past, extrapolate
from tricover.mdp._kernels import Floats, Ints, Places, Tables, breadth_first, choose, distances, powers

SUM = 1e-6  # by how much chances may miss one


class Moves(NamedTuple):
    """The kernel of one agent: the measure of intending cell t has places starts[t] to starts[t+1]."""

    starts: Places
    """(M²+1,)"""
    ends: Places
    """Cells, and M² for outside."""
    chances: Floats


class Rules(NamedTuple):
    """What the processes of all agents have in common, besides their grid."""

    alpha: float
    beta: float
    """The goal's reward; infinite stands for the default."""
    default: float
    """The default reward, in units."""
    gamma: float
    back: int
    """The cell that an agent outside intends."""
    enough: float
    """Residuals may be this large, relative to 1 + |value|."""
    most: int
    """Sweeps at most."""


class Room(NamedTuple):
    """The process of one agent, and room to solve it."""

    costs: Floats
    """(M²,)"""
    levels: Ints
    """(M²+1,) moves to the goal; outside has one more than the cell to which it comes back."""
    order: Places
    """(M²,) cells by level, the goal first."""
    level_ends: Places
    """(2M,) where each level ends in ``order``."""
    bonuses: Floats
    """(2M,) β γ^n."""
    sums: Floats
    """(2M,) 1 + γ + … + γ^{k-1}."""
    extras: Floats
    """(M²,) y_t."""
    remain: Floats
    """(M²+1,) γ times the chance to remain, if an agent stays."""
    values: Floats
    """(M²+1,) V."""
    means: Floats
    """(M²+1,) Y_t; infinite where there is no cell."""


@kernel
def new_room(size: int, gamma: float) -> Room:
    """Room for one process after another."""
    cells, levels = size * size, 2 * size
    sums = np.zeros(levels)
    power = 1.0
    for k in range(1, levels):
        sums[k] = sums[k - 1] + power
        power *= gamma
    floats = np.empty((5, cells + 1))
    return Room(
        floats[0, :cells],
        np.empty(cells + 1, np.int32),
        np.empty(cells, np.uint32),
        np.empty(levels, np.uint32),
        np.empty(levels),
        sums,
        floats[1, :cells],
        floats[2],
        floats[3],
        floats[4],
    )


@inlined
def mean(starts: Places, ends: Places, chances: Floats, row: int, values: Floats) -> float:
    """Mean of ``values`` under a measure."""
    total = 0.0
    for place in range(starts[row], starts[row + 1]):
        total += chances[place] * values[ends[place]]
    return total


@kernel
def set_up(tables: Tables, moves: Moves, rules: Rules, triangle: Floats, goal: int, room: Room) -> bool:
    """The costs, levels and extras of a process. Returns whether its measures are measures."""
    starts, ends, chances = moves
    costs, levels, order, level_ends, bonuses, sums, extras, remain = room[:8]
    gamma, cells = rules.gamma, len(costs)
    side = distances(tables.thirds, triangle, goal, tables.size, costs)
    breadth_first(tables.coordinates, goal, levels, order, level_ends)
    levels[cells] = levels[rules.back] + 1
    powers(rules.default if rules.beta == np.inf else rules.beta / (rules.alpha * side), gamma, bonuses)
    sound = True
    for t in range(cells):
        here = levels[t]
        total, own, whole = 0.0, 0.0, 0.0
        for place in range(starts[t], starts[t + 1]):
            there = levels[ends[place]]
            # β (γ^n(t) - γ^n(e)) / (1-γ) as a sum: the quotient loses digits where γ is near one.
            if there >= here:
                total += chances[place] * (bonuses[here] * sums[there - here])
            else:
                total -= chances[place] * (bonuses[there] * sums[here - there])
            own += chances[place] if ends[place] == t else 0.0
            whole += abs(chances[place])
        sound &= abs(whole - 1) <= SUM
        extras[t], remain[t] = gamma * total, gamma * own
    remain[cells] = 0.0
    for place in range(starts[rules.back], starts[rules.back + 1]):
        remain[cells] += gamma * chances[place] if ends[place] == cells else 0.0
    return sound


@kernel
def guess(neighbors: Places, rules: Rules, room: Room) -> None:
    """Values of the best shortest walks, as if moves always succeeded."""
    costs, order, values, gamma = room.costs, room.order, room.values, rules.gamma
    values[:] = np.inf
    values[order[0]] = 0.0
    for place in range(1, len(order)):
        cell = order[place]
        n0, n1, n2 = neighbors[cell, 0], neighbors[cell, 1], neighbors[cell, 2]
        values[cell] = costs[cell] + gamma * min(values[n0], min(values[n1], values[n2]))
    values[len(order)] = 1 + gamma * values[rules.back]


@kernel
def decide(neighbors: Places, moves: Moves, rules: Rules, room: Room, slots: NDArray[np.uint8]) -> float:
    """The best action of every cell for the values, and the largest residual relative to 1 + |value|."""
    starts, ends, chances = moves
    costs, levels, _, _, bonuses, _, extras, _, values, means = room[:10]
    gamma, cells, worst = rules.gamma, len(costs), 0.0
    for t in range(cells):
        means[t] = extras[t] + gamma * mean(starts, ends, chances, t, values)
    means[cells] = np.inf
    for cell in range(cells):
        level, cost = levels[cell], costs[cell]
        bonus = bonuses[level]
        stay = cost + bonus if level > 0 else 0.0
        away = cost + bonus * (1 + gamma) if level > 0 else bonus * gamma
        n0, n1, n2 = neighbors[cell, 0], neighbors[cell, 1], neighbors[cell, 2]
        q0 = (cost if levels[n0] < level else away) + means[n0]
        q1 = (cost if levels[n1] < level else away) + means[n1]
        q2 = (cost if levels[n2] < level else away) + means[n2]
        q3 = stay + means[cell]
        slots[cell] = choose(q0, q1, q2, q3)
        off = abs(min(min(q0, q1), min(q2, q3)) - values[cell])
        worst = max(worst, off / (1 + abs(values[cell])))
    off = abs(1 + means[rules.back] - values[cells])
    return max(worst, off / (1 + abs(values[cells])))  # type: ignore[no-any-return]


@kernel
def sweep(neighbors: Places, moves: Moves, rules: Rules, room: Room) -> float:
    """One Gauss–Seidel sweep, outwards from the goal; returns the largest change relative to 1 + |value|.

    Each mean is taken once a sweep, after the level of its cell.
    """
    starts, ends, chances = moves
    costs, levels, order, level_ends, bonuses, _, extras, remain, values, means = room[:10]
    gamma, cells, back = rules.gamma, len(costs), rules.back
    begin, worst = np.uint32(0), 0.0
    for level in range(len(level_ends) - 1):
        end, bonus = level_ends[level], bonuses[level]
        for place in range(begin, end):
            cell = order[place]
            cost, old = costs[cell], values[cell]
            stay = cost + bonus if level > 0 else 0.0
            away = cost + bonus * (1 + gamma) if level > 0 else bonus * gamma
            n0, n1, n2 = neighbors[cell, 0], neighbors[cell, 1], neighbors[cell, 2]
            q0 = (cost if levels[n0] < level else away) + means[n0]
            q1 = (cost if levels[n1] < level else away) + means[n1]
            q2 = (cost if levels[n2] < level else away) + means[n2]
            new = min(q0, min(q1, q2))
            # Staying for good, with the chance to remain solved for; it is taken off before the rest is scaled up.
            rest = stay + (means[cell] - remain[cell] * old)
            if rest < new * (1 - remain[cell]):
                new = rest / (1 - remain[cell])
            values[cell] = new
            worst = max(worst, abs(new - old) / (1 + abs(old)))
        # What the next level looks at.
        for place in range(begin, end):
            t = order[place]
            means[t] = extras[t] + gamma * mean(starts, ends, chances, t, values)
        if level == levels[back]:  # outside comes back from here
            old = values[cells]
            values[cells] = (1 + (means[back] - remain[cells] * old)) / (1 - remain[cells])
            worst = max(worst, abs(values[cells] - old) / (1 + abs(old)))
        begin = end
    return worst


@kernel
def solve(neighbors: Places, moves: Moves, rules: Rules, room: Room, past: Past, most: int, plain: bool) -> int:
    """Sweep until a sweep changes little, ``most`` times at most: how many sweeps it took.

    ``means`` must be those of ``values``. Unless ``plain``, sweeps are accelerated.
    """
    values, means, kept = room.values, room.means, 0
    for count in range(1, most + 1):
        past.last[0][:] = values
        if sweep(neighbors, moves, rules, room) <= rules.enough / 4 or count == most:
            return count
        if not plain:
            means[-1] = 0.0  # it stands for no cell
            kept = extrapolate(past, kept, count, values, means)
            means[-1] = np.inf
    return most
