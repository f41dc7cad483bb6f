"""Forbidden cells and terrain: beside QuantEcon on the same process, NetworkX on the same graph, walks in fractions."""

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from quantecon.markov import DiscreteDP
from tests.safety.fields import polygon

import tricover as tc
from tricover import mdp
from tricover.errors import InputError
from tricover.geometry import as_zones, combine
from tricover.mdp.cost import default_beta

GENERAL = ["value_iteration", "policy_iteration", "modified_policy_iteration"]
TRIANGLE = np.array([[0.0, 0.0], [7.0, 1.0], [2.0, 6.0]])


def graph(grid, blocked):
    found = nx.Graph()
    free = [cell for cell in range(len(grid)) if cell not in blocked]
    found.add_nodes_from(free)
    found.add_edges_from((a, int(b)) for a in free for b in grid.neighbors[a] if b >= 0 and b not in blocked)
    return found


def random_case(rng, size, share=0.35):
    grid = tc.CellGrid(size)
    blocked = np.flatnonzero(rng.random(len(grid)) < share)
    goal = int(rng.integers(len(grid)))
    return grid, np.setdiff1d(blocked, [goal]), goal


def maze(size):
    """Walls across all rows but one end each: walks to the goal lead through nearly every free row."""
    grid = tc.CellGrid(size)
    rows = size - 1 - grid.coordinates[:, 0]
    walls = []
    for row in range(3, size - 1, 4):
        cells = np.flatnonzero((rows == row) | (rows == row + 1))
        side = grid.coordinates[cells, 1] if (row // 4) % 2 else grid.coordinates[cells, 2]
        walls.append(cells[side > 0])
    return grid, np.concatenate(walls)


@pytest.mark.parametrize("slip", [0.0, 0.15])
@pytest.mark.parametrize("seed", range(6))
def test_quantecon_agrees_on_the_same_forbidden_cells(seed, slip):
    rng = np.random.default_rng(seed)
    grid, blocked, goal = random_case(rng, 6)
    kernel = mdp.slip(grid, slip) if slip else None
    terrain = rng.uniform(0, 3, len(grid)) if seed % 2 else None
    beta = 40.0 if seed % 3 == 2 else None
    process = tc.LocalMDP(grid, TRIANGLE, goal, beta=beta, kernel=kernel, blocked=blocked, terrain=terrain)
    expected = -DiscreteDP(*process.to_quantecon()).solve(method="policy_iteration", max_iter=60).v
    reaches = nx.node_connected_component(graph(grid, set(blocked.tolist())), goal)
    lost = np.setdiff1d(np.arange(len(grid)), list(reaches))
    for solver in [None, *GENERAL, *([] if slip else ["exact"])]:
        found = process.solve(solver)
        assert np.allclose(found.value, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max()), solver
        assert np.array_equal(found.policy[lost], lost)
        assert not np.isin(found.policy[list(reaches)], blocked).any()
        if beta is None:
            assert found.reaches_goal
            assert set(np.flatnonzero(found.reaching).tolist()) == reaches
    # What QuantEcon is handed has no action into a forbidden cell, and nothing ends in one that did not begin there.
    _, chances, _, states, _ = process.to_quantecon()
    inwards = chances.tocoo()
    ends = np.isin(inwards.col[inwards.data > 0], blocked)
    assert (states[inwards.row[inwards.data > 0]][ends] == inwards.col[inwards.data > 0][ends]).all()
    transitions, costs = process.to_matrices()
    assert all(np.allclose(matrix.sum(axis=1), 1) for matrix in transitions)
    assert np.array_equal(costs[:, 0], process.costs)


def test_who_would_slip_into_a_forbidden_cell_stays():
    grid = tc.CellGrid(3)
    process = tc.LocalMDP(grid, TRIANGLE, 0, kernel=mdp.slip(grid, 0.3), blocked=[5])
    kernel = process.problem.kernel
    # From 4 to 1 (a neighbour): 1 has the neighbours 2 and 5 on its row's end, and of these 5 is forbidden.
    assert grid.neighbors[1].tolist().count(5) == 1
    action = grid.neighbors[2].tolist().index(1)
    row = kernel.matrix[[4 * 2 + action]].toarray()[0]
    slipping = 0.3 / grid.degrees[1]
    assert row[1] == pytest.approx(0.7)
    assert row[5] == 0
    assert row[2] == pytest.approx(0.3)  # slips back to 2, and stays in 2 instead of 5
    assert slipping * 2 == pytest.approx(0.3)


@pytest.mark.parametrize("gamma", [0.6, 0.95])
@pytest.mark.parametrize("size", [7, 12])
def test_a_maze_is_walked_to_its_end_by_a_shortest_walk(size, gamma):
    """Walks are several times as long as any without walls: the reward must grow with them."""
    grid, walls = maze(size)
    free = graph(grid, set(walls.tolist()))
    goal = int(max(nx.node_connected_component(free, 0), key=lambda cell: nx.shortest_path_length(free, 0, cell)))
    process = tc.LocalMDP(grid, TRIANGLE, goal, gamma=gamma, blocked=walls)
    moves = nx.single_source_shortest_path_length(free, goal)
    assert max(moves.values()) > 1.3 * (2 * size - 2)
    found = process.solve()
    assert found.reaches_goal
    for cell in moves:
        assert len(found.path(cell)) == moves[cell] + 1
        assert found.path(cell)[-1] == goal
    units = process.beta / tc.LocalMDP(grid, TRIANGLE, goal, gamma=gamma, beta=1.0)._unit
    assert units == pytest.approx(sum(gamma**-k for k in range(max(moves.values()) + 1)))
    small = 1e-280 ** (2 / (2 * size - 2 + max(moves.values())))  # enough without walls, and not with them
    tc.LocalMDP(grid, TRIANGLE, goal, gamma=small)
    with pytest.raises(InputError, match="overflows"):
        tc.LocalMDP(grid, TRIANGLE, goal, gamma=small, blocked=walls)


def test_the_reward_for_walks_without_walls_is_not_enough_in_a_maze():
    """So the proof needs the levels of the graph that is left: with 2M - 2 alone, far cells stay where they are."""
    grid, walls = maze(12)
    thin = np.array([[0.0, 0.0], [30.0, 0.5], [30.0, 0.0]])
    goal, gamma = len(grid) - 1, 0.6
    whole = tc.LocalMDP(grid, thin, goal, gamma=gamma, blocked=walls)
    small = tc.LocalMDP(grid, thin, goal, gamma=gamma, blocked=walls, beta=default_beta(12, gamma) * whole._unit)
    assert whole.solve().reaches_goal
    assert not small.solve().reaches_goal


@pytest.mark.parametrize("seed", range(5))
def test_of_all_shortest_walks_the_cheapest_is_taken(seed):
    """By brute force over all of them, in fractions."""
    rng = np.random.default_rng(seed)
    grid, blocked, goal = random_case(rng, 5, 0.2)
    terrain = rng.uniform(0, 2, len(grid)) if seed % 2 else None
    process = tc.LocalMDP(grid, TRIANGLE, goal, blocked=blocked, terrain=terrain)
    free, found = graph(grid, set(blocked.tolist())), process.solve()
    costs = [Fraction(cost) for cost in process.costs.tolist()]
    for start in nx.node_connected_component(free, goal) - {goal}:
        walks = list(nx.all_shortest_paths(free, start, goal))
        price = {
            tuple(walk): sum(Fraction(process.gamma) ** k * costs[c] for k, c in enumerate(walk[:-1])) for walk in walks
        }
        taken = tuple(found.path(start).tolist())
        assert taken in price
        assert price[taken] <= min(price.values()) * (1 + Fraction(1, 10**9))


def test_terrain_is_gone_around_where_the_reward_lets_it():
    grid = tc.CellGrid(8)
    rough = np.zeros(len(grid))
    start, goal = 0, int(np.flatnonzero((grid.coordinates == [0, 4, 3]).all(axis=1))[0])
    plain = tc.LocalMDP(grid, TRIANGLE, goal, beta=5.0, gamma=0.99).solve().path(start)
    rough[plain[5:9]] = 50.0
    around = tc.LocalMDP(grid, TRIANGLE, goal, beta=5.0, gamma=0.99, terrain=rough).solve()
    assert rough[plain].sum() > 0
    assert rough[around.path(start)].sum() == 0
    assert around.reaches_goal


def test_what_suffices_on_plain_ground_need_not_on_rough_ground():
    """Around cells as rough as these an optimal walk is longer than a shortest one: QuantEcon says so, too."""
    grid = tc.CellGrid(6)
    rough = np.zeros(len(grid))
    plain = tc.LocalMDP(grid, TRIANGLE, len(grid) - 1, gamma=0.9)
    path = plain.solve().path(0)
    rough[path[3:-2]] = 1000 * plain._unit
    process = tc.LocalMDP(grid, TRIANGLE, len(grid) - 1, beta=plain.beta, gamma=0.9, terrain=rough)
    assert process.beta == plain.beta
    expected = -DiscreteDP(*process.to_quantecon()).solve(method="policy_iteration", max_iter=60).v
    assert np.allclose(process.solve().value, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    assert process.solve().iterations > 1  # no single pass over shortest walks
    whole = tc.LocalMDP(grid, TRIANGLE, len(grid) - 1, gamma=0.9, terrain=rough)
    assert whole.beta == pytest.approx(1001 * plain.beta)
    assert len(whole.solve().path(0)) == len(path)  # the default leads by a shortest walk


@pytest.mark.parametrize("resolution", [1, 4, 9])
def test_no_forbidden_cells_change_no_bit(resolution):
    grid = tc.CellGrid(resolution)
    for kernel in (None, mdp.slip(grid, 0.1)):
        plain = tc.LocalMDP(grid, TRIANGLE, 0, kernel=kernel)
        for nothing in ([], np.zeros(len(grid), bool)):
            same = tc.LocalMDP(grid, TRIANGLE, 0, kernel=kernel, blocked=nothing, terrain=np.zeros(len(grid)))
            assert same.beta == plain.beta
            assert np.array_equal(same.solve().value, plain.solve().value)
            assert np.array_equal(same.solve().policy, plain.solve().policy)


def test_a_mask_and_numbers_are_the_same_and_actions_know():
    grid = tc.CellGrid(4)
    mask = np.zeros(16, bool)
    mask[[2, 6]] = True
    by_mask, by_number = (tc.LocalMDP(grid, TRIANGLE, 10, blocked=given) for given in (mask, [2, 6]))
    assert np.array_equal(by_mask.solve().value, by_number.solve().value)
    assert by_mask.actions(6).tolist() == [6]
    assert set(by_mask.actions(7).tolist()) == {7, 8, *grid.neighbors[7][grid.neighbors[7] >= 0]} - {6}
    mask[3] = True  # ours is a copy
    assert not by_mask.blocked[3]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"blocked": [3]}, "goal cell 3 is blocked"),
        ({"blocked": [16]}, "blocked cell 16 is out of range"),
        ({"blocked": np.zeros(3, bool)}, r"shape \(16,\)"),
        ({"blocked": [0.5]}, "whole number"),
        ({"terrain": [1.0]}, "terrain must be 16 costs"),
        ({"terrain": [-1.0] + [0.0] * 15}, "terrain of cell 0 is no cost"),
        ({"terrain": [0.0] * 15 + [np.inf]}, "terrain of cell 15"),
    ],
)
def test_what_cannot_be_is_named(given, words):
    with pytest.raises(InputError, match=words):
        tc.LocalMDP(tc.CellGrid(4), TRIANGLE, 3, **given)


