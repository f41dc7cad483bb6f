"""Compiled loops for moves that always succeed, on the normalised problem of ``cost`` (unit: α times the longest side).

Levels are moves to the goal, ``order`` lists the cells by level. Neighbour tables have M² where there is no neighbour,
so that one extra entry of a value array (infinite) stands for all of them. Actions 0, 1, 2 move to the neighbour in
that slot, 3 stays.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Places = NDArray[np.uint32]  # unsigned: indexing by them needs no look at the sign

TIE = 1e-10
STAY = 3


class Tables(NamedTuple):
    """A grid as compiled loops want it: small integers, and M² in place of a missing neighbour."""

    coordinates: Ints
    """(M², 3) of each cell."""
    thirds: Ints
    """(M², 3) weights of each cell's centre, in units of 1/3M."""
    neighbors: Places
    """(M², 3)"""
    size: int
    """The resolution M."""


class Walks(NamedTuple):
    """The shaped problem for moves that always succeed."""

    neighbors: Places
    """(M², 3)"""
    levels: Ints
    """(M²+1,) moves to the goal; the last entry, for a missing neighbour, is beyond all."""
    order: Places
    """(M²,) cells by level, the goal first."""
    costs: Floats
    """(M²,) distances to the goal."""
    bonuses: Floats
    """(2M-1,) β γ^n."""
    gamma: float


class Settings(NamedTuple):
    """What the processes of all agents have in common, besides their grid."""

    alpha: float
    beta: float
    """The goal's reward; infinite stands for the default."""
    enough: float
    """The reward, in units of α times the longest side, from which on optimal walks are shortest walks."""
    gamma: float


@kernel
def frame(triangle: Floats) -> tuple[float, float, float, float, float]:
    """Longest side, and the two sides that meet in corner 2 divided by it."""
    x0, y0 = triangle[0, 0] - triangle[2, 0], triangle[0, 1] - triangle[2, 1]
    x1, y1 = triangle[1, 0] - triangle[2, 0], triangle[1, 1] - triangle[2, 1]
    size = max(np.hypot(x0, y0), np.hypot(x1, y1), np.hypot(x0 - x1, y0 - y1))
    return size, x0 / size, y0 / size, x1 / size, y1 / size


@kernel
def distance(d0: int, d1: int, x0: float, y0: float, x1: float, y1: float, size: int) -> float:
    """Between two centres whose first two weights differ by d0/3M and d1/3M, in units of the longest side."""
    x, y = d0 * x0 + d1 * x1, d0 * y0 + d1 * y1
    return np.sqrt(x * x + y * y) / (3 * size)  # type: ignore[no-any-return]


@kernel
def choose(q0: float, q1: float, q2: float, stay: float) -> int:
    """The action with the least cost; among ties staying, then the lowest slot."""
    best = min(min(q0, q1), min(q2, stay))
    limit = best + TIE * (1 + abs(best))
    if stay <= limit:
        return STAY
    return 0 if q0 <= limit else 1 if q1 <= limit else 2


@kernel
def distances(thirds: Ints, triangle: Floats, goal: int, size: int, out: Floats) -> float:
    """Fill ``out`` with the distance of every centre to the goal's, and return the longest side."""
    side, x0, y0, x1, y1 = frame(triangle)
    g0, g1 = thirds[goal, 0], thirds[goal, 1]
    for cell in range(len(thirds)):
        out[cell] = distance(thirds[cell, 0] - g0, thirds[cell, 1] - g1, x0, y0, x1, y1, size)
    return side


@kernel
def breadth_first(coordinates: Ints, goal: int, levels: Ints, order: Places, starts: Places) -> None:
    """Moves to the goal of every cell, and the cells by these.

    The sort counts, and so takes linear time. ``starts`` (2M,) is its scratch and has, at the end, where levels end.
    """
    g0, g1, g2 = coordinates[goal, 0], coordinates[goal, 1], coordinates[goal, 2]
    starts[:] = 0
    # How many cells each level has: a move changes one coordinate by one.
    for cell in range(len(order)):
        away0 = abs(coordinates[cell, 0] - g0)
        away1 = abs(coordinates[cell, 1] - g1)
        away2 = abs(coordinates[cell, 2] - g2)
        level = away0 + away1 + away2
        levels[cell] = level
        starts[level + 1] += 1
    # Where each level starts.
    for level in range(1, len(starts)):
        starts[level] += starts[level - 1]
    # Each cell goes to the next free place of its level, so cells of a level ascend.
    for cell in range(len(order)):
        order[starts[levels[cell]]] = cell
        starts[levels[cell]] += 1


