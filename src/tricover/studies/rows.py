"""One row of a study: change the scenario, run it, measure it. Chunks of rows, as a worker gets them.

A row depends on the study and its own number alone: not on the worker, nor on what was done before. What goes wrong is
written into it, and the study goes on.
"""

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from tricover.errors import InputError, plain
from tricover.simulation import Mission, Run, Scenario, simulate
from tricover.studies.design import Design, changed
from tricover.studies.measures import Done, measured
from tricover.threads import in_one_thread
from tricover.vehicles import flies_for_real

__all__ = ["Job", "Row", "do_chunk", "do_row", "rows_here"]


class Row(NamedTuple):
    """What came of a row: its number, its measures by column, what went wrong, and the seconds that it took."""

    number: int
    values: dict[str, Any]
    error: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class Job:
    """All that a worker has to know of a study. Runs are kept in the folder ``keep``, if there is one."""

    scenario: Scenario
    design: Design
    measures: tuple[Any, ...]
    keep: Path | None = None

    def store(self, number: int) -> Path | None:
        """Where the run of a row is kept."""
        return None if self.keep is None else self.keep / f"{number:06d}.zarr"


def do_row(job: Job, number: int) -> Row:
    """Run and measure a row; Ctrl-C alone gets through."""
    began = perf_counter()
    try:
        run = _run(job, number)
        values, error = measured(Done(run, perf_counter() - began), job.measures)
        clash = sorted(set(values) & {*job.design.keys, "error"})
        if clash:
            values, error = {}, f"the measure {clash[0]!r} has the name of another column: choose another one"
    except Exception as failure:  # noqa: BLE001 - a rule of the user's own may raise anything: the row says so
        values, error = {}, f"{type(failure).__name__}: {failure}"
    return Row(number, values, error and plain(error), perf_counter() - began)


def _run(job: Job, number: int) -> Run:
    scenario = changed(job.scenario, job.design[number])
    if any(flies_for_real(kind.made()) for kind in (scenario.vehicle, *scenario.vehicle.others)):
        raise InputError("its vehicles would fly for real: a study is simulated, so take another kind of vehicle")
    store = job.store(number)
    run = simulate(Mission.of(scenario), store, resume=store is not None)
    if run.interrupted:
        raise KeyboardInterrupt
    return run


def do_chunk(job: Job, numbers: Iterable[int]) -> list[Row]:
    """Do rows one after another, in this thread alone: other workers are busy beside it."""
    with in_one_thread():
        return [do_row(job, number) for number in numbers]


def rows_here(job: Job, numbers: Iterable[int], pause: float) -> Generator[list[Row], None, None]:
    """Do rows in this process; what is done is handed over after ``pause`` seconds, and at the end or at Ctrl-C."""
    done: list[Row] = []
    handed = perf_counter()
    try:
        for number in numbers:
            done.append(do_row(job, number))
            if perf_counter() - handed >= pause:
                yield done
                done, handed = [], perf_counter()
    except KeyboardInterrupt:
        if done:
            yield done
        raise
    if done:
        yield done
