"""Processes of a fleet on this machine, forked from one that is warm.

A *nursery* is forked while the program is warm (libraries loaded, kernels compiled, the mission resolved) and has no
threads yet. Each agent is forked from it, at any time: they share its memory, so one more costs a few megabytes, and
starts at once. The program itself may then have threads.

Nothing is left running: every process ends by itself when the program that began it is gone, however that ended. They
all hold one end of a pipe whose other end only the program has.
"""

import contextlib
import gc
import json
import os
import select
import signal
import socket
import time
import traceback
from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

__all__ = ["Nursery", "Target"]

Target: TypeAlias = Callable[[str, int], int]
"""What a process does: it takes its name and the pipe that ends with the program, and returns its exit code."""


class Nursery:
    """Begins processes by name, and says which have ended.

    Attributes:
        pids: of the processes that run, as far as is known.
        ended: exit codes of the others, by name; below 0 for a signal.
    """

    def __init__(self, target: Target) -> None:
        self.pids: dict[str, int] = {}
        self.ended: dict[str, int] = {}
        watched, self._alive = os.pipe()
        mine, others = socket.socketpair()
        gc.collect()
        gc.freeze()  # what is there stays shared: Python does not go through it again
        self._pid = os.fork()
        if not self._pid:
            os.close(self._alive)
            mine.close()
            _serve(target, others, watched)
        others.close()
        os.close(watched)
        self._link = mine.makefile("rw")
        self._socket = mine

    def start(self, name: str) -> int:
        """Begin a process; its pid."""
        pid = int(self._ask(["start", name]))
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
        for pid, code in self._ask(["ended"]):
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
        with contextlib.suppress(OSError, ValueError):
            self.wait(5.0)
            os.close(self._alive)
            self._link.close()
            self._socket.close()
        os.waitpid(self._pid, 0)

    def _ask(self, words: list[str]) -> Any:
        self._link.write(json.dumps(words) + "\n")
        self._link.flush()
        return json.loads(self._link.readline())


def _serve(target: Target, link: socket.socket, watched: int) -> NoReturn:
    """What the nursery does: fork, and collect who has ended, until the program is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program, which ends the others in order
    lines = link.makefile("rw")
    try:
        while True:
            ready, _, _ = select.select([link.fileno(), watched], [], [])
            if link.fileno() not in ready:
                break
            line = lines.readline()
            if not line:
                break
            word, *rest = json.loads(line)
            answer = _forked(target, rest[0], watched, link) if word == "start" else _collected()
            lines.write(json.dumps(answer) + "\n")
            lines.flush()
    finally:
        os._exit(0)


def _forked(target: Target, name: str, watched: int, link: socket.socket) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        link.close()
        code = target(name, watched)
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
