"""The formations of the paper: the 13-agent example of Section III, and the set-up of Section V with 57 agents."""

from pathlib import Path

import tricover as tc
from tricover.formats import read_points

EXAMPLES = Path(__file__).parents[2] / "examples"


def paper_numbers(agents):
    """The paper counts agents from 1."""
    return {int(agent) + 1 for agent in agents}


def team(count):
    return tc.build_network(read_points(EXAMPLES / f"team-{count}.csv").positions)


def test_layers_of_the_13_agent_example():
    network = team(13)
    assert paper_numbers(network.boundary) == {1, 2, 3, 4}
    assert network.core + 1 == 12
    assert [paper_numbers(agents) for agents in network.layers] == [{1, 2, 3, 4, 12}, {11, 10, 6, 5}, {7, 8, 9, 13}]


def test_in_neighbours_of_the_13_agent_example():
    network = team(13)
    assert {int(i) + 1: paper_numbers(network.in_neighbors[i]) for i in network.followers} == {
        11: {1, 2, 12},
        10: {2, 3, 12},
        6: {3, 4, 12},
        5: {4, 1, 12},
        7: {12, 1, 11},
        8: {3, 4, 6},
        9: {4, 1, 5},
        13: {1, 12, 5},
    }


def test_neural_layers_of_the_13_agent_example():
    first, second, last = team(13).neural_layers()
    assert paper_numbers(first.neurons) == {1, 2, 3, 4, 12}
    assert paper_numbers(second.neurons) == {1, 2, 3, 4, 12, 11, 10, 6, 5}
    assert paper_numbers(last.neurons) == {7, 8, 9, 13}
    assert paper_numbers(second.inputs(0)) == {1}
    assert paper_numbers(last.inputs(6)) == {12, 1, 11}


def test_anchors_of_the_57_agents():
    network = team(57)
    assert len(network) == 57
    assert paper_numbers(network.boundary) == {1, 2, 3, 4}
    assert network.core + 1 == 5
    assert len(network.followers) == 52
