"""Guarantees before a run: what a scenario promises, from its network, its targets and its vehicle.

finite-time      depth and what follows from it, and positions heard per step: three for each follower
theorem3         the step by which the whole team is at rest, beside the steps that the scenario allows
neighbourhood    how far from its desired position an agent may be, where it lands anywhere in its reach set
vehicle          does it land in the smallest and in the largest reach set? (``check_aoc``)
separation       where it is asked for: a claim about the motion, which there is none of yet
nested, speed    that nobody meets and nobody is too fast, by the motion ``morph``
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tricover.certificates.certificate import (
    FAILS,
    HOLDS,
    NOT_APPLICABLE,
    Certificate,
    Claim,
    Fault,
    Layer,
    Neighbourhood,
    counted,
)
from tricover.certificates.evidence import EVIDENCE, NO_FOLLOWERS
from tricover.certificates.log import Settings
from tricover.certificates.nested import NESTED, SPEED
from tricover.certificates.radii import neighbourhood
from tricover.certificates.runs import settings_of
from tricover.certificates.separation import SEPARATION
from tricover.certificates.theorem2 import FINITE_TIME
from tricover.certificates.theorem3 import (
    CONVERGENCE,
    NEIGHBOURHOOD,
    desired_positions,
    lands_on_points,
    steps_by_layer,
)
from tricover.certificates.transition import frame_of
from tricover.certificates.waiting import may_wait
from tricover.control.speed import speed_of
from tricover.geometry import flat, volumes
from tricover.network import Network
from tricover.simulation import Mission, Scenario
from tricover.units import length
from tricover.vehicles import Mixed, check_aoc

__all__ = ["foresee"]

Floats = NDArray[np.float64]

_STARTS, _FEW = 32, {"rotorpy": 4}  # of check_aoc; RotorPy flies one agent at a time


def foresee(scenario: Scenario) -> Certificate:
    """The guarantees of a scenario, for its last network, before it is run."""
    mission = Mission.of(scenario)
    settings, last = settings_of(mission), mission.epochs[-1]
    subject = f"scenario {scenario.name} ({len(last.network)} agents), before the run"
    if not len(last.network.followers):
        return Certificate(subject, (Claim(*EVIDENCE, FAILS, NO_FOLLOWERS),))
    start = mission.start().positions
    paths = last.told.paths_from(start)
    moves = len(mission.epochs) > 1 or len(paths) > 1 or not np.array_equal(start[last.network.anchors], paths[0])
    desired = desired_positions(last.network, mission.targets_at(scenario.steps), paths[-1], settings)
    exact, ideal = np.asarray(settings.exact), np.asarray(settings.ideal)
    around = neighbourhood(last.network, desired, settings, exact, ideal)
    points = lands_on_points(last.network, settings, exact, ideal)
    on_time = bool(ideal[last.network.anchors].all()) and not may_wait(settings)
    rest = mission.last_change + moves if on_time else None
    layers = _layers(last.network, around, rest, steps_by_layer(last.network, desired, settings))
    claims = (
        _structure(last.network, settings),
        _settling(mission, layers, points),
        _tube(last.network, around, points),
        _vehicle(mission, desired, settings),
        *_nested(last.network, settings),
        *_separation(settings),
    )
    if may_wait(settings):
        unknown = "Agents wait for each other to keep apart: nobody knows how long."
        late = [Claim(*head, NOT_APPLICABLE, unknown) for head in (CONVERGENCE, NEIGHBOURHOOD)]
        return Certificate(subject, (claims[0], *late, *claims[3:]), layers=layers)
    if last.told.some_stay:
        unknown = "An agent that becomes an anchor stays where it then is, which nobody knows yet."
        tube = Claim(*NEIGHBOURHOOD, NOT_APPLICABLE, unknown)
        layers = tuple(replace(layer, radius=None) for layer in layers)
        return Certificate(subject, (*claims[:2], tube, *claims[3:]), layers=layers)
    return Certificate(subject, claims, layers=layers, neighbourhood=around)


def _layers(network: Network, around: Neighbourhood, rest: int | None, steps: NDArray[np.int64]) -> tuple[Layer, ...]:
    return tuple(
        Layer(
            index,
            len(agents),
            None,
            None if rest is None else rest + int(steps[index]),
            None,
            float(around.radii[agents].max(initial=0.0)),
        )
        for index, agents in enumerate(network.layers)
    )


def _structure(network: Network, settings: Settings) -> Claim:
    violations, depth, messages = frame_of(network).violations, network.depth, 3 * len(network.followers)
    faults = tuple(Fault(agent, 0, 1.0, "", reason) for agent, reason in violations.items())
    text = f"Forgotten after {counted(depth, 'step')}, one per layer. {messages} positions are heard per step."
    if settings.motion == "morph":
        hops = f"{counted(depth, 'hop')} down the layers"
        text = f"All follows from the anchors within a step. {messages} positions are announced per step, {hops}."
    figures = {"depth": depth, "messages_per_step": messages}
    return Claim(*FINITE_TIME, FAILS if faults else HOLDS, text, figures, faults)


def _settling(mission: Mission, layers: tuple[Layer, ...], points: bool) -> Claim:
    bound = layers[-1].bound
    steps = mission.scenario.steps
    figures = {"bound": bound, "steps": steps}
    if not points:
        return Claim(
            *CONVERGENCE, NOT_APPLICABLE, "Agents land somewhere in their reach sets: see the neighbourhood.", figures
        )
    if bound is None or mission.targets_still_from >= steps > 0:
        return Claim(*CONVERGENCE, NOT_APPLICABLE, "Something moves from outside until the end.", figures)
    more = "" if bound <= steps else f" The scenario allows only {steps}."
    return Claim(*CONVERGENCE, HOLDS, f"At rest at its desired positions by step {bound}.{more}", figures)


def _tube(network: Network, around: Neighbourhood, points: bool) -> Claim:
    if points:
        return Claim(*NEIGHBOURHOOD, NOT_APPLICABLE, "Agents land on points: the radius is 0, see convergence.")
    followers = network.followers
    radius, proper = float(around.radii[followers].max()), int(around.proper[followers].sum())
    others = len(followers) - proper
    text = f"Within {radius:.3g} m of desired positions: {proper} radii from cells, {others} from containment."
    figures = {"largest_radius": radius, "proper_radii": proper, "containment_only": others}
    return Claim(*NEIGHBOURHOOD, HOLDS, text, figures)


def _nested(network: Network, settings: Settings) -> tuple[Claim, ...]:
    """What ``morph`` promises of the plan; the anchors' ways were looked at when the scenario was resolved."""
    if settings.motion != "morph":
        return ()
    speed = speed_of(network, settings.speed)
    more = "" if np.asarray(settings.ideal).all() else " What vehicles miss of it is seen after the run."
    return (
        Claim(*NESTED, HOLDS, f"The plan is nested at every step and on the way: nobody meets.{more}"),
        Claim(*SPEED, HOLDS, f"Nobody goes farther than {speed:.4g} m in a step of the plan.", {"speed": speed}),
    )


