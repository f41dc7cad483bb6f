"""``tricover init``: a commented scenario to start from."""

import json
from importlib.resources import files
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from tricover.cli.console import Quiet, note
from tricover.cli.places import Output
from tricover.errors import FileFormatError, plain

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
    try:
        file.open("x").close()  # the name is ours from here on
    except FileExistsError:
        raise FileFormatError(f"{file} exists: choose another name or remove it") from None
    except OSError as error:
        raise FileFormatError(f"cannot write {file}: {error.strerror}") from None
    from tricover.formats import write_whole

    try:
        write_whole(file, _text(file))
    except FileFormatError:
        file.unlink()
        raise
    if not quiet:
        note(f"Wrote {file}. Next: tricover run {quote(str(file))} -o {quote(str(file.with_suffix('.zarr')))}")


def _text(file: Path) -> str:
    """The scenario, with the file's name in it, whatever characters that has."""
    name, store = plain(file.name), plain(file.with_suffix(".zarr").name)
    title = json.dumps(plain(file.stem), ensure_ascii=False)  # a text in TOML as in JSON
    words = files("tricover.cli").joinpath("scenario.toml").read_text("utf-8")
    return words.format(file=quote(name), store=quote(store), name=title)
