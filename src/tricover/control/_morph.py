"""Compiled parts of ``morph``: how far an agent may go towards its goal's weights in one step."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel
from tricover.geometry._nesting import least, turn

__all__ = ["Plan", "take_steps"]

Floats = NDArray[np.float64]

_HALVINGS = 8  # a step that would have to be shorter than 1/256 waits
_SLACK = 1 - 1e-9  # of a distance that staying just keeps: rounding shall not forbid to go on


class Plan(NamedTuple):
    """What a step is worked out from, one row per agent.

    Attributes:
        points: where agents are in the plan, (A, 2).
        now: where their in-neighbours are in the plan, (A, 3, 2).
        following: where these will be, (A, 3, 2).
        weights: their own, (A, 3).
        goals: the weights that they want, (A, 3).
        limits: metres that they may go, (A,).
        separations: metres to keep from edges, (A,); 0: none are asked for.
    """

    points: Floats
    now: Floats
    following: Floats
    weights: Floats
    goals: Floats
    limits: Floats
    separations: Floats


@kernel
def _point(weights: Floats, corners: Floats) -> Floats:
    point = np.empty(2)
    for axis in range(2):
        point[axis] = weights[0] * corners[0, axis] + weights[1] * corners[1, axis] + weights[2] * corners[2, axis]
    return point


@kernel
def _share(carried: Floats, own: Floats, limit: float) -> float:
    """The largest share of its own way with which an agent that is carried stays within the limit."""
    cc, cu = carried[0] * carried[0] + carried[1] * carried[1], carried[0] * own[0] + carried[1] * own[1]
    uu, room = own[0] * own[0] + own[1] * own[1], limit * limit - cc
    if uu + 2.0 * cu <= room:
        return 1.0
    if room <= 0.0:
        return 0.0
    root = np.sqrt(cu * cu + uu * room)
    share = room / (cu + root) if cu > 0.0 else (root - cu) / uu
    return float(min(share, 1.0))


@kernel
def _length(corners: Floats, j: int, m: int) -> float:
    return float(np.hypot(corners[m, 0] - corners[j, 0], corners[m, 1] - corners[j, 1]))


@kernel
def _is_clear(
    p: Floats, q: Floats, now: Floats, following: Floats, weights: Floats, new: Floats, goals: Floats, separation: float
) -> bool:
    """Whether the agent is well inside its moving triangle all the way from p to q."""
    t0, t1, t2 = turn(now[0], following[0], now[1], following[1], now[2], following[2])
    smallest, last = least(t0, t1, t2), t0 + t1 + t2
    for k in range(3):
        j, m = (k + 1) % 3, (k + 2) % 3
        c0, c1, c2 = turn(p, q, now[j], following[j], now[m], following[m])
        # Its weight on the way is at least half of the lesser of both ends'.
        half = 0.5 * min(weights[k], new[k])
        if least(max(c0 - half * t0, 0.0), c1 - half * t1, c2 - half * t2) < 0.0:
            return False
        if separation > 0.0:
            before, after = _length(now, j, m), _length(following, j, m)
            kept = min(separation * after, goals[k] * last) / after
            kept = _SLACK * min(kept, weights[k] * smallest / max(before, after))
            if least(c0 - kept * before, c1 - kept * (after - before), c2) < 0.0:
                return False
    return True


@kernel
def take_steps(plan: Plan, first: int, last: int, found: Floats) -> None:
    """New weights (A, 3): the longest of whole, half, quarter … steps towards the goal's that is clear."""
    for i in range(first, last):
        now, following, weights, goals = plan.now[i], plan.following[i], plan.weights[i], plan.goals[i]
        point, kept, goal = plan.points[i], _point(weights, following), _point(goals, following)
        share = _share(kept - point, goal - kept, plan.limits[i])
        found[i] = weights
        for _ in range(_HALVINGS + 1):
            new = goals.copy() if share == 1.0 else weights + share * (goals - weights)
            end = _point(new, following)
            if _is_clear(point, end, now, following, weights, new, goals, plan.separations[i]):
                found[i] = new
                break
            share *= 0.5
