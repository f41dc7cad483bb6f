import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(("text", "passes"), [("def test_it(): pass", True), ("import os\nos.abort()", False)])
def test_a_session_whose_workers_die_does_not_succeed(tmp_path, text, passes):
    (tmp_path / "test_it.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-p", "tests.guard", "-n", "2", str(tmp_path)]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == passes, done.stdout
