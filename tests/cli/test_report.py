"""``tricover report``: what it writes and says, and one clear line when it cannot."""

import json
import shutil

import pytest
from tests.report.pages import Page, scenario
from typer.testing import CliRunner

import tricover as tc
from tricover.cli import report as command
from tricover.cli.main import app


def call(*args):
    return CliRunner().invoke(app, ["report", *map(str, args)], catch_exceptions=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A scenario and its run."""
    place = tmp_path_factory.mktemp("report")
    made = scenario(steps=20)
    made.save(place / "team.toml")
    tc.simulate(made, place / "team.zarr")
    return place


def test_of_a_stored_run(folder, tmp_path):
    result = call(folder / "team.zarr", "-o", tmp_path / "mine.html")
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"Wrote {tmp_path / 'mine.html'}" in result.stderr
    assert "settled at step" in Page(tmp_path / "mine.html").text


def test_of_a_scenario_beside_which_it_takes_the_name(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = call(folder / "team.toml", "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    call(folder / "team.zarr", "-o", "stored.html")
    assert (tmp_path / "team.html").read_bytes() == (tmp_path / "stored.html").read_bytes()


def test_json(folder, tmp_path):
    result = call(folder / "team.zarr", "-o", tmp_path / "mine.html", "--json")
    document = json.loads(result.stdout)
    assert result.stderr == ""
    assert document["report"] == str(tmp_path / "mine.html")
    assert document["bytes"] == (tmp_path / "mine.html").stat().st_size
    assert (document["converged"], document["certificate"]) == (True, True)
    assert document["settled_at"] == tc.Run.open(folder / "team.zarr").settled_at


def test_open(folder, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(command.typer, "launch", opened.append)
    call(folder / "team.zarr", "-o", tmp_path / "mine.html", "--open")
    assert opened == [(tmp_path / "mine.html").as_uri()]


def test_a_run_that_was_cut_short_is_reported_as_far_as_it_went(tmp_path):
    def stop(progress):
        if progress.step == 3:
            raise KeyboardInterrupt

    tc.simulate(scenario(), tmp_path / "cut", progress=stop)
    result = call(tmp_path / "cut", "-o", tmp_path / "cut.html")
    assert result.exit_code == 0
    assert "cut short after step 3" in result.stderr
    assert "interrupted after step 3" in Page(tmp_path / "cut.html").text


def test_bad_paths(folder, tmp_path, complaint):
    assert "no such run" in complaint("report", tmp_path / "nothing.zarr", "-o", tmp_path / "x.html")
    (tmp_path / "points.csv").write_text("x,y\n1,2\n")
    assert "not a run's folder" in complaint("report", tmp_path / "points.csv", "-o", tmp_path / "x.html")
    assert "not the store of a run" in complaint("report", tmp_path, "-o", folder / "x.html")
    assert "a report is an HTML file" in complaint("report", folder / "team.zarr", "-o", tmp_path / "x.pdf")
    assert "there is no folder" in complaint("report", folder / "team.zarr", "-o", tmp_path / "no" / "x.html")
    (tmp_path / "folder.html").mkdir()
    assert "is a folder" in complaint("report", folder / "team.zarr", "-o", tmp_path / "folder.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.html", "points.csv"]


@pytest.mark.parametrize(
    "lost", ["zarr.json", "positions", "positions/c", "scenario/targets_positions", "epochs/0/layer"]
)
def test_a_copy_that_broke_off(folder, tmp_path, complaint, lost):
    copy = tmp_path / "copy.zarr"
    shutil.copytree(folder / "team.zarr", copy)
    part = copy / lost
    if part.is_dir():
        shutil.rmtree(part)
    else:
        part.write_bytes(part.read_bytes()[:400])
    said = complaint("report", copy, "-o", tmp_path / "x.html")
    named = lost.removesuffix("/c")
    assert f"copy.zarr is damaged: {named}" in said
    assert "copy the run again" in said
    assert not (tmp_path / "x.html").exists()
