"""The router of a fleet on several machines, as a process: how many threads it has, and how it ends."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from tricover.fleet.ground import MOST_THREADS, _threads_for

AGENTS = 40
ROUTES = "import sys; from tricover.fleet.ground import route_until_stopped as route; route([sys.argv[1]], None, {})"


@pytest.fixture
def port():
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def router(port):
    environment = {name: value for name, value in os.environ.items() if name != "ZENOH_RUNTIME"}
    words = [sys.executable, "-c", ROUTES.format(AGENTS), f"tcp/127.0.0.1:{port}"]
    with subprocess.Popen(words, env=environment) as process:
        try:
            _wait_for(port, process)
            yield process
        finally:
            process.kill()


def _wait_for(port, process):
    latest = time.monotonic() + 60
    while time.monotonic() < latest and process.poll() is None:
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("the router does not listen")


def test_it_has_a_thread_for_every_connection_that_may_break_at_once(router):
    threads = list(Path(f"/proc/{router.pid}/task").iterdir())
    assert len(threads) > AGENTS, "of one kind; others begin with the first connection"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_in_order_when_it_is_told_to(router, number):
    router.send_signal(number)
    assert router.wait(60) == 0


def test_threads_are_bounded():
    assert _threads_for(10**6).count(f"worker_threads: {MOST_THREADS})") == 3
