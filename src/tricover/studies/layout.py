"""Who is in which part: the network of a team, built cell by cell and cut, in a folder of its run.

Everybody is sorted into the first cells, in files. A cell with more followers than fit into memory is split: its mentee
goes to the top, and the others go to its child cells. What is left are cells that can be built on their own.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.formats.writing import draft_of
from tricover.network.first_cells import CHUNK, Frame, cell_structure, first_cells
from tricover.network.large_cells import Mentee, children_of, mentee_of
from tricover.network.mentees import MenteeRule
from tricover.network.roster import refuse_coincident
from tricover.simulation.groups import attributes_of, damaged, read_group, write_group
from tricover.simulation.in_parts import TOP, Part
from tricover.simulation.mission import Epoch
from tricover.studies.ground import Sources
from tricover.studies.subtrees import cut_network

__all__ = [
    "Cell",
    "Cells",
    "Layout",
    "Outside",
    "Sizes",
    "cut_cells",
    "cut_epoch",
    "grouped",
    "merge_tops",
    "sort_team",
    "split_cell",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_COLUMNS: dict[str, type] = {"numbers": np.int64, "places": np.float64, "start": np.float64}


class Layout(NamedTuple):
    """The parts of an epoch.

    Attributes:
        parts: names of the parts below the top.
        depth: of the whole network.
        largest: agents in the largest part.
    """

    parts: list[str]
    depth: int
    largest: int


class Sizes(NamedTuple):
    """How a network is cut: see ``subtrees``.

    Attributes:
        most: agents of a part, about.
        whole: agents of subtrees that stay in one piece.
    """

    most: int
    whole: int


class Cell(NamedTuple):
    """A cell whose followers are in files, a column each: numbers, places, and where they start, if elsewhere.

    Attributes:
        name: of these files, within the folder of cells.
        corners: numbers of its corners, (3,).
        layer: of its mentee.
        followers: how many there are.
    """

    name: str
    corners: tuple[int, int, int]
    layer: int
    followers: int


class Outside(NamedTuple):
    """Who is above some cells, and so in the top: the anchors, and mentees of cells that were split; A agents.

    Attributes:
        numbers: (A,).
        places: reference positions (A, 2).
        start: where they stand at step 0, (A, 2); None: at their reference positions.
        heard: numbers of those they listen to, (A, 3); -1 for anchors.
        layer: (A,); 0 for anchors.
        descendants: followers below each child cell, (A, 3).
    """

    numbers: Ints
    places: Floats
    start: Floats | None
    heard: Ints
    layer: NDArray[np.int32]
    descendants: NDArray[np.int32]

    @classmethod
    def anchors(cls, numbers: Ints, places: Floats, start: Floats | None) -> "Outside":
        """The anchors (H + 1,) alone."""
        nobody = np.zeros((len(numbers), 3), np.int32)
        return cls(numbers, places, start, nobody.astype(np.int64) - 1, nobody[:, 0], nobody)

    def corners(self, cell: Cell) -> Ints:
        """The rows (3,) of a cell's corners."""
        return np.array([np.flatnonzero(self.numbers == corner)[0] for corner in cell.corners])

    def with_mentees(self, split: "Sequence[Split]") -> "Outside":
        """With the mentees of more cells."""
        if not split:
            return self
        start = None if self.start is None else np.concatenate([self.start, [each.start for each in split]])
        return Outside(
            np.append(self.numbers, [each.mentee.number for each in split]),
            np.concatenate([self.places, [each.mentee.place for each in split]]),
            start,
            np.concatenate([self.heard, [each.cell.corners for each in split]]),
            np.append(self.layer, np.array([each.cell.layer for each in split], np.int32)),
            np.concatenate([self.descendants, np.array([each.descendants for each in split], np.int32)]),
        )


