"""Section IV: states, actions and the decision process of a follower."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tricover.geometry import CellGrid
from tricover.mdp import LocalMDP, Solution
from tricover.paper.claims.claim import Claim, at_most, judged
from tricover.paper.measure import centroids, holders, triangles_of, weights_in
from tricover.paper.study import Study

__all__ = [
    "actions",
    "bellman",
    "cell_count",
    "cells_per_side",
    "cost_of_state",
    "goal_cell",
    "kinds",
    "policy",
    "reward",
    "uncontained",
]

Ints = NDArray[np.int64]
Neighbours: TypeAlias = tuple[frozenset[int], ...]
Solutions: TypeAlias = tuple[tuple[LocalMDP, Solution], ...]


def cell_count(study: Study) -> Claim:
    """|S^C| = 35² = 1225, by counting triples of weights, and one state more."""
    grid, unit = study.grid, 3 * study.grid.resolution
    values = {3 * a - b for a in range(1, grid.resolution + 1) for b in (1, 2)}
    triples = {(i, j, unit - i - j) for i in values for j in values if unit - i - j in values and i % 3 == j % 3}
    found = {tuple(row) for row in grid.thirds.tolist()}
    sides = _outlines(grid)[:, 1:] - _outlines(grid)[:, :1]
    area = float(np.abs(np.linalg.det(sides)).sum())
    beyond = grid.locate([[1.1, -0.1, 0.0], [-0.2, 0.6, 0.6], [0.5, 2.0, -1.5], [9.0, -4.0, -4.0]])
    states = len(set(beyond.tolist()) - set(range(len(grid))))
    return Claim(
        "cells-1225",
        "VI; IV-A, eq. (13)",
        "M_i = 35 gives |S_i^C| = 35² = 1225 cells, and S_i^U is a single state.",
        f"{len(found)} cells, which fill the triangle ({area:.6f} of it), and {states} state for all outside",
        judged(found == triples and len(found) == 1225 and abs(area - 1) < 1e-9 and states == 1),
        f"{int(grid.up.sum())} cells point up and {int((~grid.up).sum())} down.",
    )


def cells_per_side(study: Study) -> Claim:
    """M_i = |W_i|?"""
    size, grid = len(study.grid.weight_set), study.grid
    return Claim(
        "cells-per-side",
        "IV-A against VI",
        "|S_i^C| = M_i² with M_i = |W_i| (IV-A), and 35² for M_i = 35 (VI).",
        f"|W_i| = {size}, {size}² = {size**2}; cells: {len(grid)} = {grid.resolution}²",
        judged(printed=size**2 == len(grid), ours=grid.resolution**2 == len(grid)),
        "M_i is the number of cells per side; W_i has 2M_i - 1 values.",
    )


def _outlines(grid: CellGrid) -> NDArray[np.float64]:
    """Corners (M², 3, 2) of the cells of the triangle (0,0), (1,0), (0,1)."""
    return np.asarray(grid.corners(np.arange(len(grid)))[..., 1:])


def _neighbours(grid: CellGrid) -> Neighbours:
    """Cells that share an edge with each cell, by comparing the edges of all cells."""
    whole = np.rint(grid.corners(np.arange(len(grid))) * grid.resolution).astype(int)
    owners: dict[frozenset[tuple[int, ...]], list[int]] = {}
    for cell, corners in enumerate(map(tuple, row) for row in whole.tolist()):
        first, second, third = corners
        for edge in ((first, second), (second, third), (third, first)):
            owners.setdefault(frozenset(map(tuple, edge)), []).append(cell)
    found: list[set[int]] = [set() for _ in range(len(grid))]
    for cells in owners.values():
        for cell in cells:
            found[cell].update(set(cells) - {cell})
    return tuple(map(frozenset, found))


def kinds(study: Study) -> Claim:
    """Interior, boundary and nodal states."""
    grid = study.grid
    degrees = np.array([len(cells) for cells in _neighbours(grid)])
    counts = [int((degrees == degree).sum()) for degree in (3, 2, 1)]
    same = [len(grid.interior), len(grid.boundary), len(grid.nodal)] == counts
    return Claim(
        "state-kinds",
        "IV-A; Fig. 3",
        "States in S_i^C are interior, boundary or nodal, with three, two or one neighbouring states.",
        f"{counts[0]} interior, {counts[1]} boundary, {counts[2]} nodal",
        judged(same and sum(counts) == len(grid)),
        "Counted by comparing the edges of all cells.",
    )


def actions(study: Study) -> Claim:
    """At most four actions, all within S^C."""
    grid, found = study.grid, _neighbours(study.grid)
    most = 1 + max(map(len, found))
    same = all(set(row[row >= 0].tolist()) == found[cell] for cell, row in enumerate(grid.neighbors))
    return Claim(
        "actions",
        "IV-A",
        "A state in S_i^C has at most four actions: its neighbours across an edge, and staying.",
        f"at most {most} actions",
        judged(most == 4 and same),
    )


def uncontained(study: Study) -> Claim:
    """One successor outside, and inside after one step."""
    run, network = study.walk, study.network
    outside, landed = 0, 0
    for step in range(run.steps):
        away = run.states[step, network.followers] == -1
        weights = weights_in(run.positions[step + 1][network.followers], triangles_of(network, run.positions[step]))
        outside, landed = outside + int(away.sum()), landed + int((weights[away].min(axis=1) > 0).sum())
    single = len(LocalMDP.outside(triangles_of(network, run.desired)[0]).grid)
    return Claim(
        "uncontained",
        "IV-B, Assumption 2",
        "Outside its triangle an agent has M_i = 1 and one action: into the triangle, in one step.",
        f"VI-B: outside {outside} times, inside the triangle one step later {landed} times; |S_i^C| = {single}",
        judged(outside == landed and outside > 0 and single == 1),
        "Triangles are those at the time of the decision; they move on.",
    )


def goal_cell(study: Study) -> Claim:
    """g_i is unique."""
    run, network = study.walk, study.network
    triangles = triangles_of(network, run.desired)
    points = centroids(run.targets.points, triangles)
    cells = study.grid.corners(np.arange(len(study.grid)))
    held = [holders(point, cells @ triangle) for point, triangle in zip(points, triangles, strict=True)]
    return Claim(
        "goal-cell",
        "IV-A",
        "The goal state is the unique cell that holds the goal point h_i.",
        f"the goal points of {held.count(1)} of {len(held)} followers lie in exactly one cell",
        judged(held.count(1) == len(held)),
        "A point on an edge lies in two cells; a fixed rule gives it to one.",
    )


def _solutions(study: Study) -> Solutions:
    """The followers' processes at rest, solved."""
    run, network, control = study.walk, study.network, study.walk.scenario.control
    cells = run.goal_cells[-1, network.followers].tolist()
    triangles = triangles_of(network, run.positions[-1])
    found = [LocalMDP(study.grid, *given, control.alpha, control.beta, control.gamma)
             for given in zip(triangles, cells, strict=True)]  # fmt: skip
    return tuple((process, process.solve()) for process in found)


