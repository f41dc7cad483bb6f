"""Compiled loops for any kernel, on the normalised, shaped problem of ``cost``.

A kernel comes as the CSR arrays of its d base measures and ``pick`` (M², 4), the measure of each action, d where there
is no such action. Levels, order and actions are as in ``_kernels``.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel
from tricover.mdp._kernels import TIE, Floats, Ints, Places, choose

FRONT = 6  # levels by which a sweep reaches farther out than the one before


@kernel
def stage_costs(
    indptr: Places,
    indices: Places,
    chances: Floats,
    pick: Places,
    levels: Ints,
    costs: Floats,
    bonuses: Floats,
    gamma: float,
    out: Floats,
) -> None:
    """Cost of action a in cell s after shaping, any kernel: see ``cost``. Infinite if there is no such action."""
    factors = np.array([-1 / gamma, 0.0, 1.0, 1 + gamma, 1 + gamma + gamma * gamma])  # (1-γ^k)/(1-γ), k = -1 … 3
    for cell in range(len(costs)):
        level = levels[cell]
        for action in range(4):
            row = pick[cell, action]
            if row == len(indptr) - 1:
                out[cell, action] = np.inf
                continue
            extra = 0.0
            for place in range(indptr[row], indptr[row + 1]):
                there = levels[indices[place]]
                factor = gamma * factors[1 + there] if level == 0 else factors[2 + there - level]
                extra += chances[place] * factor
            out[cell, action] = costs[cell] + bonuses[level] * extra


@kernel
def expected(indptr: Places, indices: Places, chances: Floats, row: int, values: Floats) -> float:
    """Mean of ``values`` under a base measure."""
    total = 0.0
    for place in range(indptr[row], indptr[row + 1]):
        total += chances[place] * values[indices[place]]
    return total


@kernel
def improve(
    indptr: Places,
    indices: Places,
    chances: Floats,
    pick: Places,
    stage: Floats,
    gamma: float,
    values: Floats,
    actions: Ints,
    keep: bool,
) -> tuple[int, float, float]:
    """Greedy actions for ``values``; with ``keep`` an action that ties with the best stays.

    Returns how many actions changed, the largest Bellman residual, and the largest relative to 1 + |value|.
    """
    changed, worst, relative = 0, 0.0, 0.0
    means = np.zeros(len(indptr))
    for measure in range(len(indptr) - 1):
        means[measure] = expected(indptr, indices, chances, measure, values)
    q = np.empty(4)
    for cell in range(len(actions)):
        for action in range(4):
            q[action] = stage[cell, action] + gamma * means[pick[cell, action]]
        best = min(min(q[0], q[1]), min(q[2], q[3]))
        off = abs(best - values[cell])
        worst, relative = max(worst, off), max(relative, off / (1 + abs(values[cell])))
        if not (keep and q[actions[cell]] <= best + TIE * (1 + abs(best))):
            new = choose(q[0], q[1], q[2], q[3])
            changed += new != actions[cell]
            actions[cell] = new
    return changed, worst, relative


@kernel
def refresh(
    indptr: Places, indices: Places, chances: Floats, due: Places, begin: int, end: int, values: Floats, means: Floats
) -> None:
    """Means of values under the base measures that are due, from place ``begin`` to ``end``."""
    for place in range(begin, end):
        measure = due[place]
        means[measure] = expected(indptr, indices, chances, measure, values)


@kernel
def lift(
    indptr: Places,
    indices: Places,
    chances: Floats,
    pick: Places,
    stage: Floats,
    gamma: float,
    goal: int,
    values: Floats,
    share: Floats,
    means: Floats,
    part: Floats,
) -> float:
    """Solve the goal's equation: move all values by their share of what the goal's lacks. Returns the relative move."""
    lack, best = 0.0, np.inf
    for action in range(4):
        row = pick[goal, action]
        if row == len(indptr) - 1:
            continue
        means[row] = expected(indptr, indices, chances, row, values)
        part[row] = expected(indptr, indices, chances, row, share)
        q = stage[goal, action] + gamma * means[row]
        if q < best:
            best, lack = q, (q - values[goal]) / (1 - gamma * part[row])
    for cell in range(len(values)):
        values[cell] += share[cell] * lack
    for measure in range(len(means)):
        means[measure] += part[measure] * lack
    return abs(lack) / (1 + abs(best))


@kernel
def solve_remaining(
    indptr: Places, indices: Places, chances: Floats, pick: Places, stage: Floats, gamma: float, order: Places
) -> Floats:
    """Factors (M², 9) of Q(s,a) - V(s) = f_0 + f_1 · (γ · mean - V(s)), with the chance to remain solved for.

    Cells come in the order in which they are swept. Factor 8 is the chance to remain when staying: it can be near one,
    so that it has to be taken off the mean before the rest is scaled up, or rounding would be scaled up as well.
    """
    factors = np.empty((len(order), 9))
    for at in range(len(order)):
        cell = order[at]
        for action in range(4):
            row, remain = pick[cell, action], 0.0
            if row < len(indptr) - 1:
                for place in range(indptr[row], indptr[row + 1]):
                    remain += chances[place] if indices[place] == cell else 0.0
            scale = 1 / (1 - gamma * remain)
            factors[at, 2 * action] = stage[cell, action] * scale
            factors[at, 2 * action + 1] = scale
            factors[at, 8] = remain
    return factors


@kernel
def value_sweep(
    indptr: Places,
    indices: Places,
    chances: Floats,
    pick: Places,
    factors: Floats,
    gamma: float,
    order: Places,
    ends: Places,
    due: Places,
    due_ends: Places,
    values: Floats,
    share: Floats,
    means: Floats,
    part: Floats,
    first: int,
    last: int,
    pinned: bool,
    learn: bool,
    enough: float,
    settled_levels: NDArray[np.bool_],
) -> None:
    """One Gauss–Seidel sweep of the Bellman equation from level ``first`` to ``last``; notes which levels settled.

    Each base measure's mean is taken once a sweep, after the level it belongs to. ``pinned`` leaves the goal alone,
    ``learn`` brings the shares up to date.
    """
    for level in range(first, last):
        settled = True
        for place in range(ends[level - 1] if level > 0 else 0, 0 if pinned and level == 0 else ends[level]):
            cell = order[place]
            m0, m1, m2, m3 = pick[cell, 0], pick[cell, 1], pick[cell, 2], pick[cell, 3]
            old = values[cell]
            q0 = factors[place, 0] + factors[place, 1] * (gamma * means[m0] - old)
            q1 = factors[place, 2] + factors[place, 3] * (gamma * means[m1] - old)
            q2 = factors[place, 4] + factors[place, 5] * (gamma * means[m2] - old)
            q3 = factors[place, 6] + factors[place, 7] * gamma * (means[m3] - factors[place, 8] * old) - old
            move = min(min(q0, q1), min(q2, q3))
            values[cell] = old + move
            settled &= abs(move) <= enough * (1 + abs(old))
            if learn:
                action = 0 if move == q0 else 1 if move == q1 else 2 if move == q2 else 3
                share[cell] += factors[place, 2 * action + 1] * (gamma * part[pick[cell, action]] - share[cell])
        settled_levels[level] = settled
        begin, end = due_ends[level - 1] if level > 0 else 0, due_ends[level]
        refresh(indptr, indices, chances, due, begin, end, values, means)
        if learn:
            refresh(indptr, indices, chances, due, begin, end, share, part)


@kernel
def value_sweeps(
    indptr: Places,
    indices: Places,
    chances: Floats,
    pick: Places,
    stage: Floats,
    gamma: float,
    factors: Floats,
    order: Places,
    ends: Places,
    due: Places,
    due_ends: Places,
    values: Floats,
    enough: float,
    nearby: int,
    lifted: int,
    most: int,
) -> int:
    """Sweep until values change by no more than ``enough``: the number of sweeps, negative if ``most`` did not do.

    A window of levels moves outwards: first the ``nearby`` ones, then a few more each sweep, while levels that have
    settled are left out until a last sweep over all. Means not taken yet are infinite: moves beyond the window do not
    count until it gets there.
    """
    measures, levels = len(indptr) - 1, len(ends)
    share, means, part = np.empty(len(values)), np.full(measures + 1, np.inf), np.zeros(measures + 1)
    settled = np.zeros(levels, np.bool_)
    for level in range(levels):
        for place in range(ends[level - 1] if level > 0 else 0, ends[level]):
            share[order[place]] = gamma**level
        for place in range(due_ends[level - 1] if level > 0 else 0, due_ends[level]):
            part[due[place]] = gamma**level
    refresh(indptr, indices, chances, due, 0, due_ends[min(1, levels - 1)], values, means)  # what the goal looks at
    still = max(enough, 16 * np.finfo(np.float64).eps / (1 - gamma))  # rounding in the goal's equation is amplified
    first, last, moved, before = 0, min(levels, nearby), 1.0, 1.0
    known = False  # whether every mean was taken before this sweep
    for count in range(1, most + 1):
        lifting = count <= lifted and moved > still
        value_sweep(
            indptr,
            indices,
            chances,
            pick,
            factors,
            gamma,
            order,
            ends,
            due,
            due_ends,
            values,
            share,
            means,
            part,
            first,
            last,
            lifting,
            lifting and moved > 0.2 * before,  # lifts that shrink fast have good shares
            enough,
            settled,
        )
        if lifting:
            before = moved
            moved = lift(indptr, indices, chances, pick, stage, gamma, order[0], values, share, means, part)
        unsettled = 0
        while unsettled < last and settled[unsettled]:
            unsettled += 1
        lifting = lifting and moved > still
        if unsettled == levels and first == 0 and known and not lifting:
            return count
        known = last == levels
        if not lifting or count >= nearby:
            last = min(levels, last + FRONT)
        first = 0 if unsettled == last == levels or lifting else max(0, unsettled - 2)
    return -most


@kernel
def evaluate(
    indptr: Places,
    indices: Places,
    chances: Floats,
    pick: Places,
    stage: Floats,
    gamma: float,
    order: Places,
    actions: Ints,
    toll: Floats,
    share: Floats,
    enough: float,
    most: int,
    values: Floats,
) -> int:
    """Value of a policy, as V(s) = toll(s) + share(s)·V(goal): the goal is solved for, the rest is swept by level.

    ``toll`` is the cost on the way to the goal and ``share`` the mean discount when it is reached. Both settle in a few
    sweeps because moves lead towards the goal, whereas V(goal) itself, which the others copy, would settle as slowly as
    γ^k. Returns the number of sweeps.
    """
    goal = order[0]
    toll[goal], share[goal] = 0.0, 1.0
    sweeps, change = 0, np.inf
    while change > 0.0 and sweeps < most:
        sweeps, change = sweeps + 1, 0.0
        for at in range(1, len(order)):
            cell = order[at]
            row = pick[cell, actions[cell]]
            pay, part, remain = 0.0, 0.0, 0.0
            for place in range(indptr[row], indptr[row + 1]):
                other, chance = indices[place], chances[place]
                if other == cell:
                    remain = chance
                else:
                    pay += chance * toll[other]
                    part += chance * share[other]
            scale = 1 / (1 - gamma * remain)
            pay, part = (stage[cell, actions[cell]] + gamma * pay) * scale, gamma * part * scale
            off = abs(pay - toll[cell]) - enough * (1 + abs(pay))
            change = max(change, max(off, abs(part - share[cell]) - enough * part))
            toll[cell], share[cell] = pay, part
    row = pick[goal, actions[goal]]
    pay = stage[goal, actions[goal]] + gamma * expected(indptr, indices, chances, row, toll)
    worth = pay / (1 - gamma * expected(indptr, indices, chances, row, share))
    for cell in range(len(order)):
        values[cell] = toll[cell] + share[cell] * worth
    return sweeps


@kernel
def reached(
    indptr: Places,
    indices: Places,
    chances: Floats,
    pick: Places,
    order: Places,
    actions: Ints,
    marks: NDArray[np.bool_],
) -> None:
    """Mark the cells from which the goal is reached with some chance under ``actions``; ``marks`` starts with it."""
    found = True
    while found:
        found = False
        for cell in order:
            row = pick[cell, actions[cell]]
            for place in range(indptr[row], indptr[row + 1]):
                if not marks[cell] and chances[place] > 0 and marks[indices[place]]:
                    marks[cell] = found = True
