"""Networks inside first cells that were agreed on: against exact arithmetic, and against Algorithm 1 from the hull."""

from fractions import Fraction

import networkx
import numpy as np
import pytest

import tricover as tc
from tests.network import oracle
from tricover.network import network_in_frame


def first_cells_of(network):
    """The first cell (N,) of each living follower, up the parents; cell h begins with boundary agent h."""
    cells = np.full(len(network), -1)
    rank = {int(agent): place for place, agent in enumerate(network.boundary)}
    for layer in network.layers[1:]:
        for agent in layer.tolist():
            corners = network.in_neighbors[agent].tolist()
            above = max(corners, key=lambda corner: network.layer[corner])
            cells[agent] = cells[above] if network.layer[agent] > 1 else rank[corners[0]]
    return cells


def a_star(seed, followers=30):
    """Places (N, 2), boundary, core and first cells of a polygon with a dent, which is a star around the core."""
    rng = np.random.default_rng(seed)
    angles = np.arange(6) * np.pi / 3 + 0.2
    corners = np.stack([np.cos(angles), np.sin(angles)], 1) * np.array([1.0, 0.4, 1.0, 0.9, 0.35, 1.0])[:, None]
    places, cells = [*corners, np.zeros(2)], [-1] * 7
    for _ in range(followers):
        cell = int(rng.choice([0, 1, 2, 4, 5]))  # one first cell has nobody
        places.append(rng.dirichlet([1, 1, 1]) @ np.array([corners[cell], corners[(cell + 1) % 6], [0, 0]]))
        cells.append(cell)
    order = rng.permutation(len(places))
    row = np.argsort(order)
    return np.array(places)[order], row[:6], int(row[6]), np.array(cells)[order]


@pytest.mark.parametrize("mentee", ["fermat", "balanced"])
@pytest.mark.parametrize("seed", range(6))
def test_where_the_frame_is_the_hull_it_is_the_network_of_the_team(seed, mentee):
    rng = np.random.default_rng(seed)
    reference = rng.random((40, 2))
    alive = rng.random(40) < (1.0 if seed % 2 else 0.8)
    expected = tc.build_network(reference, mentee, alive=alive)
    expected = tc.build_network(reference, mentee, core=expected.core, alive=alive)
    cells = first_cells_of(expected)
    for turn in range(len(expected.boundary)):  # wherever the boundary begins
        shift = np.where(cells >= 0, (cells - turn) % len(expected.boundary), -1)
        boundary = np.roll(expected.boundary, -turn)
        found = network_in_frame(reference, boundary, expected.core, shift, mentee, alive)
        if alive.all():  # the lost are ranked with the others there, and are nobody's members here
            assert found == expected
            np.testing.assert_array_equal(found.descendants, expected.descendants)
        np.testing.assert_array_equal(found.boundary, expected.boundary)
        np.testing.assert_array_equal(found.lost, np.flatnonzero(~alive))


@pytest.mark.parametrize("mentee", ["fermat", "balanced"])
@pytest.mark.parametrize("seed", range(4))
def test_every_follower_is_strictly_inside_the_triangle_of_those_it_hears(seed, mentee):
    """In exact arithmetic, in a polygon that is not convex; everybody below a first cell belongs to it."""
    places, boundary, core, cells = a_star(seed)
    network = network_in_frame(places, boundary, core, cells, mentee, np.ones(len(places), bool))
    exact = oracle.as_fractions(places)
    for agent in network.followers.tolist():
        corners = network.in_neighbors[agent].tolist()
        weights = oracle.weights(exact[agent], [exact[corner] for corner in corners])
        assert min(weights) > Fraction(0)
        assert max(network.layer[corners]) == network.layer[agent] - 1
    np.testing.assert_array_equal(
        first_cells_of(network)[network.followers],
        (cells[network.followers] - int(np.argmin(boundary))) % len(boundary),
    )
    assert network.boundary[0] == boundary.min()
    assert network.core == core


@pytest.mark.parametrize("seed", range(4))
def test_it_can_be_written_down_and_is_a_network_to_others(seed):
    places, boundary, core, cells = a_star(seed)
    alive = np.ones(len(places), bool)
    alive[np.flatnonzero(cells >= 0)[::7]] = False
    network = network_in_frame(places, boundary, core, cells, "balanced", alive)
    assert tc.Network.from_json(network.to_json()) == network
    graph = network.to_networkx()
    assert networkx.is_directed_acyclic_graph(graph)
    assert tc.Network.from_networkx(graph) == network
    heard = dict(graph.in_degree())
    for agent in range(len(network)):
        assert heard.get(agent, 0) == (3 if network.layer[agent] > 0 else 0)
    np.testing.assert_array_equal(network.layer >= 0, alive)


@pytest.mark.parametrize("seed", range(3))
def test_numbers_of_descendants_add_up(seed):
    places, boundary, core, cells = a_star(seed, followers=50)
    network = network_in_frame(places, boundary, core, cells, "balanced", np.ones(len(places), bool))
    tops = network.layers[1]
    assert (1 + network.descendants[tops].sum(axis=1)).sum() == len(network.followers)
    sizes = np.bincount(cells[cells >= 0], minlength=6)
    of_top = {int(first_cells_of(network)[top]): 1 + int(network.descendants[top].sum()) for top in tops}
    turn = int(np.argmin(boundary))
    assert {cell: size for cell, size in enumerate(np.roll(sizes, -turn).tolist()) if size} == of_top


def test_an_empty_frame_is_a_network_of_anchors():
    corners = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [1.0, 1.0]])
    network = network_in_frame(corners, np.arange(3), 3, np.full(4, -1), "fermat", np.ones(4, bool))
    assert network.depth == 0
    assert network.anchors.tolist() == [0, 1, 2, 3]
    assert not network.followers.size
