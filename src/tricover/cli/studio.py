"""``tricover studio``: the interactive page."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tricover.cli.console import AsJson, Quiet, load_kernels, note
from tricover.cli.watching import Browser, Port, studio_server, watch_fleet
from tricover.errors import InputError

if TYPE_CHECKING:
    from tricover.simulation import Mission, Run, Scenario

__all__ = ["first_team", "studio"]


def studio(
    subject: Annotated[
        Path | None,
        typer.Argument(metavar="[SCENARIO|RUN]", help="A scenario, TOML, or a run's folder; else the paper's team."),
    ] = None,
    port: Port = None,
    host: Annotated[str, typer.Option(help="Address to listen on; another one lets other machines in.")] = "127.0.0.1",
    browser: Browser = True,
    router: Annotated[
        str | None, typer.Option(help="Watch a fleet that flies SCENARIO: where its router listens.")
    ] = None,
    key_folder: Annotated[
        Path | None,
        typer.Option("--keys", help="With --router: the operator's keys, or the recorder's, which only watch."),
    ] = None,
    flight: Annotated[str, typer.Option(help="With --router: the name of the flight.")] = "",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Place, drag, run and look inside, on one page in the browser, until Ctrl-C. With --router: watch a fleet.

    Prints its address, token included, in one line. Who has it can do what the page can: read and write scenarios
    below the folder that the command was started in.

    [bold]Examples[/bold]

      tricover studio

      tricover studio mine.toml --port 9000 --no-browser

      tricover studio field.toml --router tls/base.lan:7447 --keys mykeys/operator --flight monday
    """
    load_kernels(quiet or as_json)
    server = studio_server()
    from tricover.studio import Session

    def say(address: str) -> None:
        typer.echo(json.dumps({"address": address}) if as_json else address)
        if not quiet and not as_json:
            note("The studio runs until Ctrl-C.")

    if router is not None:
        watch_fleet(_flown(subject), router, key_folder, flight, host, port, browser, say)
        return
    if key_folder is not None or flight:
        raise InputError("--keys and --flight are for a fleet: say where its --router listens")
    session = Session(_opened(subject), Path.cwd())
    opened = server.listening(host, port)

    def ready(address: str) -> None:
        say(address)
        if browser:
            typer.launch(address)

    server.serve(session, opened, server.token_of(), ready)


def _flown(path: Path | None) -> "Mission":
    """The mission of a fleet that is watched."""
    from tricover.simulation import Mission, Scenario

    if path is None or path.suffix != ".toml":
        raise InputError("to watch a fleet, name the scenario that it flies, a TOML file")
    return Mission.of(Scenario.load(path))


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
