"""The right to write to a store: of one process at a time, and gone with that process, however it ends.

The operating system keeps the lock, on an open file of the store, so a killed process leaves nothing closed. On systems
without such locks (Windows) everybody gets it.
"""

import os
import sys
from pathlib import Path
from typing import IO, Any

from tricover.errors import StoreError

if sys.platform != "win32":
    import fcntl

__all__ = ["Lock"]

_NAME = "lock"


class Lock:
    """The right to write to the store in a folder, from now until it is released."""

    def __init__(self, folder: Path) -> None:
        self._file: IO[Any] = (folder / _NAME).open("ab")
        if sys.platform != "win32":
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._file.close()
                raise StoreError(
                    f"{folder} is being written by another process: wait, or choose another place"
                ) from None

    def check(self, folder: Path) -> None:
        """Complain if the folder is not the one that was locked: it was removed, and perhaps made again."""
        ours = os.fstat(self._file.fileno())
        try:
            same = os.path.samestat(ours, (folder / _NAME).stat())
        except FileNotFoundError:
            same = False
        if not same:
            raise StoreError(f"{folder} was removed or replaced while the run was under way: choose another place")

    def release(self) -> None:
        """Let others write."""
        self._file.close()
