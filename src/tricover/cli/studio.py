"""``tricover studio``: the interactive page."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tricover.cli.console import AsJson, Quiet, load_kernels, note
from tricover.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from tricover.simulation import Run, Scenario

__all__ = ["first_team", "studio"]


def studio(
    subject: Annotated[
        Path | None,
        typer.Argument(metavar="[SCENARIO|RUN]", help="A scenario, TOML, or a run's folder; else the paper's team."),
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port; else 8765, or one that is free. 0: any that is free.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on; another one lets other machines in.")] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Place, drag, run and look inside, on one page in the browser, until Ctrl-C.

    Prints its address, token included, in one line. Who has it can do what the page can: read and write scenarios
    below the folder that the command was started in.

    [bold]Examples[/bold]

      tricover studio

      tricover studio mine.toml --port 9000 --no-browser
    """
    load_kernels(quiet or as_json)
    try:
        from tricover.studio.server import listening, serve, token_of
    except ImportError as error:
        raise MissingExtraError(f"the studio needs {error.name}: pip install 'tricover[studio]'") from None
    from tricover.studio import Session

    session = Session(_opened(subject), Path.cwd())
    opened = listening(host, port)

    def ready(address: str) -> None:
        typer.echo(json.dumps({"address": address}) if as_json else address)
        if not quiet and not as_json:
            note("The studio runs until Ctrl-C.")
        if browser:
            typer.launch(address)

    serve(session, opened, token_of(), ready)


def first_team() -> "Scenario":
    """The paper's team, walking in cells that are large enough to be seen."""
    from importlib.resources import as_file, files

    from tricover.simulation import Scenario

    with as_file(files("tricover.paper")) as folder:
        scenario = Scenario.load(folder / "paper-57.toml").self_contained()
    return scenario.replace(control={"motion": "walk", "resolution": 12})


def _opened(path: Path | None) -> "Scenario | Run":
    """The scenario or the run at a path; without one the paper's team."""
    from tricover.simulation import Run, Scenario

    if path is None:
        return first_team()
    if path.suffix == ".toml":
        return Scenario.load(path)
    if not path.is_dir():
        raise InputError(f"{path}: neither a scenario (.toml) nor a run's folder")
    return Run.open(path)
