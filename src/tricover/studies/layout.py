"""Who is in which part: the network of a team, built first cell by first cell and cut, in a folder of its run."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.formats.writing import draft_of
from tricover.network.first_cells import Frame, cell_structure, first_cells
from tricover.network.mentees import MenteeRule
from tricover.simulation.groups import attributes_of, read_group, write_group
from tricover.simulation.in_parts import TOP, Part
from tricover.simulation.mission import Epoch
from tricover.studies.ground import Sources
from tricover.studies.subtrees import cut_network

__all__ = ["Cells", "Layout", "Sizes", "cut_cells", "cut_epoch", "merge_tops", "sort_team"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_COLUMNS = {"numbers": np.int64, "places": np.float64, "start": np.float64}


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


class Cells(NamedTuple):
    """Some first cells, which are cut together.

    Attributes:
        name: of these cells; the names of their parts begin with it.
        cells: their numbers.
        anchors: numbers of boundary agents and core, (H + 1,).
        places: of the anchors, (H + 1, 2).
    """

    name: str
    cells: list[int]
    anchors: Ints
    places: Floats


def sort_team(sources: Sources, frame: Frame, place: Path) -> None:
    """Write everybody into the file of its first cell; what is there already is kept."""
    if place.exists():
        return
    moved = sources.start is not sources.reference
    counts = np.zeros(len(frame.boundary), np.int64)
    with draft_of(place) as draft:
        draft.mkdir()
        for numbers, cells, places in first_cells(sources.reference, frame):
            order = np.argsort(cells, kind="stable")
            here = np.bincount(cells, minlength=len(counts))
            counts += here
            columns = {"numbers": numbers, "places": places, **({"start": sources.start[numbers]} if moved else {})}
            for cell, rows in enumerate(np.split(order, np.cumsum(here)[:-1])):
                for name, values in columns.items() if len(rows) else ():
                    with (draft / f"{cell}.{name}").open("ab") as file:
                        np.ascontiguousarray(values[rows], _COLUMNS[name]).tofile(file)
        np.save(draft / "counts.npy", counts)


def grouped(place: Path, frame: Frame, anchor_places: Floats, most: int) -> list[Cells]:
    """First cells in groups of about ``most`` followers, as they are cut; cells without followers are left out."""
    anchors, counts = np.append(frame.boundary, frame.core), np.load(place / "counts.npy")
    groups: list[list[int]] = []
    held = most
    for cell in np.flatnonzero(counts).tolist():
        if held + counts[cell] > most:
            groups.append([])
            held = 0
        groups[-1].append(cell)
        held += int(counts[cell])
    return [Cells(str(which), cells, anchors, anchor_places) for which, cells in enumerate(groups)]


def cut_cells(store: Path, cells: Cells, mentee: str | MenteeRule, sizes: Sizes) -> Layout:
    """Build the network of some first cells, cut it, and write its top and its parts."""
    place = store / "epochs" / "0"
    begun = place / f"{TOP}-{cells.name}"
    if not begun.exists():
        _write_cut(place, begun, cells.name, _grown(store / "cells", cells, mentee), sizes)
    return layout_of(begun)


def cut_epoch(store: Path, which: int, epoch: Epoch, start: Floats | None, sizes: Sizes) -> Layout:
    """Cut the whole network of an epoch, and write its top and its parts."""
    place = store / "epochs" / str(which)
    begun = place / f"{TOP}-0"
    if not begun.exists():
        network = epoch.network
        links = network.in_neighbors, network.layer, network.descendants
        whole = _Grown(np.arange(len(network)), network.reference, *links, start)
        _write_cut(place, begun, "0", whole, sizes)
    return layout_of(begun)


class _Grown(NamedTuple):
    """A network that is to be cut; R agents, a row each, in the order of their numbers but for anchors.

    Attributes:
        numbers: in the team, (R,).
        reference: reference positions, (R, 2).
        in_neighbors: rows of those they listen to, (R, 3); -1 for anchors.
        layer: (R,); 0 for anchors.
        descendants: followers below each child cell, (R, 3).
        start: where they stand at step 0, (R, 2); None: at their reference positions.
    """

    numbers: Ints
    reference: Floats
    in_neighbors: NDArray[np.int32]
    layer: NDArray[np.int32]
    descendants: NDArray[np.int32]
    start: Floats | None

    def some(self, rows: Ints) -> dict[str, NDArray[Any]]:
        """What is kept of some rows, arrays by name."""
        heard = self.numbers[self.in_neighbors[rows]]
        known = self.layer[rows], self.descendants[rows]
        part = Part.listening(self.numbers[rows], self.reference[rows], heard, *known)
        return part.arrays() | ({} if self.start is None else {"start": self.start[rows]})


def _grown(place: Path, cells: Cells, mentee: str | MenteeRule) -> _Grown:
    """The network of some first cells: all anchors of the team, and then the followers of these cells."""
    anchors = len(cells.anchors)
    followers = [_followers(place, cell) for cell in cells.cells]
    numbers, places, start = (np.concatenate(each) for each in zip(*followers, strict=True))
    order = np.argsort(numbers, kind="stable")
    row_of = np.empty(len(order), np.int32)
    row_of[order] = np.arange(anchors, anchors + len(order), dtype=np.int32)
    found, first = [], 0
    for cell, (here, *_) in zip(cells.cells, followers, strict=True):
        some = slice(first, first + len(here))
        corners = np.array([cell, (cell + 1) % (anchors - 1), anchors - 1], np.int32)
        everybody = np.concatenate([cells.places[corners], places[some]])
        names = np.concatenate([cells.anchors[corners], here])
        structure = cell_structure(names, everybody, mentee)
        rows = np.concatenate([corners, row_of[some]])
        found.append((rows[structure.in_neighbors[3:]], structure.layer[3:], structure.descendants[3:]))
        first += len(here)
    links, layer, descendants = (np.concatenate(each)[order] for each in zip(*found, strict=True))
    nobody = np.full((anchors, 3), -1, np.int32)
    return _Grown(
        np.concatenate([cells.anchors, numbers[order]]),
        np.concatenate([cells.places, places[order]]),
        np.concatenate([nobody, links]),
        np.concatenate([np.zeros(anchors, np.int32), layer]),
        np.concatenate([np.zeros((anchors, 3), np.int32), descendants]),
        np.concatenate([cells.places, start[order]]) if len(start) else None,
    )


def _followers(place: Path, cell: int) -> tuple[Ints, Floats, Floats]:
    """Numbers (n,) and reference positions (n, 2) of a first cell's followers; where they start, if elsewhere."""
    numbers, places, start = (_column(place / f"{cell}.{name}", kind) for name, kind in _COLUMNS.items())
    return numbers, places.reshape(-1, 2), start.reshape(-1, 2)


