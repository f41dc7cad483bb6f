"""Ports of this machine that nobody has."""

import socket


def free_port(protocol="tcp"):
    """One on the loopback, of TCP, or of UDP, which QUIC goes over."""
    kind = socket.SOCK_DGRAM if protocol in ("udp", "quic") else socket.SOCK_STREAM
    with socket.socket(type=kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
