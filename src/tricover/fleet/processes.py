"""Processes of a fleet on this machine, forked from one that is warm.

A *nursery* is a new interpreter. It is told what to play (``Play``), loads and compiles what that needs, and has no
threads. Each agent is forked from it, at any time: they share its memory, so one more costs a few megabytes, and starts
at once. The program itself is not forked: it may have threads, and sessions of Zenoh, which do not survive that.

Nothing is left running: every process ends by itself when the program that began it is gone, however that ended. They
all hold one end of a pipe whose other end only the program has.
"""

import contextlib
import gc
import json
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import time
import traceback
from typing import Any, NoReturn, Protocol

from tricover.errors import InputError, TricoverError

__all__ = ["Nursery", "Play", "serve"]

_COMMAND = "import sys, json; sys.path[:] = json.loads(sys.stdin.buffer.readline()); import {0}; {0}.serve()"


class Play(Protocol):
    """What processes do. It is pickled, and has to be of a module that the nursery can import."""

    def warm(self) -> Any:
        """Load and compile what is needed; what the program is to know of it, as JSON has it."""

    def play(self, name: str, watched: int, note: Any) -> int:
        """Be the process of this name, until it is over or the pipe ``watched`` ends; its exit code.

        ``note`` is what the program gave for it when it began.
        """


class Nursery:
    """Begins processes by name, and says which have ended.

    Attributes:
        pids: of the processes that run, as far as is known.
        ended: exit codes of the others, by name; below 0 for a signal.
        told: what ``Play.warm`` gave.
    """

    def __init__(self, what: Play) -> None:
        self.pids: dict[str, int] = {}
        self.ended: dict[str, int] = {}
        text = json.dumps(sys.path).encode() + b"\n" + _pickled(what)
        watched, self._alive = os.pipe()
        self._socket, others = socket.socketpair()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _COMMAND.format(__name__), str(others.fileno()), str(watched)],
            stdin=subprocess.PIPE,
            pass_fds=(others.fileno(), watched),
            env={**os.environ, "TRICOVER_THREADS": "1"},
        )
        others.close()
        os.close(watched)
        self._link = self._socket.makefile("rw")
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # then it says below what is wrong
            self._process.stdin.write(text)
            self._process.stdin.close()
        try:
            self.told = self._answer()
        except BaseException:
            self.close()
            raise

    def start(self, name: str, note: Any = None) -> int:
        """Begin a process with a note for it, as JSON has it; its pid."""
        pid = int(self._ask("start", name, note))
        self.pids[name] = pid
        self.ended.pop(name, None)
        return pid

    def signal(self, name: str, number: int) -> None:
        """Send a signal to a process that runs."""
        if name in self.pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pids[name], number)

    def poll(self) -> dict[str, int]:
        """Exit codes of processes that have ended since the last time, by name."""
        found = {}
        for pid, code in self._ask("ended"):
            name = next((name for name, known in self.pids.items() if known == pid), None)
            if name is not None:
                del self.pids[name]
                found[name] = code
        self.ended |= found
        return found

    def wait(self, seconds: float) -> bool:
        """Until all have ended, for so many seconds at most; whether they have."""
        end = time.monotonic() + seconds
        while self.pids and time.monotonic() < end:
            self.poll()
            time.sleep(0.01)
        return not self.pids

    def close(self) -> None:
        """End all processes, and the nursery."""
        for name in list(self.pids):
            self.signal(name, signal.SIGKILL)
            self.signal(name, signal.SIGCONT)
        with contextlib.suppress(OSError, ValueError, TricoverError):
            self.wait(5.0)
        os.close(self._alive)
        for end in (self._link, self._socket):
            with contextlib.suppress(OSError):
                end.close()
        self._process.wait()

    def _ask(self, *words: Any) -> Any:
        with contextlib.suppress(ConnectionError):  # then there is no answer
            self._link.write(json.dumps(words) + "\n")
            self._link.flush()
        return self._answer()

    def _answer(self) -> Any:
        line = ""
        with contextlib.suppress(ConnectionError):  # it was killed with something unread
            line = self._link.readline()
        if not line:
            raise TricoverError("the process that begins the agents has ended: is there enough memory?")
        answer = json.loads(line)
        if "error" in answer:
            raise InputError(answer["error"])
        return answer["answer"]


def _pickled(what: Play) -> bytes:
    try:
        return pickle.dumps(what)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(_unknown(error)) from error


def _unknown(error: BaseException) -> str:
    """Functions of the user's own must be found by the other processes."""
    return f'a fleet cannot have a rule of your own that is in no module ({error}): name it as "module:function"'


def serve() -> NoReturn:
    """What the nursery does: fork, and collect who has ended, until the program is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program, which ends the others in order
    number, watched = map(int, sys.argv[1:])
    with socket.socket(fileno=number) as link, link.makefile("rw") as lines:
        try:
            what: Play = pickle.load(sys.stdin.buffer)
            _say(lines, answer=what.warm())
        except (AttributeError, ImportError) as error:
            _say(lines, error=_unknown(error))
            os._exit(1)
        except TricoverError as error:
            _say(lines, error=str(error))
            os._exit(1)
        gc.collect()
        gc.freeze()  # what is there stays shared: Python does not go through it again
        while line := _next(lines, link, watched):
            word, *rest = json.loads(line)
            _say(lines, answer=_forked(what, rest, watched, link) if word == "start" else _collected())
    os._exit(0)


def _next(lines: Any, link: socket.socket, watched: int) -> str:
    """The next line of the program; empty when it is gone."""
    number = link.fileno()
    ready, _, _ = select.select([number, watched], [], [])
    return str(lines.readline()) if number in ready else ""


def _say(lines: Any, **answer: Any) -> None:
    lines.write(json.dumps(answer) + "\n")
    lines.flush()


def _forked(what: Play, name_and_note: list[Any], watched: int, link: socket.socket) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.close(link.fileno())
        name, note = name_and_note
        code = what.play(name, watched, note)
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(code)


def _collected() -> list[tuple[int, int]]:
    found = []
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            found.append((pid, os.waitstatus_to_exitcode(status)))
    return found
