"""The fan of first cells, and how often the boundary goes around the core."""

import numpy as np
import pytest

import tricover as tc
from tricover.network.fan import fan_of, turns_around


@pytest.mark.parametrize("seed", range(5))
def test_first_cells_are_those_of_the_first_layer(seed):
    reference = np.random.default_rng(seed).random((60, 2))
    network = tc.build_network(reference)
    fan = {frozenset(cell) for cell in network.anchors[fan_of(network)].tolist()}
    assert {frozenset(network.in_neighbors[agent].tolist()) for agent in network.layers[1]} <= fan
    assert len(fan) == len(network.boundary)
    assert turns_around(network, reference) == 1


def test_a_polygon_may_go_around_twice():
    angles = np.arange(5) * 2 * np.pi / 5
    corners = np.column_stack([np.cos(angles), np.sin(angles)])
    network = tc.build_network(np.concatenate([corners, [[0.0, 0.0]]]))
    twice = np.concatenate([corners[[0, 2, 4, 1, 3]], [[0.0, 0.0]]])
    assert turns_around(network, np.concatenate([corners, [[0.1, 0.0]]])) == 1
    assert turns_around(network, twice) == 2
