"""GeoJSON (RFC 7946): a feature for each path, position, desired position, link and target, told apart by ``kind``.

    path      LineString  agent, layer, role, in_neighbors, steps (at which each vertex was reached), last_step
    position  Point       agent, layer, role, in_neighbors, present, step: where it ended
    desired   Point       agent, layer, role, in_neighbors: where it should settle
    link      LineString  agent, in_neighbor, slot, layer: from the in-neighbour to the agent, at the end
    target    Point       weight, and its id where it has one; as the last step saw them
    zone      Polygon     zone, its number

Longitude and latitude in degrees, by the way back of the projection. An agent that never moved has a path of two equal
vertices. Lines that cross the antimeridian run on beyond ±180° instead of around the earth.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.export.journeys import agents_of, journeys
from tricover.formats import Projection
from tricover.simulation import Run

__all__ = ["who", "write_geojson"]

Feature = dict[str, Any]


def write_geojson(run: Run, path: Path, tell: Callable[[int, int], None], plane: Projection) -> None:
    """Write the run as a collection of features."""
    with path.open("x", encoding="utf-8") as file:
        file.write(f'{{"type": "FeatureCollection", "name": {json.dumps(run.scenario.name)}, "features": [')
        between = "\n"
        for feature in _features(run, plane, tell):
            file.write(between + json.dumps(feature))
            between = ",\n"
        file.write("\n]}\n")


def _features(run: Run, plane: Projection, tell: Callable[[int, int], None]) -> Iterator[Feature]:
    agents = agents_of(run)
    for journey in journeys(run):
        vertices = journey.positions if len(journey.positions) > 1 else np.repeat(journey.positions, 2, axis=0)
        more = {"steps": journey.steps.tolist(), "last_step": journey.last}
        yield _feature("path", _degrees(vertices, plane), **who(run, journey.agent), **more)
        tell(journey.agent + 1, agents)
    yield from _places(run, plane)
    yield from _links(run, plane)
    yield from _targets(run, plane)
    yield from _zones(run, plane)


def _places(run: Run, plane: Projection) -> Iterator[Feature]:
    ends, present = (run.read(name, run.steps, run.steps + 1)[0] for name in ("positions", "present"))
    for agent, place in enumerate(plane.to_degrees(ends).tolist()):
        more = {"present": bool(present[agent]), "step": run.steps}
        yield _feature("position", place, **who(run, agent), **more)
    desired = plane.to_degrees(run.desired).tolist()
    for agent in np.flatnonzero(run.network.layer >= 0).tolist():
        yield _feature("desired", desired[agent], **who(run, agent))


def _links(run: Run, plane: Projection) -> Iterator[Feature]:
    network, ends = run.network, run.read("positions", run.steps, run.steps + 1)[0]
    for agent in network.followers.tolist():
        for slot, neighbor in enumerate(network.in_neighbors[agent].tolist()):
            more = {"agent": agent, "in_neighbor": neighbor, "slot": slot, "layer": int(network.layer[agent])}
            yield _feature("link", _degrees(ends[[neighbor, agent]], plane), **more)


def _targets(run: Run, plane: Projection) -> Iterator[Feature]:
    targets = run.targets
    weights = np.ones(len(targets)) if targets.weights is None else targets.weights
    ids = [{}] * len(targets) if targets.ids is None else [{"id": name} for name in targets.ids]
    for place, weight, name in zip(plane.to_degrees(targets.points).tolist(), weights.tolist(), ids, strict=True):
        yield _feature("target", place, weight=weight, **name)


def _zones(run: Run, plane: Projection) -> Iterator[Feature]:
    for number, corners in enumerate(run.mission.ground.zones or ()):
        ring = _degrees(np.append(corners, corners[:1], axis=0), plane)
        geometry = {"type": "Polygon", "coordinates": [ring]}
        yield {"type": "Feature", "properties": {"kind": "zone", "zone": number}, "geometry": geometry}


def who(run: Run, agent: int) -> Feature:
    """An agent in the last network; one that was still to come when the run was interrupted has no place in it."""
    network, pads = run.network, run.mission.pads
    if agent >= len(network):
        return {"agent": agent, "layer": None, "role": None, "in_neighbors": None}
    return {
        "agent": agent,
        **({} if pads is None else {"pad": int(pads[agent]) if agent < len(pads) else None}),
        "layer": int(network.layer[agent]) if network.layer[agent] >= 0 else None,
        "role": network.roles[agent],
        "in_neighbors": network.in_neighbors[agent].tolist() if network.layer[agent] > 0 else None,
    }


def _feature(kind: str, coordinates: list[Any], **properties: Any) -> Feature:
    shape = "LineString" if isinstance(coordinates[0], list) else "Point"
    geometry = {"type": shape, "coordinates": coordinates}
    return {"type": "Feature", "properties": {"kind": kind, **properties}, "geometry": geometry}


def _degrees(metres: NDArray[np.float64], plane: Projection) -> list[list[float]]:
    """The vertices of a line in degrees, without a jump at the antimeridian."""
    degrees = plane.to_degrees(metres)
    if np.ptp(degrees[:, 0]) > 180:
        degrees[:, 0] = np.unwrap(degrees[:, 0], period=360)
    vertices: list[list[float]] = degrees.tolist()
    return vertices
