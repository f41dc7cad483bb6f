"""Commands of a fleet on several machines: orders, the router, a recorder, and runs of journals."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tricover.cli.console import Quiet, load_kernels, note
from tricover.cli.fleet_table import Flight, Overwrite, Router, live_table
from tricover.cli.places import Output
from tricover.errors import InputError, plain

if TYPE_CHECKING:
    from tricover.simulation import Run

__all__ = ["order", "record", "recover", "route"]


def order(
    word: Annotated[
        Literal["pause", "go", "hold", "home", "land", "targets", "end"], typer.Argument(help="What to do, see above.")
    ],
    scenario: Annotated[Path, typer.Argument(help="The scenario that is flown.", show_default=False)],
    router: Router = "tls/localhost:7447",
    key_folder: Annotated[
        Path | None, typer.Option("--keys", help="The operator's keys, such as mykeys/operator.", show_default=False)
    ] = None,
    flight: Flight = "",
    agents: Annotated[str | None, typer.Option(metavar="WHO", help="For some agents alone, such as 3,7-9.")] = None,
    targets: Annotated[Path | None, typer.Option(help="With targets: a point file with the new ones.")] = None,
    step: Annotated[int | None, typer.Option(help="With targets: the step from which on they count.")] = None,
    quiet: Quiet = False,
) -> None:
    """Give an order to a fleet that is in the air, signed with the operator's key.

    pause: all wait where they are. hold: agents stay where they are, and others go on. go: ends both.

    home: return to the start and land. land, end: land now, and end.

    targets: new targets instead of the old ones.

    [bold]Examples[/bold]

      tricover fleet order hold field.toml --keys mykeys/operator --agents 3,7-9

      tricover fleet order targets field.toml --keys mykeys/operator --targets new.csv --step 200
    """
    from tricover.fleet.ground import send_order
    from tricover.simulation import Mission, Scenario

    mission = Mission.of(Scenario.load(scenario))
    values: dict[str, Any] = {}
    if agents is not None:
        from tricover.fleet.faults import members_of

        values["agents"] = [int(name) for name in members_of(agents, f"--agents {agents}", mission.agents)]
    if (word == "targets") != (targets is not None and step is not None):
        raise InputError("new targets need both --targets FILE and --step T; other orders neither")
    if targets is not None:
        from tricover.targets import Targets

        found = Targets.from_file(targets)
        values |= {"step": step, "points": found.points.tolist()}
        values["weights"] = None if found.weights is None else found.weights.tolist()
    send_order(mission, router, key_folder, flight, word, values)
    if not quiet:
        note(f"Sent: {word}")


def route(
    endpoints: Annotated[list[str], typer.Argument(help="Where to listen, such as tls/0.0.0.0:7447; one or more.")],
    agents: Annotated[int, typer.Option("--agents", "-n", min=1, help="How many agents the fleet has.")],
    key_folder: Annotated[
        Path | None, typer.Option("--keys", help="The router's keys, such as mykeys/router.", show_default=False)
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Be the router of a fleet whose agents are on other machines, until Ctrl-C.

    All agents connect to it ([bold]tricover agent[/bold]). Use tls/ on cables, and quic/ on radios.

    [bold]Examples[/bold]

      tricover fleet route tls/0.0.0.0:7447 --agents 20 --keys mykeys/router

      tricover fleet route 'quic/0.0.0.0:7447?mixed_rel=1' --agents 20 --keys mykeys/router
    """
    from tricover.fleet.ground import route_until_stopped

    if not quiet:
        note(f"Routing for {agents} agents on {', '.join(endpoints)}; Ctrl-C ends it.")
    route_until_stopped(endpoints, key_folder, agents)


def record(
    scenario: Annotated[Path, typer.Argument(help="The scenario that is flown.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder for the run."), Output("folder")],
    router: Router = "tls/localhost:7447",
    key_folder: Annotated[
        Path | None, typer.Option("--keys", help="The recorder's keys, such as mykeys/recorder.", show_default=False)
    ] = None,
    flight: Flight = "",
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Listen to a fleet whose agents are anywhere, until all have ended or Ctrl-C, and make a run of it.

    The recorder says nothing, and nobody needs it. Begin it before the agents.

    [bold]Example[/bold]: tricover fleet record field.toml -o flown.zarr --keys mykeys/recorder --flight monday
    """
    load_kernels(quiet)
    from tricover.fleet.ground import record_flight
    from tricover.simulation import Mission, Scenario

    mission = Mission.of(Scenario.load(scenario))
    with live_table(not quiet, mission.agents) as progress:
        run = record_flight(mission, router, key_folder, flight, output, overwrite=overwrite, progress=progress)
    if not quiet:
        _note_run(output, run)


def recover(
    journal: Annotated[Path, typer.Argument(help="The journal of a flight, RUN.zarr.flight.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder for the run."), Output("folder")],
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Make a run of the journal of a flight: what was heard before its recorder was killed.

    [bold]Example[/bold]: tricover fleet recover flown.zarr.flight -o flown.zarr
    """
    load_kernels(quiet)
    from tricover.fleet.journal import tracks_of
    from tricover.fleet.recording import run_of

    run = run_of(tracks_of(journal), output, overwrite)
    if not quiet:
        _note_run(output, run)


def _note_run(output: Path, run: "Run") -> None:
    note(f"{plain(str(output))}: {run.steps} steps, {'converged' if run.converged else 'not converged'}")
