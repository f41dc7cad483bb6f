"""The server of a studio: a Starlette application behind its guard, and ``serve``, which runs it with uvicorn."""

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket, WebSocketDisconnect

from tricover.errors import InputError, TricoverError
from tricover.formats import write_whole
from tricover.report.page import resource
from tricover.studio.guard import Guard
from tricover.studio.hub import Hub, Page
from tricover.studio.messages import MOST_BYTES
from tricover.studio.session import Session
from tricover.studio.takeaway import KINDS, made

if TYPE_CHECKING:
    import uvicorn

    from tricover.studio.watching import Watching

__all__ = ["PORT", "application", "listening", "serve", "served_beside", "token_of"]

PORT = 8765
"""Where a studio listens if nothing else is said, so that a page finds one again that was restarted."""
SHARED = ("cells.js", "colours.css", "ground.js", "marks.js")
"""Files of reports that the page uses too."""
_MEDIA = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_TRY_LATER = 1013  # of a socket: too many pages, or one that does not keep up


def application(session: "Session | Watching", token: str, hosts: list[str]) -> ASGIApp:
    """A studio for a session: its page, its files to take away, and its live socket."""
    hub = Hub(session)

    @asynccontextmanager
    async def living(_: Starlette) -> AsyncIterator[None]:
        yield
        hub.close()

    async def take(request: Request) -> Response:
        return await _take(hub, request.path_params["what"])

    async def live(socket: WebSocket) -> None:
        await _live(hub, socket)

    routes = [
        Route("/", _page),
        Route("/take/{what}", take),
        Route("/{name}", _page),
        WebSocketRoute("/live", live),
    ]
    return Guard(Starlette(routes=routes, lifespan=living), token, hosts)


async def _page(request: Request) -> Response:
    """A file of the page."""
    name = request.path_params.get("name", "index.html")
    media = _MEDIA.get(Path(name).suffix)
    if name in SHARED:
        return Response(resource(name), media_type=media)
    known = {entry.name: entry for entry in files("tricover.studio").joinpath("page").iterdir()}
    if name not in known or media is None:
        return PlainTextResponse("There is no such file.", 404)
    return Response(known[name].read_bytes(), media_type=media)


async def _take(hub: Hub, what: str) -> Response:
    """Something to take away. It is made in a thread of its own, so that play goes on."""
    if what not in KINDS:
        return PlainTextResponse("There is no such thing to take away.", 404)
    session = hub.session
    if not isinstance(session, Session):
        return PlainTextResponse("This fleet is still watched: open its run when the flight is over.", 409)
    try:
        if what == "scenario.toml":
            text = session.variants[0].scenario.to_toml(session.folder)
            return _file(what, text.encode())
        run = await hub.work(lambda: session.run(0))
        return _file(what, await asyncio.to_thread(made, what, run))
    except TricoverError as error:
        return PlainTextResponse(str(error), 409)


def _file(what: str, content: bytes) -> Response:
    return Response(content, media_type=KINDS[what], headers={"Content-Disposition": f'attachment; filename="{what}"'})


async def _live(hub: Hub, socket: WebSocket) -> None:
    """A page, as long as it is there."""
    await socket.accept()
    try:
        page = await hub.enter()
    except InputError as error:
        await socket.close(_TRY_LATER, str(error)[:100])
        return
    sending = asyncio.create_task(_send(socket, page))
    try:
        while (text := await _received(socket)) is not None:
            await hub.hear(page, text)
    finally:
        hub.leave(page)
        sending.cancel()
        with suppress(asyncio.CancelledError):
            await sending


async def _received(socket: WebSocket) -> str | None:
    """What a page says; None when it is gone, or sends bytes, which pages do not."""
    message = await socket.receive()
    text: str | None = message.get("text")
    return text


async def _send(socket: WebSocket, page: Page) -> None:
    while True:
        message = await page.queue.get()
        if message is None:
            await socket.close(_TRY_LATER)
            return
        with suppress(RuntimeError, WebSocketDisconnect):  # the page went away meanwhile
            await (socket.send_text(message) if isinstance(message, str) else socket.send_bytes(message))


def token_of() -> str:
    """The user's token, kept in a file that nobody else can read, so that a page finds a restarted studio again."""
    home = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "tricover"
    place = home / "studio-token"
    try:
        kept = place.read_text(encoding="ascii").strip()
        if len(kept) >= 32 and kept.isalnum():
            return kept
    except (OSError, UnicodeDecodeError):
        pass
    token = secrets.token_hex(16)
    with suppress(OSError, TricoverError):  # a home that cannot be written: then it is new each time
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(place, token)
        place.chmod(0o600)
    return token


def listening(host: str, port: int | None) -> socket.socket:
    """A socket on a port; without one the usual, or where that is taken any that is free."""
    for wanted in (port,) if port is not None else (PORT, 0):
        opened = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind((host, wanted))
            return opened
        except OSError as error:
            opened.close()
            reason = error.strerror or str(error)
    raise InputError(f"cannot listen on {host}, port {wanted}: {reason}; choose another with --port or --host")


def serve(session: Session, opened: socket.socket, token: str, ready: Callable[[str], None]) -> None:
    """Run a studio on a socket until it is interrupted; ``ready`` is called with its address."""
    server, address = _server(session, opened, token)
    ready(address)
    with suppress(KeyboardInterrupt):  # how a studio ends
        server.run(sockets=[opened])


@contextmanager
def served_beside(session: "Session | Watching", opened: socket.socket, token: str) -> Iterator[str]:
    """A studio on a socket in a thread of its own, while this one does something else; its address."""
    server, address = _server(session, opened, token)
    thread = Thread(target=server.run, kwargs={"sockets": [opened]}, name="studio server", daemon=True)
    thread.start()
    try:
        yield address
    finally:
        server.should_exit = True
        thread.join()


def _server(session: "Session | Watching", opened: socket.socket, token: str) -> "tuple[uvicorn.Server, str]":
    """A server for a socket, which listens from now on, and the address of its page."""
    import uvicorn

    host, port = opened.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    everywhere = host in ("0.0.0.0", "::")
    names = {shown, "localhost", *(("127.0.0.1", socket.gethostname()) if everywhere else ())}
    hosts = [f"{name}:{port}" for name in sorted(names)]
    app = application(session, token, hosts)
    config = uvicorn.Config(app, log_level="critical", ws="websockets-sansio", ws_max_size=MOST_BYTES, lifespan="on")
    config.server_header = config.date_header = False
    server = uvicorn.Server(config)
    opened.listen(128)
    return server, f"http://{'127.0.0.1' if everywhere else shown}:{port}/{token}/"
