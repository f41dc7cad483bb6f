"""What the processes of a fleet on this machine do: the router, and each agent; see ``Crew``."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.fleet.agent import Manners, fly
from tricover.fleet.faults import At, Faults, FaultyBus, Partition
from tricover.fleet.keys import Keys
from tricover.fleet.links import member_config, router_config
from tricover.fleet.member import Member
from tricover.fleet.messages import NoSeal, Seal
from tricover.fleet.radio import Radio
from tricover.fleet.zenoh_bus import open_bus
from tricover.simulation import Mission, State, advance
from tricover.simulation.deciding import decide_all

__all__ = ["ROUTER", "Crew", "Settings", "fly_agent", "reach_of"]

ROUTER = "router"
AGENTS_YIELD = 15
"""Agents share few cores here: the router and the tower, whom all need, go first."""


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


def reach_of(mission: Mission) -> NDArray[np.float64]:
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
class Crew:
    """What every process of a fleet knows when it begins.

    Attributes:
        mission: what is flown.
        settings: how.
        endpoint: where the router listens.
        keys: the folder with everybody's keys; None: nothing is signed.
        digest: of mission and flight.
        began: when the processes were ready to begin, by ``time.monotonic``.
        begin: where everybody starts.
    """

    mission: Mission
    settings: Settings
    endpoint: str
    keys: Path | None
    digest: bytes
    began: float = 0.0
    begin: State | None = None

    def warm(self) -> float:
        """Have compiled and loaded what agents need, before they are forked; when that was done."""
        import zenoh  # noqa: F401

        self.begin = self.mission.start()
        advance(self.mission, self.begin, decide_all)
        self.began = time.monotonic()
        return self.began

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

    @property
    def faults(self) -> Faults:
        """What goes wrong with messages, at times by the clock of this machine."""
        cut = [
            Partition(frozenset(map(int, at.members)), self.began + at.start, self.began + at.start + at.seconds)
            for at in self.settings.partitions
        ]
        return replace(self.settings.faults, partitions=tuple(cut))

    def _route(self, watched: int) -> int:
        import zenoh

        config = router_config([self.endpoint], self.keys_of(ROUTER), self.mission.agents, insecure_links=True)
        session: Any = zenoh.open(config)
        os.read(watched, 1)  # until the program is gone
        session.close()
        return 0

    async def _fly(self, agent: int, watched: int) -> None:
        def stop(task: asyncio.Task[Member]) -> None:
            asyncio.get_running_loop().add_reader(watched, task.cancel)

        keys = self.keys_of(f"agent-{agent}")
        how = self.mission, agent, self.endpoint, keys, self.digest, self.settings.manners
        with contextlib.suppress(asyncio.CancelledError):
            await fly_agent(*how, begin=self.begin, faults=self.faults, stop=stop)
