"""``tricover sweep``: all runs of a study, in a table."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tricover.cli.console import AsJson, Quiet, load_kernels, new_table, note, progress_bar, show
from tricover.cli.places import Output
from tricover.errors import FileFormatError, InputError, plain
from tricover.units import number

if TYPE_CHECKING:
    from rich.table import Table

    from tricover.report import StudyView
    from tricover.studies import StudyProgress

__all__ = ["sweep"]

_SHOWN = 3  # errors that are said one by one


def sweep(
    study: Annotated[Path, typer.Argument(help="The study, a TOML file.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The table: .parquet or .csv. Results are kept as they come; else nothing is."
        ),
        Output(),
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Write a figure of the means: .png, .svg or .pdf.", show_default=False), Output()
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a page about the study: .html.", show_default=False), Output()
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Processes on this machine; else one for each core, if that is quicker."),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Do it on the Dask cluster of this scheduler.", show_default=False),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Begin anew what was begun for this table; else it goes on.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run a scenario in many variants, and measure each run.

    Killed or interrupted, the same command goes on with what is missing. Exit code 0: all runs are done; 1: some of
    them failed, and the table says why; 2: bad input; 130: interrupted, and the table has what was done.

    [bold]Examples[/bold]

      tricover sweep paper-question.toml -o depth.parquet --figure depth.pdf

      tricover sweep paper-question.toml -o depth.csv --report depth.html --workers 8

      tricover sweep paper-question.toml -o depth.parquet --scheduler tcp://10.0.0.1:8786
    """
    _check(output, figure, report, overwrite)
    if scheduler is not None and workers is not None:
        raise InputError("--workers are processes on this machine, and a cluster has its own: leave one of them out")
    load_kernels(quiet)
    from tricover.studies import Study
    from tricover.studies import sweep as sweep_study
    from tricover.studies.showing import view_of

    asked = Study.load(study)
    with _watched(wanted=not quiet and not as_json) as progress:
        table = sweep_study(
            asked, client=scheduler, store=output, overwrite=overwrite, workers=workers, progress=progress
        )
    left = table.attrs["runs"] - len(table)
    view = view_of(asked, table)
    if not left:
        _draw(view, figure)
        _write_page(view, report)
    written = [path for path in (output, *(() if left else (figure, report))) if path is not None]
    failed = len(view.failed)
    if as_json:
        typer.echo(json.dumps(_document(view, left, written), indent=2))
    elif not quiet:
        show(_summary(view))
    if not (quiet or as_json):
        for row, error in view.failed[:_SHOWN]:
            note(f"Run {row} failed: {error}")
        if failed > _SHOWN:
            note(f"… and {failed - _SHOWN:,} more: the column error of the table has them")
        for path in written:
            note(f"Wrote {path}")
    if left:
        if not quiet:
            again = f" Go on with: tricover sweep {quote(str(study))} -o {quote(str(output))}" if output else ""
            note(f"Interrupted: {left:,} of {table.attrs['runs']:,} runs are to do.{again}")
        raise typer.Exit(130)
    raise typer.Exit(1 if failed else 0)


def _check(output: Path | None, figure: Path | None, report: Path | None, overwrite: bool) -> None:
    """Complain before long work about what cannot be written after it."""
    if overwrite and output is None:
        raise InputError("--overwrite goes with --output: which table is it?")
    if output is not None:
        from tricover.studies.table import check_table_name

        check_table_name(output)
    if figure is not None:
        from tricover.plot.style import check_ending

        check_ending(figure)
    if report is not None and report.suffix.lower() not in (".html", ".htm"):
        raise FileFormatError(f"{report}: a page is an HTML file; give it the ending .html")


@contextmanager
def _watched(wanted: bool) -> "Iterator[Callable[[StudyProgress], None] | None]":
    """Where there is a terminal: how many runs are done, and the time left."""
    with progress_bar("runs", wanted) as bar:
        yield None if bar is None else lambda now: bar(now.done, now.total)


def _draw(view: "StudyView", path: Path | None) -> None:
    if path is None:
        return
    import matplotlib as mpl

    from tricover.plot import plot_sweep, save_figure

    mpl.use("Agg")
    if view.over is None or not view.drawn:
        raise InputError("there is nothing to draw: no key has two values, or no measure is a number")
    save_figure(plot_sweep(view.table, view.over, view.drawn, view.by, view.across), path)


def _write_page(view: "StudyView", path: Path | None) -> None:
    if path is None:
        return
    import matplotlib as mpl

    from tricover.report import write_study

    mpl.use("Agg")
    write_study(view, path)


def _spread(view: "StudyView") -> list[dict[str, Any]]:
    """Mean, least and most of each measure, and the key that explains most of it."""
    import numpy as np

    from tricover.statistics import main_effects, numbers_of

    effects = main_effects(view.table, view.keys, view.measures)
    found = []
    for measure in view.measures:
        values = numbers_of(view.table, measure)
        there = values[np.isfinite(values)]
        facts = [float(value) for value in (there.mean(), there.min(), there.max())] if there.size else [None] * 3
        key, share = effects.strongest(measure) or (None, None)
        spread = dict(zip(("mean", "least", "most"), facts, strict=True))
        found.append({"measure": measure, **spread, "strongest": key, "share": share})
    return found


def _document(view: "StudyView", left: int, written: list[Path]) -> dict[str, Any]:
    return {
        "study": view.name,
        "runs": view.runs + left,
        "done": view.runs,
        "failed": len(view.failed),
        "keys": list(view.keys),
        "measures": _spread(view),
        "errors": [{"run": row, "error": error} for row, error in view.failed],
        "files": [str(path) for path in written],
    }


def _summary(view: "StudyView") -> "Table":
    from tricover.plot.study import words_for

    table = new_table(
        f"{view.name}: {view.runs:,} runs", measure="left", mean="right", least="right", most="right", matters="left"
    )
    for one in _spread(view):
        facts = ["–" if one[name] is None else number(one[name]) for name in ("mean", "least", "most")]
        most = "" if not one["share"] else f"{one['strongest']} ({100 * one['share']:.0f} %)"
        table.add_row(words_for(one["measure"]), *facts, plain(most))
    table.caption = "matters: the key that explains most of the variance alone"
    table.caption_justify = "left"
    return table
