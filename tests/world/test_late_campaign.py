"""Hundreds of teams whose messages are late, lost or passed on; ``python -m tests.world.late`` prints the figures."""

import pytest

from tests.world.late import delayed, lossy, relayed


@pytest.mark.parametrize("part", range(10))
def test_random_delays_never_break_the_bound(part):
    found = [delayed(seed) for seed in range(50 * part, 50 * part + 50)]
    assert all(one.in_time and one.certified for one in found)
    # The bound is no idle talk: some come close to it.
    assert max(one.settled / one.bound for one in found) > 0.9


@pytest.mark.parametrize(("loss", "burst"), [(0.3, None), (0.6, None), (0.3, 5.0)])
def test_lost_messages_delay_no_longer_than_is_likely(loss, burst):
    found = [lossy(seed, loss, burst) for seed in range(60)]
    assert all(one.in_time and one.certified for one in found)


def test_teams_with_relays_are_certified_where_all_is_heard():
    found = [relayed(seed) for seed in range(60)]
    heard = [one for one, unheard in found if not unheard]
    assert all(one.in_time and one.certified for one in heard)
    assert len(heard) > 40
    assert not any(one.certified for one, unheard in found if unheard)
