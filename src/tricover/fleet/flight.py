"""A fleet on this machine: a router and all agents as processes, faults on demand, and a tower that records."""

import asyncio
import contextlib
import os
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np

from tricover.errors import InputError
from tricover.fleet.agent import Manners, fly
from tricover.fleet.faults import At, Faults, FaultyBus, Partition
from tricover.fleet.keys import Keys, make_keys
from tricover.fleet.links import member_config, router_config
from tricover.fleet.member import Member, check_flyable
from tricover.fleet.messages import OPERATOR, Command, NoSeal, Seal, mission_digest
from tricover.fleet.orders import with_targets
from tricover.fleet.processes import Nursery
from tricover.fleet.radio import Radio
from tricover.fleet.recording import Tracks, run_of
from tricover.fleet.tower import Report, Tower, open_journal
from tricover.fleet.zenoh_bus import open_bus
from tricover.simulation import Mission, Run, State, advance
from tricover.simulation.deciding import decide_all

__all__ = ["Flown", "Settings", "fly_agent", "fly_alone", "fly_fleet", "reach_of", "route_until_stopped", "send_order"]

ROUTER = "router"
RESTART = 1.0
"""Seconds after which a router that ended is begun again."""
AGENTS_YIELD = 15
"""Agents share few cores here: the router and the tower, whom all need, go first."""
ORDERS = 3
"""How often an order is given: agents take a repeated one as the same."""
NOTICE = 4.0
"""Seconds after a fault in which a team that seems settled may not have noticed yet."""
LAST_WORDS = 10.0
"""Seconds that agents have to land and end when the flight is over."""


@dataclass(frozen=True)
class Settings:
    """How a fleet is flown.

    Attributes:
        manners: of all agents.
        keys: the folder with everybody's keys; None: new ones are made for this flight.
        signed: whether messages are signed and links encrypted.
        links: the protocol: "tls", "quic" (best effort where that is better), or "tcp" and "udp" without secrets.
        faults: what goes wrong with messages.
        kills: who is killed, and when.
        freezes: who is frozen, when and for how long.
        joins: who begins later, or again, and when.
        partitions: who is cut off from all others, when and for how long.
        seconds: after which the flight ends at the latest; None: whenever the mission does.
    """

    manners: Manners = field(default_factory=Manners)
    keys: Path | None = None
    signed: bool = True
    links: str = "tls"
    faults: Faults = field(default_factory=Faults)
    kills: tuple[At, ...] = ()
    freezes: tuple[At, ...] = ()
    joins: tuple[At, ...] = ()
    partitions: tuple[At, ...] = ()
    seconds: float | None = None


@dataclass(frozen=True, eq=False)
class Flown:
    """What came out of a flight.

    Attributes:
        run: as the recorder heard it.
        report: how far it was when it ended.
        seconds: from the first step of the slowest to the end.
        rounds: steps per second.
        interrupted: whether it was ended from outside.
        exits: exit codes of agents that ended in disorder, by name.
        memory: megabytes that an agent's process has for itself, on average; None where it cannot be told.
        tracks: all that was said.
        latencies: seconds from sending to hearing, of the messages that the recorder heard.
        agreed_after: seconds from the last fault to when all who were alive acted on the same true belief again.
    """

    run: Run
    report: Report
    seconds: float
    rounds: float
    interrupted: bool
    exits: dict[str, int]
    memory: float | None
    tracks: Tracks
    latencies: list[float]
    agreed_after: float | None


