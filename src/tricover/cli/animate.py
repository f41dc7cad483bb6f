"""``tricover animate``: a film of a run."""

import json
from pathlib import Path
from typing import Annotated

import typer

from tricover.cli.console import AsJson, Quiet, note, progress_bar
from tricover.cli.places import Output
from tricover.cli.subject import RunPath, open_run

__all__ = ["animate"]


def animate(
    run: RunPath,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The film: .mp4 or .gif.", show_default=False), Output()
    ],
    fps: Annotated[float | None, typer.Option(help="Frames per second.", show_default="30, of a GIF 20")] = None,
    seconds: Annotated[
        float | None, typer.Option(help="How long the motion takes.", show_default="0.8 a step, at most 12")
    ] = None,
    hold: Annotated[float, typer.Option(help="Seconds for which the end is held.")] = 1.0,
    size: Annotated[int, typer.Option(help="Width in pixels.")] = 720,
    links: Annotated[bool, typer.Option(help="Draw who listens to whom.")] = True,
    trails: Annotated[
        int | None, typer.Option(help="How many steps back the trails reach.", show_default="1.5 seconds")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Make a film of a run, MP4 or GIF. It needs no screen and no FFmpeg of the system.

    [bold]Examples[/bold]

      tricover animate mine.zarr -o mine.mp4

      tricover animate mine.toml -o mine.gif --size 480 --seconds 6 --no-links
    """
    from tricover.plot.animation import animate as make_film
    from tricover.plot.animation import check_film

    check_film(output)
    result = open_run(run, quiet)
    with progress_bar("frame", wanted=not quiet and not as_json) as progress:
        make_film(
            result,
            output,
            fps=fps,
            seconds=seconds,
            hold=hold,
            size=size,
            links=links,
            trails=trails,
            progress=progress,
        )
    if as_json:
        facts = {"file": str(output), "bytes": output.stat().st_size, "interrupted": result.interrupted}
        typer.echo(json.dumps(facts))
    elif not quiet:
        note(f"Wrote {output}")
