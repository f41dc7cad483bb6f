"""Kernels of the goal rules: means, what a subtree will cost for a place of its top agent, the search for the best.

``targets`` (4, L) are lists of targets, one after another: x, y, weight w_j, and spread w_j/√f_j (local density f_j).
``start`` … ``stop`` is one list. ``below`` (3,) are the descendants in each child cell; child k lacks corner k.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import inlined, kernel
from tricover.geometry._triangles import is_flat

__all__ = ["SPREAD", "roll_out", "search_all", "to_means"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

SPREAD = 5 / (18 * math.sqrt(3))
"""G: mean squared distance to the centre of a regular hexagon of area one. n agents leave about G (∫√f)²/n."""
LANES = 16  # places that the compiler works on at once
BLOCK = 128  # targets whose distances are looked at together
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
def _turned(corners: Floats) -> Any:
    """Corners as numbers, and 1 if they run counter-clockwise, else -1."""
    ax, ay, bx, by, cx, cy = corners[0, 0], corners[0, 1], corners[1, 0], corners[1, 1], corners[2, 0], corners[2, 1]
    turn = 1.0 if (bx - ax) * (cy - ay) >= (by - ay) * (cx - ax) else -1.0
    return (ax, ay), (bx, by), (cx, cy), turn


@inlined
def _sector(x: float, y: float, turned: Any, tx: float, ty: float) -> Any:
    """Whether a target is in child cell 0, and whether in 1, around the place (x, y): sectors between two corners."""
    (ax, ay), (bx, by), (cx, cy), turn = turned
    dx, dy = turn * (tx - x), turn * (ty - y)
    side_0 = (ax - x) * dy - (ay - y) * dx
    side_1 = (bx - x) * dy - (by - y) * dx
    side_2 = (cx - x) * dy - (cy - y) * dx
    return (side_1 >= 0.0) & (side_2 < 0.0), (side_2 >= 0.0) & (side_0 < 0.0)


# Loops over places have no branches, so that the compiler works on several places at once.


@kernel
def _add_spread(x: float, y: float, spread: float, turned: Any, room: Floats, lanes: int) -> None:
    """Add a target to what its child cell has to cover, for each place."""
    xs, ys, zero, one, two = room[0], room[1], room[3], room[4], room[5]
    for place in range(lanes):
        in_0, in_1 = _sector(xs[place], ys[place], turned, x, y)
        zero[place] += spread if in_0 else 0.0
        one[place] += spread if in_1 else 0.0
        two[place] += 0.0 if in_0 | in_1 else spread


@kernel
def _add_nearest(x: float, y: float, weight: float, below: Floats, turned: Any, room: Floats, lanes: int) -> None:
    """Add what a target costs in a child cell without followers, whose corners have to do, for each place."""
    xs, ys, costs = room[0], room[1], room[2]
    (ax, ay), (bx, by), (cx, cy), _ = turned
    a, b, c = (x - ax) ** 2 + (y - ay) ** 2, (x - bx) ** 2 + (y - by) ** 2, (x - cx) ** 2 + (y - cy) ** 2
    zero, one, two = min(b, c), min(a, c), min(a, b)
    of_0, of_1, of_2 = weight * (below[0] == 0.0), weight * (below[1] == 0.0), weight * (below[2] == 0.0)
    for place in range(lanes):
        in_0, in_1 = _sector(xs[place], ys[place], turned, x, y)
        own = (x - xs[place]) ** 2 + (y - ys[place]) ** 2
        corner = zero if in_0 else one if in_1 else two
        costs[place] += (of_0 if in_0 else of_1 if in_1 else of_2) * (own if own < corner else corner)


@kernel
def _predict(corners: Floats, below: Floats, targets: Floats, start: int, stop: int, room: Floats, lanes: int) -> None:
    """What the subtree will cost with its top agent at each place, in summed squared distance.

    Rows of ``room`` (6, P): x and y of the places; their costs; what each child cell has to cover.
    """
    turned = _turned(corners)
    room[2:] = 0.0
    if below.max() > 0.0:
        for j in range(start, stop):
            _add_spread(targets[0, j], targets[1, j], targets[3, j], turned, room, lanes)
    if below.min() == 0.0:
        for j in range(start, stop):
            _add_nearest(targets[0, j], targets[1, j], targets[2, j], below, turned, room, lanes)
    for k in range(3):
        if below[k] > 0.0:
            for place in range(lanes):
                room[2, place] += SPREAD * room[3 + k, place] ** 2 / (below[k] + OWN)


@kernel
def _search(
    corners: Floats,
    below: Floats,
    targets: Floats,
    start: int,
    stop: int,
    moves: Floats,
    rounds: Indices,
    room: Floats,
    place: Floats,
) -> None:
    """The best place, as weights (3,), coarse to fine: each round of moves starts from the best of those before."""
    best, centre = np.inf, np.empty(3)
    place[:] = 1 / 3
    for turn in range(len(rounds) - 1):
        centre[:] = place
        first, count = rounds[turn], rounds[turn + 1] - rounds[turn]
        lanes = -(-count // LANES) * LANES  # the last place again and again, up to a whole number of vectors
        for lane in range(lanes):
            move = moves[first + min(lane, count - 1)]
            a, b, c = centre[0] + move[0], centre[1] + move[1], centre[2] + move[2]
            room[0, lane] = a * corners[0, 0] + b * corners[1, 0] + c * corners[2, 0]
            room[1, lane] = a * corners[0, 1] + b * corners[1, 1] + c * corners[2, 1]
        _predict(corners, below, targets, start, stop, room, lanes)
        for lane in range(count):
            move = moves[first + lane]
            a, b, c = centre[0] + move[0], centre[1] + move[1], centre[2] + move[2]
            if room[2, lane] < best and min(a, b, c) >= INSET:
                best = room[2, lane]
                place[0], place[1], place[2] = a, b, c


@kernel
def _room(rounds: Indices) -> Floats:
    """Room for the longest round of a search."""
    return np.empty((6, -(-np.diff(rounds).max() // LANES) * LANES))


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
    room = _room(rounds)
    for agent in range(first, last):
        start, stop = offsets[agent], offsets[agent + 1]
        _search(triangles[agent], below[agent], targets, start, stop, moves, rounds, room, places[agent])


@kernel
def _split(
    x: float, y: float, corners: Floats, lists: Floats, spare: Floats, start: int, stop: int, cuts: Indices
) -> None:
    """Sort a list by child cell, in place and in order; child k is cuts[k] … cuts[k+1]."""
    turned = _turned(corners)
    cuts[:] = 0
    for j in range(start, stop):
        in_0, in_1 = _sector(x, y, turned, lists[0, j], lists[1, j])
        k = 0 if in_0 else 1 if in_1 else 2
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
    room: Floats,
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
            _search(corners, below[agent], lists, start, stop, moves, rounds, room, weights)
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
    nearest, total = np.empty(BLOCK), 0.0
    for start in range(0, lists.shape[1], BLOCK):
        xs, ys, weights = lists[0, start : start + BLOCK], lists[1, start : start + BLOCK], lists[2, start:]
        nearest[:] = np.inf
        for agent in range(placed):
            x, y = team[agent, 0], team[agent, 1]
            for j in range(len(xs)):
                distance = (xs[j] - x) ** 2 + (ys[j] - y) ** 2
                nearest[j] = distance if distance < nearest[j] else nearest[j]
        for j in range(len(xs)):
            total += weights[j] * nearest[j]
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
    room = _room(rounds)
    for agent in range(first, last):
        top = agents[agent]
        size = 1 + int(below[top].sum())
        lists = targets[:, offsets[agent] : offsets[agent + 1]].copy()
        spare = np.empty((5, lists.shape[1]))
        stack, cells = np.empty((2 * size + 3, 3), np.int64), np.empty((2 * size + 3, 3, 2))
        team = np.empty((size + 3, 2))
        team[:3] = triangles[agent]
        trial, centre = places[agent].copy(), np.empty(3)
        placed = _simulate(top, trial, children, below, lists, spare, moves, rounds, room, stack, cells, team)
        best = _cost(team, placed, lists)
        for turn in range(len(turns) - 1):
            centre[:] = places[agent]
            for move in range(turns[turn], turns[turn + 1]):
                trial[:] = centre + trials[move]
                if trial.min() < INSET:
                    continue
                placed = _simulate(top, trial, children, below, lists, spare, moves, rounds, room, stack, cells, team)
                cost = _cost(team, placed, lists)
                if cost < best:
                    best = cost
                    places[agent] = trial
