"""The run that a command is about: one on disk, or a scenario that is run first."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tricover.cli.console import load_kernels, note
from tricover.errors import InputError
from tricover.units import length

if TYPE_CHECKING:
    from tricover.simulation import Progress, Run

__all__ = ["RunPath", "open_run", "step_bar"]

RunPath = Annotated[
    Path,
    typer.Argument(metavar="RUN", help="A run's folder, or a scenario, TOML, that is run first.", show_default=False),
]


def open_run(path: Path, quiet: bool) -> "Run":
    """The stored run at a path, or the run of the scenario at it; a run that was cut short says so on stderr."""
    load_kernels(quiet)
    from tricover.simulation import Run, Scenario, simulate
    from tricover.vehicles import flies_for_real

    if path.suffix == ".toml":
        scenario = Scenario.load(path)
        if any(flies_for_real(kind.made()) for kind in (scenario.vehicle, *scenario.vehicle.others)):
            raise InputError(
                f"{path}: its vehicles would fly for real: tricover run it first, and give the run's folder"
            )
        with step_bar(wanted=not quiet) as progress:
            run = simulate(scenario, progress=progress)
        if run.interrupted:
            raise KeyboardInterrupt
        return run
    if not path.is_dir():
        what = "not a run's folder" if path.exists() else "no such run"
        raise InputError(f"{path}: {what}; tricover run SCENARIO -o {path.with_suffix('.zarr')} makes one")
    run = Run.open(path)
    if not run.steps:
        raise InputError(f"{path}: no step of this run was kept; go on with tricover run SCENARIO -o {path} --resume")
    if run.interrupted and not quiet:
        note(f"{path}: this run was cut short after step {run.steps}; here is what was kept")
    return run


@contextmanager
def step_bar(wanted: bool) -> Iterator[Callable[["Progress"], None] | None]:
    """Where there is a terminal: step, layers settled, largest error, time left."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    told = TextColumn("layers {task.fields[layers]}  error {task.fields[error]}")
    columns = (TextColumn("step"), MofNCompleteColumn(), BarColumn(), told, TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("run", total=None, layers="", error="")

        def update(now: "Progress") -> None:
            layers, error = f"{now.layers}/{now.depth + 1}", length(now.largest_error)
            bar.update(task, completed=now.step, total=now.steps, layers=layers, error=error)

        yield update
