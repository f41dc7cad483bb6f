"""``tricover network``: what it prints and writes, and what it says when it cannot."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import tricover as tc
from tricover.cli.main import app

TEAM = str(Path(__file__).parents[2] / "examples" / "team-13.csv")


def run(*args):
    return CliRunner().invoke(app, ["network", *map(str, args)], catch_exceptions=False)


def command(*args):
    """The installed command, as a process of its own."""
    call = [sys.executable, "-c", "from tricover.cli.main import command; command()", *map(str, args)]
    return subprocess.run(call, capture_output=True, text=True, check=False)


def test_table_and_summary():
    result = run(TEAM)
    assert result.exit_code == 0
    assert "0, 1, 2, 3 and 11" in result.stdout
    assert "38.5 %" in result.stdout
    assert "Core: 11, depth: 2, mentee rule: fermat" in result.stdout
    assert "Traceback" not in result.stderr


def test_json_is_the_network_and_nothing_else():
    result = run(TEAM, "--json")
    document = json.loads(result.stdout)
    network = tc.Network.from_json(result.stdout)
    assert network == tc.build_network(np.loadtxt(TEAM, delimiter=",", skiprows=1))
    assert document["depth"] == network.depth
    assert document["layers"] == [agents.tolist() for agents in network.layers]


@pytest.mark.parametrize(("choice", "core"), [("12", 12), ("2.5,3.8", 12), ("-3,5.5", 8)])
def test_core_by_number_or_point(choice, core):
    assert json.loads(run(TEAM, "--core", choice, "--json").stdout)["core"] == core


def test_mentee_rule():
    assert json.loads(run(TEAM, "--mentee", "balanced", "--json").stdout)["mentee"] == "balanced"


def test_quiet_prints_nothing():
    result = run(TEAM, "--quiet")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize("figure", ["formation", "cells", "layers"])
@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_figures(figure, ending, start, tmp_path):
    path = tmp_path / f"team.{ending}"
    result = run(TEAM, "--figure", figure, "--plot", path)
    assert path.read_bytes().startswith(start)
    assert f"Wrote {path}" in result.stderr


def test_output_is_read_back(tmp_path):
    path = tmp_path / "network.json"
    run(TEAM, "-o", path)
    assert tc.Network.from_json(path.read_text()).core == 11
    assert [file.name for file in tmp_path.iterdir()] == ["network.json"]


@pytest.mark.parametrize("ending", ["csv", "json", "npy"])
def test_every_format_gives_the_same_network(ending, tmp_path):
    positions = np.loadtxt(TEAM, delimiter=",", skiprows=1)
    path = tmp_path / f"team.{ending}"
    if ending == "npy":
        np.save(path, positions)
    elif ending == "json":
        path.write_text(json.dumps(positions.tolist()))
    else:
        np.savetxt(path, positions, delimiter=",")
    assert run(path, "--json").stdout == run(TEAM, "--json").stdout


def test_deep_networks_are_cut_short_in_the_table(tmp_path):
    np.save(tmp_path / "many.npy", np.random.default_rng(1).random((20_000, 2)))
    depth = json.loads(run(tmp_path / "many.npy", "--json").stdout)["depth"]
    shown = run(tmp_path / "many.npy").stdout
    assert depth >= 40
    assert f"depth: {depth}" in shown
    assert "layers more" in shown
    assert len(shown.splitlines()) < 50


def test_space(tmp_path):
    points = [*np.ndindex(2, 2, 2), (0.5, 0.5, 0.4), (0.3, 0.6, 0.5)]
    np.savetxt(tmp_path / "cube.csv", points, delimiter=",", header="x,y,z", comments="")
    assert "listens to 4 agents" in " ".join(run(tmp_path / "cube.csv", "--plot", tmp_path / "cube.png").stdout.split())


def test_bad_input_is_one_line(complaint, tmp_path):
    (tmp_path / "empty.csv").touch()
    (tmp_path / "words.csv").write_text("x,y\n1,one\n")
    (tmp_path / "nan.csv").write_text("x,y\n0,0\n1,nan\n")
    (tmp_path / "few.csv").write_text("x,y\n0,0\n1,0\n0,1\n")
    (tmp_path / "team.xlsx").write_text("?")
    assert "cannot read" in complaint("network", tmp_path / "no.csv")
    assert "directory" in complaint("network", tmp_path)
    assert "empty" in complaint("network", tmp_path / "empty.csv")
    assert "line 2, column 2 (y)" in complaint("network", tmp_path / "words.csv")
    assert "line 3, column 2 (y)" in complaint("network", tmp_path / "nan.csv")
    assert "agents" in complaint("network", tmp_path / "few.csv")
    assert "'.xlsx'" in complaint("network", tmp_path / "team.xlsx")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--core", "four"], "--core must be"),
        (["--core", "1,"], "--core must be"),
        (["--core", "nan,0"], "finite"),
        (["--core", "1,2,3"], "2 finite coordinates"),
        (["--core", "0"], "core agent 0 is a boundary agent"),
        (["--core", "13"], "0 to 12"),
        (["--mentee", "best"], "'best' is not one of 'fermat', 'balanced'"),
        (["--figure", "cake"], "'cake' is not one of"),
        (["--plot", "team.gif"], "'.gif'"),
        (["--plot", "nowhere/team.png"], "cannot write"),
        (["-o", "nowhere/network.json"], "cannot write"),
        (["--colour"], "No such option"),
    ],
)
def test_bad_options_are_one_line(complaint, options, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert words in complaint("network", TEAM, *options)
    assert not list(tmp_path.iterdir())


def test_exit_codes_of_the_real_command(tmp_path):
    done = command("network", TEAM, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["core"] == 11
    failed = command("network", tmp_path / "no.csv")
    assert failed.returncode == 2
    assert failed.stdout == ""
    assert failed.stderr.splitlines()[-1].startswith("tricover: cannot read")
    assert "Traceback" not in failed.stderr
