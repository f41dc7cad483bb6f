"""The one place where Numba is set up: how kernels are compiled, and how a user hears of it.

Kernels are compiled at first use and cached on disk. They release the interpreter lock, so that plain threads
(see ``threads``) run them side by side; they never use fast-math, so that a result does not depend on the machine.
"""

import logging
from collections.abc import Callable
from typing import TypeVar, cast

import numba
from numba.core import event

__all__ = ["inlined", "kernel", "on_compilation"]

Function = TypeVar("Function", bound=Callable[..., object])
log = logging.getLogger("tricover")


def kernel(function: Function) -> Function:
    """Compile ``function`` at first use and cache it."""
    return cast(Function, numba.njit(cache=True, nogil=True, error_model="numpy")(function))


def inlined(function: Function) -> Function:
    """Compile ``function`` into the kernels that call it, where a call would cost more than its length lets on."""
    return cast(Function, numba.njit(cache=True, nogil=True, error_model="numpy", forceinline=True)(function))


class _Listener(event.Listener):
    def __init__(self, announce: Callable[[], None]) -> None:
        self.announce: Callable[[], None] | None = announce

    def on_start(self, event: object) -> None:
        if self.announce is not None:
            announce, self.announce = self.announce, None
            announce()

    def on_end(self, event: object) -> None:
        pass


def on_compilation(announce: Callable[[], None]) -> None:
    """Call ``announce`` once, when the first kernel of this process is compiled and not loaded from the cache."""
    event.register("numba:compile", _Listener(announce))  # type: ignore[no-untyped-call]


on_compilation(lambda: log.info("compiling kernels: first use, cached from now on"))
