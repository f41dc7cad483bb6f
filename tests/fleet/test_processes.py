"""Processes that are forked from a warm one: they begin, end, are killed, and never outlive the program."""

import os
import signal
import subprocess
import sys
import time
from contextlib import closing

import pytest

from tests.fleet.plays import Codes
from tricover.errors import InputError, TricoverError
from tricover.fleet.processes import Nursery

LONG = 60.0  # seconds


def until(fact, what):
    end = time.monotonic() + LONG
    while not fact():
        assert time.monotonic() < end, f"waited for {what}"
        time.sleep(0.01)


def runs(pid):
    """Whether a process runs, or is frozen; one that has ended and was not collected does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def test_processes_end_with_their_codes():
    with closing(Nursery(Codes())) as nursery:
        assert runs(nursery.told), "warm was played in a process of its own"
        assert nursery.told != os.getpid()
        for name in ("0", "7", "error"):
            nursery.start(name)
        nursery.start("noted", 5)
        assert nursery.wait(LONG)
        assert nursery.ended == {"0": 0, "7": 7, "error": 1, "noted": 5}
        assert not nursery.pids


def test_a_killed_process_is_reported_once_and_can_begin_again():
    with closing(Nursery(Codes())) as nursery:
        first = nursery.start("wait")
        nursery.signal("wait", signal.SIGKILL)
        assert nursery.wait(LONG)
        assert nursery.ended == {"wait": -signal.SIGKILL}
        assert nursery.poll() == {}
        assert nursery.start("wait") != first
        assert not nursery.ended
        assert list(nursery.pids) == ["wait"]


def test_to_signal_who_has_ended_changes_nothing():
    with closing(Nursery(Codes())) as nursery:
        nursery.start("0")
        assert nursery.wait(LONG)
        nursery.signal("0", signal.SIGKILL)
        assert nursery.ended == {"0": 0}


def test_close_ends_all_frozen_ones_too():
    nursery = Nursery(Codes())
    pids = [nursery.start(name) for name in ("wait", "sleep")]
    os.kill(pids[1], signal.SIGSTOP)
    nursery.close()
    assert not any(map(runs, [*pids, nursery.told]))


PROGRAM = """
import sys
from tests.fleet.plays import Codes
from tricover.fleet.processes import Nursery
nursery = Nursery(Codes())
print(nursery.told, nursery.start("wait"), flush=True)
sys.stdin.read()
"""


def test_nothing_outlives_a_program_that_is_killed():
    command = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        pids = [int(pid) for pid in program.stdout.readline().split()]
        assert all(map(runs, pids))
        program.kill()
    until(lambda: not any(map(runs, pids)), "processes to end with their program")


def test_what_goes_wrong_while_it_warms_up_is_one_error():
    with pytest.raises(InputError, match="no such team"):
        Nursery(Codes("no such team"))


class Local(Codes):
    """A play that another process cannot import, as this class is changed below."""


def test_a_rule_that_other_processes_cannot_find_is_named():
    play = Codes()
    play.rule = lambda: None
    with pytest.raises(InputError, match="module:function"):
        Nursery(play)
    Local.__module__ = "nowhere_to_be_found"
    try:
        with pytest.raises(InputError, match="module:function"):
            Nursery(Local())
    finally:
        Local.__module__ = __name__


def test_a_nursery_that_was_killed_is_one_error():
    nursery = Nursery(Codes())
    os.kill(nursery.told, signal.SIGKILL)
    until(lambda: not runs(nursery.told), "the nursery to end")
    with pytest.raises(TricoverError, match="has ended"):
        nursery.start("0")
    nursery.close()
