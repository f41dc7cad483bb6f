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
    begun = store / "epochs" / "0" / f"{TOP}-{cells.name}"
    if not begun.exists():
        built = [_built(store / "cells", cell, cells, mentee) for cell in cells.cells]
        parts, starts = [part for part, _ in built], [start for _, start in built if start is not None]
        order = np.argsort(np.concatenate([part.numbers for part in parts]), kind="stable")
        columns = [part.arrays() for part in parts]
        part = Part.of({name: np.concatenate([each[name] for each in columns])[order] for name in columns[0]})
        start = np.concatenate(starts)[order] if starts else None
        _write_cut(store / "epochs" / "0", begun, cells.name, part, start, sizes)
    return layout_of(begun)


def _built(place: Path, cell: int, cells: Cells, mentee: str | MenteeRule) -> tuple[Part, Floats | None]:
    """The network of a first cell, and where its agents start, if not at their reference positions."""
    numbers, places, start = (_column(place / f"{cell}.{name}", kind) for name, kind in _COLUMNS.items())
    assert numbers is not None, "cells without followers are left out"
    assert places is not None, "there are as many"
    count = len(cells.anchors) - 1
    corners = [cell, (cell + 1) % count, count]
    everybody = np.concatenate([cells.anchors[corners], numbers])
    structure = cell_structure(everybody, np.concatenate([cells.places[corners], places.reshape(-1, 2)]), mentee)
    links = everybody[structure.in_neighbors[3:]]
    part = Part(numbers, places.reshape(-1, 2), links, structure.layer[3:], structure.descendants[3:])
    return part, None if start is None else start.reshape(-1, 2)


def _column(path: Path, kind: type) -> NDArray[Any] | None:
    return np.fromfile(path, kind) if path.exists() else None


def cut_epoch(store: Path, which: int, epoch: Epoch, start: Floats | None, sizes: Sizes) -> Layout:
    """Cut the whole network of an epoch, and write its top and its parts."""
    place = store / "epochs" / str(which)
    begun = place / f"{TOP}-0"
    if not begun.exists():
        network, rows = epoch.network, epoch.network.followers
        links = network.in_neighbors[rows].astype(np.int64)
        part = Part(rows, network.reference[rows], links, network.layer[rows], network.descendants[rows])
        _write_cut(place, begun, "0", part, None if start is None else start[rows], sizes)
    return layout_of(begun)


def _write_cut(place: Path, begun: Path, name: str, part: Part, start: Floats | None, sizes: Sizes) -> None:
    network = part.network(np.zeros((len(part.corners), 2)))
    top, pieces = cut_network(network.in_neighbors, network.layer, network.descendants, *sizes)
    row_of = np.full(len(part.everybody), -1, np.int64)
    row_of[part.rows] = np.arange(len(part))
    names = [f"{name}-{which}" for which in range(len(pieces))]
    for each, rows in (*zip(names, pieces, strict=True), (None, top)):
        some = row_of[rows]
        arrays = {column: values[some] for column, values in part.arrays().items()}
        arrays |= {} if start is None else {"start": start[some]}
        facts = {"parts": names, "depth": network.depth, "largest": max(map(len, pieces), default=0)}
        write_group(begun if each is None else place / each, arrays, facts if each is None else {})


def layout_of(begun: Path) -> Layout:
    """What was written of a cut."""
    facts = attributes_of(begun)
    return Layout(facts["parts"], int(facts["depth"]), int(facts["largest"]))


def merge_tops(place: Path, groups: Sequence[str], anchors: Ints, places: Floats, start: Floats | None) -> None:
    """Write the top of an epoch: that of all its first cells, and the anchors at places (H + 1, 2)."""
    if (place / TOP).exists():
        return
    count = len(anchors)
    nobody = np.full((count, 3), -1, np.int64), np.zeros(count, np.int32), np.zeros((count, 3), np.int32)
    tops = [read_group(place / f"{TOP}-{name}") for name in groups]
    tops.append({**Part(anchors, places, *nobody).arrays(), **({} if start is None else {"start": start})})
    both = {name: np.concatenate([each[name] for each in tops]) for name in tops[-1]}
    order = np.argsort(both["numbers"], kind="stable")
    write_group(place / TOP, {name: values[order] for name, values in both.items()})
    write_group(place / "anchors", {"boundary": anchors[:-1]})
