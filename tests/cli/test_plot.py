"""``tricover plot``: what it writes, its names, and what it says when it cannot."""

import json

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import zarr
from PIL import Image
from typer.testing import CliRunner

import tricover as tc
from tricover.cli.main import app
from tricover.plot.kinds import KINDS

NOT_OF_EVERY_RUN = {"learned", "policies", "evidence", "ages", "messages", "sight"}


def run(*args):
    return CliRunner().invoke(app, ["plot", *map(str, args)], catch_exceptions=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A scenario, its run, the same run cut short, and one without steps."""
    place = tmp_path_factory.mktemp("plot")
    rng = np.random.default_rng(4)
    control = {"motion": "walk", "resolution": 5}
    made = tc.Scenario(reference=rng.random((15, 2)), targets=rng.random((40, 2)), control=control, steps=60)
    made.save(place / "team.toml")
    tc.simulate(made, place / "team.zarr")
    tc.simulate(made, place / "half.zarr", progress=stop_at(3))
    tc.simulate(tc.Scenario(reference=rng.random((9, 2)), targets=[[0, 0]], steps=0), place / "none.zarr")
    return place


def stop_at(step):
    """Press Ctrl-C after a step."""

    def press(now):
        if now.step == step:
            raise KeyboardInterrupt

    return press


def test_the_figure_is_named_after_run_and_kind(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(folder / "team.zarr", "paths")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "Wrote team-paths.png" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["team-paths.png"]
    run(folder / "team.zarr", "paths", "--format", "svg", "--quiet")
    assert (tmp_path / "team-paths.svg").exists()


def test_all_of_them_in_a_folder(folder, tmp_path):
    result = run(folder / "team.zarr", "all", "-o", tmp_path / "figures", "--format", "pdf")
    assert result.exit_code == 0
    drawn = set(KINDS) - NOT_OF_EVERY_RUN
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {f"{kind}.pdf" for kind in drawn}
    assert f"Wrote {len(drawn)} figures to {tmp_path / 'figures'}" in result.stderr
    said = result.stderr.replace("\n", " ")
    assert "No figure 'learned': nobody learned in this run" in said
    assert "No figure 'ages': every message of this run arrives at once" in said
    assert "No figure 'sight': in this run everybody sees every target" in said


def test_a_scenario_is_run_first(folder, tmp_path):
    stored, fresh = tmp_path / "a.png", tmp_path / "b.png"
    run(folder / "team.zarr", "paths", "-o", stored)
    run(folder / "team.toml", "paths", "-o", fresh)
    assert stored.read_bytes() == fresh.read_bytes()


def test_agent_step_and_width(folder, tmp_path):
    path = tmp_path / "figure.png"
    sizes = []
    for width in ("column", "page"):
        run(folder / "team.zarr", "coordinates", "--agent", 9, "--width", width, "-o", path)
        with Image.open(path) as picture:
            sizes.append(picture.size[0] / 300)
    assert sizes == pytest.approx([3.5, 7.2], abs=0.01)
    first, last = tmp_path / "first.svg", tmp_path / "last.svg"
    run(folder / "team.zarr", "voronoi", "--step", 0, "-o", first)
    run(folder / "team.zarr", "voronoi", "--step", -1, "-o", last)
    assert first.read_text() != last.read_text()
    run(folder / "team.zarr", "coordinates", "--agent", 9, "-o", tmp_path / "nine.svg")
    assert ">agent 9</text>" in (tmp_path / "nine.svg").read_text()


def test_json_and_quiet(folder, tmp_path):
    path = tmp_path / "a.png"
    result = run(folder / "team.zarr", "story", "--json", "-o", path)
    assert json.loads(result.stdout) == {"files": [str(path)], "left_out": {}}
    quiet = run(folder / "team.zarr", "story", "--quiet", "-o", path)
    assert (quiet.stdout, quiet.stderr) == ("", "")


def test_list():
    assert set(json.loads(run("--list", "--json").stdout)) == set(KINDS)
    shown = run("--list").stdout
    assert all(kind in shown for kind in KINDS)


def test_no_figure_is_left_open_and_no_setting_changed(folder, tmp_path):
    plt.figure()
    opened, settings = plt.get_fignums(), dict(mpl.rcParams)
    run(folder / "team.zarr", "all", "-o", tmp_path)
    assert plt.get_fignums() == opened
    assert dict(mpl.rcParams) == settings


def test_a_run_that_was_cut_short_is_drawn_as_far_as_it_goes(folder, tmp_path):
    result = run(folder / "half.zarr", "all", "-o", tmp_path)
    assert result.exit_code == 0
    assert "cut short after step 3" in result.stderr
    assert (tmp_path / "paths.png").exists()


def test_figures_that_do_not_apply_are_left_out_of_all(tmp_path):
    """Four corners and a core: there are no followers, hence no story."""
    made = tc.Scenario(reference=[[0, 0], [4, 0], [4, 4], [0, 4], [2, 2]], targets=[[1, 1]], steps=3)
    tc.simulate(made, tmp_path / "run.zarr")
    result = run(tmp_path / "run.zarr", "all", "-o", tmp_path / "figures", "--json")
    document = json.loads(result.stdout)
    assert result.exit_code == 0
    assert "anchor" in document["left_out"]["story"]
    assert {path.split("/")[-1].removesuffix(".png") for path in document["files"]} | set(document["left_out"]) == set(
        KINDS
    )


def test_bad_input_is_one_line(complaint, folder, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    stored = folder / "team.zarr"
    assert "no such run" in complaint("plot", tmp_path / "missing.zarr", "paths")
    assert "not a run's folder" in complaint("plot", tmp_path / "file", "paths")
    assert "not the store of a run" in complaint("plot", tmp_path / "empty", "paths")
    assert "no step of this run" in complaint("plot", folder / "none.zarr", "paths")
    assert "did you mean 'paths'?" in complaint("plot", stored, "path")
    assert "known: network" in complaint("plot", stored, "xyz")
    assert "'.gif'" in complaint("plot", stored, "paths", "-o", "a.gif")
    assert "no agent 15: agents are numbered 0 to 14" in complaint("plot", stored, "story", "--agent", 15)
    assert "is an anchor" in complaint("plot", stored, "story", "--agent", int(tc.Run.open(stored).network.core))
    assert "no step 999" in complaint("plot", stored, "voronoi", "--step", 999)
    assert "there is no folder" in complaint("plot", stored, "paths", "-o", tmp_path / "no" / "a.png")
    assert "is a file" in complaint("plot", stored, "all", "-o", tmp_path / "file")
    assert "which run" in complaint("plot")
    assert "which figure" in complaint("plot", stored)


def test_a_torn_store_is_one_line(complaint, folder, tmp_path):
    made = tc.Scenario.load(folder / "team.toml")
    tc.simulate(made, tmp_path / "torn.zarr")
    [chunk, *_] = sorted(path for path in (tmp_path / "torn.zarr" / "positions" / "c").rglob("*") if path.is_file())
    chunk.write_bytes(chunk.read_bytes()[:20])
    assert "torn.zarr" in complaint("plot", tmp_path / "torn.zarr", "paths", "-o", tmp_path / "a.png")
    group = zarr.open_group(tmp_path / "torn.zarr")
    del group.attrs["scenario"]
    assert "torn.zarr" in complaint("plot", tmp_path / "torn.zarr", "paths", "-o", tmp_path / "a.png")
