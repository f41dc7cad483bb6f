"""From what a scenario says to arrays: files are read, and points made by rule are made.

Nothing is kept here: the same scenario gives the same arrays. A ``Mission`` keeps them.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tricover.errors import FileFormatError, InputError
from tricover.formats import Points, Projection, read_points, read_polygons
from tricover.geometry import as_zones
from tricover.simulation import generators
from tricover.simulation.launch import launch_steps, pads_of
from tricover.simulation.sections import Motion, TargetSettings
from tricover.targets import Targets
from tricover.targets.motion import Drift, Steady, Track
from tricover.targets.motion import Path as Function

if TYPE_CHECKING:
    from tricover.simulation.scenario import Scenario

__all__ = ["Ground", "formation_of", "ground_of", "still_from", "targets_of", "zones_of"]

Floats = NDArray[np.float64]

# Streams of random numbers for points made by rule: with one seed, team and targets are independent of each other.
_FORMATION, _TARGETS = 1, 2

_NO_ORIGIN = "give the origin, the longitude and latitude of the point (0, 0)"


@dataclass(frozen=True, eq=False)
class Ground:
    """Where a scenario's team and targets are. Arrays are read-only.

    Attributes:
        reference: reference positions a_i of the team at the start, (N, 2), in metres.
        start: where it stands at step 0, (N, 2).
        targets: the targets over time.
        projection: the plane of all positions, where they are on earth.
        zones: polygons that nobody enters, (K, 2) each, counter-clockwise; None: there are none.
        pads: which row of the pads that were given each agent has at the start, (N,); None: there are no pads.
        launch: steps of the flight from the pads to the reference positions.
    """

    reference: Floats
    start: Floats
    targets: Targets
    projection: Projection | None
    zones: tuple[Floats, ...] | None = None
    pads: NDArray[np.int64] | None = None
    launch: int = 0


def ground_of(scenario: "Scenario") -> Ground:
    """Team and targets of a scenario; an error names the file or the key."""
    targets = targets_of(scenario)
    reference, projection = formation_of(scenario, targets.projection)
    start = _start(scenario, reference, projection)
    if projection is not None:
        for name, positions in (("positions", reference), ("start", start)):
            _check_on_earth(projection, positions, f"formation.{name}")
    zones = zones_of(scenario, projection)
    if not scenario.formation.assign:
        return Ground(reference, start, targets, projection, zones)
    pads = pads_of(scenario, start, reference)
    start = start[pads]
    start.flags.writeable = False
    return Ground(reference, start, targets, projection, zones, pads, launch_steps(scenario, start, reference))


def zones_of(scenario: "Scenario", projection: Projection | None) -> tuple[Floats, ...] | None:
    """The polygons that nobody enters, in the plane of all positions; an error names the polygon and its corners."""
    given, where = scenario.safety.zones, "safety.zones"
    if given is None:
        return None
    if isinstance(given, Path):
        where = f"safety.zones, {given}"
        plane = projection if scenario.origin is None else Projection(*scenario.origin.tolist())
        if plane is None:
            raise InputError(f"{where} is in longitude and latitude, and the team in metres: {_NO_ORIGIN}")
        given = read_polygons(given, plane)
    try:
        return as_zones(given).polygons
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _start(scenario: "Scenario", reference: Floats, projection: Projection | None) -> Floats:
    """Where the agents stand at step 0, (N, 2): row i of a file is the place of agent i, or a pad, with ``assign``."""
    start = scenario.formation.start
    if start is None:
        return reference
    where = "formation.start"
    if isinstance(start, Path):
        where = f"formation.start, {start}"
        found = _read(start, scenario, projection)
        if projection is None and found.projection is not None:
            raise InputError(f"{where} is in longitude and latitude, and the team in metres: {_NO_ORIGIN}")
        start = _planar(found.positions, start)
        start.flags.writeable = False
    if len(start) != len(reference):
        raise InputError(f"{where}: {len(reference)} agents need as many positions, not {len(start)}")
    return np.asarray(start)


def _read(path: Path, scenario: "Scenario", projection: Projection | None) -> Points:
    """A point file in the plane of the scenario: around its origin, or that of what was read before."""
    if scenario.origin is not None:
        return read_points(path, origin=scenario.origin.tolist())
    return read_points(path, projection=projection)


def formation_of(scenario: "Scenario", projection: Projection | None) -> tuple[Floats, Projection | None]:
    """Reference positions (N, 2), and the plane they are in: the given one, or that of the formation's file."""
    section = scenario.formation
    if section.file is not None:
        found = _read(section.file, scenario, projection)
        reference = _planar(found.positions, section.file)
        projection = projection or found.projection
    elif section.positions is not None:
        return section.positions, projection
    else:
        make = {"square": generators.square, "disc": generators.disc}[str(section.generator)]
        rng = np.random.default_rng([scenario.seed, _FORMATION])
        reference = make(int(section.agents or 0), float(section.size or 0), rng)
    reference.flags.writeable = False
    return reference, projection


