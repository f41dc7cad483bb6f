"""Theorem 3: the team converges to its desired configuration.

The paper proves convergence in the limit. Layers feed forward, so it is in finite time. Let s be the step from which on
anchors stand at their places, targets stand still and the network stays. Then layer l stands at its desired positions
by step

    reach:  s + l                  one step after its in-neighbours
    walk:   s + l·(2M - 1)         one step to get inside the triangle, at most 2M - 2 moves through its M² cells
    walk:   s + l·M²               around zones: one step to a free cell, at most M² - 1 moves through free cells
    morph:  s + Σ_{k≤l} ⌈d_k/c_k⌉  d_k the longest side of layer k's triangles at rest, c_k its longest step

and, where messages are up to D steps old, l·D steps later (see ``late``), if its agents land on the middle of their
reach sets. Others come to a neighbourhood of known radius (see ``radii``) by
the same steps, and stay there. Among zones the desired position is the one that can be reached from where the agent is
in the end; one that holds is at rest.
"""

import numpy as np
from numpy.typing import NDArray

from tricover.certificates.certificate import FAILS, HOLDS, NOT_APPLICABLE, Claim, Fault, Layer, Neighbourhood, counted
from tricover.certificates.check import Step
from tricover.certificates.faults import Faults
from tricover.certificates.log import ROUNDING, Log, Settings
from tricover.certificates.radii import neighbourhood
from tricover.certificates.theorem1 import Anchors
from tricover.control.speed import settling_steps
from tricover.errors import InputError
from tricover.goals import settled_configuration
from tricover.network import Network
from tricover.targets import Targets

__all__ = [
    "BY_CELLS",
    "BY_POLICY",
    "BY_SIGHT",
    "CONVERGENCE",
    "NEIGHBOURHOOD",
    "Convergence",
    "desired_positions",
    "lands_on_points",
    "steps_by_layer",
]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

CONVERGENCE = ("theorem3", "Theorem 3: convergence", "r_i[t] → p_i, layer by layer (Theorem 3, eq. zl)")
NEIGHBOURHOOD = (
    "neighbourhood",
    "Theorem 3: neighbourhood",
    "|r_i[t] - p_i| ≤ ρ_i (Theorem 3 with Assumptions 1 to 3)",
)


BY_CELLS = "Agents go by their Voronoi cells, wherever that leads them."
BY_SIGHT = "Agents see only so far, and settle where what they know sends them."
BY_POLICY = "Agents walk by a policy of the user's own, and nothing is known of where it leads."


def steps_per_layer(settings: Settings) -> int:
    """How many steps a layer needs at most after its in-neighbours have come to rest."""
    if settings.around is not None:
        return settings.resolution**2
    return 1 if (settings.motion or "reach") == "reach" else 2 * settings.resolution - 1


def steps_by_layer(network: Network, desired: Floats, settings: Settings) -> NDArray[np.int64]:
    """How many steps after the anchors each layer is at rest at most, (depth + 1,); at desired positions (N, 2)."""
    if settings.motion == "morph":
        return settling_steps(network, desired, settings.speed)
    return np.arange(network.depth + 1) * steps_per_layer(settings)


