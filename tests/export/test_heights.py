"""Levels: a colouring, judged by NetworkX and by what is known of some graphs."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tricover.export.heights import colouring


def coloured(graph):
    """The levels of a graph's vertices 0, 1, …"""
    return colouring(np.array(list(graph.edges), np.int64).reshape(-1, 2), len(graph))


def check(graph):
    levels = coloured(graph)
    assert all(levels[one] != levels[two] for one, two in graph.edges)
    numbers = np.bincount(levels)
    assert (numbers > 0).all()
    assert (np.diff(numbers) <= 0).all()  # most are at the lowest
    core = max(nx.core_number(graph).values(), default=0)
    assert len(numbers) <= core + 1  # what smallest last promises
    assert len(numbers) >= max((len(clique) for clique in nx.find_cliques(graph)), default=1)
    return len(numbers)


@given(st.integers(1, 40), st.floats(0, 1), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_neighbours_differ_and_levels_are_few(count, share, seed):
    check(nx.gnp_random_graph(count, share, seed))


@pytest.mark.parametrize("seed", range(6))
def test_graphs_of_near_places(seed):
    """As with real plans: vertices are places, and near ones are joined."""
    levels = check(nx.random_geometric_graph(150, 0.12, seed=seed))
    assert levels <= 13


@pytest.mark.parametrize(
    ("graph", "levels"),
    [
        (nx.empty_graph(7), 1),
        (nx.complete_graph(6), 6),
        (nx.path_graph(50), 2),
        (nx.star_graph(30), 2),
        (nx.cycle_graph(9), 3),
        (nx.balanced_tree(3, 4), 2),
    ],
)
def test_known_graphs(graph, levels):
    assert check(graph) == levels


def test_the_same_every_time_whatever_the_order_of_pairs():
    rng = np.random.default_rng(2)
    pairs = np.unique(np.sort(rng.integers(0, 60, (300, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    levels = colouring(pairs, 60)
    for _ in range(5):
        mixed = rng.permuted(rng.permutation(pairs), axis=1)
        np.testing.assert_array_equal(colouring(mixed, 60), levels)


def test_nobody_has_no_levels():
    assert colouring(np.empty((0, 2), np.int64), 0).tolist() == []
