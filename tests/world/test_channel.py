"""How late messages are and which are lost: against chains that are stepped, graphs that are searched, and counts."""

from fractions import Fraction
from itertools import groupby

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tricover.draws import LOSSES, uniforms
from tricover.errors import InputError
from tricover.world import ImperfectChannel, PerfectChannel
from tricover.world.relays import MOST_RELAYS, hops_between, hops_from

LINKS = np.arange(0, 4_000_000_000, 20_000_003)  # 200 of them


def losses(channel, steps, links=LINKS):
    return np.array([channel.lost(step, links) for step in range(steps)])


@pytest.mark.parametrize("chance", [0.05, 0.3, 0.6, 0.95])
def test_independent_losses_have_their_chance_and_do_not_know_of_each_other(chance):
    lost = losses(ImperfectChannel(seed=3, loss=chance), 400)
    error = np.sqrt(chance * (1 - chance) / lost.size)
    assert abs(lost.mean() - chance) < 4 * error
    together = (lost[1:] & lost[:-1]).mean()
    assert abs(together - chance**2) < 8 * error
    assert abs((lost[:, 1:] & lost[:, :-1]).mean() - chance**2) < 8 * error


@pytest.mark.parametrize(("chance", "burst"), [(0.3, 5.0), (0.1, 20.0), (0.6, 2.5), (0.5, 8.0)])
def test_bursts_are_those_of_a_chain_that_is_stepped(chance, burst):
    """Looking back until a draw decides is the same as going forward from step 0."""
    channel = ImperfectChannel(seed=11, loss=chance, burst=burst)
    found = losses(channel, 300)
    stays = 1 - 1 / burst
    turns = chance * (1 - stays) / (1 - chance)
    bad = uniforms(11, LOSSES, 0, LINKS)[:, 0] < chance
    for step in range(300):
        if step:
            drawn = uniforms(11, LOSSES, step, LINKS)[:, 0]
            bad = np.where(bad, drawn < stays, drawn < turns)
        np.testing.assert_array_equal(found[step], bad)


@pytest.mark.parametrize(("chance", "burst"), [(0.3, 5.0), (0.6, 4.0)])
def test_bursts_have_their_length_and_their_chance(chance, burst):
    lost = losses(ImperfectChannel(seed=5, loss=chance, burst=burst), 2000)
    assert abs(lost.mean() - chance) < 0.01
    # Rows at the ends are cut, and there are few of them.
    lengths = [len(list(row)) for link in lost.T for bad, row in groupby(link.tolist()) if bad]
    assert abs(np.mean(lengths) / burst - 1) < 0.03


def test_the_shortest_bursts_are_independent_losses():
    alone, rows = (losses(ImperfectChannel(seed=2, loss=0.2, burst=burst), 50) for burst in (None, 1.25))
    np.testing.assert_array_equal(alone, rows)


def senders_of(positions, count=3):
    """Everybody listens to some others."""
    agents = len(positions)
    return np.array([[(agent + 1 + 7 * k) % agents for k in range(count)] for agent in range(agents)])


def test_messages_take_each_number_of_steps_alike():
    positions = np.zeros((200, 2))
    channel = ImperfectChannel(seed=1, least=2, most=5)
    delays = np.array([channel.delays(step, positions, senders_of(positions)) for step in range(40)])
    counts = np.bincount(delays.ravel(), minlength=6)
    assert (counts[:2] == 0).all()
    assert len(counts) == 6
    assert abs(counts[2:] / delays.size - 0.25).max() < 0.01
    assert channel.history == 5


def test_a_link_has_its_own_luck_whoever_else_listens():
    """What happens to a message depends on its sender, its receiver and its step alone."""
    positions = np.random.default_rng(0).random((20, 2))
    channel = ImperfectChannel(seed=9, least=0, most=6, loss=0.4, burst=3.0)
    senders = senders_of(positions)
    whole = channel.delays(5, positions, senders)
    for agent in range(20):
        alone = np.full_like(senders, -1)
        alone[agent] = senders[agent, ::-1]
        found = channel.delays(5, positions, alone)
        np.testing.assert_array_equal(found[agent], whole[agent, ::-1])
        assert (np.delete(found, agent, axis=0) == -1).all()


def test_who_is_not_there_sends_nothing_and_hears_nothing():
    positions = np.random.default_rng(0).random((20, 2))
    positions[4] = np.nan
    senders = senders_of(positions)
    for channel in (ImperfectChannel(most=3, least=3), ImperfectChannel(radio=5.0)):
        delays = channel.delays(0, positions, senders)
        assert (delays[4] == -1).all()
        assert (delays[senders == 4] == -1).all()
        others = np.ones(senders.shape, bool)
        others[4] = False
        assert (delays[others & (senders != 4)] == channel.most).all()


@pytest.mark.parametrize(
    ("chance", "burst", "links", "steps", "risk"),
    [(0.3, None, 135, 400, 0.01), (0.6, None, 3000, 1000, 1e-6), (0.3, 5.0, 135, 400, 0.01), (0.01, None, 1, 1, 0.5)],
)
def test_the_bound_on_ages_is_the_least_that_does(chance, burst, links, steps, risk):
    """By rational arithmetic: 3FH·p·q^k ≤ δ, and not for any smaller k."""
    channel = ImperfectChannel(most=2, loss=chance, burst=burst)
    late = channel.late_by(links, steps, risk)
    stays, lost = Fraction(channel.stays_bad), Fraction(chance)

    def exceeded(more):
        return links * steps * lost * stays**more > Fraction(risk)

    assert not exceeded(late - 2)
    assert late == 2 or exceeded(late - 3)


