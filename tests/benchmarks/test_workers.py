"""Workers: functions of a module in a process of its own."""

import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.workers import WorkerError, files, worker

MODULE = """
import os
import numpy as np

print("a chatty library")

def total(array):
    return float(np.load(array).sum())

def hold(megabytes):
    return len(np.ones(megabytes << 17))

def fail():
    raise ValueError("no such luck")

def die():
    os._exit(3)
"""


@pytest.fixture
def here(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(MODULE)
    with worker(str(path), Path(sys.executable)) as process:
        yield process


def test_arrays_go_there_and_numbers_come_back(here):
    with files(array=np.arange(10.0)) as paths:
        assert here.total(**paths) == 45
    assert not Path(paths["array"]).exists()


def test_memory_is_counted_beyond_the_imports(here):
    here.hold(megabytes=1)
    before = here.memory
    here.hold(megabytes=64)
    assert 60 << 20 < here.memory - before < 80 << 20
    assert here.peak > here.memory


def test_errors_come_back_and_the_worker_goes_on(here):
    with pytest.raises(WorkerError, match="no such luck"):
        here.fail()
    assert here.hold(megabytes=1) == 1 << 17


def test_a_worker_that_dies_is_named(here):
    with pytest.raises(WorkerError, match=r"module\.py ended with code 3 when asked for die"):
        here.die()


def test_without_the_peers_there_is_a_remedy(tmp_path):
    with pytest.raises(WorkerError, match=r"make \.venv-peers"), worker("peers/points.py", tmp_path / "python"):
        pass
