"""``Design``: which scenarios a study runs. A product of axes; a row is a number in mixed radix.

An *axis* is a list of changes to the scenario, each a mapping from keys to values: a key of the grid has an axis of its
own, the cases of a list are one axis, and so are all draws. Row i takes one entry of every axis, the last axis first,
as ``itertools.product`` does. So a row is known by its number alone, and nothing has to be spelt out before it is run.

Keys are those of a scenario, with dots: ``seed``, ``control.goal``, ``control.kernel.slip``. A key with a dot changes
that key alone. A section as a whole, such as ``targets``, takes the place of the one that is there.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from tricover.errors import InputError
from tricover.own import label_of, name_of
from tricover.simulation import Scenario
from tricover.simulation.explain import check_key
from tricover.simulation.section import Section

__all__ = ["WHOLE", "Axis", "Design", "changed", "check_keys", "labels_of_values"]

Change = Mapping[str, Any]
WHOLE = 2**63
"""Whole numbers of a table are below this in size; others are texts."""
_LONGEST = 60  # characters of a value that is shown as it is


@dataclass(frozen=True)
class Axis:
    """Changes to a scenario, one of which a row takes; ``labels`` has what a table shows for each."""

    changes: tuple[Change, ...]
    labels: tuple[Change, ...]

    @classmethod
    def of(cls, changes: Sequence[Change]) -> "Axis":
        """An axis whose values are shown as themselves, or, where they are long, by their places in the list."""
        keys = list(dict.fromkeys(key for change in changes for key in change))
        shown = {key: labels_of_values([change.get(key) for change in changes]) for key in keys}
        labels = [{key: shown[key][place] for key in change} for place, change in enumerate(changes)]
        return cls(tuple(changes), tuple(labels))


@dataclass(frozen=True)
class Design:
    """The product of axes: ``len`` rows, each a change to the scenario.

    >>> design = Design((Axis.of([{"a": 1}, {"a": 2}]), Axis.of([{"b": "x"}, {"b": "y"}, {"b": "z"}])))
    >>> len(design), design[4], design.keys
    (6, {'a': 2, 'b': 'y'}, ['a', 'b'])
    """

    axes: tuple[Axis, ...]

    @property
    def rows(self) -> int:
        """How many there are; it may be more than ``len`` can say."""
        return prod(len(axis.changes) for axis in self.axes)

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, row: int) -> dict[str, Any]:
        """What a row changes."""
        return {key: value for axis, place in self._places(row) for key, value in axis.changes[place].items()}

    def labels(self, row: int) -> dict[str, Any]:
        """What a table shows of a row's changes: plain values."""
        return {key: value for axis, place in self._places(row) for key, value in axis.labels[place].items()}

    @property
    def keys(self) -> list[str]:
        """The keys that are varied, in the order of the axes."""
        return list(dict.fromkeys(key for axis in self.axes for change in axis.changes for key in change))

    def _places(self, row: int) -> Iterator[tuple[Axis, int]]:
        lengths = [len(axis.changes) for axis in self.axes]
        if not 0 <= row < len(self):
            raise IndexError(row)
        return zip(self.axes, (int(place) for place in np.unravel_index(row, lengths or [1])), strict=False)


def check_keys(axes: Sequence[Axis]) -> None:
    """Complain about keys that no scenario has, and about such that are varied twice."""
    seen: set[str] = set()
    for axis in axes:
        keys = {_in_full(key) for change in axis.changes for key in change}
        for key in sorted(keys):
            check_key(key, Scenario)
            twice = [other for other in (seen | keys) - {key} if f"{key}.".startswith(f"{other}.")]
            twice += [key] if key in seen else []
            twice += [other for other in seen if other.startswith(f"{key}.")]
            if twice:
                both = key if twice[0] == key else f"{twice[0]} and {key}"
                raise InputError(f"{both}: varied twice; give all of its values in one place")
        seen |= keys


def changed(scenario: Scenario, change: Change) -> Scenario:
    """The scenario with keys changed: those with dots alone, whole sections in place of what was there.

    >>> scenario = Scenario(reference=[[0, 0], [4, 0], [0, 4], [1, 1]], targets=[[1, 1]], control={"motion": "walk"})
    >>> other = changed(scenario, {"control.goal": "rollout", "control.kernel.slip": 0.1, "targets": [[2, 1]]})
    >>> other.control.goal, other.control.motion, other.control.kernel, other.targets.positions.tolist()
    ('rollout', 'walk', {'slip': 0.1}, [[2.0, 1.0]])
    """
    merged: dict[str, Any] = {}
    for key, value in change.items():
        first, *rest = key.split(".")
        if rest:
            merged[first] = _within(merged.get(first, {}), getattr(scenario, first), rest, value)
        elif isinstance(value, Mapping):
            now = getattr(scenario, _in_full(key), None)
            left = now.values() if isinstance(now, Section) else {}
            merged[_in_full(key)] = {**dict.fromkeys(left), **value}
        else:
            merged[key] = value
    return scenario.replace(**merged)


def _within(given: Mapping[str, Any], now: Any, path: Sequence[str], value: Any) -> dict[str, Any]:
    """Changes to a section, with one more at a path inside it; deeper tables are spelt out with what they have."""
    key, *rest = path
    if not rest:
        return {**given, key: value}
    inside = given.get(key, getattr(now, key, None) if isinstance(now, Section) else now)
    plain = inside.values() if isinstance(inside, Section) else inside
    return {**given, key: _within(plain if isinstance(plain, Mapping) else {}, inside, rest, value)}


def _in_full(key: str) -> str:
    return "formation" if key == "reference" else key


def labels_of_values(values: Sequence[Any]) -> list[Any]:
    """What a table shows of values: plain ones as they are, short lists as JSON, others by their places in the list.

    >>> labels_of_values([1, "x", None]), labels_of_values([[1, 2], {"slip": 0.1}]), labels_of_values([[0] * 100])
    ([1, 'x', None], ['[1, 2]', '{"slip": 0.1}'], ['#0'])
    """
    return [_label(value, place) for place, value in enumerate(values)]


def _label(value: Any, place: int) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | float | str) or (isinstance(value, int) and abs(value) < WHOLE):
        return value
    if callable(value):
        return name_of(value) or label_of(value)
    try:
        text = json.dumps(value.tolist() if isinstance(value, np.ndarray) else value)
    except (TypeError, ValueError):
        text = ""
    return text if 0 < len(text) <= _LONGEST else f"#{place}"
