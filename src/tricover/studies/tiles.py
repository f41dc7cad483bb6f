"""Still targets on disk, sorted by place: what is in a region, and sums in triangles, without all of them in memory.

Targets are sorted into the tiles of a grid, and the few tiles that hold very many are cut in halves, again and again.
What comes of it are *blocks* of some ten thousand targets each, with the box around them. So whoever asks for a region
reads the blocks near it alone. And a sum over the targets in a triangle adds up what is known of the blocks inside and
reads those that its outline crosses.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.format import open_memmap as new_file
from numpy.typing import NDArray

from tricover.errors import InputError, listed
from tricover.formats.points import LARGEST
from tricover.formats.writing import draft_of
from tricover.simulation.checksums import checksum
from tricover.simulation.groups import damaged, read_group, write_group
from tricover.studies.regions import Region
from tricover.targets import Targets
from tricover.targets.pieces import Tally, grids_for, spans_of, words_of
from tricover.threads import side_by_side

__all__ = ["BLOCK", "TargetTiles", "TargetsOnDisk", "sort_targets", "targets_in"]

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BLOCK = 1 << 16
"""Targets of one tile that are read at once, at most: 1 MB."""
TILE = 1 << 14
"""Targets in a tile if they were even: a part looks through those at its edges in vain."""
_CHUNK = 1 << 20
_MOST_TILES = 250  # per axis, so that the number of a tile has sixteen bits
_SHARES = 16  # of the blocks of a sum, which threads do


class TargetTiles:
    """Still targets in blocks, on disk, tile by tile."""

    def __init__(self, place: Path) -> None:
        self._place = place
        known = read_group(place / "blocks")
        self._starts: Ints = known["starts"]
        self._sums: Ints = known["sums"]
        self._words: Ints = known["words"]
        self.boxes: Floats = known["boxes"]
        """Boxes (B, 4) around the blocks."""
        self._grid = _Grid(known["box"], int(known["side"][0]))
        self._first: Ints = known["first"]  # block of each tile, and the number of blocks
        try:
            self._columns = [np.load(file, mmap_mode="r") for file in sorted(place.glob("*.npy"))]
        except (OSError, ValueError) as error:
            raise damaged(place, error) from None
        self._grids = grids_for(known["spans"], len(self), len(self._columns) > 1)

    def __len__(self) -> int:
        """How many targets there are."""
        return int(self._starts[-1])

    def block(self, number: int) -> list[Floats]:
        """Points (n, 2) of a block, and their weights (n,) if there are any."""
        rows = slice(self._starts[number], self._starts[number + 1])
        columns = [np.array(column[rows]) for column in self._columns]
        if _sum_of(columns) != self._sums[number]:
            raise damaged(self._place, ValueError("its targets are not as they were written"))
        return columns

    def near(self, region: Region) -> Targets:
        """The targets in a region, in memory."""
        blocks, pieces = self._blocks_near(region)
        columns = [[column[:0]] for column in self._columns]
        for block, some in zip(blocks.tolist(), pieces, strict=True):
            found = self.block(block)
            inside = region.holds(found[0], some)
            for column, values in zip(columns, found, strict=True):
                column.append(values[inside])
        return targets_in(map(np.concatenate, columns))

    def _blocks_near(self, region: Region) -> tuple[Ints, Flags]:
        """The blocks (K,) that may hold targets of a region, and of which of its pieces (K, S)."""
        tiles = self._grid.tiles(region.box)
        spans = zip(self._first[tiles].tolist(), self._first[tiles + 1].tolist(), strict=True)
        blocks = np.concatenate([np.empty(0, np.int64), *(np.arange(*span) for span in spans)])
        pieces = region.near(self.boxes[blocks, :2], self.boxes[blocks, 2:])
        some = pieces.any(axis=1)
        return blocks[some], pieces[some]

    def sums_inside(self, triangles: Floats) -> Floats:
        """Sums (T, 3) of w·x, w·y and w of the targets in triangles (T, 3, 2), with the bits of ``Targets``."""
        tally = Tally(triangles, self._grids)
        rows, blocks = self._meeting(triangles)
        boxes = self.boxes[blocks]
        corners = boxes[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 2)
        whole = tally.holds(np.repeat(rows, 4), corners).reshape(-1, 4).all(axis=1)
        inside = blocks[whole]
        tally.add_whole(rows[whole], np.diff(self._starts)[inside], self._words[inside])
        order = np.flatnonzero(~whole)[np.argsort(blocks[~whole], kind="stable")]
        cuts = np.flatnonzero(np.diff(blocks[order], prepend=-1))
        crossed = list(zip(blocks[order[cuts]].tolist(), np.split(rows[order], cuts)[1:], strict=True))

        def add(share: int) -> Tally:
            own = Tally(triangles, self._grids)
            for block, some in crossed[share::_SHARES]:
                points, *weights = self.block(block)
                own.add(some, points, weights[0] if weights else None)
            return own

        tally.add_all_of(side_by_side(add, range(min(_SHARES, len(crossed)))))
        return tally.sums()

    def _meeting(self, triangles: Floats) -> tuple[Ints, Ints]:
        """Triangles and blocks that may share a target: the rows (P,) and the blocks (P,) of each pair."""
        region = Region.along(triangles)
        region = region.reaching(np.repeat(np.arange(len(triangles)), 3), triangles.reshape(-1, 2)).roomy()
        met = [self._blocks_near(region.piece(row))[0] for row in range(len(triangles))]
        rows = np.repeat(np.arange(len(met)), list(map(len, met)))
        return rows, np.concatenate([np.empty(0, np.int64), *met])


class TargetsOnDisk(Targets):
    """Still targets that are not in memory. They say their sums in triangles, and that is all they can be asked for."""

    def __init__(self, tiles: TargetTiles) -> None:
        self._put(np.empty((0, 2)), None, None, None, None, None)
        vars(self)["_tiles"] = tiles

    @property
    def points(self) -> Floats:
        """Not in memory."""
        raise TypeError("targets on disk are asked for sums alone")

    def __len__(self) -> int:
        return len(vars(self)["_tiles"])

    def sums_inside(self, triangles: Floats) -> Floats:
        """As of all targets."""
        return np.asarray(vars(self)["_tiles"].sums_inside(triangles))


def targets_in(columns: Iterable[Floats]) -> Targets:
    """Targets with points (n, 2) and perhaps weights (n,)."""
    points, *weights = columns
    return Targets.known(points, weights[0] if weights else None)


class _Grid(NamedTuple):
    """Square many tiles that make up a box (2, 2), row by row."""

    box: Floats
    side: int

    def places(self, points: Floats) -> Ints:
        """Column and row (n, 2) of the tiles that hold points; those beyond the grid are on its edge."""
        size = np.maximum(self.box[1] - self.box[0], np.finfo(np.float64).tiny)
        shares = np.clip(points - self.box[0], 0.0, size) / size
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


def sort_targets(points: Any, weights: Floats | None, place: Path) -> None:
    """Write still targets (D, 2), which may be on disk, and weights (D,) block by block; what is there is kept."""
    if place.exists():
        return
    columns = {"points": points} | ({} if weights is None else {"weights": weights})
    grid, spans = _look_over(points, weights)
    counts = np.sum([grid.sorted(some)[1] for _, some in _chunks(points)], axis=0)
    starts = np.append(0, np.cumsum(counts))
    with draft_of(place) as draft:
        draft.mkdir()
        files = [new_file(draft / f"{name}.npy", "w+", np.float64, column.shape) for name, column in columns.items()]
        free = starts[:-1].copy()  # where the next target of each tile goes
        for start, some in _chunks(points):
            order, here = grid.sorted(some)
            to = np.repeat(free - np.cumsum(here) + here, here) + np.arange(len(some))
            free += here
            for file, column in zip(files, columns.values(), strict=True):
                file[to] = np.asarray(column[start : start + len(some)])[order]
        blocks = [_halved(files, first, last) for first, last in pairwise(starts.tolist())]
        for file in files:
            file.flush()
        cuts = [*(cut for tile in blocks for cut in tile), len(points)]
        known = {
            "starts": np.array(cuts),
            "first": np.append(0, np.cumsum(list(map(len, blocks)))),
            "box": grid.box,
            "side": np.array([grid.side]),
            "spans": spans,
        }
        write_group(draft / "blocks", known | _about_blocks(files, cuts, spans))


def _look_over(points: Any, weights: Floats | None) -> tuple[_Grid, Floats]:
    """Tiles for targets (D, 2), and how far what is summed of them spreads; what cannot be is refused."""
    box, spans = np.array([[np.inf, np.inf], [-np.inf, -np.inf]]), None
    for start, some in _chunks(points):
        _check(some, start)
        box = np.stack([np.minimum(box[0], some.min(axis=0)), np.maximum(box[1], some.max(axis=0))])
        spans = spans_of(some, None if weights is None else weights[start : start + len(some)], spans)
    assert spans is not None, "there are targets"
    return _Grid(box, int(np.clip(np.sqrt(len(points) / TILE), 1, _MOST_TILES))), spans


def _halved(files: Sequence[Floats], first: int, last: int) -> list[int]:
    """Where blocks begin in a tile: one that holds too many is cut in halves along its longer side, again and again."""
    if last == first:
        return []
    if last - first <= BLOCK:
        return [first]
    points, middle = files[0][first:last], (last - first) // 2
    order = np.argpartition(points[:, np.ptp(points, axis=0).argmax()], middle)
    for file in files:
        file[first:last] = file[first:last][order]
    return [*_halved(files, first, first + middle), *_halved(files, first + middle, last)]


def _about_blocks(files: Sequence[Floats], cuts: Sequence[int], spans: Floats) -> dict[str, NDArray[Any]]:
    """Checksums, boxes and sums of the blocks that begin at the cuts."""
    grids, sums, boxes, words = grids_for(spans, cuts[-1], len(files) > 1), [], [], []
    for span in pairwise(cuts):
        points, *weights = columns = [np.array(file[slice(*span)]) for file in files]
        sums.append(_sum_of(columns))
        boxes.append(np.concatenate([points.min(axis=0), points.max(axis=0)]))
        words.append(words_of(points, weights[0] if weights else None, grids))
    return {"sums": np.array(sums), "boxes": np.array(boxes), "words": np.array(words)}


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