def reach_of(mission: Mission) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Metres that the vehicle of each agent can go in a step, (N,): whoever claims more is not believed."""
    seconds = mission.scenario.vehicle.duration
    kinds = getattr(mission.vehicle, "vehicles", (mission.vehicle,))
    which = getattr(mission.vehicle, "assignment", (0,) * mission.agents)
    fastest = [float(getattr(kind, "max_speed", np.inf)) * seconds + mission.tolerance for kind in kinds]
    return np.array(fastest)[list(which)]


async def fly_agent(
    mission: Mission,
    agent: int,
    endpoint: str,
    keys: Keys | None,
    digest: bytes,
    manners: Manners,
    *,
    begin: State | None = None,
    faults: Faults | None = None,
    stop: Callable[[asyncio.Task[Member]], None] | None = None,
) -> Member:
    """Connect one agent to the router at an endpoint, and fly it."""
    member = Member(mission, agent, begin)
    bus = open_bus(member_config(endpoint, keys, insecure_links=True))
    link = bus if faults is None or not faults.any else FaultyBus(bus, agent, faults)
    seal: Seal = NoSeal() if keys is None else keys
    radio = Radio(link, seal, digest, mission.agents, agent, reach=reach_of(mission))
    task = asyncio.ensure_future(fly(member, radio, manners))
    if stop is not None:
        stop(task)
    try:
        return await task
    finally:
        bus.close()


@dataclass(eq=False)
class _Crew:
    """What every process of the fleet knows when it begins."""

    mission: Mission
    begin: State
    settings: Settings
    endpoint: str
    keys: Path | None
    digest: bytes
    began: float = field(default_factory=time.monotonic)

    @property
    def faults(self) -> Faults:
        """What goes wrong with messages, at times by the clock of this machine."""
        cut = [
            Partition(frozenset(map(int, at.members)), self.began + at.start, self.began + at.start + at.seconds)
            for at in self.settings.partitions
        ]
        return replace(self.settings.faults, partitions=tuple(cut))

    def play(self, name: str, watched: int) -> int:
        """Be the router, or an agent, until it is over or the program is gone."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if name == ROUTER:
            return self._route(watched)
        os.nice(AGENTS_YIELD)
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        asyncio.run(self._fly(int(name), watched))
        return 0

    def keys_of(self, name: str) -> Keys | None:
        """The keys of a process."""
        return None if self.keys is None else Keys.load(self.keys / name)

    def _route(self, watched: int) -> int:
        import zenoh

        session: Any = zenoh.open(
            router_config([self.endpoint], self.keys_of(ROUTER), self.mission.agents, insecure_links=True)
        )
        os.read(watched, 1)  # until the program is gone
        session.close()
        return 0

    async def _fly(self, agent: int, watched: int) -> None:
        def stop(task: asyncio.Task[Member]) -> None:
            asyncio.get_running_loop().add_reader(watched, task.cancel)

        settings, keys = self.settings, self.keys_of(f"agent-{agent}")
        with contextlib.suppress(asyncio.CancelledError):
            await fly_agent(
                self.mission,
                agent,
                self.endpoint,
                keys,
                self.digest,
                settings.manners,
                begin=self.begin,
                faults=self.faults,
                stop=stop,
            )


def fly_fleet(
    mission: Mission,
    settings: Settings | None = None,
    store: str | PathLike[str] | None = None,
    overwrite: bool = False,
    *,
    progress: Callable[[Report, Tower], None] | None = None,
) -> Flown:
    """Fly all agents of a mission as processes on this machine, and record what they say.

    Args:
        mission: what to fly.
        settings: how.
        store: a folder for the run; None keeps it in memory. What is heard is kept in a file beside it until then.
        overwrite: take the place of the run in ``store`` if there is one.
        progress: called now and then.
    """
    check_flyable(mission)
    settings = settings or Settings()
    with _keys_for(mission, settings) as keys, _one_thread():
        begin = mission.start()
        _warm(mission, begin)
        digest = mission_digest(mission, token_hex(8))
        crew = _Crew(mission, begin, settings, f"{settings.links}/localhost:{_free_port(settings.links)}", keys, digest)
        crew.endpoint += "?mixed_rel=1" if settings.links == "quic" else ""
        nursery = Nursery(crew.play)
        try:
            return asyncio.run(_Operation(crew, nursery, progress).conduct(store, overwrite))
        finally:
            nursery.close()


