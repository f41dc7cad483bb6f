"""The separation of a run in parts: the least distance of any two agents, while nobody holds all of them.

First each part looks for the closest two of its own. The least of these distances, d, bounds the rest: two agents of
different parts matter only if they come within d of each other. So a part looks at others whose box of motion comes
within d of its own, the top among them, and there only at members that come so close themselves.

Pairs and their distances are those of ``geometry.approach``, measured by the same kernel, and so is the choice among
equal ones: the earliest step, then the lowest numbers. So the result has the bits of ``Run.separation``, whatever the
parts and the workers. As there, a pair counts in a step in which one of the two moves, or is new to the team.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tricover.geometry.approach import Separation
from tricover.geometry.way_tree import Asked, closest_ways
from tricover.simulation import Run
from tricover.simulation.in_parts import TOP, Stage, held
from tricover.simulation.parts_reader import PartsReader
from tricover.studies.boxes import box_around, near
from tricover.studies.kept import Piece, absent_in, parts_of, pieces_of
from tricover.studies.workers import each_of

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["separation_of_parts"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]


class _Approach(NamedTuple):
    """Two agents in a step; of two approaches the lesser one counts."""

    distance: float = np.inf
    step: int = 0
    low: int = -1
    high: int = -1
    share: float = 0.0


class _Members(NamedTuple):
    """Agents by their numbers (n,), and their ways (S, n, 2)."""

    numbers: Ints
    ways: Floats

    def of(self, rows: Flags) -> "_Members":
        """Some of them."""
        return _Members(self.numbers[rows], self.ways[:, rows])

    @property
    def boxes(self) -> Floats:
        """A box around the way of each, (n, 4)."""
        return np.concatenate([self.ways.min(axis=0), self.ways.max(axis=0)], axis=1)


def separation_of_parts(run: Run, client: "Client | None" = None) -> Separation:
    """The least distance of any two agents of a run in parts, with the same bits as ``run.separation``.

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
    ...     separation_of_parts(run).distance == run.separation.distance
    True
    """
    reader = parts_of(run)
    pieces = [piece for stage in reader.stages for piece in pieces_of(reader, stage)]
    inside = dict(each_of(client, _inside, [(piece,) for piece in pieces]))
    best = min((found for found, _ in inside.values()), default=_Approach())
    boxes = np.array([inside[place][1] for place in range(len(pieces))])
    asked = _neighbours(pieces, boxes, best.distance)
    given = [(piece, others, best.distance) for piece, others in asked]
    best = min([best, *(found for _, found in each_of(client, _between, given))])
    nobody = np.empty((0, 2), np.int64), np.empty(0), np.empty(0, np.int64), np.empty(0)
    who = None if best.low < 0 else (best.low, best.high)
    return Separation(best.distance, best.step, best.share, who, *nobody)


def _neighbours(pieces: Sequence[Piece], boxes: Floats, distance: float) -> list[tuple[Piece, list[Piece]]]:
    """Which parts have to look at which others: at the top, and at later ones of the same stage."""
    stages = np.array([piece.stage.number for piece in pieces])
    tops = np.array([piece.name == TOP for piece in pieces])
    found = []
    for row, piece in enumerate(pieces):
        if tops[row]:
            continue
        later = tops | (np.arange(len(pieces)) > row)
        others = np.flatnonzero(later & (stages == piece.stage.number) & near(boxes[row], boxes, distance))
        if len(others):
            found.append((piece, [pieces[other] for other in others.tolist()]))
    return found


def _inside(piece: Piece) -> tuple[_Approach, Floats]:
    """The closest two of a part, and the box (4,) of its motion."""
    members = _members(piece)
    return _closest([members], piece, np.inf), box_around(members.ways)


def _between(piece: Piece, others: Sequence[Piece], distance: float) -> _Approach:
    """The closest two of a part and others that come within a distance of each other."""
    own = _members(piece)
    whole, boxes, best = box_around(own.ways), own.boxes, _Approach()
    for other in others:
        theirs = _members(other)
        theirs = theirs.of(near(whole, theirs.boxes, distance))
        if not len(theirs.numbers):
            continue
        ours = own.of(near(box_around(theirs.ways), boxes, distance))
        # The same distance in an earlier step, or of lower numbers, is of interest, too.
        best = min(best, _closest([ours, theirs], piece, float(np.nextafter(distance, np.inf))))
    return best


def _members(piece: Piece) -> _Members:
    return _Members(piece.part().numbers, piece.ways())


def _closest(groups: Sequence[_Members], piece: Piece, bound: float) -> _Approach:
    """The closest two of some agents in the stage of a piece, if they come closer than a bound."""
    numbers = np.concatenate([group.numbers for group in groups])
    order = np.argsort(numbers)
    numbers, best = numbers[order], _Approach()
    steps = max(len(group.ways) for group in groups) - 1
    new = _new(piece.reader, piece.stage, numbers)
    for step in range(steps):
        before, after = (_places(groups, at)[order] for at in (step, step + 1))
        moves = (before != after).any(axis=1)
        if step == 0:
            moves |= new
        found = closest_ways(before, after, np.arange(len(numbers)), moves, Asked(min(bound, best.distance)))
        if found.agents[0] >= 0:
            low, high = numbers[found.agents].tolist()
            best = _Approach(float(found.figures[0]), piece.stage.first + step, low, high, float(found.figures[1]))
    return best


def _places(groups: Sequence[_Members], step: int) -> Floats:
    return np.concatenate([held(group.ways, np.array([step]))[0] for group in groups])


def _new(reader: PartsReader, stage: Stage, numbers: Ints) -> Flags:
    """Which agents (n,) take part from a stage on, and did not before."""
    if stage.number == 0:
        return np.ones(len(numbers), np.bool_)
    return np.isin(numbers, absent_in(reader, reader.stages[stage.number - 1].epoch))
