"""A variant: a scenario, its timeline and its figures. A studio shows one, or two side by side."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError
from tricover.own import label_of
from tricover.report.playback import colours_of
from tricover.simulation import Mission, Run, Scenario
from tricover.studio.figures import Figures
from tricover.studio.timeline import Live, Recorded, Timeline
from tricover.vehicles import flies_for_real

__all__ = ["Variant", "box_of", "map_facts"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Variant:
    """A scenario and what comes of it; another one comes of a change."""

    scenario: Scenario
    timeline: Timeline
    figures: Figures

    @classmethod
    def of(cls, subject: Scenario | Run) -> "Variant":
        """A scenario at its start, or a run as it was recorded."""
        if isinstance(subject, Run):
            return cls._with(subject.scenario, Recorded(subject))
        kinds = (subject.vehicle, *subject.vehicle.others)
        if any(flies_for_real(kind.made()) for kind in kinds):
            raise InputError("vehicle.kind: its vehicles would fly for real: the studio only simulates")
        return cls._with(subject, Live(Mission.of(subject)))

    @classmethod
    def _with(cls, scenario: Scenario, timeline: Timeline) -> "Variant":
        return cls(scenario, timeline, Figures(timeline))

    def flying(self) -> Live:
        """The timeline, if it can be changed."""
        if not isinstance(self.timeline, Live):
            raise InputError("this run is a record: run it again to change it")
        return self.timeline

    def after(self, scenario: Scenario, step: int, pushed: dict[int, Floats] | None = None) -> "Variant":
        """The same up to a step, and from there on by another scenario, with some agents pushed elsewhere.

        A team that plans by itself, or flies from pads, begins anew: its plans are made of the whole flight.
        """
        live = self.flying()
        if step == 0 and not pushed:
            return Variant.of(scenario)
        mission = Mission.of(scenario)
        if mission.flown or mission.launch or live.mission.flown or live.mission.launch:
            return Variant.of(scenario)
        return self._with(scenario, live.changed(mission, step, pushed))

    def facts(self, step: int, corner: Floats) -> dict[str, Any]:
        """What a page needs to know besides numbers by agent; places in metres from the corner."""
        network, mission = self.timeline.epoch(step).network, self.timeline.mission
        return {
            "name": self.scenario.name,
            "agents": mission.agents,
            "targets": len(mission.targets),
            "length": self.timeline.length,
            "ended": self.timeline.ended,
            "most": self.scenario.steps,
            "by_hand": self.timeline.by_hand,
            "recorded": isinstance(self.timeline, Recorded),
            "motion": self.scenario.control.motion,
            "goal": label_of(self.scenario.control.goal),
            **map_facts(mission, network.depth, network.boundary.tolist(), [int(network.core)], corner),
        }


def map_facts(mission: Mission, depth: int, boundary: list[int], cores: list[int], corner: Floats) -> dict[str, Any]:
    """What a map needs to know of a network, or of several, and of the ground, besides numbers by agent."""
    zones = mission.ground.zones
    return {
        "depth": depth,
        "boundary": boundary,
        "cores": cores,
        **_colours(depth),
        "zones": [] if zones is None else [(ring - corner).tolist() for ring in zones],
    }


def _colours(depth: int) -> dict[str, Any]:
    """The colours of reports, by the names that scripts use."""
    found = colours_of(depth)
    return {
        "colours": found["colours"],
        "coreColour": found["core"],
        "lostColour": found["lost"],
        "ground": found["ground"],
    }


def box_of(teams: Iterable[tuple[Mission, Floats]]) -> tuple[Floats, Floats]:
    """The corners (2,) of a box around teams at their start (N, 2), places of anchors, targets and zones."""
    points = []
    for mission, start in teams:
        places = mission.epochs[0].told.paths.reshape(-1, 2)
        zones = () if mission.ground.zones is None else tuple(mission.ground.zones)
        points += [start, mission.targets.points, places[~np.isnan(places[:, 0])], *zones]
    low = np.min([part.min(axis=0) for part in points if len(part)], axis=0)
    high = np.max([part.max(axis=0) for part in points if len(part)], axis=0)
    return low, high
