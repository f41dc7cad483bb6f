"""Live figures of a run: how far it is, how good its coverage is beside Lloyd's, who came close, what was missed.

Sums over the steps so far are kept step by step, so that scrubbing back costs nothing.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tricover.coverage import coverage_cost, has_targets, lloyd
from tricover.geometry import separation
from tricover.studio.timeline import Timeline

__all__ = ["Figures"]

MOST_MEASURED = 5_000
"""Agents up to which distances are measured at every step: so many take 20 ms."""
MOST_WEIGHED = 5_000_000
"""Agents times targets up to which Lloyd's algorithm runs beside: so many take about a second."""
CONVERGED = 1e-4
"""Share of the cost by which Lloyd's algorithm still has to gain to go on."""


@dataclass
class Figures:
    """The figures of a timeline."""

    timeline: Timeline
    _closest: list[float] = field(default_factory=lambda: [np.inf])
    _missed: list[int] = field(default_factory=lambda: [0])
    _oldest: list[int | None] = field(default_factory=lambda: [None])

    def at(self, step: int) -> dict[str, Any]:
        """Figures at a step: layers, square metres, metres, counts and steps; None where there is none."""
        while len(self._missed) <= step:
            self._take(len(self._missed))
        network = self.timeline.epoch(step).network
        closest = self._closest[step]
        return {
            "layers": self.timeline.layers(step),
            "depth": network.depth,
            "agents": int((network.layer >= 0).sum()),
            "coverage": self._coverage(step),
            "lloyd": self._lloyd,
            "closest": float(closest) if np.isfinite(closest) else None,
            "missed": self._missed[step],
            "oldest": self._oldest[step],
        }

    def _take(self, step: int) -> None:
        """The sums up to a step, from those up to the step before."""
        left = self.timeline.left_behind(step - 1, ("miss", "ages"))
        assert left is not None, "a step that there is was taken"
        self._missed.append(self._missed[-1] + int((left["miss"] > 0).sum()))
        ages = left.get("ages")
        self._oldest.append(None if ages is None else max(self._oldest[-1] or 0, int(ages.max(initial=0))))
        self._closest.append(min(self._closest[-1], self._approach(step)))

    def _approach(self, step: int) -> float:
        """The least distance of any two on their way to a step, in metres."""
        before, after = (self.timeline.positions(time) for time in (step - 1, step))
        here = np.flatnonzero(self.timeline.epoch(step - 1).present(len(before)))
        if not 1 < len(here) <= MOST_MEASURED:
            return np.inf
        return float(separation(np.stack([before[here], after[here]])).distance)

    def _coverage(self, step: int) -> float | None:
        """Mean squared distance of targets to the nearest agent, m²."""
        targets = self.timeline.mission.targets_at(step)
        if not has_targets(targets):
            return None
        positions = self.timeline.positions(step)
        return float(coverage_cost(positions[self.timeline.epoch(step).present(len(positions))], targets))

    @cached_property
    def _lloyd(self) -> float | None:
        """What Lloyd's algorithm gets to from the same start with all agents, where that is quick; m²."""
        mission = self.timeline.mission
        targets = mission.targets_at(mission.scenario.steps)
        if not has_targets(targets) or mission.agents * len(targets) > MOST_WEIGHED:
            return None
        return float(lloyd(mission.ground.start, targets, tolerance=CONVERGED).cost)
