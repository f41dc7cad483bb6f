import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from tricover.cli.main import app

CHECK = ["aoc", "--vehicle", "unicycle", "--starts", "20"]


def run(*arguments):
    return CliRunner().invoke(app, [*CHECK, *arguments])


def test_exit_code_is_the_answer():
    yes = run("--size", "0.5", "--duration", "3")
    assert yes.exit_code == 0
    assert "100%" in yes.output
    no = run("--size", "0.5", "--size", "9", "--duration", "3", "--quiet")
    assert no.exit_code == 1
    assert no.output == ""


def test_json_and_settings():
    result = run("--size", "0.5", "--duration", "3", "--set", "max_speed=2.5", "--json")
    report = json.loads(result.output)
    assert report["vehicle"] == {"kind": "unicycle", "max_speed": 2.5, "max_turn_rate": 2.0}
    assert report["holds"] is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--vehicle", "unicicle", "--size", "1", "--duration", "1"], "did you mean 'unicycle'?"),
        (["--size", "1", "--duration", "1", "--set", "max_speed"], "--set takes name=value, not 'max_speed'"),
        (["--size", "1", "--duration", "1", "--set", "max_speed=fast"], "max_speed must be a positive number of m/s"),
        (["--size", "-1", "--duration", "1"], "sizes must be positive numbers of metres"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, message):
    command = [sys.executable, "-c", "from tricover.cli.main import command; command()", *CHECK, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_help_has_an_example_and_loads_no_heavy_library():
    script = (
        "import sys\nfrom typer.testing import CliRunner\nfrom tricover.cli.main import app\n"
        "print(CliRunner().invoke(app, ['aoc', '--help']).output)\n"
        "print(sorted({'numba', 'scipy', 'matplotlib', 'numpy'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "tricover aoc --vehicle quadrotor" in result.stdout
    assert result.stdout.endswith("[]\n")