class Convergence:
    """Distances to the desired configuration, in the last epoch.

    ``desired`` (N, 2) is this configuration, where it is known already.
    """

    def __init__(self, log: Log, anchors: Anchors, desired: Floats | None = None) -> None:
        self.log, self.anchors = log, anchors
        self.last = log.epochs[-1]
        self.why_not = _why_not(log)
        self.neighbourhood: Neighbourhood | None = None
        if self.why_not is None:
            found = _desired(log) if desired is None else _living(log, desired)
            self.neighbourhood = neighbourhood(self.last.network, found, log.settings, log.exact, log.ideal)
            self._steps = steps_by_layer(self.last.network, found, log.settings)
            if log.late is not None:
                self._steps = self._steps + log.late.oldest * np.arange(len(self._steps))
        layers = self.last.network.depth + 1
        self.settled = np.full(layers, self.last.start)  # the step after the last one at which a layer was off
        self.farthest_agent = np.full(layers, -1)  # at that last step
        self.distance = np.full(layers, np.nan)  # the largest from the bound on
        self.faults = Faults()
        self._desired = self._radii = np.empty(0)  # of the followers, by layer
        self.points = lands_on_points(self.last.network, log.settings, log.exact, log.ideal)

    @property
    def rest(self) -> int | None:
        """s: the step from which on nothing comes from outside; None while the anchors are on their way."""
        arrived = self.anchors.arrived
        return None if arrived is None else max(self.last.known_from, arrived, self.log.still_from)

    def bounds(self) -> NDArray[np.int64] | None:
        """The step by which each layer is to be at rest, (depth + 1,)."""
        if self.rest is None or self.log.settings.motion is None:
            return None
        assert self.neighbourhood is not None
        return self.rest + self._steps

    def see(self, step: Step) -> None:
        """Look at the positions at t+1, and at t in the first step of the last epoch."""
        if self.neighbourhood is None or step.epoch.start != self.last.start:
            return
        if step.opens:
            self._desired = self.neighbourhood.desired[step.frame.followers]
            self._radii = self.neighbourhood.radii[step.frame.followers]
            self._look(step, step.before, step.index)
        self._look(step, step.after, step.index + 1)

    def _look(self, step: Step, positions: Floats, time: int) -> None:
        frame, bounds = step.frame, self.bounds()
        if not len(frame.followers):
            return
        places, starts = positions[frame.followers], frame.starts
        apart = places - self._desired
        away = np.hypot(apart[:, 0], apart[:, 1])
        farthest = np.maximum.reduceat(away, starts[:-1])  # of each layer from 1 on
        # Rounding adds up from layer to layer.
        slack = ROUNDING * float(np.abs(places).max()) * np.arange(2, len(starts) + 1)
        off = 1 + np.flatnonzero(farthest > slack + self.log.settings.tolerance)
        self.settled[off] = time + 1
        if off.size:
            # A fault names an agent of the first layer that is late: no other layer needs one.
            first, last = starts[off[0] - 1], starts[off[0]]
            self.farthest_agent[off[0]] = frame.followers[first + away[first:last].argmax()]
        if bounds is None:
            return
        # Layers 1 … due have reached their bounds.
        due = int(np.searchsorted(bounds[1:], time, side="right"))
        self.distance[1 : due + 1] = np.fmax(self.distance[1 : due + 1], farthest[:due])
        allowed = self._radii[: starts[due]] + np.repeat(slack[:due], np.diff(starts[: due + 1]))
        bad = np.flatnonzero(away[: starts[due]] > allowed)
        beyond = away[bad] - allowed[bad]
        self.faults.add(frame.followers[bad], time, beyond, ["outside its neighbourhood"] * len(bad))

    @property
    def layers(self) -> tuple[Layer, ...]:
        """Layer by layer: when it settled, and how far it was from its desired positions after the bound."""
        if self.neighbourhood is None:
            return ()
        bounds, rows = self.bounds(), []
        for index, agents in enumerate(self.last.network.layers):
            settled = int(self.settled[index]) if index else self.anchors.arrived
            distance = float(self.distance[index])
            rows.append(
                Layer(
                    index,
                    len(agents),
                    settled if settled is not None and settled <= self.log.steps else None,
                    None if bounds is None else int(bounds[index]),
                    None if np.isnan(distance) else distance,
                    float(self.neighbourhood.radii[agents].max(initial=0.0)),
                )
            )
        return tuple(rows)

    def claims(self) -> list[Claim]:
        """Convergence to points, and to neighbourhoods."""
        if self.why_not is None and self.rest is None:
            self.why_not = "the anchors never came to rest."
        if self.why_not is not None:
            return [Claim(*head, NOT_APPLICABLE, f"Not known: {self.why_not}") for head in (CONVERGENCE, NEIGHBOURHOOD)]
        return [self._convergence(), self._neighbourhood()]

    def _convergence(self) -> Claim:
        if not self.points:
            return Claim(
                *CONVERGENCE, NOT_APPLICABLE, "Agents land somewhere in their reach sets: see the neighbourhood."
            )
        followers = self.layers[1:]
        late = [row for row in followers if _overdue(row, self.log.steps)]
        bound = max((row.bound or 0 for row in followers), default=0)
        ends = [row.settled for row in followers if row.settled is not None]
        settled = max(ends, default=0) if len(ends) == len(followers) else None
        figures = {"settled": settled, "bound": bound}
        if late:
            row = late[0]
            agent, distance = int(self.farthest_agent[row.index]), row.distance or 0.0
            reason = f"layer {row.index} was not at rest by its bound, step {row.bound}"
            fault = Fault(agent, (row.settled or self.log.steps + 1) - 1, distance, "m", reason)
            return Claim(
                *CONVERGENCE, FAILS, f"{counted(len(late), 'layer')} settled late or not at all.", figures, (fault,)
            )
        if settled is None:
            text = f"The log ends at step {self.log.steps}, before the bound of {bound}, and is not settled."
            return Claim(*CONVERGENCE, NOT_APPLICABLE, text, figures)
        text = f"Settled at step {settled}; the bound is {bound}."
        return Claim(*CONVERGENCE, HOLDS, text, figures)

    def _neighbourhood(self) -> Claim:
        assert self.neighbourhood is not None
        if self.points:
            return Claim(*NEIGHBOURHOOD, NOT_APPLICABLE, "Agents land on points: the radius is 0, see convergence.")
        followers = self.last.network.followers
        proper = int(self.neighbourhood.proper[followers].sum())
        measured = float(np.nanmax(self.distance, initial=0.0))
        radius = float(self.neighbourhood.radii[followers].max())
        seen = int((~np.isnan(self.distance[1:])).sum())
        figures = {
            "largest_distance": measured,
            "largest_radius": radius,
            "proper_radii": proper,
            "containment_only": len(followers) - proper,
            "layers_seen": seen,
            **self.faults.figures,
        }
        if self.faults.count:
            text = f"{counted(self.faults.count, 'time')} outside, at most {self.faults.worst:.3g} m."
            return Claim(*NEIGHBOURHOOD, FAILS, text, figures, tuple(self.faults.first))
        if not seen:
            return Claim(
                *NEIGHBOURHOOD, NOT_APPLICABLE, f"The log ends at step {self.log.steps}, before any bound.", figures
            )
        text = (
            f"At most {measured:.3g} m from desired positions; the largest radius is {radius:.3g} m. {proper} radii "
            f"follow from cells, {len(followers) - proper} from containment."
        )
        return Claim(*NEIGHBOURHOOD, HOLDS, text, figures)


