"""The ``tricover`` command and what all its subcommands share: exit codes and one-line errors.

Exit codes: 0 done, 1 the answer is no, 2 bad input, 130 interrupted.
"""

import codecs
import gc
import io
import json
import logging
import os
import re
import sys
import warnings
from typing import Annotated, NoReturn

import typer

import tricover
from tricover.cli.agent import agent
from tricover.cli.animate import animate
from tricover.cli.aoc import aoc
from tricover.cli.autopilot import autopilot
from tricover.cli.certify import certify
from tricover.cli.compare import compare
from tricover.cli.console import note
from tricover.cli.export import export
from tricover.cli.fleet import app as fleet
from tricover.cli.init import init
from tricover.cli.network import network
from tricover.cli.places import guarded
from tricover.cli.plan import plan
from tricover.cli.plot import plot
from tricover.cli.report import report
from tricover.cli.reproduce import reproduce
from tricover.cli.run import run
from tricover.cli.studio import studio
from tricover.cli.sweep import sweep
from tricover.errors import TricoverError, plain

__all__ = ["app", "command", "main"]

# New objects after which Python looks for unused ones. A command ends soon and keeps most of what it makes: with
# Python's own 700, looking took about a tenth of the time of a report on 57 agents, with 50,000 hardly any.
_NEW_OBJECTS = 50_000
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # Typer gives it no name of its own
_ESCAPED = "tricover-escaped"  # name of the way to write what a stream cannot encode

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


_COMMANDS = (
    agent,
    animate,
    aoc,
    autopilot,
    certify,
    compare,
    export,
    init,
    network,
    plan,
    plot,
    report,
    reproduce,
    run,
    studio,
    sweep,
)
for _command in _COMMANDS:
    app.command()(guarded(_command))
app.add_typer(fleet)


def command() -> NoReturn:
    """What the shell calls: ``main``. That nobody reads its output to the end, as in ``… | head -1``, is no fault."""
    gc.set_threshold(_NEW_OBJECTS)
    _ready_streams()
    if not sys.warnoptions:
        # What is wrong is an error of ours, in one line. Warnings of the libraries below are for those who write
        # Python: before an error they hide it, and after a result they cast doubt on it. ``-W`` brings them back.
        warnings.simplefilter("ignore")
        logging.getLogger().addHandler(logging.NullHandler())
    code: object = 1
    try:
        main()
    except BrokenPipeError:
        pass
    except SystemExit as stop:
        code = stop.code
    failed = _flush()
    if failed is not None and not code:
        note(f"tricover: cannot write to standard output: {failed.strerror}")
        code = 2
    gc.freeze()  # else Python goes through all objects as it ends: half a second after a report
    sys.exit(code)  # type: ignore[arg-type]


def _ready_streams() -> None:
    """Have all three standard streams open, and able to write any name; without an output there is no use in going on.

    A stream that the shell closed is opened to nowhere: else the next file that is opened takes its number, and what is
    printed ends up in that file.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)
    if sys.stdout is None:
        _complain("standard output is closed: send it to /dev/null, or use --quiet, if nobody wants it")
    # What a stream cannot encode is escaped as in JSON: a document stays one, and to people it looks like any escape.
    codecs.register_error(_ESCAPED, lambda error: (json.dumps(error.object[error.start : error.end])[1:-1], error.end))  # type: ignore[attr-defined]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ESCAPED)


def _flush() -> OSError | None:
    """Write what is left of the output; if that fails, to nowhere, or Python would complain when it ends.

    That nobody reads on is no failure.
    """
    failed = None
    for stream in (sys.stderr, sys.stdout):
        try:
            stream.flush()
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            failed = None if isinstance(error, BrokenPipeError) or stream is sys.stderr else error
    return failed


def main() -> NoReturn:
    """Run the command; what is wrong with the input becomes one line on stderr and exit code 2."""
    if any(not word or re.fullmatch("--[a-z-]+=", word) for word in sys.argv[1:]):
        # Such as of a variable that is not set: as a path it would mean the current folder.
        _complain("one of the arguments is empty: name a file, a folder or a value")
    try:
        sys.exit(app(standalone_mode=False))
    except TricoverError as error:
        _complain(str(error))
    except _UsageError as error:
        _complain(error.format_message().replace("Value error, ", ""))  # type: ignore[attr-defined]
    except (KeyboardInterrupt, typer.Abort):
        note("tricover: interrupted")
        sys.exit(130)
    except BrokenPipeError:
        raise
    except OSError as error:
        _complain(f"{_doing()} failed: {error.strerror or error}{f': {error.filename}' if error.filename else ''}")
    except MemoryError as error:
        _complain(f"{_doing()} needs more memory than there is: ask for less{f' ({error})' if str(error) else ''}")
    except RecursionError:
        _complain(f"{_doing()} failed: something in its input is nested too deeply")


def _doing() -> str:
    """What was asked for: the name of the command."""
    return next((word for word in sys.argv[1:] if not word.startswith("-")), "tricover")


def _complain(message: str) -> NoReturn:
    """Say what is wrong, in one line, whatever a library put into its message."""
    for word in sys.argv:  # a new line in a name is part of it, one of a library's message is not
        message = message.replace(word, plain(word)) if "\n" in word else message
    if message:  # empty after help was shown
        note("tricover: " + " ".join(filter(None, (line.strip() for line in message.split("\n")))))
    sys.exit(2)
