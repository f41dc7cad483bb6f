"""The one place where Numba is set up: how kernels are compiled, and how a user hears of it.

Kernels are compiled at first use and cached on disk. They release the interpreter lock, so that plain threads
(see ``threads``) run them side by side; they never use fast-math, so that a result does not depend on the machine.

Kernels call kernels of other files, and hold their code. Numba looks only at a kernel's own file to see whether what it
cached is up to date, so after an update it would go on with old code. Here a cached kernel is used only if no file with
kernels has changed.

Numba writes the index of a kernel's cache before the code that it names, and without a lock. A process that is killed
in between leaves a new index with old code, and two processes that compile at the same time may mix up the code of two
signatures. So what is cached says itself what it is, and is compiled anew if that is not what was asked for.
"""

import hashlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import event
from numba.core.caching import IndexDataCacheFile

__all__ = ["KERNEL_FILES", "fingerprint", "inlined", "kernel", "on_compilation", "typed"]

Function = TypeVar("Function", bound=Callable[..., object])
log = logging.getLogger("tricover")

KERNEL_FILES = ("draws.py", "**/_[a-z]*.py", "network/mentees/*.py")
"""Where kernels are, as patterns."""


def fingerprint(folder: Path) -> str:
    """A hash of all files with kernels in a folder of the package."""
    files = sorted({file for pattern in KERNEL_FILES for file in folder.glob(pattern)})
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


_KERNELS = fingerprint(Path(__file__).parent)
_FORM = "with key"  # of what is cached: versions that keep it otherwise do not read it


class _CacheFile(IndexDataCacheFile):
    """Numba's index and code of one kernel, each piece of code kept with its key and the state of the sources."""

    def __init__(self, folder: str, name: str, stamp: tuple[object, ...]) -> None:
        super().__init__(folder, name, stamp)  # type: ignore[no-untyped-call]
        # An index of other sources is not even read: it may name types that are gone.
        self._version = f"{self._version} {stamp}"

    def save(self, key: object, data: object) -> None:
        super().save(key, (self._source_stamp, key, data))  # type: ignore[no-untyped-call]

    def load(self, key: object) -> object:
        found = super().load(key)  # type: ignore[no-untyped-call]
        return found[2] if found is not None and found[:2] == (self._source_stamp, key) else None


def kernel(function: Function, forceinline: bool = False) -> Function:
    """Compile ``function`` at first use and cache it."""
    compiled: Any = numba.njit(cache=True, nogil=True, error_model="numpy", forceinline=forceinline)(function)
    cache = compiled._cache
    stamp = cache._cache_file._source_stamp, _KERNELS, _FORM
    place = cache._cache_path, cache._impl.filename_base
    cache._cache_file = _CacheFile(*place, stamp)
    return cast(Function, compiled)


def inlined(function: Function) -> Function:
    """Compile ``function`` into the kernels that call it, where a call would cost more than its length lets on."""
    return kernel(function, forceinline=True)


def typed(number: int) -> int:
    """A constant for kernels to hand to kernels: a whole number of NumPy's type.

    Numba takes a plain number in a kernel's source for a type of its own, and compiles what it is handed to once more.
    """
    return cast(int, np.int64(number))


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
