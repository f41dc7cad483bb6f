"""``tricover export``: a run in the formats of other programs."""

import json
from pathlib import Path
from typing import Annotated, Any

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
            help="For qgroundcontrol, kml: of the lowest level, metres above the place of take-off.",
            show_default="the vehicle's, or 30",
        ),
    ] = None,
    spacing: Annotated[
        float | None,
        typer.Option(
            help="For qgroundcontrol, kml: metres from level to level.", show_default="5, or the separation if more"
        ),
    ] = None,
    clearance: Annotated[
        float | None,
        typer.Option(
            help="For qgroundcontrol, kml: who comes nearer in the plane than so many metres flies at another level.",
            show_default="the separation, or 5",
        ),
    ] = None,
    speed: Annotated[
        float | None,
        typer.Option(
            help="For qgroundcontrol: metres per second that no leg exceeds.",
            show_default="the vehicle's max_speed, or 5",
        ),
    ] = None,
    climb: Annotated[
        float | None,
        typer.Option(help="For qgroundcontrol: metres per second, up and down.", show_default="1.5"),
    ] = None,
    delay: Annotated[
        float | None,
        typer.Option(
            help="For qgroundcontrol: seconds by which a vehicle may start too early or too late.", show_default="0"
        ),
    ] = None,
    still: Annotated[
        float | None,
        typer.Option(
            help="For qgroundcontrol: metres; who moves by no more stands still, and no plan is farther from the run.",
            show_default="0.05",
        ),
    ] = None,
    landing: Annotated[
        str | None,
        typer.Option(
            metavar="[pad|place]",
            help="For qgroundcontrol: back the way they came to the pad, or down at the place where the run ends.",
            show_default="pad",
        ),
    ] = None,
    stay: Annotated[
        float | None,
        typer.Option(help="For qgroundcontrol: seconds to hover at the end of the run.", show_default="0"),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(help="For qgroundcontrol: metres from the motion to the fence around it.", show_default="10"),
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

      tricover export mine.zarr -o plans --kind qgroundcontrol --altitude 40 --spacing 10 --speed 8 --delay 2
    """
    from tricover.export import KINDS, export_run, kind_of, plane_of
    from tricover.simulation import Scenario
    from tricover.simulation.resolve import ground_of

    name, place = kind_of(output, kind), origin_of(origin)
    check_output(output, [run], Output("folder" if KINDS[name].ending is None else "file"))
    if run.suffix == ".toml":
        plane_of(ground_of(Scenario.load(run)).projection, name, place)
    result = open_run(run, quiet)
    given: dict[str, Any] = {
        "altitude": altitude,
        "spacing": spacing,
        "clearance": clearance,
        "speed": speed,
        "climb": climb,
        "delay": delay,
        "still": still,
        "landing": landing,
        "stay": stay,
        "margin": margin,
    }
    with progress_bar(name, wanted=not quiet and not as_json) as progress:
        plans = export_run(result, output, name, origin=place, progress=progress, **given)
    files = sorted(map(str, output.iterdir())) if output.is_dir() else [str(output)]
    if as_json:
        facts = {"kind": name, "files": files, "steps": result.steps, "interrupted": result.interrupted}
        typer.echo(json.dumps(facts if plans is None else {**facts, **plans.facts()}))
    elif not quiet:
        note(f"Wrote {output}" + (f" with {len(files)} plans: {plans.flights.flight}" if plans is not None else ""))
        if plans is not None:
            note(f"{plans.flights}")
            note(f"Least distance as flown: {plans.flown}")
    if plans is not None and plans.warning is not None and not as_json:
        note(f"Warning: {plans.warning}")
