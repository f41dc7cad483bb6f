"""Files of a studio: read and written below its folder, and nowhere else; and files that were dropped on a page.

A scenario that comes from a page may name files below the folder alone, and no code.
"""

import base64
import binascii
import os
import tempfile
from pathlib import Path
from typing import Literal

from tricover.errors import FileFormatError, InputError
from tricover.formats import read_points
from tricover.own import is_name
from tricover.simulation import Run, Scenario
from tricover.studio.editing import with_formation, with_targets

__all__ = ["below", "brought", "from_text", "listed", "opened", "saved"]

Use = Literal["targets", "agents"]

MOST_LISTED = 500
"""Files that are listed."""
_SHOWN = (".toml", ".zarr", ".csv", ".geojson", ".json", ".npy")


def below(folder: Path, path: str) -> Path:
    """A path below the folder, links followed; another one is an error."""
    if "\0" in path:
        raise InputError("there is a null character in the file's name")
    whole = Path(os.path.realpath(folder / path))
    root = Path(os.path.realpath(folder))
    if whole == root or root not in whole.parents:
        raise InputError(f"{path}: the studio reads and writes only below the folder it was started in")
    return whole


def listed(folder: Path) -> list[str]:
    """Scenarios, runs and point files in the folder and those in it, by their relative paths."""
    found = []
    for pattern in ("*", "*/*"):
        for path in sorted(folder.glob(pattern)):
            inside_run = any(part.endswith(".zarr") for part in path.relative_to(folder).parts[:-1])
            hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
            if path.suffix in _SHOWN and not inside_run and not hidden:
                found.append(path.relative_to(folder).as_posix())
    return found[:MOST_LISTED]


def opened(folder: Path, path: str, now: Scenario, use: Use = "targets") -> Scenario | Run:
    """A scenario or a run below the folder; or the present scenario with the points of a file."""
    place = below(folder, path)
    if place.suffix == ".toml":
        return checked(Scenario.load(place), folder)
    if place.is_dir():
        run = Run.open(place)
        checked(run.scenario, folder)
        return run
    return _with_points(place, now, use)


def saved(folder: Path, path: str, scenario: Scenario) -> str:
    """Write the scenario below the folder, whole or not at all; never over what is no scenario."""
    place = below(folder, path if path.endswith(".toml") else f"{path}.toml")
    if place.is_dir() or not place.parent.is_dir():
        raise FileFormatError(f"{path}: there is no such folder, or it is one: choose another name")
    scenario.save(place)
    return place.relative_to(os.path.realpath(folder)).as_posix()


def brought(folder: Path, name: str, content: str, now: Scenario, use: Use) -> Scenario | Run:
    """What was dropped on a page: a file's name and its content in base64."""
    try:
        data = base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        raise InputError(f"{name}: the content is broken: drop the file again") from None
    suffix = Path(name).suffix.lower()
    if suffix == ".toml":
        try:
            return from_text(data.decode(), folder)
        except UnicodeDecodeError:
            raise FileFormatError(f"{name}: not a text file") from None
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place, f"dropped{suffix}")
        copy.write_bytes(data)
        return _with_points(copy, now, use)


def from_text(toml: str, folder: Path) -> Scenario:
    """The scenario of a TOML text; files that it names are taken from the folder."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place, "scenario.toml")
        copy.write_text(toml, encoding="utf-8")
        scenario = Scenario.load(copy)
        named = [file for file in _named(scenario) if place in str(file)]
    if named:
        raise InputError(f"it names the file {named[0].name}, which did not come along: open it in the folder instead")
    return checked(scenario, folder)


def checked(scenario: Scenario, folder: Path) -> Scenario:
    """A scenario that came from a page: it names no file elsewhere and no code."""
    for file in _named(scenario):
        below(folder, str(file))
    control, vehicle = scenario.control, scenario.vehicle
    rules = (control.goal, control.policy, scenario.network.mentee)
    for rule in (*rules, vehicle.kind, *(group.kind for group in vehicle.others)):
        if is_name(rule):
            raise InputError(f"it names code, {rule}: start the studio with this scenario instead")
    return scenario


def _named(scenario: Scenario) -> list[Path]:
    """The files that a scenario names."""
    given = (scenario.formation.file, scenario.formation.start, scenario.targets.file, scenario.safety.zones)
    return [file for file in given if isinstance(file, Path)]


def _with_points(path: Path, now: Scenario, use: Use) -> Scenario:
    points = read_points(path)
    if use == "agents":
        return with_formation(now.self_contained(), points.positions)
    return with_targets(now.self_contained(), points.positions, points.weights)
