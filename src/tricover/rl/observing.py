"""Observations: what ``decide`` gets, in the frame of the agent's own triangle.

An observation is one row of numbers and perhaps two cells, made of *parts* that are chosen by name. None of them
depends on where the field is, and only ``size``, ``heading`` and ``targets`` know of its scale, its direction and the
targets' weights.

    part       numbers  range        what
    place      3        -1 … 2       barycentric coordinates of its own position, cut off beyond
    shape      3        0 … 1        sides across from corners 0, 1, 2 over the longest one
    size       1        0 … 100      the longest side over the extent of the team's reference positions, cut off beyond
    heading    3        -1 … 1       direction from corner 0 to corner 1 as a unit vector; 1 if corners run
                                     counter-clockwise, -1 clockwise, 0 without area
    targets    4        0 … 231, 1   log(1 + weight) of the targets in it; barycentric coordinates of their centroid
    histogram  bins²    0 … 1        shares of that weight in the cells of a ``CellGrid(bins)``; 0 without targets
    ages       3        -1 … 1000    steps since each in-neighbour's position was sent, cut off beyond; -1: not heard
                                     of yet
    goal       3        0 … 1        barycentric coordinates of its goal point, by the scenario's goal rule; of the
                                     middle of its goal cell where it walks; a third each if it has none
    cell       -        Discrete     the cell that it stands in; not in the row, see ``spaces``
    goal_cell  -        Discrete     the cell that holds its goal point, alike

Corners are the in-neighbours, in the order of ``network.in_neighbors``. An agent that does not hear all of them yet,
and one on its way from the pads, gets zeros and the ages.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError, advice, shown
from tricover.geometry import CellGrid, weights_in
from tricover.goals.rules import inner_weights
from tricover.rl import _features
from tricover.rl.knowing import Lists, Part
from tricover.threads import in_ranges

__all__ = ["CELLS", "PARTS", "Known", "Observer", "cell_weights", "goal_weights", "unit_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_NUMBERS = {"place": 3, "shape": 3, "size": 1, "heading": 3, "targets": 4, "ages": 3, "goal": 3}
CELLS = ("cell", "goal_cell")
"""Parts that are whole numbers, apart from the row."""
PARTS = ("place", "shape", "size", "heading", "targets", "histogram", "ages", "cell")
"""What an agent observes if nobody says otherwise: all parts but the goal and its cell."""
_LOW = {"place": -1.0, "heading": -1.0, "ages": -1.0}
_HIGH = {"place": 2.0, "size": 100.0, "ages": 1000.0}
_HEAVIEST = 231.0  # log(1 + weight): weights sum to 1e100 at most
_MOST_BINS = 64


@dataclass(frozen=True, eq=False)
class Known:
    """What A followers know, one row each.

    Attributes:
        heard: the triangles of their in-neighbours, (A, 3, 2), in metres.
        units: the extents of their teams, (A,), in metres.
        targets: asked for the targets in the triangles, if these are observed.
        positions: their own, (A, 2); None where a rule does not know them.
        ages: of what they heard, (A, 3); None: it was sent in this step.
        goals: barycentric coordinates of where the method has them go, (A, 3).
    """

    heard: Floats
    units: Floats
    targets: Callable[[], Lists]
    positions: Floats | None = None
    ages: Ints | None = None
    goals: Floats | None = None


@dataclass(frozen=True)
class Observer:
    """Which parts an observation has, and how fine its histogram is.

    >>> observer = Observer(("place", "histogram"), bins=2)
    >>> observer.width, observer.layout
    (7, {'place': slice(0, 3, None), 'histogram': slice(3, 7, None)})
    """

    parts: tuple[str, ...] = PARTS
    bins: int = 4

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        known = (*_NUMBERS, "histogram", *CELLS)
        for name in self.parts:
            if name not in known:
                raise InputError(f"an observation has no part {shown(name)}; {advice(str(name), known)}")
        if not self._in_row or len(set(self.parts)) < len(self.parts):
            raise InputError(f"parts must be different, and at least one that is no cell, not {shown(self.parts)}")
        if type(self.bins) is not int or not 1 <= self.bins <= _MOST_BINS:
            raise InputError(f"bins must be a whole number from 1 to {_MOST_BINS}, not {shown(self.bins)}")

    @cached_property
    def layout(self) -> dict[str, slice]:
        """Where in a row each part is."""
        ends = np.cumsum([self._numbers(name) for name in self._in_row]).tolist()
        return {name: slice(end - self._numbers(name), end) for name, end in zip(self._in_row, ends, strict=True)}

    @property
    def width(self) -> int:
        """How many numbers a row has."""
        return sum(self._numbers(name) for name in self._in_row)

    @property
    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The least and the largest that each number can be, (K,) each."""
        low, high = np.zeros(self.width, np.float32), np.ones(self.width, np.float32)
        for name, where in self.layout.items():
            low[where], high[where] = _LOW.get(name, 0.0), _HIGH.get(name, 1.0)
        if "targets" in self.parts:
            high[self.layout["targets"].start] = _HEAVIEST
        return low, high

    @property
    def _in_row(self) -> tuple[str, ...]:
        return tuple(name for name in self.parts if name not in CELLS)

    def _numbers(self, name: str) -> int:
        return self.bins**2 if name == "histogram" else _NUMBERS[name]

    def __call__(self, known: Known) -> NDArray[np.float32]:
        """Observations (A, K) of followers."""
        corners, found = np.ascontiguousarray(known.heard), np.zeros((len(known.heard), self.width), np.float32)
        parts: dict[str, Floats | Ints | None] = {"goal": known.goals, "ages": known.ages}
        if "place" in self.parts and known.positions is not None:
            parts["place"] = weights_in(known.positions, corners)
        if {"shape", "size", "heading"} & set(self.parts):
            parts |= _of_triangles(corners, known.units)
        if {"targets", "histogram"} & set(self.parts):
            parts |= self._of_targets(corners, known.targets())
        for name, where in self.layout.items():
            values = parts.get(name)
            if values is not None:
                found[:, where] = np.clip(values, _LOW.get(name, 0.0), _HIGH[name]) if name in _HIGH else values
        return found

    def of_part(self, part: Part, units: Floats | None = None) -> NDArray[np.float32]:
        """Observations (A, K) of the agents of a part; of those who do not follow only the ages.

        ``units`` (A,) are the extents of their teams; None: that of the network.
        """
        found = np.zeros((len(part.view.agents), self.width), np.float32)
        rows = np.flatnonzero(part.follows)
        if rows.size:
            found[rows] = self(_known(part, rows, units, "goal" in self.parts))
        if "ages" in self.parts and part.view.ages is not None:
            found[:, self.layout["ages"]] = np.minimum(part.view.ages, _HIGH["ages"])
        return found

    def _of_targets(self, corners: Floats, lists: Lists) -> dict[str, Floats]:
        size = self.bins if "histogram" in self.parts else 0
        found = np.empty((len(corners), 4 + size * size))

        def describe(first: int, last: int) -> None:
            _features.describe_targets(corners, *lists, size, first, last, found)

        in_ranges(describe, len(corners), smallest=256)
        return {"targets": found[:, :4], "histogram": found[:, 4:]}


