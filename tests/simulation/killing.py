"""Runs that are killed, again and again, until they have come to their end: every file is then as if nothing happened.

    python -m tests.simulation.killing --kills 500 --seed 0

The parent never touches the stores: it loads and compiles what a run needs, then forks, so that a child is at work at
once.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import zarr  # noqa: F401

import tricover as tc
from tests.simulation.stores import files
from tests.simulation.teams import eventful
from tricover.simulation.record import ARRAYS


def forked(scenario, store):
    """The process that runs a scenario, or goes on with it."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            tc.simulate(scenario, store, resume=True, flush=0.0)
            status = 0
        finally:
            os._exit(status)
    return pid


def run_apart(scenario, store):
    """A whole run in a process of its own, after everything was loaded and compiled here."""
    run = tc.simulate(scenario)
    for name in ARRAYS:
        run.read(name)
    _, status = os.waitpid(forked(scenario, store), 0)
    assert os.waitstatus_to_exitcode(status) == 0
    return files(store)


def steps_kept(store):
    text = store / "zarr.json"
    return json.loads(text.read_text())["attributes"]["marker"]["step"] if text.exists() else None


def killed_until_done(scenario, store, rng, kills):
    """How many children were killed, and after which numbers of kept steps."""
    killed, at, longest = 0, set(), 0.2
    while True:
        pid = forked(scenario, store)
        if killed < kills:
            time.sleep(rng.uniform(0.0, longest))
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0
            return killed, at
        killed += 1
        kept = steps_kept(store)
        longest *= 1.3 if kept in at else 1.0  # a busy machine gets nowhere in that time
        at.add(kept)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    scenario, kills, moments, runs = eventful(steps=250), 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        whole = run_apart(scenario, Path(folder) / "whole.zarr")
        assert Path("resume/memory/place/c/0/0/0") in whole, "nobody remembers anything"
        while kills < given.kills:
            store = Path(folder) / f"{runs}.zarr"
            killed, at = killed_until_done(scenario, store, rng, min(20, given.kills - kills))
            kills, moments, runs = kills + killed, moments + len(at), runs + 1
            assert files(store) == whole, f"run {runs} differs after {killed} kills"
            if sys.stderr.isatty():
                sys.stderr.write(f"\r{kills} kills")
    sys.stdout.write(f"{kills} kills of {runs} runs at {moments} moments: 0 bytes differ\n")


if __name__ == "__main__":
    main()
