"""``sweep``: all runs of a study, in a table.

Rows are done in this process as long as that is quicker than to start others; then by as many processes as there are
cores, with one thread each; or by the workers of a Dask cluster. The table is the same, to the bit: a row depends on
nothing but its scenario, and rows stand in the order of the combinations.

With a ``store`` rows are on the disk as soon as their chunk is done, see ``journal``. After a kill, of whatever
process, the same call does what is missing, and nothing twice.
"""

import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tricover.errors import InputError, StoreError
from tricover.formats import make_folder, read_whole, write_whole
from tricover.simulation import Scenario
from tricover.studies.cluster import connected, own_cluster, rows_on_workers
from tricover.studies.draws import Draws
from tricover.studies.journal import Journal, journal_of
from tricover.studies.measures import MEASURES
from tricover.studies.rows import Job, Row, rows_here
from tricover.studies.study import Study
from tricover.studies.table import check_pandas, check_table_name, table_of, write_table
from tricover.threads import workers as cores

if TYPE_CHECKING:
    import pandas
    from distributed import Client

__all__ = ["StudyProgress", "sweep"]

BATCH = 0.5  # seconds after which rows that were done here are kept
START = 1.5  # seconds to start a cluster on this machine: for less work it is not worth it
_LOOK = 0.1  # seconds after which this process looks whether others should start, or have
_MARK = "study.txt"  # in a folder of runs that are kept: whose they are


@dataclass(frozen=True)
class StudyProgress:
    """How far a study is, whenever rows are done.

    Attributes:
        done: rows that are done, those of earlier calls included.
        total: rows of the study.
        failed: how many of them have an error.
        seconds_left: at the pace so far.
        rows: what came just now: keys, measures and ``error`` of each.
    """

    done: int
    total: int
    failed: int
    seconds_left: float
    rows: tuple[dict[str, Any], ...]


def sweep(
    scenario: Scenario | Study,
    over: Mapping[str, Any] | None = None,
    measure: Any = None,
    client: "Client | str | None" = None,
    *,
    cases: Sequence[Mapping[str, Any]] = (),
    draws: Draws | Mapping[str, Any] | None = None,
    seeds: int | Sequence[int] | None = None,
    store: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    keep: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: Callable[[StudyProgress], None] | None = None,
) -> "pandas.DataFrame":
    """Run a scenario in many variants and measure each run.

    Args:
        scenario: what is varied; or a study, which says everything up to ``seeds``, and ``keep``, itself.
        over: a grid: values for each key, such as ``{"control.goal": ["centroid", "rollout"]}``; see ``Study``.
        measure: names of measures, a function of a run that gives a dictionary, or a list of both; None: some of all.
        client: a Dask client, or the address of a scheduler; None: this machine.
        cases: a list of changes, each with every combination of the rest.
        draws: random draws or a Latin hypercube, each with every combination of the rest.
        seeds: how many seeds, from 0 on, or a list of them.
        store: a file for the table, .parquet or .csv; beside it rows are kept as they come. A study that was begun
            there goes on.
        overwrite: begin anew what was begun in ``store``.
        keep: a folder for all runs; None: they are thrown away when they are measured.
        workers: processes on this machine; None: as many as cores, if that is quicker; 1: this process alone.
        progress: called whenever rows are done.

    Returns:
        A row for each combination, in their order: the keys that are varied, the measures, ``error``. A run that fails
        is a row with its error, and its measures are missing. Ctrl-C ends the study early: the table has what was done.

    >>> team = [[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]]
    >>> scenario = Scenario(reference=team, targets=[[1, 1], [0, 2], [3, 3]])
    >>> goals = ["centroid", "reference"]
    >>> table = sweep(scenario, over={"control.goal": goals}, measure=["settled_at", "coverage_cost"])
    >>> table["settled_at"].tolist(), table["coverage_cost"].round(3).tolist()
    ([1, 0], [1.0, 1.333])
    """
    study = _study_of(scenario, over, measure, cases=cases, draws=draws, seeds=seeds, keep=keep)
    if workers is not None and (type(workers) is not int or workers < 1):
        raise InputError(f"workers must be a whole number from 1 on, not {workers!r}")
    if client is not None and workers is not None:
        raise InputError("workers are processes on this machine, and a cluster has its own: give client or workers")
    check_pandas()  # it takes its time to be imported: at the end, or workers would start later
    if store is not None:
        check_table_name(store)
    with ExitStack() as stack:
        journal = None
        if store is not None:
            journal = stack.enter_context(Journal(journal_of(store), study.fingerprint, overwrite))
        if study.keep is not None:
            _mark(study.keep, study.fingerprint)
        table = _Worker(study, journal, progress).table(_source(client, workers))
        if store is not None:
            write_table(table, store)
    return table


