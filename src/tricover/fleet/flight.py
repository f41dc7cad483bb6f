"""A fleet on this machine: a router and all agents as processes, faults on demand, and a tower that records."""

import asyncio
import contextlib
import signal
import socket
import tempfile
import time
from bisect import insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf
from os import PathLike
from pathlib import Path
from secrets import token_hex

from tricover.errors import InputError
from tricover.fleet.controls import Controls, Operator
from tricover.fleet.crew import ROUTER, STARTED, Crew, Settings, reach_of
from tricover.fleet.flyable import check_flyable
from tricover.fleet.journal import open_journal
from tricover.fleet.keys import make_keys
from tricover.fleet.links import member_config
from tricover.fleet.messages import OPERATOR, Command, NoSeal, mission_digest
from tricover.fleet.processes import Nursery
from tricover.fleet.radio import Radio
from tricover.fleet.recording import Tracks, run_of
from tricover.fleet.tower import Report, Tower
from tricover.fleet.zenoh_bus import open_bus
from tricover.simulation import Mission, Run
from tricover.simulation.store import place_for_run

__all__ = ["Flown", "fly_fleet"]

LOOKS = 0.05
"""Seconds between two looks at how far it is."""
CONNECTING = 8
"""Agents that may be connecting at a time, of those that begin together."""
CONNECTED = 1.0
"""Seconds after which the next one begins anyway."""
RESTART = 1.0
"""Seconds after which a router that ended is begun again."""
NOTICE = 3.0
"""Seconds after a fault, and after a lease, in which a team that seems settled may not have noticed yet."""
WEIGHED = 8
"""Agents whose memory is measured: to look at all of a crowd takes seconds."""
LAST_WORDS = 10.0
"""Seconds that agents have to land and end when the flight is over."""


