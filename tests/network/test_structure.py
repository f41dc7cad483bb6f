"""Algorithm 1 against an oracle in exact arithmetic, on random and degenerate formations."""

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import tricover as tc
from tests.network import oracle
from tests.network.formations import formations
from tricover.errors import FormationError

MANY = settings(max_examples=1200, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


def build(points, **settings):
    """The network, or nothing where the formation has no interior agent or spans no area."""
    try:
        return tc.build_network(points, **settings)
    except FormationError:
        assume(False)


def fan_of(network):
    """The cells of the first layer and everybody in them, from the network itself: {corners: members}."""
    cells = {}
    for agent in network.followers.tolist():
        top = agent
        while network.layer[top] > 1:
            row = network.in_neighbors[top]
            top = int(row[np.argmax(network.layer[row])])
        cells.setdefault(tuple(network.in_neighbors[top].tolist()), []).append(agent)
    return cells


def check_network(network, points):
    exact = oracle.as_fractions(points)
    assert sorted(np.concatenate(network.layers).tolist()) == list(range(len(points)))
    for agent in network.followers.tolist():
        corners = network.in_neighbors[agent].tolist()
        assert (network.layer[corners] < network.layer[agent]).all()
        cell = [exact[c] for c in corners]
        assert oracle.volume(cell) > 0
        assert min(oracle.weights(exact[agent], cell)) >= 0


def check_against_oracle(points, rule):
    network = build(points, mentee=rule)
    check_network(network, points)
    exact = oracle.as_fractions(points)
    expected = oracle.layers_below(exact, fan_of(network), rule, [True] * len(points))
    found = {i: (int(network.layer[i]), tuple(network.in_neighbors[i].tolist())) for i in network.followers.tolist()}
    assert found == expected


@MANY
@given(points=formations(most=14), rule=st.sampled_from(["fermat", "balanced"]))
def test_agrees_with_the_oracle_in_the_plane(points, rule):
    check_against_oracle(points, rule)


@settings(MANY, max_examples=150)
@given(points=formations(n=3, most=14), rule=st.sampled_from(["fermat", "balanced"]))
def test_agrees_with_the_oracle_in_space(points, rule):
    check_against_oracle(points, rule)


@settings(MANY, max_examples=200)
@given(points=formations())
def test_the_core_agrees_with_the_oracle(points):
    network = build(points)
    interior = sorted(set(range(len(points))) - set(network.boundary.tolist()))
    assert network.core == oracle.core_agent(oracle.as_fractions(points), network.boundary.tolist(), interior)


@given(points=formations(), place=st.tuples(st.floats(-2, 2), st.floats(-2, 2)))
@settings(MANY, max_examples=100)
def test_a_core_by_place_is_the_nearest_interior_agent(points, place):
    place = np.array(place) * np.abs(points).max()
    network = build(points, core=place)
    exact, goal = oracle.as_fractions(points), oracle.as_fractions(place[None])[0]
    interior = sorted(set(range(len(points))) - set(network.boundary.tolist()))
    squares = {i: sum((a - b) ** 2 for a, b in zip(exact[i], goal, strict=True)) for i in interior}
    assert network.core == min(interior, key=lambda i: (squares[i], i))


@settings(MANY, max_examples=300)
@given(points=formations())
def test_the_fan_puts_ties_in_the_lowest_cone(points):
    network = build(points)
    exact = oracle.as_fractions(points)
    ring = network.boundary.tolist()
    fan = [(a, b, network.core) for a, b in zip(ring, ring[1:] + ring[:1], strict=True)]
    solid = [cell for cell in fan if oracle.volume([exact[c] for c in cell]) > 0]
    for cell, members in fan_of(network).items():
        for agent in members:
            holding = [c for c in solid if min(oracle.weights(exact[agent], [exact[k] for k in c])) >= 0]
            assert cell == holding[0]