def _study_of(scenario: Scenario | Study, over: Mapping[str, Any] | None, measure: Any, **more: Any) -> Study:
    """The study that the arguments of ``sweep`` say."""
    given = {key: value for key, value in more.items() if value is not None and value != ()}
    given |= {} if over is None else {"over": over}
    given |= {} if measure is None else {"measures": measure}
    if isinstance(scenario, Study):
        twice = sorted(given.keys() - {"keep"})
        if twice:
            raise InputError(f"a study says {twice[0]} itself: change the study, or give a scenario")
        return scenario.model_copy(update=given)
    if not isinstance(scenario, Scenario):
        raise InputError(f"sweep takes a Scenario or a Study, not {type(scenario).__name__}: Study.load reads a file")
    return Study(name=scenario.name, scenario=scenario, **given)


def _mark(folder: Path, fingerprint: str) -> None:
    """Make the folder for runs this study's; complain about one that is something else's."""
    mark = folder / _MARK
    if mark.exists() and read_whole(mark).decode(errors="replace") == fingerprint:
        return
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise StoreError(f"{folder} has something else than the runs of this study in it: name a new folder for them")
    make_folder(folder)
    write_whole(mark, fingerprint)


Rows: TypeAlias = Generator[list[Row], None, None]
Source: TypeAlias = Callable[[Job, list[int]], Rows]


def _source(client: "Client | str | None", workers: int | None) -> Source:
    """Who does rows."""
    if isinstance(client, str):
        return lambda job, numbers: _on_cluster(connected(client), job, numbers)
    if client is not None:
        if not hasattr(client, "submit") or not hasattr(client, "nthreads"):
            raise InputError(f"client must be a dask.distributed.Client or an address, not {type(client).__name__}")
        return lambda job, numbers: rows_on_workers(client, job, numbers)
    if workers is not None and workers > 1:
        return lambda job, numbers: _on_cluster(own_cluster(min(workers, len(numbers))), job, numbers)
    return _here if workers == 1 or cores() == 1 else _where_it_is_quicker


def _here(job: Job, numbers: list[int]) -> Rows:
    return rows_here(job, numbers, BATCH)


def _on_cluster(cluster: AbstractContextManager[Any], job: Job, numbers: list[int]) -> Rows:
    with cluster as client:
        yield from rows_on_workers(client, job, numbers)


def _where_it_is_quicker(job: Job, numbers: list[int]) -> Rows:
    """Do rows here for a moment. If those that are left would take long, start a cluster for them, and go on until it
    is there.
    """
    left, cluster = numbers, None
    with ExitStack() as stack, ThreadPoolExecutor(1) as starter:
        for rows in rows_here(job, numbers, _LOOK):
            yield rows
            left = left[len(rows) :]
            if cluster is not None and cluster.done():
                break
            ahead = len(left) * rows[-1].seconds  # the first rows may have had to compile
            if cluster is None and ahead > START * cores() / (cores() - 1):
                cluster = starter.submit(stack.enter_context, own_cluster(min(cores(), len(left))))
        if left and cluster is not None:
            yield from rows_on_workers(cluster.result(), job, left)


class _Worker:
    """A study that is worked off: what is done, and what is still to do."""

    def __init__(self, study: Study, journal: Journal | None, progress: Callable[[StudyProgress], None] | None) -> None:
        self._study, self._journal, self._progress = study, journal, progress
        self._design = study.design
        self._rows: dict[int, Row] = {} if journal is None else dict(journal.rows)

    def table(self, source: Source) -> "pandas.DataFrame":
        """Do what is missing, and make the table; Ctrl-C makes it of what is done."""
        job = Job(self._study.scenario, self._design, self._study.columns, self._study.keep)
        missing = [number for number in range(len(self._design)) if number not in self._rows]
        try:
            if missing:
                self._gather(source(job, missing))
        except KeyboardInterrupt:
            pass
        except BaseException as error:
            vars(error)["table"] = self._made()
            error.add_note("tricover: the rows that are done are in the attribute `table` of this error")
            raise
        return self._made()

    def _gather(self, source: Rows) -> None:
        """Keep rows as they come."""
        began, before = time.monotonic(), len(self._rows)
        with closing(source):
            for rows in source:
                if self._journal is not None:
                    self._journal.add(rows)
                self._rows |= {row.number: row for row in rows}
                if self._progress is not None:
                    pace = (time.monotonic() - began) / (len(self._rows) - before)
                    self._progress(self._told(rows, pace))

    def _told(self, rows: list[Row], pace: float) -> StudyProgress:
        done, total = len(self._rows), len(self._design)
        new = tuple({**self._design.labels(row.number), **row.values, "error": row.error} for row in rows)
        failed = sum(row.error is not None for row in self._rows.values())
        return StudyProgress(done, total, failed, pace * (total - done), new)

    def _made(self) -> "pandas.DataFrame":
        known = tuple(name for name in self._study.columns if isinstance(name, str) and name in MEASURES)
        return table_of(self._study.name, self._design, known, self._rows)
