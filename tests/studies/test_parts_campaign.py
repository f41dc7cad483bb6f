"""Runs in parts of all kinds of teams; and processes that are killed in their midst: a worker, the scheduler, all.

Everything waits for facts: pieces of work that are reported or written, processes that are gone. Nothing is timed.
"""

import os
import signal
import subprocess
import sys
from contextlib import ExitStack

import numpy as np
import psutil
import pytest

import tricover as tc
from tests.studies.test_kills_campaign import alive, scheduler, wait_for, worker
from tests.studies.test_parts import QUICK, SLOWER, differences, in_parts, scenario, split_and_run
from tricover.errors import ClusterError
from tricover.simulation import Scenario
from tricover.studies import certify_parts, coverage_of_parts, separation_of_parts
from tricover.studies.cluster import connected, own_cluster

PROGRAM = "from tricover.cli.main import command; command()"


def given(**more):
    return scenario(agents=400, vehicle="anywhere", steps=20, **more)


@pytest.mark.parametrize("changes", [*QUICK, *SLOWER], ids=str)
def test_in_parts_as_in_one_piece(tmp_path, changes):
    asked = scenario(**changes)
    assert differences(tc.simulate(asked), in_parts(asked, tmp_path, 40)) == []


@pytest.mark.parametrize("mentee", ["fermat", "balanced"])
@pytest.mark.parametrize("large", [1, 9, 60])
def test_large_cells_are_split(tmp_path, monkeypatch, mentee, large):
    split_and_run(tmp_path, monkeypatch, mentee, large, even=150, crowded=90, most=40)


def test_on_workers_as_here(tmp_path, client):
    for number, changes in enumerate(({}, {"control": {"motion": "walk", "resolution": 5}})):
        asked = given(**changes)
        run = tc.simulate_parts(asked, tmp_path / str(number), client, agents_per_part=30)
        assert differences(tc.simulate(asked), run) == []
        assert separation_of_parts(run, client).agents == run.separation.agents
        assert np.isclose(coverage_of_parts(run, client).cost, tc.coverage_cost(run.positions[-1], run.targets))
        assert certify_parts(run, client).holds == certify_parts(run).holds


def test_workers_are_killed(tmp_path):
    """One after another, whenever so many pieces are done; others do their work again."""
    asked, killed = given(), []

    def report(now):
        if now.work.startswith("steps") and now.done in (2, 5) and len(killed) < 3:
            pid = sorted(client.run(os.getpid).values())[0]
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    with own_cluster(2) as client:
        run = tc.simulate_parts(asked, tmp_path / "run", client, agents_per_part=30, progress=report)
        assert len(killed) >= 2
    assert differences(tc.simulate(asked), run) == []


def test_the_scheduler_is_killed(tmp_path):
    """It is one clear error; with another scheduler the same call goes on."""
    asked = given()
    with ExitStack() as first, scheduler(tmp_path, "one") as (process, address), connected(address) as client:
        first.enter_context(worker(address))

        def report(now):
            if now.work.startswith("steps") and now.done == 3:
                process.kill()
                process.wait()

        with pytest.raises(ClusterError, match="the same call goes on where this one was"):
            tc.simulate_parts(asked, tmp_path / "run", client, agents_per_part=30, progress=report)
    done = {path: path.stat().st_mtime_ns for path in (tmp_path / "run").glob("*s/*/[!.]*/zarr.json")}
    assert done
    run = tc.simulate_parts(asked, tmp_path / "run", agents_per_part=30)
    assert differences(tc.simulate(asked), run) == []
    assert {path: path.stat().st_mtime_ns for path in done} == done


@pytest.mark.parametrize("pieces", [3, 9, 20])
def test_everything_is_killed(tmp_path, pieces):
    """With all its workers, when so many pieces are written; the same command goes on with what is missing."""
    asked = given()
    Scenario.save(asked, tmp_path / "team.toml")
    command = [sys.executable, "-c", PROGRAM, "run", str(tmp_path / "team.toml"), "-o", str(tmp_path / "run")]
    command += ["--in-parts", "--agents-per-part", "30", "--workers", "2", "--quiet"]

    def written():
        return {path: path.stat().st_mtime_ns for path in (tmp_path / "run").glob("*s/*/[!.]*/zarr.json")}

    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        wait_for(lambda: len(written()) >= pieces or running.poll() is not None)
        helpers = psutil.Process(running.pid).children(recursive=True) if running.poll() is None else []
        running.kill()
    wait_for(lambda: not alive(helpers))
    done = written()
    assert len(done) >= pieces
    again = subprocess.run(command, capture_output=True, text=True)
    run = tc.Run.open(tmp_path / "run")
    assert again.returncode == (0 if run.converged else 1), again.stderr
    assert differences(tc.simulate(asked), run) == []
    assert {path: path.stat().st_mtime_ns for path in done} == done
