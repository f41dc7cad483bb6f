"""Named columns to Points and back: what CSV tables and structured NPY arrays have in common.

Columns are known by their names, in any case and order; other columns are left alone:

    x, y, z                                   metres
    lon, lng, long, longitude · lat, latitude   degrees, projected to local metres; alt or altitude is z
    weight, weights, w · id, name, label
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from math import inf
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tricover.errors import FileFormatError, listed, shown
from tricover.formats.points import Points
from tricover.formats.projection import Projection

Column: TypeAlias = Sequence[object] | NDArray[np.float64]
LOWEST = -float(np.finfo(np.float64).max)
__all__ = ["NAMELESS", "from_columns", "roles", "to_columns"]

_NAMES = {
    "x": ("x",),
    "y": ("y",),
    "z": ("z", "alt", "altitude"),
    "longitude": ("longitude", "lon", "lng", "long"),
    "latitude": ("latitude", "lat"),
    "weight": ("weight", "weights", "w"),
    "id": ("id", "name", "label"),
}
NAMELESS = {2: ("x", "y"), 3: ("x", "y", "z"), 4: ("x", "y", "z", "weight")}
"""What the columns are, by their number, when a file does not name them."""


def roles(names: Sequence[str], path: object) -> dict[str, int]:
    """Which column plays which role; a FileFormatError when no position can be read."""
    at = {name.strip().lower(): index for index, name in reversed(list(enumerate(names)))}
    found = {
        role: next(at[name] for name in known if name in at) for role, known in _NAMES.items() if at.keys() & {*known}
    }
    for pair, other in pairwise([("x", "y"), ("longitude", "latitude"), ("x", "y")]):
        if found.keys() >= {*pair}:
            if found.keys() & {*other}:
                raise FileFormatError(f"{path} has columns for both {listed(pair)} and {listed(other)}: keep one pair")
            return found
    raise FileFormatError(f"{path} has no columns x and y, or longitude and latitude; it has {listed(names) or 'none'}")


def _good(value: Any, lowest: float) -> bool:
    """Whether a value reads as a finite number that is not below ``lowest``."""
    try:
        return bool(lowest <= float(value) < inf)
    except (TypeError, ValueError, OverflowError):
        return False


def _numbers(values: Column, place: Callable[[int], str], lowest: float, what: str) -> NDArray[np.float64]:
    """The column as floats; the error says where the first value stands that is none."""
    try:
        numbers = values if isinstance(values, np.ndarray) else np.array(list(map(float, values)))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        numbers = np.full(1, np.nan)
    if not (np.isfinite(numbers) & (numbers >= lowest)).all():
        culprit = next(row for row, value in enumerate(values) if not _good(value, lowest))
        raise FileFormatError(f"{place(culprit)}: {shown(values[culprit])} is not {what}")
    return numbers


def from_columns(
    columns: Mapping[str, Column],
    place: Callable[[str, int], str],
    projection: Projection | None = None,
) -> Points:
    """Points from columns by role; ``place(role, row)`` says where a value stands, for messages.

    Longitude and latitude are projected to ``projection``, or to a plane of their own; metres have none.
    """
    values = {
        role: _numbers(column, partial(place, role), *((0.0, "a weight") if role == "weight" else (LOWEST, "a number")))
        for role, column in columns.items()
        if role != "id"
    }
    axes = [values[axis] for axis in ("x", "y", "z") if axis in values]
    if "longitude" in values:
        degrees = np.stack([values["longitude"], values["latitude"]], axis=-1)
        projection = projection or Projection.around(degrees)
        axes = [*projection.to_metres(degrees).T, *axes]
    else:
        projection = None
    ids = [str(name) for name in columns["id"]] if "id" in columns else None
    return Points(np.stack(axes, axis=-1), values.get("weight"), ids, projection)


def to_columns(points: Points) -> dict[str, Sequence[object]]:
    """Columns by role, in degrees where the points have a projection."""
    axes = ("x", "y", "z") if points.projection is None else ("longitude", "latitude", "z")
    coordinates = points.positions if points.projection is None else points.degrees
    columns: dict[str, Sequence[object]] = dict(zip(axes, coordinates.T.tolist(), strict=False))
    if points.weights is not None:
        columns["weight"] = points.weights.tolist()
    if points.ids is not None:
        columns["id"] = points.ids
    return columns
