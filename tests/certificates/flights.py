"""Flights made up for the tests, without our control or simulation: random convex combinations of in-neighbours."""

import numpy as np

import tricover as tc


def roster(seed, agents=None):
    """Reference positions: uniform, on a grid, clustered; of ordinary size, tiny, huge, far from the origin."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(8, 60)) if agents is None else agents
    reference = rng.random((count, 2))
    if seed % 3 == 1:
        side = int(np.ceil(np.sqrt(count)))
        reference = np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2) / side
    elif seed % 3 == 2:
        reference[count // 2 :] = 0.5 + 0.05 * rng.normal(size=(count - count // 2, 2))
    scale, shift = [(1, 0), (1e-6, 0), (1e6, 3e6), (40, -7)][seed // 3 % 4]
    return reference * scale + shift


def flight(network, steps, seed=0, least=0.0, start=None):
    """Positions (steps + 1, N, 2) of a team whose followers land at random weights of at least ``least``.

    With ``least`` of a third they land in the middle, and stand still after ``depth`` steps.
    """
    rng = np.random.default_rng([seed, 99])
    positions = [network.reference if start is None else start]
    for _ in range(steps):
        now, after = positions[-1], positions[-1].copy()
        weights = least + (1 - 3 * least) * rng.dirichlet(np.ones(3), len(network.followers))
        corners = now[network.in_neighbors[network.followers]]
        after[network.followers] = (weights[..., None] * corners).sum(axis=1)
        positions.append(after)
    return np.array(positions)


def team(seed, steps=12, agents=None, mentee="balanced", least=0.0):
    network = tc.build_network(roster(seed, agents), mentee=mentee)
    return network, flight(network, steps, seed, least)
