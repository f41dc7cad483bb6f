"""What all exports share: kinds by name and ending, options, and files that are there whole or not at all."""

import re
import resource

import pytest

import tricover as tc
from tests.export.runs import ORIGIN, scenario
from tricover.errors import FileFormatError, InputError
from tricover.export import KINDS, export_run, kind_of

EACH = {"csv": "run.csv", "geojson": "run.geojson", "kml": "run.kml", "graphml": "run.graphml", "mcap": "run.mcap"}


@pytest.fixture(scope="module")
def run():
    return tc.simulate(scenario(steps=8))


def test_the_ending_says_the_kind():
    assert {name: kind_of(path) for name, path in EACH.items()} == {name: name for name in EACH}
    assert kind_of("RUN.GeoJSON") == "geojson"
    assert kind_of("run.json", "geojson") == "geojson"
    assert kind_of("plans", "qgroundcontrol") == "qgroundcontrol"
    assert set(EACH) | {"qgroundcontrol"} == set(KINDS)


@pytest.mark.parametrize(
    ("path", "kind", "message"),
    [
        ("run.geojsn", None, "run.geojsn: unknown ending '.geojsn'; did you mean '.geojson'?"),
        ("run.xlsx", None, "run.xlsx: unknown ending '.xlsx'; known: .csv, .geojson, .kml, .graphml and .mcap"),
        ("plans", None, "plans: the name does not say what to write: give the kind, csv, geojson, kml, graphml,"),
        ("one.plan", None, "one.plan: the name does not say what to write"),
        ("one.plan", "qgroundcontrol", "one.plan: a plan for each agent needs a folder: name one without an ending"),
        ("run.csv", "qgroundcontroll", "unknown kind 'qgroundcontroll'; did you mean 'qgroundcontrol'?"),
        ("run.csv", "pdf", "unknown kind 'pdf'; known: csv, geojson, kml, graphml, mcap and qgroundcontrol"),
    ],
)
def test_what_is_no_kind_is_named(path, kind, message):
    with pytest.raises(InputError, match=re.escape(message)):
        kind_of(path, kind)


def test_options_of_a_flight_go_with_plans_only(run, tmp_path):
    with pytest.raises(
        InputError, match="csv has no altitude and speed: leave it out; it belongs to the kind 'qgroundcontrol'"
    ):
        export_run(run, tmp_path / "run.csv", altitude=30, speed=3)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", KINDS)
def test_files_are_replaced_and_nothing_is_left_beside_them(name, run, tmp_path):
    path = tmp_path / EACH.get(name, "plans")
    if KINDS[name].ending is not None:
        path.write_text("old")
    export_run(run, path, name, origin=ORIGIN)
    assert list(tmp_path.iterdir()) == [path]
    assert path.is_dir() or path.stat().st_size > 100


@pytest.mark.parametrize("name", [name for name in KINDS if name != "graphml"])
def test_an_export_that_is_cut_short_leaves_what_was_there(name, run, tmp_path):
    path = tmp_path / EACH.get(name, "plans")
    if KINDS[name].ending is not None:
        path.write_text("old")

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_run(run, path, name, origin=ORIGIN, progress=stop)
    assert [(left, left.read_text()) for left in tmp_path.iterdir()] == ([(path, "old")] if name in EACH else [])


@pytest.mark.parametrize("name", KINDS)
def test_a_place_that_cannot_be_written_is_named(name, run, tmp_path):
    path = tmp_path / "nowhere" / EACH.get(name, "plans")
    with pytest.raises(FileFormatError, match=rf"cannot write {re.escape(str(path))}: No such file or directory"):
        export_run(run, path, name, origin=ORIGIN)


@pytest.mark.parametrize("name", KINDS)
def test_a_full_disk_is_told_and_leaves_nothing(name, tmp_path):
    run = tc.simulate(scenario(agents=60))
    path, before = tmp_path / EACH.get(name, "plans"), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, before[1]))
    try:
        with pytest.raises(FileFormatError, match=rf"cannot write {re.escape(str(path))}: File too large"):
            export_run(run, path, name, origin=ORIGIN)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.iterdir())


def test_a_scenario_is_no_run(tmp_path):
    with pytest.raises(InputError, match="export_run takes a Run, not Scenario"):
        export_run(scenario(), tmp_path / "run.csv")


@pytest.mark.parametrize("name", EACH)
def test_a_folder_is_no_file(name, run, tmp_path):
    path = tmp_path / EACH[name]
    path.mkdir()
    with pytest.raises(FileFormatError, match="Is a directory"):
        export_run(run, path, name, origin=ORIGIN)
    assert list(tmp_path.iterdir()) == [path]
