"""Draws are a function of seed, stream, step and agent, and they are NumPy's own Philox numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tricover.draws import DRAWS, uniforms
from tricover.errors import InputError
from tricover.vehicles import step_draws

WORD = st.integers(0, 2**64 - 1)


def by_numpy(seed, stream, step, count):
    """The first numbers of NumPy's generator for that key and counter."""
    key = np.array([seed, stream], np.uint64)
    counter = np.array([0, 0, step, 0], np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=counter)).random((count, DRAWS))


@settings(max_examples=60)
@given(WORD, WORD, WORD, st.integers(0, 50))
def test_they_are_those_of_numpy(seed, stream, step, count):
    np.testing.assert_array_equal(uniforms(seed, stream, step, count), by_numpy(seed, stream, step, count))


@settings(max_examples=30)
@given(st.lists(st.integers(0, 10_000), max_size=20), st.integers(0, 99))
def test_any_part_of_a_team_in_any_order(agents, seed):
    whole = uniforms(seed, 3, 8, 10_001)
    np.testing.assert_array_equal(uniforms(seed, 3, 8, np.array(agents, np.int64)), whole[agents])


def test_an_agent_far_down_the_roster_costs_nothing():
    far = uniforms(1, 2, 3, [2**62, 2**62 + 1])
    assert far.shape == (2, 2)
    assert len(np.unique(far)) == 4


def test_streams_are_independent_and_uniform():
    one, other = uniforms(5, 0, 0, 100_000), uniforms(5, 1, 0, 100_000)
    for numbers in (one, other):
        counts = np.histogram(numbers, bins=50, range=(0, 1))[0]
        assert ((counts - 4000) ** 2 / 4000).sum() < 100  # chi-squared with 49 degrees of freedom: p < 1e-4
    assert abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]) < 0.01


def test_vehicles_have_the_first_stream():
    """A seed gives the same landings for ever: where these numbers come from is part of what a seed means."""
    np.testing.assert_array_equal(step_draws(5, 7, 9), by_numpy(5, 0, 7, 9))


@pytest.mark.parametrize("agents", [[[0, 1]], 2.0])
def test_agents_are_a_list_of_numbers(agents):
    with pytest.raises(InputError, match="agents must be indices"):
        uniforms(0, 0, 0, agents)


@pytest.mark.parametrize(
    "wrong",
    [(-1, 0, 0, 1), (0, -1, 0, 1), (0, 0, -1, 1), (2**64, 0, 0, 1), (0, 2**64, 0, 1), (0, 0, 0, [-1]), (0, 0, 0, -1)],
)
def test_what_cannot_be_drawn_is_named(wrong):
    with pytest.raises(InputError, match="from 0 on"):
        uniforms(*wrong)