class Split(NamedTuple):
    """A cell that was split: its mentee, where that one starts, and how many followers each child cell has."""

    cell: Cell
    mentee: Mentee
    start: Floats | None
    descendants: tuple[int, int, int]

    @property
    def children(self) -> list[Cell]:
        """The child cells that have followers."""
        found = []
        for child, followers in enumerate(self.descendants):
            corners = list(self.cell.corners)
            corners[child] = self.mentee.number
            name = f"{_folder_of(self.cell)}/{child}"
            found.append(Cell(name, (corners[0], corners[1], corners[2]), self.cell.layer + 1, followers))
        return [cell for cell in found if cell.followers]


class Cells(NamedTuple):
    """Some cells, which are cut together; the names of their parts begin with ``name``."""

    name: str
    cells: list[Cell]
    outside: Outside


# --- everybody in files, cell by cell --------------------------------------------------------------------------


def sort_team(sources: Sources, frame: Frame, place: Path) -> list[Cell]:
    """Write everybody into the files of its first cell; what is there already is kept. Empty cells are left out."""
    count = len(frame.boundary)
    if not place.exists():
        moved = sources.start is not sources.reference
        counts = np.zeros(count, np.int64)
        with draft_of(place) as draft:
            draft.mkdir()
            for numbers, cells, places in first_cells(sources.reference, frame):
                columns = {"numbers": numbers, "places": places, **({"start": sources.start[numbers]} if moved else {})}
                counts += _dealt(draft, cells, count, columns)
            np.save(draft / "counts.npy", counts)
    found = []
    for cell, followers in enumerate(np.load(place / "counts.npy").tolist()):
        corners = int(frame.boundary[cell]), int(frame.boundary[(cell + 1) % count]), frame.core
        found.append(Cell(str(cell), corners, 1, followers))
    return [cell for cell in found if cell.followers]


def split_cell(folder: Path, cell: Cell, outside: Outside, rule: str) -> Split:
    """Choose the mentee of a cell, and write the others into the files of their child cells."""
    place, corners = folder / _folder_of(cell), outside.places[outside.corners(cell)]

    def members() -> Iterator[tuple[Ints, Floats]]:
        return ((numbers, places) for numbers, places, _ in _chunks(folder, cell))

    if not place.exists():
        mentee, descendants = mentee_of(corners, members, rule), np.zeros(3, np.int64)
        # Others at one place are found later: they are corners and followers of the same cell then.
        refuse_coincident(np.vstack([corners, mentee.place]), np.array([*cell.corners, mentee.number]))
        with draft_of(place) as draft:
            draft.mkdir()
            starts = (start for _, _, start in _chunks(folder, cell))
            for (numbers, places, labels), (everybody, _), start in zip(
                children_of(corners, members, mentee), members(), starts, strict=True
            ):
                columns = {"numbers": numbers, "places": places}
                if len(start):
                    columns["start"] = start[everybody != mentee.number]
                descendants += _dealt(draft, labels, 3, columns)
            begins = [start[numbers == mentee.number] for numbers, _, start in _chunks(folder, cell) if len(start)]
            known = {"mentee": np.array([mentee.number]), "place": mentee.place, "descendants": descendants}
            write_group(draft / "known", known | ({"start": np.concatenate(begins)[0]} if begins else {}))
    known = read_group(place / "known")
    first, second, third = known["descendants"].tolist()
    return Split(cell, Mentee(int(known["mentee"][0]), known["place"]), known.get("start"), (first, second, third))


def _folder_of(cell: Cell) -> str:
    """Where the files of a cell's child cells are."""
    return f"{cell.name}-below"


def _dealt(folder: Path, cells: NDArray[np.integer], count: int, columns: Mapping[str, NDArray[Any]]) -> Ints:
    """Append rows of columns to the files of their cells (n,); returns how many there are for each of ``count``."""
    order, here = np.argsort(cells, kind="stable"), np.bincount(cells, minlength=count)
    for cell, rows in enumerate(np.split(order, np.cumsum(here)[:-1])):
        for name, values in columns.items() if len(rows) else ():
            with (folder / f"{cell}.{name}").open("ab") as file:
                np.ascontiguousarray(values[rows], _COLUMNS[name]).tofile(file)
    return here


