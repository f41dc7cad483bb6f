"""Compiled loops for any kernel, on the normalised, shaped problem of ``cost``.

Actions come by their base measure (``Measures``), so that a mean value is taken once for all actions that share it.
Levels, order and actions are as in ``_kernels``.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel, typed
from tricover.mdp._kernels import TIE, Floats, Ints, Places, choose

_START = typed(0)  # of what is due
FRONT = 6  # levels by which a sweep reaches farther out than the one before
GOOD_SHARE = 0.2  # shares are not brought up to date while each lift is at most this part of the one before


class Measures(NamedTuple):
    """A kernel in its linear form: d base measures over cells as CSR arrays, and the measure of each action."""

    indptr: Places
    """(d+1,)"""
    indices: Places
    chances: Floats
    pick: Places
    """(S, 4) the measure of each action, d where there is no such action; S states: cells, and outside or not."""


class Model(NamedTuple):
    """A decision process: where actions lead, what they cost and how the future counts."""

    measures: Measures
    stage: Floats
    """(M², 4) cost of each action after shaping, infinite where there is no such action."""
    gamma: float


class Schedule(NamedTuple):
    """In which order a sweep visits cells, and after which level it takes which means."""

    order: Places
    """(M²,) cells by level, the goal first."""
    ends: Places
    """(levels,) where each level ends in ``order``."""
    due: Places
    """(d,) measures by the level after which their mean is taken."""
    due_ends: Places
    """(levels,) where each level ends in ``due``."""


class Limits(NamedTuple):
    """When sweeping stops, and how it begins."""

    enough: float
    """Values have settled that change by no more than this, relative to 1 + |value|."""
    nearby: int
    """Levels of the first sweep."""
    lifted: int
    """Sweeps after which the goal is no longer solved for."""
    most: int
    """Sweeps at most."""


class Values(NamedTuple):
    """What a sweep brings up to date."""

    values: Floats
    """(M²,) V(s)."""
    share: Floats
    """(M²,) ∂V(s)/∂V(goal), the mean discount on arrival at the goal."""
    means: Floats
    """(d+1,) mean of the values under each measure; infinite where it was not taken yet or there is no action."""
    part: Floats
    """(d+1,) mean of the shares under each measure."""


class Window(NamedTuple):
    """Which levels a sweep visits, and what it does there."""

    first: int
    last: int
    """The level after the last one."""
    pinned: bool
    """Whether the goal is left alone."""
    learn: bool
    """Whether shares are brought up to date."""


@kernel
def stage_costs(measures: Measures, levels: Ints, costs: Floats, bonuses: Floats, gamma: float, out: Floats) -> None:
    """Cost of action a in cell s after shaping, any kernel: see ``cost``. Infinite if there is no such action."""
    indptr, indices, chances, pick = measures
    # (1-γ^k)/(1-γ) for k = -1, 0, …, as sums: the quotient loses digits where γ is near one.
    factors = np.empty(len(bonuses) + 3)
    factors[0], factors[1], power = -1 / gamma, 0.0, 1.0
    for k in range(2, len(factors)):
        factors[k] = factors[k - 1] + power
        power *= gamma
    for cell in range(len(costs)):
        level = levels[cell]
        for action in range(4):
            row = pick[cell, action]
            if row == len(indptr) - 1:
                out[cell, action] = np.inf
                continue
            # The mean of the factors where the action ends. Moves of two levels or more towards the goal are summed
            # apart, in terms of where they end: β γ^n (1 - γ^-k) with γ^-k alone may overflow.
            extra, closer = 0.0, 0.0
            for place in range(indptr[row], indptr[row + 1]):
                there = levels[indices[place]]
                if there < level - 2:
                    closer += chances[place] * bonuses[there + 1] * factors[level - there]
                    continue
                factor = gamma * factors[1 + there] if level == 0 else factors[2 + there - level]
                extra += chances[place] * factor
            out[cell, action] = costs[cell] + (bonuses[level] * extra - closer)


@kernel
def expected(indptr: Places, indices: Places, chances: Floats, row: int, values: Floats) -> float:
    """Mean of ``values`` under a base measure.

    This and ``refresh`` take plain arrays: they are called often, and a tuple of arrays takes time to unpack.
    """
    total = 0.0
    for place in range(indptr[row], indptr[row + 1]):
        total += chances[place] * values[indices[place]]
    return total


@kernel
def improve(model: Model, values: Floats, actions: Ints, keep: bool) -> tuple[int, float, float]:
    """Greedy actions for ``values``; with ``keep`` an action that ties with the best stays.

    Returns how many actions changed, the largest Bellman residual, and the largest relative to 1 + |value|.
    """
    (indptr, indices, chances, pick), stage, gamma = model
    count = len(indptr) - 1
    changed, worst, relative = 0, 0.0, 0.0
    # All means first: up to four actions share one. The last entry stands for actions that there are not.
    means = np.zeros(count + 1)
    for measure in range(count):
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
def lift(model: Model, goal: int, state: Values) -> float:
    """Solve the goal's equation: move all values by their share of what the goal's lacks. Returns the relative move."""
    (indptr, indices, chances, pick), stage, gamma = model
    values, share, means, part = state
    lack, best = 0.0, np.inf
    # The goal's best action, from means as they are now, and how far its equation is from holding.
    for action in range(4):
        row = pick[goal, action]
        if row == len(indptr) - 1:
            continue
        means[row] = expected(indptr, indices, chances, row, values)
        part[row] = expected(indptr, indices, chances, row, share)
        q = stage[goal, action] + gamma * means[row]
        if q < best:
            best, lack = q, (q - values[goal]) / (1 - gamma * part[row])
    # Means are linear in the values, so they move by their own share and need not be taken again.
    for cell in range(len(values)):
        values[cell] += share[cell] * lack
    for measure in range(len(means)):
        means[measure] += part[measure] * lack
    return abs(lack) / (1 + abs(best))


@kernel
def solve_remaining(model: Model, order: Places) -> Floats:
    """Factors (M², 9) of Q(s,a) - V(s) = f_0 + f_1 · (γ · mean - V(s)), with the chance to remain solved for.

    Cells come in the order in which they are swept. Factor 8 is the chance to remain when staying: it can be near one,
    so that it has to be taken off the mean before the rest is scaled up, or rounding would be scaled up as well.
    """
    (indptr, indices, chances, pick), stage, gamma = model
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
            factors[at, 8] = remain  # of the last action, which is staying
    return factors


@kernel
def value_sweep(
    model: Model,
    factors: Floats,
    schedule: Schedule,
    state: Values,
    window: Window,
    enough: float,
    settled_levels: NDArray[np.bool_],
) -> None:
    """One Gauss–Seidel sweep of the Bellman equation over a window of levels; notes which of them settled.

    Each base measure's mean is taken once a sweep, after the level it belongs to.
    """
    (indptr, indices, chances, pick), _, gamma = model
    order, ends, due, due_ends = schedule
    values, share, means, part = state
    first, last, pinned, learn = window
    for level in range(first, last):
        settled = True
        # Cells of a level need only means of the levels before, so their turn within it does not matter much.
        for place in range(ends[level - 1] if level > 0 else 0, 0 if pinned and level == 0 else ends[level]):
            cell = order[place]
            # Four actions written out: this is the loop that takes the time, and so it keeps them in registers.
            m0, m1, m2, m3 = pick[cell, 0], pick[cell, 1], pick[cell, 2], pick[cell, 3]
            old = values[cell]
            q0 = factors[place, 0] + factors[place, 1] * (gamma * means[m0] - old)
            q1 = factors[place, 2] + factors[place, 3] * (gamma * means[m1] - old)
            q2 = factors[place, 4] + factors[place, 5] * (gamma * means[m2] - old)
            q3 = factors[place, 6] + factors[place, 7] * gamma * (means[m3] - factors[place, 8] * old) - old
            move = min(min(q0, q1), min(q2, q3))
            values[cell] = old + move
            settled &= abs(move) <= enough * (1 + abs(old))
            if learn:  # the share follows the action that the value has just followed
                action = 0 if move == q0 else 1 if move == q1 else 2 if move == q2 else 3
                share[cell] += factors[place, 2 * action + 1] * (gamma * part[pick[cell, action]] - share[cell])
        settled_levels[level] = settled
        # What the next level looks at.
        begin, end = due_ends[level - 1] if level > 0 else 0, due_ends[level]
        refresh(indptr, indices, chances, due, begin, end, values, means)
        if learn:
            refresh(indptr, indices, chances, due, begin, end, share, part)


@kernel
def new_values(model: Model, schedule: Schedule, values: Floats) -> Values:
    """The state before the first sweep: shares as if moves always succeeded, and the means that the goal looks at.

    Other means are infinite: moves beyond the window of levels do not count until it gets there.
    """
    (indptr, indices, chances, _), _, gamma = model
    order, ends, due, due_ends = schedule
    count, levels = len(indptr) - 1, len(ends)
    share, means, part = np.empty(len(values)), np.full(count + 1, np.inf), np.zeros(count + 1)
    for level in range(levels):
        for place in range(ends[level - 1] if level > 0 else 0, ends[level]):
            share[order[place]] = gamma**level
        for place in range(due_ends[level - 1] if level > 0 else 0, due_ends[level]):
            part[due[place]] = gamma**level
    refresh(indptr, indices, chances, due, _START, due_ends[min(1, levels - 1)], values, means)
    return Values(values, share, means, part)


@kernel
def value_sweeps(model: Model, factors: Floats, schedule: Schedule, limits: Limits, values: Floats) -> int:
    """Sweep until values have settled: the number of sweeps, negative if they were not enough.

    A window of levels moves outwards: first those nearby, then a few more each sweep, while levels that have settled
    are left out until a last sweep over all.
    """
    enough, nearby, lifted, most = limits
    goal, levels = schedule.order[0], len(schedule.ends)
    state = new_values(model, schedule, values)
    settled = np.zeros(levels, np.bool_)
    still = max(enough, 16 * np.finfo(np.float64).eps / (1 - model.gamma))  # the goal's equation amplifies rounding
    first, last, moved, before = 0, min(levels, nearby), 1.0, 1.0
    known = False  # whether every mean was taken before this sweep
    for count in range(1, most + 1):
        lifting = count <= lifted and moved > still
        window = Window(first, last, lifting, lifting and moved > GOOD_SHARE * before)
        value_sweep(model, factors, schedule, state, window, enough, settled)
        if lifting:
            before = moved
            moved = lift(model, goal, state)
        unsettled = 0
        while unsettled < last and settled[unsettled]:
            unsettled += 1
        lifting = lifting and moved > still
        if unsettled == levels and first == 0 and known and not lifting:
            return count
        known = last == levels
        # While the goal's value still moves, what is farther out would have to be done again.
        if not lifting or count >= nearby:
            last = min(levels, last + FRONT)
        first = 0 if unsettled == last == levels or lifting else max(0, unsettled - 2)
    return -most


@kernel
def evaluate(
    model: Model,
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
    (indptr, indices, chances, pick), stage, gamma = model
    goal = order[0]
    toll[goal], share[goal] = 0.0, 1.0
    sweeps, change = 0, np.inf
    while change > 0.0 and sweeps < most:
        sweeps, change = sweeps + 1, 0.0
        # Outwards from the goal, each cell from the newest values of the others.
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
            scale = 1 / (1 - gamma * remain)  # the chance to remain is solved for
            pay, part = (stage[cell, actions[cell]] + gamma * pay) * scale, gamma * part * scale
            off = abs(pay - toll[cell]) - enough * (1 + abs(pay))
            change = max(change, max(off, abs(part - share[cell]) - enough * part))
            toll[cell], share[cell] = pay, part
    # The goal's own equation, with what all others are in terms of its value.
    row = pick[goal, actions[goal]]
    pay = stage[goal, actions[goal]] + gamma * expected(indptr, indices, chances, row, toll)
    worth = pay / (1 - gamma * expected(indptr, indices, chances, row, share))
    for cell in range(len(order)):
        values[cell] = toll[cell] + share[cell] * worth
    return sweeps


@kernel
def reached(measures: Measures, order: Places, actions: Ints, marks: NDArray[np.bool_]) -> None:
    """Mark the cells from which the goal is reached with some chance under ``actions``; ``marks`` starts with it."""
    indptr, indices, chances, pick = measures
    found = True
    # By level, so that one round finds nearly all; a policy may lead outwards first, hence the rounds.
    while found:
        found = False
        for cell in order:
            row = pick[cell, actions[cell]]
            for place in range(indptr[row], indptr[row + 1]):
                if not marks[cell] and chances[place] > 0 and marks[indices[place]]:
                    marks[cell] = found = True
