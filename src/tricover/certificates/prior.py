"""Guarantees before a run: what a scenario promises, from its network, its targets and its vehicle.

finite-time      depth and what follows from it, and positions heard per step: three for each follower
theorem3         the step by which the whole team is at rest, beside the steps that the scenario allows
neighbourhood    how far from its desired position an agent may be, where it lands anywhere in its reach set
vehicle          does it land in the smallest and in the largest reach set? (``check_aoc``)
messages         how late they are, where they are not heard at once, and which links need relays
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
from tricover.certificates.late import MESSAGES, RISK
from tricover.certificates.log import Settings
from tricover.certificates.nested import NESTED, SPEED
from tricover.certificates.radii import neighbourhood
from tricover.certificates.runs import settings_of
from tricover.certificates.separation import SEPARATION
from tricover.certificates.theorem2 import FINITE_TIME
from tricover.certificates.theorem3 import (
    BY_CELLS,
    BY_POLICY,
    BY_SIGHT,
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
from tricover.vehicles import Mixed, check_aoc, flies_for_real

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
    if mission.launch:  # the network finds everybody at its place
        start = last.network.reference
    moves = len(mission.epochs) > 1 or len(paths) > 1 or not np.array_equal(start[last.network.anchors], paths[0])
    by_cells = last.told.hears_near
    places = mission.targets_at(scenario.steps), paths[-1], settings
    desired = start[: len(last.network)] if by_cells else desired_positions(last.network, *places)
    exact, ideal = np.asarray(settings.exact), np.asarray(settings.ideal)
    around = neighbourhood(last.network, desired, settings, exact, ideal)
    points = lands_on_points(last.network, settings, exact, ideal)
    on_time = bool(ideal[last.network.anchors].all()) and not may_wait(settings)
    rest = mission.last_change + moves if on_time else None
    late = _late_by(mission)
    by_layer = steps_by_layer(last.network, desired, settings) + (late or 0) * np.arange(last.network.depth + 1)
    if rest is not None:
        rest += late or 0 if len(mission.epochs) > 1 else 0  # repairs are heard of late, too
    layers = _layers(last.network, around, rest if late is not None else None, by_layer)
    claims = (
        _structure(last.network, settings, late),
        _settling(mission, layers, points, late),
        _tube(last.network, around, points),
        _vehicle(mission, desired, settings),
        *_messages(mission, late, desired),
        *_separation(settings),
        *_nested(last.network, settings),
    )
    if may_wait(settings):
        why = "Agents wait for each other to keep apart: nobody knows how long."
        unsure = [Claim(*head, NOT_APPLICABLE, why) for head in (CONVERGENCE, NEIGHBOURHOOD)]
        return Certificate(subject, (claims[0], *unsure, *claims[3:]), layers=layers)
    by_sight = settings.sight is not None and settings.goal != "reference"
    if by_cells or by_sight or settings.own_policy:
        why = BY_CELLS if by_cells else BY_SIGHT if by_sight else BY_POLICY
        unsure = [Claim(*head, NOT_APPLICABLE, why) for head in (CONVERGENCE, NEIGHBOURHOOD)]
        return Certificate(subject, (claims[0], *unsure, *claims[3:]))
    unknown = None
    if last.told.some_stay:
        unknown = "An agent that becomes an anchor stays where it then is, which nobody knows yet."
    elif settings.around is not None and not points:
        unknown = "Zones may cut a triangle in two, and nobody knows yet in which part its agent will be."
    if unknown is not None:
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


def _structure(network: Network, settings: Settings, late: int | None) -> Claim:
    violations, depth, messages = frame_of(network).violations, network.depth, 3 * len(network.followers)
    faults = tuple(Fault(agent, 0, 1.0, "", reason) for agent, reason in violations.items())
    text = f"Forgotten after {counted(depth, 'step')}, one per layer. {messages} positions are heard per step."
    if late:
        text = (
            f"Forgotten after {depth * (late + 1)} steps, {late + 1} per layer. {messages} positions are sent per step."
        )
    elif late is None:
        text = f"Forgotten layer by layer, as messages arrive. {messages} positions are sent per step."
    if settings.motion == "morph":
        hops = f"{counted(depth, 'hop')} down the layers"
        text = f"All follows from the anchors within a step. {messages} positions are announced per step, {hops}."
    figures = {"depth": depth, "messages_per_step": messages}
    return Claim(*FINITE_TIME, FAILS if faults else HOLDS, text, figures, faults)


def _late_by(mission: Mission) -> int | None:
    """D: steps by which messages are late at most, but for the risk; None: it is not known, as some go over relays."""
    channel, followers = mission.world.channel, len(mission.epochs[-1].network.followers)
    if mission.scenario.world.radio is not None:
        return None
    # Every message of every step, and every agent that hears of a repair.
    return channel.late_by(3 * followers + mission.agents, max(mission.scenario.steps, 1), RISK)


def _messages(mission: Mission, late: int | None, desired: Floats) -> tuple[Claim, ...]:
    """How late messages are, where they are not heard at once."""
    channel, world = mission.world.channel, mission.scenario.world
    if channel.perfect:
        return ()
    if late is None:
        senders = mission.epochs[-1].network.in_neighbors.astype(np.int64)
        hops = channel.hops(desired[: len(senders)], senders)
        far, none = int((hops > 1).sum()), int(((hops < 0) & (senders >= 0)).sum())
        text = f"At rest {counted(far, 'link')} over relays and {none} not heard at all. On the way nobody knows."
        return (Claim(*MESSAGES, NOT_APPLICABLE, text, {"relayed": far, "unheard": none}),)
    chance = f" with a chance of {1 - RISK:.0%}" if world.loss else ""
    text = f"No newest message is more than {counted(late, 'step')} old in {mission.scenario.steps} steps{chance}."
    return (Claim(*MESSAGES, HOLDS, text, {"bound": late, "risk": RISK if world.loss else 0.0}),)


def _settling(mission: Mission, layers: tuple[Layer, ...], points: bool, late: int | None) -> Claim:
    bound = layers[-1].bound
    steps = mission.scenario.steps
    figures = {"bound": bound, "steps": steps}
    if not points:
        return Claim(
            *CONVERGENCE, NOT_APPLICABLE, "Agents land somewhere in their reach sets: see the neighbourhood.", figures
        )
    if late is None:
        return Claim(*CONVERGENCE, NOT_APPLICABLE, "Nobody knows over how many relays messages will go.", figures)
    if bound is None or mission.targets_still_from >= steps > 0:
        return Claim(*CONVERGENCE, NOT_APPLICABLE, "Something moves from outside until the end.", figures)
    more = "" if bound <= steps else f" The scenario allows only {steps}."
    chance = f", with a chance of {1 - RISK:.0%}" if mission.scenario.world.loss else ""
    return Claim(*CONVERGENCE, HOLDS, f"At rest at its desired positions by step {bound}{chance}.{more}", figures)


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
    if flies_for_real(mission.vehicle):
        return Claim(*head, NOT_APPLICABLE, "Some fly for real: certify the run.")
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
