"""``tricover reproduce`` as a user meets it: the table, the exit codes, and one line for what is wrong."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import tricover.paper
from tricover.cli.main import app
from tricover.paper import DEVIATES, FAILS, HOLDS, Claim, Reproduction

GOOD = Claim("theorem-1", "V, eq. (23)", "y[t+1] = Γ[t] y[t].", "652 matrices", HOLDS)
ODD = Claim("dnn", "II", "DNN is two things.", "78 of 156 links", DEVIATES, "We say network.")
BAD = Claim("agent-29", "VI-A", "Agent 29 is there in fewer than 40 steps.", "at step 41", FAILS)


@pytest.fixture
def reproduce(monkeypatch):
    """The command, with a result that is made up."""

    def call(claims, *arguments):
        made = Reproduction(tuple(claims), {}, (Path("out/claims.json"),), Path("out/report.html"))
        monkeypatch.setattr(tricover.paper, "reproduce", lambda out, progress: made)
        return CliRunner().invoke(app, ["reproduce", *arguments], env={"COLUMNS": "80"})

    return call


def test_the_table_has_every_claim_as_it_is_written(reproduce):
    result = reproduce([GOOD, ODD])
    assert result.exit_code == 0
    assert "y[t+1] = Γ[t] y[t]." in result.stdout  # brackets are text, not markup
    assert "We say network." in result.stdout
    assert "1 of 1 claims hold. In 1 place the paper" in result.stdout
    assert result.stdout.splitlines()[-1] == "Report: out/report.html"
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_a_claim_that_does_not_hold_is_exit_code_1(reproduce):
    result = reproduce([GOOD, BAD])
    assert result.exit_code == 1
    assert "does not hold" in result.stdout
    assert "1 of 2 claims hold." in result.stdout


def test_json_is_one_document(reproduce):
    result = reproduce([GOOD, ODD, BAD], "--json")
    document = json.loads(result.stdout)
    assert result.exit_code == 1
    assert document["holds"] is False
    assert document["claims"] == [vars(claim) for claim in (GOOD, ODD, BAD)]
    assert document["report"] == "out/report.html"


def test_quiet_says_nothing(reproduce):
    assert reproduce([GOOD], "--quiet").output == ""


def in_a_shell(*arguments, **settings):
    code = "from tricover.cli.main import command; command()"
    command = [sys.executable, "-c", code, "reproduce", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **settings)


def test_output_that_is_a_file_is_one_line(tmp_path):
    path = tmp_path / "paper"
    path.write_text("mine")
    done = in_a_shell("-o", path)
    assert done.returncode == 2
    assert done.stderr == f"tricover: cannot write to the folder {path}: it is a file\n"
    assert path.read_text() == "mine"


def test_output_that_cannot_be_made_is_one_line():
    done = in_a_shell("-o", "/proc/paper")
    assert done.returncode == 2
    assert done.stderr.startswith("tricover: cannot write to the folder /proc/paper: ")
    assert done.stderr.count("\n") == 1


def test_foreign_files_with_our_names_are_one_line(tmp_path):
    (tmp_path / "report.html").write_text("mine")
    done = in_a_shell("-o", tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "choose another folder" in done.stderr
    assert (tmp_path / "report.html").read_text() == "mine"


def test_a_full_disk_is_one_line(tmp_path):
    """No file may grow beyond 8 kB here: the stores of the runs do not fit."""
    limit = (8192, resource.getrlimit(resource.RLIMIT_FSIZE)[1])
    done = in_a_shell("-q", "-o", tmp_path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "File too large" in done.stderr
