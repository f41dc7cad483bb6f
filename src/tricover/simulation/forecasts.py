"""What can be said of a run's safety before it starts: what was asked for and cannot be kept, with the agents named.

    start     agents that stand closer than the separation asked for
    launch    pads and places between which the separation is not guaranteed, ways from the pads through zones
    anchors   anchors whose given ways bring them closer
    places    agents whose desired places are closer, for lack of room in their triangles (``goals.room``)
    ways      agents that ``morph`` would bring closer on their way, as it does not wait: found by flying the whole run
              once with vehicles that land where they are sent
    zones     agents that ``reach`` and ``morph`` would bring into a zone, as they do not go around: found so, too
    radio     links that are longer than the radio range at the start, or where the team should settle

Nobody is brought closer than it is (``world.clearance``), so agents that start too close stay so until they part, and
two whose places are too close never both arrive. An empty forecast is no proof that everybody arrives.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tricover.geometry import Crossing, Separation, crossings, separation
from tricover.geometry.approach import separation_of
from tricover.goals import settled_configuration
from tricover.network import Network
from tricover.simulation.launch import launch_notices
from tricover.simulation.mission import Mission
from tricover.simulation.step import Step
from tricover.units import length
from tricover.vehicles.exact import Exact

__all__ = ["forecast"]

Floats = NDArray[np.float64]

_FEW = 5  # pairs that are named; the others are counted


def forecast(mission: Mission) -> tuple[str, ...]:
    """What of the safety that a mission asks for cannot be kept, a sentence each."""
    asked, said = mission.scenario.safety.separation, launch_notices(mission)
    if asked is not None:
        said += _too_close(mission, asked)
    if mission.ground.zones is not None:
        said += _into_zones(mission, mission.ground.zones)
    if mission.scenario.world.radio is not None:
        said += _out_of_range(mission, mission.scenario.world.radio)
    return tuple(said)


def _out_of_range(mission: Mission, radio: float) -> Iterator[str]:
    """Links that need relays, or that nobody hears."""
    first, last = mission.epochs[0].network, mission.epochs[-1].network
    start = mission.ground.reference if mission.launch else mission.start().positions
    yield from _too_long(mission, first, start[: len(first)], radio, "at the start")
    places = _places(mission)
    if places is not None:
        yield from _too_long(mission, last, places, radio, "where the team should settle")


def _too_long(mission: Mission, network: Network, positions: Floats, radio: float, where: str) -> Iterator[str]:
    living = np.where((network.layer >= 0)[:, None], positions, np.nan)
    senders = network.in_neighbors.astype(np.int64)
    hops = mission.world.channel.hops(living, senders)
    lengths = np.linalg.norm(living[senders] - living[:, None], axis=2)
    for found, what in ((hops > 1, "need relays"), ((hops < 0) & (senders >= 0), "are not heard at all")):
        rows, slots = np.nonzero(found)
        if not rows.size:
            continue
        order = np.argsort(-lengths[rows, slots], kind="stable")[:_FEW]
        named = [
            f"{agent} hears {senders[agent, slot]} ({length(lengths[agent, slot])})"
            for agent, slot in zip(rows[order].tolist(), slots[order].tolist(), strict=True)
        ]
        more = "" if len(rows) == len(named) else f" and {len(rows) - len(named)} more"
        of = f"{len(rows)} of {3 * len(network.followers)} links"
        yield f"{of} {what} {where}, as the radio goes {length(radio)}: {', '.join(named)}{more}"


def _into_zones(mission: Mission, zones: tuple[Floats, ...]) -> Iterator[str]:
    ground = mission.ground
    if mission.launch:
        yield from _entering(crossings([ground.start, ground.reference], zones), "on the way from the pads")
    if mission.scenario.control.motion == "walk":
        return
    motion = mission.scenario.control.motion
    yield from _entering(_flown_into(mission, zones), f"as {motion} does not go around")


def _flown(mission: Mission) -> Iterator[Step]:
    """The steps of a run in which everybody lands where it is sent."""
    from tricover.simulation.loop import steps  # here, as a run asks for its forecast

    return steps(replace(mission, vehicle=Exact(), flown=()))


def _flown_into(mission: Mission, zones: tuple[Floats, ...]) -> Iterator[Crossing]:
    """Ways into zones after the launch, if everybody lands where it is sent."""
    for before, after in pairwise(_flown(mission)):
        if before.step >= mission.launch:
            way, there = [before.positions, after.positions], [before.present, after.present]
            found = crossings(way, zones, there)
            yield from (one._replace(step=before.step) for one in found if one.step == 0)


def _entering(found: Iterable[Crossing], why: str) -> Iterator[str]:
    first: dict[int, Crossing] = {}
    for one in found:
        first.setdefault(one.agent, one)
    if first:
        named = [f"{one.agent} (zone {one.zone}, step {one.step})" for one in list(first.values())[:_FEW]]
        more = "" if len(first) == len(named) else f" and {len(first) - len(named)} more"
        who = "an agent enters" if len(first) == 1 else f"{len(first)} agents enter"
        yield f"{who} a zone {why}: {', '.join(named)}{more}"


def _too_close(mission: Mission, asked: float) -> Iterator[str]:
    start = mission.start()
    living = np.flatnonzero(start.present)
    yield from _named(separation(start.positions[None, living], asked), living, "starts", asked)
    for epoch in mission.epochs:
        anchors = epoch.network.anchors
        paths = epoch.told.paths
        if not epoch.told.some_stay:  # else it is not known yet where they are
            yield from _named(separation(paths, asked), anchors, f"given ways (from step {epoch.start} on)", asked)
    if mission.scenario.control.motion == "morph":
        moments = ((step.positions, step.present) for step in _flown(mission))
        yield from _named(separation_of(moments, asked), np.arange(mission.agents), "ways", asked)
        return
    places = _places(mission)
    if places is not None:
        living = np.flatnonzero(mission.epochs[-1].network.layer >= 0)
        yield from _named(separation(places[None, living], asked), living, "desired places", asked)


def _places(mission: Mission) -> Floats | None:
    """Where the team should settle, (N, 2); None where it is not known yet."""
    last = mission.epochs[-1]
    if last.told.some_stay or last.told.hears_near:
        return None
    targets, anchors = mission.targets_at(mission.scenario.steps), last.told.paths[-1]
    mode = last.told.goal, last.told.motion, last.told.resolution, last.told.separation
    return settled_configuration(last.network, targets, anchors, *mode)


def _named(found: Separation, who: NDArray[np.integer], what: str, asked: float) -> Iterator[str]:
    if not len(found.below):
        return
    order = np.argsort(found.distances, kind="stable")[:_FEW]
    named = [
        f"{who[first]} and {who[second]} ({length(found.distances[row])})"
        for row, (first, second) in zip(order, found.below[order], strict=True)
    ]
    count = len(found.below)
    more = "" if count == len(named) else f" and {count - len(named)} more"
    pairs = "a pair of agents has" if count == 1 else f"{count} pairs of agents have"
    yield f"{pairs} {what} closer than the separation of {length(asked)}: {', '.join(named)}{more}"
