"""``tricover export`` and ``tricover animate``, as a user meets them."""

import csv
import json
import os
import pty
import re
import subprocess
import sys

import pytest
from tests.export.runs import eventful, scenario
from typer.testing import CliRunner

import tricover as tc
from tricover.cli.main import app
from tricover.simulation import Mission


def tricover(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A scenario, its run, and a run that was interrupted after six steps."""
    place = tmp_path_factory.mktemp("runs")
    scenario().save(place / "team.toml")
    tc.simulate(scenario(), place / "run.zarr")

    def stop(now):
        if now.step == 6:
            raise KeyboardInterrupt

    tc.simulate(eventful(), place / "part.zarr", progress=stop)
    (place / "empty").mkdir()
    (place / "notes.txt").write_text("hello")
    return place


def test_a_stored_run_by_the_ending(folder, tmp_path):
    for name in ("run.csv", "run.graphml", "run.mcap", "run.kml"):
        more = ("--origin", "-7.21,51.48") if name == "run.kml" else ()
        result = tricover("export", folder / "run.zarr", "-o", tmp_path / name, *more)
        assert result.exit_code == 0
        assert f"Wrote {tmp_path / name}" in result.stderr
        assert result.stdout == ""
        assert (tmp_path / name).stat().st_size > 1000


def test_a_scenario_is_run_first(folder, tmp_path):
    assert tricover("export", folder / "team.toml", "-o", tmp_path / "a.csv", "-q").exit_code == 0
    assert tricover("export", folder / "run.zarr", "-o", tmp_path / "b.csv", "-q").output == ""
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_plans_and_json(folder, tmp_path):
    plans = tmp_path / "plans"
    options = ("--kind", "qgroundcontrol", "--origin", "7.21,51.48", "--altitude", "40", "--spacing", "10")
    result = tricover("export", folder / "run.zarr", "-o", plans, *options, "--speed", "8", "--json")
    facts = json.loads(result.stdout)
    assert facts["kind"] == "qgroundcontrol"
    assert facts["files"] == sorted(str(path) for path in plans.iterdir())
    assert len(facts["files"]) == 16
    assert facts["interrupted"] is False
    mission = json.loads((plans / "agent-00.plan").read_text())["mission"]
    assert mission["hoverSpeed"] == 8
    assert mission["items"][0]["Altitude"] >= 40
    assert (facts["flight"]["altitude"], facts["flight"]["spacing"], facts["flight"]["speed"]) == (40, 10, 8)


def test_the_note_says_which_altitude_and_speed(folder, tmp_path):
    options = ("--kind", "qgroundcontrol", "--origin", "7.21,51.48", "--speed", "3")
    said = tricover("export", folder / "run.zarr", "-o", tmp_path / "plans", *options).stderr
    flight = "altitude 30 m (default), 5 m more for each level (default), speed 3 m/s (given)"
    assert f"Wrote {tmp_path / 'plans'} with 16 plans: {flight}\n" in said
    assert "1 level; 64.9 s from take-off to landing, stretched 4.52 times\n" in said
    assert "Least distance as flown: 8.03 m, agents 5 and 6, at 0.0 s\n" in said
    assert "Warning" not in said


def test_plans_with_everything_that_can_be_asked_for(folder, tmp_path):
    options = [
        "--kind",
        "qgroundcontrol",
        "--origin",
        "7.21,51.48",
        "--clearance",
        "12",
        "--climb",
        "2",
        "--delay",
        "1.5",
    ]
    options += ["--still", "0.2", "--landing", "place", "--stay", "20", "--margin", "30"]
    facts = json.loads(tricover("export", folder / "run.zarr", "-o", tmp_path / "plans", *options, "--json").stdout)
    given = {"clearance": 12, "climb": 2, "delay": 1.5, "still": 0.2, "landing": "place", "stay": 20, "margin": 30}
    assert facts["flight"].items() >= given.items()
    assert facts["levels"] == [30, 35]
    assert facts["as_flown"]["distance"] == pytest.approx(8.03, abs=0.01)
    assert facts["as_flown"]["agents"] == [5, 6]
    assert (facts["separation"], facts["warning"]) == (None, None)
    assert facts["duration"] > 20 + facts["stretch"] * 2.5
    said = tricover("export", folder / "run.zarr", "-o", tmp_path / "again", *options).stderr
    assert "(starts up to 1.5 s early or late)" in said


def test_plans_below_the_separation_asked_for_are_warned_of(tmp_path):
    """Two pads are 8.04 m apart: that is enough for 8 m, and not for 9 m, whatever the levels."""
    options = ["--kind", "qgroundcontrol", "--origin", "7.21,51.48", "--spacing", "10", "--clearance", "10"]
    for asked in (8.0, 9.0):
        tc.simulate(Mission.of(scenario(safety={"separation": asked})), tmp_path / f"{asked:.0f}.zarr")
    kept = tricover("export", tmp_path / "8.zarr", "-o", tmp_path / "kept", *options)
    assert (kept.exit_code, "Warning" in kept.stderr) == (0, False)
    for more in ([], ["--quiet"]):
        place = tmp_path / f"near{len(more)}"
        result = tricover("export", tmp_path / "9.zarr", "-o", place, *options, *more)
        assert result.exit_code == 0
        assert result.stdout == ""
        [warning] = [line for line in result.stderr.splitlines() if line.startswith("Warning: ")]
        said = r"Warning: as flown, vehicles come to 8\.\d\d m: nearer than the 9 m of safety.separation"
        assert re.fullmatch(said, warning)
    facts = json.loads(tricover("export", tmp_path / "9.zarr", "-o", tmp_path / "facts", *options, "--json").stdout)
    assert facts["warning"] == warning.removeprefix("Warning: ")


def test_kml_has_heights_if_they_are_asked_for(folder, tmp_path):
    options = ("--origin", "7.21,51.48")
    assert tricover("export", folder / "run.zarr", "-o", tmp_path / "a.kml", *options).exit_code == 0
    assert "relativeToGround" not in (tmp_path / "a.kml").read_text()
    assert (
        tricover("export", folder / "run.zarr", "-o", tmp_path / "b.kml", *options, "--altitude", "40").exit_code == 0
    )
    assert " 40.0</gx:coord>" in (tmp_path / "b.kml").read_text()


def test_what_is_there_of_an_interrupted_run_is_exported_with_a_note(folder, tmp_path):
    result = tricover("export", folder / "part.zarr", "-o", tmp_path / "part.csv")
    assert result.exit_code == 0
    assert "cut short after step 6" in result.stderr
    with (tmp_path / "part.csv").open() as file:
        assert max(int(row["step"]) for row in csv.DictReader(file)) == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.zarr", "-o", "a.csv"], "none.zarr: no such run"),
        (["notes.txt", "-o", "a.csv"], "notes.txt: not a run's folder"),
        (["empty", "-o", "a.csv"], "empty: this is not the store of a run"),
        (["run.zarr", "-o", "a.geojsn"], "a.geojsn: unknown ending '.geojsn'; did you mean '.geojson'?"),
        (["run.zarr", "-o", "a", "--kind", "mcpa"], "unknown kind 'mcpa'; did you mean 'mcap'?"),
        (["run.zarr", "-o", "nowhere/a.csv"], "nowhere/a.csv: there is no folder"),
        (["run.zarr", "-o", "a.geojson"], "give as origin (--origin LON,LAT)"),
        (["team.toml", "-o", "a.geojson"], "give as origin (--origin LON,LAT)"),
        (["run.zarr", "-o", "a.geojson", "--origin", "7.2"], "--origin must be longitude and latitude, such as"),
        (["run.zarr", "-o", "a.geojson", "--origin", "51,192"], "origin 51.0 and 192.0: is no longitude"),
        (["run.zarr", "-o", "a.csv", "--altitude", "3"], "csv has no altitude: leave it out"),
        (["run.zarr", "-o", "a.kml", "--origin", "7,51", "--delay", "3"], "kml has no delay: leave it out"),
        (
            ["run.zarr", "-o", "a", "--kind", "qgroundcontrol", "--origin", "7,51", "--landing", "plac"],
            "unknown landing 'plac'; did you mean 'place'?",
        ),
        (
            ["run.zarr", "-o", "a", "--kind", "qgroundcontrol", "--origin", "7,51", "--delay", "-1"],
            "delay must be a number from 0 on, not -1.0",
        ),
        (["run.zarr", "-o", "empty/../run.zarr", "--kind", "csv"], "which is read here"),
        (["run.zarr"], "Missing option '--output' / '-o'"),
    ],
)
def test_bad_input_is_one_line(folder, complaint, monkeypatch, arguments, message):
    monkeypatch.chdir(folder)
    before = sorted(os.listdir(folder))
    assert message in complaint("export", *arguments)
    assert sorted(os.listdir(folder)) == before


def test_a_missing_library_is_one_line(folder, complaint, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "foxglove", None)
    assert "pip install 'tricover[mcap]'" in complaint("export", folder / "run.zarr", "-o", tmp_path / "a.mcap")
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    said = complaint("animate", folder / "none.zarr", "-o", tmp_path / "a.mp4")
    assert said == ".mp4 films need the library imageio-ffmpeg: pip install 'tricover[video]'"


def test_a_film(folder, tmp_path):
    film = tmp_path / "film.gif"
    options = ("--size", "160", "--seconds", "1", "--fps", "5", "--hold", "0", "--no-links", "--trails", "0")
    result = tricover("animate", folder / "run.zarr", "-o", film, *options)
    assert result.exit_code == 0
    assert f"Wrote {film}" in result.stderr
    facts = json.loads(tricover("animate", folder / "part.zarr", "-o", film, *options, "--json").stdout)
    assert facts == {"file": str(film), "bytes": film.stat().st_size, "interrupted": True}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run.zarr", "-o", "film.avi"], "film.avi: unknown ending '.avi' for a film; expected .mp4 and .gif"),
        (["none.zarr", "-o", "film.gif"], "none.zarr: no such run"),
        (["run.zarr", "-o", "nowhere/film.gif"], "cannot write nowhere/film.gif: there is no folder nowhere"),
        (["run.zarr", "-o", "film.gif", "--size", "33"], "size must be an even number of pixels"),
    ],
)
def test_a_film_that_cannot_be_is_one_line(folder, complaint, monkeypatch, arguments, message):
    monkeypatch.chdir(folder)
    assert message in complaint("animate", *arguments)


def test_on_a_terminal_there_is_a_progress_bar(folder, tmp_path):
    """A pseudo-terminal as stderr sees the bar go to its end."""
    ours, theirs = pty.openpty()
    code = "from tricover.cli.main import command; command()"
    arguments = ["animate", folder / "run.zarr", "-o", tmp_path / "film.gif", "--size", "160", "--seconds", "2"]
    process = subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], stderr=theirs)
    os.close(theirs)
    said = b""
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        try:
            while part := terminal.read(4096):
                said += part
        except OSError:  # the other side is gone
            pass
    assert process.wait(timeout=60) == 0
    assert b"frame" in said
    assert b"71/71" in said
    assert b"Wrote" in said
