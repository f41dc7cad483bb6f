"""``tricover plot``: figures of a run."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tricover.cli.console import AsJson, Quiet, new_table, note, show
from tricover.cli.places import Output, check_output
from tricover.cli.subject import open_run
from tricover.errors import FileFormatError, InputError

if TYPE_CHECKING:
    from tricover.plot.kinds import Subject

__all__ = ["plot"]


def plot(
    run: Annotated[
        Path | None,
        typer.Argument(help="A run's folder, or a scenario, TOML, that is run first.", show_default=False),
    ] = None,
    kind: Annotated[
        str | None, typer.Argument(help="Which figure: see --list; 'all' draws each.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The file: .png, .svg or .pdf; for 'all' a folder. Else it is named after run and figure.",
            show_default=False,
        ),
        Output("any", shared=True),
    ] = None,
    agent: Annotated[
        int | None,
        typer.Option(
            help="Agent of 'coordinates', 'sight', 'story', 'tube', from 0; else who starts farthest from its place.",
            show_default=False,
        ),
    ] = None,
    step: Annotated[int, typer.Option(help="Step of 'voronoi' and 'transition'; -1 is the last.")] = -1,
    width: Annotated[
        Literal["column", "page"] | None,
        typer.Option(help="Width of a printed column or page; else what suits the figure.", show_default=False),
    ] = None,
    ending: Annotated[
        Literal["png", "svg", "pdf"], typer.Option("--format", help="Format of figures that are named by us.")
    ] = "png",
    listing: Annotated[bool, typer.Option("--list", help="Say which figures there are.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Draw figures of a run, ready for print. Agents are numbered from 0.

    [bold]Examples[/bold]

      tricover plot paper-57.zarr paths

      tricover plot paper-57.zarr story --agent 28 -o story.pdf

      tricover plot paper-57.toml all --format svg -o figures
    """
    if listing:
        _list(as_json)
        return
    if run is None or kind is None:
        raise InputError("which run, and which figure? Such as: tricover plot paper-57.zarr paths; --list names them")
    place = _place(run, kind, output, ending)
    from tricover.plot.kinds import Subject

    subject = Subject(open_run(run, quiet=quiet or as_json), agent, step)
    files, left_out = _draw(subject, kind, place, ending, width)
    if as_json:
        typer.echo(json.dumps({"files": [str(file) for file in files], "left_out": left_out}))
    elif not quiet:
        for name, reason in left_out.items():
            note(f"No figure {name!r}: {reason}")
        note(f"Wrote {files[0] if kind != 'all' else f'{len(files)} figures to {files[0].parent}'}")


def _place(run: Path, kind: str, output: Path | None, ending: str) -> Path:
    """Where to write; what can be known to be wrong before the run is opened is an error."""
    from tricover.plot.kinds import kind_named
    from tricover.plot.style import check_ending

    if kind == "all":
        place = output or Path(f"{run.stem}-figures")
        check_output(place, [run], Output("folder", shared=True))
        return place
    kind_named(kind)
    place = output or Path(f"{run.stem}-{kind}.{ending}")
    check_ending(place)
    check_output(place, [run], Output())
    return place


def _draw(
    subject: "Subject", kind: str, place: Path, ending: str, width: str | None
) -> tuple[list[Path], dict[str, str]]:
    """The files that were written; of 'all' also which figures there are not for this run, and why."""
    from tricover.plot.kinds import KINDS

    if kind != "all":
        _save(subject, kind, place, width)
        return [place], {}
    from tricover.formats import make_folder

    try:
        make_folder(place)
    except OSError as error:
        raise FileFormatError(f"cannot write to {place}: {error.strerror or error}") from error
    files, left_out = [], {}
    for each in KINDS:
        path = place / f"{each}.{ending}"
        try:
            _save(subject, each, path, width)
            files.append(path)
        except FileFormatError:  # cannot be written: nor can the others
            raise
        except InputError as error:
            left_out[each] = str(error)
    return files, left_out


def _save(subject: "Subject", kind: str, path: Path, width: str | None) -> None:
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    from tricover.plot.kinds import KINDS
    from tricover.plot.style import COLUMN, PAGE, figure_of, save_figure

    mpl.use("Agg")
    before = plt.get_fignums()
    try:
        figure = figure_of(KINDS[kind].draw(subject))
        if width is not None:
            inches = {"column": COLUMN, "page": PAGE}[width]
            figure.set_size_inches(inches, figure.get_figheight() * inches / figure.get_figwidth())
        save_figure(figure, path)
    finally:
        for number in set(plt.get_fignums()) - set(before):
            plt.close(number)


def _list(as_json: bool) -> None:
    from tricover.plot.kinds import KINDS

    if as_json:
        typer.echo(json.dumps({name: kind.about for name, kind in KINDS.items()}))
        return
    table = new_table("Figures of a run", kind="left", shows="left")
    for name, kind in KINDS.items():
        table.add_row(name, kind.about)
    table.add_row("all", "each of these, in a folder")
    show(table)
