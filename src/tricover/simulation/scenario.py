"""``Scenario``: all that a run depends on, as a Python object and as a TOML file, which are the same thing.

    scenario = Scenario(reference=…, targets=…, control={"motion": "walk"}, vehicle="anywhere", seed=7)
    scenario.save("mine.toml");  Scenario.load("mine.toml") == scenario

Sections and keys are those of ``sections``. In Python a section can be given by what it is about: positions or a file
for ``reference`` (short for ``formation``) and ``targets``, positions, paths or "fit" for ``anchors``, a kind or a
vehicle for ``vehicle``. Everything is checked once, here; files are read when they are first needed.
"""

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from tricover.errors import FileFormatError, InputError
from tricover.formats import Points, Projection, read_points, read_whole, write_whole
from tricover.simulation import generators
from tricover.simulation.explain import explain
from tricover.simulation.section import Floats, Pair, Section
from tricover.simulation.sections import (
    Anchors,
    Control,
    Events,
    Formation,
    Motion,
    NetworkSettings,
    TargetSettings,
    VehicleSettings,
    vehicle_as_settings,
)
from tricover.targets import Targets
from tricover.targets.motion import Drift, Track
from tricover.targets.motion import Path as Function

__all__ = ["Scenario"]


class Scenario(Section):
    """A team, its targets, and how it moves.

    >>> scenario = Scenario(reference=[[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]], targets=[[1, 1], [2, 3]])
    >>> scenario.control.motion, scenario.steps, len(scenario.reference)
    ('reach', 100, 6)
    >>> Scenario(reference=scenario.reference, targets=[[1, 1]], control={"gama": 0.9})
    Traceback (most recent call last):
    tricover.errors.InputError: unknown key 'control.gama'; did you mean 'gamma'?
    """

    name: str = Field("scenario", description="for titles and file names")
    seed: int = Field(0, ge=0, lt=2**63, description="of everything random; the same seed gives the same run")
    steps: int = Field(100, ge=0, description="at most so many steps")
    stop_when_settled: bool = Field(True, description="end before that when nothing will change any more")
    origin: Pair | None = Field(
        None, description="longitude and latitude of the point (0, 0), if positions are on earth"
    )
    formation: Formation
    anchors: Anchors | None = None
    targets: TargetSettings
    network: NetworkSettings = Field(default_factory=lambda: NetworkSettings.model_validate({}))
    control: Control = Field(default_factory=lambda: Control.model_validate({}))
    vehicle: VehicleSettings = Field(default_factory=lambda: VehicleSettings.model_validate({}))
    events: Events = Field(default_factory=Events)

    def __init__(self, **data: Any) -> None:
        try:
            super().__init__(**_in_full(data))
        except ValidationError as error:
            raise InputError(explain(error, type(self))) from None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a TOML file; an error names the file, the key and the remedy."""
        try:
            data = tomllib.loads(read_whole(path).decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise FileFormatError(f"{path}: not a TOML file: {error}") from None
        folder = Path(path).absolute().parent
        try:
            return cls(**_files(data, lambda file: str(folder / file)))
        except InputError as error:
            raise FileFormatError(f"{path}: {error}") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a TOML file, whole or not at all; files are named relative to its folder."""
        write_whole(path, self.to_toml(Path(path).absolute().parent))

    def to_toml(self, folder: str | os.PathLike[str] = ".", longest: int | None = None) -> str:
        """The text of the TOML file; files are named relative to ``folder``.

        With ``longest``, arrays of more rows are left out, and the text is for reading only.
        """
        import tomli_w

        spelt_out = _plain(self, lambda array: _cut(array, longest))
        data = _files(spelt_out, lambda file: Path(os.path.relpath(file, folder)).as_posix())
        text = re.sub(r"\[\n\s*([-+.e\d\s,]+?),?\s*\]", _on_one_line, tomli_w.dumps(data))
        return text if longest is None else re.sub(r'"(\[ … [\d,]+ rows \])"', r"\1", text)

    def to_dict(self, arrays: bool = False) -> dict[str, Any]:
        """Everything in plain values, as in the TOML file; with ``arrays``, arrays stay arrays."""
        plain: dict[str, Any] = _plain(self, lambda array: array if arrays else array.tolist())
        return plain

    @cached_property
    def reference(self) -> Floats:
        """Reference positions a_i (N, 2) of the team at the start."""
        section, rng = self.formation, np.random.default_rng([self.seed, 1])
        if self._team is not None and section.file is not None:
            return _planar(self._team.positions, section.file)
        if section.positions is not None:
            return np.asarray(section.positions)
        make = {"square": generators.square, "disc": generators.disc}[str(section.generator)]
        return make(int(section.agents or 0), float(section.size or 0), rng)

    @cached_property
    def _team(self) -> Points | None:
        """The formation's file, in the plane of the targets where these are on earth, else in its own."""
        file = self.formation.file
        return None if file is None else read_points(file, projection=self.all_targets.projection)

    @cached_property
    def start(self) -> Floats:
        """Where the agents stand at step 0, (N, 2)."""
        start = self.reference if self.formation.start is None else np.asarray(self.formation.start)
        if len(start) != len(self.reference):
            raise InputError(f"formation.start: {len(self.reference)} agents need as many positions, not {len(start)}")
        return start

    @cached_property
    def all_targets(self) -> Targets:
        """The targets over time."""
        section, rng = self.targets, np.random.default_rng([self.seed, 2])
        plane = None if self.origin is None else Projection(*map(float, self.origin))
        if section.file is not None:
            found = Targets.from_file(section.file, projection=plane, density=section.density)
        elif section.positions is not None:
            found = Targets(section.positions, projection=plane)
        elif section.generator == "polygon":
            found = Targets(generators.polygon(int(section.count or 0), np.asarray(section.corners), rng))
        else:
            centres, spread = np.asarray(section.centres), float(section.spread or 0)
            found = Targets(generators.clusters(int(section.count or 0), centres, spread, rng))
        weights = found.weights if section.weights is None else section.weights
        motion = found.motion if section.motion is None else _motion(section.motion, found.points)
        plane = found.projection or plane
        return Targets(found.points, weights, active=section.active, ids=found.ids, projection=plane, motion=motion)

    def targets_at(self, step: int) -> Targets:
        """The targets as they are at a step; the same object for as long as nothing changes."""
        return self.all_targets.at(min(step, self.last_change_of_targets))

    @cached_property
    def last_change_of_targets(self) -> int:
        """The step from which on targets stand still, at the latest the last of the run."""
        active, motion = self.all_targets.active, self.all_targets.motion
        comes_and_goes = 0 if active is None else int(active[active <= self.steps].max(initial=0))
        moves = 0 if motion is None else self.steps
        if isinstance(motion, Track):
            moves = min(len(motion.positions) - 1, self.steps)
        elif isinstance(self.targets.motion, Motion) and self.targets.motion.until is not None:
            moves = min(self.targets.motion.until, self.steps)
        return max(comes_and_goes, moves)

    @property
    def projection(self) -> Projection | None:
        """The plane of all positions, where they are on earth: of ``origin``, the targets' file, or the formation's."""
        return self.all_targets.projection or (None if self._team is None else self._team.projection)

    def self_contained(self) -> "Scenario":
        """The same scenario with all positions in it instead of files and generators."""
        found, plane, given = self.all_targets, self.projection, self.values()
        motion = {"paths": found.motion.positions} if isinstance(found.motion, Track) else self.targets.motion
        targets = {"positions": found.points, "weights": found.weights, "active": found.active, "motion": motion}
        formation = {"positions": self.reference, "start": self.formation.start}
        origin = self.origin if plane is None else [plane.longitude, plane.latitude]
        return Scenario(**{**given, "formation": formation, "targets": targets, "origin": origin})


