"""``tricover fleet``: all agents of a scenario as processes on this machine; keys, orders and records of flights."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from tricover.cli.console import AsJson, Quiet, load_kernels, new_table, note, show
from tricover.cli.fleet_ground import order, record, recover, route
from tricover.cli.fleet_keys import keys
from tricover.cli.fleet_manners import USUAL, Clock, Grace, Homing, Limit, Patience, Rate, Silence, Timing, manners_of
from tricover.cli.fleet_table import Overwrite, live_table, milliseconds
from tricover.cli.places import Output, guarded
from tricover.cli.watching import Browser, Port, both, endless, page_of, stay, watching_of
from tricover.errors import plain
from tricover.units import length

if TYPE_CHECKING:
    from tricover.fleet.flight import Flown

__all__ = ["app"]

Links = Literal["tls", "quic", "tcp", "udp"]
WATCHED_RATE = 5.0
"""Steps per second of a flight that is watched: at full speed a team has settled before its page is open."""


class _FlyFirst(TyperGroup):
    """What is no command of the group is a scenario to fly: ``tricover fleet field.toml``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command "fly" before a scenario and its options."""
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = ["fly", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    name="fleet",
    cls=_FlyFirst,
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Agents as processes of their own. All on this machine: [bold]tricover fleet SCENARIO -o RUN.zarr[/bold]",
)


def fly(
    scenario: Annotated[Path, typer.Argument(help="The scenario, a TOML file.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A folder for the run, as the recorder hears it; else nothing is kept."),
        Output("folder"),
    ] = None,
    overwrite: Overwrite = False,
    clock: Clock = USUAL.clock,
    rate: Rate = USUAL.rate,
    limit: Limit = USUAL.limit,
    patience: Patience = USUAL.patience,
    grace: Grace = USUAL.grace,
    silence: Silence = USUAL.silence,
    homing: Homing = USUAL.homing,
    key_folder: Annotated[
        Path | None, typer.Option("--keys", help="A folder made by tricover fleet keys; else new keys for this flight.")
    ] = None,
    links: Annotated[
        Links, typer.Option(help="How processes are connected: tls, quic (for radios), or unencrypted tcp or udp.")
    ] = "tls",
    unsigned: Annotated[
        bool,
        typer.Option("--unsigned", help="Sign nothing, to measure what signing costs. Only with --links tcp or udp."),
    ] = False,
    loss: Annotated[float, typer.Option(metavar="P", help="Fault: messages are lost with this chance.")] = 0.0,
    delay: Annotated[float, typer.Option(metavar="S", help="Fault: messages are late by so many seconds.")] = 0.0,
    kill: Annotated[
        list[str] | None,
        typer.Option(metavar="WHO@S", help="Fault: kill agents, or the router (router@S), at second S."),
    ] = None,
    freeze: Annotated[
        list[str] | None, typer.Option(metavar="WHO@S:D", help="Fault: freeze agents at second S for D seconds.")
    ] = None,
    partition: Annotated[
        list[str] | None,
        typer.Option(metavar="WHO@S:D", help="Fault: cut agents off from all others at second S, for D seconds."),
    ] = None,
    join: Annotated[
        list[str] | None,
        typer.Option(metavar="WHO@S", help="Agents that begin only at second S, or again after a kill."),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(metavar="S", help="End the flight after so many seconds, at the latest.")
    ] = None,
    studio: Annotated[
        bool,
        typer.Option(
            "--studio",
            help="Open the studio's page on the flight, which goes on until it is ended there; 5 steps a second if "
            "--rate is not said.",
        ),
    ] = False,
    port: Port = None,
    browser: Browser = True,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Fly all agents of a scenario as processes on this machine, and record what they say.

    The flight ends when the team has settled, or after the scenario's steps.

    Faults are given as 3,7-9@12 (agents 3 and 7 to 9, at second 12), or 3,7-9@12:10 (for 10 seconds).
    Seconds count from when all have taken a step. Each can be given several times.

    Exit codes are those of [bold]tricover run[/bold].

    [bold]Examples[/bold]

      tricover fleet paper-57.toml -o flown.zarr

      tricover fleet paper-57.toml --loss 0.3 --links quic --kill 5,12@4 --freeze 20@5:3

      tricover fleet paper-57.toml --kill router@3 --partition 0-27@6:10

      tricover fleet paper-57.toml --studio
    """
    load_kernels(quiet)
    from tricover.fleet.crew import ROUTER, Settings
    from tricover.fleet.faults import Faults, Partition, at_times
    from tricover.fleet.flight import fly_fleet
    from tricover.simulation import Mission, Scenario, forecast

    mission = Mission.of(Scenario.load(scenario))
    if studio:
        mission = endless(mission)
        rate = WATCHED_RATE if rate is None and clock != "rate" else rate
    manners = manners_of(Timing(clock, rate, limit, patience, grace, silence, homing))
    agents = mission.agents
    cut = [Partition.of(at) for at in at_times(partition or (), "partition", agents, lasts=True)]
    faults = Faults(loss, delay, tuple(cut), mission.scenario.seed, on_demand=studio)
    settings = Settings(
        manners,
        key_folder,
        not unsigned,
        links,
        faults,
        tuple(at_times(kill or (), "kill", agents, [ROUTER])),
        tuple(at_times(freeze or (), "freeze", agents, lasts=True)),
        tuple(at_times(join or (), "join", agents)),
        seconds,
    )
    if not quiet and not as_json:
        for notice in forecast(mission):
            note(f"Before the start: {notice}.")

    def tell(flown: "Flown") -> None:
        facts = _facts(flown, output)
        if as_json:
            typer.echo(json.dumps(facts, indent=2))
        elif not quiet:
            _show(facts)

    with ExitStack() as stack:
        watching = watching_of(mission, orders=True, processes=True, loss=loss) if studio else None
        if watching is not None:
            stack.enter_context(page_of(watching, "127.0.0.1", port, browser, note if as_json else typer.echo))
        with live_table(not quiet and not as_json, mission.agents) as progress:
            follow = progress if watching is None else both(watching, progress)
            controls = None if watching is None else watching.controls
            flown = fly_fleet(mission, settings, output, overwrite, progress=follow, controls=controls)
        tell(flown)
        if watching is not None and not flown.interrupted:
            stay(watching, flown, output is not None, quiet)
    if flown.interrupted:
        raise typer.Exit(130)
    raise typer.Exit(0 if flown.run.converged else 1)


