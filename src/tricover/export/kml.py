"""KML 2.2 (OGC 07-147r2), for Google Earth and QGIS: a folder for each kind of thing, which QGIS shows as a layer.

    paths      a line for each agent, from its first to its last step
    motion     the same in time, as Google's gx:Track: it plays with the time slider
    positions  where each agent ended
    anchors    where each anchor should be
    desired    where each follower should settle
    links      from the in-neighbour to the agent, at the end
    targets    with their names, as the last step saw them

What is known of an agent or target stands in its ExtendedData. Time is counted from the year 2000 on, since a run has
no date. Everything lies on the ground: altitudes of a flight are not part of a run. Where a flight is given, paths and
motion are at the levels of its plans (see ``heights``), above the ground. Longitudes are from -180° to 180°.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from tricover.errors import InputError, plain
from tricover.export.flight import Flight
from tricover.export.flights import flights_of
from tricover.export.geojson import who
from tricover.export.journeys import Journey, agents_of, journeys, seconds
from tricover.formats import Projection
from tricover.simulation import Run

__all__ = ["write_kml"]

Floats = NDArray[np.float64]

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2">
<Document>
"""
_DOT = "http://maps.google.com/mapfiles/kml/shapes/shaded_dot.png"  # Google Earth has it on board
_ABOVE = "<altitudeMode>relativeToGround</altitudeMode>"
_START = datetime(2000, 1, 1)
_LONGEST = datetime.max - _START
_LIGHTEST = 0.92  # of the colour map: yellow is hard to see
# Colour (alpha, blue, green, red) and size of what has no layer; agents have those of theirs.
_PLAIN = {
    "lost": ("ff808080", 0.7),
    "desired": ("ffaaaaaa", 0.5),
    "link": ("80ffffff", 0.1),
    "target": ("ff3c3cdc", 0.4),
}


def write_kml(
    run: Run, path: Path, tell: Callable[[int, int], None], plane: Projection, flight: Flight | None = None
) -> None:
    """Write the run as a document with a folder for each kind of thing."""
    if run.steps * seconds(run) > _LONGEST.total_seconds():
        raise InputError("this run takes longer than the calendar of KML goes, to the year 9999: export a shorter one")
    with path.open("x", encoding="utf-8") as file:
        file.write(f"{_HEAD}<name>{_text(run.scenario.name)}</name>\n")
        file.writelines(_styles(run))
        for name, placemarks in _folders(run, plane, tell, _heights(run, flight)):
            file.write(f"<Folder><name>{name}</name>\n")
            file.writelines(placemarks)
            file.write("</Folder>\n")
        file.write("</Document>\n</kml>\n")


def _heights(run: Run, flight: Flight | None) -> dict[int, float]:
    """The height of each agent's level; of nobody if there is no flight."""
    if flight is None:
        return {}
    flights = flights_of(run, flight)
    return dict(zip(flights.tracks.agents.tolist(), flights.heights[flights.levels].tolist(), strict=True))


def _folders(
    run: Run, plane: Projection, tell: Callable[[int, int], None], heights: dict[int, float]
) -> Iterator[tuple[str, Iterator[str]]]:
    network, agents = run.network, agents_of(run)
    present = np.flatnonzero(network.layer >= 0)
    yield "paths", _paths(run, plane, lambda done: tell(done, 2 * agents), heights)
    yield "motion", _motion(run, plane, lambda done: tell(agents + done, 2 * agents), heights)
    yield "positions", _places(run, plane, _ends(run)[: len(network)], np.arange(len(network)))
    yield "anchors", _places(run, plane, run.desired, network.anchors)
    yield "desired", _places(run, plane, run.desired, np.setdiff1d(present, network.anchors), "desired")
    yield "links", _links(run, plane)
    yield "targets", _targets(run, plane)
    if run.mission.ground.zones is not None:
        yield "zones", _zones(run, plane)


def _paths(run: Run, plane: Projection, tell: Callable[[int], None], heights: dict[int, float]) -> Iterator[str]:
    for journey in journeys(run):
        vertices = journey.positions if len(journey.positions) > 1 else np.repeat(journey.positions, 2, axis=0)
        facts = {**who(run, journey.agent), "first_step": int(journey.steps[0]), "last_step": journey.last}
        line = _line(plane.to_degrees(vertices), heights.get(journey.agent))
        yield _placemark(f"agent {journey.agent}", _style(run, journey.agent), facts, line)
        tell(journey.agent + 1)


def _motion(run: Run, plane: Projection, tell: Callable[[int], None], heights: dict[int, float]) -> Iterator[str]:
    for journey in journeys(run):
        steps, rows = _standing(journey)
        whens = "".join(f"<when>{_when(step * seconds(run))}</when>\n" for step in steps.tolist())
        degrees = plane.to_degrees(journey.positions)[rows].tolist()
        height = heights.get(journey.agent, 0)
        coords = [f"<gx:coord>{longitude!r} {latitude!r} {height}</gx:coord>\n" for longitude, latitude in degrees]
        track = f"<gx:Track>\n{_ABOVE if height else ''}{whens}{''.join(coords)}</gx:Track>"
        yield _placemark(f"agent {journey.agent}", _style(run, journey.agent), who(run, journey.agent), track)
        tell(journey.agent + 1)