def _vehicle(mission: Mission, desired: Floats, settings: Settings) -> Claim:
    head = ("vehicle", "Vehicle lands", "r[t+1] ∈ P within one step (Assumption 1, Definition 1)")
    if np.asarray(settings.ideal).all():
        return Claim(*head, HOLDS, "It lands in its reach sets by definition.")
    if settings.motion != "walk":
        why = f"{settings.motion} asks for a single point, where no real vehicle stops to the bit."
        return Claim(*head, NOT_APPLICABLE, why)
    sizes = _reach_set_sizes(mission.epochs[-1].network, desired, settings)
    if sizes is None:
        return Claim(*head, NOT_APPLICABLE, "No follower has a triangle with area.")
    kinds = mission.vehicle.vehicles if isinstance(mission.vehicle, Mixed) else (mission.vehicle,)
    reports = [
        check_aoc(
            one, list(sizes), mission.scenario.vehicle.duration, _FEW.get(one.kind, _STARTS), margin=settings.margin
        )
        for one in kinds
        if one.landing == "anywhere"
    ]
    rows = [(report.vehicle["kind"], row) for report in reports for row in report.rows]
    share = min(row.share for _, row in rows)
    figures = {
        "smallest": sizes[0],
        "largest": sizes[1],
        "share_landed": share,
        "duration": mission.scenario.vehicle.duration,
    }
    if share == 1:
        text = f"All starts land, in reach sets of {sizes[0]:.3g} to {sizes[1]:.3g} m."
        return Claim(*head, HOLDS, text, figures)
    kind, worst = min(rows, key=lambda pair: pair[1].share)
    needed = "no step is long enough" if worst.shortest is None else f"steps of {worst.shortest:.3g} s would do"
    text = f"{kind}: {worst.share:.1%} of starts land in a reach set of {worst.size:.3g} m; {needed}."
    return Claim(*head, FAILS, text, figures)


def _separation(settings: Settings) -> list[Claim]:
    if settings.separation is None:
        return []
    text = f"{length(settings.separation)} are asked for, and nothing has moved yet: certify the run."
    return [Claim(*SEPARATION, NOT_APPLICABLE, text, {"separation": settings.separation})]


def _reach_set_sizes(network: Network, desired: Floats, settings: Settings) -> tuple[float, float] | None:
    """Smallest height and longest side of the reach sets at the desired configuration, in metres."""
    triangles = desired[network.in_neighbors[network.followers]]
    triangles = triangles[~flat(triangles)]
    if not len(triangles):
        return None
    sides = np.linalg.norm(triangles - np.roll(triangles, 1, axis=1), axis=2).max(axis=1)
    heights = np.abs(volumes(triangles)) / sides
    shrink = (1 - 3 * settings.margin) / settings.resolution
    return float(heights.min() * shrink), float(sides.max() * shrink)