def _facts(flown: "Flown", output: Path | None) -> dict[str, Any]:
    report = flown.report
    return {
        **flown.run.summary(),
        "rounds_per_second": flown.rounds,
        "seconds": flown.seconds,
        "alive": flown.alive,
        "agreed": report.agreed,
        "agreed_after": flown.agreed_after,
        "messages": report.messages,
        "latency": list(report.latency),
        "dropped": report.refused,
        "memory_per_agent": flown.memory,
        "disorderly": flown.exits,
        "store": None if output is None else str(output),
    }


def _show(facts: dict[str, Any]) -> None:
    table = new_table(f"{facts['name']}, flown by {facts['agents']} agents", flight="left", result="left")
    settled = "no" if facts["settled_at"] is None else f"at step {facts['settled_at']}"
    memory = facts["memory_per_agent"]
    rows = {
        "steps": f"{facts['steps']}, {facts['rounds_per_second']:.1f} a second",
        "alive at the end": str(facts["alive"]),
        "settled": settled,
        "converged": "yes" if facts["converged"] else "no",
        "largest distance to the desired positions": length(facts["largest_error"]),
        "messages heard": f"{facts['messages']}, {milliseconds(tuple(facts['latency']))} old (median, 99%)",
        "messages dropped": ", ".join(f"{count} {why}" for why, count in facts["dropped"].items()) or "none",
        "memory of an agent's own": "unknown" if memory is None else f"{memory:.0f} MB",
        "kept in": plain(facts["store"] or "") or "nothing (-o FOLDER keeps the run)",
    }
    if "oldest_message" in facts:
        rows["oldest message acted on"] = f"{facts['oldest_message']} steps"
    if facts["disorderly"]:
        rows["ended in disorder"] = ", ".join(f"agent {name} ({code})" for name, code in facts["disorderly"].items())
    for name, value in rows.items():
        table.add_row(name, value)
    show(table)


for _command in (fly, order, route, record, recover, keys):
    app.command()(guarded(_command))
