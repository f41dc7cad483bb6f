"""Processes of a fleet on several machines: one agent, the router, the operator, and a recorder."""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from tricover.errors import InputError
from tricover.fleet.agent import Manners
from tricover.fleet.controls import ORDERS, PAUSE, Controls, Operator
from tricover.fleet.crew import fly_agent, reach_of
from tricover.fleet.journal import open_journal
from tricover.fleet.keys import Keys
from tricover.fleet.links import member_config, router_config
from tricover.fleet.member import Member
from tricover.fleet.messages import OPERATOR, Command, NoSeal, mission_digest
from tricover.fleet.orders import with_targets
from tricover.fleet.radio import Radio
from tricover.fleet.recording import Tracks, run_of
from tricover.fleet.routing import route
from tricover.fleet.tower import Report, Tower
from tricover.fleet.zenoh_bus import open_bus
from tricover.simulation import Mission, Run
from tricover.simulation.store import place_for_run

__all__ = ["fly_alone", "record_flight", "route_until_stopped", "send_order", "watch_flight"]

GONE = 5.0
"""Seconds without a token after which a flight is over: a router that begins again hides all of them for a moment."""
LOOKS = 0.2
"""Seconds between two looks at how far a flight is."""
WATCHES = 0.05
"""The same where somebody watches it."""
MOST_THREADS = 256
"""Of each kind, that a router has."""


def fly_alone(
    mission: Mission, agent: int, router: str, keys: str | PathLike[str] | None, flight: str, manners: Manners
) -> Member:
    """Be one agent of a fleet whose router is anywhere, until its mission is over."""
    loaded = None if keys is None else Keys.load(keys)
    if loaded is not None and loaded.name != f"agent-{agent}":
        raise InputError(f"these are the keys of {loaded.name}: agent {agent} needs its own")

    digest = mission_digest(mission, flight)
    how = mission, agent, router, loaded, digest, manners
    try:
        return asyncio.run(fly_agent(*how, stop=lambda task: _when_told_to_end(task.cancel)))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def record_flight(
    mission: Mission,
    router: str,
    keys: str | PathLike[str] | None,
    flight: str,
    store: str | PathLike[str],
    *,
    overwrite: bool = False,
    progress: Callable[[Report, Tower], None] | None = None,
) -> Run:
    """Listen to a fleet until everybody has ended, or this process is told to; then make a run of it."""
    place_for_run(Path(store), overwrite)
    loaded, digest = None if keys is None else Keys.load(keys), mission_digest(mission, flight)
    journal = open_journal(Path(store), mission, digest)

    async def listen() -> Tracks:
        stopped = asyncio.Event()
        _when_told_to_end(stopped.set)
        tower = Tower(mission, _radio_of(mission, router, loaded, digest, None), time.monotonic, journal)
        seen = time.monotonic()
        while not stopped.is_set() and (time.monotonic() < seen + GONE or not tower.messages):
            report = await tower.look(LOOKS)
            seen = time.monotonic() if tower.living else seen
            if progress is not None:
                progress(report, tower)
        tower.radio.bus.close()
        return tower.tracks

    with journal:
        tracks = asyncio.run(listen())
    run = run_of(tracks, store, overwrite)
    journal.remove()
    return run


def send_order(
    mission: Mission, router: str, keys: str | PathLike[str] | None, flight: str, word: str, values: dict[str, Any]
) -> None:
    """Give an order to a fleet that is in the air."""
    loaded = None if keys is None else Keys.load(keys)
    if loaded is not None and loaded.name != "operator":
        raise InputError(f"these are the keys of {loaded.name}: orders are the operator's")
    if word == "targets":
        with_targets(mission, values)

    async def send() -> None:
        radio = _radio_of(mission, router, loaded, mission_digest(mission, flight), OPERATOR)
        for _ in range(ORDERS):
            radio.say(0, Command(word, values))
            await asyncio.sleep(PAUSE)
        radio.bus.close()

    asyncio.run(send())


def watch_flight(
    mission: Mission,
    router: str,
    keys: Keys | None,
    flight: str,
    progress: Callable[[Report, Tower], None],
    controls: Controls,
) -> None:
    """Listen to a fleet, and give orders as they are asked for if the keys are the operator's, until Ctrl-C."""

    async def watch() -> None:
        stopped = asyncio.Event()
        _when_told_to_end(stopped.set)
        sender = OPERATOR if controls.orders else None
        radio = _radio_of(mission, router, keys, mission_digest(mission, flight), sender)
        tower, operator = Tower(mission, radio, time.monotonic, keeps=False), Operator(radio)
        while not stopped.is_set():
            report = await tower.look(WATCHES)
            progress(report, tower)
            for wish in controls.taken():
                operator.order(**wish.values)
            operator.speak(max(report.step, 0))
        radio.bus.close()

    asyncio.run(watch())


def route_until_stopped(endpoints: list[str], keys: str | PathLike[str] | None, agents: int) -> None:
    """Be a router, until this process is told to end."""
    loaded = None if keys is None else Keys.load(keys)
    config = router_config(endpoints, loaded, agents, insecure_links=True)
    os.environ.setdefault("ZENOH_RUNTIME", _threads_for(agents))

    async def serve() -> None:
        stopped = asyncio.Event()
        _when_told_to_end(stopped.set)
        await route(config, loaded, stopped)

    asyncio.run(serve())


def _radio_of(mission: Mission, router: str, keys: Keys | None, digest: bytes, sender: int | None) -> Radio:
    """How somebody who is no agent speaks to a fleet and hears it."""
    bus = open_bus(member_config(router, keys, insecure_links=True))
    return Radio(bus, keys or NoSeal(), digest, mission.agents, sender, reach=reach_of(mission))


def _when_told_to_end(do: Callable[[], Any]) -> None:
    """Have something done in the running loop when this process is told to end, whichever thread takes the signal."""
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, do)


def _threads_for(agents: int) -> str:
    """As many threads as connections may break at once, in Zenoh's words.

    Zenoh closes a connection by TCP or TLS in a way that holds up a thread for 10 s where the network is cut. With its
    own few threads nobody would hear of the third agent that was cut off, nor anything else, until then.
    """
    threads = min(agents + 2, MOST_THREADS)
    kinds = (f"{kind}: (worker_threads: {threads})" for kind in ("rx", "tx", "net"))
    return f"({', '.join(kinds)})"