def _followers(folder: Path, cell: Cell, first: int = 0, count: int = -1) -> tuple[Ints, Floats, Floats]:
    """Numbers (n,) and reference positions (n, 2) of a cell's followers; where they start, if elsewhere."""
    numbers, places, start = (_column(folder / f"{cell.name}.{name}", name, first, count) for name in _COLUMNS)
    expected = cell.followers - first if count < 0 else count
    if not len(numbers) == len(places) // 2 == expected or len(start) not in (0, 2 * expected):
        raise damaged(folder, ValueError(f"of cell {cell.name} something is gone"))
    return numbers, places.reshape(-1, 2), start.reshape(-1, 2)


def _chunks(folder: Path, cell: Cell) -> Iterator[tuple[Ints, Floats, Floats]]:
    """The same, chunk by chunk."""
    for first in range(0, cell.followers, CHUNK):
        yield _followers(folder, cell, first, min(CHUNK, cell.followers - first))


def _column(path: Path, name: str, first: int, count: int) -> NDArray[Any]:
    kind, width = _COLUMNS[name], 1 if name == "numbers" else 2
    if not path.exists():
        return np.empty(0, kind)
    return np.fromfile(path, kind, count * width, offset=first * width * np.dtype(kind).itemsize)


# --- networks that are cut -------------------------------------------------------------------------------------


def grouped(cells: Sequence[Cell], outside: Outside, most: int) -> list[Cells]:
    """Cells in groups of about ``most`` followers, as they are cut."""
    groups: list[list[Cell]] = []
    held = most
    for cell in cells:
        if held + cell.followers > most:
            groups.append([])
            held = 0
        groups[-1].append(cell)
        held += cell.followers
    return [Cells(str(which), some, outside) for which, some in enumerate(groups)]


def cut_cells(store: Path, cells: Cells, mentee: str | MenteeRule, sizes: Sizes) -> Layout:
    """Build the network of some cells, cut it, and write its top and its parts."""
    place = store / "epochs" / "0"
    begun = place / f"{TOP}-{cells.name}"
    if not _all_written(place, begun):
        _write_cut(place, begun, cells.name, _grown(store / "cells", cells, mentee), sizes)
    return layout_of(begun)


def cut_epoch(store: Path, which: int, epoch: Epoch, start: Floats | None, sizes: Sizes) -> Layout:
    """Cut the whole network of an epoch, and write its top and its parts."""
    place = store / "epochs" / str(which)
    begun = place / f"{TOP}-0"
    if not _all_written(place, begun):
        network = epoch.network
        whole = _Grown(
            np.arange(len(network)),
            network.reference,
            network.in_neighbors,
            network.layer,
            network.layer,
            network.descendants,
            start,
        )
        _write_cut(place, begun, "0", whole, sizes)
    return layout_of(begun)


class _Grown(NamedTuple):
    """A network that is to be cut; R agents, a row each, in the order of their numbers but for those outside.

    Attributes:
        numbers: in the team, (R,).
        reference: reference positions, (R, 2).
        in_neighbors: rows of those they listen to, (R, 3); -1 for those outside.
        rank: layers counted from those outside on, (R,), who have 0.
        layer: in the whole network, (R,).
        descendants: followers below each child cell, (R, 3).
        start: where they stand at step 0, (R, 2); None: at their reference positions.
    """

    numbers: Ints
    reference: Floats
    in_neighbors: NDArray[np.int32]
    rank: NDArray[np.int32]
    layer: NDArray[np.int32]
    descendants: NDArray[np.int32]
    start: Floats | None

    def some(self, rows: Ints) -> dict[str, NDArray[Any]]:
        """What is kept of some rows, arrays by name."""
        heard = self.numbers[self.in_neighbors[rows]]
        known = self.layer[rows], self.descendants[rows]
        part = Part.listening(self.numbers[rows], self.reference[rows], heard, *known)
        return part.arrays() | ({} if self.start is None else {"start": self.start[rows]})


