"""Several processes that write to one place at the same moment: one wins, the others say so, and the store is whole.

    python -m tests.simulation.racing --races 100

In every other race the place holds a run that was killed, and all of them resume it.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import tricover as tc
from tests.simulation.killing import forked, run_apart, steps_kept
from tests.simulation.stores import files
from tests.simulation.teams import eventful
from tricover.errors import StoreError

WRITERS = 3
WON, LOST, FAILED = 0, 3, 1


def writer(scenario, store, resume, gate):
    """Wait for the gate to open, then run; the exit status says how it went."""
    status = FAILED
    try:
        os.read(gate, 1)
        tc.simulate(scenario, store, resume=resume, flush=0.0)
        status = WON
    except StoreError as error:
        known = ("is being written by another process", "exists: choose another place")
        status = LOST if any(words in str(error) for words in known) else FAILED
        if status == FAILED:
            sys.stderr.write(f"{error}\n")
    finally:
        os._exit(status)


def race(scenario, store, resume):
    """Exit statuses of writers that start together."""
    opened, gate = os.pipe()
    pids = []
    for _ in range(WRITERS):
        pid = os.fork()
        if pid == 0:
            os.close(gate)
            writer(scenario, store, resume, opened)
        pids.append(pid)
    os.close(opened)
    os.close(gate)  # now everybody reads the end of the pipe
    return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]


def begun(scenario, store):
    """A run that is killed once it has kept something."""
    pid = forked(scenario, store)
    while not steps_kept(store):
        time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--races", type=int, default=100)
    given = parser.parse_args()
    scenario, lost = eventful(steps=60), 0
    with tempfile.TemporaryDirectory() as folder:
        whole = run_apart(scenario, Path(folder) / "whole.zarr")
        for number in range(given.races):
            store, resume = Path(folder) / "run.zarr", number % 2 == 1
            if resume:
                begun(scenario, store)
            ends = race(scenario, store, resume)
            assert FAILED not in ends, ends
            # Who resumes a run that has just been finished finds it done.
            assert ends.count(WON) == 1 or (resume and WON in ends), ends
            assert files(store) == whole, f"race {number}: the store is not whole"
            assert {each.name for each in Path(folder).iterdir()} == {"whole.zarr", "run.zarr"}
            lost += ends.count(LOST)
            shutil.rmtree(store)
    sys.stdout.write(f"{given.races} races of {WRITERS} writers: {lost} lost and said so, every store whole\n")


if __name__ == "__main__":
    main()
