"""Team and targets of a scenario that may be larger than memory, and the targets near some place.

Plain NPY files of pairs of coordinates, and Zarr arrays, stay on disk, and rows are read as they are needed. All else
is read as ``simulate`` reads it. Targets that stand still are sorted into tiles of a grid, in a folder of the run, so
that each part reads only those near its triangles.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.format import open_memmap as new_file
from numpy.typing import NDArray

from tricover.errors import InputError, listed
from tricover.formats.binary import zarr_array
from tricover.formats.points import LARGEST
from tricover.formats.writing import draft_of
from tricover.simulation import Scenario
from tricover.simulation.checksums import checksum
from tricover.simulation.groups import damaged, read_group, write_group
from tricover.simulation.parts_reader import PartsReader
from tricover.simulation.resolve import Ground, ground_of, targets_of, zones_of
from tricover.studies.boxes import ROOM
from tricover.studies.regions import Region
from tricover.targets import Targets

__all__ = ["Field", "Sources", "TargetTiles", "open_sources", "sort_targets", "targets_in"]

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BLOCK = 1 << 16
"""Targets of one tile that are read at once, at most: 1 MB."""
TILE = 1 << 14
"""Targets in a tile if they were even: a part looks through those at its edges in vain."""
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
    """Still targets sorted into the tiles of a grid, on disk, in blocks of the same tile."""

    def __init__(self, place: Path) -> None:
        self._place = place
        known = read_group(place / "blocks")
        self._starts: Ints = known["starts"]
        self._sums: Ints = known["sums"]
        self._tiles: Ints = known["tiles"]
        self._grid = _Grid(known["box"], int(known["side"][0]))
        try:
            self._columns = [np.load(file, mmap_mode="r") for file in sorted(place.glob("*.npy"))]
        except (OSError, ValueError) as error:
            raise damaged(place, error) from None

    def __len__(self) -> int:
        return len(self._tiles)

    @property
    def boxes(self) -> Floats:
        """Boxes (B, 4) around the blocks."""
        return np.concatenate(self._grid.boxes(self._tiles), axis=1)

    def block(self, number: int) -> list[Floats]:
        """Points (n, 2) of a block, and their weights (n,) if there are any."""
        rows = slice(self._starts[number], self._starts[number + 1])
        columns = [np.array(column[rows]) for column in self._columns]
        if _sum_of(columns) != self._sums[number]:
            raise damaged(self._place, ValueError("its targets are not as they were written"))
        return columns

    def near(self, region: Region) -> Targets:
        """The targets in a region, in memory."""
        tiles = self._grid.tiles(region.box)
        pieces = region.near(*self._grid.boxes(tiles))
        first, last = (np.searchsorted(self._tiles, tiles, side) for side in ("left", "right"))
        columns = [[column[:0]] for column in self._columns]
        for place in np.flatnonzero(pieces.any(axis=1)):
            for block in range(first[place], last[place]):
                found = self.block(block)
                inside = region.holds(found[0], pieces[place])
                for column, values in zip(columns, found, strict=True):
                    column.append(values[inside])
        return targets_in(map(np.concatenate, columns))


def targets_in(columns: Iterable[Floats]) -> Targets:
    """Targets with points (n, 2) and perhaps weights (n,)."""
    points, *weights = columns
    return Targets.known(points, weights[0] if weights else None)


class _Grid(NamedTuple):
    """Square many tiles that make up a box (2, 2), row by row."""

    box: Floats
    side: int

    @property
    def _size(self) -> Floats:
        return np.asarray(np.maximum(self.box[1] - self.box[0], np.finfo(np.float64).tiny))

    def places(self, points: Floats) -> Ints:
        """Column and row (n, 2) of the tiles that hold points; those beyond the grid are on its edge."""
        shares = np.clip((points - self.box[0]) / self._size, 0.0, 1.0)
        return np.asarray(np.minimum((shares * self.side).astype(np.int64), self.side - 1))

    def sorted(self, points: Floats) -> tuple[Ints, Ints]:
        """The order of points (n, 2) by their tiles, and how many are in each tile."""
        column, row = self.places(points).T
        tiles = (row * self.side + column).astype(np.uint16)  # sorted in linear time
        return np.argsort(tiles, kind="stable"), np.bincount(tiles, minlength=self.side**2)

    def tiles(self, box: Floats) -> Ints:
        """Numbers of the tiles that may hold points of a box (2, 2), ascending."""
        first, last = self.places(box)
        rows, columns = (np.arange(first[axis], last[axis] + 1) for axis in (1, 0))
        return (rows[:, None] * self.side + columns).ravel()

    def boxes(self, tiles: Ints) -> tuple[Floats, Floats]:
        """The lower left and the upper right corners (n, 2) of tiles, with some room."""
        places = np.column_stack([tiles % self.side, tiles // self.side])
        low, high = (self.box[0] + (places + edge) * (self._size / self.side) for edge in (0, 1))
        room = ROOM * np.abs(self.box).max()
        return low - room, high + room


def sort_targets(sources: Sources, place: Path) -> None:
    """Write the still targets of a scenario tile by tile; what is there already is kept."""
    if place.exists():
        return
    targets = sources.targets
    columns = {"points": sources.points if targets is None else targets.points}
    if targets is not None and targets.weights is not None:
        columns["weights"] = targets.weights
    grid, counts = _grid_of(columns["points"])
    starts = np.append(0, np.cumsum(counts))
    with draft_of(place) as draft:
        draft.mkdir()
        files = [new_file(draft / f"{name}.npy", "w+", np.float64, column.shape) for name, column in columns.items()]
        free = starts[:-1].copy()  # where the next target of each tile goes
        for start, points in _chunks(columns["points"]):
            order, here = grid.sorted(points)
            to = np.repeat(free - np.cumsum(here) + here, here) + np.arange(len(points))
            free += here
            for file, column in zip(files, columns.values(), strict=True):
                file[to] = np.asarray(column[start : start + len(points)])[order]
        for file in files:
            file.flush()
        blocks = [np.arange(*span, BLOCK) for span in pairwise(starts.tolist())]
        cuts = np.append(np.concatenate(blocks), starts[-1])
        known = {
            "starts": cuts,
            "sums": np.array([_sum_of([file[slice(*span)] for file in files]) for span in pairwise(cuts.tolist())]),
            "tiles": np.repeat(np.arange(len(blocks)), list(map(len, blocks))),
            "box": grid.box,
            "side": np.array([grid.side]),
        }
        write_group(draft / "blocks", known)


def _grid_of(points: Any) -> tuple[_Grid, Ints]:
    """Tiles for targets (D, 2), and how many are in each."""
    box = np.array([[np.inf, np.inf], [-np.inf, -np.inf]])
    for start, some in _chunks(points):
        _check(some, start)
        box = np.stack([np.minimum(box[0], some.min(axis=0)), np.maximum(box[1], some.max(axis=0))])
    grid = _Grid(box, int(np.clip(np.sqrt(len(points) / TILE), 1, _MOST_TILES)))
    return grid, np.sum([grid.sorted(some)[1] for _, some in _chunks(points)], axis=0)


def _sum_of(columns: Sequence[Floats]) -> int:
    """A checksum of some rows."""
    return reduce(lambda before, values: checksum(values, before), columns, 0)


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
    """The targets as parts of a team see them: those in a region, where they stand still; else all of them.

    Those that stand still are in tiles, in a folder of the run. Others are read from the scenario of the run.
    """

    def __init__(self, store: Path, still: bool) -> None:
        self._store, self.everywhere = store, not still

    @cached_property
    def _whole(self) -> Targets:
        return targets_of(PartsReader(self._store).rules)

    def near(self, region: Region) -> Targets:
        """What a part that stays in a region has to know of the targets."""
        return self._whole if self.everywhere else TargetTiles(self._store / "targets").near(region)
