"""A table that follows a flight, and what commands of fleets have in common."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tricover.cli.console import new_table

if TYPE_CHECKING:
    from tricover.fleet.tower import Report, Tower

__all__ = ["Flight", "Overwrite", "Router", "live_table", "milliseconds"]

Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Take the place of the run in the output folder; never of anything else.")
]
Router = Annotated[str, typer.Option(help="Where the router listens.")]
Flight = Annotated[str, typer.Option(help="The name of the flight that its agents were given.")]


@contextmanager
def live_table(wanted: bool, agents: int) -> Iterator["Callable[[Report, Tower], None] | None"]:
    """A table that follows the flight, where there is a terminal."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), refresh_per_second=8, transient=True) as live:
        yield lambda report, tower: live.update(_table(report, agents))


def _table(report: "Report", agents: int) -> Any:
    table = new_table("In flight", fleet="left", now="left")
    steps = "waiting for all to speak" if report.step < 0 else f"{report.step} to {report.fastest}"
    table.add_row("steps", steps)
    table.add_row("alive", f"{report.living} of {agents}")
    table.add_row("at their goals", str(report.settled))
    table.add_row("beliefs", "all agree" if report.agreed else f"{max(report.beliefs, 1)}: not agreed yet")
    table.add_row("messages", f"{report.messages}, {milliseconds(report.latency)} to be heard (median, 99%)")
    table.add_row("dropped", ", ".join(f"{count} {reason}" for reason, count in report.refused.items()) or "none")
    return table


def milliseconds(seconds: tuple[float, float]) -> str:
    """Two times, in milliseconds."""
    return " and ".join(f"{1000 * value:.1f} ms" for value in seconds)
