"""``tricover run --in-parts``: run a huge team part by part."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from tricover.cli.console import load_kernels, new_table, note, show
from tricover.errors import InputError, plain
from tricover.units import length

if TYPE_CHECKING:
    from tricover.simulation import Run
    from tricover.studies import PartsProgress

__all__ = ["run_in_parts"]


def run_in_parts(
    path: Path,
    output: Path | None,
    options: tuple[int | None, int | None, str | None],
    *,
    wrong: bool,
    as_json: bool,
    quiet: bool,
) -> NoReturn:
    """Run a scenario in parts, say how it went, and end: with agents per part, workers and scheduler as options."""
    agents, workers, scheduler = options
    if output is None:
        raise InputError("--in-parts goes with --output: parts are kept in a folder")
    if wrong:
        raise InputError("--in-parts goes on by itself with what is there: leave --resume and --overwrite out")
    if workers is not None and scheduler is not None:
        raise InputError("--workers are processes on this machine, and a cluster has its own: leave one of them out")
    load_kernels(quiet)
    from tricover.simulation import Scenario
    from tricover.studies import simulate_parts
    from tricover.studies.cluster import connected, own_cluster

    scenario = Scenario.load(path)
    cluster: Any = nullcontext()
    if scheduler is not None:
        cluster = connected(scheduler)
    elif workers is not None and workers > 1:
        cluster = own_cluster(workers)
    sizes: dict[str, int] = {} if agents is None else {"agents_per_part": agents}
    try:
        with _bar(wanted=not quiet and not as_json) as progress, cluster as client:
            run = simulate_parts(scenario, output, client, progress=progress, **sizes)
    except KeyboardInterrupt:
        if not quiet:
            note(f"Interrupted. Go on with: tricover run {quote(str(path))} -o {quote(str(output))} --in-parts")
        raise typer.Exit(130) from None
    _say(run, output, scenario.name, as_json=as_json, quiet=quiet)
    raise typer.Exit(0 if run.converged else 1)


def _say(run: "Run", output: Path, name: str, *, as_json: bool, quiet: bool) -> None:
    facts = {
        "name": name,
        "agents": run.agents,
        "steps": run.steps,
        "settled_at": run.settled_at,
        "converged": run.converged,
        "largest_error": run.largest_error,
        "misses": run.missed,
        "parts": _parts(run),
        "store": str(output),
    }
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
    if as_json or quiet:
        return
    rows = {
        "agents": f"{run.agents:,}",
        "parts": f"{facts['parts']:,} below the top" if facts["parts"] else "one piece: agents hear of others near by",
        "steps": str(run.steps),
        "settled": "no" if run.settled_at is None else f"at step {run.settled_at}",
        "converged": "yes" if run.converged else "no",
        "largest distance to the desired positions": length(run.largest_error),
        "missed reach sets": str(run.missed),
        "kept in": plain(str(output)),
    }
    table = new_table(name, run="left", result="left")
    for what, value in rows.items():
        table.add_row(what, value)
    show(table)


def _parts(run: "Run") -> int:
    """How many parts there are below the top; 0: the team was run in one piece."""
    from tricover.simulation.parts_reader import PartsReader

    return len(run.record.names(0)) - 1 if isinstance(run.record, PartsReader) else 0


@contextmanager
def _bar(wanted: bool) -> "Iterator[Callable[[PartsProgress], None] | None]":
    """Where there is a terminal: what is being done, how much of it, and the time left for it."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def update(now: "PartsProgress") -> None:
            if now.work != bar.tasks[0].description:
                bar.reset(task, description=now.work, total=now.pieces)
            bar.update(task, completed=now.done)

        yield update
