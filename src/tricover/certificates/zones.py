"""Zones: nobody is in one, at a step or on the way between two.

Ways are straight from step to step, as positions alone are known. Every way of every agent that takes part is looked
at, with exact signs: one that touches a zone's edge is a fault. The claim says how near the nearest came.

The claim is about places, whatever the motion and however they came about. That ``walk`` keeps out of zones follows
from its cells (``mdp.around``), as long as vehicles land in their reach sets.
"""

import numpy as np

from tricover.certificates.certificate import FAILS, HOLDS, NOT_APPLICABLE, NOTHING_SEEN, Claim, Figure, counted
from tricover.certificates.check import Step
from tricover.certificates.faults import Faults
from tricover.certificates.log import Log
from tricover.geometry import as_zones
from tricover.geometry.polygons import ways_in

__all__ = ["ZONES", "Outside"]

ZONES = ("zones", "Zones", "r_i[t] + s (r_i[t+1] - r_i[t]) is in no zone, 0 ≤ s ≤ 1")


class Outside:
    """Everybody stays out of the zones of a log that knows some."""

    def __init__(self, log: Log) -> None:
        assert log.settings.zones is not None
        self.zones = as_zones(log.settings.zones)
        self.faults = Faults()
        self.distance, self.nearest = np.inf, (-1, -1, -1)  # agent, step, zone
        self.ways = 0

    def see(self, step: Step) -> None:
        """Look at the ways from t to t+1."""
        agents = np.flatnonzero(step.epoch.network.layer >= 0)
        self.ways += len(agents)
        if step.same and not self.faults.count:
            return
        before, after = step.before[agents], step.after[agents]
        found, way, zone = self.zones.distance(before, after, self.distance)
        if way >= 0:
            self.distance, self.nearest = found, (int(agents[way]), step.index, zone)
        met = ways_in(step.before, step.after, agents, step.index, self.zones)
        who, lengths = np.array([one.agent for one in met], np.int64), np.array([one.length for one in met])
        self.faults.add(who, step.index, lengths, [f"met zone {one.zone}" for one in met])

    def claims(self) -> list[Claim]:
        """The one verdict."""
        if not self.ways:
            return [Claim(*ZONES, NOT_APPLICABLE, NOTHING_SEEN)]
        agent, step, zone = self.nearest
        figures: dict[str, Figure] = {"zones": len(self.zones), "ways": self.ways, "least_distance": self.distance}
        figures |= {"nearest_agent": agent, "nearest_step": step, "nearest_zone": zone, **self.faults.figures}
        if self.faults.count:
            text = f"{counted(self.faults.count, 'way')} met a zone, with up to {self.faults.worst:.3g} m inside."
            return [Claim(*ZONES, FAILS, text, figures, tuple(self.faults.first))]
        text = f"Nobody came nearer than {self.distance:.3g} m (agent {agent}, step {step}, zone {zone})."
        return [Claim(*ZONES, HOLDS, text, figures)]
