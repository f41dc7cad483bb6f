"""Plain threads over independent parts. Kernels release the interpreter lock, so two threads use two cores.

Results never depend on the number of threads: parts are independent and come back in order. Within a part, everything
is done in its own thread.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise
from threading import local
from typing import TypeVar

from tricover.errors import InputError

__all__ = ["in_one_thread", "in_ranges", "side_by_side", "work_off", "workers"]

Part = TypeVar("Part")
Result = TypeVar("Result")


def workers() -> int:
    """How many threads to use: ``TRICOVER_THREADS``, or the cores this process may use."""
    wanted = os.environ.get("TRICOVER_THREADS")
    if wanted is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not wanted.isdecimal() or int(wanted) < 1:
        raise InputError(f"TRICOVER_THREADS must be a whole number from 1 on, not {wanted!r}")
    return int(wanted)


def side_by_side(function: Callable[[Part], Result], parts: Iterable[Part]) -> list[Result]:
    """Apply ``function`` to every part, in this thread and others; results in the order of the parts."""
    parts = list(parts)
    if len(parts) <= 1 or _on_its_own():
        return [function(part) for part in parts]
    pool = _pool(os.getpid(), workers() - 1)
    waiting, mine = [pool.submit(function, part) for part in parts], {}
    _here.working = True
    try:
        for place in reversed(range(len(parts))):  # others begin at the front
            if not waiting[place].cancel():
                break
            mine[place] = function(parts[place])
        return [mine[place] if place in mine else waiting[place].result() for place in range(len(parts))]
    finally:
        _here.working = False
        for future in waiting:
            future.cancel()


def in_ranges(function: Callable[[int, int], object], length: int, smallest: int = 4096, most: int = 16) -> None:
    """Call ``function(first, last)`` for half-open ranges that make up 0 … length, side by side.

    There are at most so many, none much shorter than ``smallest``, and only one where no other thread could help.

    >>> found = []
    >>> in_ranges(lambda first, last: found.append(last - first), 10_000)
    >>> sum(found)
    10000
    """
    parts = 1 if _on_its_own() else max(1, min(most, length // smallest))
    cuts = [length * part // parts for part in range(parts + 1)]
    side_by_side(lambda part: function(*part), pairwise(cuts))


_here = local()


@contextmanager
def in_one_thread() -> Iterator[None]:
    """Do everything in this thread alone, for as long as it takes: others are at work beside it."""
    before, _here.working = getattr(_here, "working", False), True
    try:
        yield
    finally:
        _here.working = before


def _on_its_own() -> bool:
    """Whether this thread is one of several already, or the only one."""
    return getattr(_here, "working", False) or workers() == 1


@lru_cache(maxsize=1)
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    """Threads that stay for the next time; a forked process needs its own."""
    return ThreadPoolExecutor(threads, initializer=_here.__setattr__, initargs=("working", True))


def work_off(function: Callable[[Part], list[Part]], parts: Iterable[Part]) -> None:
    """Apply ``function`` to every part and to the parts it hands back, in threads, until none is left."""
    with ThreadPoolExecutor(1 if _on_its_own() else workers()) as pool:
        running = {pool.submit(function, part) for part in parts}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            running |= {pool.submit(function, part) for finished in done for part in finished.result()}