def _column(path: Path, kind: type) -> NDArray[Any]:
    return np.fromfile(path, kind) if path.exists() else np.empty(0, kind)


def _write_cut(place: Path, begun: Path, name: str, grown: _Grown, sizes: Sizes) -> None:
    top, pieces = cut_network(grown.in_neighbors, grown.layer, grown.descendants, *sizes)
    names = [f"{name}-{which}" for which in range(len(pieces))]
    for each, rows in zip(names, pieces, strict=True):
        write_group(place / each, grown.some(rows))
    largest = max(map(len, pieces), default=0)
    write_group(begun, grown.some(top), {"parts": names, "depth": int(grown.layer.max()), "largest": largest})


def layout_of(begun: Path) -> Layout:
    """What was written of a cut."""
    facts = attributes_of(begun)
    return Layout(facts["parts"], int(facts["depth"]), int(facts["largest"]))


def merge_tops(place: Path, groups: Sequence[str], anchors: Ints, places: Floats, start: Floats | None) -> None:
    """Write the top of an epoch: that of all its first cells, and the anchors at places (H + 1, 2)."""
    if (place / TOP).exists():
        return
    tops = [read_group(place / f"{TOP}-{name}") for name in groups]
    nobody = np.zeros((len(anchors), 3), np.int32)
    alone = Part.listening(anchors, places, nobody.astype(np.int64) - 1, nobody[:, 0], nobody)
    parts = [*map(Part.of, tops), alone]
    order = np.argsort(np.concatenate([part.numbers for part in parts]), kind="stable")
    columns = ("numbers", "reference", "in_neighbors", "layer", "descendants")
    whole = Part.listening(*(np.concatenate([getattr(part, name) for part in parts])[order] for name in columns))
    starts = {} if start is None else {"start": np.concatenate([*(top["start"] for top in tops), start])[order]}
    write_group(place / TOP, whole.arrays() | starts)
    write_group(place / "anchors", {"boundary": anchors[:-1]})
