"""What ``reproduce`` leaves behind: all of it, whole, the same every time; and what it does not touch."""

import json
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

import tricover as tc
from tests.simulation.stores import overwrite
from tricover.errors import FileFormatError, StoreError
from tricover.paper import Stage, reproduce, scenarios
from tricover.paper.figures import FIGURES
from tricover.paper.folder import open_folder

COMMAND = [sys.executable, "-c", "from tricover.cli.main import command; command()", "reproduce", "-q", "-o"]


@pytest.fixture(scope="module")
def stages():
    return []


@pytest.fixture(scope="module")
def result(tmp_path_factory, stages):
    return reproduce(tmp_path_factory.mktemp("first") / "new" / "folder", stages.append)


def test_all_files_are_there_and_no_others(result):
    folder = result.report.parent
    runs = {folder / "runs" / f"{name}.zarr" for name in result.runs}
    found = {path for path in folder.rglob("*") if path.is_file() and not any(run in path.parents for run in runs)}
    assert found | runs == set(result.files)
    assert len(result.files) == len(set(result.files))
    assert {path.stem for path in folder.glob("figures/*.png")} == {figure.name for figure in FIGURES}


def test_progress_counts_the_stages(result, stages):
    assert [stage.index for stage in stages] == list(range(1, stages[0].count + 1))
    assert all(isinstance(stage, Stage) for stage in stages)


def test_claims_are_those_of_the_table(result):
    document = json.loads((result.report.parent / "claims.json").read_text(encoding="utf-8"))
    assert document["holds"] is result.holds is True
    assert document["claims"] == [vars(claim) for claim in result.claims]


def test_figures_open_and_stand_for_those_of_the_paper(result):
    folder = result.report.parent / "figures"
    for figure in FIGURES:
        with Image.open(folder / f"{figure.name}.png") as image:
            assert image.width >= 1000
        assert (folder / f"{figure.name}.pdf").read_bytes().startswith(b"%PDF")
    assert [figure.number for figure in FIGURES if figure.number] == list(range(1, 11))
    assert all(figure.caption.startswith(f"For Fig. {figure.number} of the paper.") for figure in FIGURES[:10])


def test_scenarios_and_runs_are_the_same_runs(result):
    folder = result.report.parent
    for name, run in result.runs.items():
        stored = tc.Run.open(folder / "runs" / f"{name}.zarr")
        assert not stored.interrupted
        np.testing.assert_array_equal(stored.positions, run.positions)
        again = tc.simulate(tc.Scenario.load(folder / "scenarios" / f"{name}.toml"))
        np.testing.assert_array_equal(again.positions, run.positions)
    given = tc.Scenario.load(folder / "scenarios" / "paper-57.toml")
    assert (given.control.motion, given.control.margin, given.control.resolution) == ("reach", 0.05, 35)


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text, self.sources = [], "", []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.sources += [value for name, value in attributes if name in ("src", "href")]

    def handle_data(self, data):
        self.text += data


def test_report_shows_everything_and_needs_nothing(result):
    page = Reader()
    page.feed(result.report.read_text(encoding="utf-8"))
    assert page.tags.count("figure") >= len(FIGURES)
    assert all(figure.caption in page.text for figure in FIGURES)
    plain = page.text.replace("\n", " ")
    assert all(claim.measured.replace("_", "").replace("^", "") in plain.replace("^", "") for claim in result.claims)
    assert all(source.startswith(("#", "data:")) for source in page.sources)


def test_killed_on_the_way_it_leaves_whole_files_and_goes_on(result, tmp_path):
    """Killed hard as soon as the last run has begun, then called again: the same files, bit for bit."""
    done = subprocess.Popen([*COMMAND, tmp_path], stderr=subprocess.PIPE, text=True)
    try:
        while not (tmp_path / "runs" / "anywhere.zarr").exists():
            assert done.poll() is None, done.stderr.read()
            time.sleep(0.002)
    finally:
        done.kill()
        done.communicate()
    assert not (tmp_path / "report.html").exists()
    for name in ("reach", "walk"):
        assert tc.Run.open(tmp_path / "runs" / f"{name}.zarr").steps == result.runs[name].steps
    again = reproduce(tmp_path)
    first = result.report.parent
    assert [path.relative_to(tmp_path) for path in again.files] == [path.relative_to(first) for path in result.files]
    for path in again.files:
        if path.is_file():
            assert path.read_bytes() == (first / path.relative_to(tmp_path)).read_bytes(), path
    np.testing.assert_array_equal(again.runs["anywhere"].positions, result.runs["anywhere"].positions)


def test_a_run_that_is_not_ours_to_trust_is_an_error(tmp_path):
    """A finished run in the folder whose positions are not those that its scenario gives."""
    folder = open_folder(tmp_path)
    store = folder.path / "runs" / "reach.zarr"
    positions = tc.simulate(scenarios()["reach"], store).positions.copy()
    positions[3, 9] = 0.0
    overwrite(store, "positions", positions)
    with pytest.raises(StoreError, match=r"reach\.zarr is not what this version computes"):
        reproduce(tmp_path)


def test_a_run_of_another_scenario_is_an_error(tmp_path):
    folder = open_folder(tmp_path)
    tc.simulate(scenarios()["walk"].replace(steps=2), folder.path / "runs" / "reach.zarr")
    with pytest.raises(StoreError, match="another scenario"):
        reproduce(tmp_path)


def test_what_others_left_in_the_folder_stays(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "mine.png").write_text("mine")
    open_folder(tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == (tmp_path / "figures" / "mine.png").read_text() == "mine"


@pytest.mark.parametrize("name", ["README.md", "report.html", "figures/cells.pdf", "runs/walk.zarr"])
def test_names_that_are_taken_are_an_error(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    with pytest.raises(FileFormatError, match="is not of an earlier tricover reproduce"):
        open_folder(tmp_path)
    assert (tmp_path / name).read_text() == "mine"
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [name.split("/")[-1]]


def test_a_folder_of_ours_is_known_again(tmp_path):
    assert open_folder(tmp_path).files == open_folder(tmp_path).files


def test_ctrl_c_says_how_to_go_on(tmp_path):
    loud = [word for word in COMMAND if word != "-q"]
    done = subprocess.Popen([*loud, tmp_path], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        while not (tmp_path / "runs" / "reach.zarr").exists():
            assert done.poll() is None, done.stderr.read()
            time.sleep(0.002)
        done.send_signal(signal.SIGINT)
        _, errors = done.communicate(timeout=300)  # a first step may have to be compiled before it ends
    finally:
        done.kill()
    assert done.returncode == 130
    assert errors.splitlines()[-1] == f"Interrupted. Go on with: tricover reproduce -o {tmp_path}"
