"""Values for the keys of a study: lists and ranges of a grid, random draws, and Latin hypercubes.

A *range* has its ends, and a step or a count: ``{ from = 0, to = 10, step = 2 }``, ``{ from = 1, to = 100, count = 3,
log = true }``. Both ends belong to it.

*Draws* come from uniform numbers u in [0, 1), one column for each key, from one seed: independent of each other
(``random``), or one from each of n equal slices of every key (``latin``, a Latin hypercube by SciPy). A *distribution*
makes values of them, by the inverse of its distribution function:

    uniform = [a, b]      a + u·(b - a)
    log = [a, b]          a·(b/a)^u: uniform in the logarithm
    integers = [a, b]     whole numbers from a to b, both included
    choice = [v, …]       one of the values
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from tricover.errors import InputError, listed, shown
from tricover.formats.points import LARGEST
from tricover.limits import check_room
from tricover.simulation.section import Section

__all__ = ["Draws", "is_range", "values_of"]

_ENDS, _OF_RANGES = {"from", "to"}, {"from", "to", "step", "count", "log"}
_KINDS = ("uniform", "log", "integers", "choice")
_BYTES = 1000.0  # that a value takes, with its label
_MOST = 10**7  # rows of draws: whoever wants more means something else


def is_range(given: object) -> bool:
    """Whether it is a table that says from where to where."""
    return isinstance(given, Mapping) and given.keys() >= _ENDS and given.keys() <= _OF_RANGES


def values_of(key: str, given: Any) -> list[Any]:
    """The values of a key of a grid: a list, an array, or a range.

    >>> values_of("seed", range(3)), values_of("control.gamma", {"from": 0.5, "to": 0.9, "count": 3})
    ([0, 1, 2], [0.5, 0.7, 0.9])
    >>> values_of("steps", {"from": 10, "to": 30, "step": 10})
    [10, 20, 30]
    >>> values_of("control.alpha", {"from": 1, "to": 100, "count": 3, "log": True})
    [1.0, 10.0, 100.0]
    """
    if is_range(given):
        return _range(key, **{f"{name}_": value for name, value in given.items()})
    if isinstance(given, str | bytes | Mapping) or not hasattr(given, "__iter__"):
        raise InputError(f"{key}: give a list of values, or {{ from, to, step }} or {{ from, to, count }}")
    values = [value.item() if isinstance(value, np.generic) else value for value in given]
    if not values:
        raise InputError(f"{key}: there are no values to try; give at least one")
    return values


def _range(key: str, from_: Any, to_: Any, step_: Any = None, count_: Any = None, log_: Any = False) -> list[Any]:
    numbers = [value for value in (from_, to_, step_, count_) if value is not None]
    if not all(_is_number(value) for value in numbers):
        raise InputError(f"{key}: the ends of a range, its step and its count must be finite numbers")
    if (step_ is None) == (count_ is None) or (log_ and step_ is not None):
        raise InputError(f"{key}: a range has a step or a count, and with log = true a count")
    if count_ is not None:
        return _counted(key, from_, to_, count_, bool(log_))
    steps = (to_ - from_) / step_ if step_ else -1.0
    if not 0 <= steps <= LARGEST:
        raise InputError(f"{key}: steps of {step_} do not lead from {from_} to {to_}")
    count = int(steps * (1 + 1e-12) + 1e-9) + 1  # so that the end belongs to it, in spite of rounding
    check_room(_BYTES * count, f"{key}: {count} values")
    return [from_ + step_ * place for place in range(count)]


def _counted(key: str, low: float, high: float, count: Any, log: bool) -> list[Any]:
    if not isinstance(count, int) or not 2 <= count <= _MOST:
        raise InputError(f"{key}: count must be a whole number from 2 to {_MOST}, not {shown(count)}")
    if log and not min(low, high) > 0:
        raise InputError(f"{key}: with log = true both ends of a range must be above 0")
    ends = float(low), float(high)
    values = np.geomspace(*ends, count) if log else np.linspace(*ends, count)
    rounded = np.array([float(f"{value:.15g}") for value in values])  # 0.7 rather than 0.7000000000000001
    whole = isinstance(low, int) and isinstance(high, int) and not log and bool((rounded % 1 == 0).all())
    return [int(value) for value in rounded] if whole else [float(value) for value in rounded]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


class Draws(Section):
    """Random values for some keys.

    >>> draws = Draws(count=4, seed=1, keys={"control.gamma": {"uniform": [0.5, 0.9]}, "steps": {"integers": [1, 3]}})
    >>> sorted(draws.changes()[0]), {row["steps"] for row in draws.changes()} <= {1, 2, 3}
    (['control.gamma', 'steps'], True)
    """

    count: int = Field(ge=1, le=_MOST, description="how many draws")
    seed: int = Field(0, ge=0, lt=2**63, description="of the draws; the same seed gives the same ones")
    method: Literal["random", "latin"] = Field("random", description="independent draws, or a Latin hypercube")
    keys: dict[str, dict[str, Any]] = Field(description="a distribution for each key")

    @model_validator(mode="after")
    def _complete(self) -> "Draws":
        if not self.keys:
            raise InputError("draws has no keys: give each key a distribution, such as { uniform = [0, 1] }")
        for key, given in self.keys.items():
            _check(key, given)
        return self

    def changes(self) -> list[dict[str, Any]]:
        """The values of all keys, draw by draw."""
        uniforms = self._drawn()
        columns = [_spread(given, uniforms[:, column]) for column, given in enumerate(self.keys.values())]
        return [dict(zip(self.keys, row, strict=True)) for row in zip(*columns, strict=True)]

    def _drawn(self) -> NDArray[np.float64]:
        """Uniform numbers (count, keys) in [0, 1)."""
        check_room(_BYTES * self.count * len(self.keys), f"draws: {self.count} draws of {len(self.keys)} keys")
        rng = np.random.default_rng(self.seed)
        if self.method == "random":
            return rng.random((self.count, len(self.keys)))
        from scipy.stats import qmc

        return np.asarray(qmc.LatinHypercube(len(self.keys), rng=rng).random(self.count))


def _check(key: str, given: Mapping[str, Any]) -> None:
    """Refuse what is no distribution."""
    kind = next(iter(given), "")
    ends = given.get(kind)
    if len(given) != 1 or kind not in _KINDS or isinstance(ends, str) or not isinstance(ends, Sequence):
        raise InputError(f"draws.keys.{key}: give one of {listed(_KINDS)} with a list, not {shown(dict(given))}")
    if kind == "choice":
        if not ends:
            raise InputError(f"draws.keys.{key}: there is nothing to choose from")
        return
    if len(ends) != 2 or not all(map(_is_number, ends)) or not ends[0] <= ends[1]:
        raise InputError(f"draws.keys.{key}: {kind} must be [least, most], not {shown(ends)}")
    if kind == "log" and not ends[0] > 0:
        raise InputError(f"draws.keys.{key}: log must be [least, most], both above 0, not {shown(ends)}")
    if kind == "integers" and not all(isinstance(end, int) and abs(end) <= 2**53 for end in ends):
        raise InputError(f"draws.keys.{key}: integers must be two whole numbers up to 2^53, not {shown(ends)}")


def _spread(given: Mapping[str, Any], uniforms: NDArray[np.float64]) -> list[Any]:
    """Values of one distribution for uniform numbers (count,)."""
    [(kind, ends)] = given.items()
    if kind == "choice":
        return [ends[place] for place in np.floor(uniforms * len(ends)).astype(np.int64).tolist()]
    low, high = ends
    if kind == "integers":
        return [low + place for place in np.floor(uniforms * (high - low + 1)).astype(np.int64).tolist()]
    found: list[Any] = (low + uniforms * (high - low) if kind == "uniform" else low * (high / low) ** uniforms).tolist()
    return found
