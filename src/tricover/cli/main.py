"""The ``tricover`` command and what all its subcommands share: exit codes and one-line errors.

Exit codes: 0 done, 1 the answer is no, 2 bad input, 130 interrupted.
"""

import gc
import os
import sys
from typing import Annotated, NoReturn

import typer

import tricover
from tricover.cli.animate import animate
from tricover.cli.aoc import aoc
from tricover.cli.certify import certify
from tricover.cli.compare import compare
from tricover.cli.export import export
from tricover.cli.init import init
from tricover.cli.network import network
from tricover.cli.places import guarded
from tricover.cli.plan import plan
from tricover.cli.plot import plot
from tricover.cli.report import report
from tricover.cli.reproduce import reproduce
from tricover.cli.run import run
from tricover.errors import TricoverError

__all__ = ["app", "command", "main"]

# New objects after which Python looks for unused ones. A command ends soon and keeps most of what it makes: with
# Python's own 700, looking took about a tenth of the time of a report on 57 agents, with 50,000 hardly any.
_NEW_OBJECTS = 50_000
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # Typer gives it no name of its own

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


for _command in (animate, aoc, certify, compare, export, init, network, plan, plot, report, reproduce, run):
    app.command()(guarded(_command))


def command() -> NoReturn:
    """What the shell calls: ``main``. That nobody reads its output to the end, as in ``… | head -1``, is no fault."""
    gc.set_threshold(_NEW_OBJECTS)
    try:
        main()
    except BrokenPipeError:
        sys.exit(1)
    finally:
        _write_out()
        gc.freeze()  # else Python goes through all objects as it ends: half a second after a report


def _write_out() -> None:
    """Write what is left of the output; to nowhere if nobody reads on, or Python would complain when it ends."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main() -> NoReturn:
    """Run the command; what is wrong with the input becomes one line on stderr and exit code 2."""
    try:
        sys.exit(app(standalone_mode=False))
    except TricoverError as error:
        _complain(str(error))
    except _UsageError as error:
        _complain(error.format_message().replace("Value error, ", ""))  # type: ignore[attr-defined]
    except (KeyboardInterrupt, typer.Abort):
        sys.stderr.write("tricover: interrupted\n")
        sys.exit(130)


def _complain(message: str) -> NoReturn:
    if message:  # empty after help was shown
        sys.stderr.write(f"tricover: {message}\n")
    sys.exit(2)
