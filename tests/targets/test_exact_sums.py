"""Sums over targets in triangles are exact and rounded once; only the targets inside decide their bits."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.targets.test_in_triangles import random_triangles

import tricover as tc
from tricover.compiled import kernel
from tricover.targets import TargetLists, _words
from tricover.targets._words import add, add_to_pair, make_grid, rounded, rounded_pair, span_of

EVERYTHING = np.array([[-9e99, -9e99], [9e99, -9e99], [0, 9e99]])


def once(values):
    """The exact sum, rounded once: that is how Python turns a fraction into a float."""
    return float(sum((Fraction(float(value)) for value in values), Fraction(0)))


def bits(values):
    return np.ascontiguousarray(values, dtype=np.float64).view(np.int64).tolist()


def check(points, triangles, weights=None):
    """Every sum against rational arithmetic, over the members of each triangle."""
    targets = tc.Targets(points, weights)
    factors = np.ones(len(points)) if weights is None else np.asarray(weights, float)
    offsets, members = targets.members(triangles)
    counts, sums = targets.in_triangles(triangles)
    alone = targets.sums_in_triangles(triangles, factors[:, None] * points)
    for k in range(len(triangles)):
        held = members[offsets[k] : offsets[k + 1]]
        wanted = [once(factors[held]), *(once(factors[held] * points[held, axis]) for axis in range(2))]
        assert bits([counts[k], *sums[k]]) == bits(wanted)
        assert bits(alone[k]) == bits(wanted[1:])
    return np.diff(offsets)


def fields():
    """Points, corners of triangles and weights of many kinds."""
    rng = np.random.default_rng(11)
    even, count = rng.random((4000, 2)), 4000
    clustered = rng.random((5, 2))[rng.integers(0, 5, count)] + 0.01 * rng.normal(size=(count, 2))
    wide = rng.choice([-1.0, 1.0], (600, 2)) * 10.0 ** rng.uniform(-179, 100, (600, 2))
    return {
        "even": (even, None),
        "weighted": (even, rng.random(count)),
        "far from the origin": (even + 1e6, rng.random(count)),
        "around the origin": (even - 0.5, None),
        "clustered": (clustered, rng.random(count)),
        "duplicated": (np.repeat(even[:500], 8, axis=0), None),
        "grid": (rng.integers(-30, 30, (count, 2)).astype(float), None),
        "weighted grid": (rng.integers(-30, 30, (count, 2)).astype(float), rng.integers(0, 9, count).astype(float)),
        "some weights": (even, rng.random(count) * (rng.random(count) < 0.3)),
        "weights of many sizes": (even, 10.0 ** rng.uniform(-80, 80, count)),
        "least weights": (even, np.full(count, 1e-100)),
        "few words": (even * 10.0 ** rng.uniform(-15, 0, (count, 2)), None),
        "wide": (wide, None),
        "wide with weights": (wide, 10.0 ** rng.uniform(-100, 95, 600)),
        "smallest numbers": (rng.integers(-9, 9, (400, 2)) * 5e-324, None),
        "cancelling": (np.vstack([even, -even * (1 + 1e-15 * rng.integers(-3, 4, (count, 1)))]), None),
        "cancelling to the last": (np.vstack([even, -even, [[2.0**-70, 2.0**-90]]]), None),
        "half-way": (np.array([[1.0, 2.0**53], [2.0**-53, 1.0], [2.0**-106, 2.0**-60]] * 2)[:5], None),
    }


@pytest.mark.parametrize(("points", "weights"), fields().values(), ids=fields())
def test_sums_are_exact_and_rounded_once(points, weights):
    rng = np.random.default_rng(12)
    middle, half = points.mean(axis=0), np.ptp(points, axis=0) / 2
    triangles = middle + half * random_triangles(rng, 24, -1.5, 1.5)
    triangles[:6] = middle + half * rng.uniform(-3, 3, (6, 3, 2))
    triangles[0] = EVERYTHING * 1.1
    held = check(points, np.clip(triangles, -1e100, 1e100), weights)
    assert held.max() > len(points) / 4


@given(data=st.data())
@settings(max_examples=150)
def test_any_few_targets(data):
    small = st.integers(-3, 3).map(float)
    mixed = st.floats(-1e100, 1e100).map(lambda value: value if abs(value) > 1e-180 else 0.0)
    numbers = small | mixed | st.sampled_from([0.1, 1 / 3, 2.0**53, 2.0**-53, 1 + 2.0**-52, -1e100, 1e-180])
    points = data.draw(arrays(np.float64, (data.draw(st.integers(1, 12)), 2), elements=numbers))
    size = st.just(0.0) | st.just(1.0) | st.floats(1e-100, 1e98)
    weights = data.draw(st.none() | arrays(np.float64, len(points), elements=size))
    weights = None if weights is None or not weights.any() else weights
    triangles = np.stack([EVERYTHING, points[np.arange(3) % len(points)], [[0, 0], [1, 0], [0, 1]]])
    check(points, triangles, weights)


# --- words --------------------------------------------------------------------------------------------------------


def by_words(values, count):
    """The sum by any number of words, and by two where they hold it."""
    grid = make_grid(*span_of(values, 0.0, np.inf), count)
    words, high, low = np.zeros(len(grid.worth), np.int64), 0, 0
    for value in values:
        add(value, grid, words)
    found = [rounded(words, grid)]
    if grid.pair.scale > 0:
        for value in values:
            high, low = add_to_pair(value, grid.pair, high, low)
        found.append(rounded_pair(high, low, grid.pair))
    return found


@given(data=st.data())
@settings(max_examples=400)
def test_any_floats_for_any_number_of_values(data):
    """Sums near the middle between two floats, of both signs, with and without something just beside it."""
    start = data.draw(st.integers(2**52, 2**54)) * 2.0 ** data.draw(st.integers(-1074, 860))
    start = start if start > 0 else 1.0
    halves = [start * 2.0**-place for place in data.draw(st.lists(st.integers(0, 160), max_size=6))]
    free = data.draw(st.lists(st.floats(-1e290, 1e290), max_size=3))
    values = np.array([*(data.draw(st.sampled_from([-1, 1])) * value for value in (start, *halves)), *free])
    count = data.draw(st.sampled_from([len(values), 1000, 10**6, 2**31 - 1]))
    for found in by_words(values, count):
        assert bits(found) == bits(once(values))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("count", [64, 4096, 10**6, 2**31 - 1])
def test_middles_between_two_floats(count, sign):
    """Ties go to the even one, and a last bit far below decides; sums of all sizes, in words of all sizes."""
    for places in range(70):
        for odd in (0, 1):
            for beside in (-1, 0, 1):
                top = (2**52 + odd) * 2.0**places
                values = [top] * 7 + [top / 2**52 / 2 * 8, beside * 2.0**-30, top, 0.0]
                values = np.array([sign * value for value in values])
                for found in by_words(values, count):
                    assert found == once(values)


def test_as_many_of_the_largest_as_there_may_be():
    """Words take all of them without overflow."""
    count = 300_000
    points = np.column_stack([np.full(count, 1 - 2.0**-53), np.r_[2.0**-60, np.full(count - 1, 2.0**-53 - 1)]])
    found, sums = tc.Targets(points).in_triangles(EVERYTHING)
    assert found == count
    exact = [
        sum(Fraction(value) * int(times) for value, times in zip(*np.unique(column, return_counts=True), strict=True))
        for column in points.T
    ]
    assert sums.tolist() == [float(value) for value in exact]


def test_nothing_lower_than_the_span():
    values = np.array([0.0, -3.0, 2.5, 1024.0, 0.0])
    assert span_of(values, 0.0, np.inf) == (1024.0, 0.5)
    assert span_of(values, 4096.0, 0.25) == (4096.0, 0.25)
    assert span_of(np.array([5e-324, 3 * 2.0**-1030]), 0.0, np.inf) == (3 * 2.0**-1030, 5e-324)
    assert span_of(np.zeros(2), 0.0, np.inf) == (0.0, np.inf)
    assert span_of(np.r_[np.ones(2000), 1 + 2.0**-52, np.ones(600)], 0.0, np.inf)[1] == 2.0**-52


def test_two_words_hold_a_million_even_targets():
    """They take the quick way."""
    rng = np.random.default_rng(1)
    for values in (rng.random(100_000), 1e3 * rng.random(100_000) - 500.0):
        assert make_grid(*span_of(values, 0.0, np.inf), 10**6).pair.scale > 0


# --- nothing but the targets inside -------------------------------------------------------------------------------


def around(points, triangles, margin):
    """The targets in the box around some triangles."""
    low, high = triangles.min(axis=(0, 1)) - margin, triangles.max(axis=(0, 1)) + margin
    return np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))


@pytest.mark.parametrize("weighted", [False, True])
def test_targets_outside_and_their_order_change_no_bit(weighted):
    rng = np.random.default_rng(13)
    points = np.vstack([rng.random((20_000, 2)), rng.normal(0.5, 0.02, (10_000, 2)), 1e-9 * rng.random((50, 2))])
    weights = rng.random(len(points)) if weighted else None
    values = rng.normal(size=(len(points), 2))
    targets = tc.Targets(points, weights)
    for _ in range(12):
        triangles = rng.random(2) * 0.8 + rng.uniform(0.02, 0.4) * rng.random((30, 3, 2))
        counts, sums = targets.in_triangles(triangles)
        others = targets.sums_in_triangles(triangles, values)
        for margin in (0.0, 0.01, 0.3, 9.0):
            some = rng.permutation(around(points, triangles, margin))
            part = tc.Targets(points[some], None if weights is None else weights[some])
            again = part.in_triangles(triangles)
            assert bits(again[0]) == bits(counts)
            assert bits(again[1]) == bits(sums)
            assert bits(part.sums_in_triangles(triangles, values[some])) == bits(others)
        assert bits(targets.within(triangles[0]).in_triangles(triangles[0])[1]) == bits(sums[0])


def test_number_of_threads_changes_no_bit(monkeypatch):
    rng = np.random.default_rng(14)
    points, weights, triangles = rng.random((30_000, 2)), rng.random(30_000), random_triangles(rng, 6000)
    counts, sums = tc.Targets(points, weights).in_triangles(triangles)
    for threads in ("1", "3"):
        monkeypatch.setenv("TRICOVER_THREADS", threads)
        again = tc.Targets(points, weights).in_triangles(triangles)
        assert bits(again[0]) == bits(counts)
        assert bits(again[1]) == bits(sums)


def test_lists_sum_as_triangles_do():
    rng = np.random.default_rng(15)
    points, weights = rng.normal(size=(3000, 2)), 10.0 ** rng.uniform(-9, 9, 3000)
    targets, triangles = tc.Targets(points, weights), rng.normal(size=(40, 3, 2))
    triangles[7] += 100.0  # holds nothing
    offsets, names = targets.members(triangles)
    chosen = names.astype(np.int64)
    lists = TargetLists(offsets, chosen, points[chosen], weights[chosen], np.ones(len(chosen), np.bool_))
    counts, sums = targets.in_triangles(triangles)
    assert bits(lists.sums()) == bits(np.column_stack([counts, sums]))
    assert bits(TargetLists.empty(2).sums()) == bits(np.zeros((2, 3)))


ANY_WORD = st.integers(-(2**62), 2**62)


@st.composite
def near_middles(draw):
    """Whole numbers at or next to a middle between two floats, up to 2^62 in size."""
    fraction, more = draw(st.integers(2**52, 2**53 - 1)), draw(st.integers(1, 9))
    number = (fraction << more) + (1 << (more - 1)) + draw(st.sampled_from([0, 0, -1, 1]))
    return number * draw(st.sampled_from([-1, 1]))


@settings(max_examples=400)
@given(
    near_middles() | st.integers(-(2**62), 2**62),
    st.integers(-3, 3) | st.integers(-(2**62), 2**62),
    st.integers(10, 50),
)
def test_two_words_are_rounded_once(high, low, bits):
    """A little more or less than a middle in the lower word decides, too."""
    pair = _words.Pair(0, bits, 1.0, float(1 << bits), 1.0)
    exact = Fraction(high) * 2**bits + low
    assert _rounded_pair(high, low, pair) == float(exact)


@given(st.lists(near_middles() | st.integers(-9, 9), min_size=2, max_size=5), st.integers(10, 50))
def test_any_words_are_rounded_once(words, bits):
    count = len(words)
    places = [bits * (count - 1 - word) for word in range(count)]
    worth = np.array([float(1 << place) for place in places])
    grid = _words.Grid(_words.no_grid().pair, 0, bits, np.empty((count, 2)), worth)
    exact = sum(Fraction(word) * 2**place for word, place in zip(words, places, strict=True))
    assert _words.rounded(np.array(words, np.int64), grid) == float(exact)


@kernel
def _rounded_pair(high, low, pair):
    return _words.rounded_pair(high, low, pair)
