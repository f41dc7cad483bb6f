"""Names that a terminal, a figure or another program would obey: they are shown, and nothing else happens."""

import json
import os
import subprocess
import sys
import tomllib
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

import tricover as tc
from tricover.cli.main import app
from tricover.errors import plain

NAMES = ["a[/foo]b", "[bold]x[/bold]", "\x1b[31mred", "two\nlines", "\u202eback", "a$b_$c\\", ":smile:", "\0"]
EVIL = "".join(NAMES)
TEAM = [[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2], [3, 2.5]]
OBEYED = {chr(code) for code in [*range(32), 127, *range(0x80, 0xA0), 0x202E, 0x2066, 0x2028]} - {"\n"}


def tricover(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A run with a name of all these, in a folder with markup in its name."""
    path = tmp_path_factory.mktemp("names") / "[red]x[zarr.zarr"
    tc.simulate(tc.Scenario(name=EVIL, reference=TEAM, targets=[[1, 1], [2, 3]]), path)
    return path


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_tables_show_the_name_as_it_is(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tc.Scenario(name=name, reference=TEAM, targets=[[1, 1], [2, 3]]).save("mine.toml")
    for words in (["run", "mine.toml", "-o", "[b]kept[/b]\n.zarr"], ["certify", "[b]kept[/b]\n.zarr"]):
        result = tricover(*words)
        assert result.exit_code == 0
        assert not OBEYED & set(result.stdout)
        assert plain(name, keep="\n").split("\n")[0] in result.stdout
        assert words[0] == "certify" or r"[b]kept[/b]\n.zarr" in result.stdout
    assert json.loads(tricover("run", "mine.toml", "--json").stdout)["name"] == name


def test_files_for_others_are_well_formed(stored, tmp_path):
    tricover("export", stored, "-o", tmp_path / "x.geojson", "--origin", "7,51")
    assert json.loads((tmp_path / "x.geojson").read_text())["name"] == EVIL
    tricover("export", stored, "-o", tmp_path / "x.graphml")
    assert plain(EVIL) in {part.text for part in ElementTree.parse(tmp_path / "x.graphml").iter()}
    assert tricover("report", stored, "-o", tmp_path / "x.html").exit_code == 0
    assert not OBEYED - {"\t"} & set((tmp_path / "x.html").read_text(encoding="utf-8"))


def test_a_film_shows_the_name_on_one_line(stored, tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    texts, text = [], Figure.text
    monkeypatch.setattr(Figure, "text", lambda self, *args, **kw: texts.append(kw) or text(self, *args, **kw))
    result = tricover("animate", stored, "-o", tmp_path / "x.gif", "--size", 160, "--seconds", 0, "--hold", 0)
    assert result.exit_code == 0
    assert plain(EVIL).startswith(texts[0]["s"].removesuffix("…"))
    assert texts[0]["parse_math"] is False


@pytest.mark.parametrize("name", [EVIL.replace("\0", ""), "quo\"te's", "\udcff"], ids=ascii)
def test_file_names_are_said_in_one_line_and_init_writes_what_can_be_run(name, tmp_path):
    code = "import sys; sys.argv[0] = 'tricover'; from tricover.cli.main import command; command()"
    file = f"{name.replace('/', '')}.toml"

    def call(*args):
        command = [sys.executable, "-c", code, *args]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)

    for words, expected in ((["init", file], 0), (["init", file], 2), (["run", f"no{file}"], 2)):
        done = call(*words)
        assert (done.returncode, done.stderr.count("\n")) == (expected, 1), done.stderr
        assert not OBEYED & set(done.stderr)
        assert plain(file) in done.stderr
    text = (tmp_path / os.fsencode(file).decode(errors="surrogateescape")).read_text(encoding="utf-8")
    assert tomllib.loads(text)["name"] == plain(file.removesuffix(".toml"))


def test_plain_leaves_words_alone():
    for text in ("paper 57", "Übung: 12\u202f%", "η ≤ 0.05 …", "東京", "🚁"):
        assert plain(text) == text
    assert plain("a\nb", keep="\n") == "a\nb"
    assert plain("\x1b\u202e\udcff\u2028\x7f") == r"\x1b\u202e\udcff\u2028\x7f"
