"""``Targets``: points on the ground with weights, that stand still, move, appear and vanish."""

import io
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tricover.errors import FileFormatError, InputError, listed
from tricover.formats import Points, Projection, read_points, write_points, write_whole
from tricover.formats.binary import npy_array
from tricover.formats.points import LARGEST, checked_ids, checked_positions, checked_weights, dimensions
from tricover.formats.writing import read_whole
from tricover.targets.density import local_density
from tricover.targets.index import Index, Masses, build_index, count_and_sum, list_members
from tricover.targets.motion import Drift, Motion, Path, Track

__all__ = ["Targets", "as_targets"]

Floats = NDArray[np.float64]

# Weights sum to no more than HEAVIEST, so that sums of weight times squared distance are finite. Smaller ones than
# LIGHTEST lose digits where they are multiplied by a coordinate.
HEAVIEST, LIGHTEST = 1e100, 1e-100
_MOST = 1e300  # sums of any values


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Targets:
    """Points on the ground (D, 2), in metres, with weights (D,) where some count more than others.

    Points (T, D, 2) move: one row per step, and ``points`` is the first. ``drifting`` and ``along`` make other motions.
    Coordinates are at most 1e100; a weight is 0 or at least 1e-100, and they sum to at most 1e100.
    ``active`` (D, 2) gives the first step at which each target is there and the first at which it is gone.
    Ask a moving or changing set for its still targets ``at`` a step before anything else.

    >>> targets = Targets([[0, 0], [1, 0], [4, 4]], weights=[1, 2, 5])
    >>> counts, sums = targets.in_triangles([[0, 0], [2, 0], [0, 2]])
    >>> float(counts), sums.tolist()
    (3.0, [2.0, 0.0])
    """

    points: Floats
    weights: Floats | None
    active: NDArray[np.int64] | None
    ids: tuple[str, ...] | None
    projection: Projection | None
    motion: Motion | None

    def __init__(
        self,
        points: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        active: ArrayLike | None = None,
        ids: Sequence[str] | None = None,
        projection: Projection | None = None,
        motion: Motion | None = None,
    ) -> None:
        if dimensions(points) == 3:
            if motion is not None:
                raise InputError("targets have points over time and a motion: give one of the two")
            motion = Track.checked(points)
            points = motion.at(0)
        start = checked_positions(points, dimensions=(2,))
        if projection is not None:
            projection.check(start)
        masses = checked_weights(weights, len(start))
        if masses is not None:
            _check_sizes(masses)
        steps = _checked_active(active, len(start))
        self._put(start, masses, steps, checked_ids(ids, len(start)), projection, motion)

    def _put(self, *values: object) -> None:
        names = ("points", "weights", "active", "ids", "projection", "motion")
        vars(self).update(zip(names, values, strict=True), _steps={})

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        kind = "moving " if self.motion is not None else ""
        extras = [name for name in ("weights", "active", "ids", "projection") if getattr(self, name) is not None]
        return f"Targets({len(self)} {kind}points{', with ' + listed(extras) if extras else ''})"

    # --- over time -------------------------------------------------------------------------------------------------

    @classmethod
    def drifting(
        cls, points: ArrayLike, velocity: Callable[[Floats, float], Floats], weights: ArrayLike | None = None
    ) -> Self:
        """Targets that start at points (D, 2) and are carried by ``velocity(positions, time)``, in metres per step."""
        start = checked_positions(points, dimensions=(2,))
        return cls(start, weights, motion=Drift(start, velocity))

    @classmethod
    def along(cls, path: Callable[[int], Floats], weights: ArrayLike | None = None) -> Self:
        """Targets that stand at ``path(step)`` (D, 2)."""
        start = checked_positions(path(0), dimensions=(2,))
        return cls(start, weights, motion=Path(path, len(start)))

    @property
    def still(self) -> bool:
        """Whether the same targets stand at the same places at every step."""
        return self.motion is None and self.active is None

    def at(self, step: int) -> "Targets":
        """The still targets of a step: those that are there, where they are. The last step asked for is kept."""
        if step < 0:
            raise InputError(f"steps are counted from 0 on, not {step}")
        if self.still:
            return self
        kept: dict[int, Targets] = vars(self)["_steps"]
        if step not in kept:
            points = self.points if self.motion is None else self.motion.at(step)
            kept.clear()
            kept[step] = self._part(points, self.present(step))
        return kept[step]

    def present(self, step: int) -> NDArray[np.int64]:
        """Indices of the targets that are there at a step: target k of ``at(step)`` is target present(step)[k]."""
        if self.active is None:
            return np.arange(len(self))
        return np.flatnonzero((self.active[:, 0] <= step) & (step < self.active[:, 1]))

    @classmethod
    def known(cls, points: Floats, weights: Floats | None) -> "Targets":
        """Still targets from checked points (D, 2) and weights (D,), perhaps none: what is known of them somewhere."""
        found = object.__new__(cls)
        found._put(points, weights, None, None, None, None)
        return found

    def _part(self, points: Floats, kept: NDArray[np.int64]) -> "Targets":
        """Still targets from checked data; unlike those a user makes, they may be none."""
        part = object.__new__(Targets)
        weights = None if self.weights is None else self.weights[kept]
        ids = None if self.ids is None else tuple(self.ids[k] for k in kept)
        part._put(points[kept], weights, None, ids, self.projection, None)
        return part

    # --- inside triangles ------------------------------------------------------------------------------------------

    @cached_property
    def index(self) -> Index:
        """The sorted targets that answer all questions about triangles."""
        if not self.still:
            raise InputError("these targets change over time: ask targets.at(step) first")
        return build_index(self.points)

    @cached_property
    def masses(self) -> Masses:
        """The weights in the index's order, one for all where there are none."""
        return self.index.masses(self.weights)

    def in_triangles(self, triangles: ArrayLike) -> tuple[Floats, Floats]:
        """Weight (…,) and weighted sum of positions (…, 2) of the targets in each triangle (…, 3, 2).

        Triangles are closed, may overlap, be flat and run either way round. Without weights each target counts as one.
        A sum is the exact one of the floats w, w·x or w·y of the targets inside, rounded once to the nearest float:
        targets outside, the order of targets and the number of threads change no bit of it.
        """
        corners, shape = _checked_triangles(triangles)
        sums = self.sums_inside(corners)
        return sums[:, 2].reshape(shape), sums[:, :2].reshape(*shape, 2)

    def sums_inside(self, triangles: Floats) -> Floats:
        """Sums (T, 3) of w·x, w·y and w of the targets in checked triangles (T, 3, 2)."""
        return count_and_sum(self.masses, triangles)[1]

    def sums_in_triangles(self, triangles: ArrayLike, values: ArrayLike) -> Floats:
        """Sums (…, K) over the targets in each triangle (…, 3, 2) of any values (D, K), or (…,) of values (D,).

        Each is the exact sum, rounded once.
        """
        corners, shape = _checked_triangles(triangles)
        table = np.asarray(values, dtype=np.float64)
        if table.ndim not in (1, 2) or len(table) != len(self) or not np.isfinite(table).all():
            raise InputError(f"values must be finite, of shape ({len(self)},) or ({len(self)}, K), not {table.shape}")
        if table.size and max(table.max(), -table.min()) > _MOST / len(self):
            raise InputError(f"values must not exceed {_MOST:g} divided by the number of targets: their sums overflow")
        columns = np.atleast_2d(table.T)
        sums = np.empty((len(corners), len(columns)))
        for k, column in enumerate(columns):
            sums[:, k] = count_and_sum(self.index.masses(column, moments=False), corners)[1][:, 2]
        return sums.reshape((*shape, *table.shape[1:]))

    def members(self, triangles: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Which targets stand in each triangle (…, 3, 2), as offsets and indices of a sparse matrix.

        The targets of triangle k (in flat order) are indices[offsets[k]:offsets[k + 1]], in the index's own order.
        """
        corners, _ = _checked_triangles(triangles)
        return list_members(self.index, corners)

    def within(self, triangle: ArrayLike) -> "Targets":
        """The still targets in one closed triangle (3, 2), perhaps none: what a single agent sees of them.

        >>> targets = Targets([[0, 0], [1, 0], [4, 4]], weights=[1, 2, 5])
        >>> targets.within([[0, 0], [2, 0], [0, 2]]).points.tolist()
        [[0.0, 0.0], [1.0, 0.0]]
        >>> len(targets.within([[5, 5], [6, 5], [5, 6]]))
        0
        """
        if np.shape(triangle) != (3, 2):
            raise InputError(f"one triangle has the shape (3, 2), not {np.shape(triangle)}")
        _, names = self.members(triangle)
        return self._part(self.points, np.sort(names).astype(np.int64))

    def weighed(self) -> tuple[Floats, Floats]:
        """Points (D, 2) and weights (D,) of the still targets that have weight, perhaps none."""
        if not self.still:
            raise InputError("these targets change over time: ask targets.at(step) first")
        weights = np.ones(len(self)) if self.weights is None else self.weights
        heavy = weights > 0
        return self.points[heavy], weights[heavy]

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The targets (D,) in the order of x, then y, then weight: other targets cannot change the order of two."""
        xs, ys = self.points.T
        order = np.argsort(xs)
        if not (np.diff(xs[order]) > 0).all():  # two with the same x: rare, and a sort by several keys takes longer
            order = np.lexsort((ys, xs) if self.weights is None else (self.weights, ys, xs))
        order.setflags(write=False)
        return order

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """The place (D,) of each target in that order."""
        ranks = np.empty(len(self), np.int64)
        ranks[self.order] = np.arange(len(self))
        ranks.setflags(write=False)
        return ranks

    @cached_property
    def density(self) -> Floats:
        """Local density at each target (D,): weight per square metre, from the distance to its 12th nearest target."""
        if not self.still:
            raise InputError("these targets change over time: ask targets.at(step) first")
        return local_density(self.points, self.weights)

    # --- files -----------------------------------------------------------------------------------------------------

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        projection: Projection | None = None,
        origin: Sequence[float] | None = None,
        points: int | None = None,
        density: float | None = None,
        seed: int | None = None,
        extent: Sequence[float] | None = None,
    ) -> "Targets":
        """Read targets from CSV, NPY, JSON, GeoJSON or GeoTIFF; see ``formats.read_points``. Altitudes are left out.

        An NPY array (T, D, 2) holds targets that move.
        """
        if FilePath(path).suffix.lower() == ".npy" and extent is None:
            array = npy_array(read_whole(path), path)
            if array.ndim == 3:
                return cls(array, projection=projection if origin is None else Projection.at(origin))
        ways: dict[str, Any] = {"points": points, "density": density, "seed": seed, "extent": extent}
        found = read_points(path, projection=projection, origin=origin, **ways)
        return cls(found.positions[:, :2], found.weights, ids=found.ids, projection=found.projection)

    def to_file(self, path: str | os.PathLike[str]) -> None:
        """Write the targets to CSV, NPY, JSON or GeoJSON, in degrees where they came so; a track only to NPY."""
        if self.still:
            write_points(path, Points(self.points, self.weights, self.ids, self.projection))
        elif isinstance(self.motion, Track) and self.active is None and FilePath(path).suffix.lower() == ".npy":
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, self.motion.positions, allow_pickle=False)
            write_whole(path, buffer.getvalue())
        else:
            raise FileFormatError(f"{path}: cannot hold targets that change over time; write targets.at(step)")


