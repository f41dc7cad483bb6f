"""What agents see: targets, and other agents near by.

A perfect sensor shows everybody all targets. One with a *radius* ρ shows an agent the targets within ρ metres of where
it stands, and that may be imperfect, too:

- *noise* σ: a target seems to be off by a normal deviate of standard deviation σ along each axis, in each step anew;
- *missed*: a target in sight is not noticed with this chance, in each step anew.

Whether a target is in sight depends on where it is, not on where it seems to be. An agent knows which target it sees:
telling targets apart (data association) is taken as solved. Draws are functions of seed, step, agent and target. So an
agent on its own sees what it sees in the team, whatever else is there to be seen.
"""

from dataclasses import dataclass
from math import pi
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tricover.draws import SIGHT, uniforms
from tricover.errors import InputError, shown
from tricover.formats.points import LARGEST
from tricover.goals.voronoi import Near
from tricover.targets import TargetLists, Targets
from tricover.world._sensing import deviates

__all__ = ["PerfectSensor", "RangeSensor", "Scene", "Sensor"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROUND = 1.0 + 1e-9  # a triangle around a disc is larger by so much, that rounding leaves nothing of the disc outside
_AROUND = 2.0 * np.stack([np.cos(pi / 2 + np.arange(3) * 2 * pi / 3), np.sin(pi / 2 + np.arange(3) * 2 * pi / 3)], 1)
_TARGETS = 1 << 32  # draw number agent · 2³² + target; those for what is missed are 2³¹ further on
_MISSED = 1 << 31


class Scene(NamedTuple):
    """The targets at a step: still ones, and their numbers (D,), which they keep over time."""

    step: int
    targets: Targets
    names: Ints


class Sensor(Protocol):
    """The eyes of the agents."""

    @property
    def sees_all(self) -> bool:
        """Whether every agent sees all targets that are there."""

    @property
    def certain(self) -> bool:
        """Whether an agent at one place sees the same of targets that stand still, step after step."""

    def see(self, scene: Scene, agents: Ints, positions: Floats) -> Targets | TargetLists:
        """The targets that agents (A,) at positions (A, 2) see: all of them the same, or each its own."""

    def near(self, agents: Ints, living: Ints, positions: Floats, within: float | None) -> Near:
        """Who of the living (L,) is ``within`` so many metres of some of the agents (A,), and where; None: all of them.

        Everybody is at positions (N, 2).
        """


@dataclass(frozen=True)
class PerfectSensor:
    """Every target is seen, and every agent within the distance asked for."""

    sees_all: ClassVar[bool] = True
    certain: ClassVar[bool] = True

    def see(self, scene: Scene, agents: Ints, positions: Floats) -> Targets:
        """All of them."""
        return scene.targets

    def near(self, agents: Ints, living: Ints, positions: Floats, within: float | None) -> Near:
        """All within the distance, in ascending order of their numbers."""
        return _near(agents, living, positions, within)


@dataclass(frozen=True)
class RangeSensor:
    """Targets are seen within a radius.

    Attributes:
        radius: ρ, in metres.
        noise: σ, in metres.
        missed: chance that a target in sight is not noticed.
        seed: of the draws.
    """

    radius: float
    noise: float = 0.0
    missed: float = 0.0
    seed: int = 0
    sees_all: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 < self.radius <= LARGEST:
            raise InputError(f"sight must be a positive number of metres, not {shown(self.radius)}")
        if not 0 <= self.noise <= LARGEST:
            raise InputError(f"noise must be a number of metres from 0 on, not {shown(self.noise)}")
        if not 0 <= self.missed < 1:
            raise InputError(f"missed must be a chance from 0 to less than 1, not {shown(self.missed)}")

    @property
    def certain(self) -> bool:
        """Whether an agent at one place sees the same, step after step."""
        return not self.noise and not self.missed

    def see(self, scene: Scene, agents: Ints, positions: Floats) -> TargetLists:
        """What each of the agents sees, sorted by name."""
        counts, found = self._in_sight(scene.targets, positions)
        rows, names = np.repeat(np.arange(len(agents)), counts), scene.names[found]
        order = np.lexsort((names, rows))
        found, names = found[order], names[order]
        keys = agents[rows] * _TARGETS + names
        points = scene.targets.points[found]
        if self.noise:
            points = points + self.noise * deviates(uniforms(self.seed, SIGHT, scene.step, keys))
        weights = np.ones(len(found)) if scene.targets.weights is None else scene.targets.weights[found]
        lists = TargetLists.of(counts, names, points, weights, np.ones(len(found), np.bool_))
        if not self.missed:
            return lists
        return lists.where(uniforms(self.seed, SIGHT, scene.step, keys + _MISSED)[:, 0] >= self.missed)

    def _in_sight(self, targets: Targets, positions: Floats) -> tuple[Ints, Ints]:
        """How many targets are in sight from each position (A,), and which, one list after another."""
        if not len(targets) or not len(positions):
            return np.zeros(len(positions), np.int64), np.empty(0, np.int64)
        # Beyond everything there is, a larger radius shows no more.
        farthest = 2 * max(np.abs(targets.points).max(), np.abs(positions).max()) + 1.0
        reach = min(self.radius, 2 * farthest) * _ROUND
        around = positions[:, None] + reach * _AROUND
        members: NDArray[np.integer[Any]]
        if np.abs(around).max() <= LARGEST:
            offsets, members = targets.members(around)
            rows = np.repeat(np.arange(len(positions)), np.diff(offsets))
        else:  # no triangle holds the disc: look at all
            rows, members = (part.ravel() for part in np.indices((len(positions), len(targets))))
        apart = targets.points[members] - positions[rows]
        seen = apart[:, 0] * apart[:, 0] + apart[:, 1] * apart[:, 1] <= self.radius * self.radius
        return np.bincount(rows[seen], minlength=len(positions)), members[seen].astype(np.int64)

    def near(self, agents: Ints, living: Ints, positions: Floats, within: float | None) -> Near:
        """All within the distance: agents are heard of, not looked for."""
        return _near(agents, living, positions, within)


def _near(agents: Ints, living: Ints, positions: Floats, within: float | None) -> Near:
    from scipy.spatial import cKDTree

    if within is not None and len(agents) < len(living):  # all of them are within any distance of themselves
        apart, _ = cKDTree(positions[agents]).query(positions[living])
        living = living[np.asarray(apart) <= within]
    return Near(living, positions[living])
