"""``tricover init`` and ``tricover run``, as a user meets them."""

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import tricover as tc
from tricover.cli.main import app
from tricover.simulation import Mission

SMALL = """
steps = {steps}
[formation]
generator = "square"
agents = 20
size = 10.0
[targets]
generator = "polygon"
count = 100
corners = [[-5, -5], [5, -5], [5, 5]]
[control]
motion = "walk"
resolution = 6
[vehicle]
kind = "{vehicle}"
"""


@pytest.fixture
def scenario(tmp_path):
    def write(steps=200, vehicle="exact"):
        path = tmp_path / "small.toml"
        path.write_text(SMALL.format(steps=steps, vehicle=vehicle))
        return path

    return write


def tricover(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def in_a_shell(*arguments, **settings):
    code = "from tricover.cli.main import command; command()"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **settings)


def test_what_init_writes_runs_and_settles(tmp_path):
    path = tmp_path / "mine.toml"
    assert tricover("init", path).exit_code == 0
    assert tomllib.loads(path.read_text())["name"] == "mine"
    result = tricover("run", path, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["converged"] is True


def test_init_overwrites_nothing(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("mine")
    done = in_a_shell("init", path)
    _, errors = done.communicate()
    assert done.returncode == 2
    assert errors == f"tricover: {path} exists: choose another name or remove it\n"
    assert path.read_text() == "mine"


def test_init_prints_the_schema():
    assert json.loads(tricover("init", "--schema").stdout) == tc.Scenario.model_json_schema()


def test_exit_code_is_the_answer(scenario, tmp_path):
    yes = tricover("run", scenario(), "-o", tmp_path / "run.zarr")
    assert yes.exit_code == 0
    assert "at step" in yes.output
    assert tc.Run.open(tmp_path / "run.zarr").converged
    no = tricover("run", scenario(steps=3), "--quiet")
    assert no.exit_code == 1
    assert no.output == ""


def test_json_is_one_document(scenario, tmp_path):
    result = tricover("run", scenario(), "-o", tmp_path / "run.zarr", "--json")
    facts, run = json.loads(result.stdout), tc.Run.open(tmp_path / "run.zarr")
    assert facts["agents"] == 20
    assert facts["settled_at"] == run.settled_at
    assert facts["steps"] == run.steps
    assert facts["misses"] == 0
    assert facts["store"] == str(tmp_path / "run.zarr")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[contrl]", "unknown key 'contrl'; did you mean 'control'?"),
        ("steps = -1", "steps: should be greater than or equal to 0, not -1"),
        ("steps =", "not a TOML file"),
    ],
)
def test_bad_input_is_one_line(tmp_path, text, message):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    done = in_a_shell("run", path)
    _, errors = done.communicate()
    assert done.returncode == 2
    assert errors.count("\n") == 1
    assert message in errors
    assert str(path) in errors


def test_resume_needs_a_folder(scenario):
    done = in_a_shell("run", scenario(), "--resume")
    _, errors = done.communicate()
    assert done.returncode == 2
    assert errors == "tricover: --resume goes with --output: which run is it?\n"


def test_ctrl_c_keeps_what_was_computed(scenario, tmp_path):
    path, store = scenario(steps=100_000, vehicle="anywhere"), tmp_path / "run.zarr"
    done = in_a_shell("run", path, "-o", store, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    try:
        while not store.exists():
            assert done.poll() is None, done.stderr.read()
            time.sleep(0.01)
        time.sleep(0.5)
        done.send_signal(signal.SIGINT)
        _, errors = done.communicate(timeout=300)  # a first step may have to be compiled before it ends
    finally:
        done.kill()
    assert done.returncode == 130
    assert "--resume" in errors
    run = tc.Run.open(store)
    assert run.interrupted
    assert 0 < run.steps < 100_000
    assert len(run.positions) == run.steps + 1


def test_who_flew_from_which_pad_is_said():
    example = Path(__file__).parents[2] / "examples" / "from-pads.toml"
    told = json.loads(tricover("run", example, "--json").stdout)
    mission = Mission.of(tc.Scenario.load(example))
    assert told["pads"] == mission.pads.tolist()
    assert told["launch"] == mission.launch == 16
    shown = " ".join(tricover("run", example).stdout.split())
    assert "launch 16 steps" in shown
    assert f"0 from {told['pads'][0]}, 1 from {told['pads'][1]}" in shown
