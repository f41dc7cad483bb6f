"""The one place where Numba is set up: how kernels are compiled, and how a user hears of it.

Kernels are compiled at first use and cached on disk. They release the interpreter lock, so that plain threads
(see ``threads``) run them side by side; they never use fast-math, so that a result does not depend on the machine.
"""

import logging
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any, TypeVar, cast

import numba
from numba.core import event
from numba.core.caching import FunctionCache, NullCache
from numba.core.runtime.nrt import rtsys

__all__ = ["inlined", "kernel", "on_compilation"]

Function = TypeVar("Function", bound=Callable[..., object])
log = logging.getLogger("tricover")


class _Cache(NullCache):
    """Numba's cache on disk, opened when it is first asked, and without making the compiler ready before that.

    Both take longer than all else that a small run does; where something has to be compiled, Numba makes itself ready.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function

    @cached_property
    def _opened(self) -> Any:
        return FunctionCache(self._function)  # type: ignore[no-untyped-call]

    def load_overload(self, sig: object, target_context: object) -> object:
        """The compiled function for a signature, or None."""
        _make_ready(target_context)
        with self._opened._guard_against_spurious_io_errors():
            return self._opened._load_overload(sig, target_context)

    def save_overload(self, sig: object, data: object) -> None:
        """Keep a compiled function."""
        self._opened.save_overload(sig, data)


_BRINGS_ALONG = {(0, 68)}  # versions of Numba whose cached code was seen to bring its helpers along


@cache
def _make_ready(target_context: object) -> None:
    """Let code from the cache find the helpers of Numba's runtime, and do not compile those that it brings along."""
    if numba.version_info.short not in _BRINGS_ALONG:
        rtsys.initialize(target_context)
        return
    import numba.core.runtime._nrt_python as helpers  # here: other versions may not have it
    from llvmlite.binding import add_symbol

    for name, address in helpers.c_helpers.items():
        add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


# Numba promises none of these names. Where one is missing, kernels are cached as Numba does it, and start later.
_OPENS_LATE = hasattr(FunctionCache, "_load_overload") and hasattr(FunctionCache, "_guard_against_spurious_io_errors")


def _without_literals(template: Callable[..., object]) -> Callable[..., object]:
    """Let a kernel that is given a literal by another be compiled for its type: not once more for every literal."""
    unliteral: Callable[[object], object] = numba.types.unliteral
    return lambda given, *more: template([unliteral(one) for one in given], *more)


def kernel(function: Function, forceinline: bool = False) -> Function:
    """Compile ``function`` at first use and cache it."""
    compiled: Any = numba.njit(nogil=True, error_model="numpy", forceinline=forceinline)(function)
    if hasattr(compiled, "get_call_template"):
        compiled.get_call_template = _without_literals(compiled.get_call_template)
    if _OPENS_LATE and hasattr(compiled, "_cache"):
        compiled._cache = _Cache(function)
    elif hasattr(compiled, "enable_caching"):  # not where compilation is switched off
        compiled.enable_caching()
    return cast(Function, compiled)


def inlined(function: Function) -> Function:
    """Compile ``function`` into the kernels that call it, where a call would cost more than its length lets on."""
    return kernel(function, forceinline=True)


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
