"""Losing and gaining agents: a repaired network is the network of whoever is alive."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import tricover as tc
from tests.network import oracle
from tests.network.formations import formations
from tests.network.test_structure import fan_of
from tricover.errors import FormationError, InputError

SOME = settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
RULES = st.sampled_from(["fermat", "balanced"])


def build(points, **how):
    try:
        return tc.build_network(points, **how)
    except FormationError:
        assume(False)


def lose(network, agents):
    try:
        return network.without(agents)
    except FormationError:
        assume(False)


@pytest.mark.parametrize("n", [2, 3])
@given(data=st.data())
@SOME
def test_repair_is_building_anew_with_the_same_roster_and_the_same_living(n, data):
    points, rule = data.draw(formations(n=n, most=24 if n == 2 else 16)), data.draw(RULES)
    network = build(points, mentee=rule)
    alive = np.ones(len(points), bool)
    for _ in range(data.draw(st.integers(1, 3))):
        left = np.flatnonzero(alive).tolist()
        lost = data.draw(st.lists(st.sampled_from(left), unique=True, min_size=1, max_size=max(1, len(left) // 4)))
        alive[lost] = False
        network = lose(network, lost)
        assert network == build(points, mentee=rule, alive=alive)
        assert (network.descendants == build(points, mentee=rule, alive=alive).descendants).all()
        assert network.lost.tolist() == np.flatnonzero(~alive).tolist()


@given(points=formations(), rule=RULES, data=st.data())
@SOME
def test_a_lost_follower_changes_only_the_subtree_it_was_the_top_of(points, rule, data):
    network = build(points, mentee=rule)
    assume(network.followers.size)
    lost = data.draw(st.sampled_from(network.followers.tolist()))
    below = {lost}
    for agents in network.layers[1:]:
        below |= {i for i in agents.tolist() if below & set(network.in_neighbors[i].tolist())}
    repaired = network.without([lost])
    same = [i for i in range(len(points)) if i not in below]
    assert (repaired.in_neighbors[same] == network.in_neighbors[same]).all()
    assert (repaired.layer[same] == network.layer[same]).all()


@given(points=formations(), data=st.data())
@SOME
def test_with_the_papers_rule_repair_is_algorithm_1_on_those_who_are_left(points, data):
    network = build(points)
    lost = data.draw(st.lists(st.integers(0, len(points) - 1), unique=True, min_size=1, max_size=len(points) // 3))
    kept = np.setdiff1d(np.arange(len(points)), lost)
    repaired, alone = lose(network, lost), build(points[kept])
    assert (repaired.layer[kept] == alone.layer).all()
    is_follower = alone.layer > 0
    assert (repaired.in_neighbors[kept[is_follower]] == kept[alone.in_neighbors[is_follower]]).all()


@given(points=formations(), data=st.data())
@SOME
def test_the_balanced_rule_takes_its_mean_over_the_dead_too(points, data):
    network = build(points, mentee="balanced")
    assume(network.followers.size > 1)
    lost = data.draw(st.lists(st.sampled_from(network.followers.tolist()), unique=True, min_size=1))
    repaired = network.without(lost)
    alive = repaired.layer >= 0
    found = {i: (int(repaired.layer[i]), tuple(repaired.in_neighbors[i].tolist())) for i in repaired.followers.tolist()}
    assert found == oracle.layers_below(oracle.as_fractions(points), fan_of(network), "balanced", alive)


def test_joining_agents_take_the_next_numbers_and_the_lost_stay_lost():
    points = np.random.default_rng(1).random((40, 2))
    network = tc.build_network(points, mentee="balanced").without([7, 9])
    joined = network.with_agents([[0.4, 0.6], [0.51, 0.52]])
    assert len(joined) == 42
    assert joined.lost.tolist() == [7, 9]
    alive = np.ones(42, bool)
    alive[[7, 9]] = False
    longer = np.concatenate([points, [[0.4, 0.6], [0.51, 0.52]]])
    assert joined == tc.build_network(longer, mentee="balanced", alive=alive)


def test_a_chosen_core_that_is_lost_is_followed_by_its_nearest_neighbour():
    points = np.array([[0, 0], [9, 0], [9, 9], [0, 9], [3, 3], [3.5, 3], [6, 6], [5, 4]], float)
    network = tc.build_network(points, core=4)
    assert network.core == 4
    assert network.without([4]).core == 5


def test_repair_at_scale_equals_building_anew():
    rng = np.random.default_rng(5)
    points = rng.random((20_000, 2))
    for rule in ("fermat", "balanced"):
        network = tc.build_network(points, mentee=rule)
        alive = np.ones(len(points), bool)
        for _ in range(3):
            lost = rng.choice(np.flatnonzero(alive), 400, replace=False)
            lost = lost[network.layer[lost] > 0]
            alive[lost] = False
            network = network.without(lost)
        assert network == tc.build_network(points, mentee=rule, alive=alive)


def test_errors_name_the_agents():
    network = tc.build_network(np.random.default_rng(2).random((12, 2)))
    with pytest.raises(InputError, match="there is no agent 12: agents are numbered 0 to 11"):
        network.without([3, 12])
    with pytest.raises(InputError, match="already lost: agent 5"):
        network.without([5]).without([5])
    with pytest.raises(InputError, match=r"shape \(K, 2\), not \(1, 3\)"):
        network.with_agents([[1, 2, 3]])
    with pytest.raises(FormationError, match="only 3 agents are left: a network needs at least 4"):
        network.without(range(9))
