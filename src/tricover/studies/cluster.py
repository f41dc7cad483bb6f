"""Rows on workers: Dask hands out chunks of them, on this machine or on a cluster.

A chunk is as many rows as take about half a second, so that handing it out (some milliseconds) does not count; as long
as nobody knows how long a row takes, it is one row. Towards the end chunks get smaller, so that nobody waits for the
last one. Each worker is given two chunks at a time: one that it does, and one that waits.

What may die: a worker, and Dask gives its chunks to others. When workers die again and again, Dask gives up all chunks
that they had been given. Their rows are done at the end, one by one, with nothing else on any worker: so the row that
does it is known, and is one with an error. The scheduler: what was handed out is forgotten, and
handed out again when it is back. What is done is never done again: rows are with us as soon as their chunk is.
"""

import multiprocessing
import os
import sys
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from tricover.errors import ClusterError, MissingExtraError, TricoverError
from tricover.studies.rows import Job, Row, do_chunk

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["connected", "import_distributed", "lost_errors", "own_cluster", "rows_on_workers"]

CHUNK = 0.5  # seconds that a chunk should take: the hand-over of one, 2.5 ms, is half a per cent of it
AHEAD = 2  # chunks that a worker has been given
ANSWER = 10.0  # seconds in which a scheduler has to answer
PATIENCE = 60.0  # seconds that we wait for a scheduler to come back
PLAIN_PATH = "TRICOVER_PLAIN_PATH"
"""Variable that tells the process that workers are forked from what PYTHONPATH was."""
_GLANCE = 1.0  # seconds after which we look whether the scheduler is there

_MOST = 10_000  # rows of a chunk
LEAST = 0.05  # seconds of a chunk, towards the end


def _settings(method: str) -> dict[str, Any]:
    """Settings of Dask for a cluster of our own: no pages, one thread for each worker, no profile of its work."""
    return {
        "distributed.admin.large-graph-warning-threshold": "1GB",  # a scenario may have a million targets
        "distributed.diagnostics.nvml": False,
        "distributed.nanny.pre-spawn-environ": {},  # it would stay in this process, too
        "distributed.scheduler.allowed-failures": 2,  # workers that a chunk may take along before it is done row by row
        "distributed.scheduler.http.routes": [],
        "distributed.worker.http.routes": [],
        "distributed.worker.multiprocessing-method": method,
        "distributed.worker.profile.enabled": False,
    }


def import_distributed() -> Any:
    """The library Dask distributed; without it an error that names the extra."""
    try:
        import distributed
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"studies on several workers need {error.name}: pip install 'tricover[cluster]', or take one worker"
        ) from None
    return distributed


def _start_server() -> str:
    """Start the process that workers are forked from, unless it runs; how workers are started from now on.

    It has loaded what they need, which takes a second of each otherwise. Python keeps it as long as this process lives.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return "spawn"
    from multiprocessing import forkserver

    multiprocessing.get_context("forkserver").set_forkserver_preload(["tricover.studies.loaded"])
    with _environment_kept():  # where this process finds modules, the server has to find the same
        os.environ[PLAIN_PATH] = os.environ.get("PYTHONPATH", "")
        os.environ["PYTHONPATH"] = os.pathsep.join(os.path.abspath(place) for place in sys.path)
        forkserver.ensure_running()
    return "forkserver"


@contextmanager
def own_cluster(workers: int) -> "Iterator[Client]":
    """A cluster of so many processes with one thread each, on this machine's loopback; it is gone afterwards."""
    with _no_main_module():
        method = _start_server()  # it loads what workers need, while this process goes on
    import dask

    distributed = import_distributed()
    with _quiet(), _no_main_module(), _environment_kept(), dask.config.set(_settings(method)):
        cluster = distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            env={**os.environ, "TRICOVER_THREADS": "1"},  # the server may be older than what stands there
            host="127.0.0.1",
            scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
            memory_limit=0,  # what a run may ask for is limited by `limits`, in a message that says so
            silence_logs=_SILENT,
        )
        with cluster, distributed.Client(cluster, set_as_default=False) as client:
            yield client


@contextmanager
def connected(address: str) -> "Iterator[Client]":
    """The cluster whose scheduler has this address."""
    distributed = import_distributed()
    place = address if "://" in address else f"tcp://{address}"
    with _quiet():
        try:
            distributed.Client(place, set_as_default=False, timeout=ANSWER).close()
            client = distributed.Client(place, set_as_default=False, timeout=PATIENCE)  # and in this it has to be back
        except (OSError, ValueError, TimeoutError) as error:
            why = f"{error}".split("\n")[0] if isinstance(error, ValueError) else "nobody answers"
            raise ClusterError(f"no scheduler at {address}: {why}; start one with: dask scheduler") from None
        with client:
            yield client


def rows_on_workers(
    client: Any, job: Job, numbers: Iterable[int], patience: float = PATIENCE
) -> Generator[list[Row], None, None]:
    """Do rows on a client's workers; chunks come as they are done, in any order."""
    work = _Work(list(numbers))
    while work:
        try:
            yield from _until_lost(client, job, work)
        except TricoverError:
            raise
        except lost_errors():
            _wait_for_scheduler(client, work, patience)