def _standing(journey: Journey) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Steps, and the positions then, between which an agent moves straight: also the ends of its rests."""
    until = np.append(journey.steps[1:] - 1, journey.last)
    steps, first = np.unique(np.concatenate([journey.steps, until]), return_index=True)
    return steps, first % len(journey.steps)


def _ends(run: Run) -> Floats:
    return np.asarray(run.read("positions", run.steps, run.steps + 1)[0])


def _places(
    run: Run, plane: Projection, metres: Floats, agents: NDArray[np.int64], style: str | None = None
) -> Iterator[str]:
    degrees = plane.to_degrees(metres[agents]).tolist()
    for agent, place in zip(agents.tolist(), degrees, strict=True):
        yield _placemark(f"agent {agent}", style or _style(run, agent), who(run, agent), _point(place))


def _links(run: Run, plane: Projection) -> Iterator[str]:
    network, ends = run.network, plane.to_degrees(_ends(run))
    for agent in network.followers.tolist():
        for slot, neighbor in enumerate(network.in_neighbors[agent].tolist()):
            facts = {"agent": agent, "in_neighbor": neighbor, "slot": slot, "layer": int(network.layer[agent])}
            yield _placemark(f"{neighbor} to {agent}", "link", facts, _line(ends[[neighbor, agent]]))


def _targets(run: Run, plane: Projection) -> Iterator[str]:
    targets = run.targets
    weights = np.ones(len(targets)) if targets.weights is None else targets.weights
    names = targets.ids or [""] * len(targets)
    degrees = plane.to_degrees(targets.points).tolist()
    for number, (place, weight, name) in enumerate(zip(degrees, weights.tolist(), names, strict=True)):
        yield _placemark(name or f"target {number}", "target", {"weight": weight}, _point(place))


def _zones(run: Run, plane: Projection) -> Iterator[str]:
    for number, corners in enumerate(run.mission.ground.zones or ()):
        degrees = plane.to_degrees(np.append(corners, corners[:1], axis=0)).tolist()
        vertices = " ".join(f"{longitude!r},{latitude!r}" for longitude, latitude in degrees)
        ring = f"<LinearRing><coordinates>{vertices}</coordinates></LinearRing>"
        shape = f"<Polygon><tessellate>1</tessellate><outerBoundaryIs>{ring}</outerBoundaryIs></Polygon>"
        yield _placemark(f"zone {number}", "lost", {}, shape)


def _placemark(name: str, style: str, facts: dict[str, Any], geometry: str) -> str:
    known = {key: fact for key, fact in facts.items() if fact is not None}
    data = "".join(f'<Data name="{key}"><value>{_text(str(fact))}</value></Data>' for key, fact in known.items())
    about = f"<styleUrl>#{style}</styleUrl><ExtendedData>{data}</ExtendedData>"
    return f"<Placemark><name>{_text(name)}</name>{about}\n{geometry}</Placemark>\n"


def _line(degrees: Floats, height: float | None = None) -> str:
    up, how = ("", "<tessellate>1</tessellate>") if height is None else (f",{height!r}", _ABOVE)
    vertices = " ".join(f"{longitude!r},{latitude!r}{up}" for longitude, latitude in degrees.tolist())
    return f"<LineString>{how}<coordinates>{vertices}</coordinates></LineString>"


def _point(place: list[float]) -> str:
    return f"<Point><coordinates>{place[0]!r},{place[1]!r}</coordinates></Point>"


def _when(time: float) -> str:
    return (_START + timedelta(seconds=time)).isoformat(timespec="milliseconds") + "Z"


def _style(run: Run, agent: int) -> str:
    network = run.network
    return f"layer-{network.layer[agent]}" if agent < len(network) and network.layer[agent] >= 0 else "lost"


def _styles(run: Run) -> Iterator[str]:
    """The colours of layers 0 to the last, and those of what has none."""
    import matplotlib as mpl

    shades = mpl.colormaps["viridis"](np.linspace(0, _LIGHTEST, run.network.depth + 1), bytes=True).tolist()
    layers = {f"layer-{layer}": (f"ff{b:02x}{g:02x}{r:02x}", 0.7) for layer, (r, g, b, _) in enumerate(shades)}
    for name, (colour, scale) in {**layers, **_PLAIN}.items():
        icon = f"<color>{colour}</color><scale>{scale}</scale><Icon><href>{_DOT}</href></Icon>"
        line = f"<color>{colour}</color><width>{1 if name == 'link' else 2}</width>"
        yield (
            f'<Style id="{name}"><IconStyle>{icon}</IconStyle><LabelStyle><scale>0.6</scale></LabelStyle>'
            f"<LineStyle>{line}</LineStyle></Style>\n"
        )


def _text(text: str) -> str:
    """Text in XML, which has no control characters."""
    return escape(plain(text))
