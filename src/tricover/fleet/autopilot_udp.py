"""Our autopilots on the network: UDP sockets, and the time of day.

An address "udpout:HOST:PORT" sends there from the start, as PX4's simulator does to 14540 for programs and to 14550 for
QGroundControl. "udpin:HOST:PORT" waits until somebody speaks, and then sends to all who did. A station hears all its
addresses, and sends everything to all of them.

Whatever arrives, nothing but the autopilot's own commands has an effect: bytes that are no message are left out.
"""

import select
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any

from tricover.errors import InputError
from tricover.fleet.autopilot import COMPONENT, Autopilot
from tricover.fleet.body import TICK, load
from tricover.vehicles.wire import Codec

__all__ = ["Station", "serve", "shifted"]

_LARGEST = 65_535  # bytes of a datagram
_AT_ONCE = 64  # datagrams that are read before time goes on
_MOST_PEERS = 16
_BEHIND = 0.5  # s that are made up for after a pause; more is lost, as when a laptop slept

_EVERY = 10.0  # s between two calls of ``tell``

Peer = tuple[str, int]


class Station:
    """An autopilot with its sockets."""

    def __init__(self, autopilot: Autopilot, addresses: Sequence[str], key: bytes | None = None) -> None:
        self.autopilot = autopilot
        self._codec = Codec(autopilot.system, COMPONENT, key)
        self.sockets: list[socket.socket] = []
        self._peers: dict[socket.socket, list[Peer]] = {}
        try:
            for address in addresses:
                self._open(address)
        except BaseException:
            self.close()
            raise

    @property
    def ports(self) -> list[int]:
        """Our own port of each address."""
        return [one.getsockname()[1] for one in self.sockets]

    def advance(self, seconds: float) -> None:
        """Let time pass, and send what is due."""
        self._send(self.autopilot.advance(seconds))

    def hear(self, one: socket.socket) -> None:
        """Read what has arrived at a socket, and answer."""
        for _ in range(_AT_ONCE):
            try:
                data, peer = one.recvfrom(_LARGEST)
            except (BlockingIOError, ConnectionError):  # nothing more; or nobody listens there, yet
                return
            messages = self._codec.read(data, whole=True)
            peers = self._peers[one]
            if messages and peer not in peers and len(peers) < _MOST_PEERS:
                peers.append(peer)
            for message in messages:
                self._send(self.autopilot.handle(message))

    def close(self) -> None:
        """Close the sockets."""
        for one in self.sockets:
            one.close()

    def _open(self, address: str) -> None:
        way, host, port = _parts(address)
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sockets.append(one)
        one.setblocking(False)
        try:
            where = socket.gethostbyname(host), port
            # Who sends to this machine only is heard from this machine only.
            one.bind(where if way == "udpin" else ("127.0.0.1" if where[0].startswith("127.") else "", 0))
        except OSError as error:
            raise InputError(f"address {address}: {error.strerror or error}") from None
        self._peers[one] = [where] if way == "udpout" else []

    def _send(self, messages: Sequence[Any]) -> None:
        for message in messages:
            data = self._codec.pack(message)
            for one, peers in self._peers.items():
                for peer in peers:
                    with suppress(OSError):  # no route today; the next message may find one
                        one.sendto(data, peer)


def serve(
    stations: Sequence[Station], speed: float, goes_on: Callable[[float], bool], tell: Callable[[], None] | None = None
) -> None:
    """Let stations fly, ``speed`` times as fast as real time, while ``goes_on(seconds since the start)``.

    ``tell`` is called now and then.
    """
    for station in stations:
        load(station.autopilot.flight.vehicle)  # before the clock starts
    where = {one: station for station in stations for one in station.sockets}
    start = before = told = monotonic()
    while goes_on(before - start):
        ready, _, _ = select.select(list(where), [], [], TICK / 2 / speed)
        for one in ready:
            where[one].hear(one)
        now = monotonic()
        for station in stations:
            station.advance(min(now - before, _BEHIND) * speed)
        before = now
        if tell is not None and now - told >= _EVERY:
            told = now
            tell()


def shifted(address: str, ports: int) -> str:
    """The address so many ports further.

    >>> shifted("udpout:127.0.0.1:14540", 2)
    'udpout:127.0.0.1:14542'
    """
    way, host, port = _parts(address)
    return f"{way}:{host}:{port + ports}"


def _parts(address: str) -> tuple[str, str, int]:
    way, _, place = address.partition(":")
    host, _, port = place.rpartition(":")
    if way not in ("udpin", "udpout") or not host or not port.isdecimal() or int(port) > 65_535:
        raise InputError(f"address {address!r}: give udpout:HOST:PORT or udpin:HOST:PORT")
    return way, host, int(port)
