"""``tricover run``: run a scenario."""

import json
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from tricover.cli.console import AsJson, Quiet, load_kernels, new_table, note, show
from tricover.cli.parts import run_in_parts
from tricover.cli.places import Output
from tricover.cli.reading import place_of
from tricover.cli.subject import step_bar
from tricover.errors import InputError, listed, plain
from tricover.units import length

__all__ = ["run"]


def run(
    scenario: Annotated[Path, typer.Argument(help="The scenario, a TOML file.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A folder for the run, written as it goes; else nothing is kept."),
        Output("folder"),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in the output folder.")] = False,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Take the place of the run in the output folder; never of anything else."),
    ] = False,
    in_parts: Annotated[
        bool, typer.Option("--in-parts", help="Run a huge team part by part; the same again goes on where it was.")
    ] = False,
    agents_per_part: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="With --in-parts: agents of a part, about.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="With --in-parts: processes on this machine; else one.")
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="With --in-parts: the Dask cluster of this scheduler.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run a scenario and say whether the team settled where it should.

    Exit code 0: it did; 1: it did not; 2: bad input; 130: interrupted, and what was computed is kept.

    [bold]Examples[/bold]

      tricover run paper-57.toml -o paper-57.zarr

      tricover run million.toml -o million --in-parts --workers 2
    """
    if in_parts:
        options = (agents_per_part, workers, scheduler)
        run_in_parts(scenario, output, options, wrong=resume or overwrite, as_json=as_json, quiet=quiet)
    idle = {"--agents-per-part": agents_per_part, "--workers": workers, "--scheduler": scheduler}
    if any(value is not None for value in idle.values()):
        raise InputError(f"{listed([key for key, value in idle.items() if value is not None])} goes with --in-parts")
    if (resume or overwrite) and output is None:
        raise InputError(f"{'--resume' if resume else '--overwrite'} goes with --output: which run is it?")
    load_kernels(quiet)
    from tricover.control import named_by_zone
    from tricover.simulation import Mission, Scenario, forecast, simulate
    from tricover.simulation.launch import launch_summary

    mission = Mission.of(Scenario.load(scenario))
    notices = () if resume else forecast(mission)
    if not quiet and not as_json:
        for notice in notices:
            note(f"Before the start: {notice}.")
    with step_bar(wanted=not quiet and not as_json) as progress:
        result = simulate(mission, output, resume, overwrite, progress=progress)
    facts: dict[str, Any] = result.summary()
    facts |= {"origin": place_of(result.mission.projection), "store": None if output is None else str(output)}
    facts["notices"] = list(notices)
    if result.mission.pads is not None:
        facts["pads"] = result.mission.pads.tolist()
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
    elif not quiet:
        closest = result.separation.words if result.measures_separation else "not worked out: many agents and steps"
        _show(facts, closest, named_by_zone(result.cut_off), launch_summary(result.mission))
    if result.interrupted:
        if not quiet:
            again = f" Go on with: tricover run {quote(str(scenario))} -o {quote(str(output))} --resume"
            note("Interrupted." + (again if output else ""))
        raise typer.Exit(130)
    raise typer.Exit(0 if result.converged else 1)


def _show(facts: dict[str, Any], closest: str, cut_off: str, launch: str | None) -> None:
    settled = "no" if facts["settled_at"] is None else f"at step {facts['settled_at']}"
    layers = "1 layer" if facts["layers"] == 1 else f"{facts['layers']} layers"
    rows = {
        "agents": f"{facts['agents']} in {layers} below the anchors",
        "control": f"{facts['motion']}, goal {facts['goal']}",
        "vehicle": facts["vehicle"],
        **_launch(facts, launch),
        "steps": str(facts["steps"]),
        "settled": settled,
        "converged": "yes" if facts["converged"] else "no",
        "largest distance to the desired positions": length(facts["largest_error"]),
        "missed reach sets": str(facts["misses"]),
        **_world(facts),
        "least distance of any two": closest,
        "kept in": plain(facts["store"] or "") or "nothing (-o FOLDER keeps the run)",
    }
    if cut_off:
        rows["cut off from their goals"] = cut_off
    if facts["origin"] is not None:
        rows["point (0, 0)"] = "lon {:.9f}, lat {:.9f}".format(*facts["origin"])
    table = new_table(facts["name"], run="left", result="left")
    for name, value in rows.items():
        table.add_row(name, value)
    show(table)


def _world(facts: dict[str, Any]) -> dict[str, str]:
    """What lay between the agents and the truth, where it was not perfect."""
    rows = {}
    if "oldest_message" in facts:
        oldest = facts["oldest_message"]
        rows["oldest message acted on"] = "1 step" if oldest == 1 else f"{oldest} steps"
    if "plans" in facts:
        made = "1 plan" if facts["plans"] == 1 else f"{facts['plans']} plans"
        rows["plans of its own"] = f"{made}, {facts['plan_numbers']:.0f} numbers per agent"
    if "numbers" in facts:
        rows["numbers sent per agent and step"] = f"{facts['numbers']:.1f}"
    return rows


def _launch(facts: dict[str, Any], launch: str | None) -> dict[str, str]:
    """How it goes from the pads, and who stood where; --json has all of them."""
    if launch is None:
        return {}
    taken = listed((f"{agent} from {pad}" for agent, pad in enumerate(facts["pads"])), most=12)
    return {"launch": launch, "agents from pads": taken}
