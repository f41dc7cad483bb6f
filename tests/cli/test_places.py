"""No command replaces what it reads: every command, every output, every way to spell a path."""

import inspect
import os
from pathlib import Path
from typing import Annotated, get_args, get_origin

import pytest

from tricover.cli import main as commands
from tricover.cli.places import Output, check_output
from tricover.errors import FileFormatError

COMMANDS = {info.callback.__name__: info.callback for info in commands.app.registered_commands}
SPELLINGS = ["as it is", "dots", "absolute", "symbolic link", "hard link", "linked folder"]

# What each command reads, and what it writes: parameters in the order in which they are given.
READS = {
    "animate": ["run"],
    "agent": ["scenario", "key_folder"],
    "certify": ["subject", "network", "scenario", "zones"],
    "compare": ["targets", "team"],
    "export": ["run"],
    "network": ["file"],
    "plan": ["targets"],
    "plot": ["run"],
    "report": ["run"],
    "run": ["scenario"],
    "studio": ["subject", "key_folder"],
    "sweep": ["study"],
}
WRITES = {
    "animate": ["output"],
    "certify": ["plot"],
    "compare": ["plot"],
    "export": ["output"],
    "init": ["file"],
    "network": ["plot", "output"],
    "plan": ["output"],
    "plot": ["output"],
    "report": ["output"],
    "reproduce": ["output"],
    "run": ["output"],
    "sweep": ["output", "figure", "report"],
}
CASES = [(name, out, source) for name, sources in READS.items() for source in sources for out in WRITES.get(name, ())]
SCENARIO = '[formation]\nfile = "team.csv"\n[targets]\nfile = "sub/../targets.csv"\n'


def paths_of(command):
    """The parameters of a command that hold paths, and whether each is marked as an output."""
    found = {}
    for name, parameter in inspect.signature(command).parameters.items():
        hint = parameter.annotation
        kinds = get_args(hint)[0] if get_origin(hint) is Annotated else hint
        option = next((mark for mark in get_args(hint) if hasattr(mark, "metavar")), None)
        names_a_file = "FILE" in (getattr(option, "metavar", None) or "")
        if Path in (kinds, *get_args(kinds)) or names_a_file:
            found[name] = any(isinstance(mark, Output) for mark in get_args(hint))
    return found


def test_every_path_of_every_command_is_known_here():
    for name, command in COMMANDS.items():
        known = {**dict.fromkeys(READS.get(name, {}), False), **dict.fromkeys(WRITES.get(name, {}), True)}
        assert paths_of(command) == known, name


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A scenario with its files, and something like a run, in a folder beside which commands are called."""
    monkeypatch.chdir(tmp_path)
    place = Path("place")
    for name in ("sub", "run.zarr"):
        (place / name).mkdir(parents=True)
    for name in ("team.csv", "targets.csv", "run.zarr/zarr.json"):
        (place / name).write_text("x,y\n0,0\n4,0\n4,4\n0,4\n2,2\n1,2\n3,2.5\n")
    (place / "mine.toml").write_text(SCENARIO)
    return place


def contents(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def spelt(path, how):
    """The same file in other words."""
    other = Path("link")
    if how == "dots":
        return f"{path.parent}/../{path.parent.name}/./{path.name}"
    if how == "hard link":
        os.link(path, other)
    elif how == "symbolic link":
        other.symlink_to(path)
    elif how == "linked folder":
        other.symlink_to(path.parent)
        return other / path.name
    return {"as it is": path, "absolute": path.absolute()}.get(how, other)


def arguments(name, output, source, read, written):
    """The command's words: the input in question, others that it cannot do without, and the output."""
    first = READS[name][0]
    words = [name, read if source == first else "elsewhere.csv", *(["paths"] if name == "plot" else [])]
    words += [] if source == first else [f"--{source}", f"3:{read}" if source == "network" else read]
    return [*words, f"--{output}", written]