def _of_triangles(corners: Floats, units: Floats) -> dict[str, Floats]:
    found = np.empty((len(corners), 7))
    in_ranges(lambda first, last: _features.describe_triangles(corners, units, first, last, found), len(corners))
    return {"shape": found[:, :3], "size": found[:, 3:4], "heading": found[:, 4:]}


def _known(part: Part, rows: Ints, units: Floats | None, with_goals: bool) -> Known:
    """What followers of a part know."""
    view = part.view
    lengths = np.full(len(rows), unit_of(part.told.network.reference)) if units is None else units[rows]
    ages = None if view.ages is None else view.ages[rows]
    goals = goal_weights(part)[rows] if with_goals else None
    return Known(view.heard[rows], lengths, partial(part.targets, rows), view.positions[rows], ages, goals)


def unit_of(reference: Floats) -> float:
    """The extent of a team: the longer side of the box around its reference positions (N, 2), in metres."""
    return float(np.ptp(reference, axis=0).max())


def goal_weights(part: Part) -> Floats:
    """Barycentric coordinates (A, 3) of where the method has agents go; a third each for who has no goal."""
    if part.told.motion == "walk":
        return cell_weights(part.cells.goal, part.told.grid)
    weights = np.full((len(part.view.agents), 3), 1 / 3)
    rows = np.flatnonzero(part.proper)
    weights[rows] = inner_weights(part.decision.goal_points[rows], part.view.heard[rows])
    return weights


def cell_weights(cells: Ints, grid: CellGrid) -> Floats:
    """Barycentric coordinates (A, 3) of the middles of cells (A,); a third each where there is none."""
    return np.where(cells[:, None] < 0, 1 / 3, grid.weights[np.maximum(cells, 0)])
