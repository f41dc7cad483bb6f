"""Kernels of the goal rule ``rollout``: simulate the subtree below an agent, and take the place that costs least."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.compiled import kernel
from tricover.goals._kernels import INSET, Rounds, Seen, Work, make_work, search, sector, turned

__all__ = ["Subtrees", "roll_out"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# Followers below an agent: up to FEW it has two rounds of trials, up to MORE one, beyond none. A trial costs about as
# many searches as there are followers, so these limits keep the cost of a whole team near (N + D) log N.
FEW, MORE = 256, 1024
ENOUGH = 128  # targets per agent of the subtree; of more, every second, third … is looked at
BLOCK = 128  # targets whose distances are looked at together: they stay in the fastest cache


class Subtrees(NamedTuple):
    """The network below each agent: mentees of its child cells (N, 3), -1 for none, and followers in them (N, 3)."""

    children: Indices
    below: Floats


class Trial(NamedTuple):
    """Room for the simulation of one subtree."""

    targets: Floats  # (4, L): the top's list, sorted by cell as the simulation goes down
    spare: Floats  # (5, L): the same again, and the child of each target
    stack: Indices  # (S, 3): cells that wait: agent, start and stop of its list
    cells: Floats  # (S, 3, 2): their corners
    team: Floats  # (S, 2): the corners of the top's triangle, then the agents in the order in which they are placed


@kernel
def _turns(followers: int) -> int:
    """How many rounds of trials an agent with so many followers below it can afford."""
    if followers == 0 or followers > MORE:
        return 0
    return 2 if followers <= FEW else 1


@kernel
def _thinned(targets: Floats, start: int, stop: int, most: int) -> Floats:
    """A copy of a list with every k-th target only, so that it has at most so many."""
    stride = max(1, -(-(stop - start) // most))
    return targets[:, start:stop:stride].copy()


@kernel
def _make_trial(triangle: Floats, targets: Floats, size: int) -> Trial:
    """Room for a subtree of so many agents: to place one takes a cell off the stack and puts three on it at most."""
    spare = np.empty((5, targets.shape[1]))
    stack, cells = np.empty((2 * size + 3, 3), np.int64), np.empty((2 * size + 3, 3, 2))
    team = np.empty((size + 3, 2))
    team[:3] = triangle
    return Trial(targets, spare, stack, cells, team)


@kernel
def _split(x: float, y: float, corners: Floats, trial: Trial, start: int, stop: int, cuts: Indices) -> None:
    """Sort a list by child cell, in place and in order; child k is cuts[k] … cuts[k+1]."""
    targets, spare, shape = trial.targets, trial.spare, turned(corners)
    cuts[:] = 0
    # A counting sort: the child of each target and how many each child has, then every target to its place.
    for j in range(start, stop):
        in_0, in_1 = sector(x, y, shape, targets[0, j], targets[1, j])
        k = 0 if in_0 else 1 if in_1 else 2
        spare[4, j] = k
        cuts[k + 1] += 1
    cuts[0] = start
    for k in range(3):
        cuts[k + 1] += cuts[k]
    ends = cuts[:3].copy()
    for j in range(start, stop):
        k = int(spare[4, j])
        for row in range(3):
            spare[row, ends[k]] = targets[row, j]
        ends[k] += 1
    targets[:3, start:stop] = spare[:3, start:stop]


@kernel
def _simulate(top: int, place: Floats, subtrees: Subtrees, rounds: Rounds, work: Work, trial: Trial) -> float:
    """What a subtree costs whose top goes to ``place``, the others predictively.

    Each cell takes its targets from its parent's list, so a level of the subtree costs one pass. Cells wait on a
    stack; the last child is placed first.
    """
    stack, cells, team = trial.stack, trial.cells, trial.team
    cuts, corners, weights = np.empty(4, np.int64), np.empty((3, 2)), np.empty(3)
    stack[0, 0], stack[0, 1], stack[0, 2] = top, 0, trial.targets.shape[1]
    cells[0] = team[:3]
    waiting, placed = 1, 3
    while waiting:
        waiting -= 1
        agent, start, stop = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        corners[:] = cells[waiting]
        if agent == top:
            weights[:] = place
        else:
            search(corners, subtrees.below[agent], trial.targets, start, stop, rounds, work, weights)
        x = weights[0] * corners[0, 0] + weights[1] * corners[1, 0] + weights[2] * corners[2, 0]
        y = weights[0] * corners[0, 1] + weights[1] * corners[1, 1] + weights[2] * corners[2, 1]
        team[placed, 0], team[placed, 1] = x, y
        placed += 1
        _split(x, y, corners, trial, start, stop, cuts)
        for k in range(3):
            child = subtrees.children[agent, k]
            if child >= 0:
                stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = child, cuts[k], cuts[k + 1]
                cells[waiting] = corners
                cells[waiting, k, 0], cells[waiting, k, 1] = x, y
                waiting += 1
    return _cost(team, placed, trial.targets)


@kernel
def _cost(team: Floats, placed: int, targets: Floats) -> float:
    """Summed squared distance of the targets to the nearest of the team.

    Block by block, agent by agent: the innermost loop runs over targets and has no branches.
    """
    nearest, total = np.empty(BLOCK), 0.0
    for start in range(0, targets.shape[1], BLOCK):
        xs, ys, weights = targets[0, start : start + BLOCK], targets[1, start : start + BLOCK], targets[2, start:]
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
    seen: Seen,
    subtrees: Subtrees,
    rounds: Rounds,
    trials: Rounds,
    first: int,
    last: int,
    places: Floats,
) -> None:
    """The places (A, 3), as weights, with which the simulated subtrees cost least, for agents first … last.

    ``places`` holds the predictive ones to start with; ``trials`` are moves away from the best so far.
    """
    for row in range(first, last):
        top = agents[row]
        size = 1 + int(subtrees.below[top].sum())
        start, stop = seen.offsets[row], seen.offsets[row + 1]
        turns = _turns(size - 1)
        if turns == 0 or start == stop:
            continue
        targets = _thinned(seen.targets, start, stop, ENOUGH * size)
        trial, work = _make_trial(seen.triangles[row], targets, size), make_work(rounds, targets.shape[1])
        # Every round starts from the best place so far; the first of equal places is kept.
        best = _simulate(top, places[row], subtrees, rounds, work, trial)
        centre, place = np.empty(3), np.empty(3)
        for turn in range(turns):
            centre[:] = places[row]
            for move in range(trials.starts[turn], trials.starts[turn + 1]):
                place[:] = centre + trials.moves[move]
                if place.min() < INSET:
                    continue
                cost = _simulate(top, place, subtrees, rounds, work, trial)
                if cost < best:
                    best = cost
                    places[row] = place
