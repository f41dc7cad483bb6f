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


@pytest.fixture(params=[True, False], ids=["buffered", "unbuffered"])
def buffered(request, monkeypatch):
    """With and without a buffer, a stream fails at different moments."""
    monkeypatch.setenv("PYTHONUNBUFFERED", "" if request.param else "1")


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


@pytest.mark.usefixtures("buffered")
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


SOURCES = {
    "help": ["--help"],
    "table": ["network", "TEAM"],
    "json": ["network", "TEAM", "--json"],
    "list": ["plot", "--list"],
}


def in_a_shell(line, *args, **settings):
    """The command in a shell line of its own: "$@" is the command."""
    command = ["sh", "-c", line, "sh", sys.executable, "-c", CALL, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **settings)


@pytest.mark.usefixtures("buffered")
@pytest.mark.parametrize("what", SOURCES)
def test_an_output_that_cannot_be_written_is_one_line(what, team):
    args = [str(team) if word == "TEAM" else word for word in SOURCES[what]]
    full, closed = in_a_shell('"$@" > /dev/full', *args), in_a_shell('"$@" >&-', *args)
    for done in (full, closed):
        lines = [line for line in done.stderr.splitlines() if not line.startswith("Compiling kernels")]
        assert (done.returncode, len(lines)) == (2, 1), done.stderr
    assert "No space left on device" in full.stderr
    assert "standard output is closed" in closed.stderr


@pytest.mark.usefixtures("buffered")
@pytest.mark.parametrize("where", ["2>&-", "2> /dev/full", "<&- 2>&-"])
def test_a_result_does_not_need_standard_error(where, team):
    done = in_a_shell(f'"$@" {where}', "network", team, "--json")
    assert (done.returncode, json.loads(done.stdout)["core"]) == (0, 4)
    assert in_a_shell(f'"$@" {where}', "network", "no.csv").returncode == 2


def test_nothing_that_is_printed_ends_up_in_a_file_that_took_the_number_of_a_stream(team, tmp_path):
    done = in_a_shell('"$@" <&- 2>&-', "network", team, "-o", tmp_path / "network.json")
    assert done.returncode == 0
    assert json.loads((tmp_path / "network.json").read_text())["core"] == 4


FAILURES = {
    "MemoryError()": "network needs more memory than there is: ask for less",
    "MemoryError('Unable to allocate 9 GiB\\nfor an array')": "ask for less (Unable to allocate 9 GiB for an array)",
    "RecursionError('maximum recursion depth exceeded')": "network failed: something in its input is nested too deeply",
    "OSError(28, 'No space left on device', 'a\\x1bb.png')": r"network failed: No space left on device: a\x1bb.png",
    "FileNotFoundError(2, 'No such file or directory')": "network failed: No such file or directory",
    "InputError('1 validation error\\n  x\\n    bad \\x1b[31m')": r"1 validation error\n  x\n    bad \x1b[31m",
}


@pytest.mark.parametrize("failure", FAILURES)
def test_what_fails_below_is_one_line_without_warnings_before_it(failure, team):
    code = (
        "import logging, warnings, tricover.network\nfrom tricover.errors import InputError\n"
        "def fail(*args):\n    warnings.warn('overflow')\n    logging.getLogger('x').warning('font')\n"
        f"    raise {failure}\n"
        f"tricover.network.build_network = fail\n{CALL}"
    )
    done = call(code, "network", str(team))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].endswith(FAILURES[failure])
    assert [line[:9] for line in done.stderr.splitlines()] == ["tricover:"]


def test_what_a_stream_cannot_encode_leaves_a_document_whole(tmp_path):
    (tmp_path / "mine.toml").write_text(
        'name = "é²η🚁"\n[formation]\ngenerator = "square"\nagents = 9\nsize = 4\n[targets]\npositions = [[1, 1]]\n'
    )
    for words in (["run", "mine.toml", "-q"], ["certify", "mine.toml"]):
        settings = {"env": {**os.environ, "PYTHONIOENCODING": "latin-1"}, "encoding": "latin-1", "cwd": tmp_path}
        command = [sys.executable, "-c", CALL, *words, "--json"]
        done = subprocess.run(command, capture_output=True, check=False, **settings)
        assert "é²η🚁" in str(json.loads(done.stdout))


def test_warnings_are_there_for_those_who_ask(team):
    warn = "import warnings, tricover.network\ntricover.network.build_network = lambda *args: warnings.warn('overflow')"
    code = f"{warn}\n{CALL}"
    command = [sys.executable, "-W", "default", "-c", code, "network", str(team)]
    assert "overflow" in subprocess.run(command, capture_output=True, text=True, check=False).stderr


def test_an_error_in_our_code_is_not_hidden(team):
    code = f"import tricover.network\ntricover.network.build_network = lambda *args: 1 / 0\n{CALL}"
    done = call(code, "network", str(team))
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
