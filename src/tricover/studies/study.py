"""``Study``: a scenario, what is varied in it, and what is measured, as a Python object and as a TOML file.

    name = "depth-and-goals"
    scenario = "paper-57.toml"          # or all of a scenario's keys as a table, [scenario]
    seeds = 20                          # seeds 0 to 19; or a list of seeds
    measures = ["depth", "settled_at", "mine:my_measure"]     # see `measures`; some if left out
    keep = "runs"                       # a folder for all runs; thrown away if left out

    [over]                              # a grid: every combination of these
    "network.mentee" = ["fermat", "balanced"]
    "formation.agents" = { from = 20, to = 100, step = 20 }
    "control.gamma" = { from = 0.5, to = 0.9, count = 3 }     # with log = true in equal ratios

    [[cases]]                           # a list: each of these, with every combination of the rest
    "control.goal" = "rollout"
    anchors = "fit"

    [draws]                             # draws: each of these, with every combination of the rest
    count = 100
    seed = 1
    method = "latin"                    # a Latin hypercube; or "random"
    [draws.keys]
    "control.alpha" = { uniform = [0.5, 2.0] }      # or log, integers, choice; see `draws`

    [figure]                            # what `tricover sweep --figure` draws
    over = "formation.agents"
    measures = ["depth", "settled_at"]
    by = "network.mentee"

A row of the table is one entry of each: cases, then draws, then the keys of the grid as they stand, then seeds, the
last one first. Keys are a scenario's, with dots, with or without quotation marks; a section as a whole, as in a list of
``targets``, takes the place of the scenario's own. Files are named relative to the study's folder.
"""

import json
import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

import numpy as np
from pydantic import Field, ValidationError

import tricover
from tricover.errors import FileFormatError, InputError, TricoverError, shown
from tricover.formats import read_whole, write_whole
from tricover.limits import check_room
from tricover.simulation import Scenario
from tricover.simulation.explain import explain
from tricover.simulation.scenario import as_plain, files_renamed, read_toml
from tricover.simulation.section import FilePath, Section, Text
from tricover.studies.design import Axis, Design, check_keys
from tricover.studies.draws import Draws, is_range, values_of
from tricover.studies.measures import DEFAULT, check_measures

__all__ = ["FigureSettings", "Study"]

_FILE_KEYS = ("formation.file", "formation.start", "targets.file", "safety.zones", "formation", "reference", "targets")
_SOURCES = {"file", "positions", "generator", "paths", "fit", "kind"}  # a table with one says what a section is about
_ROW_BYTES = 1000.0  # that a row takes until it is in a table


class FigureSettings(Section):
    """What the figure of a study shows; see ``plot_sweep``."""

    over: Text | None = Field(None, description="key along the axis")
    measures: tuple[str, ...] = Field((), description="columns of the table, a row of panels for each")
    by: Text | None = Field(None, description="key of the lines")
    across: Text | None = Field(None, description="key of the panels side by side")


