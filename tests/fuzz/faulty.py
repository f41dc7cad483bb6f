"""Readers with the faults that a campaign must find."""

import os
import signal
import time
import warnings
from pathlib import Path

import numpy as np

from tests.fuzz.subjects import Subject
from tricover.errors import InputError

__all__ = ["FAULTY", "HANGS", "careful"]


class _SpokenError(InputError):
    """An error that says what it was given as it is."""

    def __str__(self) -> str:
        return str(self.args[0])


def careful(path: Path) -> None:
    if b"x" not in path.read_bytes():
        raise InputError("there is no x")


def raises(path: Path) -> None:
    careful(path)
    raise KeyError("x")


def warns(path: Path) -> None:
    careful(path)
    warnings.warn("overflow", RuntimeWarning, stacklevel=1)


def says_two_lines(path: Path) -> None:
    raise _SpokenError("one\ntwo")


def says_a_control_character(path: Path) -> None:
    raise _SpokenError("\x1b[31mred")


def says_nothing(path: Path) -> None:
    raise _SpokenError("")


def says_everything(path: Path) -> None:
    raise _SpokenError("x" * 5000)


def asks_for_too_much(path: Path) -> None:
    np.ones(1 << 40)


def leaves(path: Path) -> None:
    raise SystemExit(0)


def crashes(path: Path) -> None:
    if path.read_bytes() and os.getppid():
        os.kill(os.getpid(), signal.SIGSEGV)


def hangs(path: Path) -> None:
    end = time.process_time() + 30
    while time.process_time() < end:
        pass


def _faulty(use, message: str) -> tuple[Subject, str]:
    return Subject(use.__name__, "csv", ".csv", use), message


FAULTY = (
    _faulty(raises, "KeyError: 'x'"),
    _faulty(warns, "RuntimeWarning: overflow"),
    _faulty(says_two_lines, "line breaks or control characters"),
    _faulty(says_a_control_character, "line breaks or control characters"),
    _faulty(says_nothing, "says nothing"),
    _faulty(says_everything, "a message of 5000 characters"),
    _faulty(asks_for_too_much, "MemoryError"),
    _faulty(leaves, "SystemExit"),
)
CRASHES = Subject("crashes", "csv", ".csv", crashes)
HANGS = Subject("hangs", "csv", ".csv", hangs)
