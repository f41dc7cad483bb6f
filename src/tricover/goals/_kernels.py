"""Kernels of the goal rules: means, what a subtree will cost for a place of its top agent, the search for the best.

``targets`` (4, L) are lists of targets, one after another: x, y, weight w_j, and spread w_j/√f_j (local density f_j).
``start`` … ``stop`` is one list. ``below`` (3,) are the descendants in each child cell; child k lacks corner k.
"""

import math

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel
from tricover.geometry._triangles import is_flat

__all__ = ["SPREAD", "roll_out", "search_all", "to_means"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

SPREAD = 5 / (18 * math.sqrt(3))
"""G: mean squared distance to the centre of a regular hexagon of area one. n agents leave about G (∫√f)²/n."""
OWN = 0.5  # of an agent: what a child's corners add to its followers
INSET = 0.01  # least weight of a place: on an edge it would flatten a child cell


@kernel
def to_means(weights: Floats, triangles: Floats, first: int, last: int, sums: Floats) -> None:
    """From sums (A, 2) to means over weights (A,); a triangle without weight or area has the mean of its corners."""
    for i in range(first, last):
        counts = weights[i] > 0 and not is_flat(triangles[i])
        for axis in range(2):
            corners = triangles[i, 0, axis] + triangles[i, 1, axis] + triangles[i, 2, axis]
            sums[i, axis] = sums[i, axis] / weights[i] if counts else corners / 3


@kernel
def _child(x: float, y: float, corners: Floats, turn: float, tx: float, ty: float) -> int:
    """The child cell around the place (x, y) that holds a target: the sector between two corners."""
    dx, dy = turn * (tx - x), turn * (ty - y)
    side_0 = (corners[0, 0] - x) * dy - (corners[0, 1] - y) * dx
    side_1 = (corners[1, 0] - x) * dy - (corners[1, 1] - y) * dx
    side_2 = (corners[2, 0] - x) * dy - (corners[2, 1] - y) * dx
    if side_1 >= 0.0 and side_2 < 0.0:
        return 0
    return 1 if side_2 >= 0.0 and side_0 < 0.0 else 2


@kernel
def _turn(corners: Floats) -> float:
    """1 if the corners run counter-clockwise, else -1."""
    ax, ay = corners[1, 0] - corners[0, 0], corners[1, 1] - corners[0, 1]
    bx, by = corners[2, 0] - corners[0, 0], corners[2, 1] - corners[0, 1]
    return 1.0 if ax * by >= ay * bx else -1.0


@kernel
def _nearest(x: float, y: float, corners: Floats, k: int, tx: float, ty: float) -> float:
    """Squared distance of a target to the nearest corner of child k."""
    best = (tx - x) ** 2 + (ty - y) ** 2
    for corner in range(3):
        if corner != k:
            best = min(best, (tx - corners[corner, 0]) ** 2 + (ty - corners[corner, 1]) ** 2)
    return best


@kernel
def _predicted(x: float, y: float, corners: Floats, below: Floats, targets: Floats, start: int, stop: int) -> float:
    """What the subtree will cost with its top agent at (x, y), in summed squared distance."""
    turn = _turn(corners)
    cost, spread = 0.0, np.zeros(3)
    for j in range(start, stop):
        k = _child(x, y, corners, turn, targets[0, j], targets[1, j])
        if below[k] > 0.0:
            spread[k] += targets[3, j]
        else:
            cost += targets[2, j] * _nearest(x, y, corners, k, targets[0, j], targets[1, j])
    for k in range(3):
        cost += SPREAD * spread[k] * spread[k] / (below[k] + OWN)
    return cost


@kernel
def _search(
    corners: Floats,
    below: Floats,
    targets: Floats,
    start: int,
    stop: int,
    moves: Floats,
    rounds: Indices,
    place: Floats,
) -> None:
    """The best place, as weights (3,), coarse to fine: each round of moves starts from the best of those before."""
    best, centre = np.inf, np.empty(3)
    place[:] = 1 / 3
    for turn in range(len(rounds) - 1):
        centre[:] = place
        for move in range(rounds[turn], rounds[turn + 1]):
            a, b, c = centre[0] + moves[move, 0], centre[1] + moves[move, 1], centre[2] + moves[move, 2]
            if min(a, b, c) < INSET:
                continue
            x = a * corners[0, 0] + b * corners[1, 0] + c * corners[2, 0]
            y = a * corners[0, 1] + b * corners[1, 1] + c * corners[2, 1]
            cost = _predicted(x, y, corners, below, targets, start, stop)
            if cost < best:
                best = cost
                place[0], place[1], place[2] = a, b, c


@kernel
def search_all(
    triangles: Floats,
    below: Floats,
    offsets: Indices,
    targets: Floats,
    moves: Floats,
    rounds: Indices,
    first: int,
    last: int,
    places: Floats,
) -> None:
    """The predictive places (A, 3), as weights, of agents first … last."""
    for agent in range(first, last):
        start, stop = offsets[agent], offsets[agent + 1]
        _search(triangles[agent], below[agent], targets, start, stop, moves, rounds, places[agent])


@kernel
def _split(
    x: float, y: float, corners: Floats, lists: Floats, spare: Floats, start: int, stop: int, cuts: Indices
) -> None:
    """Sort a list by child cell, in place and in order; child k is cuts[k] … cuts[k+1]."""
    turn = _turn(corners)
    cuts[:] = 0
    for j in range(start, stop):
        k = _child(x, y, corners, turn, lists[0, j], lists[1, j])
        spare[4, j] = k
        cuts[k + 1] += 1
    cuts[0] = start
    for k in range(3):
        cuts[k + 1] += cuts[k]
    ends = cuts[:3].copy()
    for j in range(start, stop):
        k = int(spare[4, j])
        for row in range(4):
            spare[row, ends[k]] = lists[row, j]
        ends[k] += 1
    lists[:, start:stop] = spare[:4, start:stop]


@kernel
def _simulate(
    top: int,
    place: Floats,
    children: Indices,
    below: Floats,
    lists: Floats,
    spare: Floats,
    moves: Floats,
    rounds: Indices,
    stack: Indices,
    cells: Floats,
    team: Floats,
) -> int:
    """Place a subtree whose top goes to ``place``, the others predictively; returns how many points of ``team`` it has.

    ``team`` starts with the corners of the top's cell, and the agents follow. Each cell takes its targets from its
    parent's list, so a level of the subtree costs one pass. ``stack`` (S, 3): agent, start and stop of its list;
    ``cells`` (S, 3, 2): corners.
    """
    cuts, corners, weights = np.empty(4, np.int64), np.empty((3, 2)), np.empty(3)
    stack[0, 0], stack[0, 1], stack[0, 2] = top, 0, lists.shape[1]
    cells[0] = team[:3]
    waiting, placed = 1, 3
    while waiting:
        waiting -= 1
        agent, start, stop = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        corners[:] = cells[waiting]
        if agent == top:
            weights[:] = place
        else:
            _search(corners, below[agent], lists, start, stop, moves, rounds, weights)
        x = weights[0] * corners[0, 0] + weights[1] * corners[1, 0] + weights[2] * corners[2, 0]
        y = weights[0] * corners[0, 1] + weights[1] * corners[1, 1] + weights[2] * corners[2, 1]
        team[placed, 0], team[placed, 1] = x, y
        placed += 1
        _split(x, y, corners, lists, spare, start, stop, cuts)
        for k in range(3):
            if children[agent, k] >= 0:
                stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = children[agent, k], cuts[k], cuts[k + 1]
                cells[waiting] = corners
                cells[waiting, k, 0], cells[waiting, k, 1] = x, y
                waiting += 1
    return placed


@kernel
def _cost(team: Floats, placed: int, lists: Floats) -> float:
    """Summed squared distance of the targets to the nearest of the team."""
    total = 0.0
    for j in range(lists.shape[1]):
        best = np.inf
        for agent in range(placed):
            best = min(best, (lists[0, j] - team[agent, 0]) ** 2 + (lists[1, j] - team[agent, 1]) ** 2)
        total += lists[2, j] * best
    return total


@kernel
def roll_out(
    agents: Indices,
    triangles: Floats,
    children: Indices,
    below: Floats,
    offsets: Indices,
    targets: Floats,
    moves: Floats,
    rounds: Indices,
    trials: Floats,
    turns: Indices,
    first: int,
    last: int,
    places: Floats,
) -> None:
    """The places (A, 3), as weights, with which the simulated subtrees cost least; below (N, 3) of the whole team.

    ``places`` holds the predictive ones to start with; ``trials`` (K, 3) in rounds ``turns`` are moves away from them.
    """
    for agent in range(first, last):
        top = agents[agent]
        size = 1 + int(below[top].sum())
        lists = targets[:, offsets[agent] : offsets[agent + 1]].copy()
        spare = np.empty((5, lists.shape[1]))
        stack, cells = np.empty((2 * size + 3, 3), np.int64), np.empty((2 * size + 3, 3, 2))
        team = np.empty((size + 3, 2))
        team[:3] = triangles[agent]
        trial, centre = places[agent].copy(), np.empty(3)
        placed = _simulate(top, trial, children, below, lists, spare, moves, rounds, stack, cells, team)
        best = _cost(team, placed, lists)
        for turn in range(len(turns) - 1):
            centre[:] = places[agent]
            for move in range(turns[turn], turns[turn + 1]):
                trial[:] = centre + trials[move]
                if trial.min() < INSET:
                    continue
                placed = _simulate(top, trial, children, below, lists, spare, moves, rounds, stack, cells, team)
                cost = _cost(team, placed, lists)
                if cost < best:
                    best = cost
                    places[agent] = trial
