"""Team and targets of a scenario that may be larger than memory, and the targets near some place.

Plain NPY files of pairs of coordinates, and Zarr arrays, stay on disk, and rows are read as they are needed. All else
is read as ``simulate`` reads it. Targets that stand still are sorted into tiles of a grid, in a folder of the run, so
that each part reads only those near its triangles.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError, listed
from tricover.formats.binary import zarr_array
from tricover.formats.points import LARGEST
from tricover.formats.writing import draft_of
from tricover.simulation import Scenario
from tricover.simulation.parts_reader import PartsReader
from tricover.simulation.record import Layout
from tricover.simulation.resolve import Ground, ground_of, targets_of, zones_of
from tricover.simulation.store import new_array
from tricover.targets import Targets

__all__ = ["Field", "Sources", "TargetTiles", "open_sources", "sort_targets"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TILE = 1 << 16
"""Targets in a tile if they were even: 1 MB, of which a part reads one more than it needs at each of its edges."""
_CHUNK = 1 << 20
_MOST_TILES = 250  # per axis, so that the number of a tile has sixteen bits


class OnDisk:
    """Rows of a Zarr array, as of a NumPy array."""

    def __init__(self, array: Any) -> None:
        self._array, self.shape = array, array.shape

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, rows: Any) -> Floats:
        """A slice of rows, or those of an array of numbers."""
        return np.asarray(self._array[rows] if isinstance(rows, slice) else self._array.oindex[np.asarray(rows)])


@dataclass(frozen=True, eq=False)
class Sources:
    """Where a team and its targets are: arrays in memory, or on disk.

    Attributes:
        reference: reference positions (N, 2).
        start: where everybody stands at step 0, (N, 2).
        targets: over time; None: still targets on disk.
        points: of still targets (D, 2) on disk; None: see ``targets``.
        zones: polygons that nobody enters.
        ground: all of it, where it is in memory.
    """

    reference: Any
    start: Any
    targets: Targets | None
    points: Any
    zones: tuple[Floats, ...] | None
    ground: Ground | None = None

    @property
    def still(self) -> bool:
        """Whether the same targets stand at the same places at every step."""
        return self.targets is None or self.targets.still

    @cached_property
    def whole(self) -> Targets:
        """All targets, in memory."""
        return Targets(self.points[:]) if self.targets is None else self.targets


def open_sources(scenario: Scenario) -> Sources:
    """Team and targets of a scenario; what can stay on disk does."""
    team, field = scenario.formation, scenario.targets
    plain = scenario.origin is None and team.start is None and scenario.safety.zones is None
    reference = _on_disk(team.file) if plain and team.file else None
    alone = all(getattr(field, name) is None for name in ("weights", "ids", "active", "motion", "points", "density"))
    points = _on_disk(field.file) if plain and field.file and alone and field.extent is None else None
    if reference is None:
        ground = ground_of(scenario)
        return Sources(ground.reference, ground.start, ground.targets, None, ground.zones, ground)
    targets = targets_of(scenario) if points is None else None
    if targets is not None and targets.projection is not None:
        ground = ground_of(scenario)
        return Sources(ground.reference, ground.start, ground.targets, None, ground.zones, ground)
    return Sources(reference, reference, targets, points, zones_of(scenario, None))


def _on_disk(path: Path) -> Any:
    """Pairs of coordinates in a file that can stay on disk; None: it has to be read as a whole."""
    suffix = Path(path).suffix.lower()
    if suffix == ".zarr":
        array = OnDisk(zarr_array(path))
        return array if array.shape[1] == 2 else None
    if suffix != ".npy":
        return None
    try:
        rows = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError):
        return None  # who reads it as a whole says what is wrong
    return rows if rows.dtype == np.float64 and rows.ndim == 2 and rows.shape[1] == 2 and len(rows) else None


class TargetTiles:
    """Still targets sorted into tiles, on disk."""

    def __init__(self, place: Path) -> None:
        import zarr

        self.place = place
        group: Any = zarr.open_group(place, mode="r")
        self._group = group
        self._starts: Ints = group["starts"][...]
        self._box: Floats = group["box"][...]
        self._side = int(np.sqrt(len(self._starts) - 1))

    def near(self, low: Floats, high: Floats) -> Targets:
        """The targets in a closed box, in memory."""
        first, last = _tiles(np.stack([low, high]), self._box, self._side)
        spans = [
            slice(int(self._starts[row * self._side + first[0]]), int(self._starts[row * self._side + last[0] + 1]))
            for row in range(int(first[1]), int(last[1]) + 1)
        ]
        points = np.concatenate([np.empty((0, 2)), *(self._group["points"][span] for span in spans)])
        inside = ((points >= low) & (points <= high)).all(axis=1)
        weights = None
        if "weights" in self._group:
            weights = np.concatenate([np.empty(0), *(self._group["weights"][span] for span in spans)])[inside]
        return Targets.known(points[inside], weights)


def _tiles(points: Floats, box: Floats, side: int) -> Ints:
    """Column and row (n, 2) of the tiles that hold points; those beyond the grid are on its edge."""
    sizes = np.maximum(box[1] - box[0], np.finfo(np.float64).tiny)
    shares = np.clip((points - box[0]) / sizes, 0.0, 1.0)
    return np.asarray(np.minimum((shares * side).astype(np.int64), side - 1))


def sort_targets(sources: Sources, place: Path) -> None:
    """Write the still targets of a scenario tile by tile; what is there already is kept."""
    if place.exists():
        return
    points = sources.points if sources.targets is None else sources.targets.points
    weights = None if sources.targets is None else sources.targets.weights
    count = len(points)
    box = np.array([[np.inf, np.inf], [-np.inf, -np.inf]])
    for start, some in _chunks(points):
        _check(some, start)
        box = np.stack([np.minimum(box[0], some.min(axis=0)), np.maximum(box[1], some.max(axis=0))])
    side = int(np.clip(np.sqrt(count / TILE), 1, _MOST_TILES))
    tiles = np.empty(count, np.uint16)
    for start, some in _chunks(points):
        column, row = _tiles(some, box, side).T
        tiles[start : start + len(some)] = row * side + column
    order = np.argsort(tiles, kind="stable")
    starts = np.searchsorted(tiles[order], np.arange(side * side + 1)).astype(np.int64)
    _write(place, points, weights, order, {"starts": starts, "box": box})


def _write(place: Path, points: Any, weights: Floats | None, order: Ints, plain: dict[str, NDArray[Any]]) -> None:
    import zarr

    columns = {"points": points} if weights is None else {"points": points, "weights": weights}
    with draft_of(place) as draft:
        group = zarr.open_group(draft, mode="w", zarr_format=3)
        for name, column in columns.items():
            shape = column.shape
            dimensions = ("target", "xy")[: len(shape)]
            array = new_array(group, name, Layout(dimensions, "float64"), shape, (min(TILE, len(order)), *shape[1:]))
            for start in range(0, len(order), _CHUNK):
                rows = order[start : start + _CHUNK]
                array[start : start + len(rows)] = column[rows]
        for name, values in plain.items():
            layout = Layout(tuple(f"{name}_{axis}" for axis in range(values.ndim)), str(values.dtype))
            new_array(group, name, layout, values.shape, values.shape)[...] = values


def _chunks(points: Any) -> Iterator[tuple[int, Floats]]:
    for start in range(0, len(points), _CHUNK):
        yield start, np.asarray(points[start : start + _CHUNK])


def _check(points: Floats, start: int) -> None:
    broken = np.flatnonzero(~(np.abs(points) <= LARGEST).all(axis=1))
    if broken.size:
        raise InputError(
            f"target {listed(start + broken)} has a coordinate that is NaN, infinite or beyond {LARGEST:g}"
        )


class Field:
    """The targets as parts of a team see them: those near a box, where they stand still; else all of them.

    Those that stand still are in tiles, in a folder of the run. Others are read from the scenario of the run.
    """

    def __init__(self, store: Path, still: bool) -> None:
        self._store, self.everywhere = store, not still

    @cached_property
    def _whole(self) -> Targets:
        return targets_of(PartsReader(self._store).rules)

    def near(self, low: Floats, high: Floats) -> Targets:
        """What a part that stays in a box has to know of the targets."""
        return self._whole if self.everywhere else TargetTiles(self._store / "targets").near(low, high)
