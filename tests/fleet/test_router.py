"""The router of a fleet on several machines, as a process: how many threads it has, and how it ends."""

import signal
from pathlib import Path

import pytest

from tests.fleet.routers import routing
from tests.ports import free_port
from tricover.fleet.ground import MOST_THREADS, _threads_for

AGENTS = 40


@pytest.fixture
def router():
    with routing([f"tcp/127.0.0.1:{free_port()}"], None, AGENTS) as process:
        yield process


def test_it_has_a_thread_for_every_connection_that_may_break_at_once(router):
    threads = list(Path(f"/proc/{router.pid}/task").iterdir())
    assert len(threads) > AGENTS, "of one kind; others begin with the first connection"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_in_order_when_it_is_told_to(router, number):
    router.send_signal(number)
    assert router.wait(60) == 0


def test_threads_are_bounded():
    assert _threads_for(10**6).count(f"worker_threads: {MOST_THREADS})") == 3
