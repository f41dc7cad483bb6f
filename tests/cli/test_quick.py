"""The command starts and ends quickly, and loses nothing by it."""

import subprocess
import sys

import pytest

CALL = "import sys; sys.argv[0] = 'tricover'; from tricover.cli.main import command; command()"


def call(code, *args, **how):
    return subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=False, **how)


@pytest.mark.parametrize(("args", "expected"), [(["--version"], 0), (["run", "no-such-file.toml"], 2), (["--bad"], 2)])
def test_exit_codes_come_through(args, expected):
    done = call(CALL, *args)
    assert done.returncode == expected
    assert done.stderr.count("\n") == (1 if expected else 0)


def test_everything_is_written_and_what_was_left_for_the_end_is_done():
    code = "import atexit; atexit.register(lambda: print('tidied up'))\n" + CALL
    assert call(code, "--version").stdout.splitlines()[-1] == "tidied up"


def test_nobody_who_reads_on_is_no_fault():
    with subprocess.Popen(
        [sys.executable, "-c", CALL, "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


def test_numba_is_loaded_without_its_settings_and_others_can_read_theirs(tmp_path):
    code = (
        "from tricover.cli.quick import load_numba; load_numba()\n"
        "from numba.core import config; import yaml; print(config._HAVE_YAML, yaml.safe_load('a: 1'))"
    )
    assert call(code, cwd=tmp_path).stdout == "False {'a': 1}\n"
    (tmp_path / ".numba_config.yaml").write_text("opt: 1\n")
    assert call(code, cwd=tmp_path).stdout == "True {'a': 1}\n"
