"""``tricover report``: a run as one HTML file."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from tricover.cli.console import AsJson, Quiet, note
from tricover.cli.places import Output, check_output
from tricover.cli.subject import RunPath, open_run
from tricover.errors import FileFormatError

__all__ = ["report"]


def report(
    run: RunPath,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The HTML file; else the run's name with .html.", show_default=False),
        Output(),
    ] = None,
    open_it: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write a run as one HTML file that needs nothing else: playback, figures, certificate, how to run it again.

    It opens from disk, without a network. Exit code 0: written, whatever the run's verdict; 2: bad input.

    [bold]Examples[/bold]

      tricover report paper-57.zarr --open

      tricover report paper-57.toml -o paper-57.html
    """
    path = output or Path(f"{run.stem}.html")
    if path.suffix.lower() not in (".html", ".htm"):
        raise FileFormatError(f"{path}: a report is an HTML file; give it the ending .html")
    check_output(path, [run], Output())
    opened = open_run(run, quiet or as_json)
    import matplotlib as mpl

    from tricover.report import findings_of, write_findings

    mpl.use("Agg")
    with _working(wanted=not quiet and not as_json) as progress:
        progress("findings")
        found = findings_of(opened)
        write_findings(found, path, progress=progress)
    if as_json:
        verdicts = {
            "converged": opened.converged,
            "settled_at": opened.settled_at,
            "certificate": found.certificate.holds,
        }
        typer.echo(json.dumps({"report": str(path), "bytes": path.stat().st_size, **verdicts}, indent=2))
    elif not quiet:
        note(f"Wrote {path} ({path.stat().st_size / 1e6:.1f} MB)")
    if open_it:
        typer.launch(path.absolute().as_uri())


@contextmanager
def _working(wanted: bool) -> Iterator[Callable[[str], None]]:
    """Where there is a terminal: which section is being made."""
    if not wanted or not sys.stderr.isatty():
        yield lambda section: None
        return
    from rich.console import Console

    with Console(stderr=True).status("Report") as status:
        yield lambda section: status.update(f"Report: {section}")