@dataclass(frozen=True, eq=False)
class Flown:
    """What came out of a flight.

    Attributes:
        run: as the recorder heard it.
        report: how far it was when it ended.
        seconds: from the first steps of the slowest to the end.
        rounds: steps per second of that time.
        alive: how many agents ended in order.
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
    alive: int
    interrupted: bool
    exits: dict[str, int]
    memory: float | None
    tracks: Tracks
    latencies: list[float]
    agreed_after: float | None


def fly_fleet(
    mission: Mission,
    settings: Settings | None = None,
    store: str | PathLike[str] | None = None,
    overwrite: bool = False,
    *,
    progress: Callable[[Report, Tower], None] | None = None,
    controls: Controls | None = None,
) -> Flown:
    """Fly all agents of a mission as processes on this machine, and record what they say.

    Args:
        mission: what to fly.
        settings: how.
        store: a folder for the run; None keeps it in memory. What is heard is kept in a file beside it until then.
        overwrite: take the place of the run in ``store`` if there is one.
        progress: called now and then.
        controls: by which more can be asked for while it flies.
    """
    check_flyable(mission)
    settings = settings or Settings()
    if store is not None:
        place_for_run(Path(store), overwrite)
    with _keys_for(mission, settings) as keys:
        endpoint = f"{settings.links}/localhost:{_free_port(settings.links)}"
        endpoint += "?mixed_rel=1" if settings.links == "quic" else ""
        crew = Crew(mission, settings, endpoint, keys, mission_digest(mission, token_hex(8)))
        nursery = Nursery(crew)
        try:
            return asyncio.run(_Operation(crew, nursery, progress, controls).conduct(store, overwrite))
        finally:
            nursery.close()


class _Operation:
    """A flight from the first process to the last."""

    def __init__(
        self,
        crew: Crew,
        nursery: Nursery,
        progress: Callable[[Report, Tower], None] | None,
        controls: Controls | None,
    ) -> None:
        self.crew, self.nursery, self.progress = crew, nursery, progress
        self.controls = controls or Controls(orders=True, processes=True)
        self.events = _events(crew.settings)
        """What is to happen to processes: seconds from the start, what, and to whom."""
        self.frozen = set[str]()
        self.interrupted, self.exits = False, dict[str, int]()
        self.last_fault: float | None = None
        self.began, self.first = time.monotonic(), 0
        self.started: float | None = None
        """When the slowest had taken its first steps, ``first`` of them."""
        self.memory: float | None = None

    async def conduct(self, store: str | PathLike[str] | None, overwrite: bool) -> Flown:
        """Begin everything, see it through, end it, and record it."""
        crew, mission = self.crew, self.crew.mission
        self.nursery.start(ROUTER)
        keys = crew.keys_of("operator")
        bus = open_bus(member_config(crew.endpoint, keys, insecure_links=True, lease=crew.lease))
        radio = Radio(bus, keys or NoSeal(), crew.digest, mission.agents, OPERATOR, reach=reach_of(mission))
        journal = None if store is None else open_journal(Path(store), mission, crew.digest)
        with journal or contextlib.nullcontext(), contextlib.closing(bus):
            tower = Tower(mission, radio, time.monotonic, journal)
            await self._start_agents(tower)
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._interrupt)
            report = await self._watch(tower, Operator(radio))
            seconds = time.monotonic() - (self.started or self.began)
            agreed = self._agreed_after(tower)
            await self._end(radio, tower)
        run = run_of(tower.tracks, store, overwrite)
        if journal is not None:
            journal.remove()
        rounds = max(run.steps - self.first, 0) / seconds if seconds > 0 else 0.0
        alive = sum(code == 0 for name, code in self.nursery.ended.items() if name != ROUTER)
        outcome = seconds, rounds, alive, self.interrupted, self.exits, self.memory
        return Flown(run, report, *outcome, tower.tracks, list(radio.delays), agreed)

    async def _start_agents(self, tower: Tower) -> None:
        """Begin all agents but those who join later.

        A few at a time: hundreds that connect at once would starve those whose keep-alive is due, who connect again.
        """
        settings = self.crew.settings
        later = {name for at in settings.joins for name in at.members}
        again = {name for at in settings.kills for name in at.members}
        names = [str(agent) for agent in range(self.crew.mission.agents) if str(agent) not in later - again]
        for begun, name in enumerate(names):
            latest = time.monotonic() + CONNECTED
            while begun - len(tower.living) >= CONNECTING and time.monotonic() < latest:
                await asyncio.sleep(0.005)
            self.nursery.start(name)

    def _agreed_after(self, tower: Tower) -> float | None:
        """Seconds from the last fault, if there was one, to when the living agreed, if they did."""
        if tower.agreed_at is None or self.last_fault is None:
            return None
        return max(tower.agreed_at - self.last_fault, 0.0)

    def _interrupt(self) -> None:
        self.interrupted = True

    async def _watch(self, tower: Tower, operator: Operator) -> Report:
        """Until the team has settled, or all have ended, or it takes too long."""
        events, settings = self.events, self.crew.settings
        limit = self.began + (inf if settings.seconds is None else settings.seconds)
        while True:
            report = await tower.look(LOOKS)
            self._collect()
            if self.progress is not None:
                self.progress(report, tower)
            if self.started is None and report.step > 0:
                self._start(report)
            self._grant(operator)
            operator.speak(max(report.step, 0))
            while events and self.started is not None and self.started + events[0][0] <= time.monotonic():
                self._happen(*events.pop(0)[1:])
            flying = any(name != ROUTER for name in self.nursery.pids)
            over = self.interrupted or time.monotonic() > limit or not (flying or events)
            if over or self._finished(report, bool(events)):
                return report

    def _start(self, report: Report) -> None:
        """All have taken a step: from now on faults are timed."""
        self.started, self.first, self.memory = time.monotonic(), report.step, self._private_memory()
        for name in self.nursery.pids:
            self.nursery.signal(name, STARTED)

    def _finished(self, report: Report, more: bool) -> bool:
        """Whether the team has settled, and no fault is to come or may not have been noticed yet."""
        scenario = self.crew.mission.scenario
        noticed = self.last_fault is None or time.monotonic() > self.last_fault + self.crew.lease + NOTICE
        settled = report.done and scenario.stop_when_settled and noticed
        return (settled or report.step >= scenario.steps) and not more

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
            if name not in self.nursery.pids:  # else it was begun again on demand
                self.nursery.start(name, self.started)
        elif what != "heal":
            numbers = {"kill": signal.SIGKILL, "freeze": signal.SIGSTOP, "thaw": signal.SIGCONT}
            self.nursery.signal(name, numbers[what])
        (self.frozen.add if what == "freeze" else self.frozen.discard)(name)

    def _grant(self, operator: Operator) -> None:
        """Do what is asked for, as soon as the flight has started; tell who runs."""
        here = 0.0 if self.started is None else time.monotonic() - self.started
        for what, values in self.controls.taken():
            if what == "order":
                operator.order(**values)
            elif what == "faults":
                operator.disturb(**values)
                self.last_fault = time.monotonic()
            else:
                name = str(values["agent"])
                insort(self.events, (here, what, name))
                if what == "freeze":
                    insort(self.events, (here + values["seconds"], "thaw", name))
        agents = {name for name in self.nursery.pids if name != ROUTER}
        self.controls.running = frozenset(map(int, agents))
        self.controls.frozen = frozenset(map(int, self.frozen & agents))

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
        """Megabytes that an agent's process does not share with others, on average of some."""
        found = []
        for pid in [pid for name, pid in self.nursery.pids.items() if name != ROUTER][:WEIGHED]:
            with contextlib.suppress(OSError, ValueError):
                lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
                own = sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Clean", "Private_Dirty")))
                found.append(own / 1024)
        return sum(found) / len(found) if found else None


def _events(settings: Settings) -> list[tuple[float, str, str]]:
    """What happens to processes, in the order of time."""
    found = [(at.start, "kill", name) for at in settings.kills for name in at.members]
    found += [(partition.end, "heal", "") for partition in settings.faults.partitions]
    for at in settings.freezes:
        for name in at.members:
            found += [(at.start, "freeze", name), (at.start + at.seconds, "thaw", name)]
    found += [(at.start, "join", name) for at in settings.joins for name in at.members]
    return sorted(found)


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