class _Operation:
    """A flight from the first process to the last."""

    def __init__(self, crew: _Crew, nursery: Nursery, progress: Callable[[Report, Tower], None] | None) -> None:
        self.crew, self.nursery, self.progress = crew, nursery, progress
        self.interrupted, self.exits = False, dict[str, int]()
        self.began, self.last_fault = crew.began, -np.inf
        self.memory: float | None = None

    async def conduct(self, store: str | PathLike[str] | None, overwrite: bool) -> Flown:
        """Begin everything, see it through, end it, and record it."""
        crew, mission = self.crew, self.crew.mission
        self.nursery.start(ROUTER)
        keys = crew.keys_of("operator")
        bus = open_bus(member_config(crew.endpoint, keys, insecure_links=True))
        radio = Radio(bus, keys or NoSeal(), crew.digest, mission.agents, OPERATOR, reach=reach_of(mission))
        journal = None if store is None else open_journal(Path(store), mission, crew.digest)
        tower = Tower(mission, radio, time.monotonic, journal)
        later = {name for at in crew.settings.joins for name in at.members}
        first = {name for at in crew.settings.kills for name in at.members}
        for agent in range(mission.agents):
            if str(agent) not in later - first:
                self.nursery.start(str(agent))
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._interrupt)
        try:
            report, started = await self._watch(tower)
            seconds = time.monotonic() - started
            await self._end(radio, tower)
        finally:
            bus.close()
            if journal is not None:
                journal.close()
        run = run_of(tower.tracks, store, overwrite)
        if journal is not None:
            journal.path.unlink()
        after = None if tower.agreed_at is None else max(tower.agreed_at - self.last_fault, 0.0)
        agreed = after if np.isfinite(self.last_fault) else None
        rounds = run.steps / seconds if seconds > 0 else 0.0
        outcome = seconds, rounds, self.interrupted, self.exits, self.memory
        return Flown(run, report, *outcome, tower.tracks, list(radio.delays), agreed)

    def _interrupt(self) -> None:
        self.interrupted = True

    async def _watch(self, tower: Tower) -> tuple[Report, float]:
        """Until the team has settled, or all have ended, or it takes too long."""
        settings, started = self.crew.settings, None
        events = _events(settings)
        limit = np.inf if settings.seconds is None else settings.seconds
        while True:
            await asyncio.sleep(0.05)
            self._collect()
            now = time.monotonic() - self.began
            while events and events[0][0] <= now:
                self._happen(*events.pop(0)[1:])
            report = tower.report()
            if tower.journal is not None:
                tower.journal.flush()
            if self.progress is not None:
                self.progress(report, tower)
            if started is None and report.step > 0:
                started, self.memory = time.monotonic(), self._private_memory()
            agents = [name for name in self.nursery.pids if name != ROUTER]
            finished = report.done and self.crew.mission.scenario.stop_when_settled
            finished = finished and not events and time.monotonic() > self.last_fault + NOTICE
            if self.interrupted or now > limit or not (agents or events) or finished:
                return report, self.began if started is None else started

    def _collect(self) -> None:
        """Note who has ended, and begin the router again if it has."""
        for name, code in self.nursery.poll().items():
            if name == ROUTER:
                asyncio.get_running_loop().call_later(RESTART, self.nursery.start, ROUTER)
            elif code not in (0, -signal.SIGKILL):
                self.exits[name] = code

    def _happen(self, what: str, name: str) -> None:
        self.last_fault = time.monotonic()
        if what == "join":
            self.nursery.start(name)
        elif what != "heal":
            numbers = {"kill": signal.SIGKILL, "freeze": signal.SIGSTOP, "thaw": signal.SIGCONT}
            self.nursery.signal(name, numbers[what])

    async def _end(self, radio: Radio, tower: Tower) -> None:
        """Tell everybody that it is over, until all have ended."""
        deadline = time.monotonic() + LAST_WORDS
        while any(name != ROUTER for name in self.nursery.pids) and time.monotonic() < deadline:
            radio.say(max(tower.report().step, 0), Command("end"))
            await asyncio.sleep(0.1)
            for name, code in self.nursery.poll().items():
                if code and name != ROUTER:
                    self.exits[name] = code
        for name in [name for name in self.nursery.pids if name != ROUTER]:
            self.exits[name] = -signal.SIGKILL  # it did not end when it was told to
            self.nursery.signal(name, signal.SIGKILL)
        await asyncio.sleep(0.1)  # last words that are on their way

    def _private_memory(self) -> float | None:
        """Megabytes that an agent's process does not share with others, on average."""
        found = []
        for name, pid in self.nursery.pids.items():
            with contextlib.suppress(OSError, ValueError):
                lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
                own = sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Clean", "Private_Dirty")))
                found += [own / 1024] if name != ROUTER else []
        return sum(found) / len(found) if found else None


