"""Processes that are killed in the middle of a study: of a worker, of the scheduler, of the whole. Nothing is lost.

Everything waits for facts: files that measures write, lines of the journal, processes that are gone. Nothing is timed.
"""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress

import psutil
import pytest

import tricover as tc
from tests.studies.gated import called
from tests.studies.small import scenario, values
from tricover.errors import ClusterError
from tricover.studies import Study, cluster, read_table, sweep
from tricover.studies.cluster import connected, rows_on_workers
from tricover.studies.journal import journal_of
from tricover.studies.rows import Job

SEEDS = 12
COMMAND = [sys.executable, "-c", "from tricover.cli.main import command; command()"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Where measures write down what they do; no process of the test's is left."""
    place = tmp_path / "facts"
    place.mkdir()
    monkeypatch.setenv("TRICOVER_TEST_FOLDER", str(place))
    monkeypatch.chdir(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    before = set(psutil.Process().children(recursive=True))
    yield place
    (place / "go").touch()
    wait_for(lambda: not left_of(set(psutil.Process().children(recursive=True)) - before))


def left_of(children):
    """Those that are alive; Python's own helpers stay until the end, but not what they have forked."""
    return [child for child in alive(children) if not _is_pythons_own(child)]


def _is_pythons_own(child):
    words = " ".join(child.cmdline())
    return child.ppid() == os.getpid() and ("resource_tracker" in words or "forkserver" in words)


def alive(processes):
    found = []
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            if process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def wait_for(fact):
    while not (found := fact()):
        time.sleep(0.02)
    return found


def expected():
    found = []
    for seed in range(SEEDS):
        run = tc.simulate(scenario(seed=seed))
        found.append({"seed": seed, "sum": float(run.positions.sum()), "error": None})
    return found


def study(tmp_path, measure):
    path = tmp_path / "study.toml"
    Study(scenario=scenario(), seeds=SEEDS, measures=[f"tests.studies.gated:{measure}"]).save(path)
    return path


def kept(table):
    """The rows of the journal, by number."""
    file = journal_of(table) / "rows.txt"
    lines = file.read_text().split("\n")[1:-1] if file.exists() else []
    return [row[0] for line in lines for row in json.loads(line.partition(" ")[2])]


def test_a_worker_is_killed(tmp_path):
    table = sweep(scenario(), {"seed": range(SEEDS)}, "tests.studies.gated:dies_once", workers=2)
    assert called(5) == 2
    assert values(table) == expected()


def test_a_run_that_kills_its_workers_is_a_row_with_an_error():
    table = sweep(scenario(), {"seed": range(SEEDS)}, "tests.studies.gated:dies_always", workers=2)
    assert "KilledWorker" in table["error"][5]
    assert values(table.drop(index=5)) == [row for row in expected() if row["seed"] != 5]


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_the_whole_is_killed_and_started_again(tmp_path, folder, sign):
    """Workers end by themselves; what was in the journal is not done again."""
    table, file = tmp_path / "table.parquet", study(tmp_path, "waits")
    command = [*COMMAND, "sweep", str(file), "-o", str(table), "--workers", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        wait_for(lambda: len(kept(table)) >= 2)
        workers = psutil.Process(running.pid).children(recursive=True)
        assert len(workers) >= 2
        running.send_signal(sign)
        if sign == signal.SIGINT:
            (folder / "go").touch()
        _, said = running.communicate()
    wait_for(lambda: not alive(workers))
    before = kept(table)
    assert 2 <= len(before) < SEEDS
    if sign == signal.SIGINT:
        assert running.returncode == 130, said
        assert "Interrupted" in said
        assert "Traceback" not in said
        assert sorted(read_table(table)["seed"]) == sorted(before)
    (folder / "go").touch()
    counts = {seed: called(seed) for seed in before}
    again = subprocess.run(command, capture_output=True, text=True)
    assert (again.returncode, again.stderr.splitlines()[-1]) == (0, f"Wrote {table}"), again.stderr
    assert values(read_table(table)) == expected()
    assert sorted(kept(table)) == list(range(SEEDS))
    assert {seed: called(seed) for seed in before} == counts


@contextmanager
def dask_process(*words):
    code = f"from distributed.cli.{words[0]} import main; main()"
    command = [sys.executable, "-c", code, *map(str, words[1:])]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        for child in alive([psutil.Process(process.pid)] if process.poll() is None else []):
            for each in [*child.children(recursive=True), child]:
                with suppress(psutil.NoSuchProcess):
                    each.kill()
        process.wait()


@contextmanager
def scheduler(folder, name, port=0):
    """A scheduler of its own, and its address."""
    file = folder / f"{name}.json"
    words = ("dask_scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard", "--scheduler-file", file)
    with dask_process(*words, "--dashboard-address", "127.0.0.1:0") as process:
        wait_for(file.exists)

        def address():
            with suppress(ValueError):
                return json.loads(file.read_text())["address"]

        yield process, wait_for(address)


def worker(address):
    return dask_process(
        "dask_worker", address, "--nthreads", 1, "--nworkers", 1, "--host", "127.0.0.1", "--no-dashboard"
    )


def test_the_scheduler_is_killed_and_comes_back(tmp_path, folder):
    """The study that is under way goes on, and nothing that it has is done again."""
    table, file = tmp_path / "table.parquet", study(tmp_path, "waits")
    with ExitStack() as first, scheduler(tmp_path, "one") as (process, address):
        first.enter_context(worker(address))
        command = [*COMMAND, "sweep", str(file), "-o", str(table), "--scheduler", address]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
            wait_for(lambda: len(kept(table)) >= 2 and called(4))
            process.kill()
            process.wait()
            first.close()
            before = kept(table)
            counts = {seed: called(seed) for seed in before}
            (folder / "go").touch()
            with scheduler(tmp_path, "two", address.rpartition(":")[2]), worker(address):
                _, said = running.communicate()
    assert running.returncode == 0, said
    assert values(read_table(table)) == expected()
    assert sorted(kept(table)) == list(range(SEEDS))
    assert {seed: called(seed) for seed in before} == counts


def test_the_scheduler_is_killed_and_does_not_come_back(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 1.0)
    with ExitStack() as first, scheduler(tmp_path, "one") as (process, address), connected(address) as client:
        first.enter_context(worker(address))
        asked = Study(scenario=scenario(), seeds=SEEDS, measures=["tests.studies.gated:waits"])
        rows = rows_on_workers(client, Job(asked.scenario, asked.design, asked.columns), range(SEEDS), patience=0.0)
        assert len(next(rows)) == 1
        process.kill()
        process.wait()
        with pytest.raises(ClusterError, match=r"the scheduler is gone, with .* runs to do"):
            list(rows)