def targets_of(scenario: "Scenario") -> Targets:
    """The targets over time."""
    section = scenario.targets
    origin = None if scenario.origin is None else scenario.origin.tolist()
    plane = None if origin is None else Projection(*origin)
    if section.file is not None:
        ways: dict[str, Any] = {"points": section.points, "density": section.density, "extent": section.extent}
        found = Targets.from_file(section.file, origin=origin, **ways)
    elif section.positions is not None:
        found = Targets(section.positions, projection=plane)
    else:
        found = Targets(_made_by_rule(section, scenario.seed))
    return Targets(
        found.points,
        found.weights if section.weights is None else section.weights,
        active=section.active,
        ids=found.ids if section.ids is None else section.ids,
        projection=found.projection or plane,
        motion=found.motion if section.motion is None else _motion(section.motion, found.points, scenario.steps),
    )


def _made_by_rule(section: TargetSettings, seed: int) -> Floats:
    rng, count = np.random.default_rng([seed, _TARGETS]), int(section.count or 0)
    if section.generator == "polygon":
        return generators.polygon(count, np.asarray(section.corners), rng)
    return generators.clusters(count, np.asarray(section.centres), float(section.spread or 0), rng)


def still_from(targets: Targets, steps: int) -> int:
    """The step from which on targets stand still, at the latest the last of ``steps``."""
    active, motion = targets.active, targets.motion
    last = 0 if active is None else int(active[active <= steps].max(initial=0))
    if isinstance(motion, Track):
        last = max(last, len(motion.positions) - 1)
    elif isinstance(motion, Steady) and motion.until is not None:
        last = max(last, motion.until)
    elif motion is not None:
        last = steps
    return min(last, steps)


def _check_on_earth(projection: Projection, positions: Floats, key: str) -> None:
    try:
        projection.check(positions)
    except InputError as error:
        raise InputError(f"{key}: {error}") from None


def _planar(positions: Floats, path: Path) -> Floats:
    if positions.shape[1] != 2:
        raise FileFormatError(f"{path}: a run needs positions with two coordinates, not {positions.shape[1]}")
    return positions


def _motion(motion: Motion | Drift | Function, start: Floats, steps: int) -> Track | Steady | Drift | Function:
    """A motion section as a motion of targets that start at (D, 2), in a run of so many steps at most."""
    if not isinstance(motion, Motion):
        return motion
    if motion.paths is None:
        steady = Steady(start, np.asarray(motion.velocity), motion.until)
        steady.at(steps)  # an error now, and not in the midst of a run, where they go too far
        return steady
    if motion.paths.shape[1] != len(start):
        raise InputError(f"targets.motion.paths: {len(start)} targets need as many paths, not {motion.paths.shape[1]}")
    return Track(motion.paths)
