"""What all commands share: their common options, how they speak, and how their tables look.

Results go to stdout, everything else to stderr: a table for people, or with ``--json`` one JSON document and nothing
else. ``--quiet`` leaves only errors (and the document).
"""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

__all__ = ["AsJson", "Quiet", "announce_compilation", "new_table", "note", "show"]

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]


def note(text: str) -> None:
    """A remark beside the result, on stderr."""
    sys.stderr.write(f"{text}\n")


def announce_compilation() -> None:
    """Say so when kernels have to be compiled, once: the first use of a machine takes a while."""
    from tricover.compiled import on_compilation

    on_compilation(lambda: note("Compiling kernels: only this once, they are kept for the next time …"))


def show(*results: "RenderableType") -> None:
    """Results for people, on stdout."""
    from rich.console import Console

    console = Console(highlight=False)
    for result in results:
        console.print(result)


def new_table(title: str, **columns: str) -> "Table":
    """An empty table: ``columns`` are names with "left" or "right"."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_style="bold", title_justify="left", box=box.SIMPLE_HEAD, header_style="")
    for name, side in columns.items():
        table.add_column(name, justify="right" if side == "right" else "left")
    return table
