"""What can be said of a run's safety before it starts: what was asked for and cannot be kept, with the agents named.

    start     agents that stand closer than the separation asked for
    anchors   anchors whose given ways bring them closer
    places    agents whose desired places are closer, for lack of room in their triangles (``goals.room``)

Nobody is brought closer than it is (``world.clearance``), so agents that start too close stay so until they part, and
two whose places are too close never both arrive. An empty forecast is no proof that everybody arrives.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tricover.geometry.approach import Separation, separation
from tricover.goals import settled_configuration
from tricover.simulation.mission import Mission
from tricover.units import length

__all__ = ["forecast"]

Floats = NDArray[np.float64]

_FEW = 5  # pairs that are named; the others are counted


def forecast(mission: Mission) -> tuple[str, ...]:
    """What of the safety that a mission asks for cannot be kept, a sentence each."""
    asked = mission.scenario.safety.separation
    return () if asked is None else tuple(_too_close(mission, asked))


def _too_close(mission: Mission, asked: float) -> Iterator[str]:
    start = mission.start()
    living = np.flatnonzero(start.present)
    yield from _named(separation(start.positions[None, living], asked), living, "starts", asked)
    for epoch in mission.epochs:
        anchors = epoch.network.anchors
        paths = epoch.told.paths
        if not epoch.told.some_stay:  # else it is not known yet where they are
            yield from _named(separation(paths, asked), anchors, f"given ways (from step {epoch.start} on)", asked)
    places = _places(mission)
    if places is not None:
        living = np.flatnonzero(mission.epochs[-1].network.layer >= 0)
        yield from _named(separation(places[None, living], asked), living, "desired places", asked)


def _places(mission: Mission) -> Floats | None:
    """Where the team should settle, (N, 2); None where it is not known yet."""
    last, control = mission.epochs[-1], mission.scenario.control
    if last.told.some_stay:
        return None
    targets, anchors = mission.targets_at(mission.scenario.steps), last.told.paths[-1]
    mode = control.goal, control.motion, control.resolution, last.told.separation
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
