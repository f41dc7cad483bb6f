"""Starting is quick: heavy libraries stay unloaded until they are needed."""

import subprocess
import sys

import pytest

HEAVY = ("matplotlib", "networkx", "numba", "numpy", "pydantic", "scipy")


@pytest.mark.parametrize(
    "code",
    [
        "import tricover",
        "from tricover.cli.main import app; app(['--help'], standalone_mode=False)",
    ],
    ids=["import", "help"],
)
def test_no_heavy_library_is_loaded(code):
    ask = f"{code}\nimport sys\nprint([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_help_lists_the_commands():
    code = "from tricover.cli.main import command; command()"
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
    assert "network" in done.stdout


def test_matplotlib_waits_for_the_first_figure():
    code = "import sys, tricover.plot; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
