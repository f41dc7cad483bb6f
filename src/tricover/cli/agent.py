"""``tricover agent``: one agent of a fleet, on any machine."""

from pathlib import Path
from typing import Annotated

import typer

from tricover.cli.console import Quiet, load_kernels, note
from tricover.cli.fleet_manners import USUAL, Clock, Grace, Homing, Limit, Patience, Rate, Silence, Timing, manners_of
from tricover.cli.fleet_table import Router

__all__ = ["agent"]


def agent(
    scenario: Annotated[Path, typer.Argument(help="The scenario, a TOML file: the same for all.", show_default=False)],
    number: Annotated[
        int, typer.Option("--id", metavar="I", min=0, help="Which agent it is, from 0 on.", show_default=False)
    ],
    router: Router = "tls/localhost:7447",
    key_folder: Annotated[
        Path | None, typer.Option("--keys", help="Its own keys, such as mykeys/agent-7.", show_default=False)
    ] = None,
    flight: Annotated[
        str,
        typer.Option(
            help="A name for this flight: the same for all, a new one each time. Other flights are not heard."
        ),
    ] = "",
    clock: Clock = USUAL.clock,
    rate: Rate = USUAL.rate,
    limit: Limit = USUAL.limit,
    patience: Patience = USUAL.patience,
    grace: Grace = USUAL.grace,
    silence: Silence = USUAL.silence,
    homing: Homing = USUAL.homing,
    quiet: Quiet = False,
) -> None:
    """Be one agent of a fleet: hear three others, decide alone, drive the vehicle, say where it is.

    It needs a router ([bold]tricover fleet route[/bold]) and keys ([bold]tricover fleet keys[/bold]).

    It ends after the scenario's steps, or when the operator says so ([bold]tricover fleet order[/bold]).

    Without keys, over tcp/ or udp/, anybody can speak for anybody: for trials only.

    [bold]Examples[/bold]

      tricover agent field.toml --id 7 --router 'quic/base.lan:7447?mixed_rel=1' --keys mykeys/agent-7

      tricover agent field.toml --id 7 --router tcp/localhost:7447 --clock rate --rate 5
    """
    manners = manners_of(Timing(clock, rate, limit, patience, grace, silence, homing))
    load_kernels(quiet)
    from tricover.fleet.ground import fly_alone
    from tricover.simulation import Mission, Scenario

    mission = Mission.of(Scenario.load(scenario))
    if not quiet:
        note(f"Agent {number} of {mission.agents}, by {router}")
    member = fly_alone(mission, number, router, key_folder, flight, manners)
    if not quiet:
        x, y = member.position.tolist()
        note(f"Agent {number} ended at step {member.step}, at ({x:.3f}, {y:.3f}) m")
