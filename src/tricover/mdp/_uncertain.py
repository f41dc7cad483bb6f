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
from tricover.mdp._kernels import Floats, Ints, Places, Tables, breadth_first, choose, distances, powers

SUM = 1e-6  # by how much chances may miss one
PAST = 4
PLAIN = 300


UNSOUND = -1  # in place of sweeps: a measure of this agent is none


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


class Past(NamedTuple):
    """What the last sweeps did."""

    last: Floats
    """(4, S) of the last sweep: values before, weighted change, values after, means after."""
    changes: Floats
    """(PAST, S) differences of the weighted changes."""
    steps: Floats
    """(PAST, S) differences of the values after sweeps."""
    means: Floats
    weights: Floats
    gram: Floats
    lower: Floats
    right: Floats
    theta: Floats


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


@kernel
def new_past(states: int) -> Past:
    """Room for what sweeps did."""
    a, b, c = np.empty((PAST, states)), np.empty((PAST, states)), np.empty((PAST, states))
    gram, lower = np.empty((PAST, PAST)), np.empty((PAST, PAST))
    return Past(np.empty((4, states)), a, b, c, np.empty(states), gram, lower, np.empty(PAST), np.empty(PAST))


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


@inlined
def dot(one: Floats, other: Floats) -> float:
    """In four sums, so that additions need not wait for each other."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    for block in range(len(one) // 4):
        at = 4 * block
        s0 += one[at] * other[at]
        s1 += one[at + 1] * other[at + 1]
        s2 += one[at + 2] * other[at + 2]
        s3 += one[at + 3] * other[at + 3]
    for at in range(len(one) // 4 * 4, len(one)):
        s0 += one[at] * other[at]
    return (s0 + s1) + (s2 + s3)


@kernel
def solve(neighbors: Places, moves: Moves, rules: Rules, room: Room, past: Past) -> int:
    """Sweep with acceleration until a sweep changes little: how many sweeps it took.

    ``means`` must be those of ``values``.
    """
    values, means, weights = room.values, room.means, past.weights
    x, f, g, y = past.last[0], past.last[1], past.last[2], past.last[3]
    kept, states, before = 0, len(values), np.inf
    for state in range(states):
        weights[state] = 1 / (1 + room.bonuses[room.levels[state]])
    for count in range(1, rules.most + 1):
        x[:] = values
        worst = sweep(neighbors, moves, rules, room)
        if worst <= rules.enough / 4:
            return count
        # f: what the sweep changed, weighted; g: where it led. Their differences to the sweep before are kept.
        at = (count - 2) % PAST
        if count > 1:
            for state in range(states):
                now = (values[state] - x[state]) * weights[state]
                past.changes[at, state] = now - f[state]
                past.steps[at, state] = values[state] - g[state]
                past.means[at, state] = means[state] - y[state]
                f[state], g[state], y[state] = now, values[state], means[state]
            past.means[at, states - 1] = 0.0
            kept = min(kept + 1, PAST)
        else:
            for state in range(states):
                f[state], g[state], y[state] = (values[state] - x[state]) * weights[state], values[state], means[state]
        size = dot(f, f)
        if size > 4 * before:  # it led astray: begin anew from here
            kept = 0
        before = size
        if count >= PLAIN or kept == 0:
            continue
        combine(past, kept, at)
        for j in range(kept):
            k = (at - j) % PAST
            theta = past.theta[j]
            for state in range(states):
                values[state] -= theta * past.steps[k, state]
                means[state] -= theta * past.means[k, state]
        means[states - 1] = np.inf
    return rules.most


@kernel
def combine(past: Past, kept: int, at: int) -> None:
    """Least squares: θ with Σ_j θ_j changes_j nearest to the last change f, the newest first."""
    gram, right, theta, f = past.gram, past.right, past.theta, past.last[1]
    # Products with the newest; the others are known.
    for j in range(kept):
        k = (at - j) % PAST
        gram[at, k] = dot(past.changes[at], past.changes[k])
        gram[k, at] = gram[at, k]
        right[j] = dot(past.changes[k], f)
    # Cholesky in the order newest first; a difference that adds nothing new to newer ones is left out.
    lower = past.lower
    used = 0
    for j in range(kept):
        theta[j] = 0.0
    for j in range(kept):
        row = (at - j) % PAST
        ok = True
        for i in range(j + 1):
            total = gram[row, (at - i) % PAST]
            for k in range(i):
                total -= lower[j, k] * lower[i, k]
            if i < j:
                lower[j, i] = total / lower[i, i]
            else:
                ok = total > 1e-12 * gram[row, row] and total > 0
                if ok:
                    lower[j, j] = np.sqrt(total)
        if not ok:
            break
        used = j + 1
    for j in range(used):
        total = right[j]
        for k in range(j):
            total -= lower[j, k] * theta[k]
        theta[j] = total / lower[j, j]
    for back in range(used):
        j = used - 1 - back
        total = theta[j]
        for k in range(j + 1, used):
            total -= lower[k, j] * theta[k]
        theta[j] = total / lower[j, j]


@kernel
def certain(moves: Moves) -> bool:
    """Whether every move ends where it is intended to: then the first guess is exact."""
    starts, ends, _ = moves
    same = len(ends) == len(starts) - 1
    for t in range(len(ends) if same else 0):
        same &= starts[t] == t and ends[t] == t
    return same


@kernel
def plan(
    tables: Tables,
    rules: Rules,
    triangles: Floats,
    goals: NDArray[np.int64],
    indptr: NDArray[np.int64],
    ends: Places,
    chances: Floats,
    earlier: NDArray[np.float32],
    fresh: NDArray[np.bool_],
    first: int,
    last: int,
    values: NDArray[np.float32],
    policy: NDArray[np.uint8],
    sweeps: NDArray[np.int64],
) -> None:
    """Plans of agents ``first`` to ``last``."""
    room, past = new_room(tables.size, rules.gamma), new_past(tables.size * tables.size + 1)
    cells = len(room.costs)
    starts = np.empty(cells + 1, np.uint32)
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
        while worst > rules.enough and count < rules.most:
            count += solve(tables.neighbors, moves, rules, room, past)
            worst = decide(tables.neighbors, moves, rules, room, policy[agent])
        sweeps[agent] = count
        for state in range(cells + 1):
            values[agent, state] = room.values[state]