def _in_full(data: dict[str, Any]) -> dict[str, Any]:
    """Short forms of sections, spelt out."""
    full = dict(data)
    if "reference" in full:
        if "formation" in full:
            raise InputError("reference is short for formation: give one of them")
        full["formation"] = full.pop("reference")
    for key, spell_out in (("formation", _points), ("targets", _points), ("anchors", _anchors), ("vehicle", _vehicle)):
        if key in full and not isinstance(full[key], Mapping | Section | None):
            full[key] = spell_out(full[key])
    return full


def _points(given: Any) -> dict[str, Any]:
    if isinstance(given, str | os.PathLike):
        return {"file": given}
    if isinstance(given, Targets):
        motion = {"paths": given.motion.positions} if isinstance(given.motion, Track) else given.motion
        return {"positions": given.points, "weights": given.weights, "active": given.active, "motion": motion}
    return {"positions": given}


def _anchors(given: Any) -> dict[str, Any]:
    if isinstance(given, str):
        if given != "fit":
            raise InputError(f"anchors must be positions, paths or 'fit', not {given!r}")
        return {"fit": True}
    return {"paths" if np.ndim(given) == 3 else "positions": given}


def _vehicle(given: Any) -> dict[str, Any]:
    return {"kind": given} if isinstance(given, str) else vehicle_as_settings(given)


def _plain(value: Any, spell_out: Callable[[NDArray[Any]], Any]) -> Any:
    """Tables, lists and plain values, arrays spelt out, without what is left out; a function is an error."""
    if isinstance(value, Section):
        value = value.values()
    if isinstance(value, Mapping):
        inside = {key: _plain(part, spell_out) for key, part in value.items()}
        return {key: part for key, part in inside.items() if not (isinstance(part, dict | list) and not part)}
    if isinstance(value, list | tuple):
        return [_plain(part, spell_out) for part in value]
    if isinstance(value, Drift | Function):
        raise InputError("targets that move by a function cannot be written down: give a velocity or paths")
    if callable(value):
        raise InputError(f"a function ({getattr(value, '__name__', value)}) cannot be written down: use it from Python")
    if isinstance(value, np.ndarray):
        return spell_out(value)
    return str(value) if isinstance(value, Path) else value


def _cut(array: NDArray[Any], longest: int | None) -> Any:
    return array.tolist() if longest is None or len(array) <= longest else f"[ … {len(array):,} rows ]"


def _on_one_line(row: "re.Match[str]") -> str:
    return f"[{', '.join(part.strip() for part in row[1].split(','))}]"


def _files(data: dict[str, Any], rename: Any) -> dict[str, Any]:
    """The scenario with its file names changed."""
    renamed = dict(data)
    for key in ("formation", "targets"):
        section = data.get(key)
        if isinstance(section, Mapping) and isinstance(section.get("file"), str):
            renamed[key] = {**section, "file": rename(section["file"])}
    return renamed


def _planar(positions: Floats, path: Path) -> Floats:
    if positions.shape[1] != 2:
        raise FileFormatError(f"{path}: a run needs positions with two coordinates, not {positions.shape[1]}")
    return positions


def _motion(motion: Motion | Drift | Function, start: Floats) -> Track | Drift | Function:
    """A motion section as a motion of targets that start at (D, 2)."""
    if not isinstance(motion, Motion):
        return motion
    if motion.paths is not None:
        if motion.paths.shape[1] != len(start):
            raise InputError(
                f"targets.motion.paths: {len(start)} targets need as many paths, not {motion.paths.shape[1]}"
            )
        return Track(motion.paths)
    velocity, last = np.asarray(motion.velocity), np.inf if motion.until is None else motion.until
    return Function(lambda step: start + min(step, last) * velocity, len(start))
