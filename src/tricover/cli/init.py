"""``tricover init``: a commented scenario to start from."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from tricover.cli.console import Quiet, note
from tricover.cli.places import Output
from tricover.errors import FileFormatError

__all__ = ["init"]


def init(
    file: Annotated[Path, typer.Argument(help="The file to write."), Output()] = Path("scenario.toml"),
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON schema of scenarios instead.")] = False,
    quiet: Quiet = False,
) -> None:
    """Write a commented scenario to start from. A file that exists is left alone.

    Example: [bold]tricover init mine.toml && tricover run mine.toml -o mine.zarr[/bold]
    """
    if schema:
        from tricover.simulation import Scenario

        typer.echo(json.dumps(Scenario.model_json_schema(), indent=2))
        return
    text = files("tricover.cli").joinpath("scenario.toml").read_text("utf-8").format(file=file.name, stem=file.stem)
    try:
        with file.open("x", encoding="utf-8") as new:
            new.write(text)
    except FileExistsError:
        raise FileFormatError(f"{file} exists: choose another name or remove it") from None
    except OSError as error:
        raise FileFormatError(f"{file}: cannot be written: {error.strerror}") from None
    if not quiet:
        note(f"Wrote {file}. Next: tricover run {file} -o {file.with_suffix('.zarr')}")
