"""The coverage of a run in parts, while nobody holds the whole team.

The cost is that of ``coverage.metrics``, of where agents are in the end and the targets that the last step saw. Targets
come in *patches*: pieces of the tiles in which still ones are kept (``ground``), or of a curve through moving ones.
Whose box is no farther from the box of a patch than some other part surely reaches, may have the agent that is nearest
to a target of it: these parts are looked at, each alone, and nobody else needs to be. A patch is worked out together
with those of the same nearest part, so that few parts are read anew.

Each patch gives its sums, and these are added up in the order of the patches, as ``math.fsum`` does: so they do not
depend on the parts that were read nor on the number of workers.

``idle`` is counted part by part, with the targets near its triangles.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.coverage.metrics import Coverage, assign
from tricover.errors import InputError
from tricover.simulation import Run
from tricover.simulation.parts_reader import PartsReader
from tricover.simulation.resolve import still_from, targets_of
from tricover.studies.boxes import ROOM, box_around, farthest, gaps
from tricover.studies.kept import Piece, parts_of, pieces_of
from tricover.studies.regions import Region
from tricover.studies.tiles import BLOCK, TargetTiles, targets_in
from tricover.studies.workers import each_of
from tricover.targets import Targets
from tricover.targets.placing import along_curve

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["coverage_of_parts"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_HELD = 8  # parts whose final places are kept while patches next to each other are worked out


class _Patch(NamedTuple):
    """Some targets in a box (4,): a block of those on disk, by its number; or given in memory."""

    box: Floats
    block: int
    given: Targets | None = None

    def targets(self, store: Path) -> tuple[Floats, Floats]:
        """Points (D, 2) and weights (D,) of those that have weight."""
        given = targets_in(TargetTiles(store / "targets").block(self.block)) if self.given is None else self.given
        return given.weighed()


class _Sums(NamedTuple):
    """What a patch adds: weight, weighted squares, weighted distances; and its largest distance."""

    weight: float = 0.0
    squares: float = 0.0
    distances: float = 0.0
    largest: float = 0.0


class _Idle(NamedTuple):
    """How many followers of a part have no target in their triangles, and how many there are."""

    idle: int
    followers: int


class _Work(NamedTuple):
    """Patches that are worked out together: each with its number and the parts that may be nearest."""

    patches: list[tuple[int, _Patch, list[str]]]
    near: Targets | None
    """Moving targets near the part's triangles; None: still ones are read."""


class _Ends(NamedTuple):
    """Boxes in the end: around a part's agents, and around these and its corners."""

    own: Floats
    triangles: Floats


def coverage_of_parts(run: Run, client: "Client | None" = None) -> Coverage:
    """Cost, mean and largest distance from a target to the nearest agent at the end of a run in parts, and idle ones.

    Args:
        run: a run in parts, finished.
        client: of a Dask cluster whose workers see the run by the same path; None: here, part by part.

    >>> from tempfile import TemporaryDirectory
    >>> from tricover.simulation import Scenario
    >>> from tricover.studies import simulate_parts
    >>> team = np.random.default_rng(1).random((500, 2))
    >>> scenario = Scenario(reference=team, targets=team[::2], network={"mentee": "balanced"})
    >>> with TemporaryDirectory() as folder:
    ...     run = simulate_parts(scenario, folder + "/run", agents_per_part=100)
    ...     round(coverage_of_parts(run).cost, 6)
    0.000432
    """
    reader = parts_of(run)
    pieces = pieces_of(reader, reader.stages[-1])
    ends = dict(each_of(client, _ends, [(piece,) for piece in pieces]))
    boxes = [ends[place] for place in range(len(pieces))]
    moving = None if (reader.path / "targets").exists() else _targets(reader)
    patches = _along(moving) if moving is not None else _blocks(reader.path)
    works = _shared_out(patches, [piece.name for piece in pieces], boxes, moving)
    found = [result for _, result in each_of(client, _measured, list(zip(pieces, works, strict=True)))]
    return _merged(dict(pair for sums, _ in found for pair in sums), [idle for _, idle in found])


def _targets(reader: PartsReader) -> Targets:
    """Targets as the last step saw them."""
    targets = targets_of(reader.rules)
    return targets.at(min(max(reader.steps - 1, 0), still_from(targets, reader.rules.steps)))


