"""``tricover plan``: a reference formation for known targets."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tricover.cli.console import AsJson, Quiet, load_kernels, note, show
from tricover.cli.places import Output
from tricover.cli.reading import Density, Extent, Origin, PointCount, place_of, read_targets, shown_origin

if TYPE_CHECKING:
    from tricover.coverage import Plan
    from tricover.targets import Targets

__all__ = ["plan"]


def plan(
    targets: Annotated[
        Path,
        typer.Argument(
            help="Targets: CSV, JSON, GeoJSON (polygons too), NPY; a map in NPY or GeoTIFF.", show_default=False
        ),
    ],
    agents: Annotated[int, typer.Option("--agents", "-n", help="Size of the team.", min=4)] = 57,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the formation: .csv, .npy, .json or .geojson, one agent per row."),
        Output(),
    ] = None,
    points: PointCount = None,
    density: Density = None,
    extent: Extent = None,
    origin: Origin = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Where a team should stand that knows its targets: use it with the balanced rule and the goal "reference".

    [bold]Examples[/bold]

      tricover plan towns.geojson --agents 57 -o team.geojson

      tricover plan field.geojson --points 2000 -n 20 -o team.geojson

      tricover plan map.npy --extent 0,0,400,300 --points 2000 -n 20

      tricover plan targets.csv -n 200 --json | jq .resolution
    """
    load_kernels(quiet)
    from tricover.coverage import plan_formation
    from tricover.formats import Points, write_points

    field = read_targets(targets, points, density, extent, origin)
    result = plan_formation(field, agents)
    if output is not None:
        write_points(output, Points(result.reference, projection=field.projection))
    if as_json:
        typer.echo(_document(result, field))
    elif not quiet:
        show(_summary(result), *shown_origin(field.projection))
    if not (quiet or as_json):
        note(f"{targets}: {len(field)} targets")
    if output is not None and not quiet:
        note(f"Wrote {output}")


def _document(result: "Plan", field: "Targets") -> str:
    return json.dumps(
        {
            "targets": len(field),
            "origin": place_of(field.projection),
            "reference": result.reference.tolist(),
            "anchor_agents": result.network.anchors.tolist(),
            "anchors": result.anchors.tolist(),
            "resolution": result.resolution,
            "depth": result.network.depth,
            "cost": result.cost,
            "cost_in_cells": result.cost_in_cells,
        }
    )


def _summary(result: "Plan") -> str:
    rounding = 100 * (result.cost_in_cells / result.cost - 1) if result.cost else 0.0
    return (
        f"Formation of {len(result.reference)} agents: {len(result.anchors)} anchors, depth {result.network.depth}\n"
        f"Mean squared distance to the nearest agent: {result.cost:.6g}\n"
        f"Suggested resolution: {result.resolution} (rounding to cells costs {rounding:.1f} %)"
    )
