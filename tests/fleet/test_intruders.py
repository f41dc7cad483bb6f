"""A team over a real router with real keys, and somebody who attacks it: what it flies is what the simulator does."""

import asyncio
import random
import sys
import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import zenoh

import tricover as tc
from tests.fleet.routers import routing
from tests.fleet.test_links import free, is_refused
from tricover.fleet.agent import fly
from tricover.fleet.encoding import encoded
from tricover.fleet.keys import Keys, make_keys
from tricover.fleet.links import member_config, router_config
from tricover.fleet.member import Member
from tricover.fleet.messages import (
    OPERATOR,
    ROUTER,
    Action,
    Command,
    Denied,
    Header,
    Intent,
    NoSeal,
    Place,
    mission_digest,
)
from tricover.fleet.radio import FRESH, Radio
from tricover.fleet.together import TOGETHER
from tricover.fleet.zenoh_bus import open_bus
from tricover.simulation import Mission

AGENTS, STEPS, FLOOD, LONG = 8, 24, 20_000, 300.0
MANY = 20
MANNERS = replace(TOGETHER, repeat=0.2, farewells=10)
REASONS = {
    "malformed",
    "other mission",
    "wrong sender",
    "stale",
    "repeated or overtaken",
    "bad signature",
    "forged token",
}


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """The folders of a fleet's keys, and of another fleet's."""
    folder = tmp_path_factory.mktemp("intruders")
    make_keys(folder / "ours", AGENTS)
    make_keys(folder / "foreign", AGENTS)
    return folder


@pytest.fixture(autouse=True)
def _threads_switch_as_before():
    before = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before)


def mission():
    rng = np.random.default_rng(4)
    where = {"reference": rng.uniform(0, 100, (AGENTS, 2)), "targets": rng.uniform(0, 100, (60, 2))}
    how = {"control": {"motion": "walk", "resolution": 6}, "vehicle": "anywhere"}
    return Mission.of(tc.Scenario(**where, **how, steps=STEPS, stop_when_settled=False))


class Diary(Member):
    """An agent that keeps what it did and where it then was."""

    def __init__(self, *what):
        super().__init__(*what)
        self.done, self.places = [], [self.position]

    def land(self, *what):
        super().land(*what)
        self.done.append(self.last)
        self.places.append(self.position)


class Intruder:
    """Hears all, by a link without names; has stolen the certificate of agent 1, but not what it signs with."""

    def __init__(self, digest, keys, plain, secure):
        self.digest, self.draw = digest, random.Random(3)
        self.foreign = Keys.load(keys / "foreign" / "agent-2")
        self.plain = zenoh.open(member_config(plain, None))
        self.inside = zenoh.open(member_config(secure, keys / "ours" / "agent-1"))
        self.root = f"tricover/{digest.hex()}"
        self.heard, self.own, self.tokens = [], set(), []
        self.subscriber = self.plain.declare_subscriber(f"{self.root}/**", self.hear)
        self.watcher = self.plain.liveliness().declare_subscriber(f"{self.root}/**", self.see, history=True)

    def hear(self, sample):
        key, data = str(sample.key_expr), sample.payload.to_bytes()
        if data not in self.own:
            self.heard.append((key, data))

    def see(self, sample):
        self.tokens.append(str(sample.key_expr))

    async def attack(self):
        """Without end, but slowly enough that the links take all of it."""
        shown, done = [], 0
        while True:
            if done < len(self.heard):
                for key, data in self.made_of(*self.heard[done]):
                    self.own.add(data)
                    self.plain.put(key, data)
                    self.inside.put(key, data)
                done += 1
            if len(shown) < 40 and self.tokens:
                *front, agent, alive, boot, signature = self.draw.choice(self.tokens).split("/")
                for parts in ((agent, alive, boot, signature.upper()), (f"0{agent}", alive, boot, signature),
                              (agent, alive, "1", signature), ("one", alive, boot, signature)):  # fmt: skip
                    shown.append(self.plain.liveliness().declare_token("/".join([*front, *parts])))
                    shown.append(self.inside.liveliness().declare_token("/".join([*front, *parts])))
            elif shown:
                shown.pop().undeclare()
            await asyncio.sleep(0.001)

    def made_of(self, key, data):
        """Attacks that come of one message."""
        head, _, word = key.rpartition("/")
        agent = int(head.rpartition("/")[2])
        bit = self.draw.randrange(8 * len(data))
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        yield key, data  # again
        yield f"{head}/{'pace' if word == 'place' else 'place'}", data
        yield f"{self.root}/agent/{(agent + 1) % AGENTS}/place", data
        yield f"{self.root}/operator/command", data
        yield key, bytes(flipped)
        yield key, data[: self.draw.randrange(len(data))]
        yield key, self.draw.randbytes(self.draw.randrange(300))
        for seal in (NoSeal(), self.foreign):
            for message in (Place((50.0, 50.0), Action(), np.ones(AGENTS, bool)), Intent((50.0, 50.0))):
                yield key, self.forged(seal, agent, message)
                yield f"{head}/pace", self.forged(seal, agent, message, step=STEPS - 1)
            for order in ("land", "end", "hold"):
                yield f"{self.root}/operator/command", self.forged(seal, OPERATOR, Command(order))
        yield key, self.forged(self.foreign, agent, Intent((1.0, 1.0)), mission=bytes(8))
        yield key, self.forged(self.foreign, agent, Intent((1.0, 1.0)), at=time.time() - FRESH - 1)

    def forged(self, seal, sender, message, step=3, mission=None, at=None):
        """Newer than all that was said."""
        when = time.time() if at is None else at
        header = Header(0, mission or self.digest, sender, time.time_ns(), self.draw.getrandbits(40), when, step)
        return encoded(header, message, seal)

    def close(self):
        self.plain.close()
        self.inside.close()


