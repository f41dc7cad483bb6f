"""What all commands share: their common options, how they speak, and how their tables look.

Results go to stdout, everything else to stderr: a table for people, or with ``--json`` one JSON document and nothing
else. ``--quiet`` leaves only errors (and the document).
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tricover.errors import plain

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

__all__ = ["AsJson", "Quiet", "load_kernels", "new_table", "note", "progress_bar", "show"]

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]


def note(text: str) -> None:
    """A remark beside the result, one line on stderr. That nobody can read it is no reason to stop."""
    with suppress(OSError):
        sys.stderr.write(f"{plain(text)}\n")


def load_kernels(quiet: bool) -> None:
    """Load the compiler, and say when it is needed, once: the first use on a machine takes a while."""
    from tricover.compiled import on_compilation

    if not quiet:
        on_compilation(lambda: note("Compiling kernels: only this once, they are kept for the next time …"))


@contextmanager
def progress_bar(what: str, wanted: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Where there is a terminal: how much is done, and of how much; and the time left."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), MofNCompleteColumn(), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def show(*results: "RenderableType") -> None:
    """Results for people, on stdout. Names are shown as they are: no markup in them, no control characters."""
    from rich.console import Console
    from rich.text import Text

    class Plain(Console):
        def render_str(self, text: str, **looks: Any) -> Text:  # every string, also in tables and their titles
            return super().render_str(plain(text, keep="\n"), **looks)

    console = Plain(highlight=False, emoji=False, markup=False)
    for result in results:
        console.print(result)


def new_table(title: str, **columns: str) -> "Table":
    """An empty table: ``columns`` are names with "left" or "right"."""
    from rich import box
    from rich.table import Table

    table = Table(title=plain(title), title_style="bold", title_justify="left", box=box.SIMPLE_HEAD, header_style="")
    for name, side in columns.items():
        table.add_column(name, justify="right" if side == "right" else "left")
    return table
