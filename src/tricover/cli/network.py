"""``tricover network``: the communication network of a formation, as a table, a figure or a file."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tricover.cli.console import AsJson, Quiet, load_kernels, new_table, note, show
from tricover.cli.places import Output
from tricover.cli.reading import Density, Origin, PointCount, origin_of, place_of, shown_origin
from tricover.errors import InputError, listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from rich.table import Table

    from tricover.formats import Projection
    from tricover.network import Network

__all__ = ["network"]

_MOST_ROWS = 40


def network(
    file: Annotated[
        Path,
        typer.Argument(help="Reference positions: CSV, JSON, GeoJSON or NPY, one agent per row.", show_default=False),
    ],
    mentee: Annotated[
        Literal["fermat", "balanced"],
        typer.Option(help="How a cell chooses its mentee: by the paper's rule, or so that the network stays shallow."),
    ] = "fermat",
    core: Annotated[
        str | None,
        typer.Option(metavar="AGENT|X,Y", help="The core agent: its number, or the agent nearest to a point."),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Write a figure: .png, .svg or .pdf."), Output()] = None,
    figure: Annotated[
        Literal["formation", "cells", "layers"],
        typer.Option(help="Which figure: links over the formation, cells step by step, or the neural layers."),
    ] = "formation",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the network as a JSON file."), Output()
    ] = None,
    points: PointCount = None,
    density: Density = None,
    origin: Origin = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Who listens to whom: derive the layered communication network of a formation.

    Agents are numbered from 0, in the order of the file.

    [bold]Examples[/bold]

      tricover network team.csv

      tricover network team.csv --mentee balanced --plot team.pdf

      tricover network team.csv --core 50,50 --figure layers --plot layers.svg

      tricover network field.geojson --points 40

      tricover network team.csv --json | jq .core
    """
    choice = _parse_core(core)
    if plot is not None:
        from tricover.plot.style import check_ending

        check_ending(plot)
    load_kernels(quiet)
    from tricover.formats import read_points, write_whole
    from tricover.network import build_network

    team = read_points(file, points=points, density=density, origin=origin_of(origin))
    result = build_network(team.positions, mentee, choice)
    if output is not None:
        write_whole(output, result.to_json() + "\n")
    if plot is not None:
        _draw(result, figure, plot)
    if as_json:
        typer.echo(_document(result, team.projection))
    elif not quiet:
        show(_table(result), _summary(result), *shown_origin(team.projection))
    if not (quiet or as_json):
        note(f"{file}: {len(team)} agents")
    for written in filter(None, (output, plot)):
        if not quiet:
            note(f"Wrote {written}")


def _parse_core(text: str | None) -> int | tuple[float, ...] | None:
    if text is None:
        return None
    try:
        return tuple(float(part) for part in text.split(",")) if "," in text else int(text)
    except ValueError:
        raise InputError(
            f"--core must be an agent's number, such as 4, or a point, such as 2.5,3; not {text!r}"
        ) from None


def _draw(result: "Network", figure: str, path: Path) -> None:
    import matplotlib as mpl

    from tricover.plot import plot_cells, plot_layers, plot_network, save_figure

    mpl.use("Agg")
    draw: dict[str, Callable[[Network], Axes | Sequence[Axes]]] = {
        "formation": plot_network,
        "cells": plot_cells,
        "layers": plot_layers,
    }
    save_figure(draw[figure](result), path)


def _document(result: "Network", plane: "Projection | None") -> str:
    """The network's own JSON, which Network.from_json reads, and with it what scripts ask for first."""
    facts = {
        "agents": len(result),
        "depth": result.depth,
        "layers": [agents.tolist() for agents in result.layers],
        "origin": place_of(plane),
    }
    return json.dumps({**json.loads(result.to_json()), **facts})


def _table(result: "Network") -> "Table":
    table = new_table(f"Network of {len(result)} agents", layer="right", agents="right", share="right", members="left")
    skipped = range(_MOST_ROWS - 5, result.depth - 3) if result.depth >= _MOST_ROWS else range(0)
    for index, agents in enumerate(result.layers):
        if index not in skipped:
            share = f"{100 * len(agents) / len(result):.1f} %"
            table.add_row(str(index), str(len(agents)), share, listed(agents, most=5))
        elif index == skipped[0]:
            table.add_row("…", "", "", f"{len(skipped)} layers more")
    return table


def _summary(result: "Network") -> str:
    return (
        f"Boundary: {listed(result.boundary)}\n"
        f"Core: {result.core}, depth: {result.depth}, mentee rule: {result.mentee}\n"
        f"Each of the {len(result.followers)} followers listens to {result.in_neighbors.shape[1]} agents."
    )
