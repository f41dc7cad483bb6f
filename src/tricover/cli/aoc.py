"""``tricover aoc``: does a vehicle land in its reach sets within a step?"""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tricover.cli.console import new_table, show
from tricover.errors import InputError

if TYPE_CHECKING:
    from tricover.vehicles import AOCReport

__all__ = ["aoc"]


def aoc(
    vehicle: Annotated[str, typer.Option(help="Kind of vehicle, such as quadrotor, unicycle or double-integrator.")],
    size: Annotated[list[float], typer.Option(help="Side of the reach set in metres; may be given several times.")],
    duration: Annotated[float, typer.Option(help="Length of a step in seconds.")],
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of the vehicle, name=value; may be given several times."),
    ] = None,
    starts: Annotated[int, typer.Option(help="How many random starts to try.")] = 256,
    margin: Annotated[
        float, typer.Option(help="Distance of reach sets from the edges of their cells, barycentric.")
    ] = 0.05,
    seed: Annotated[int, typer.Option(help="Seed of the random starts.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing; the exit code is the answer.")] = False,
) -> None:
    """Check whether a vehicle lands in cells of a size within a step (anyway output controllability).

    Says what share of random starts lands in the reach set, how far the worst one misses, and the shortest step at
    which all land. Exit code 0: all land; 1: some miss; 2: bad input.

    Example: [bold]tricover aoc --vehicle quadrotor --size 0.5 --size 1 --duration 2 --set wind=[3,0][/bold]
    """
    from tricover.vehicles import check_aoc
    from tricover.vehicles import vehicle as make

    report = check_aoc(make(vehicle, **_settings(setting or [])), size, duration, starts, seed, margin)
    if as_json:
        typer.echo(report.to_json())
    elif not quiet:
        _show(report)
    raise typer.Exit(0 if report.holds else 1)


def _settings(given: list[str]) -> dict[str, Any]:
    """Settings name=value, values read as JSON, or as text where they are no JSON."""
    settings = {}
    for item in given:
        name, equals, value = item.partition("=")
        if not equals:
            raise InputError(f"--set takes name=value, not {item!r}")
        try:
            settings[name.strip()] = json.loads(value)
        except json.JSONDecodeError:
            settings[name.strip()] = value.strip()
    return settings


def _show(report: "AOCReport") -> None:
    header, *rows = report.table()
    table = new_table(report.title, **dict.fromkeys(header, "left"))
    for cells, row in zip(rows, report.rows, strict=True):
        table.add_row(*cells, style="green" if row.share == 1 else "red")
    show(table)
