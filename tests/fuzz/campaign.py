"""A campaign: broken files, one after the other, in a child process that may crash, hang or eat memory.

A case is a subject, a seed and a number, and gives the same file every time. It fails on any exception that is not a
``TricoverError``, any warning, a message that is not one printable line, more than 10 s of computing, 2 GiB of memory,
and on what ``subjects`` says of a file that was accepted.
"""

import contextlib
import itertools
import multiprocessing
import os
import random
import resource
import shutil
import signal
import tempfile
import time
import traceback
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unicodedata import category

from tests.fuzz.corpus import COMPANIONS, seeds
from tests.fuzz.mutate import mutated
from tests.fuzz.subjects import Subject
from tricover.errors import TricoverError

__all__ = ["Case", "Failure", "Tally", "campaign", "data_of", "try_file", "turns"]

SECONDS, MEMORY = 10.0, 2 << 30
_AHEAD = 50  # cases that the child has been sent before it answers: two processes seldom wait for each other
_PATIENCE = 120.0  # seconds of waiting for a case: native code hears no alarm, and other processes take their share


@dataclass(frozen=True)
class Case:
    """One broken file."""

    subject: Subject
    seed: int
    number: int


@dataclass(frozen=True)
class Failure:
    """A case that failed, and how."""

    case: Case
    reason: str


@dataclass
class Tally:
    """What came out of a campaign, by the name of the subject."""

    tried: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    took: Counter[str] = field(default_factory=Counter)
    slowest: dict[str, float] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    seconds: float = 0.0


class _TooLong(BaseException):
    """The alarm; not an Exception, so that nobody catches it by chance."""


def data_of(case: Case) -> bytes:
    """The file of a case."""
    rng = random.Random(f"{case.subject.name}/{case.seed}/{case.number}")
    return mutated(case.subject.kind, seeds(case.subject.kind), rng)


def turns(subjects: Sequence[Subject], seed: int) -> Iterator[Case]:
    """Cases without end: each subject has its turn, again and again."""
    for round_ in itertools.count():
        for subject in subjects:
            for number in range(round_ * subject.turn, (round_ + 1) * subject.turn):
                yield Case(subject, seed, number)


def campaign(cases: Iterable[Case], told: Callable[[Tally, Failure | None], None] = lambda *_: None) -> Tally:
    """Try all cases; ``told`` hears of every one, with the failure if it is one."""
    tally, began, source = Tally(), time.monotonic(), iter(cases)
    worker, waiting = _Worker(), deque[Case]()
    while True:
        for case in itertools.islice(source, _AHEAD - len(waiting)):
            waiting.append(case)
            worker.send(case)
        if not waiting:
            worker.end()
            return tally
        case = waiting.popleft()
        reason, accepted, seconds = worker.result()
        name = case.subject.name
        tally.tried[name] += 1
        tally.accepted[name] += accepted
        tally.took[name] += seconds
        tally.slowest[name] = max(tally.slowest.get(name, 0.0), seconds)
        tally.seconds = time.monotonic() - began
        failure = None if reason is None else Failure(case, reason)
        if failure is not None:
            tally.failures.append(failure)
        told(tally, failure)
        if not worker.alive:
            worker = _Worker()
            for case in waiting:
                worker.send(case)


class _Worker:
    """The child process and the line to it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.line, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other,), daemon=True)
        self.process.start()
        other.close()
        self.alive = True

    def send(self, case: Case) -> None:
        with contextlib.suppress(OSError):  # it died: ``result`` will say so
            self.line.send(case)

    def result(self) -> tuple[str | None, bool, float]:
        """Of the next case: why it failed, whether its file was accepted, and the seconds that it took."""
        try:
            if self.line.poll(_PATIENCE):
                reason, accepted, seconds, self.alive = self.line.recv()
                return reason, accepted, seconds
            reason = f"hangs: no answer within {_PATIENCE:.0f} s"
        except (EOFError, OSError):
            self.process.join()
            reason = f"the process died with exit code {self.process.exitcode}"
        self.end()
        return reason, False, 0.0

    def end(self) -> None:
        self.alive = False
        self.line.close()
        self.process.kill()
        self.process.join()


def _serve(line: Connection) -> None:
    """The child: it tries each case that it is sent, and ends after one that took too much memory."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warm: set[str] = set()
    with _folder() as folder:
        while True:
            try:
                case: Case = line.recv()
            except EOFError:
                return
            if case.subject.name not in warm:
                _warm_up(case.subject, folder)
                warm.add(case.subject.name)
            reason, accepted, seconds = try_file(case.subject, data_of(case), folder)
            peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            if peak > MEMORY and reason is None:
                reason = f"took {peak / (1 << 30):.1f} GiB of memory"
            line.send((reason, accepted, seconds, peak <= MEMORY))
            if peak > MEMORY:
                return


def _warm_up(subject: Subject, folder: Path) -> None:
    """Let a subject read valid files, so that its kernels are compiled; what it refuses is no seed for it."""
    refused = []
    for data in seeds(subject.kind):
        path = folder / f"case{subject.ending}"
        path.write_bytes(data)
        try:
            subject.use(path)
        except TricoverError as error:
            refused.append(str(error))
    if len(refused) == len(seeds(subject.kind)):
        raise RuntimeError(f"{subject.name} refuses all valid files: {refused[0]}")


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="tricover-fuzz-"))
    for name, text in (COMPANIONS | {"log.csv": seeds("log")[0].decode()}).items():
        (folder / name).write_text(text)
    os.chdir(folder)
    soft = _size() + 3 * MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (soft, resource.RLIM_INFINITY))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _size() -> int:
    """Bytes of address space of this process."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def try_file(
    subject: Subject, data: bytes, folder: Path, most_seconds: float = SECONDS
) -> tuple[str | None, bool, float]:
    """Why a file failed, whether it was accepted, and the seconds of computing that it took."""
    path = folder / f"case{subject.ending}"
    path.write_bytes(data)
    began = time.process_time()
    signal.signal(signal.SIGPROF, _ring)
    signal.setitimer(signal.ITIMER_PROF, most_seconds)
    reason, accepted = None, False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            subject.use(path)
        accepted = True
    except TricoverError as error:
        reason = _fault(str(error))
    except _TooLong as error:
        reason = f"took more than {most_seconds:g} s\n{_place(error)}"
    except BaseException as error:  # noqa: BLE001 - that nothing else comes is what is tried
        reason = f"{type(error).__name__}: {error}\n{_place(error)}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return reason, accepted, time.process_time() - began


def _ring(*_: Any) -> None:
    raise _TooLong


def _place(error: BaseException) -> str:
    return "".join(traceback.format_tb(error.__traceback__)[-3:])


def _fault(message: str) -> str | None:
    """What is wrong with a message."""
    if not message:
        return "a message that says nothing"
    if any(category(mark)[0] == "C" or category(mark) in ("Zl", "Zp") for mark in message):
        return f"a message with line breaks or control characters: {message!r}"
    return f"a message of {len(message)} characters: {message[:300]}" if len(message) > 3000 else None
