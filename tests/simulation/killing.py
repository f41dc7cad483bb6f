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
    tc.simulate(scenario)
    rng = np.random.default_rng(int(seed))
    killed, at = 0, set()
    while True:
        pid = os.fork()
        if pid == 0:
            child(scenario, store)
        if killed < int(kills):
            time.sleep(rng.uniform(0.0, 0.2))
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if os.WIFEXITED(status):
            sys.stdout.write(f"{killed} {len(at)}\n")
            sys.exit(os.WEXITSTATUS(status))
        killed += 1
        at.add(steps_kept(Path(store)))


if __name__ == "__main__":
    main(*sys.argv[1:])
