"""The router: passes on what the members of a fleet say, and tells how much it denies.

Zenoh's router lets nobody in who has no certificate of the fleet's authority, and denies what ``links`` does not allow.
It says so nowhere but in its log: a line for each connection that was refused, and one for each message that was
denied. So the router reads its own log through a pipe, counts, and tells the numbers, signed, to whoever records.
Nothing is logged of what is allowed, which is nearly all.

A connection that breaks off before it was refused is not counted: those of agents that are killed do so, too.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

from tricover.fleet.keys import Keys
from tricover.fleet.messages import ROUTER, Denied
from tricover.fleet.radio import NO_MISSION, Radio
from tricover.fleet.zenoh_bus import ZenohBus

__all__ = ["Log", "route"]

TELLS = 1.0
"""Seconds after which it tells again how much it has denied: who records may begin later, or miss a message."""

_INTERCEPTORS = "zenoh::net::routing::interceptor"
_RULES = ("access_control", "authorization", "downsampling", "low_pass", "qos_overwrite")
_FILTER = ",".join(
    [
        "off",
        "zenoh_link_tls=warn",
        "zenoh_link_commons=warn",
        f"{_INTERCEPTORS}=trace",  # it says only that something was denied; the rules below it say why, and much else
        *(f"{_INTERCEPTORS}::{rule}=off" for rule in _RULES),
    ]
)
"""What Zenoh logs, in the words of its variable RUST_LOG."""
_AT_ONCE = 1 << 16  # bytes


class Log:
    """Counts what lines of Zenoh's log tell; see ``_FILTER``.

    >>> log = Log()
    >>> log.add(b"TRACE rx-1 ThreadId(10) zenoh::net::routing::interceptor: Msg inter")
    >>> log.add(b"cepted!\\nWARN acc-0 ThreadId(6) zenoh_link_tls::unicast: peer sent no certificates. Hint: ...\\n")
    >>> log.denied
    Denied(messages=1, connections=1)
    """

    def __init__(self) -> None:
        self.denied = Denied(0, 0)
        self._rest = b""

    def add(self, data: bytes) -> None:
        """More of the log; lines may be cut anywhere."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        messages = sum(b"Msg intercepted" in line for line in lines)
        connections = sum(map(_refuses, lines))
        self.denied = Denied(self.denied.messages + messages, self.denied.connections + connections)


def _refuses(line: bytes) -> bool:
    """Whether a line tells of a connection that was refused, and not of one that broke off."""
    if b"zenoh_link_tls::unicast" in line:
        return b"Hint:" in line and b"handshake eof" not in line and b"os error" not in line
    return b"QUIC acceptor failed" in line and b"Code::crypto(" in line  # an alert of TLS


@contextmanager
def _log_of_zenoh() -> Iterator[Log]:
    """Read what this process's Zenoh logs. It logs to the standard output, which has to lead here meanwhile."""
    import zenoh

    sys.stdout.flush()
    kept = os.dup(1)
    reading, writing = os.pipe()
    os.dup2(writing, 1)
    os.close(writing)
    os.environ |= {"RUST_LOG": _FILTER, "NO_COLOR": "1"}
    zenoh.try_init_log_from_env()  # type: ignore[no-untyped-call]
    log = Log()
    reader = Thread(target=_read, args=(reading, log), daemon=True)
    reader.start()
    try:
        yield log
    finally:
        os.dup2(kept, 1)  # the last end for writing is closed: the reader comes to the end
        os.close(kept)
        reader.join()
        os.close(reading)


def _read(reading: int, log: Log) -> None:
    while data := os.read(reading, _AT_ONCE):
        log.add(data)


async def route(config: Any, keys: Keys | None, stopped: asyncio.Event) -> None:
    """Be the router that a configuration from ``links`` describes, until it is stopped; without keys nobody is denied.

    The whole process has to be its own, as its standard output is, too.
    """
    import zenoh

    with contextlib.nullcontext() if keys is None else _log_of_zenoh() as log:
        session: Any = zenoh.open(config)
        radio = None
        if keys is not None:
            radio = Radio(ZenohBus(session, asyncio.get_running_loop()), keys, NO_MISSION, 0, ROUTER)
        while not stopped.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TELLS):
                    await stopped.wait()
            if radio is not None and log is not None and any((log.denied.messages, log.denied.connections)):
                radio.say(0, log.denied)
        session.close()
