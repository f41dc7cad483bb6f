"""The vectorised loop against a plain one, written from the paper agent by agent."""

import numpy as np
import pytest

import tricover as tc
from tests.simulation.teams import extent, team


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


@pytest.mark.parametrize("motion", ["reach", "walk"])
@pytest.mark.parametrize("vehicle", ["exact", "anywhere"])
@pytest.mark.parametrize("seed", [0, 3, 13])
def test_the_loop_is_what_every_agent_does_on_its_own(motion, vehicle, seed):
    reference, targets = team(seed, agents=14)
    start = reference + np.random.default_rng(seed).normal(size=reference.shape) * 0.05 * extent(reference)
    run = tc.simulate(
        tc.Scenario(
            formation={"positions": reference, "start": start},
            targets=targets,
            control={"motion": motion, "resolution": 5},
            vehicle=vehicle,
            steps=14,
            seed=seed,
        )
    )
    network, grid = run.network, tc.CellGrid(5)
    for step in range(run.steps):
        draws = tc.vehicles.step_draws(seed, step, len(network))
        wanted = run.positions[step].copy()
        wanted[network.anchors] = reference[network.anchors]
        for agent in network.followers:
            draw = draws[agent] if vehicle == "anywhere" and motion == "walk" else None
            neighbors = network.in_neighbors[agent]
            wanted[agent] = next_position(agent, run.positions[step], neighbors, targets, grid, motion, draw)
        np.testing.assert_allclose(run.positions[step + 1], wanted, atol=1e-10 * extent(reference), rtol=1e-12)