def test_ages_exceed_a_bound_as_often_as_is_said():
    """An age above most + k has the chance p·q^k."""
    for channel in (ImperfectChannel(seed=1, loss=0.5), ImperfectChannel(seed=1, loss=0.3, burst=4.0)):
        lost = losses(channel, 3000)
        ages = np.zeros(lost.shape, int)
        ages[0] = lost[0]
        for step in range(1, len(lost)):
            ages[step] = np.where(lost[step], ages[step - 1] + 1, 0)
        for more in range(6):
            chance = channel.loss * channel.stays_bad**more
            assert abs((ages[50:] > more).mean() / chance - 1) < 0.08


def test_without_loss_the_bound_is_the_delay():
    assert ImperfectChannel(least=1, most=4).late_by(10**6, 10**6, 1e-9) == 4
    assert PerfectChannel().late_by(10**6, 10**6, 1e-9) == 0
    assert ImperfectChannel(loss=0.5).late_by(0, 100, 0.01) == 0


def graph_of(positions, radio):
    graph = nx.Graph()
    here = [agent for agent in range(len(positions)) if not np.isnan(positions[agent, 0])]
    graph.add_nodes_from(here)
    for one in here:
        for other in here:
            if one < other and np.hypot(*(positions[one] - positions[other])) <= radio:
                graph.add_edge(one, other)
    return graph


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40), st.floats(0.02, 0.7))
def test_chains_are_the_shortest_in_the_graph_of_who_is_in_range(seed, agents, radio):
    rng = np.random.default_rng(seed)
    positions = rng.random((agents, 2))
    positions[rng.random(agents) < 0.1] = np.nan
    senders, receivers = rng.integers(0, agents, (2, 60))
    senders, receivers = senders[senders != receivers], receivers[senders != receivers]
    graph = graph_of(positions, radio)
    lengths = dict(nx.all_pairs_shortest_path_length(graph))
    expected = [lengths.get(one, {}).get(other, -1) for one, other in zip(senders, receivers, strict=True)]
    np.testing.assert_array_equal(hops_between(positions, senders, receivers, radio, True), expected)
    direct = [hops if hops == 1 else -1 for hops in expected]
    np.testing.assert_array_equal(hops_between(positions, senders, receivers, radio, False), direct)
    sources = rng.integers(0, agents, 3)
    nearest = [min((lengths[one][agent] for one in sources if agent in lengths.get(one, {})), default=-1)
               for agent in range(agents)]  # fmt: skip
    nearest = [0 if agent in sources else hops for agent, hops in enumerate(nearest)]
    np.testing.assert_array_equal(hops_from(positions, sources, radio), nearest)


def test_no_more_agents_than_so_many_pass_a_message_on():
    line = np.stack([np.arange(MOST_RELAYS + 4.0), np.zeros(MOST_RELAYS + 4)], axis=1)
    senders, receivers = np.zeros(len(line) - 1, int), np.arange(1, len(line))
    hops = hops_between(line, senders, receivers, 1.0, True)
    np.testing.assert_array_equal(hops[: MOST_RELAYS + 1], np.arange(1, MOST_RELAYS + 2))
    assert (hops[MOST_RELAYS + 1 :] == -1).all()
    listeners = np.where(np.arange(len(line))[:, None] > 0, 0, -1).repeat(3, axis=1)
    channel = ImperfectChannel(radio=1.0)
    assert channel.delays(0, line, listeners).max() == channel.history == MOST_RELAYS


def test_a_chain_costs_a_step_for_each_agent_that_passes_on():
    line = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
    senders = np.array([[-1, -1, -1], [0, 0, 0], [0, 1, 3], [0, 1, 2]])
    delays = ImperfectChannel(radio=1.0, least=2, most=2).delays(4, line, senders)
    assert delays.tolist() == [[-1] * 3, [2] * 3, [3, 2, 2], [4, 3, 2]]
    assert ImperfectChannel(radio=1.0, relays=False).delays(4, line, senders)[3].tolist() == [-1, -1, 0]


def test_news_come_as_late_as_messages_sent_until_one_arrives():
    positions = np.zeros((20000, 2))
    for channel in (ImperfectChannel(seed=4, loss=0.5), ImperfectChannel(seed=4, loss=0.3, burst=4.0)):
        late = channel.news(1, positions, np.array([0]))
        for more in range(5):
            chance = channel.loss * channel.stays_bad**more
            assert abs((late > more).mean() / chance - 1) < 0.08
        assert not np.array_equal(late, channel.news(2, positions, np.array([0])))
    late = ImperfectChannel(seed=4, least=1, most=3).news(1, positions, np.array([0]))
    assert set(late.tolist()) == {1, 2, 3}


def test_news_go_from_agent_to_agent():
    line = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [9.0, 0.0]])
    late = ImperfectChannel(radio=1.0).news(1, line, np.array([1]))
    assert late.tolist() == [0, 0, 0, 1, np.inf]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"least": 3, "most": 1}, "ascending steps"),
        ({"least": -1}, "ascending steps"),
        ({"loss": 1.0}, "less than 1"),
        ({"loss": float("nan")}, "less than 1"),
        ({"loss": 0.5, "burst": 1.5}, "at least that"),
        ({"loss": 0.5, "burst": float("nan")}, "at least that"),
    ],
)
def test_impossible_channels_are_refused(wrong, says):
    with pytest.raises(InputError, match=says):
        ImperfectChannel(**wrong)
