"""Is a vehicle anyway output controllable for cells of a given size and a step of Δt? (Definition 1, Assumption 1)

``check_aoc`` tries it. Each start walks over equilateral cells as an agent does: from a random point of its cell's
reach set, at rest, into a random neighbour (one that shares an edge), and on, ``STEPS`` cells in all. So the later
steps begin in states that a step can really end in: any heading, and what speed is left. A start lands when every one
of its steps ends in the reach set, the edge-aligned triangle within the next cell that keeps the margin η. Reach sets
have the given side; the cells around them are 1/(1 - 3η) times as large, and so is the way from cell to cell.

The shortest Δt at which all starts land is found by bisection, assuming that more time never hurts. The figure returned
is one at which all starts did land, at most 1% above one at which some did not; nothing below Δt/1024 or above 64 Δt is
tried.

The check is a sample, not a proof, and knows only cells at rest: a cell that its in-neighbours carry along is further
away, and a thin triangle's cells are narrower than their longest side. Ask for the smallest height, and leave room.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tricover.errors import InputError
from tricover.notebook import as_text, rows_as_html
from tricover.vehicles.anywhere import Anywhere
from tricover.vehicles.landing import edge_distances, inside
from tricover.vehicles.mixed import Mixed, flies_for_real
from tricover.vehicles.protocol import Floats, Vehicle, step_draws
from tricover.vehicles.registry import is_built_in, settings

__all__ = ["AOCReport", "AOCRow", "check_aoc"]

STEPS = 3
SHORTEST, LONGEST, PRECISION = 1 / 1024, 64, 1.01


@dataclass(frozen=True)
class AOCRow:
    """Cells of one size (side of the reach set, m): share of starts that land, worst miss (m), shortest Δt (s)."""

    size: float
    share: float
    worst_miss: float
    shortest: float | None


@dataclass(frozen=True, repr=False)
class AOCReport:
    """Whether a vehicle lands in its reach sets within a step, for cells of several sizes."""

    vehicle: dict[str, Any]
    duration: float
    starts: int
    margin: float
    seed: int
    rows: tuple[AOCRow, ...]

    @property
    def holds(self) -> bool:
        """Whether every start landed, for every size."""
        return all(row.share == 1 for row in self.rows)

    @property
    def title(self) -> str:
        """What was checked, on one line."""
        return f"{self.vehicle['kind']}: steps of {self.duration:g} s, {self.starts} starts, margin {self.margin:g}"

    def table(self) -> list[list[str]]:
        """Header and rows as text."""
        lines = [["size (m)", "landed", "worst miss (m)", "all land from (s)"]]
        for row in self.rows:
            shortest = "never" if row.shortest is None else f"{row.shortest:.3g}"
            if row.shortest is not None and row.shortest <= SHORTEST * self.duration:
                shortest = f"≤ {shortest}"
            # Rounded down: 100% is said only when all did.
            lines.append([f"{row.size:g}", f"{np.floor(row.share * 1000) / 10:g}%", f"{row.worst_miss:.2g}", shortest])
        return lines

    def __repr__(self) -> str:
        return as_text(self.title, self.table())

    def _repr_html_(self) -> str:
        header, *rows = self.table()
        return rows_as_html(self.title, header, rows)

    def to_json(self) -> str:
        """The report as JSON; ``shortest`` is null where no Δt was found."""
        return json.dumps({**asdict(self), "holds": self.holds}, indent=2)


def check_aoc(
    vehicle: Vehicle,
    sizes: float | Sequence[float],
    duration: float,
    starts: int = 256,
    seed: int = 0,
    margin: float = 0.05,
) -> AOCReport:
    """Share of random starts that land in reach sets of these sides (m) within steps of ``duration`` seconds.

    >>> from tricover.vehicles import vehicle
    >>> check_aoc(vehicle("unicycle"), [0.5, 2.0], duration=2.5, starts=100)
    unicycle: steps of 2.5 s, 100 starts, margin 0.05
    size (m)  landed  worst miss (m)  all land from (s)
         0.5    100%               0               1.95
           2     91%            0.74               3.24
    """
    sides = np.atleast_1d(np.asarray(sizes, dtype=np.float64))
    if sides.ndim != 1 or not sides.size or not (np.isfinite(sides) & (sides > 0)).all():
        raise InputError(f"sizes must be positive numbers of metres, not {sizes}")
    if starts < 1 or not 0 <= margin < 1 / 3:
        raise InputError(f"starts must be at least 1 and margin from 0 to below 1/3, not {starts} and {margin}")
    if not (np.isfinite(duration) and duration > 0):
        raise InputError(f"duration must be a positive number of seconds, not {duration}")
    if isinstance(vehicle, Mixed):
        raise InputError("a mixed team has several vehicles: check each of them on its own")
    if flies_for_real(vehicle):
        raise InputError(f"a {vehicle.kind} flies for real: check a vehicle that is like it, such as quadrotor")
    made_by = settings(vehicle) if is_built_in(vehicle) else {"kind": vehicle.kind}
    rows = tuple(_row(vehicle, float(side), duration, starts, seed, margin) for side in sides)
    return AOCReport(made_by, float(duration), starts, float(margin), seed, rows)


def _row(vehicle: Vehicle, size: float, duration: float, starts: int, seed: int, margin: float) -> AOCRow:
    begin, reach_sets = walks(size, starts, seed, margin)

    def misses(time: float) -> Floats:
        return _misses(vehicle, begin, reach_sets, time, seed)

    at_hand = misses(duration)
    shortest = _shortest(lambda time: not misses(time).any(), duration, not at_hand.any())
    return AOCRow(size, float((at_hand == 0).mean()), float(at_hand.max()), shortest)


def walks(size: float, starts: int, seed: int, margin: float) -> tuple[Floats, Floats]:
    """Where each start begins (starts, 2), and the reach sets (STEPS, starts, 3, 2) that it walks through."""
    rng = np.random.default_rng(seed)
    turns = rng.uniform(0, 2 * np.pi, (starts, 1)) + np.arange(3) * 2 * np.pi / 3
    offsets = size / np.sqrt(3) * np.stack([np.cos(turns), np.sin(turns)], axis=-1)
    begin = Anywhere().drive(np.zeros((starts, 2)), offsets, 1.0, rng.random((starts, 2)))
    centres, reach_sets = np.zeros((starts, 1, 2)), np.empty((STEPS, starts, 3, 2))
    for step in range(STEPS):
        # Across the edge opposite a corner: the next centre is as far off as that corner, and the cell is turned over.
        corners = offsets[np.arange(starts), rng.integers(3, size=starts)]
        centres = centres - corners[:, None] / (1 - 3 * margin)
        offsets = -offsets
        reach_sets[step] = centres + offsets
    return begin, reach_sets


def _misses(vehicle: Vehicle, begin: Floats, reach_sets: Floats, duration: float, seed: int) -> Floats:
    """Largest miss of each start over its walk (starts,), in metres: 0 where every step lands."""
    states, worst = vehicle.initial_state(begin), np.zeros(len(begin))
    for step, triangles in enumerate(reach_sets):
        states = vehicle.drive(states, triangles, duration, step_draws(seed, step, len(begin)))
        outputs = vehicle.output(states)
        worst = np.maximum(worst, np.where(inside(outputs, triangles), 0.0, edge_distances(outputs, triangles)))
    return worst


def _shortest(lands: Callable[[float], bool], duration: float, lands_now: bool) -> float | None:
    """The shortest duration at which all land, to PRECISION, or None if there is none up to LONGEST times the given."""
    enough = duration
    if lands_now:
        while lands(enough / 2):
            enough /= 2
            if enough <= SHORTEST * duration:
                return enough
    else:
        while not lands(enough := 2 * enough):
            if enough >= LONGEST * duration:
                return None
    short = enough / 2
    while enough > PRECISION * short:
        middle = float(np.sqrt(short * enough))
        short, enough = (short, middle) if lands(middle) else (middle, enough)
    return enough
