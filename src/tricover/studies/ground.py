"""Team and targets of a scenario that may be larger than memory, and the targets near some place.

Plain NPY files of pairs of coordinates, and Zarr arrays, stay on disk, and rows are read as they are needed. All else
is read as ``simulate`` reads it. Targets that stand still are sorted, in a folder of the run, see ``tiles``.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.formats.binary import zarr_array
from tricover.simulation import Scenario
from tricover.simulation.parts_reader import PartsReader
from tricover.simulation.resolve import Ground, ground_of, targets_of, zones_of
from tricover.studies.regions import Region
from tricover.studies.tiles import TargetTiles
from tricover.targets import Targets

__all__ = ["Field", "Sources", "open_sources"]

Floats = NDArray[np.float64]


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
