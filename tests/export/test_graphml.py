"""Exported graphs, read back by NetworkX."""

import networkx as nx
import numpy as np
import pytest

import tricover as tc
from tests.export.runs import ORIGIN, assert_on_earth, eventful, interrupted, scenario
from tricover.export import export_run


@pytest.mark.parametrize(
    "made",
    [
        lambda: tc.simulate(scenario()),
        lambda: tc.simulate(eventful()),
        lambda: interrupted(eventful(), 6),
        lambda: tc.simulate(scenario(steps=0)),
    ],
    ids=["plain", "eventful", "interrupted", "unmoved"],
)
def test_networkx_reads_the_network_and_what_came_of_it(made, tmp_path):
    run = made()
    export_run(run, tmp_path / "run.graphml", origin=ORIGIN)
    graph = nx.read_graphml(tmp_path / "run.graphml", node_type=int)
    network = run.network
    assert tc.Network.from_networkx(graph) == network
    assert graph.number_of_edges() == 3 * len(network.followers)

    def column(name):
        return np.array([graph.nodes[agent][name] for agent in range(len(network))])

    for axis, name in enumerate("xy"):
        np.testing.assert_array_equal(column(f"final_{name}"), run.positions[-1, : len(network), axis])
        np.testing.assert_array_equal(column(f"desired_{name}"), run.desired[: len(network), axis])
    on_earth = np.stack([column("longitude"), column("latitude")], axis=-1)
    assert_on_earth(on_earth, run.positions[-1, : len(network)])
    for tail, head, facts in graph.edges(data=True):
        assert network.in_neighbors[head, facts["slot"]] == tail
        if run.steps:
            assert facts["weight"] == run.weights[-1, head, facts["slot"]]
    settled = -1 if run.settled_at is None else run.settled_at
    assert (graph.graph["name"], graph.graph["steps"], graph.graph["settled_at"]) == ("team", run.steps, settled)