async def flown(keys, plain, secure):
    """Fly the team while it is attacked; gives diaries, what agents, recorder and router refused, and the intruder."""
    flight, digest = mission(), mission_digest(mission(), "friday")
    begin = flight.start()

    def radio_of(name, sender):
        loaded = Keys.load(keys / "ours" / name)
        return Radio(open_bus(member_config(secure, loaded)), loaded, digest, AGENTS, sender)

    radios = [radio_of(f"agent-{agent}", agent) for agent in range(AGENTS)]
    recorder = radio_of("recorder", None)
    recorder.bus.subscribe(f"{recorder.root}/**", recorder.opened)
    recorder.watch_tokens(lambda *_: None)
    by_router = [Denied(0, 0)]

    def hear_router(key, data):
        by_router.append(recorder.opened(key, data)[1])

    recorder.bus.subscribe(recorder.key_of(ROUTER), hear_router)
    intruder = Intruder(digest, keys, plain, secure)
    attack = asyncio.create_task(intruder.attack())
    try:
        agents = [Diary(flight, radio.sender, begin) for radio in radios]
        tasks = [fly(agent, radio, MANNERS) for agent, radio in zip(agents, radios, strict=True)]
        async with asyncio.timeout(LONG):
            await asyncio.gather(*tasks)
            while not recorder.refused.keys() >= REASONS:
                await asyncio.sleep(0.01)
            while by_router[-1].messages <= MANY:  # to the last one, in test_routing: here links may drop some
                await asyncio.sleep(0.01)
    finally:
        attack.cancel()
        intruder.close()
        for radio in (*radios, recorder):
            radio.bus.close()
    by_agents = sum((radio.refused for radio in radios), Counter())
    return agents, by_agents, recorder.refused, by_router[-1], intruder


def test_a_team_that_is_attacked_does_what_the_simulator_does(keys):
    secure, plain = free(), free("tcp")
    with routing([secure, plain], keys / "ours" / "router", AGENTS):
        is_refused(member_config(secure, keys / "foreign" / "agent-1"))
        agents, by_agents, by_recorder, by_router, intruder = asyncio.run(flown(keys, plain, secure))
    run = tc.simulate(mission().scenario)
    extent = np.ptp(run.positions.reshape(-1, 2), axis=0).max()
    positions = np.stack([agent.places for agent in agents], axis=1)
    assert positions.shape == run.positions.shape == (STEPS + 1, AGENTS, 2)
    assert np.abs(positions - run.positions).max() <= 1e-12 * extent
    cells = np.array([[action.cells for action in agent.done] for agent in agents]).transpose(1, 0, 2)
    assert np.array_equal(cells, np.stack([run.states, run.goal_cells, run.next_cells], axis=-1))
    assert not np.array([[action.ages for action in agent.done] for agent in agents]).max()  # nothing was late
    assert len(intruder.heard) > 50
    assert by_recorder.keys() == REASONS
    assert by_agents.keys() == REASONS
    assert min((by_agents + by_recorder).values()) > MANY
    assert by_router.messages > MANY, "in the name of others, by the certificate of agent 1"


def test_a_flood_is_counted_and_others_are_heard_through_it(keys):
    """Agent 1 says twenty thousand things while nobody takes them; agent 2 says one."""
    endpoint = free()

    async def heard():
        sessions = [zenoh.open(member_config(endpoint, keys / "ours" / f"agent-{agent}")) for agent in (1, 2)]
        bus, found = open_bus(member_config(endpoint, keys / "ours" / "agent-0")), []
        bus.subscribe("tricover/m/agent/*/place", lambda key, data: found.append((key[-7], data)))
        flood, other = (f"tricover/m/agent/{agent}/place" for agent in (1, 2))
        block = {"congestion_control": zenoh.CongestionControl.BLOCK}
        with (
            sessions[0].declare_publisher(flood, **block) as loud,
            sessions[1].declare_publisher(other, **block) as low,
        ):
            while {name for name, _ in found} != {"1", "2"}:  # until the ways are open
                loud.put(b"hello")
                low.put(b"hello")
                await asyncio.sleep(0.01)
            loud.put(b"last")
            while ("1", b"last") not in found:  # what comes from now on is the flood
                await asyncio.sleep(0.01)
            found.clear()
            before = bus.dropped
            low.put(b"true")
            for number in range(FLOOD):  # the loop takes nothing meanwhile
                loud.put(number.to_bytes(4))
            while not {("1", (FLOOD - 1).to_bytes(4)), ("2", b"true")} <= set(found):
                await asyncio.sleep(0.01)
        bus.close()
        for session in sessions:
            session.close()
        return found, bus.dropped - before

    with zenoh.open(router_config([endpoint], keys / "ours" / "router", AGENTS)):
        found, dropped = asyncio.run(asyncio.wait_for(heard(), LONG))
    loud = [int.from_bytes(data) for name, data in found if name == "1"]
    assert loud == sorted(loud)
    assert len(loud) + dropped == FLOOD
    assert dropped > 0
