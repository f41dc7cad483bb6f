"""The ``tricover`` command and what all its subcommands share: exit codes and one-line errors.

Exit codes: 0 done, 1 the answer is no, 2 bad input, 130 interrupted.
"""

import sys
from typing import Annotated

import typer

import tricover
from tricover.cli.aoc import aoc
from tricover.errors import TricoverError

__all__ = ["app", "main"]

app = typer.Typer(
    name="tricover",
    help="Deploy a team of agents over ground targets: decentralised, with a guarantee.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tricover {tricover.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    pass


app.command()(aoc)


def main() -> None:
    """Run the command; a TricoverError becomes one line on stderr and exit code 2."""
    try:
        app()
    except TricoverError as error:
        sys.stderr.write(f"tricover: {error}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.stderr.write("tricover: interrupted\n")
        sys.exit(130)
