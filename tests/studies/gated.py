"""Measures that write down when they are called, wait for others, and die, as the environment tells them."""

import os
import signal
import time
from pathlib import Path


def folder():
    return Path(os.environ["TRICOVER_TEST_FOLDER"])


def called(seed):
    """How often the measure was called for a seed."""
    return len(list(folder().glob(f"called-{seed}-*")))


def write_down(run):
    seed = run.scenario.seed
    number = called(seed) + 1
    (folder() / f"called-{seed}-{number}-{os.getpid()}").touch()
    return seed, number


def waits(run):
    """From seed 4 on nobody goes on before there is a file ``go``."""
    seed, _ = write_down(run)
    while seed >= 4 and not (folder() / "go").exists():
        time.sleep(0.01)
    return {"sum": float(run.positions.sum())}


def dies_once(run):
    """The first worker that has seed 5 is killed."""
    seed, number = write_down(run)
    if seed == 5 and number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"sum": float(run.positions.sum())}


def dies_always(run):
    """Whoever has seed 5 is killed."""
    seed, _ = write_down(run)
    if seed == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"sum": float(run.positions.sum())}
