"""``Scenario``: all that a run depends on, as a Python object and as a TOML file, which are the same thing.

    scenario = Scenario(reference=…, targets=…, control={"motion": "walk"}, vehicle="anywhere", seed=7)
    scenario.save("mine.toml");  Scenario.load("mine.toml") == scenario

Sections and keys are those of ``sections``. In Python a section can be given by what it is about: positions or a file
for ``reference`` (short for ``formation``) and ``targets``, positions, paths or "fit" for ``anchors``, a kind or a
vehicle for ``vehicle``. Everything is checked once, here. A scenario is a file's content and nothing else: it keeps
nothing that follows from it. What follows (files read, points made, networks built) is a ``Mission``.
"""

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field, ValidationError, model_validator

from tricover.errors import FileFormatError, InputError, shown
from tricover.formats import Projection, read_whole, write_whole
from tricover.formats.points import dimensions
from tricover.own import label_of, name_of
from tricover.simulation.explain import explain
from tricover.simulation.resolve import Ground, formation_of, ground_of, targets_of
from tricover.simulation.section import Floats, Pair, Section, StepNumber, Text
from tricover.simulation.sections import (
    Anchors,
    Control,
    Events,
    Formation,
    NetworkSettings,
    Safety,
    TargetSettings,
    VehicleSettings,
    vehicle_as_settings,
)
from tricover.simulation.surroundings import WorldSettings
from tricover.targets import Targets
from tricover.targets.motion import Drift, Steady, Track
from tricover.targets.motion import Path as Function

