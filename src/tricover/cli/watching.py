"""The studio's page on a fleet: beside a flight of this program, or of a fleet that is anywhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tricover.cli.console import note
from tricover.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from tricover.fleet.flight import Flown
    from tricover.fleet.tower import Report, Tower
    from tricover.simulation import Mission
    from tricover.studio.watching import Watching

__all__ = ["Browser", "Port", "both", "endless", "page_of", "stay", "studio_server", "watch_fleet", "watching_of"]

Port = Annotated[
    int | None, typer.Option(min=0, max=65535, help="Port; else 8765, or one that is free. 0: any that is free.")
]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")]

KEPT = 1_000_000
"""Agents times steps up to which a flight that is watched goes on: what was said is kept in memory, about 1 kB each."""


def studio_server() -> Any:
    """The module of the studio's server, which needs an extra."""
    try:
        from tricover.studio import server
    except ImportError as error:
        raise MissingExtraError(f"the studio needs {error.name}: pip install 'tricover[studio]'") from None
    return server


def endless(mission: "Mission") -> "Mission":
    """The mission for a flight that goes on when the team has settled, until somebody ends it.

    A team that has worked out its formation by flying the scenario beforehand flies it as it is.
    """
    from tricover.simulation import Mission

    if mission.flown:
        return mission
    steps = max(mission.scenario.steps, KEPT // mission.agents)
    return Mission.of(mission.scenario.replace(steps=steps, stop_when_settled=False))


def watching_of(mission: "Mission", orders: bool, processes: bool, loss: float = 0.0) -> "Watching":
    """A fleet as a page shows it, of whose messages some may be lost from the start."""
    studio_server()
    from tricover.fleet.controls import Controls
    from tricover.studio.watching import Watching

    return Watching(mission, Controls(orders, processes), Path.cwd(), loss=loss)


@contextmanager
def page_of(
    watching: "Watching", host: str, port: int | None, browser: bool, say: Callable[[str], None]
) -> Iterator[None]:
    """The page on a fleet, in a thread of its own; its address is said."""
    server = studio_server()
    with server.listening(host, port) as opened, server.served_beside(watching, opened, server.token_of()) as address:
        say(address)
        if browser:
            typer.launch(address)
        yield


def both(watching: "Watching", progress: "Callable[[Report, Tower], None] | None") -> "Callable[[Report, Tower], None]":
    """What follows a flight: a page, and a table where there is one."""

    def follow(report: "Report", tower: "Tower") -> None:
        watching.see(report, tower)
        if progress is not None:
            progress(report, tower)

    return follow


def stay(watching: "Watching", flown: "Flown", stored: bool, quiet: bool) -> None:
    """Let the page say how the flight ended, until Ctrl-C."""
    from tricover.certificates import certify

    run = flown.run
    settled = "has settled where it should" if run.converged else "has not settled"
    says = [f"The flight is over after {run.steps} steps: the team {settled}.", f"{flown.alive} agents ended in order."]
    kept = run if stored else None
    with suppress(KeyboardInterrupt):
        watching.end([*says, "Its certificate is being worked out."], kept)
        watching.end([*says, f"{certify(run).title}."], kept)
        if not quiet:
            note("The flight is over. Its page is there until Ctrl-C.")
        Event().wait()


def watch_fleet(
    mission: "Mission",
    router: str,
    key_folder: Path | None,
    flight: str,
    host: str,
    port: int | None,
    browser: bool,
    say: Callable[[str], None],
) -> None:
    """A page on a fleet that is anywhere, until Ctrl-C."""
    from tricover.fleet.ground import watch_flight
    from tricover.fleet.keys import Keys

    keys = None if key_folder is None else Keys.load(key_folder)
    if keys is not None and keys.name not in ("operator", "recorder"):
        raise InputError(
            f"these are the keys of {keys.name}: watch with the recorder's, or command with the operator's"
        )
    watching = watching_of(mission, orders=keys is None or keys.name == "operator", processes=False)
    with page_of(watching, host, port, browser, say):
        watch_flight(mission, router, keys, flight, watching.see, watching.controls)