def _merged(sums: dict[int, _Sums], idle: Sequence[_Idle]) -> Coverage:
    """All patches together, in their order."""
    rows = [sums[patch] for patch in sorted(sums)]
    total = fsum(row.weight for row in rows)
    if not total:
        raise InputError("there are no targets at this step: coverage is undefined")
    followers = sum(each.followers for each in idle)
    return Coverage(
        cost=fsum(row.squares for row in rows) / total,
        mean=fsum(row.distances for row in rows) / total,
        largest=max(row.largest for row in rows),
        idle=sum(each.idle for each in idle) / followers if followers else None,
    )


# --- who looks at what -----------------------------------------------------------------------------------------


def _ends(piece: Piece) -> _Ends:
    """Where a part is in the end."""
    own, corners = piece.places(), piece.corner_places(piece.part())
    return _Ends(box_around(own), box_around(np.concatenate([own, corners])))


def _blocks(store: Path) -> list[_Patch]:
    """Still targets, block by block."""
    return [_Patch(box, number) for number, box in enumerate(TargetTiles(store / "targets").boxes)]


def _along(targets: Targets) -> list[_Patch]:
    """Targets in memory, in pieces of a curve through them."""
    points, weights = targets.weighed()
    order = np.argsort(along_curve(points), kind="stable") if len(points) else np.empty(0, np.int64)
    blocks = [order[start : start + BLOCK] for start in range(0, len(order), BLOCK)]
    some = [Targets.known(points[rows], weights[rows]) for rows in blocks]
    return [_Patch(box_around(each.points), number, each) for number, each in enumerate(some)]


def _shared_out(
    patches: Sequence[_Patch], names: Sequence[str], ends: Sequence[_Ends], moving: Targets | None
) -> list[_Work]:
    """Patches by the part that is nearest to their middle; the top has some only where it is alone."""
    own = np.array([each.own for each in ends])
    works: list[_Work] = [_Work([], _within(moving, each.triangles)) for each in ends]
    first = 1 if len(ends) > 1 else 0
    for number, patch in enumerate(patches):
        middle = np.tile((patch.box[:2] + patch.box[2:]) / 2, 2)
        away = gaps(patch.box, own)
        sure = farthest(patch.box, own).min()
        reached = np.flatnonzero(away <= sure * (1 + ROOM))
        order = reached[np.argsort(gaps(middle, own[reached]), kind="stable")]
        place = first + int(gaps(middle, own[first:]).argmin())
        works[place].patches.append((number, patch, [names[row] for row in order]))
    return works


def _within(targets: Targets | None, box: Floats) -> Targets | None:
    """Targets in memory that are in a box (4,); None where there are none in memory."""
    if targets is None:
        return None
    inside = ((targets.points >= box[:2]) & (targets.points <= box[2:])).all(axis=1)
    return Targets.known(targets.points[inside], None if targets.weights is None else targets.weights[inside])


# --- in a worker -----------------------------------------------------------------------------------------------


def _measured(piece: Piece, work: _Work) -> tuple[list[tuple[int, _Sums]], _Idle]:
    """The sums of some patches by their numbers, and the idle followers of a part."""
    places = lru_cache(_HELD)(lambda name: Piece(piece.reader, piece.stage, name).places())
    sums = [(number, _sums(patch.targets(piece.reader.path), names, places)) for number, patch, names in work.patches]
    return sums, _idle(piece, work.near)


def _sums(targets: tuple[Floats, Floats], names: Sequence[str], places: Any) -> _Sums:
    """What targets add: each with the nearest agent of the parts named."""
    points, weights = targets
    if not len(points):
        return _Sums()
    nearest = np.full(len(points), np.inf)
    for name in names:
        agents = places(name)
        away = np.maximum(agents.min(axis=0) - points, points - agents.max(axis=0)).clip(0.0)
        rows = np.flatnonzero(np.hypot(*away.T) <= nearest * (1 + ROOM))
        if len(rows):
            nearest[rows] = np.minimum(nearest[rows], assign(agents, points[rows])[0])
    sums = (weights.sum(), (weights * nearest**2).sum(), (weights * nearest).sum(), nearest.max())
    return _Sums(*map(float, sums))


def _idle(piece: Piece, near: Targets | None) -> _Idle:
    """Followers of a part in whose triangles there is no target."""
    part = piece.part()
    follows = part.links[:, 0] >= 0
    if not follows.any():
        return _Idle(0, 0)
    everybody = part.merged(piece.places(), piece.corner_places(part))
    triangles = everybody[part.links[follows]]
    region = Region.around(triangles.reshape(-1, 2)).roomy()
    targets = TargetTiles(piece.reader.path / "targets").near(region) if near is None else near
    counts, _ = targets.in_triangles(triangles)
    return _Idle(int((counts == 0).sum()), len(triangles))
