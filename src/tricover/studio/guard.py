"""The guard before a studio: it lets in whoever has the token, from a page of the studio's own, and nobody else.

The token is the first part of every address, ``http://127.0.0.1:8765/TOKEN/``, so no address works without it. The
``Host`` must be one that the studio listens on, which keeps out names that point here from elsewhere. A request that a
page of another origin made is refused: by its ``Origin``, or by what the browser says of where it comes from. Pages may
load and connect to the studio alone: the content security policy has the browser enforce that.
"""

import secrets
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["POLICY", "Guard"]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_REFUSED = 1008  # of a socket: against the rules


class Guard:
    """An application behind its token, on some hosts (name and port)."""

    def __init__(self, app: ASGIApp, token: str, hosts: Iterable[str]) -> None:
        self.app, self.token, self.hosts = app, token, frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what may come in; refuse the rest."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif self._lets_in(scope):
            inner = {**scope, "root_path": f"/{self.token}"}
            await self.app(inner, receive, _with_headers(send))
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": _REFUSED})
        else:
            refusal = PlainTextResponse("Not here: use the whole address that tricover studio printed.", 403)
            await refusal(scope, receive, _with_headers(send))

    def _lets_in(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        given = scope["path"].split("/")[1].encode()
        knows = secrets.compare_digest(given, self.token.encode())
        own = f"http://{host}"
        same = origin == own if scope["type"] == "websocket" else origin in (None, own)
        near = headers.get("sec-fetch-site", "none") in ("none", "same-origin")
        return knows and host in self.hosts and same and near


def _with_headers(send: Send) -> Send:
    """Every answer says what a browser may do with it."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
        await send(message)

    return sending
