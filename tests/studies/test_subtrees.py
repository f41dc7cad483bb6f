"""How a network is cut: into a top that is closed upwards, and parts that hear of it and of themselves alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tricover as tc
from tests.network.formations import formations
from tricover.studies.subtrees import cut_network


def cut(network, most, whole=0):
    return cut_network(network.in_neighbors, network.layer, network.descendants, most, whole)


def check(network, most, whole=0):
    top, parts = cut(network, most, whole)
    everybody = np.concatenate([top, *parts])
    np.testing.assert_array_equal(np.sort(everybody), network.followers)
    above = set(top.tolist()) | set(network.anchors.tolist())
    assert set(network.in_neighbors[top].ravel().tolist()) <= above
    for part in parts:
        assert 0 < len(part) <= max(most, 1)
        assert (np.diff(part) > 0).all()
        assert set(network.in_neighbors[part].ravel().tolist()) <= above | set(part.tolist())
    # No part, but for the last, has room for another subtree.
    sizes = [len(part) for part in parts]
    largest = 1 + network.descendants[np.concatenate([*parts, top[:0]])].sum(axis=1).max(initial=0)
    assert all(size > most - largest for size in sizes[:-1])
    return top, parts


@given(formations(most=40), st.sampled_from(["fermat", "balanced"]), st.integers(1, 30), st.integers(0, 10))
def test_cuts(reference, mentee, most, whole):
    try:
        network = tc.build_network(reference, mentee)
    except tc.TricoverError:
        return
    check(network, max(most, whole), whole)


@pytest.mark.parametrize("mentee", ["fermat", "balanced"])
def test_the_top_has_whoever_has_many_below(mentee):
    network = tc.build_network(np.random.default_rng(2).random((900, 2)), mentee)
    top, parts = check(network, 60)
    below = network.descendants.sum(axis=1)
    many = network.followers[below[network.followers] >= 60]
    first = np.flatnonzero(network.layer == 1)
    np.testing.assert_array_equal(top, np.union1d(many, first))
    assert len(parts) >= 900 / 60 - 5


def test_small_first_cells_stay_whole():
    network = tc.build_network(np.random.default_rng(5).random((300, 2)), "balanced")
    sizes = 1 + network.descendants.sum(axis=1)
    first = np.flatnonzero(network.layer == 1)
    limit = int(np.median(sizes[first]))
    top, _ = check(network, 300, limit)
    assert len(top) == sum(sizes[agent] if sizes[agent] <= limit else 1 for agent in first)