__all__ = ["Scenario", "as_plain", "files_renamed", "read_toml"]


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The tables of a TOML file; an error names the file."""
    text = read_whole(path)
    try:
        return tomllib.loads(text.decode())
    except ValueError as error:
        raise FileFormatError(f"{path}: not a TOML file: {error}") from None
    except RecursionError:
        raise FileFormatError(f"{path}: lists or tables are nested too deep to be read") from None


def _on_earth(origin: Floats) -> Floats:
    Projection(*origin.tolist())
    return origin


class Scenario(Section):
    """A team, its targets, and how it moves.

    >>> scenario = Scenario(reference=[[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]], targets=[[1, 1], [2, 3]])
    >>> scenario.control.motion, scenario.steps, len(scenario.reference)
    ('reach', 100, 6)
    >>> Scenario(reference=scenario.reference, targets=[[1, 1]], control={"gama": 0.9})
    Traceback (most recent call last):
    tricover.errors.InputError: unknown key 'control.gama'; did you mean 'gamma'?
    """

    name: Text = Field("scenario", description="for titles and file names")
    seed: int = Field(0, ge=0, lt=2**63, description="of everything random; the same seed gives the same run")
    steps: StepNumber = Field(100, description="at most so many steps")
    stop_when_settled: bool = Field(True, description="end before that when nothing will change any more")
    origin: Annotated[Pair, AfterValidator(_on_earth)] | None = Field(
        None, description="longitude and latitude of the point (0, 0), if positions are on earth"
    )
    formation: Formation
    anchors: Anchors | None = None
    targets: TargetSettings
    network: NetworkSettings = Field(default_factory=lambda: NetworkSettings.model_validate({}))
    control: Control = Field(default_factory=lambda: Control.model_validate({}))
    vehicle: VehicleSettings = Field(default_factory=lambda: VehicleSettings.model_validate({}))
    events: Events = Field(default_factory=Events)
    safety: Safety = Field(default_factory=lambda: Safety.model_validate({}))
    world: WorldSettings = Field(default_factory=lambda: WorldSettings.model_validate({}))

    @model_validator(mode="after")
    def _can_be_told(self) -> Self:
        goal = label_of(self.control.goal)
        if self.world.summary == "sums" and goal != "centroid":
            raise InputError(
                f'world.summary = "sums" goes with the goal "centroid", not with {goal!r}: three numbers tell a '
                "centroid and nothing else; give a number of points"
            )
        return self

    @model_validator(mode="after")
    def _can_be_heard(self) -> Self:
        """Refuse what agents would have to hear or see, and do not in this world."""
        control, world = self.control, self.world
        perfect = world.channel(0).perfect
        if control.motion == "morph" and not perfect:
            raise InputError(
                'world: with motion = "morph" agents announce their next places within a step: leave delay, loss '
                'and radio out, or take motion = "reach" or "walk"'
            )
        steps = sum((control.polish or {}).values())
        if (control.goal in ("voronoi", "descent") or steps) and not perfect:
            raise InputError(
                "world: Lloyd in the triangle and descent need to hear at once where the agents near by are: leave "
                "delay, loss and radio out, or set control.polish = 0"
            )
        if control.goal == "cellplan" and world.sight is not None:
            raise InputError(
                'world: with the goal "cellplan" planners see all targets in their cells: leave sight out, or take '
                'the goal "voronoi", for which agents need to see only what is near'
            )
        if "descent" in (control.goal, *(control.polish or {})) and world.sight is not None:
            raise InputError("world: descent needs to see all targets of one's Voronoi cell: leave sight out")
        return self

    def __init__(self, **data: Any) -> None:
        try:
            super().__init__(**_in_full(data))
        except ValidationError as error:
            raise InputError(explain(error, type(self))) from None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a TOML file; an error names the file, the key and the remedy."""
        data = read_toml(path)
        folder = Path(path).absolute().parent
        try:
            return cls(**files_renamed(data, lambda file: str(folder / file)))
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

        spelt_out = as_plain(self, lambda array: _cut(array, longest))
        data = files_renamed(spelt_out, lambda file: Path(os.path.relpath(file, folder)).as_posix())
        text = re.sub(r"\[\n\s*([-+.e\d\s,]+?),?\s*\]", _on_one_line, tomli_w.dumps(data))
        return text if longest is None else re.sub(r'"(\[ … [\d,]+ rows \])"', r"\1", text)

    def __repr__(self) -> str:
        goal, kind = label_of(self.control.goal), self.vehicle.kind
        vehicle = kind if isinstance(kind, str) else kind.kind
        return (
            f"<Scenario {self.name!r}: {self.control.motion}, goal {goal}, vehicle {vehicle}, "
            f"at most {self.steps} steps, seed {self.seed}>"
        )

    def _repr_html_(self) -> str:
        try:
            text = self.to_toml(longest=6)
        except InputError:  # a function that has no name to write down
            text = repr(self)
        return f"<pre>{escape(text)}</pre>"

    def to_dict(self, arrays: bool = False) -> dict[str, Any]:
        """Everything in plain values, as in the TOML file; with ``arrays``, arrays stay arrays."""
        plain: dict[str, Any] = as_plain(self, lambda array: array if arrays else array.tolist())
        return plain

    def replace(self, **changes: Any) -> Self:
        """A new scenario with these keys changed, checked as any other.

        A section given as a mapping changes its own keys alone; None takes a key back. A section given in its short
        form, such as positions or a kind of vehicle, replaces the whole section.

        >>> scenario = Scenario(reference=[[0, 0], [4, 0], [0, 4], [1, 1]], targets=[[1, 1]], control={"gamma": 0.9})
        >>> other = scenario.replace(seed=2, control={"motion": "walk"})
        >>> other.seed, other.control.motion, other.control.gamma
        (2, 'walk', 0.9)
        """
        merged = self.values()
        for key, change in _in_full(changes).items():
            given = changes.get("reference" if key == "formation" and "formation" not in changes else key)
            section = merged.get(key)
            if isinstance(given, Mapping) and isinstance(section, Section):
                both = {**section.values(), **change}
                change = {name: value for name, value in both.items() if value is not None}
            merged[key] = change
        return type(self)(**{key: value for key, value in merged.items() if value is not None})

    @property
    def reference(self) -> Floats:
        """Reference positions a_i (N, 2) of the team at the start; read-only, and worked out anew at every call."""
        plane = targets_of(self).projection if self.formation.file is not None else None
        return formation_of(self, plane)[0]

    def self_contained(self, ground: Ground | None = None) -> Self:
        """The same scenario with all positions in it instead of files and generators.

        ``ground`` is what came out of these where they were read already; None: they are read now.
        """
        ground = ground or ground_of(self)
        found, plane = ground.targets, ground.projection
        motion = {"paths": found.motion.positions} if isinstance(found.motion, Track) else self.targets.motion
        targets = {"positions": found.points, "motion": motion, **_of_each(found)}
        formation = {"positions": ground.reference, **_start_of(self, ground)}
        origin = None if plane is None else [plane.longitude, plane.latitude]
        named = {
            "network": {**self.network.values(), "mentee": _nameable(self.network.mentee)},
            "control": {**self.control.values(), **_named_rules(self)},
            "safety": {**self.safety.values(), "zones": ground.zones},
        }
        return type(self)(**{**self.values(), **named, "formation": formation, "targets": targets, "origin": origin})


