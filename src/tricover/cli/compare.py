"""``tricover compare``: our methods and Lloyd's algorithm on the same targets and team, as a table and a figure."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tricover.cli.console import AsJson, Quiet, load_kernels, new_table, note, show
from tricover.cli.places import Output
from tricover.cli.reading import Density, Extent, Origin, PointCount, place_of, read_beside, read_targets

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.table import Table

    from tricover.coverage import Comparison
    from tricover.targets import Targets

__all__ = ["compare"]


def compare(
    targets: Annotated[
        Path,
        typer.Argument(
            help="Targets: CSV, JSON, GeoJSON (polygons too), NPY; a map in NPY or GeoTIFF.", show_default=False
        ),
    ],
    team: Annotated[
        Path | None, typer.Option(help="Reference positions of the team; else it stands at random among the targets.")
    ] = None,
    agents: Annotated[int, typer.Option(help="Size of a random team.", min=4)] = 57,
    seed: Annotated[int, typer.Option(help="Of a random team.", min=0)] = 0,
    fit: Annotated[bool, typer.Option("--fit", help="Fit the anchors of all methods to the targets.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Write a figure: .png, .svg or .pdf."), Output()] = None,
    points: PointCount = None,
    density: Density = None,
    extent: Extent = None,
    origin: Origin = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """How well the methods cover targets, and what they ask for: ours and Lloyd's algorithm.

    Coverage is the mean squared distance of the targets to the nearest agent, over that of converged Lloyd's.

    [bold]Examples[/bold]

      tricover compare towns.geojson --agents 200

      tricover compare field.geojson --points 2000 --agents 20

      tricover compare targets.csv --team team.csv --plot methods.pdf
    """
    if plot is not None:
        from tricover.plot.style import check_ending

        check_ending(plot)
    load_kernels(quiet)
    from tricover.coverage import compare_methods

    field = read_targets(targets, points, density, extent, origin)
    if team is None:
        reference = _random_team(field, agents, seed)
    else:
        reference = read_beside(team, field.projection, origin).positions
    result = compare_methods(reference, field, "fit" if fit else None)
    if plot is not None:
        _draw(result, plot)
    if as_json:
        rows = [asdict(method) for method in result.methods]
        facts = {"agents": result.agents, "targets": len(field), "origin": place_of(field.projection)}
        typer.echo(json.dumps({**facts, "methods": rows}))
    elif not quiet:
        show(_table(result))
    if not (quiet or as_json):
        note(f"{targets}: {len(field)} targets")
    if plot is not None and not quiet:
        note(f"Wrote {plot}")


def _random_team(targets: "Targets", agents: int, seed: int) -> "NDArray[np.float64]":
    import numpy as np

    low, high = targets.points.min(axis=0), targets.points.max(axis=0)
    return np.random.default_rng(seed).uniform(low, high, (agents, 2))


def _draw(result: "Comparison", path: Path) -> None:
    import matplotlib as mpl

    from tricover.plot import plot_comparison, save_figure

    mpl.use("Agg")
    save_figure(plot_comparison(result), path)


def _table(result: "Comparison") -> "Table":
    (first, *columns), *rows = result.table()
    table = new_table(result.title, **{first: "left"}, **dict.fromkeys(columns, "right"))
    table.columns[0].no_wrap = True
    for row in rows:
        table.add_row(*row)
    table.caption = (
        "coverage: cost over converged Lloyd's\n"
        "steps: until the team stands; Lloyd's: within 1% of where it ends\n"
        "messages: positions received per agent and step\n"
        "new links: share of these that come from someone else than a step before\n"
        "least distance: of any two on their way, between steps too\n"
        "seconds: of computing for the whole team"
    )
    table.caption_justify = "left"
    return table
