"""Means with intervals and main effects, beside SciPy; degenerate tables."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tricover.errors import InputError
from tricover.statistics import levels_of, main_effects, means_over, numbers_of, rows_with

VALUES = st.lists(st.tuples(st.integers(0, 3), st.floats(-1e6, 1e6) | st.none()), max_size=30)


def test_means_and_intervals_are_scipys():
    rng = np.random.default_rng(0)
    table = {"k": np.repeat([2, 1, 3], 7).tolist(), "x": rng.normal(size=21).tolist()}
    [series] = means_over(table, "k", "x")
    assert series.places == (1, 2, 3)
    for place, mean, half, count in zip(*(series.places, series.means, series.halves, series.counts), strict=True):
        values = [x for k, x in zip(table["k"], table["x"], strict=True) if k == place]
        low, high = stats.t.interval(0.95, 6, loc=np.mean(values), scale=stats.sem(values))
        assert (mean, count) == (pytest.approx(np.mean(values)), 7)
        assert (mean - half, mean + half) == (pytest.approx(low), pytest.approx(high))


def test_a_series_for_each_value_of_another_key():
    table = pd.DataFrame({"k": [1, 1, 2, 2], "by": ["b", "a", "b", "a"], "x": [1.0, 2.0, 3.0, None]})
    first, second = means_over(table, "k", "x", by="by")
    assert (first.label, first.means.tolist()) == ("b", [1.0, 3.0])
    assert second.label == "a"
    assert second.means[0] == 2.0
    assert math.isnan(second.means[1])
    assert second.counts.tolist() == [1, 0]
    assert np.isnan(second.halves).all()


def test_main_effects_are_those_of_the_analysis_of_variance():
    """ε² from SciPy's F: (k - 1)(F - 1) / ((k - 1)F + n - k)."""
    rng = np.random.default_rng(1)
    key = np.repeat([0, 1, 2, 3], 10)
    values = key + rng.normal(size=40)
    found = main_effects({"key": key.tolist(), "x": values.tolist()}, ["key"], ["x"]).shares[0, 0]
    f = stats.f_oneway(*(values[key == level] for level in range(4))).statistic
    assert found == pytest.approx(3 * (f - 1) / (3 * f + 36))


def test_what_does_nothing_explains_nothing_and_numbers_in_plenty_are_grouped():
    rng = np.random.default_rng(2)
    table = {"noise": rng.random(600), "cause": rng.random(600), "word": list("abc") * 200}
    table["x"] = table["cause"] + 0.01 * rng.normal(size=600)
    effects = main_effects(table, ["noise", "cause", "word"], ["x"])
    assert effects.shares[0, 0] < 0.05
    assert 0.97 < effects.shares[1, 0] < 1
    assert effects.shares[2, 0] < 0.05
    assert effects.strongest("x")[0] == "cause"


def test_a_measure_that_does_not_vary_has_no_effects():
    table = {"k": [1, 2, 1, 2], "x": [0.1 + 0.2, 0.3, 0.3, 0.3], "y": [1, 1, 1, 1], "z": [None] * 4}
    effects = main_effects(table, ["k"], ["x", "y", "z"])
    assert np.isnan(effects.shares).all()
    assert effects.strongest("y") is None


@given(VALUES)
def test_any_table_has_means_and_shares_within_bounds(rows):
    table = {"k": [key for key, _ in rows], "x": [value for _, value in rows]}
    for series in means_over(table, "k", "x"):
        there = [value for value in table["x"] if value is not None]
        assert series.counts.sum() == len(there)
        known = series.means[~np.isnan(series.means)]
        assert ((known >= min(there, default=0) - 1e-6) & (known <= max(there, default=0) + 1e-6)).all()
    shares = main_effects(table, ["k"], ["x"]).shares
    assert (np.isnan(shares) | ((shares >= 0) & (shares <= 1))).all()


def test_columns():
    table = pd.DataFrame({"a": [2, 1, 2], "t": pd.array([True, None, False], "boolean"), "w": ["x", "y", "x"]})
    assert numbers_of(table, "t")[[0, 2]].tolist() == [1.0, 0.0]
    assert np.isnan(numbers_of(table, "t")[1])
    assert levels_of(table, "a") == [1, 2]
    assert levels_of(table, "w") == ["x", "y"]
    assert rows_with(table, "w", "x")["a"] == [2, 2]
    with pytest.raises(InputError, match="no column 'b'"):
        numbers_of(table, "b")
    with pytest.raises(InputError, match="'w' has no numbers"):
        numbers_of(table, "w")