def as_targets(targets: "Targets | ArrayLike") -> Targets:
    """Targets as they are, or points (D, 2) as targets."""
    return targets if isinstance(targets, Targets) else Targets(targets)


def _check_sizes(weights: Floats) -> None:
    """Refuse weights whose sums could overflow or lose digits."""
    light = np.flatnonzero((weights > 0) & (weights < LIGHTEST))
    if light.size:
        raise InputError(f"target {listed(light)} has a weight below {LIGHTEST:g}: give it 0, or scale all weights up")
    if np.minimum(weights, 2 * HEAVIEST).sum() > HEAVIEST:
        heavy = int(weights.argmax())
        raise InputError(
            f"weights sum to more than {HEAVIEST:g}, and target {heavy} alone has {weights[heavy]:g}: "
            "scale them down, only their ratios count"
        )


def _checked_active(active: ArrayLike | None, count: int) -> NDArray[np.int64] | None:
    if active is None:
        return None
    steps = np.array(active)
    if steps.shape != (count, 2) or not np.issubdtype(steps.dtype, np.integer):
        raise InputError(f"active must hold two whole steps for each of {count} targets, not shape {steps.shape}")
    culprits = np.flatnonzero(steps[:, 0] >= steps[:, 1])
    if culprits.size:
        raise InputError(f"target {listed(culprits)} is gone before it appears")
    return steps.astype(np.int64)


def _checked_triangles(triangles: ArrayLike) -> tuple[Floats, tuple[int, ...]]:
    """Triangles (T, 3, 2) in one row, and the shape they came in."""
    corners = np.asarray(triangles, dtype=np.float64)
    if corners.ndim < 2 or corners.shape[-2:] != (3, 2):
        raise InputError(f"triangles must have shape (…, 3, 2), not {corners.shape}")
    flat = np.ascontiguousarray(corners.reshape(-1, 3, 2))
    if flat.size and not (flat.min() >= -LARGEST and flat.max() <= LARGEST):
        culprits = np.flatnonzero(~(np.abs(flat) <= LARGEST).all(axis=(1, 2)))
        raise InputError(f"triangle {listed(culprits)} has a corner that is NaN, infinite or beyond {LARGEST:g}")
    return flat, corners.shape[:-2]