class Study(Section):
    """Which scenarios to run, and what to measure of them.

    >>> scenario = Scenario(reference=[[0, 0], [4, 0], [0, 4], [1, 1]], targets=[[1, 1]])
    >>> study = Study(scenario=scenario, over={"control.goal": ["centroid", "rollout"]}, seeds=3)
    >>> study, study.design[4]
    (<Study 'study': 6 runs of control.goal and seed>, {'control.goal': 'rollout', 'seed': 1})
    >>> Study(scenario=scenario, over={"control.gaol": [1]})
    Traceback (most recent call last):
    tricover.errors.InputError: unknown key 'control.gaol'; did you mean 'goal'?
    """

    name: Text = Field("study", description="for titles and file names")
    scenario: Scenario = Field(description="what is varied: a scenario, or a file that has one")
    over: dict[str, Any] = Field(default_factory=dict, description="a grid: values for each key")
    cases: tuple[dict[str, Any], ...] = Field((), description="a list of changes")
    draws: Draws | None = Field(None, description="random draws or a Latin hypercube")
    seeds: Any = Field(None, description="how many seeds, from 0 on, or a list of them")
    measures: tuple[Any, ...] = Field((), description="names of measures, or functions of a run")
    keep: FilePath | None = Field(None, description="a folder for all runs")
    figure: FigureSettings | None = Field(None, description="what the figure shows")

    def __init__(self, **data: Any) -> None:
        try:
            super().__init__(**_in_full(data))
        except ValidationError as error:
            raise InputError(explain(error, type(self))) from None
        design = self.design
        check_keys(design.axes)
        check_measures(self.measures)
        check_room(_ROW_BYTES * design.rows, f"the results of {design.rows:,} runs")

    @property
    def columns(self) -> tuple[Any, ...]:
        """The measures, those that are taken unless told included."""
        return self.measures or DEFAULT

    @property
    def design(self) -> Design:
        """The rows of the table: cases, draws, grid, seeds."""
        axes = [self.cases, () if self.draws is None else self.draws.changes()]
        axes += [[{key: value} for value in values_of(key, given)] for key, given in self.over.items()]
        axes += [[{"seed": seed} for seed in _seeds(self.seeds)]]
        return Design(tuple(Axis.of(changes) for changes in axes if changes))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a TOML file; an error names the file, the key and the remedy."""
        data = read_toml(path)
        folder = Path(path).absolute().parent
        try:
            return cls(**_files(_in_full(data, folder), lambda file: os.path.normpath(folder / file)))
        except InputError as error:
            known = f"{path}: "
            raise FileFormatError(str(error) if str(error).startswith(known) else known + str(error)) from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a TOML file, whole or not at all; the scenario is in it, files are named relative to its folder."""
        write_whole(path, self.to_toml(Path(path).absolute().parent))

    def to_toml(self, folder: str | os.PathLike[str] = ".") -> str:
        """The text of the TOML file; files are named relative to ``folder``."""
        import tomli_w

        def rename(file: str) -> str:
            return Path(os.path.relpath(file, folder)).as_posix()

        try:
            return tomli_w.dumps(_files(self.to_dict(), rename))
        except TypeError as error:  # None: TOML has no word for it
            raise InputError(f"a value of this study cannot be written into a TOML file: {error}") from None

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain values, as in the TOML file; what has no name to write down is an error."""
        plain: dict[str, Any] = as_plain(self, np.ndarray.tolist)
        try:
            json.dumps(plain)
        except (TypeError, ValueError) as error:  # nor has JSON a word for numbers of thousands of digits
            raise InputError(
                f"a value of this study cannot be written down: {error}; give numbers, texts or lists"
            ) from None
        return plain

    @property
    def fingerprint(self) -> str:
        """What tells this study from others: all that its table depends on, contents of files included."""
        plain = {key: value for key, value in self.to_dict().items() if key not in ("figure", "keep", "name")}
        text = json.dumps([tricover.__version__, _files(plain, _content)], sort_keys=True)
        return sha256(text.encode()).hexdigest()

    def __repr__(self) -> str:
        design = self.design
        of = " and ".join(filter(None, [", ".join(design.keys[:-1]), *design.keys[-1:]]))
        return f"<Study {self.name!r}: {len(design):,} runs{' of ' if of else ''}{of}>"


def _in_full(data: Mapping[str, Any], folder: Path | None = None) -> dict[str, Any]:
    """The keys of a study, short forms spelt out."""
    full = dict(data)
    given = full.get("scenario")
    if isinstance(given, str | os.PathLike):
        full["scenario"] = Scenario.load(given if folder is None else folder / given)
    elif isinstance(given, Mapping):
        inside = dict(given) if folder is None else files_renamed(dict(given), lambda file: str(folder / file))
        try:
            full["scenario"] = Scenario(**inside)
        except InputError as error:
            raise InputError(f"scenario: {error}") from None
    if isinstance(full.get("over"), Mapping):
        flat = _flat(full["over"], _is_section_of_grid)
        full["over"] = {key: tuple(values_of(key, values)) for key, values in flat.items()}
    if isinstance(full.get("cases"), list | tuple):
        full["cases"] = [_flat(case, _is_section) if isinstance(case, Mapping) else case for case in full["cases"]]
    if isinstance(full.get("draws"), Mapping) and isinstance(full["draws"].get("keys"), Mapping):
        full["draws"] = {**full["draws"], "keys": _flat(full["draws"]["keys"], _is_section_of_draws)}
    if isinstance(full.get("measures"), str) or callable(full.get("measures")):
        full["measures"] = (full["measures"],)
    if full.get("seeds") is not None:
        full["seeds"] = full["seeds"] if isinstance(full["seeds"], int) else tuple(values_of("seeds", full["seeds"]))
        _seeds(full["seeds"])
    return full


def _seeds(given: Any) -> list[int]:
    """Seeds: so many from 0 on, or as they are listed."""
    if given is None:
        return []
    many = type(given) is int and given > 0
    if many:
        check_room(_ROW_BYTES * min(given, 10**100), f"the results of {shown(given)} seeds")
    seeds = list(range(given)) if many else given
    if not isinstance(seeds, list | tuple) or not all(type(seed) is int and seed >= 0 for seed in seeds):
        raise InputError(f"seeds must be how many there are, from 1 on, or a list of whole numbers, not {shown(given)}")
    return list(seeds)


def _flat(tables: Mapping[str, Any], is_section: Callable[[str, Mapping[str, Any]], bool]) -> dict[str, Any]:
    """Keys with dots, of a table in which TOML has made tables of keys without quotation marks."""
    flat: dict[str, Any] = {}
    for key, value in tables.items():
        inside = value if isinstance(value, Mapping) and is_section(key, value) else None
        if inside is None:
            flat[key] = value
            continue
        flat |= {f"{key}.{name}": part for name, part in _flat(inside, is_section).items()}
    return flat


def _is_section_of_grid(_: str, table: Mapping[str, Any]) -> bool:
    return not is_range(table)


def _is_section(key: str, table: Mapping[str, Any]) -> bool:
    """Whether a table of a case changes keys one by one: not if it says what the section is about."""
    return key in Scenario.model_fields and not _SOURCES & table.keys()


def _is_section_of_draws(_: str, table: Mapping[str, Any]) -> bool:
    return all(isinstance(part, Mapping) for part in table.values()) and bool(table)


def _files(data: Mapping[str, Any], rename: Callable[[str], str]) -> dict[str, Any]:
    """The keys of a study with its file names changed."""
    renamed = dict(data)
    if isinstance(data.get("scenario"), Mapping):
        renamed["scenario"] = files_renamed(dict(data["scenario"]), rename)
    if isinstance(data.get("over"), Mapping):
        renamed["over"] = {
            key: [_renamed(key, value, rename) for value in values] for key, values in data["over"].items()
        }
    if isinstance(data.get("cases"), list | tuple):
        renamed["cases"] = [
            {key: _renamed(key, value, rename) for key, value in case.items()} if isinstance(case, Mapping) else case
            for case in data["cases"]
        ]
    draws = data.get("draws")
    if isinstance(draws, Mapping) and isinstance(draws.get("keys"), Mapping):
        renamed["draws"] = {
            **draws,
            "keys": {key: _of_choices(key, given, rename) for key, given in draws["keys"].items()},
        }
    if isinstance(data.get("keep"), str):
        renamed["keep"] = rename(data["keep"])
    return renamed


def _renamed(key: str, value: Any, rename: Callable[[str], str]) -> Any:
    """The value of a key, its file name changed if it is one."""
    if isinstance(value, Mapping):
        inside: Any = files_renamed({key: value}, rename)[key]
        return inside
    return rename(value) if key in _FILE_KEYS and isinstance(value, str) else value


def _of_choices(key: str, given: Any, rename: Callable[[str], str]) -> Any:
    """A distribution, with the names of files to choose from changed."""
    if not isinstance(given, Mapping) or not isinstance(given.get("choice"), list | tuple):
        return given
    return {**given, "choice": [_renamed(key, value, rename) for value in given["choice"]]}


def _content(file: str) -> str:
    """What stands for a file in a fingerprint: its content, wherever it is."""
    try:
        return sha256(read_whole(file)).hexdigest()
    except TricoverError:
        return "missing"
