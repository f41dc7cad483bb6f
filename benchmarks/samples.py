"""Results at every size, beside the plain reference loop of the tests on random samples of the followers.

The sample's positions after a step are worked out one by one, from what an agent knows: its own position, those of its
three in-neighbours, and the targets in the triangle, found by trying all of them.
"""

from collections.abc import Iterator

import numpy as np
from tests.simulation.plain import next_position

import tricover as tc
from benchmarks.compare import Row, power, quick

SAMPLE, STEPS, RESOLUTION = 50, (0, 2, 5), 35


def rows() -> Iterator[Row]:
    for agents in (1000, 10_000, 100_000) if quick() else (1000, 10_000, 100_000, 1_000_000):
        for motion in ("reach", "walk"):
            apart = difference(agents, max(agents, 10_000), motion)
            what = f"{motion}, {power(agents)} agents, {SAMPLE} of them at {len(STEPS)} steps"
            yield Row(f"differs by: {what}", f"{apart:.2g}", "plain loop", apart, 1e-9, at_most=True)


def difference(agents: int, targets: int, motion: str, sample: int = SAMPLE) -> float:
    """The largest distance between a sampled agent and its twin in the plain loop, in a field of size 1."""
    rng = np.random.default_rng(agents)
    points, grid = rng.random((targets, 2)), tc.CellGrid(RESOLUTION)
    run = tc.simulate(
        tc.Scenario(
            reference=rng.random((agents, 2)),
            targets=points,
            network={"mentee": "balanced"},
            control={"motion": motion, "resolution": RESOLUTION},
            steps=max(STEPS) + 1,
            stop_when_settled=False,
        )
    )
    chosen = rng.choice(run.network.followers, min(sample, len(run.network.followers)), replace=False)
    pairs = [(step, agent) for step in STEPS for agent in chosen]
    apart = [alone(run, *pair, points, grid) - run.positions[pair[0] + 1, pair[1]] for pair in pairs]
    return float(np.linalg.norm(apart, axis=1).max())


def alone(run: tc.Run, step: int, agent: int, points: np.ndarray, grid: tc.CellGrid) -> np.ndarray:
    """Where the plain loop sends an agent. Targets outside the box around its triangle are not in it."""
    positions, neighbors = run.positions[step], run.network.in_neighbors[agent]
    corners = positions[neighbors]
    near = ((points >= corners.min(axis=0)) & (points <= corners.max(axis=0))).all(axis=1)
    return next_position(agent, positions, neighbors, points[near], grid, run.scenario.control.motion, None)
