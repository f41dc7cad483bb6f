"""All agents of a fleet in one process, on the bus in memory: a fleet without a network, for tests and for looking."""

import asyncio
import time
from collections.abc import Callable
from math import inf

from tricover.fleet.agent import Manners, fly
from tricover.fleet.bus import MemoryHub
from tricover.fleet.clock import clock_of
from tricover.fleet.flyable import check_flyable
from tricover.fleet.member import Member
from tricover.fleet.membership import Patience
from tricover.fleet.messages import NoSeal, Seal, mission_digest
from tricover.fleet.radio import Radio
from tricover.fleet.recording import Tracks, run_of
from tricover.simulation import Mission, Run, Scenario
from tricover.simulation.mission import as_mission

__all__ = ["fly_together"]

TOGETHER = Manners(
    clock=clock_of("fast"),
    patience=Patience(patience=999_999.0, grace=999_999.0),
    repeat=1.0,
    silence=inf,
    homing=inf,
    linger=0.0,
    farewells=1,
)
"""Nothing is lost, and nobody gone: however long one agent computes, all others wait for it."""


def fly_together(
    scenario: Scenario | Mission,
    manners: Manners = TOGETHER,
    seal: Seal | None = None,
    now: Callable[[], float] = time.monotonic,
) -> Run:
    """Fly a fleet in this process, each agent on its own, over a bus in memory; the run as a recorder hears it."""
    mission = as_mission(scenario)
    check_flyable(mission)
    return run_of(asyncio.run(_flown(mission, manners, seal or NoSeal(), now)))


async def _flown(mission: Mission, manners: Manners, seal: Seal, now: Callable[[], float]) -> Tracks:
    hub, digest, begin = MemoryHub(), mission_digest(mission), mission.start()
    tracks = Tracks(mission)

    def radio_of(sender: int | None) -> Radio:
        return Radio(hub.join(), seal, digest, mission.agents, sender, now=lambda: 0.0)  # no message gets old

    listener = radio_of(None)

    def hear(key: str, data: bytes) -> None:
        found = listener.opened(key, data)
        if found is not None:
            tracks.add(*found)

    listener.bus.subscribe(f"{listener.root}/*/*/place", hear)
    members = [Member(mission, agent, begin) for agent in range(mission.agents)]
    radios = [radio_of(member.agent) for member in members]
    await asyncio.gather(*(fly(*pair, manners, now) for pair in zip(members, radios, strict=True)))
    for _ in range(3):  # let what was said last arrive
        await asyncio.sleep(0)
    return tracks