@pytest.mark.parametrize("how", SPELLINGS)
@pytest.mark.parametrize(("name", "output", "source"), CASES)
def test_no_output_replaces_an_input(name, output, source, how, folder, complaint):
    read = folder / "mine.toml"
    written = Path(spelt(read, how))
    before = contents(folder)
    if source == "network":  # comes after the figure's ending
        Path("figure.png").symlink_to(written)
        written = "figure.png"
    said = complaint(*arguments(name, output, source, read, written))
    known = "" if written == read else f"{read}, which is "
    assert said == f"{written} is {known}read here: choose another place to write to"
    assert contents(folder) == before


@pytest.mark.parametrize("file", ["team.csv", "targets.csv"])
@pytest.mark.parametrize("how", SPELLINGS)
@pytest.mark.parametrize(("name", "output", "source"), [case for case in CASES if case[2] in ("run", "scenario")])
def test_no_output_replaces_a_file_of_its_scenario(name, output, source, how, file, folder, complaint):
    before, written = contents(folder), spelt(folder / file, how)
    said = complaint(*arguments(name, output, source, folder / "mine.toml", written))
    assert said.startswith(f"{Path(written)} is ")
    assert said.endswith("read here: choose another place to write to")
    assert file in said
    assert contents(folder) == before


@pytest.mark.parametrize("inside", ["", "new.csv", "zarr.json", "deep/er"])
@pytest.mark.parametrize(("name", "output", "source"), [case for case in CASES if case[2] in ("run", "subject")])
def test_no_output_is_put_into_a_run(name, output, source, inside, folder, complaint):
    before, read = contents(folder), folder / "run.zarr"
    written = read / inside
    said = complaint(*arguments(name, output, source, read, written))
    assert said.startswith(
        f"{read / inside} is inside {read}, which is read here" if inside else f"{read} is read here"
    )
    assert contents(folder) == before


def test_a_folder_with_an_input_in_it_is_no_place_for_a_run(folder, complaint):
    for words in (["run"], ["run", "--resume"], ["export", "--kind", "qgroundcontrol"]):
        before = contents(folder)
        said = complaint(*words, folder / "mine.toml", "-o", "place")
        assert said.startswith(f"{folder / 'mine.toml'}, which is read here, is inside place")
        assert contents(folder) == before


def test_figures_may_stand_beside_the_run(folder):
    check_output(folder, [folder / "run.zarr"], Output("folder", shared=True))
    with pytest.raises(FileFormatError, match="is inside place"):
        check_output(folder, [folder / "run.zarr"], Output("folder"))


def test_a_name_may_be_used_in_two_folders(folder):
    both = {"output": folder / "a", "plot": Path("a")}
    with pytest.raises(FileFormatError, match="unknown ending"):  # the next complaint: the places are fine
        COMMANDS["network"](file=folder / "team.csv", **both)


@pytest.mark.parametrize(("one", "other"), [("a.png", "./a.png"), ("a.png", "A.png"), ("é.png", "e\u0301.png")])
def test_two_outputs_are_two_files(one, other, folder, complaint):
    assert "are one file" in complaint("network", folder / "team.csv", "-o", one, "--plot", other)
    assert os.listdir() == ["place"]


@pytest.mark.parametrize("name", WRITES)
def test_what_is_no_place_is_one_line(name, folder, complaint, monkeypatch):
    """A folder for a file, a file for a folder, names that no file can have."""
    monkeypatch.chdir(folder / "sub")
    read = "../mine.toml" if name in ("animate", "certify", "export", "plot", "report", "run") else "../team.csv"
    before = contents(folder.absolute().parent)
    bad = ["n" * 300, "../team.csv/x", "/dev/null", "/dev/stdout"]
    bad += ["../team.csv"] if name in ("run", "reproduce") else ["no/such/folder/x", "../run.zarr"]
    bad += [] if name == "reproduce" else [".", "/"]
    for written in bad:
        for output in WRITES[name]:
            kind = ["paths"] if name == "plot" else []
            words = [written] if name == "init" else [*([read] if name in READS else []), *kind, f"--{output}", written]
            assert written in complaint(name, *words)
            if name != "init":
                assert "empty" in complaint(name, *words[:-2], f"--{output}=")
        assert "empty" in complaint(name, "")
    assert contents(folder.absolute().parent) == before