def _worst_residual(solutions: Solutions, neighbours: Neighbours) -> float:
    """Largest violation of eq. (19), of all followers."""
    return max(_residual(process, solution, neighbours) for process, solution in solutions)


def _residual(process: LocalMDP, solution: Solution, neighbours: Neighbours) -> float:
    """Largest violation of eq. (19) with C(s) by eq. (18), over β."""
    grid, goal, value = process.grid, process.goal_cell, solution.value
    centres = grid.weights @ process.triangle
    costs = process.alpha * np.linalg.norm(centres - centres[goal], axis=1) - process.beta * (
        np.arange(len(grid)) == goal
    )
    best = np.array([min(value[s], *value[list(cells)]) for s, cells in enumerate(neighbours)])
    return float(np.abs(value - costs - process.gamma * best).max() / process.beta)


def bellman(study: Study) -> Claim:
    """Eq. (19), evaluated from scratch."""
    solutions = _solutions(study)
    worst = _worst_residual(solutions, _neighbours(study.grid))
    return Claim(
        "bellman",
        "IV-B, eq. (19)",
        "V_i* solves the Bellman optimality equation on the contained states.",
        f"residual within {at_most(worst, 1e-12)} of β, over {len(solutions)} followers and {len(study.grid)} states",
        judged(worst <= 1e-12),
    )


def cost_of_state(study: Study) -> Claim:
    """C(s, a) or C(s)."""
    solutions = _solutions(study)
    process, _ = solutions[0]
    by_action = process.costs.ndim > 1
    worst = _worst_residual(solutions, _neighbours(study.grid))
    return Claim(
        "cost",
        "IV-B, eq. (19) against (18)",
        "The Bellman equation has a cost C_i(s, a), the definition only C_i(s).",
        f"{process.costs.size} costs for {len(study.grid)} states; residual within {at_most(worst, 1e-12)} of β",
        judged(printed=by_action, ours=worst <= 1e-12),
        "We use C_i(s): what a state costs does not depend on where one goes next.",
    )


def policy(study: Study) -> Claim:
    """Every contained state is led to the goal."""
    grid, solutions = study.grid, _solutions(study)
    leading = longest = 0
    for process, solution in solutions:
        cells, moves = np.arange(len(grid)), 0
        while moves <= grid.diameter and (cells != process.goal_cell).any():
            cells, moves = solution.policy[cells], moves + 1
        leading, longest = leading + int((cells == process.goal_cell).all()), max(longest, moves)
    return Claim(
        "policy",
        "IV-A, eqs. (18), (20)",
        "The optimal policy leads to the goal state g_i.",
        f"from every cell for {leading} of {len(solutions)} followers, in at most {longest} moves",
        judged(leading == len(solutions)),
        f"Two cells are at most 2M - 2 = {grid.diameter} moves apart.",
    )


def reward(study: Study) -> Claim:
    """Any β > 0?"""
    thin, goal = np.array([[0.0, 0.0], [50.0, 0.0], [25.0, 1.0]]), int(study.grid.locate([1 / 3, 1 / 3, 1 / 3]))
    stuck = [
        1 - LocalMDP(study.grid, thin, goal, beta=beta, gamma=0.9).solve().reaching.mean() for beta in (0.01, None)
    ]
    return Claim(
        "reward",
        "IV-A, eq. (18)",
        "A reward β > 0 makes the agent reach the goal state.",
        f"triangle 50:1, γ = 0.9: {stuck[0]:.0%} of the cells stay short with β = 0.01, {stuck[1]:.0%} with ours",
        judged(printed=stuck[0] == 0, ours=stuck[1] == 0),
        "β scales with the triangle by default, so that every cell reaches the goal, with proof.",
    )
