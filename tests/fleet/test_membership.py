"""Who is taken for alive, against a plain model that goes through all moments one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tricover.errors import InputError
from tricover.fleet.membership import Membership, Patience

AGENTS = 4


def team(patience=1.0, grace=5.0, own=0, now=0.0):
    return Membership(AGENTS, own, Patience(patience, grace), now)


def living(membership, now):
    return np.flatnonzero(membership.living(now)).tolist()


def meet(membership, now=0.0):
    for agent in range(1, AGENTS):
        membership.seen(agent, "a", True, now)


def test_at_the_start_all_are_taken_for_alive_for_a_while():
    some = team()
    some.seen(1, "a", True, 0.0)
    waits = some.next_change
    assert living(some, np.nextafter(waits, 0)) == [0, 1, 2, 3]
    assert living(some, waits) == [0, 1]
    assert waits == pytest.approx(5.0)
    assert some.next_change == np.inf


def test_a_token_that_goes_is_believed_after_patience():
    some = team()
    meet(some)
    some.seen(2, "a", False, 7.0)
    assert some.next_change == 8.0
    assert living(some, 7.999) == [0, 1, 2, 3]
    assert living(some, 8.0) == [0, 1, 3]
    some.seen(2, "b", True, 9.0)
    assert living(some, 9.9) == [0, 1, 3]
    assert living(some, 10.0) == [0, 1, 2, 3]


def test_a_token_that_flaps_changes_nothing():
    some = team()
    meet(some)
    for k in range(100):
        some.seen(2, "a", k % 2 == 1, 10 + 0.9 * k)
        assert living(some, 10 + 0.9 * k + 0.89) == [0, 1, 2, 3]
    some.seen(2, "a", False, 200.0)
    assert living(some, 201.0) == [0, 1, 3]


def test_who_began_again_is_alive_as_long_as_one_token_is_there():
    some = team()
    meet(some)
    some.seen(2, "b", True, 1.0)
    some.seen(2, "a", False, 2.0)
    assert living(some, 90.0) == [0, 1, 2, 3]
    some.seen(2, "b", False, 91.0)
    assert living(some, 92.0) == [0, 1, 3]


def test_said_twice_is_said_once():
    some = team()
    meet(some)
    some.seen(2, "a", False, 10.0)
    some.seen(2, "a", False, 10.9)
    assert living(some, 11.0) == [0, 1, 3]


def test_who_sees_nobody_keeps_its_belief():
    some = team()
    meet(some)
    assert not some.alone
    for agent in (1, 2, 3):
        some.seen(agent, "a", False, 10.0)
    assert some.alone
    assert some.next_change == np.inf
    assert living(some, 1000.0) == [0, 1, 2, 3]


def test_after_it_was_alone_nobody_is_missed_before_all_had_time_to_come():
    some = team()
    meet(some)
    for agent in (1, 2, 3):
        some.seen(agent, "a", False, 10.0)
    some.seen(1, "a", True, 50.0)
    assert living(some, 51.9) == [0, 1, 2, 3]
    assert some.next_change == 52.0
    some.seen(2, "a", True, 51.95)
    assert living(some, 52.0) == [0, 1, 2]


def test_its_own_token_is_no_matter():
    some = team(own=2)
    for agent in (0, 1, 3):
        some.seen(agent, "a", True, 0.0)
    some.seen(2, "a", True, 1.0)
    some.seen(2, "a", False, 2.0)
    assert living(some, 99.0) == [0, 1, 2, 3]


def test_what_is_handed_out_is_a_copy():
    some = team()
    meet(some)
    some.living(1.0)[:] = False
    assert living(some, 2.0) == [0, 1, 2, 3]


@pytest.mark.parametrize("name", ["patience", "grace"])
@pytest.mark.parametrize("bad", [-0.1, float("nan"), float("inf"), 1e6])
def test_seconds_that_cannot_be(name, bad):
    with pytest.raises(InputError, match=name):
        Patience(**{name: bad})


class Model:
    """Everybody's tokens at every moment so far, asked anew each time; moments are whole."""

    def __init__(self, patience, grace):
        self.patience, self.grace = patience, grace
        self.tokens, self.history = set(), []
        self.believed = [True] * AGENTS
        self.since = [grace - patience] * AGENTS

    def here(self, agent):
        return agent == 0 or any(owner == agent for owner, _ in self.tokens)

    def see(self, agent, token, alive, now):
        before = [self.here(other) for other in range(AGENTS)]
        (self.tokens.add if alive else self.tokens.discard)((agent, token))
        after = [self.here(other) for other in range(AGENTS)]
        if before != after:
            if before == [True, False, False, False]:
                self.since = [max(moment, now + self.patience) for moment in self.since]
            self.since[agent] = now

    def living(self, now):
        here = [self.here(agent) for agent in range(AGENTS)]
        if sum(here) > 1:
            for agent in range(AGENTS):
                if here[agent] != self.believed[agent] and now - self.since[agent] >= self.patience:
                    self.believed[agent] = here[agent]
        return list(self.believed)


EVENTS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.booleans(), st.integers(0, 4)), max_size=40)


@given(EVENTS, st.integers(0, 5), st.integers(0, 12))
def test_any_tokens_at_any_time(events, patience, grace):
    some, model, now = team(float(patience), float(grace)), Model(patience, grace), 0
    for agent, token, alive, wait in events:
        for moment in range(now, now + wait):
            due = some.next_change
            before = model.living(moment - 1) if moment else None
            assert some.living(float(moment)).tolist() == model.living(moment)
            if before is not None and before != model.living(moment):
                assert due <= moment
        now += wait
        some.seen(agent, token, alive, float(now))
        model.see(agent, token, alive, now)
        assert some.living(float(now)).tolist() == model.living(now)
        assert some.alone is (sum(map(model.here, range(AGENTS))) == 1)
        assert some.next_change >= now or some.next_change == np.inf
