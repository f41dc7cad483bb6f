"""One agent's step, written from the paper point by point: the reference for the loop at every size.

``benchmarks/samples.py`` uses it too, on samples of large teams.
"""

import numpy as np

import tricover as tc


def inside(point, a, b, c):
    turns = [(q[0] - p[0]) * (point[1] - p[1]) - (q[1] - p[1]) * (point[0] - p[0]) for p, q in ((a, b), (b, c), (c, a))]
    return min(turns) >= 0 or max(turns) <= 0


def coordinates(point, a, b, c):
    return np.linalg.solve(np.array([[a[0], b[0], c[0]], [a[1], b[1], c[1]], [1, 1, 1]]), [point[0], point[1], 1])


def cell_of(weights, grid):
    """The cell whose corners hold the point, tried one by one."""
    for cell in range(len(grid)):
        if np.linalg.solve(grid.corners(cell).T, weights).min() >= 0:
            return cell
    return -1


def next_position(agent, positions, neighbors, targets, grid, motion, draw):
    corners = [positions[j] for j in neighbors]
    seen = [target for target in targets if inside(target, *corners)]
    goal = np.mean(seen, axis=0) if seen else np.mean(corners, axis=0)
    if motion == "reach":
        return goal
    state = cell_of(coordinates(positions[agent], *corners), grid)
    if state < 0:
        around = np.array(corners)
    else:
        goal_cell = cell_of(coordinates(goal, *corners), grid)
        step = tc.LocalMDP(grid, np.array(corners), goal_cell).solve().policy[state]
        around = grid.corners(int(step)) @ np.array(corners)
    centre = around.mean(axis=0)
    if draw is None:
        return centre
    first, second, third = centre + 0.85 * (around - centre)
    root, share = np.sqrt(draw[0]), draw[1]
    return (1 - root) * first + root * (1 - share) * second + root * share * third