def _grown(folder: Path, cells: Cells, mentee: str | MenteeRule) -> _Grown:
    """The network of some cells: those outside of them, and then their followers."""
    outside = cells.outside
    count = len(outside.numbers)
    followers = [_followers(folder, cell) for cell in cells.cells]
    numbers, places, start = (np.concatenate(each) for each in zip(*followers, strict=True))
    order = np.argsort(numbers, kind="stable")
    row_of = np.empty(len(order), np.int32)
    row_of[order] = np.arange(count, count + len(order), dtype=np.int32)
    found, first = [], 0
    for cell, (here, *_) in zip(cells.cells, followers, strict=True):
        some = slice(first, first + len(here))
        corners = outside.corners(cell)
        everybody = np.concatenate([outside.places[corners], places[some]])
        names = np.concatenate([outside.numbers[corners], here])
        structure = cell_structure(names, everybody, mentee)
        rows = np.concatenate([corners.astype(np.int32), row_of[some]])
        rank = structure.layer[3:]
        found.append((rows[structure.in_neighbors[3:]], rank, rank + (cell.layer - 1), structure.descendants[3:]))
        first += len(here)
    links, rank, layer, descendants = (np.concatenate(each)[order] for each in zip(*found, strict=True))
    return _Grown(
        np.concatenate([outside.numbers, numbers[order]]),
        np.concatenate([outside.places, places[order]]),
        np.concatenate([np.full((count, 3), -1, np.int32), links]),
        np.concatenate([np.zeros(count, np.int32), rank]),
        np.concatenate([np.zeros(count, np.int32), layer]).astype(np.int32),
        np.concatenate([np.zeros((count, 3), np.int32), descendants]),
        None if outside.start is None else np.concatenate([outside.start, start[order]]),
    )


def _write_cut(place: Path, begun: Path, name: str, grown: _Grown, sizes: Sizes) -> None:
    top, pieces = cut_network(grown.in_neighbors, grown.rank, grown.descendants, *sizes)
    names = [f"{name}-{which}" for which in range(len(pieces))]
    for each, rows in zip(names, pieces, strict=True):
        write_group(place / each, grown.some(rows))
    largest = max(map(len, pieces), default=0)
    write_group(begun, grown.some(top), {"parts": names, "depth": int(grown.layer.max()), "largest": largest})


def _all_written(place: Path, begun: Path) -> bool:
    """Whether a cut is there, and all its parts."""
    return begun.exists() and all((place / name).exists() for name in layout_of(begun).parts)


def layout_of(begun: Path) -> Layout:
    """What was written of a cut."""
    facts = attributes_of(begun)
    return Layout(facts["parts"], int(facts["depth"]), int(facts["largest"]))


def merge_tops(place: Path, groups: Sequence[str], outside: Outside, boundary: Ints) -> None:
    """Write the top of an epoch: those of all its groups of cells, and who is outside of these."""
    if (place / TOP).exists() and (place / "anchors").exists():
        return
    tops = [read_group(place / f"{TOP}-{name}") for name in groups]
    known = outside.heard, outside.layer, outside.descendants
    parts = [*map(Part.of, tops), Part.listening(outside.numbers, outside.places, *known)]
    order = np.argsort(np.concatenate([part.numbers for part in parts]), kind="stable")
    columns = ("numbers", "reference", "in_neighbors", "layer", "descendants")
    whole = Part.listening(*(np.concatenate([getattr(part, name) for part in parts])[order] for name in columns))
    begun = whole.arrays()
    if outside.start is not None:
        begun["start"] = np.concatenate([*(top["start"] for top in tops), outside.start])[order]
    write_group(place / "anchors", {"boundary": boundary})
    write_group(place / TOP, begun)  # last: it says that all is there
