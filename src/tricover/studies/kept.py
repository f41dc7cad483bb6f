"""What the figures of a run in parts are worked out from: the stored ways of each part, stage by stage.

A run in parts has no array of the whole team. So whoever asks for a figure of the whole team asks it of each part, or
of a part and what is near it, and puts the answers together in a fixed order.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.errors import FileFormatError, InputError
from tricover.simulation import Run
from tricover.simulation.groups import read_group
from tricover.simulation.in_parts import TOP, WAYS, Part, Stage, places_after, ways_of
from tricover.simulation.parts_reader import PartsReader

__all__ = ["Piece", "absent_in", "parts_of", "pieces_of", "top_rows"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def parts_of(run: Run) -> PartsReader:
    """The record of a finished run in parts."""
    if not isinstance(run.record, PartsReader):
        raise InputError("this is no run in parts: ask it for its separation and its coverage, and certify it")
    if not run.record.finished:
        raise InputError("this run in parts was cut short: go on with it by simulate_parts, then ask again")
    return run.record


class Piece(NamedTuple):
    """A part in a stage of a run: where to find it. What is read of it is not kept."""

    reader: PartsReader
    stage: Stage
    name: str

    @property
    def end(self) -> int:
        """The last step of the stage that the run came to."""
        return min(self.stage.last, self.reader.steps)

    def part(self) -> Part:
        """Who is in it."""
        return self.reader.part(self.stage.epoch, self.name)

    def ways(self) -> Floats:
        """Where its n agents were, (S, n, 2), from the first step of the stage on; they stay at the last place."""
        return self._read(self.name)

    def corner_ways(self, part: Part) -> Floats:
        """The same of its K corners, (S, K, 2)."""
        return self._read(TOP)[:, top_rows(self.reader, self.stage.epoch, part)]

    def places(self) -> Floats:
        """Where its agents are in the end, (n, 2)."""
        return self._ends(self.name)

    def corner_places(self, part: Part) -> Floats:
        """The same of its K corners, (K, 2)."""
        return self._ends(TOP)[top_rows(self.reader, self.stage.epoch, part)]

    def _read(self, name: str) -> Floats:
        return ways_of(read_group(self._group(name), WAYS))[: self.end - self.stage.first + 1]

    def _ends(self, name: str) -> Floats:
        return places_after(self._group(name), self.end - self.stage.first)

    def _group(self, name: str) -> Path:
        return self.reader.path / "stages" / str(self.stage.number) / name


def top_rows(reader: PartsReader, epoch: int, part: Part) -> Ints:
    """Rows of the top that are the corners of a part, (K,)."""
    top, corners = reader.tops[epoch].numbers, part.corners
    rows = np.searchsorted(top, corners)
    if not np.array_equal(top[np.minimum(rows, len(top) - 1)], corners):
        raise FileFormatError(f"{reader.path} is damaged: agents of a part listen to those of another one")
    return rows


def pieces_of(reader: PartsReader, stage: Stage) -> list[Piece]:
    """The parts of a stage, the top first."""
    return [Piece(reader, stage, name) for name in reader.names(stage.epoch)]


def absent_in(reader: PartsReader, epoch: int) -> Ints:
    """Numbers of those who take no part in an epoch, ascending."""
    absent = read_group(reader.path / "epochs" / str(epoch) / "absent", ("numbers",))["numbers"]
    return np.sort(absent)
