"""``tricover fleet``: all agents of a scenario as processes on this machine; keys, orders and records of flights."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from tricover.cli.console import AsJson, Quiet, load_kernels, new_table, note, show
from tricover.cli.fleet_keys import keys
from tricover.cli.places import Output, guarded
from tricover.errors import InputError, plain
from tricover.units import length

if TYPE_CHECKING:
    from tricover.fleet.flight import Flown
    from tricover.fleet.tower import Report, Tower
    from tricover.simulation import Run

__all__ = ["app"]

Clocks = Literal["lockstep", "rate", "fast"]
Links = Literal["tls", "quic", "tcp", "udp"]


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

Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Take the place of the run in the output folder; never of anything else.")
]
Router = Annotated[str, typer.Option(help="Where the router listens.")]
Flight = Annotated[str, typer.Option(help="The name of the flight that its agents were given.")]
Clock = Annotated[
    Clocks,
    typer.Option(
        help="When agents take a step. lockstep: when they have heard from all to whom they listen, or after --limit. "
        "rate: by the clock. fast: as lockstep, without a limit."
    ),
]
Rate = Annotated[
    float | None,
    typer.Option(metavar="HZ", help="Steps per second, at most. With --clock rate: just so many, 10 if not said."),
]
Limit = Annotated[
    float | None,
    typer.Option(metavar="S", help="Seconds that an agent waits for others in a step, at most; 0.5 if not said."),
]
Patience = Annotated[
    float,
    typer.Option(metavar="S", help="Seconds that another has to be missed, or back, before an agent believes it."),
]
Grace = Annotated[float, typer.Option(metavar="S", help="Seconds at the start in which all are taken for alive.")]
Silence = Annotated[
    float, typer.Option(metavar="S", help="Seconds without a word from anybody after which an agent stays where it is.")
]
Homing = Annotated[
    float, typer.Option(metavar="S", help="Seconds of further silence after which it goes home and lands.")
]


def fly(
    scenario: Annotated[Path, typer.Argument(help="The scenario, a TOML file.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A folder for the run, as the recorder hears it; else nothing is kept."),
        Output("folder"),
    ] = None,
    overwrite: Overwrite = False,
    clock: Clock = "lockstep",
    rate: Rate = None,
    limit: Limit = None,
    patience: Patience = 0.6,
    grace: Grace = 15.0,
    silence: Silence = 10.0,
    homing: Homing = 30.0,
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
    """
    load_kernels(quiet)
    from tricover.fleet.crew import ROUTER, Settings
    from tricover.fleet.faults import Faults, Partition, at_times
    from tricover.fleet.flight import fly_fleet
    from tricover.simulation import Mission, Scenario, forecast

    mission = Mission.of(Scenario.load(scenario))
    manners = manners_of(clock, rate, limit, patience, grace, silence, homing)
    agents = mission.agents
    cut = [Partition.of(at) for at in at_times(partition or (), "partition", agents, lasts=True)]
    faults = Faults(loss, delay, tuple(cut), mission.scenario.seed)
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
    with _live(not quiet and not as_json, mission.agents) as progress:
        flown = fly_fleet(mission, settings, output, overwrite, progress=progress)
    facts = _facts(flown, output)
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
    elif not quiet:
        _show(facts)
    if flown.interrupted:
        raise typer.Exit(130)
    raise typer.Exit(0 if flown.run.converged else 1)


def manners_of(
    clock: Clocks,
    rate: float | None,
    limit: float | None,
    patience: float,
    grace: float,
    silence: float,
    homing: float,
) -> Any:
    """How agents behave, by the options of the command."""
    from tricover.fleet.agent import Manners
    from tricover.fleet.clock import clock_of
    from tricover.fleet.membership import Patience

    if not (silence > 0 and homing >= 0):
        raise InputError(
            f"--silence {silence:g} --homing {homing:g}: give a positive number of seconds, and one from 0 on"
        )
    return Manners(clock_of(clock, rate, limit), Patience(patience, grace), silence=silence, homing=homing)


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
        from tricover.fleet.faults import at_times

        values["agents"] = [int(name) for name in at_times([f"{agents}@0"], "agents", mission.agents)[0].members]
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
    with _live(not quiet, mission.agents) as progress:
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


for _command in (fly, order, route, record, recover, keys):
    app.command()(guarded(_command))


@contextmanager
def _live(wanted: bool, agents: int) -> Iterator["Callable[[Report, Tower], None] | None"]:
    """A table that follows the flight, where there is a terminal."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), refresh_per_second=8, transient=True) as live:
        yield lambda report, tower: live.update(_table(report, agents))


def _table(report: "Report", agents: int) -> Any:
    table = new_table("In flight", fleet="left", now="left")
    steps = "waiting for all to speak" if report.step < 0 else f"{report.step} to {report.fastest}"
    table.add_row("steps", steps)
    table.add_row("alive", f"{report.living} of {agents}")
    table.add_row("at their goals", str(report.settled))
    table.add_row("beliefs", "all agree" if report.agreed else f"{max(report.beliefs, 1)}: not agreed yet")
    table.add_row("messages", f"{report.messages}, {_milliseconds(report.latency)} to be heard (median, 99%)")
    table.add_row("dropped", ", ".join(f"{count} {reason}" for reason, count in report.refused.items()) or "none")
    return table


def _milliseconds(seconds: tuple[float, float]) -> str:
    return " and ".join(f"{1000 * value:.1f} ms" for value in seconds)


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
        "messages heard": f"{facts['messages']}, {_milliseconds(tuple(facts['latency']))} old (median, 99%)",
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
