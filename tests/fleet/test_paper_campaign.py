"""The paper's 57 agents as 57 processes, over a real router with signed messages: settled, certified, reported."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import tricover as tc
from tricover.report import write_report

PAPER = Path(__file__).parents[2] / "examples" / "paper-57.toml"
LEAN = """
import sys
import numpy as np
import tricover as tc
from tricover.fleet import ground
from tricover.fleet.together import fly_together
draw = np.random.default_rng(1)
fly_together(tc.Scenario(reference=draw.random((8, 2)), targets=draw.random((20, 2)), steps=3, stop_when_settled=False))
print(*[name for name in ("matplotlib", "pandas", "PIL", "tkinter", "starlette") if name in sys.modules])
"""


@pytest.fixture(scope="module")
def flown(tmp_path_factory):
    store = tmp_path_factory.mktemp("paper") / "flown.zarr"
    command = "from tricover.cli.main import command; command()"
    options = ["fleet", str(PAPER), "-o", str(store), "--json"]
    done = subprocess.run([sys.executable, "-c", command, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return store, json.loads(done.stdout)


def test_57_processes_settle_at_the_desired_configuration(flown):
    store, facts = flown
    assert facts["converged"]
    assert facts["alive"] == 57
    assert facts["largest_error"] <= 1e-9
    run = tc.Run.open(store)
    simulated = tc.simulate(tc.Scenario.load(PAPER))
    assert abs(run.positions[-1] - simulated.positions[-1]).max() <= 1e-12 * 120


def test_what_57_processes_flew_is_certified_and_its_report_opens(flown, tmp_path):
    run = tc.Run.open(flown[0])
    assert tc.certify(run).holds
    page = tmp_path / "report.html"
    write_report(run, page)
    assert "</html>" in page.read_text(encoding="utf-8")


def test_an_agent_needs_nothing_that_draws():
    done = subprocess.run([sys.executable, "-c", LEAN], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
