"""What the processes of a fleet on this machine do: the router, and each agent; see ``Crew``."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tricover.fleet.agent import Manners, fly
from tricover.fleet.bus import Bus
from tricover.fleet.faults import At, Faults, FaultyBus
from tricover.fleet.keys import Keys
from tricover.fleet.links import LEASE, member_config, router_config
from tricover.fleet.member import Member
from tricover.fleet.messages import Action, Intent, NoSeal, Place, Seal
from tricover.fleet.radio import Radio
from tricover.fleet.routing import route
from tricover.fleet.zenoh_bus import open_bus
from tricover.simulation import Mission, State, advance
from tricover.simulation.deciding import decide_all
from tricover.vehicles import flies_for_real

__all__ = ["ROUTER", "STARTED", "Crew", "Settings", "fly_agent", "reach_of"]

ROUTER = "router"
STARTED = signal.SIGUSR1
"""Tells an agent that the flight has started, from which on faults are timed."""
CROWD = 30
"""Agents that share a core without getting in each other's way."""
AGENTS_YIELD = 5
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
    lease: float = LEASE,
    wrapped: Callable[[Bus], Bus] = lambda bus: bus,
    stop: Callable[[asyncio.Task[Member]], None] | None = None,
) -> Member:
    """Connect one agent to the router at an endpoint, and fly it; ``wrapped`` may let things go wrong on its bus."""
    member = Member(mission, agent, begin)
    bus = open_bus(member_config(endpoint, keys, insecure_links=True, lease=lease))
    seal: Seal = NoSeal() if keys is None else keys
    radio = Radio(wrapped(bus), seal, digest, mission.agents, agent, reach=reach_of(mission))
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
        begin: where everybody starts.
    """

    mission: Mission
    settings: Settings
    endpoint: str
    keys: Path | None
    digest: bytes
    begin: State | None = None

    @property
    def lease(self) -> float:
        """Seconds of silence after which a process is taken for dead; more in a crowd, where it may just be waiting."""
        return LEASE * max(1.0, self.mission.agents / (CROWD * (os.cpu_count() or 1)))

    def warm(self) -> None:
        """Have compiled and loaded what agents need, before they are forked."""
        import zenoh  # noqa: F401

        self.keys_of(ROUTER)
        self.begin = self.mission.start()
        if not flies_for_real(self.mission.vehicle):
            advance(self.mission, self.begin, decide_all)
        self._rehearse(self.begin)
        signal.signal(STARTED, signal.SIG_IGN)  # whoever is not there yet does not mind

    def _rehearse(self, begin: State) -> None:
        """Let one who listens to others hear them, plan, and lose somebody: that needs all that agents need."""
        here = np.flatnonzero(self.mission.present_at(0))
        member = max((Member(self.mission, int(agent), begin) for agent in here), key=lambda one: len(one.senders))
        for sender in member.senders:
            point = float(begin.positions[sender, 0]), float(begin.positions[sender, 1])
            member.mail.hear(sender, member.step, Place(point, Action(), member.living))
            member.mail.hear_intent(sender, member.step, Intent(point))
        member.plan()
        member.believe(np.arange(self.mission.agents) != here[0])

    def play(self, name: str, watched: int, zero: float | None) -> int:
        """Be the router, or an agent, until it is over or the program is gone; ``zero`` is when the flight started."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if name == ROUTER:
            asyncio.run(self._route(watched))
            return 0
        os.nice(AGENTS_YIELD)
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        asyncio.run(self._fly(int(name), watched, zero))
        return 0

    def keys_of(self, name: str) -> Keys | None:
        """The keys of a process."""
        return None if self.keys is None else Keys.load(self.keys / name)

    async def _route(self, watched: int) -> None:
        keys, agents = self.keys_of(ROUTER), self.mission.agents
        config = router_config([self.endpoint], keys, agents, insecure_links=True, lease=self.lease)
        stopped = asyncio.Event()
        asyncio.get_running_loop().add_reader(watched, stopped.set)  # when the program is gone
        await route(config, keys, stopped)

    async def _fly(self, agent: int, watched: int, zero: float | None) -> None:
        loop, keys = asyncio.get_running_loop(), self.keys_of(f"agent-{agent}")

        def stop(task: asyncio.Task[Member]) -> None:
            loop.add_reader(watched, task.cancel)

        def wrapped(bus: Bus) -> Bus:
            if not self.settings.faults.any:
                return bus
            faulty = FaultyBus(bus, agent, self.settings.faults)
            loop.add_signal_handler(STARTED, lambda: faulty.begin(time.monotonic()))
            if zero is not None:  # it joins a flight that has started
                faulty.begin(zero)
            return faulty

        how = self.mission, agent, self.endpoint, keys, self.digest, self.settings.manners
        with contextlib.suppress(asyncio.CancelledError):
            await fly_agent(*how, begin=self.begin, lease=self.lease, wrapped=wrapped, stop=stop)
