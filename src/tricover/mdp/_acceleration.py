"""Anderson's acceleration of sweeps, compiled.

Sweeps map values x to g(x). With f = g(x) - x, the next values are the combination of the last results g whose
changes f cancel best, by least squares. Where sweeps are linear that is what GMRES does with the same memory.
"""

from typing import NamedTuple

import numpy as np

from tricover.compiled import inlined, kernel
from tricover.mdp._kernels import Floats

PAST = 4  # sweeps that are combined; with 8 plans in gusts took 6% less time, with 2 6% more
ASTRAY = 4.0  # where squared changes grow by more, a combination led astray


class Past(NamedTuple):
    """What the last sweeps did."""

    last: Floats
    """(4, S) of the last sweep: values before, weighted change, values after, means after."""
    changes: Floats
    """(PAST, S) differences of the weighted changes."""
    steps: Floats
    """(PAST, S) differences of the values after sweeps."""
    means: Floats
    """(PAST, S) differences of the means after sweeps."""
    weights: Floats
    """(S,) of changes."""
    size: Floats
    """(1,) the last squared change."""
    gram: Floats
    lower: Floats
    right: Floats
    theta: Floats


@kernel
def new_past(states: int) -> Past:
    """Room for what sweeps did."""
    a, b, c = np.empty((PAST, states)), np.empty((PAST, states)), np.empty((PAST, states))
    gram, lower = np.empty((PAST, PAST)), np.empty((PAST, PAST))
    right, theta = np.empty(PAST), np.empty(PAST)
    return Past(np.empty((4, states)), a, b, c, np.empty(states), np.empty(1), gram, lower, right, theta)


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
def extrapolate(past: Past, kept: int, count: int, values: Floats, means: Floats) -> int:
    """After sweep number ``count``, from past.last[0] to ``values``: go on to the best combination of the last.

    ``kept`` differences are known; returns how many are now. What is linear in the values goes with them as ``means``
    (S,); it may be empty.
    """
    x, f, g, y = past.last[0], past.last[1], past.last[2], past.last[3]
    states, at = len(values), (count - 2) % PAST
    if count > 1:
        for state in range(states):
            now = (values[state] - x[state]) * past.weights[state]
            past.changes[at, state] = now - f[state]
            past.steps[at, state] = values[state] - g[state]
            f[state], g[state] = now, values[state]
        for state in range(len(means)):
            past.means[at, state] = means[state] - y[state]
            y[state] = means[state]
        kept = min(kept + 1, PAST)
    else:
        past.size[0] = np.inf
        for state in range(states):
            f[state], g[state] = (values[state] - x[state]) * past.weights[state], values[state]
        y[: len(means)] = means
    size = dot(f, f)
    if size > ASTRAY * past.size[0]:  # begin anew from here
        kept = 0
    past.size[0] = size
    if kept > 0:
        combine(past, kept, at)
    for j in range(kept):
        k = (at - j) % PAST
        theta = past.theta[j]
        for state in range(states):
            values[state] -= theta * past.steps[k, state]
        for state in range(len(means)):
            means[state] -= theta * past.means[k, state]
    return kept


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
