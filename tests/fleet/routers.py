"""Routers of fleets as processes of their own."""

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import closing, contextmanager

ROUTES = (
    "import json, sys; from tricover.fleet.ground import route_until_stopped as route; route(*json.loads(sys.argv[1]))"
)
LONG = 60.0  # s: on a machine that is busy


@contextmanager
def routing(endpoints, keys, agents):
    """The process of a router; those of its endpoints that are of TCP or TLS listen."""
    environment = {name: value for name, value in os.environ.items() if name != "ZENOH_RUNTIME"}
    what = json.dumps([endpoints, None if keys is None else str(keys), agents])
    with subprocess.Popen([sys.executable, "-c", ROUTES, what], env=environment) as process:
        try:
            for endpoint in endpoints:
                if endpoint.startswith(("tcp", "tls")):
                    _wait_for(int(endpoint.rpartition(":")[2]), process)
            yield process
        finally:
            process.kill()


def _wait_for(port, process):
    latest = time.monotonic() + LONG
    while time.monotonic() < latest and process.poll() is None:
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("the router does not listen")
