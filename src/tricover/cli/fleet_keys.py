"""``tricover fleet keys``: keys for all processes of a fleet."""

import json
from pathlib import Path
from typing import Annotated

import typer

from tricover.cli.console import AsJson, Quiet, new_table, note, show
from tricover.cli.places import Output
from tricover.errors import InputError, listed

__all__ = ["keys"]


def keys(
    folder: Annotated[
        Path,
        typer.Argument(help="A folder to make, or with --more one of keys that were made.", show_default=False),
        Output("folder", shared=True),
    ],
    agents: Annotated[
        int | None, typer.Option("--agents", "-n", metavar="N", min=1, help="For how many agents.", show_default=False)
    ] = None,
    scenario: Annotated[
        Path | None,
        typer.Option(help="Or for all agents of a scenario, those who join later included.", show_default=False),
    ] = None,
    more: Annotated[bool, typer.Option("--more", help="Add N agents to the keys in the folder.")] = False,
    host: Annotated[
        list[str] | None,
        typer.Option(help="A name or address of a machine of the fleet beside localhost. Can be repeated."),
    ] = None,
    days: Annotated[int, typer.Option(metavar="D", min=1, max=3650, help="For how long they are valid.")] = 365,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Make keys: who takes part in a fleet can prove it, and nobody else can speak for it.

    Every process gets a folder of its own: agent-0, agent-1 …, operator, recorder and router. Copy each to its machine,
    and nothing else. Keep the folder "authority" to yourself: with it more keys can be made.

    [bold]Examples[/bold]

      tricover fleet keys mykeys --agents 20

      tricover fleet keys mykeys --scenario field.toml --host base.lan --host 10.0.0.5

      tricover fleet keys mykeys --agents 2 --more
    """
    if more and agents is None:
        raise InputError("--more goes with --agents: how many join?")
    from tricover.fleet.keys import make_keys

    names = make_keys(folder, _count(agents, scenario), hosts=host or (), days=days, more=more)
    if as_json:
        typer.echo(json.dumps({"folder": str(folder), "names": names, "hosts": host or [], "days": days}, indent=2))
    elif not quiet:
        table = new_table(f"Keys of {len(names)} processes", keys="left", result="left")
        table.add_row("made for", listed(names))
        table.add_row("valid for", "1 day" if days == 1 else f"{days} days")
        table.add_row("machines", listed(["localhost", *(host or [])]))
        show(table)
        note(f"Wrote {folder}. Copy each folder in it to its own machine; keep {folder / 'authority'} to yourself.")
        if more:
            note(f"Machines that have keys already need the new {folder / 'authority' / 'roster.json'} too.")


def _count(agents: int | None, scenario: Path | None) -> int:
    """How many agents there are: as given, or all that a scenario has in the end."""
    if agents is not None and scenario is None:
        return agents
    if agents is not None or scenario is None:
        raise InputError("how many agents are there? give either --agents N or --scenario FILE")
    from tricover.simulation import Scenario
    from tricover.simulation.resolve import ground_of
    from tricover.simulation.telling import roster_of

    loaded = Scenario.load(scenario)
    return len(roster_of(loaded, ground_of(loaded).reference))
