"""``Points``: what a point file holds, whatever its format."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import InputError, listed, shown
from tricover.formats.projection import Projection

__all__ = [
    "LARGEST",
    "Points",
    "check_count",
    "checked_ids",
    "checked_positions",
    "checked_weights",
    "dimensions",
    "own_floats",
]

Floats = NDArray[np.float64]

#: No coordinate may be larger, in metres: a weight of as much times a squared distance is still finite.
LARGEST = 1e100

_UNWRITABLE = re.compile("[\0\ud800-\udfff]")


def own_floats(values: ArrayLike) -> Floats:
    """Numbers as an array that nobody changes behind one's back: a copy, unless they are read-only already."""
    if type(values) is np.ndarray and values.dtype == np.float64:
        return values if values.flags.owndata and not values.flags.writeable else values.copy()
    if isinstance(values, np.ndarray | np.generic) and values.dtype.kind == "c":  # NumPy would drop a part, and warn
        raise TypeError("complex numbers are no coordinates")
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:
        raise ValueError("a whole number is too large") from None


def dimensions(values: ArrayLike) -> int:
    """How deep lists of numbers are nested; 0 where they have unequal lengths, which whoever reads them will say."""
    try:
        return int(np.ndim(values))
    except ValueError:
        return 0


def _floats(values: ArrayLike, what: str) -> Floats:
    try:
        return own_floats(values)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be numbers in rows of equal length") from error


def checked_positions(values: ArrayLike, dimensions: tuple[int, ...] = (2, 3)) -> Floats:
    """Positions (N, n) of one's own, read-only, with n in ``dimensions``, at least one, none beyond ``LARGEST``."""
    positions = _floats(values, "positions")
    if positions.ndim != 2 or positions.shape[1] not in dimensions:
        shapes = " or ".join(f"(N, {n})" for n in dimensions)
        raise InputError(f"positions must have shape {shapes}, not {positions.shape}")
    if not len(positions):
        raise InputError("there are no points: at least one is needed")
    culprits = np.flatnonzero(~np.isfinite(positions).all(axis=1))
    if culprits.size:
        raise InputError(f"point {listed(culprits)} has a coordinate that is NaN or infinite")
    if not -LARGEST <= positions.min() <= positions.max() <= LARGEST:
        culprits = np.flatnonzero((np.abs(positions) > LARGEST).any(axis=1))
        raise InputError(f"point {listed(culprits)} has a coordinate beyond {LARGEST:g} metres")
    positions.setflags(write=False)
    return positions


def check_count(points: object) -> None:
    """Refuse what is no number of points; None is not asked for."""
    whole = isinstance(points, int | np.integer) and not isinstance(points, bool)
    if points is not None and not (whole and points >= 1):  # type: ignore[operator]
        raise InputError(f"points must be a whole number from 1 on, not {shown(points)}")


def checked_weights(values: ArrayLike | None, count: int) -> Floats | None:
    """Weights (count,) of one's own, read-only: finite, none negative, not all zero."""
    if values is None:
        return None
    weights = _floats(values, "weights")
    if weights.shape != (count,):
        raise InputError(f"{count} points need weights of shape ({count},), not {weights.shape}")
    culprits = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if culprits.size:
        raise InputError(f"point {listed(culprits)} has a weight that is negative, NaN or infinite")
    if not weights.any():
        raise InputError("all weights are zero: at least one must be positive")
    weights.setflags(write=False)
    return weights


def checked_ids(values: Sequence[str] | None, count: int) -> tuple[str, ...] | None:
    """One name for each of ``count`` points, as text that can be written to any file."""
    if values is None:
        return None
    if not isinstance(values, Sequence | np.ndarray):
        raise InputError(f"ids must be a list with a name for each point, not {shown(values)}")
    if len(values) != count:
        raise InputError(f"{count} points need as many ids, not {len(values)}")
    texts = all(issubclass(kind, str | int | float | np.generic) for kind in set(map(type, values)))
    names = tuple(map(str, values)) if texts else ()
    if not texts or _UNWRITABLE.search("".join(set(names))):  # many points may share a name
        culprit = next(index for index, value in enumerate(values) if not _is_name(value))
        raise InputError(
            f"point {culprit} has the id {shown(values[culprit])}: give text or a number, without null characters"
        )
    return names


def _is_name(value: object) -> bool:
    """Whether it is text or a number; NPY files keep no null character, and no file half a pair of surrogates."""
    return isinstance(value, str | int | float | np.generic) and not _UNWRITABLE.search(str(value))


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Points:
    """Positions (N, n) with n = 2 or 3, in metres; weights (N,) and names (N,) where there are any.

    ``projection`` is the local plane when the points came as longitude and latitude: it leads back to degrees.
    """

    positions: Floats
    weights: Floats | None
    ids: tuple[str, ...] | None
    projection: Projection | None

    def __init__(
        self,
        positions: ArrayLike,
        weights: ArrayLike | None = None,
        ids: Sequence[str] | None = None,
        projection: Projection | None = None,
    ) -> None:
        checked = checked_positions(positions)
        if projection is not None:
            projection.check(checked)
        values = {
            "positions": checked,
            "weights": checked_weights(weights, len(checked)),
            "ids": checked_ids(ids, len(checked)),
            "projection": projection,
        }
        vars(self).update(values)

    def __len__(self) -> int:
        return len(self.positions)

    def __repr__(self) -> str:
        extras = [name for name in ("weights", "ids", "projection") if getattr(self, name) is not None]
        return f"Points({len(self)} in {self.positions.shape[1]}-D{', with ' + listed(extras) if extras else ''})"

    @property
    def degrees(self) -> Floats:
        """Positions with longitude and latitude in degrees instead of metres."""
        if self.projection is None:
            raise InputError("these points have no projection: they were not read from longitude and latitude")
        return np.hstack([self.projection.to_degrees(self.positions[:, :2]), self.positions[:, 2:]])
