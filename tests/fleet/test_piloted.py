"""One agent of a fleet flies by MAVLink, all others are simulated: from take-off to landing, seen by the autopilot."""

import asyncio
import time
from itertools import groupby

import numpy as np
import pytest

import tricover as tc
from tests.fleet.served import Recorded, served
from tests.ports import free_port
from tricover.errors import TakenOverError
from tricover.fleet.agent import fly
from tricover.fleet.body import TICK
from tricover.fleet.bus import MemoryHub
from tricover.fleet.member import Member
from tricover.fleet.messages import OPERATOR, Command, NoSeal, mission_digest
from tricover.fleet.radio import Radio
from tricover.fleet.recording import Tracks, run_of
from tricover.fleet.together import TOGETHER
from tricover.simulation import Mission
from tricover.vehicles import link, mavlink
from tricover.vehicles.flight_modes import ARDUPILOT, PX4

TEAM = [[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2], [3, 2.5]]
REAL, STEPS = 5, 6  # the agent that flies, and how many steps it takes at least
SPEED, LONG = 8.0, 300.0  # times real time; s of patience on a machine that is busy


@pytest.fixture(autouse=True)
def _quickly(monkeypatch):
    """Our autopilot flies faster than real time, so what it wants to see before offboard mode takes less, too."""
    monkeypatch.setattr(mavlink, "_BEFORE_OFFBOARD", 0.2)
    monkeypatch.setattr(mavlink, "_ANSWERED", 0.5)
    monkeypatch.setattr(link, "SILENCE", 60.0)
    yield
    mavlink._let_go_of_all()


class Watched(Recorded):
    """An autopilot that remembers what it did, tick by tick: its role, whether it is armed, its place."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.log = []

    def advance(self, seconds):
        sent, rest = [], seconds
        while rest > 0:  # on a busy machine many ticks pass at once
            sent += super().advance(min(rest, TICK))
            rest -= TICK
            self.log.append((self.flight.role, self.flight.armed, self.flight.body.place))
        return sent

    @property
    def phases(self):
        """Roles and arming in the order in which they came."""
        return [what for what, _ in groupby(one[:2] for one in self.log)]


def scenario(**vehicle):
    settings = {"steps": 100_000, "stop_when_settled": False, "vehicle": {"kind": "exact", **vehicle}}
    return tc.Scenario(reference=TEAM, targets=[[1, 1], [2, 3], [3, 1]], **settings)


def mission_with(port):
    real = {"agents": [REAL], "kind": "mavlink", "address": f"udpin:127.0.0.1:{port}", "altitude": 1.0}
    return Mission.of(scenario(duration=0.05, others=[{**real, "patience": LONG}]))


async def flown(mission, fact, hub):
    """Fly some steps, and until a fact is true; then the operator ends it. Gives what was recorded."""
    tracks, digest = Tracks(mission), mission_digest(mission)

    def radio_of(sender):
        return Radio(hub.join(), NoSeal(), digest, mission.agents, sender, now=lambda: 0.0)

    def hear(key, data):
        found = recorder.opened(key, data)
        if found is not None:
            tracks.add(*found)

    async def order():
        end = time.monotonic() + LONG
        while tracks.last_step(REAL) < STEPS or not fact():
            assert time.monotonic() < end
            await asyncio.sleep(0.01)
        operator.say(0, Command("end"))

    recorder, operator = radio_of(None), radio_of(OPERATOR)
    recorder.bus.subscribe(f"{recorder.root}/agent/*/place", hear)
    agents = [fly(Member(mission, agent), radio_of(agent), TOGETHER) for agent in range(mission.agents)]
    async with asyncio.TaskGroup() as group:
        for task in (*agents, order()):
            group.create_task(task)
    return tracks


@pytest.mark.parametrize("firmware", [PX4, ARDUPILOT], ids=lambda one: one.name)
def test_one_agent_of_a_fleet_flies_by_mavlink_from_take_off_to_landing(firmware):
    port, autopilot = free_port("udp"), Watched(system=9, firmware=firmware)
    desired = tc.simulate(scenario().replace(steps=20)).positions[-1]
    goal = desired[REAL]
    assert np.hypot(*(goal - TEAM[REAL])) > 0.5  # it has a way to go

    def is_there():
        x, y, z = autopilot.flight.body.place
        return np.hypot(*(np.add(TEAM[REAL], (x, y)) - goal)) < 0.1 and abs(z - 1) < 0.1

    with served(autopilot, port=port, speed=SPEED):
        run = run_of(asyncio.run(flown(mission_with(port), is_there, MemoryHub())))
    before = "hold" if firmware is PX4 else "pilot"
    assert autopilot.phases[0] == (before, False)
    assert [what for what in autopilot.phases if what[1]] == [("guided", True), ("land", True)]
    assert autopilot.phases[-1] == ("hold", False)
    heights = [place[2] for *_, place in autopilot.log]
    assert heights[0] == heights[-1] == 0
    assert max(heights) == pytest.approx(1.0, abs=0.3)
    landed = np.add(TEAM[REAL], autopilot.flight.body.place[:2])
    assert landed == pytest.approx(goal, abs=0.2)
    # What the agent said to its team is where the autopilot was.
    places = np.array([place[:2] for *_, place in autopilot.log]) + TEAM[REAL]
    said = run.positions[1:, REAL]
    assert len(said) >= STEPS
    assert all(np.abs(places - one).max(axis=1).min() < 1e-5 for one in said)
    assert np.abs(run.positions[-1] - desired).max() < 0.3  # the others follow who really flies


def test_an_agent_whose_pilot_takes_over_lets_go_and_says_who_it_is():
    port, autopilot, hub = free_port("udp"), Watched(), MemoryHub()

    def is_over():
        if autopilot.flight.role == "guided":
            autopilot.flight.set_mode("pilot")
        return False  # the operator says nothing

    with served(autopilot, port=port, speed=SPEED), pytest.RaisesGroup(TakenOverError) as caught:
        asyncio.run(flown(mission_with(port), is_over, hub))
    assert "mavlink of agent 5 changed to mode POSCTL" in str(caught.value.exceptions[0])
    assert autopilot.flight.armed
    assert autopilot.flight.role == "pilot"
    assert not mavlink._LINKS
    assert not [bus.tokens for bus in hub.buses if bus.tokens]  # others see that it is gone