@kernel
def shortest(
    neighbors: Places, order: Places, costs: Floats, rewards: Floats, gamma: float, unit: float, reaching: int
) -> tuple[Floats, NDArray[np.int64]]:
    """Value and next cell of the best among the shortest walks to the goal: one pass by level is exact.

    A cell whose value is still infinite is not nearer to the goal. The first ``reaching`` cells of the order can get to
    the goal; the others stay.
    """
    cells = len(order)
    shaped = np.full(cells + 1, np.inf)
    value, policy = np.empty(cells), np.empty(cells, np.int64)
    goal = order[0]
    shaped[goal], value[goal], policy[goal] = 0.0, -rewards[goal], goal
    # Outwards from the goal: when a cell's turn comes, all that are nearer have their final value.
    for place in range(1, reaching):
        cell = order[place]
        cost = costs[cell]
        # Written out: a loop over the three slots is slower, and it would need an array of three.
        n0, n1, n2 = neighbors[cell, 0], neighbors[cell, 1], neighbors[cell, 2]
        q0 = cost + gamma * shaped[n0]
        q1 = cost + gamma * shaped[n1]
        q2 = cost + gamma * shaped[n2]
        best = min(q0, min(q1, q2))
        limit = best + TIE * (1 + best)
        shaped[cell] = best
        value[cell] = unit * best - rewards[cell]
        policy[cell] = n0 if q0 <= limit else n1 if q1 <= limit else n2
    for place in range(reaching, cells):
        cell = order[place]
        value[cell], policy[cell] = unit * (costs[cell] / (1 - gamma)) - rewards[cell], cell
    return value, policy


@kernel
def sweep(walks: Walks, values: Floats, actions: Ints) -> float:
    """One Gauss–Seidel sweep by level with a deterministic kernel; returns the largest change."""
    neighbors, levels, order, costs, bonuses, gamma = walks
    change = 0.0
    values[order[0]], actions[order[0]] = 0.0, STAY
    # Outwards from the goal, so that a sweep carries a new value as far as walks lead away from it.
    for place in range(1, len(order)):
        cell = order[place]
        cost, level = costs[cell], levels[cell]
        n0, n1, n2 = neighbors[cell, 0], neighbors[cell, 1], neighbors[cell, 2]
        bonus = bonuses[level]
        away = cost + bonus * (1 + gamma)
        q0 = (cost if levels[n0] < level else away) + gamma * values[n0]
        q1 = (cost if levels[n1] < level else away) + gamma * values[n1]
        q2 = (cost if levels[n2] < level else away) + gamma * values[n2]
        new = min(min(q0, q1), min(q2, (cost + bonus) / (1 - gamma)))  # the last is staying for good
        if new != values[cell]:
            change = max(change, abs(new - values[cell]))
            values[cell] = new
        actions[cell] = choose(q0, q1, q2, cost + bonus + gamma * new)
    return change


@kernel
def repeat(walks: Walks, values: Floats, actions: Ints, most: int) -> int:
    """Sweep until nothing changes; returns the number of sweeps, or 0 if ``most`` were not enough."""
    for count in range(1, most + 1):
        if sweep(walks, values, actions) == 0.0:
            return count
    return 0


@kernel
def original(
    rewards: Floats, unit: float, neighbors: Places, values: Floats, actions: Ints
) -> tuple[Floats, NDArray[np.int64]]:
    """From the shaped problem back: values with the reward in them, actions as the cells they lead to."""
    cells = len(actions)
    value, policy = np.empty(cells), np.empty(cells, np.int64)
    for cell in range(cells):
        value[cell] = unit * values[cell] - rewards[cell]
        policy[cell] = cell if actions[cell] == STAY else neighbors[cell, actions[cell]]
    return value, policy


@kernel
def slots(neighbors: Places, policy: NDArray[np.int64], actions: Ints) -> None:
    """The actions that lead to the cells of a policy."""
    for cell in range(len(policy)):
        actions[cell] = STAY
        for slot in range(3):
            if neighbors[cell, slot] == policy[cell]:
                actions[cell] = slot


