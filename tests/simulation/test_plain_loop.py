"""The vectorised loop against a plain one, written from the paper agent by agent."""

import numpy as np
import pytest

import tricover as tc
from tests.simulation.plain import next_position
from tests.simulation.teams import extent, team


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
