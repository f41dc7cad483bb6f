"""Local means local: an agent that is handed only the targets in its own triangle chooses the same goal."""

import numpy as np
import pytest

import tricover as tc
from tests.goals import plain
from tricover.geometry import flat
from tricover.goals import RULES, goal_cells, prepare

GRID = tc.CellGrid(35)


def a_team(rng, agents=24):
    """A network, and positions in which triangles are large, small, turned over, flat, or far from the reference."""
    network = tc.build_network(rng.random((agents, 2)), rng.choice(["fermat", "balanced"]))
    kind = rng.choice(["reference", "near", "anywhere", "lattice"])
    if kind == "reference":
        return network, network.reference
    if kind == "near":
        return network, network.reference + 0.1 * rng.normal(size=(agents, 2))
    if kind == "anywhere":
        return network, rng.uniform(-0.5, 1.5, (agents, 2))
    return network, rng.integers(0, 5, (agents, 2)) / 4  # many flat triangles, and targets on many edges


def a_field(rng, network, positions):
    """Targets: even, in clusters, on a lattice, some of them several times, on agents and on edges of triangles."""
    cells = positions[network.in_neighbors[network.followers]]
    points = np.concatenate(
        [
            rng.random((rng.integers(1, 60), 2)),
            rng.random(2) + 0.02 * rng.normal(size=(rng.integers(1, 60), 2)),
            rng.integers(0, 9, (rng.integers(1, 40), 2)) / 8,
            positions[rng.integers(0, len(positions), 5)],
            (cells[:5, 0] + cells[:5, 1]) / 2,
        ]
    )
    points = np.concatenate([points, points[rng.integers(0, len(points), 20)]])
    weights = [None, rng.random(len(points)), rng.integers(0, 3, len(points)).astype(float)][rng.integers(3)]
    return points, weights


def own_targets(triangle, points, weights, rng):
    """Fresh targets of one agent, chosen by exact arithmetic, in another order; None where it sees none of weight."""
    inside = np.array([j for j in range(len(points)) if plain.holds(triangle, points[j])], dtype=int)
    inside = rng.permutation(inside)
    masses = None if weights is None else weights[inside]
    if not len(inside) or (masses is not None and not masses.any()):
        return None
    return tc.Targets(points[inside], masses)


def check_alike(goal, alone, together, triangle):
    """Goal points equal to the bit, and goal cells too."""
    np.testing.assert_array_equal(alone, together)
    cells = [goal_cells(point[None], triangle[None], GRID) for point in (alone, together)]
    assert cells[0] == cells[1]


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize("goal", RULES)
def test_own_targets_alone_give_the_same_goal(goal, seed):
    rng = np.random.default_rng([seed, 13])
    network, positions = a_team(rng)
    points, weights = a_field(rng, network, positions)
    targets, local_goal = tc.Targets(points, weights), prepare(goal, network)
    triangles = positions[network.in_neighbors[network.followers]]
    together = local_goal(network.followers, triangles, targets)
    for agent, triangle, point in zip(network.followers, triangles, together, strict=True):
        row = np.array([agent])
        np.testing.assert_array_equal(local_goal(row, triangle[None], targets)[0], point)
        own = own_targets(triangle, points, weights, rng)
        if own is not None:
            check_alike(goal, local_goal(row, triangle[None], own)[0], point, triangle)
        check_alike(goal, local_goal(row, triangle[None], targets.within(triangle))[0], point, triangle)


def test_teams_and_fields_of_these_tests_have_what_is_hard():
    """Flat triangles, triangles without targets, without weight, with targets on the edge: each is met often."""
    met = dict.fromkeys(["flat", "empty", "weightless", "on an edge", "in the same place"], 0)
    for seed in range(16):
        rng = np.random.default_rng([seed, 13])
        network, positions = a_team(rng)
        targets = tc.Targets(*a_field(rng, network, positions))
        for triangle in positions[network.in_neighbors[network.followers]]:
            own = targets.within(triangle)
            met["flat"] += flat(triangle)
            met["empty"] += not len(own)
            met["weightless"] += len(own) > 0 and own.weights is not None and not own.weights.any()
            met["in the same place"] += len(np.unique(own.points, axis=0)) < len(own)
            if len(own) and not flat(triangle):
                met["on an edge"] += bool((plain.coordinates(triangle, own.points) == 0).any())
    assert min(met.values()) >= 3, met


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("goal", RULES)
def test_long_lists_are_local_too(goal, weighted):
    """More than 4,096 targets in a triangle are summarised; what is looked at is again the agent's own list alone."""
    rng = np.random.default_rng(3)
    network = tc.build_network(rng.random((20, 2)), "balanced")
    points = np.concatenate([rng.random((40_000, 2)), [0.4, 0.5] + 0.05 * rng.normal(size=(9000, 2))])
    targets = tc.Targets(points, rng.random(len(points)) if weighted else None)
    triangles = network.reference[network.in_neighbors[network.followers]]
    counts = np.diff(targets.members(triangles)[0])
    assert (counts > 4096).sum() >= 2
    assert (counts < 4096).sum() >= 2
    local_goal = prepare(goal, network)
    together = local_goal(network.followers, triangles, targets)
    for agent, triangle, point in zip(network.followers, triangles, together, strict=True):
        own = targets.within(triangle)
        shuffled = rng.permutation(len(own))
        own = tc.Targets(own.points[shuffled], None if own.weights is None else own.weights[shuffled])
        check_alike(goal, local_goal(np.array([agent]), triangle[None], own)[0], point, triangle)
