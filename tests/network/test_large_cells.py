"""A cell that is looked at chunk by chunk has the mentee and the child cells that exact arithmetic says."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tricover as tc
from tests.network.formations import formations
from tests.network.oracle import SCORES, as_fractions, first_least, weights
from tricover.errors import FormationError
from tricover.network.large_cells import children_of, mentee_of

RULES = ["fermat", "balanced"]


def in_chunks(numbers, places, size):
    """Members as those who keep them in files hand them out."""
    return lambda: ((numbers[i : i + size], places[i : i + size]) for i in range(0, len(numbers), size))


def largest_cell(reference):
    """Corners and members of the first cell that has most followers."""
    network = tc.build_network(reference, "balanced")
    first = network.followers[network.layer[network.followers] == 1]
    top = first[network.descendants[first].sum(axis=1).argmax()]
    corners = network.in_neighbors[top]
    members, waiting = [], [top]
    while waiting:
        agent = waiting.pop()
        members.append(agent)
        below = (network.in_neighbors == agent).any(axis=1) & (network.layer > network.layer[agent])
        waiting += [i for i in np.flatnonzero(below).tolist() if i not in members and i not in waiting]
    return corners, np.sort(members)


def check(reference, rule, size):
    corners, members = largest_cell(reference)
    points, cell = as_fractions(reference), [tuple(map(Fraction, reference[c].tolist())) for c in corners]
    chunks = in_chunks(members, reference[members], size)
    mentee = mentee_of(reference[corners], chunks, rule)
    score = SCORES[rule](dict(enumerate(points)), corners.tolist(), members.tolist())
    assert mentee.number == first_least(members.tolist(), score)
    np.testing.assert_array_equal(mentee.place, reference[mentee.number])
    own, seen = weights(points[mentee.number], cell), []
    for numbers, places, labels in children_of(reference[corners], chunks, mentee):
        np.testing.assert_array_equal(places, reference[numbers])
        for number, child in zip(numbers.tolist(), labels.tolist(), strict=True):
            share = weights(points[number], cell)
            ratios = [(a / b, k) for k, (a, b) in enumerate(zip(share, own, strict=True)) if b]
            assert child == min(ratios)[1]
        seen += numbers.tolist()
    assert seen == [number for number in members.tolist() if number != mentee.number]


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("rule", RULES)
def test_chunks_do_not_matter(rule, size):
    check(np.random.default_rng(5).random((120, 2)), rule, size)


@given(formations(most=16), st.sampled_from(RULES), st.integers(1, 9))
def test_degenerate_formations(reference, rule, size):
    try:
        assume(len(tc.build_network(reference).followers))
    except FormationError:
        assume(False)
    check(reference, rule, size)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(6))
def test_rounding_decides_nothing(rule, seed):
    """Members so close to each other that floating point cannot order their scores."""
    rng = np.random.default_rng(seed)
    corners = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]]) + rng.random((3, 2))
    middle = corners.mean(axis=0)
    places = np.unique(middle + rng.integers(-9, 10, (60, 2)) * np.spacing(middle), axis=0)
    numbers = np.arange(3, 3 + len(places))
    points = dict(enumerate(as_fractions(np.concatenate([corners, places]))))
    score = SCORES[rule](points, [0, 1, 2], numbers.tolist())
    best = first_least(numbers.tolist(), score)
    assert mentee_of(corners, in_chunks(numbers, places, 13), rule).number == best


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_first_of_those_that_are_equally_good(rule, size):
    """All on a line through a symmetric cell come in pairs; so do their scores."""
    corners = np.array([[-8.0, 0.0], [8.0, 0.0], [0.0, 12.0]])
    sides = np.array([3.0, 1.0, 2.0])
    places = np.array([[sign * side, 4.0] for side in sides for sign in (1, -1)])
    numbers = np.arange(10, 16)
    assert mentee_of(corners, in_chunks(numbers, places, size), rule).number == 12