def test_ties_are_broken_as_in_the_whole_process():
    """A symmetric triangle has many; a zone at its top takes nothing from its symmetry."""
    triangle = np.array([[0.0, np.sqrt(3.0)], [-1.0, 0.0], [1.0, 0.0]])
    grid, zones = tc.CellGrid(6), as_zones([[[-0.01, 1.72], [0.01, 1.72], [0.0, 1.8]]])
    blocked = zones.cells(triangle[None], grid)[0]
    free, centres = np.flatnonzero(~blocked), grid.weights @ triangle
    assert blocked.any()
    for goal in free:
        policy = tc.LocalMDP(grid, triangle, int(goal), blocked=blocked).solve().policy
        everywhere = np.repeat(triangle[None], len(free), axis=0)
        points = np.repeat(centres[goal : goal + 1], len(free), axis=0)
        assert np.array_equal(mdp.moves_around(zones, grid, centres[free], everywhere, points).next, policy[free])


@pytest.mark.parametrize("beta", [None, 3.0])
def test_many_agents_move_as_the_whole_process_of_each_says(beta):
    """Around zones: forbidden cells, reachable goals and next moves, to the bit; agents in a batch or alone."""
    rng = np.random.default_rng(5)
    seen = np.zeros(4, int)
    for _ in range(60 if beta is None else 15):
        grid = tc.CellGrid(int(rng.integers(1, 14)))
        zones = as_zones([polygon(rng, rng.uniform(0, 10, 2), rng.uniform(0.3, 4), 6) for _ in range(2)])
        triangles = np.repeat(rng.uniform(0, 10, (1, 3, 2)), 6, axis=0)
        if abs(np.linalg.det(np.diff(triangles[0], axis=0))) < 1:
            continue
        weights = rng.dirichlet(np.ones(3), 12)
        places, points = combine(weights[:6], triangles), combine(weights[6:], triangles)
        found = mdp.moves_around(zones, grid, places, triangles, points, beta=beta)
        blocked, wanted = zones.cells(triangles[:1], grid)[0], grid.locate(weights[6:])
        free = graph(grid, set(np.flatnonzero(blocked).tolist()))
        for row, (status, state, goal, following) in enumerate(zip(*found, strict=True)):
            seen[status] += 1
            if status == 0:
                assert not blocked.any()
                continue
            assert state == grid.locate(weights[row])
            one = slice(row, row + 1)
            alone = mdp.moves_around(zones, grid, places[one], triangles[one], points[one], beta=beta)
            assert [part[0] for part in alone] == [status, state, goal, following]
            if blocked[state]:
                continue
            part = sorted(nx.node_connected_component(free, int(state)))
            if wanted[row] in part:
                assert (status, goal) == (1, wanted[row])
            else:
                apart = np.linalg.norm(combine(grid.weights[part], triangles[0]) - points[row], axis=1)
                assert goal == part[int(np.argmin(apart))]
                assert status == (1 if blocked[wanted[row]] else 2)
            whole = tc.LocalMDP(grid, triangles[row], int(goal), beta=beta, blocked=blocked)
            assert following == whole.solve().policy[state]
    assert (seen[:3] > 2).all()
