"""A studio that listens on a free port, in a thread of this process, and clients that talk to it."""

import asyncio
import http.client
import json
import threading
from contextlib import contextmanager

import uvicorn
from websockets.sync.client import connect

from tricover.studio.messages import MOST_BYTES
from tricover.studio.server import application, listening

TOKEN = "0123456789abcdef0123456789abcdef"


class Served:
    """Where a studio listens."""

    def __init__(self, port, token=TOKEN):
        self.port, self.token = port, token
        self.host = f"127.0.0.1:{port}"
        self.address = f"http://{self.host}/{token}/"

    def get(self, path, **headers):
        """Status, headers and content of a request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def page(self, origin=None, token=None, **more):
        """The live socket of a page."""
        where = f"ws://{self.host}/{self.token if token is None else token}/live"
        return connect(where, origin=origin or f"http://{self.host}", max_size=None, **more)


@contextmanager
def served(session, port=0, token=TOKEN):
    """A studio for a session, until the block ends."""
    opened = listening("127.0.0.1", port)
    found = opened.getsockname()[1]
    app = application(session, token, [f"127.0.0.1:{found}", f"localhost:{found}"])
    config = uvicorn.Config(app, log_level="critical", ws="websockets-sansio", ws_max_size=MOST_BYTES, lifespan="on")
    server = uvicorn.Server(config)
    opened.listen(128)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[opened])), daemon=True)
    thread.start()
    try:
        yield Served(found, token)
    finally:
        server.should_exit = True
        thread.join()
        opened.close()


def hear(page, kind):
    """The next JSON message of a kind; others are passed over."""
    while True:
        message = page.recv(timeout=60)
        if isinstance(message, str) and json.loads(message)["is"] == kind:
            return json.loads(message)


def say(page, what, /, **words):
    page.send(json.dumps({"do": what, **words}))


def lives(studio):
    """Whether it still answers a page."""
    with studio.page() as page:
        return hear(page, "state")["variants"][0]["agents"] >= 10
