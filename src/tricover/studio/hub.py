"""The hub: one session, all its pages, and the clock that plays.

The session works in a thread of its own, one thing at a time, so that the server answers while a step is worked out.
Every page has a queue. A page that does not keep up is let go: it comes back by itself, and is told everything anew.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from tricover.errors import InputError, TricoverError
from tricover.studio.messages import read_message
from tricover.studio.session import Sent, Session, said

if TYPE_CHECKING:
    from tricover.studio.watching import Watching

__all__ = ["Hub", "Page"]

Result = TypeVar("Result")
log = logging.getLogger("tricover")

MOST_PAGES = 64
MOST_WAITING = 256
"""Messages that may wait for a page."""


class Page:
    """A page that is connected: messages wait for it here; None ends it."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[Sent | None] = asyncio.Queue()

    def send(self, messages: Iterable[Sent]) -> None:
        """Have messages sent, or let the page go if too many wait already."""
        for message in messages:
            if self.queue.qsize() < MOST_WAITING:
                self.queue.put_nowait(message)
            else:
                self.queue.put_nowait(None)
                return


class Hub:
    """A session, or a fleet that is watched, and the pages that look at it."""

    def __init__(self, session: "Session | Watching") -> None:
        self.session = session
        self.pages: set[Page] = set()
        self._worker = ThreadPoolExecutor(1, "studio")
        self._clock: asyncio.Task[None] | None = None

    async def work(self, task: Callable[[], Result]) -> Result:
        """Something to be done with the session, in its turn."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, task)

    async def enter(self) -> Page:
        """A new page, which is told everything."""
        if len(self.pages) >= MOST_PAGES:
            raise InputError(f"{MOST_PAGES} pages look at this studio already: close one")
        page = Page()
        page.send(await self.work(self.session.everything))
        self.pages.add(page)
        self._run_clock()
        return page

    def leave(self, page: Page) -> None:
        """A page is gone."""
        self.pages.discard(page)

    async def hear(self, page: Page, text: str) -> None:
        """What a page says; what is wrong with it is said to that page alone."""
        key = None
        try:
            message = read_message(text)
            key = getattr(message, "key", None)
            answer = await self.work(lambda: self.session.do(message))
        except TricoverError as error:
            page.send([said("error", text=str(error), key=key)])
            return
        except (MemoryError, RecursionError, ArithmeticError) as error:
            log.warning("the studio could not do what a page asked for: %s", error)
            page.send([said("error", text="this is too large or too extreme to be worked out here", key=key)])
            return
        if answer.instead is not None:
            self.session = answer.instead
            self.tell(await self.work(self.session.everything))
        self.tell(answer.everybody)
        page.send(answer.asker)
        self._run_clock()

    def tell(self, messages: Iterable[Sent]) -> None:
        """Say something to all pages."""
        for page in self.pages:
            page.send(messages)

    def _run_clock(self) -> None:
        if self.session.playing and (self._clock is None or self._clock.done()):
            self._clock = asyncio.get_running_loop().create_task(self._play())

    async def _play(self) -> None:
        """Steps at their pace, or as fast as they are worked out; it ends with the last page or the last step."""
        loop = asyncio.get_running_loop()
        due = loop.time()
        while self.session.playing and self.pages:
            due = max(due + 1 / self.session.speed, loop.time())
            await asyncio.sleep(due - loop.time())
            try:
                self.tell(await self.work(self.session.tick))
            except TricoverError as error:  # a vehicle that lost control, a rule that failed
                self.session.playing = False
                self.tell([said("error", text=str(error), key=None)])

    def close(self) -> None:
        """Let everything go."""
        if self._clock is not None:
            self._clock.cancel()
        self._worker.shutdown(wait=False, cancel_futures=True)
