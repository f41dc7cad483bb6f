"""What a long run takes for a leak: memory as it may be, round after round, with noise and with caches that fill."""

import numpy as np
import pytest

from tests.browser.long_run import FEWEST, Memory, grown

NOISE = Memory(server=0.5, heap=0.02, browser=6.0, nodes=2.0, listeners=0.5)
"""As it is from round to round on a machine that is busy."""
FILLS = Memory(server=6.0, heap=0.5, browser=60.0, nodes=70.0, listeners=0.0)
"""What caches hold once they are full."""


def life(rounds, seed, **leaks):
    """A server's life, with so much leaked a round."""
    draws, rows = np.random.default_rng(seed), np.arange(rounds)
    filled = np.clip(rows / 40, 0, 1)[:, None] * np.array(FILLS)
    noise = np.array(NOISE) * draws.standard_normal((rounds, len(Memory._fields)))
    leaked = rows[:, None] * np.array([leaks.get(name, 0.0) for name in Memory._fields])
    return list(map(Memory._make, 100 + filled + noise + leaked))


@pytest.mark.parametrize("seed", range(10))
def test_caches_that_become_full_are_no_leak(seed):
    assert grown(life(FEWEST, seed)) == {}
    assert grown(life(400, seed)) == {}


@pytest.mark.parametrize(
    "leak", [{"heap": 0.003}, {"nodes": 1.0}, {"server": 0.1}, {"listeners": 0.2}, {"browser": 0.5}]
)
def test_what_leaks_a_little_in_every_round_is_noticed(leak):
    for seed in range(10):
        assert grown(life(FEWEST, seed, **leak)).keys() == leak.keys()


def test_the_longer_the_less_is_noticed():
    for seed in range(10):
        assert set(grown(life(400, seed, heap=0.0015))) == {"heap"}


def test_one_large_round_at_the_end_is_no_leak():
    memories = life(FEWEST, 0)
    memories[-1] = Memory(*(3 * one for one in memories[-1]))
    assert grown(memories) == {}