@kernel
def shortest_move(
    coordinates: Ints, cell: int, goal: int, size: int, gamma: float, triangle: Floats, scratch: Floats
) -> int:
    """The action of ``shortest`` in one cell, from the cells that lie on shortest walks between it and the goal.

    These have each coordinate between the cell's and the goal's, and are visited outwards from the goal: coordinate 0
    in the outer loop, 1 in the inner one, and of the two cells that share both, the one nearer to the goal first.
    """
    g0, g1, g2 = coordinates[goal, 0], coordinates[goal, 1], coordinates[goal, 2]
    s0, s1, s2 = coordinates[cell, 0], coordinates[cell, 1], coordinates[cell, 2]
    cell_down, goal_down = size - 1 - s0 - s1 - s2, size - 1 - g0 - g1 - g2
    sign = 1 - 2 * cell_down  # an up cell lowers a coordinate, a down cell raises one
    f0, f1, f2 = sign * (s0 - g0) > 0, sign * (s1 - g1) > 0, sign * (s2 - g2) > 0
    if f0 + f1 + f2 == 1:  # one way forward
        return 0 if f0 else 1 if f1 else 2
    _, x0, y0, x1, y1 = frame(triangle)
    low2, high2 = min(s2, g2), max(s2, g2)
    step0, step1 = 1 if s0 >= g0 else -1, 1 if s1 >= g1 else -1
    nearer = 1 if s2 >= g2 else 0  # down cells have the lower coordinate 2
    q0 = q1 = q2 = np.inf
    # Only two rows of coordinate 0 are needed at a time: this one and the one before, by turns.
    for a in range(abs(s0 - g0) + 1):
        c0 = g0 + step0 * a
        here, before = a % 2, (a + 1) % 2
        for b in range(abs(s1 - g1) + 1):
            c1 = g1 + step1 * b
            for turn in range(2):
                down = nearer if turn == 0 else 1 - nearer
                c2 = size - 1 - c0 - c1 - down
                if c2 < low2 or c2 > high2:  # on no shortest walk
                    continue
                if c0 == g0 and c1 == g1 and down == goal_down:
                    scratch[here, b, down] = 0.0
                    continue
                side = 1 - 2 * down
                d0 = 3 * (c0 - g0) + down - goal_down
                d1 = 3 * (c1 - g1) + down - goal_down
                cost = distance(d0, d1, x0, y0, x1, y1, size)
                q0 = cost + gamma * scratch[before, b, 1 - down] if side * (c0 - g0) > 0 else np.inf
                q1 = cost + gamma * scratch[here, b - 1, 1 - down] if side * (c1 - g1) > 0 else np.inf
                q2 = cost + gamma * scratch[here, b, 1 - down] if side * (c2 - g2) > 0 else np.inf
                if c0 == s0 and c1 == s1 and down == cell_down:
                    return choose(q0, q1, q2, np.inf)
                scratch[here, b, down] = min(q0, min(q1, q2))
    return STAY


@kernel
def powers(beta: float, gamma: float, out: Floats) -> None:
    """β γ^n for n = 0, 1, …"""
    for level in range(len(out)):
        out[level] = beta * gamma**level


@kernel
def next_moves(
    tables: Tables,
    settings: Settings,
    triangles: Floats,
    goals: NDArray[np.int64],
    cells: NDArray[np.int64],
    out: NDArray[np.int64],
) -> None:
    """Next cell of every agent. Where β suffices, only shortest walks count; otherwise the whole grid is solved."""
    coordinates, thirds, neighbors, size = tables
    alpha, beta, enough, gamma = settings
    # Room to work in, made once for all agents; that for a whole grid only where it can be needed.
    count = 1 if beta == np.inf else size * size
    nearby, values, costs = np.empty((2, size, 2)), np.empty(count + 1), np.empty(count)
    levels, order, actions = np.empty(count + 1, np.int32), np.empty(count, np.uint32), np.empty(count, np.int32)
    ends, bonuses = np.empty(2 * size, np.uint32), np.empty(2 * size - 1)
    walks = Walks(neighbors, levels, order, costs, bonuses, gamma)
    for agent in range(len(cells)):
        cell, goal = cells[agent], goals[agent]
        if cell < 0 or cell == goal:  # outside its triangle, or there
            out[agent] = cell
            continue
        unit = alpha * frame(triangles[agent])[0]
        if beta / unit >= enough:
            action = shortest_move(coordinates, cell, goal, size, gamma, triangles[agent], nearby)
        else:
            distances(thirds, triangles[agent], goal, size, costs)
            breadth_first(coordinates, goal, levels, order, ends)
            levels[count] = 2 * size
            powers(beta / unit, gamma, bonuses)
            values[:] = np.inf
            repeat(walks, values, actions, count + 2)
            action = actions[cell]
        out[agent] = cell if action == STAY else neighbors[cell, action]