class _Work:
    """Rows that are left, and how many of them make a chunk."""

    def __init__(self, numbers: list[int]) -> None:
        self.left = numbers[::-1]  # the next one last
        self.alone: list[int] = []  # rows that may have taken their workers along: to be done with nobody beside them
        self.suspects: set[int] = set()  # these, and who is being done like that
        self.given: dict[Any, list[int]] = {}
        self.seconds: float | None = None

    def __bool__(self) -> bool:
        return bool(self.left or self.alone or self.given)

    def __len__(self) -> int:
        return len(self.left) + len(self.alone) + sum(map(len, self.given.values()))

    def chunk(self, slots: int) -> list[int]:
        """The next rows to be handed out; none if they have to wait for others."""
        if not self.left:
            return [self.alone.pop()] if self.alone and not self.given else []
        size = 1
        if self.seconds is not None:
            rate = 1 / max(self.seconds, CHUNK / _MOST)
            share = max(len(self.left) / (AHEAD * slots), LEAST * rate)
            size = max(1, int(min(CHUNK * rate, share)))
        taken = self.left[-size:][::-1]
        del self.left[-size:]
        return taken

    def done(self, rows: list[Row]) -> None:
        """Learn how long rows take; the last ones count most, as rows may get longer one after another."""
        mean = sum(row.seconds for row in rows) / len(rows)
        self.seconds = mean if self.seconds is None else (self.seconds + mean) / 2

    def take_back(self) -> None:
        """What was handed out is to be handed out again."""
        for numbers in reversed(self.given.values()):
            self.left += numbers[::-1]
        self.given.clear()
        self.suspects = set(self.alone)


def _until_lost(client: Any, job: Job, work: _Work) -> Generator[list[Row], None, None]:
    """Hand out chunks and gather rows, until there is nothing left or the scheduler is lost."""
    distributed = import_distributed()
    base = client.submit(_itself, job, pure=False)
    try:
        while work:
            slots = max(1, sum(client.nthreads().values()))
            while len(work.given) < AHEAD * slots and (numbers := work.chunk(slots)):
                work.given[client.submit(do_chunk, base, numbers, pure=False)] = numbers
            with suppress(TimeoutError), client.as_current():
                distributed.wait(list(work.given), timeout=_GLANCE, return_when="FIRST_COMPLETED")
            for future in [each for each in work.given if each.done()]:
                rows = _rows_of(future, work)
                if rows:
                    work.done(rows)
                    yield rows
    finally:
        _forget(client, [base, *work.given])
        work.take_back()


def _rows_of(future: Any, work: _Work) -> list[Row]:
    """What came of a chunk. One that killed its workers is done row by row; what fails otherwise is an error."""
    from distributed import KilledWorker

    numbers = work.given[future]
    if future.status == "error":
        failure = future.exception()
        if not isinstance(failure, KilledWorker):
            raise ClusterError(f"the workers cannot do a study: {type(failure).__name__}: {failure}")
        del work.given[future]
        if numbers[0] not in work.suspects:
            work.alone += numbers[::-1]
            work.suspects.update(numbers)
            return []
        return [
            Row(numbers[0], {}, "KilledWorker: all processes that ran it came to an end: is it too large, or too long?")
        ]
    rows: list[Row] = future.result()
    del work.given[future]
    return rows


def _itself(job: Job) -> Job:
    """The job, as a result that workers hand on: it is sent once to each, and made anew where it was lost."""
    return job


def lost_errors() -> tuple[type[BaseException], ...]:
    """What comes up when the scheduler is gone."""
    from asyncio import CancelledError as CancelledTask
    from concurrent.futures import CancelledError

    return (CancelledError, CancelledTask, OSError)


def _wait_for_scheduler(client: Any, work: _Work, patience: float) -> None:
    """Wait until the scheduler is back, which Dask notices; not for ever."""
    until = time.monotonic() + patience
    while client.status != "running":
        if client.status == "closed" or time.monotonic() > until:
            raise ClusterError(
                f"the scheduler is gone, with {len(work):,} runs to do: start it, and the study again; "
                "with a store (-o) it goes on with what is missing"
            )
        time.sleep(_GLANCE / 10)


def _forget(client: Any, futures: list[Any]) -> None:
    """Let workers drop what is no longer wanted, if anybody hears it."""
    if client.status == "running":
        with suppress(*lost_errors()):
            client.cancel(futures, force=True)


_SILENT = 60  # above CRITICAL: what is wrong is said by us, in one line


@contextmanager
def _quiet() -> Iterator[None]:
    """Without Dask's log, which tells of every worker that comes and goes."""
    import logging

    log = logging.getLogger("distributed")
    before = log.level
    log.setLevel(_SILENT)
    try:
        yield
    finally:
        log.setLevel(before)


@contextmanager
def _environment_kept() -> Iterator[None]:
    """What Dask sets in this process's environment for its workers is taken back: others read it, too."""
    before = dict(os.environ)
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ |= before


@contextmanager
def _no_main_module() -> Iterator[None]:
    """Workers do not run the user's script again, as processes of Python do unless it has no file.

    A script that calls ``sweep`` outside ``if __name__ == "__main__"`` would begin a study in each of its workers.
    Functions of the script travel as they are.
    """
    main = sys.modules["__main__"]
    names: Any = vars(main)
    kept = {name: names.pop(name) for name in ("__file__", "__spec__") if name in names}
    names["__spec__"] = None
    try:
        yield
    finally:
        names.update(kept)