def _overdue(row: Layer, steps: int) -> bool:
    if row.bound is None or row.bound > steps:
        return False
    return row.settled is None or row.settled > row.bound


def _why_not(log: Log) -> str | None:
    settings = log.settings
    if settings.motion is None or settings.goal is None:
        return "the motion and the goal rule."
    if log.targets is None and settings.goal != "reference":
        return "the targets."
    if settings.sight is not None and settings.goal != "reference":
        return f"where the team should be. {BY_SIGHT}"
    if settings.goal in ("voronoi", "descent"):
        return f"where the team should be. {BY_CELLS}"
    if settings.own_policy:
        return f"where the team should be. {BY_POLICY}"
    last = log.epochs[-1]
    if not len(last.network.followers):
        return "there are no followers in the end."
    if max(log.still_from, last.start) >= log.steps:
        return "where the team should be: something changes until the end."
    return None


def _desired(log: Log) -> Floats:
    """p_i (N, 2) in the log's own mode."""
    last = log.epochs[-1]
    arrived = last.arrived or last.start
    places = last.places
    if places is None:
        places = log.read(arrived, arrived + 1)[0][last.network.anchors]
    where = log.read(log.steps, log.steps + 1)[0][: len(last.network)]
    return _living(log, desired_positions(last.network, log.targets, places, log.settings, where))


def _living(log: Log, desired: Floats) -> Floats:
    """Desired positions (N, 2) of the last network's agents.

    The lost have their reference positions here, and agents that never were in a network the origin: nothing is claimed
    about them.
    """
    network = log.epochs[-1].network
    if desired.shape[1:] != (2,) or len(desired) < len(network):
        raise InputError(f"desired positions must have the shape ({log.agents}, 2), not {desired.shape}")
    found, living = np.zeros((log.agents, 2)), np.flatnonzero(network.layer >= 0)
    found[: len(network)] = network.reference
    found[living] = desired[living]
    return found


def desired_positions(
    network: Network, targets: Targets | None, places: Floats, settings: Settings, where: Floats | None = None
) -> Floats:
    """p_i (N, 2) in the mode of the motion. ``where`` everybody is, (N, 2), decides what can be reached among zones."""
    seen = targets or Targets([[0.0, 0.0]])  # the goal ``reference`` looks at none
    mode = settings.goal or "centroid", settings.motion, settings.resolution, settings.apart
    among = settings.around, None if settings.around is None else where
    return settled_configuration(network, seen, places, *mode, *among)


def lands_on_points(network: Network, settings: Settings, exact: Flags, ideal: Flags) -> bool:
    """Whether all followers land on the middle of their reach sets, or always in reach sets that are points."""
    return bool((exact if settings.motion == "walk" else ideal)[network.followers].all())
