"""Run a scenario in a child process and kill it, again and again, until it has come to its end.

    python killing.py scenario.toml store seed kills

Says how many children were killed, and after how many different numbers of kept steps. The parent never touches the
store: it loads and compiles what a run needs, then forks, so that a child is at work at once.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import zarr  # noqa: F401

import tricover as tc
from tricover.simulation.record import ARRAYS


def child(scenario, store):
    status = 1
    try:
        tc.simulate(scenario, store, resume=True, flush=0.0)
        status = 0
    finally:
        os._exit(status)


def steps_kept(store):
    text = store / "zarr.json"
    return json.loads(text.read_text())["attributes"]["marker"]["step"] if text.exists() else None


def main(path, store, seed, kills):
    scenario = tc.Scenario.load(path)
    run = tc.simulate(scenario)
    for name in ARRAYS:
        run.read(name)
    rng = np.random.default_rng(int(seed))
    killed, at, longest = 0, set(), 0.2
    while True:
        pid = os.fork()
        if pid == 0:
            child(scenario, store)
        if killed < int(kills):
            time.sleep(rng.uniform(0.0, longest))
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if os.WIFEXITED(status):
            sys.stdout.write(f"{killed} {len(at)}\n")
            sys.exit(os.WEXITSTATUS(status))
        killed += 1
        kept = steps_kept(Path(store))
        longest *= 1.3 if kept in at else 1.0  # a busy machine gets nowhere in that time
        at.add(kept)


if __name__ == "__main__":
    main(*sys.argv[1:])
