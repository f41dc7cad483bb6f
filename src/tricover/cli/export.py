"""``tricover export``: a run in the formats of other programs."""

import json
from pathlib import Path
from typing import Annotated

import typer

from tricover.cli.console import AsJson, Quiet, note, progress_bar
from tricover.cli.places import Output, check_output
from tricover.cli.reading import origin_of
from tricover.cli.subject import RunPath, open_run

__all__ = ["export"]


def export(
    run: RunPath,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="The file: .csv, .geojson, .kml, .graphml or .mcap; or with --kind qgroundcontrol a new folder.",
            show_default=False,
        ),
        Output("any"),
    ],
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="csv, geojson, kml, graphml, mcap or qgroundcontrol; else by the file's ending.",
            show_default=False,
        ),
    ] = None,
    origin: Annotated[
        str | None,
        typer.Option(
            metavar="LON,LAT",
            help="Longitude and latitude, in degrees, of the point (0, 0) of a run that is in metres only.",
            show_default=False,
        ),
    ] = None,
    altitude: Annotated[
        float | None,
        typer.Option(
            help="For qgroundcontrol: of layer 0, metres above the place of take-off.",
            show_default="the vehicle's, or 30",
        ),
    ] = None,
    spacing: Annotated[
        float | None, typer.Option(help="For qgroundcontrol: metres from layer to layer.", show_default="5")
    ] = None,
    speed: Annotated[
        float | None,
        typer.Option(help="For qgroundcontrol: metres per second.", show_default="the vehicle's max_speed, or 5"),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write a run for other programs: tables, maps, Google Earth, graphs, Foxglove, QGroundControl.

    A run that was interrupted is written as far as it goes. A file is replaced; a folder must be new or empty.

    [bold]Examples[/bold]

      tricover export mine.zarr -o mine.csv

      tricover export mine.zarr -o mine.geojson --origin 7.21,51.48

      tricover export mine.zarr -o mine.kml

      tricover export mine.toml -o mine.mcap

      tricover export mine.zarr -o plans --kind qgroundcontrol --altitude 40 --spacing 10 --speed 8
    """
    from tricover.export import KINDS, export_run, flight_of, kind_of, plane_of
    from tricover.simulation import Scenario
    from tricover.simulation.resolve import ground_of

    name, place = kind_of(output, kind), origin_of(origin)
    check_output(output, [run], Output("folder" if KINDS[name].ending is None else "file"))
    if run.suffix == ".toml":
        plane_of(ground_of(Scenario.load(run)).projection, name, place)
    result = open_run(run, quiet)
    with progress_bar(name, wanted=not quiet and not as_json) as progress:
        options = {"altitude": altitude, "spacing": spacing, "speed": speed}
        export_run(result, output, name, origin=place, progress=progress, **options)
    flight = flight_of(result.mission.vehicle, **options) if name == "qgroundcontrol" else None
    files = sorted(map(str, output.iterdir())) if output.is_dir() else [str(output)]
    if as_json:
        facts = {"kind": name, "files": files, "steps": result.steps, "interrupted": result.interrupted}
        typer.echo(json.dumps(facts if flight is None else {**facts, "flight": vars(flight)}))
    elif not quiet:
        note(f"Wrote {output}" + (f" with {len(files)} plans: {flight}" if output.is_dir() else ""))
