"""``make bench``: run every topic in this folder, or those named on the command line, and print one table of ratios."""

import sys
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.table import Table

FRAME = {"__init__", "__main__", "compare"}


def main() -> int:
    topics = sys.argv[1:] or sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in FRAME)
    console = Console()
    table = Table("what", "ours", "peer", "ratio", "wanted", "note", title="Ratios, same machine, same run")
    missed = 0
    for topic in topics:
        console.print(f"[dim]measuring {topic} …[/dim]")
        for row in import_module(f"benchmarks.{topic}").rows():
            bound = "" if row.wanted is None else f"{'≤' if row.at_most else '≥'} {row.wanted:g}"
            colour = "green" if row.kept else "red"
            table.add_row(row.what, row.ours, row.peer, f"[{colour}]{row.ratio:.3g}[/{colour}]", bound, row.note)
            missed += not row.kept
    console.print(table)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
