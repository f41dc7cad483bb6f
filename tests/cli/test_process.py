"""The command as a process: its exit codes, and what becomes of its output."""

import json
import os
import subprocess
import sys

import pytest

CALL = "import sys; sys.argv[0] = 'tricover'; from tricover.cli.main import command; command()"
SQUARE = "x,y\n0,0\n4,0\n4,4\n0,4\n2,2\n1,2\n3,2.5\n"


def call(code, *args):
    return subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=False)


@pytest.fixture
def team(tmp_path):
    path = tmp_path / "team.csv"
    path.write_text(SQUARE)
    return path


@pytest.mark.parametrize(("args", "expected"), [(["--version"], 0), (["run", "no-such-file.toml"], 2), (["--bad"], 2)])
def test_exit_codes_come_through(args, expected):
    done = call(CALL, *args)
    assert done.returncode == expected
    assert done.stderr.count("\n") == (1 if expected else 0)


def test_everything_is_written_and_what_was_left_for_the_end_is_done(team):
    code = "import atexit; atexit.register(lambda: print('tidied up'))\n" + CALL
    *document, last = call(code, "network", str(team), "--json", "-q").stdout.splitlines()
    assert last == "tidied up"
    assert json.loads("".join(document))["core"] == 4


@pytest.mark.parametrize("args", [["--help"], ["network", "TEAM"], ["network", "TEAM", "--json"]])
def test_nobody_who_reads_on_is_no_fault(args, team):
    command = [sys.executable, "-c", CALL, *(str(team) if arg == "TEAM" else arg for arg in args)]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writing)
    assert done.returncode in (0, 1)  # what is written at once fails where it is written, the rest at the end
    lines = [line for line in done.stderr.splitlines() if not line.startswith("Compiling kernels")]
    assert lines == []
