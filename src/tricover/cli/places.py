"""Where commands write: never over what they read, nor two things into one file, however the paths are spelt.

A path among a command's parameters is read, unless it is marked as an ``Output``. ``guarded`` compares them before the
command begins. Files are compared as the system knows them, so links, ``..`` and case do not matter. With a scenario go
the files that it names; with a run all that is in its folder.
"""

import functools
import os
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

from tricover.errors import FileFormatError, TricoverError

__all__ = ["Output", "check_output", "guarded"]

_STREAMS = (1, 2)  # standard output and standard error, as the system numbers them


@dataclass(frozen=True)
class Output:
    """The mark of a parameter that says where to write.

    Attributes:
        what: what is written; "any" is a file or a folder, as other parameters say.
        shared: whether what else stands in the folder may stay there; else the folder is new or our own.
    """

    what: Literal["file", "folder", "any"] = "file"
    shared: bool = False


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """A command that first checks where it is to write."""

    @functools.wraps(command)
    def checked(**given: Any) -> None:
        outputs, inputs = _paths(command, given)
        for path, how in outputs:
            check_output(path, inputs, how)
        for (one, _), (other, _) in combinations(outputs, 2):
            if _alike(one, other):
                raise FileFormatError(f"{one} and {other} are one file: choose another name for one of them")
        command(**given)

    return checked


def check_output(path: Path, inputs: Iterable[Path], how: Output) -> None:
    """Complain now, and not after long work, about a place that cannot be written, or that is read."""
    from tricover.formats.writing import real_place

    place = real_place(path)
    if any(_same(path, stream) for stream in _STREAMS):
        raise FileFormatError(f"cannot write {path}: what this command prints goes there already")
    for source in _with_files(inputs) if place.exists() else inputs:  # what is not there is no scenario's file
        if _same(place, source):
            known = "" if path == source else f"{source}, which is "
            raise FileFormatError(f"{path} is {known}read here: choose another place to write to")
        if any(_same(folder, source) for folder in place.parents):
            raise FileFormatError(f"{path} is inside {source}, which is read here: choose another place to write to")
        if not how.shared and any(_same(place, folder) for folder in source.absolute().resolve().parents):
            raise FileFormatError(f"{source}, which is read here, is inside {path}: choose another place to write to")
    if how.what == "file" and place.is_dir():
        raise FileFormatError(f"cannot write {path}: it is a folder")
    if not how.shared and place.is_dir() and (place == place.parent or _same(place, Path())):
        raise FileFormatError(f"cannot write to the folder {path}: name a new one inside it")
    if how.what == "folder" and place.is_file():
        raise FileFormatError(f"cannot write to the folder {path}: it is a file")
    if how.what != "folder" and not place.parent.is_dir():
        raise FileFormatError(f"cannot write {path}: there is no folder {path.parent}")


def _paths(command: Callable[..., Any], given: dict[str, Any]) -> tuple[list[tuple[Path, Output]], list[Path]]:
    """The paths among the arguments: those that are written, with their marks, and those that are read."""
    hints = get_type_hints(command, include_extras=True)
    outputs, inputs = [], []
    for name, value in given.items():
        marks = [mark for mark in get_args(hints[name]) if isinstance(mark, Output)]
        if marks and value is not None:
            outputs.append((value, marks[0]))
        elif isinstance(value, Path):
            inputs.append(value)
    return outputs, inputs


def _with_files(inputs: Iterable[Path]) -> Iterator[Path]:
    """The inputs, and the files that scenarios and studies among them name."""
    for path in inputs:
        yield path
        if path.suffix == ".toml":
            base = _base_of(path)
            if base is not None:
                yield base
                yield from _named_in(base)
            yield from _named_in(path)


def _named_in(path: Path) -> list[Path]:
    """The files that a scenario names."""
    from tricover.simulation import Scenario

    try:
        scenario = Scenario.load(path)
    except TricoverError:
        return []  # the command says what is wrong with it
    named = (scenario.formation.file, scenario.formation.start, scenario.targets.file, scenario.safety.zones)
    return [file for file in named if isinstance(file, Path)]


def _base_of(study: Path) -> Path | None:
    """The file with the scenario of a study, if it has one."""
    try:
        base = tomllib.loads(study.read_text(encoding="utf-8")).get("scenario")
    except (OSError, ValueError, RecursionError):
        return None  # the command says what is wrong with it
    return study.parent / base if isinstance(base, str) and "\0" not in base else None


def _same(one: Path, other: Path | int) -> bool:
    """Whether both are there and are one file or folder, as the system knows them."""
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return False


def _alike(one: Path, other: Path) -> bool:
    """Whether both are one file, or would be on some system: there names may differ in case or accents alone."""
    first, second = (Path(os.path.realpath(path)) for path in (one, other))
    names = [unicodedata.normalize("NFC", place.name).casefold() for place in (first, second)]
    return _same(first, second) or (names[0] == names[1] and _same(first.parent, second.parent))