def _events(settings: Settings) -> list[tuple[float, str, str]]:
    """What happens to processes, in the order of time."""
    found = [(at.start, "kill", name) for at in settings.kills for name in at.members]
    found += [(at.start + at.seconds, "heal", name) for at in settings.partitions for name in at.members[:1]]
    for at in settings.freezes:
        for name in at.members:
            found += [(at.start, "freeze", name), (at.start + at.seconds, "thaw", name)]
    found += [(at.start, "join", name) for at in settings.joins for name in at.members]
    return sorted(found)


def _warm(mission: Mission, begin: State) -> None:
    """Have compiled and loaded what agents need, before they are forked."""
    import zenoh  # noqa: F401

    advance(mission, begin, decide_all)


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """No threads before processes are forked, and none in agents, which are alone with their row."""
    before = os.environ.get("TRICOVER_THREADS")
    os.environ["TRICOVER_THREADS"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["TRICOVER_THREADS"]
        else:
            os.environ["TRICOVER_THREADS"] = before


@contextlib.contextmanager
def _keys_for(mission: Mission, settings: Settings) -> Iterator[Path | None]:
    """The keys of a fleet: those that are given, or new ones that end with the flight."""
    if not settings.signed:
        if settings.links not in ("tcp", "udp"):
            raise InputError(f'without signatures links are open, too: take "tcp" or "udp", not {settings.links!r}')
        yield None
        return
    if settings.keys is not None:
        yield settings.keys
        return
    with tempfile.TemporaryDirectory(prefix="tricover-keys-") as folder:
        make_keys(Path(folder) / "keys", mission.agents, days=1)
        yield Path(folder) / "keys"


def _free_port(links: str) -> int:
    kind = socket.SOCK_DGRAM if links in ("quic", "udp") else socket.SOCK_STREAM
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def fly_alone(
    mission: Mission, agent: int, router: str, keys: str | PathLike[str] | None, flight: str, manners: Manners
) -> Member:
    """Be one agent of a fleet whose router is anywhere, until its mission is over."""
    loaded = None if keys is None else Keys.load(keys)
    if loaded is not None and loaded.name != f"agent-{agent}":
        raise InputError(f"these are the keys of {loaded.name}: agent {agent} needs its own")

    def stop(task: asyncio.Task[Member]) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)

    digest = mission_digest(mission, flight)
    try:
        return asyncio.run(fly_agent(mission, agent, router, loaded, digest, manners, stop=stop))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


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
        bus = open_bus(member_config(router, loaded, insecure_links=True))
        radio = Radio(bus, loaded or NoSeal(), mission_digest(mission, flight), mission.agents, OPERATOR)
        for _ in range(ORDERS):
            radio.say(0, Command(word, values))
            await asyncio.sleep(0.2)
        bus.close()

    asyncio.run(send())


def route_until_stopped(endpoints: list[str], keys: str | PathLike[str] | None, agents: int) -> None:
    """Be a router, until this process is told to end."""
    import zenoh

    config = router_config(endpoints, None if keys is None else Keys.load(keys), agents, insecure_links=True)
    session: Any = zenoh.open(config)
    try:
        signal.sigwait({signal.SIGINT, signal.SIGTERM})
    finally:
        session.close()