def _start_of(scenario: Scenario, ground: Ground) -> dict[str, Any]:
    """Where the agents start; pads in the order in which they were given, and who took which."""
    if scenario.formation.start is None:
        return {}
    if ground.pads is None:
        return {"start": ground.start}
    start = np.empty_like(ground.start)
    start[ground.pads] = ground.start
    return {"start": start, "assign": True, "pads": ground.pads, "launch": ground.launch}


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
        return {"positions": given.points, "motion": _motion_as_section(given.motion), **_of_each(given)}
    return {"positions": given}


def _of_each(targets: Targets) -> dict[str, Any]:
    """What is known of each target, besides where it is."""
    return {"weights": targets.weights, "ids": targets.ids, "active": targets.active}


def _motion_as_section(motion: Any) -> Any:
    if isinstance(motion, Track):
        return {"paths": motion.positions}
    if isinstance(motion, Steady):
        return {"velocity": motion.velocity, "until": motion.until}
    return motion


def _anchors(given: Any) -> dict[str, Any]:
    if isinstance(given, str):
        if given != "fit":
            raise InputError(f"anchors must be positions, paths or 'fit', not {shown(given)}")
        return {"fit": True}
    return {"paths" if dimensions(given) == 3 else "positions": given}


def _vehicle(given: Any) -> dict[str, Any]:
    return {"kind": given} if isinstance(given, str) else vehicle_as_settings(given)


def as_plain(value: Any, spell_out: Callable[[NDArray[Any]], Any]) -> Any:
    """Tables, lists and plain values, arrays spelt out, without what is left out; a function is an error."""
    if isinstance(value, Section):
        value = value.values()
    if isinstance(value, Mapping):
        inside = {key: as_plain(part, spell_out) for key, part in value.items()}
        return {key: part for key, part in inside.items() if not (isinstance(part, dict | list) and not part)}
    if isinstance(value, list | tuple):
        return [as_plain(part, spell_out) for part in value]
    if isinstance(value, Drift | Function):
        raise InputError("targets that move by a function cannot be written down: give a velocity or paths")
    if hasattr(value, "initial_state"):
        name = type(value).__name__
        raise InputError(f"a vehicle of your own ({name}) cannot be written down: name its class, 'module:{name}'")
    if callable(value):
        return _written(value)
    if isinstance(value, np.ndarray):
        return spell_out(value)
    return str(value) if isinstance(value, Path) else value


def _written(function: Callable[..., Any]) -> str:
    """A function of the user's own by its name."""
    name = name_of(function)
    if name is None:
        shown_as = getattr(function, "__name__", type(function).__name__)
        raise InputError(
            f"a function ({shown_as}) of a script or notebook cannot be written down: put it into a module of its own"
        )
    return name


def _nameable(value: Any) -> Any:
    """A rule by its name, where it is a function that has one."""
    return (name_of(value) or value) if callable(value) else value


def _named_rules(scenario: Scenario) -> dict[str, Any]:
    """Rules of control by their names."""
    return {key: _nameable(getattr(scenario.control, key)) for key in ("goal", "policy")}


def _cut(array: NDArray[Any], longest: int | None) -> Any:
    return array.tolist() if longest is None or len(array) <= longest else f"[ … {len(array):,} rows ]"


def _on_one_line(row: "re.Match[str]") -> str:
    return f"[{', '.join(part.strip() for part in row[1].split(','))}]"


def files_renamed(data: dict[str, Any], rename: Any) -> dict[str, Any]:
    """The scenario with its file names changed."""
    renamed = dict(data)
    for key in ("formation", "targets", "safety"):
        section = data.get(key)
        if isinstance(section, Mapping):
            names = ("file", "start", "zones")
            named = {name: section[name] for name in names if isinstance(section.get(name), str)}
            renamed[key] = {**section, **{name: rename(file) for name, file in named.items()}}
    return renamed
