"""Statistics of tables: means with intervals over a key, and how much of what varies each key explains.

**Means.** The mean of n values x̄ with the interval x̄ ± t·s/√n, where s is their standard deviation and t the quantile
of Student's distribution with n - 1 degrees of freedom: with normal values it holds the true mean in 95 of 100 tables.
A single value has no interval.

**Main effects.** How much of the variance of a measure a key explains alone. The values are put into groups by the key;
with the sum of squares SS around the mean of all n values and SS_w around the means of the k groups,

    ε² = 1 - (SS_w / (n - k)) / (SS / (n - 1)),    0 at least.

Without the degrees of freedom this is the share of explained variance η², which grows with the number of groups even
if a key does nothing; ε² does not. Shares need not add up to one: what is left is chance, and what keys do together.
A key with many different numbers, as of random draws, is cut into groups of equal size by its order.

Tables are mappings from columns to values, such as a pandas DataFrame. Rows without a value are left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError, advice

__all__ = ["Effects", "Series", "levels_of", "main_effects", "means_over", "numbers_of", "rows_with"]

Floats = NDArray[np.float64]

LEVEL = 0.95
"""The chance with which an interval holds the mean."""
_MOST_GROUPS = 12
"""A key of more different numbers is cut into groups; fewer are groups themselves."""


@dataclass(frozen=True, eq=False)
class Series:
    """Means of a measure over a key.

    Attributes:
        label: which rows these are: the value of another key; None: all of them.
        places: values of the key (K,), ascending where they are numbers, else as they first come.
        means: (K,).
        halves: half widths of the intervals (K,); NaN of a single value.
        counts: how many values there are (K,).
    """

    label: Any
    places: tuple[Any, ...]
    means: Floats
    halves: Floats
    counts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Effects:
    """Shares of the variance (keys, measures) that keys explain alone; NaN where a measure does not vary."""

    keys: tuple[str, ...]
    measures: tuple[str, ...]
    shares: Floats

    def strongest(self, measure: str) -> tuple[str, float] | None:
        """The key that explains most of a measure, and its share; None if none does."""
        column = self.shares[:, self.measures.index(measure)]
        if not np.isfinite(column).any():
            return None
        place = int(np.nanargmax(column))
        return self.keys[place], float(column[place])


def numbers_of(table: Mapping[str, Any], column: str) -> Floats:
    """A column as numbers, truth values as 0 and 1; NaN where there is none.

    >>> numbers_of({"a": [1, None, True]}, "a").tolist()
    [1.0, nan, 1.0]
    """
    values = _column(table, column)
    try:
        return np.array([np.nan if _is_missing(value) else float(value) for value in values], np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{column!r} has no numbers: choose another column") from None


def means_over(table: Mapping[str, Any], over: str, measure: str, by: str | None = None) -> list[Series]:
    """Means of a measure for each value of the key ``over``; a series for each value of the key ``by``.

    >>> table = {"agents": [20, 20, 50, 50], "depth": [4, 6, 8, 8]}
    >>> [series] = means_over(table, "agents", "depth")
    >>> series.places, series.means.tolist(), series.counts.tolist()
    ((20, 50), [5.0, 8.0], [2, 2])
    """
    values, places = numbers_of(table, measure), _column(table, over)
    rows = range(len(values))
    if by is None:
        return [_series(None, places, values)]
    labels = _column(table, by)
    found = []
    for label in _levels(labels):
        mine = [row for row in rows if _known(labels[row]) == _known(label)]
        found.append(_series(label, [places[row] for row in mine], values[mine]))
    return found


def _series(label: Any, places: list[Any], values: Floats) -> Series:
    groups: dict[Any, list[float]] = {_known(level): [] for level in _levels(places)}
    for place, value in zip(places, values.tolist(), strict=True):
        if not np.isnan(value):
            groups[_known(place)].append(value)
    means = [_mean(np.array(group)) for group in groups.values()]
    counts = np.array([len(group) for group in groups.values()], np.int64)
    both = np.array(means, np.float64).reshape(len(groups), 2)
    return Series(label, tuple(groups), both[:, 0], both[:, 1], counts)


def _mean(values: Floats) -> tuple[float, float]:
    """The mean, and half the width of its interval."""
    from scipy.special import stdtrit  # the quantile of Student's distribution

    count = len(values)
    if not count:
        return np.nan, np.nan
    if count == 1:
        return float(values[0]), np.nan
    half = stdtrit(count - 1, (1 + LEVEL) / 2) * values.std(ddof=1) / np.sqrt(count)
    return float(values.mean()), float(half)


def levels_of(table: Mapping[str, Any], key: str) -> list[Any]:
    """The different values of a key: numbers ascending, all else as it first comes."""
    return _levels(_column(table, key))


def rows_with(table: Mapping[str, Any], key: str, level: Any) -> dict[str, list[Any]]:
    """The rows of a table in which a key has this value.

    >>> rows_with({"a": [1, 2, 1], "x": [5, 6, 7]}, "a", 1)
    {'a': [1, 1], 'x': [5, 7]}
    """
    mine = [row for row, value in enumerate(_column(table, key)) if _known(value) == _known(level)]
    columns = {str(name): _column(table, name) for name in table}
    return {name: [column[row] for row in mine] for name, column in columns.items()}


def main_effects(table: Mapping[str, Any], keys: Sequence[str], measures: Sequence[str]) -> Effects:
    """Which keys matter for which measures, as shares of variance (keys, measures).

    >>> table = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "x": [1.0, 1.0, 2.0, 2.0]}
    >>> main_effects(table, ["a", "b"], ["x"]).shares.tolist()
    [[1.0], [0.0]]
    """
    values = {measure: numbers_of(table, measure) for measure in measures}
    groups = {key: _groups(_column(table, key)) for key in keys}
    shares = [[_share(groups[key], values[measure]) for measure in measures] for key in keys]
    return Effects(tuple(keys), tuple(measures), np.array(shares, np.float64).reshape(len(keys), len(measures)))


def _groups(column: list[Any]) -> NDArray[np.int64]:
    """The group (n,) of each row."""
    levels = _levels(column)
    if len(levels) > _MOST_GROUPS and all(_is_number(level) for level in levels):
        ranks = np.searchsorted(np.sort(np.array(column, np.float64)), np.array(column, np.float64))
        return ranks * _MOST_GROUPS // len(column)
    numbers = {_known(level): place for place, level in enumerate(levels)}
    return np.array([numbers[_known(value)] for value in column], np.int64)


def _share(groups: NDArray[np.int64], values: Floats) -> float:
    """ε² of values (n,) in groups (n,); NaN if they do not vary, or there are no more than groups."""
    there = ~np.isnan(values)
    values, (_, groups) = values[there], np.unique(groups[there], return_inverse=True)
    count, kinds = len(values), int(groups.max(initial=-1)) + 1
    total = float(((values - values.mean()) ** 2).sum()) if count else 0.0
    scale = float(np.abs(values).max(initial=0.0))
    if count <= kinds or total <= (1e-12 * scale) ** 2 * count:  # rounding is no variance
        return np.nan
    means = np.bincount(groups, values) / np.bincount(groups)
    within = float(((values - means[groups]) ** 2).sum())
    return max(0.0, 1 - (within / (count - kinds)) / (total / (count - 1)))


def _column(table: Mapping[str, Any], name: str) -> list[Any]:
    if name not in table:
        raise InputError(f"the table has no column {name!r}; {advice(name, map(str, table))}")
    column = table[name]
    return list(column.tolist() if hasattr(column, "tolist") else column)


def _levels(column: Sequence[Any]) -> list[Any]:
    """The different values of a column: numbers ascending, all else as it first comes."""
    levels = list({_known(value): value for value in column}.values())
    known = [_known(level) for level in levels]
    return sorted(known) if all(_is_number(level) for level in known) else known


def _known(value: Any) -> Any:
    """What tells a value from others: a missing one is like any other missing one."""
    return None if _is_missing(value) else value


def _is_missing(value: Any) -> bool:
    return value is None or value is _na() or (isinstance(value, float) and np.isnan(value))


def _na() -> Any:
    """What pandas has for missing truth values, where pandas is at work at all."""
    import sys

    pandas = sys.modules.get("pandas")
    return None if pandas is None else pandas.NA


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and not _is_missing(value)
