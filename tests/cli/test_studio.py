"""``tricover studio`` as a process: one line with its address, one line for what is wrong, and an end by Ctrl-C."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from tests.cli.test_process import CALL, call
from tests.studio.teams import team

import tricover as tc


@contextmanager
def running(folder, *arguments):
    """A studio as a process, and the first line that it prints."""
    command = [sys.executable, "-c", CALL, "studio", "--no-browser", *map(str, arguments)]
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()


def status(address):
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    try:
        connection.request("GET", parts.path)
        return connection.getresponse().status
    finally:
        connection.close()


def test_it_prints_its_address_serves_and_ends_by_ctrl_c(tmp_path):
    team().save(tmp_path / "mine.toml")
    with running(tmp_path, "mine.toml", "--port", 0, "--quiet") as (process, address):
        assert address.startswith("http://127.0.0.1:")
        assert status(address) == 200
        assert status(address.rsplit("/", 2)[0] + "/") == 403
    assert process.returncode == 0
    assert process.stdout.closed


def test_a_studio_that_is_restarted_has_the_same_address(tmp_path):
    tc.simulate(team(), tmp_path / "run.zarr")
    with running(tmp_path, "run.zarr", "--port", 0, "--json") as (_, line):
        first = json.loads(line)["address"]
    port = urlsplit(first).port
    with running(tmp_path, "run.zarr", "--port", port, "--quiet") as (_, again):
        assert again == first
    token = tmp_path / "state" / "tricover" / "studio-token"
    assert token.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no.toml"], "no.toml"),
        (["nowhere"], "neither a scenario"),
        (["--port", "70000"], "65535"),
        (["--host", "192.0.2.1"], "cannot listen on 192.0.2.1"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    done = call(CALL, "studio", "--no-browser", *arguments)
    assert done.returncode == 2
    assert said in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = call(CALL, "studio", "--no-browser", "--port", port)
    assert done.returncode == 2
    assert port in done.stderr
    assert "--port" in done.stderr
