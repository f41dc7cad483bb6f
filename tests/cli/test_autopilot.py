"""``tricover autopilot`` as a process."""

import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest
from pymavlink.dialects.v20 import common

CALL = "import sys; sys.argv[0] = 'tricover'; from tricover.cli.main import command; command()"
LONG = 300.0  # s: on a machine that is busy


@pytest.fixture
def listener():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        one.settimeout(LONG)
        yield one


@contextmanager
def started(*words):
    command = [sys.executable, "-c", CALL, "autopilot", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("firmware", "number", "name"), [("px4", 12, "PX4"), ("ardupilot", 3, "ArduPilot")])
def test_it_speaks_until_it_is_stopped(listener, how, firmware, number, name):
    address = f"udpout:127.0.0.1:{listener.getsockname()[1]}"
    with started("--address", address, "--system", 9, "--home", "7.5,51.5,100", "--as", firmware) as process:
        messages = {}
        while not {"HEARTBEAT", "HOME_POSITION"} <= set(messages):
            [message] = common.MAVLink(None).parse_buffer(listener.recv(2048))
            messages[message.get_type()] = message
        process.send_signal(how)
        out, said = process.communicate(timeout=LONG)
    assert process.returncode == 130
    first, *_ = [line for line in said.splitlines() if not line.startswith("Compiling kernels")]
    assert (out, first) == ("", f"{name} autopilot, system 9, at {address}")
    assert (messages["HEARTBEAT"].get_srcSystem(), messages["HEARTBEAT"].autopilot) == (9, number)
    home = messages["HOME_POSITION"]
    assert (home.longitude, home.latitude, home.altitude) == (75000000, 515000000, 100000)


def test_several_have_their_own_systems_ports_and_homes():
    listeners = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
    try:
        port = two_free_ports(listeners)
        with started("--address", f"udpout:127.0.0.1:{port}", "--count", 2, "--seconds", 0.5, "--quiet") as process:
            out, said = process.communicate(timeout=LONG)
        assert (process.returncode, out, said) == (0, "", "")
        places = {}
        for listener in listeners:
            messages = [common.MAVLink(None).parse_buffer(listener.recv(2048))[0] for _ in range(30)]
            [system] = {one.get_srcSystem() for one in messages}
            places[system] = next(one.lon for one in messages if one.get_type() == "GLOBAL_POSITION_INT")
    finally:
        for listener in listeners:
            listener.close()
    assert set(places) == {1, 2}
    assert places[2] - places[1] == pytest.approx(5 / 0.00754, rel=0.01)  # 5 m east; 1e-7° are 7.54 mm here


def two_free_ports(listeners):
    """Bind two sockets to neighbouring ports; gives the first."""
    for port in range(20_000, 30_000, 2):
        try:
            for place, listener in enumerate(listeners):
                listener.bind(("127.0.0.1", port + place))
                listener.settimeout(LONG)
        except OSError:
            for place in range(2):
                listeners[place].close()
                listeners[place] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            continue
        return port
    raise AssertionError("no two ports are free")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--address", "tcp:127.0.0.1:1"], "give udpout:HOST:PORT or udpin:HOST:PORT"),
        (["--home", "7,51,1,2"], "--home takes 2 or 3 numbers with a comma between, not '7,51,1,2'"),
        (["--system", "200", "--count", "52"], "52 from system 200 on are more than there are"),
        (["--home", "7,x"], "--home takes 2 or 3 numbers"),
        (["--home", "7,99"], "no longitude and latitude"),
        (["--wind", "3"], "--wind takes 2 numbers"),
        (["--speed", "0"], "--speed must be from 0.01 to 100, not 0"),
        (["--airframe", "kite"], "unknown airframe 'kite'"),
        (["--key", "no-such-key"], "the key cannot be read"),
        (["--system", "0"], "--system"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(words, said, complaint):
    assert said in complaint("autopilot", *words)
