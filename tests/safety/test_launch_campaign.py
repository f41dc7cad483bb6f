"""Pad grids and plans by the hundred; ``python -m tests.safety.launching --seed 1`` tries others."""

import subprocess
import sys
from pathlib import Path


def test_nobody_comes_closer_than_is_guaranteed():
    command = [sys.executable, "-m", "tests.safety.launching", "--teams", "300"]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    said, broken = done.stdout.splitlines()
    assert broken == "0 broken"
    assert "least distances" in said
