"""The radio: only what is in order is heard, all else is counted by its reason, and nobody flies otherwise for it."""

import asyncio
import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import tricover as tc
from tricover.fleet.agent import fly
from tricover.fleet.bus import MemoryHub
from tricover.fleet.keys import Keys, make_keys
from tricover.fleet.member import Member
from tricover.fleet.messages import OPERATOR, Action, Command, Intent, Memories, NoSeal, Past, Place, mission_digest
from tricover.fleet.radio import FRESH, Radio
from tricover.fleet.recording import Tracks, run_of
from tricover.fleet.together import TOGETHER
from tricover.simulation import Mission
from tricover.targets import TargetLists

AGENTS, STEPS = 8, 60
MISSION, OTHER = b"missions", b"mission2"


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """Everybody's keys, and those of another fleet."""
    folder = tmp_path_factory.mktemp("keys")
    make_keys(folder / "fleet", AGENTS)
    make_keys(folder / "foreign", AGENTS)
    load = {int(name): Keys.load(folder / "fleet" / f"agent-{name}") for name in range(AGENTS)}
    foreign = {int(name): Keys.load(folder / "foreign" / f"agent-{name}") for name in (1, 2)}
    return {**load, "operator": Keys.load(folder / "fleet" / "operator"), "foreign": foreign}


class Wire:
    """A bus that keeps what is published, and shows tokens at once."""

    def __init__(self):
        self.said, self.tokens, self.watcher = [], [], None

    def publish(self, key, data):
        self.said.append((key, data))

    def declare(self, key):
        self.tokens.append(key)

    def watch(self, pattern, handler):
        self.watcher = handler


def place(x=0.0, y=0.0):
    return Place((x, y), Action(), np.ones(AGENTS, bool))


def said(seal, sender, message, step=3, at=1000.0, mission=MISSION, boot=50, counter=0):
    """The key and the bytes of a message."""
    radio = Radio(Wire(), seal, mission, AGENTS, sender, now=lambda: at)
    radio.boot, radio.counter = boot, counter
    radio.say(step, message)
    return radio.bus.said[0]


def listener(seal, at=1000.0, reach=None):
    return Radio(Wire(), seal, MISSION, AGENTS, 0, reach=reach, now=lambda: at)


def test_what_is_in_order_is_heard(keys):
    radio = listener(keys[0], at=1000.25)
    header, message = radio.opened(*said(keys[1], 1, place(3.0, 4.0)))
    assert (header.sender, header.step, header.boot, header.counter, header.time) == (1, 3, 50, 1, 1000.0)
    assert message.position == (3.0, 4.0)
    assert list(radio.delays) == [0.25]
    assert not radio.refused
    _, order = radio.opened(*said(keys["operator"], OPERATOR, Command("go")))
    assert order == Command("go")


def refusals(keys):
    """Messages that are not in order after a good one of agent 1, each with the reason."""
    key, good = said(keys[1], 1, place(), counter=10)
    late = said(keys[1], 1, place(), counter=11)[1]
    flipped = bytearray(late)
    flipped[70] ^= 1
    operator_key, order = said(keys["operator"], OPERATOR, Command("land"))
    forged_order = said(keys[1], OPERATOR, Command("land"))[1]
    return {
        "changed": (key, bytes(flipped), "bad signature"),
        "no signature": (key, late[:-64] + bytes(64), "bad signature"),
        "signature of another message": (key, late[:-64] + good[-64:], "bad signature"),
        "of another fleet": (key, said(keys["foreign"][1], 1, place(), counter=11)[1], "bad signature"),
        "of another agent": (key, said(keys[2], 1, place(), counter=11)[1], "bad signature"),
        "another mission": (key, said(keys[1], 1, place(), counter=11, mission=OTHER)[1], "other mission"),
        "under the key of another": (key.replace("/1/", "/2/"), late, "wrong sender"),
        "under the operator's key": (operator_key, late, "wrong sender"),
        "the operator's under ours": (key, order, "wrong sender"),
        "who is not on the roster": (key, said(keys[1], AGENTS, place())[1], "wrong sender"),
        "again": (key, good, "repeated or overtaken"),
        "overtaken": (key, said(keys[1], 1, place(), counter=5)[1], "repeated or overtaken"),
        "of an earlier boot": (key, said(keys[1], 1, place(), boot=49, counter=99)[1], "repeated or overtaken"),
        "old": (key, said(keys[1], 1, place(), at=1000 - FRESH - 0.1, counter=11)[1], "stale"),
        "of tomorrow": (key, said(keys[1], 1, place(), at=1000 + FRESH + 0.1, counter=11)[1], "stale"),
        "begun tomorrow": (key, said(keys[1], 1, place(), boot=10**9 * 1031, counter=11)[1], "stale"),
        "under another spelling": (key.replace("/1/", "/01/"), late, "wrong sender"),
        "the operator's under a pace": (f"{key[:-8]}/{OPERATOR}/pace", order, "wrong sender"),
        "too fast": (key, said(keys[1], 1, place(2.2), step=4, counter=11)[1], "impossible"),
        "an order of an agent": (key, said(keys[1], 1, Command("land"), counter=11)[1], "wrong sender"),
        "an order forged by an agent": (operator_key, forged_order, "bad signature"),
        "a place of the operator": (*said(keys["operator"], OPERATOR, place()), "wrong sender"),
        "an intent of the operator": (*said(keys["operator"], OPERATOR, Intent((0.0, 0.0))), "wrong sender"),
        "nonsense": (key, b"abc", "malformed"),
        "cut short": (key, late[:-1], "bad signature"),
        "nothing": (key, b"", "malformed"),
        "another kind": (key, late[:4] + b"\x09" + late[5:], "bad signature"),
    }


def test_what_is_not_in_order_is_counted_by_its_reason(keys):
    for name, (key, data, reason) in refusals(keys).items():
        radio = listener(keys[0], reach=np.ones(AGENTS))
        assert radio.opened(*said(keys[1], 1, place(), counter=10)) is not None
        assert radio.opened(key, data) is None, name
        assert radio.refused == Counter({reason: 1}), name
        assert radio.opened(*said(keys[1], 1, place(), counter=20)) is not None


def test_who_began_anew_may_hear_what_is_old_but_not_what_is_older(keys):
    """A replay to one who has just begun: true messages of the last seconds, until the next true one comes."""
    told = [said(keys[1], 1, place(float(n)), step=n, at=1000.0 + n, counter=n) for n in range(60)]
    radio = listener(keys[0], at=1059.0)  # it has heard nothing yet
    heard = [radio.opened(*one) for one in told]
    assert [one is not None for one in heard] == [n >= 59 - FRESH for n in range(60)]
    assert radio.refused == Counter({"stale": 29})
    for one in told:
        assert radio.opened(*one) is None
    assert radio.refused == Counter({"stale": 58, "repeated or overtaken": 31})


def test_an_operator_whose_clock_is_behind_is_obeyed_after_one_that_it_heard(keys):
    hub, seal, digest = MemoryHub(), keys["operator"], bytes(8)
    times = {"ahead": 1005.0, "behind": 1000.0}
    radios = [Radio(hub.join(), seal, digest, AGENTS, OPERATOR, now=lambda when=when: when) for when in times.values()]
    agent = Radio(hub.join(), keys[0], digest, AGENTS, 0, now=lambda: 1005.0)

    async def run():
        said = [radio.say(0, Command("pause")) for radio in radios]
        assert agent.opened(agent.key_of(OPERATOR), said[0])
        assert agent.opened(agent.key_of(OPERATOR), said[1]) is None, "it was the earlier one by its clock"
        assert radios[1].opened(agent.key_of(OPERATOR), said[0])
        assert agent.opened(agent.key_of(OPERATOR), radios[1].say(0, Command("go")))
        assert agent.opened(agent.key_of(OPERATOR), said[0]) is None, "nobody can play the old one again"

    asyncio.run(run())


def test_orders_of_a_flight_are_none_in_the_next(keys):
    flights = [mission_digest(team(), name) for name in ("monday", "tuesday")]
    key, order = said(keys["operator"], OPERATOR, Command("land"), mission=flights[0])
    for number, (digest, accepted) in enumerate(zip(flights, (True, False), strict=True)):
        radio = Radio(Wire(), keys[0], digest, AGENTS, 0, now=lambda: 1000.0)
        assert (radio.opened(key.replace(flights[0].hex(), digest.hex()), order) is not None) is accepted
        assert radio.refused["other mission"] == number


def test_a_refused_message_leaves_no_trace(keys):
    radio = listener(keys[0], reach=np.ones(AGENTS))
    radio.opened(*said(keys[1], 1, place(), counter=10))
    radio.opened(*said(keys[1], 1, place(50.0), step=4, counter=11))
    radio.opened(*said(keys[2], 1, place(0.5), step=4, counter=2**40))
    assert radio.opened(*said(keys[1], 1, place(1.0), step=4, counter=12)) is not None
    assert sum(radio.refused.values()) == 2


def test_a_vehicle_goes_as_far_as_it_can_in_as_many_steps():
    for steps, way, fine in ((1, 1.04, True), (1, 1.06, False), (3, 3.1, True), (3, 3.2, False), (0, 1.0, True)):
        radio = listener(NoSeal(), reach=np.array([0.1, 1.0] + [0.1] * (AGENTS - 2)))
        radio.opened(*said(NoSeal(), 1, place(), counter=10))
        found = radio.opened(*said(NoSeal(), 1, place(0.6 * way, -0.8 * way), step=3 + steps, counter=11))
        assert (found is not None) is fine


def test_who_begins_anew_may_be_anywhere():
    radio = listener(NoSeal(), reach=np.ones(AGENTS))
    radio.opened(*said(NoSeal(), 1, place(), step=40, counter=10))
    assert radio.opened(*said(NoSeal(), 1, place(90.0), step=0, boot=51)) is not None
    assert radio.opened(*said(NoSeal(), 1, place(92.0), step=1, boot=51, counter=1)) is None


def test_an_intent_and_a_memory_are_no_places():
    radio = listener(NoSeal(), reach=np.ones(AGENTS))
    radio.opened(*said(NoSeal(), 1, place(), counter=10))
    assert radio.opened(*said(NoSeal(), 1, Intent((99.0, 0.0)), counter=11)) is not None
    assert radio.opened(*said(NoSeal(), 1, Memories({"a": np.ones((1, 1))}), counter=12)) is not None


def test_a_clock_may_be_off_by_as_much_as_is_said(keys):
    for at in (1000 - FRESH, 1000 + FRESH):
        assert listener(keys[0]).opened(*said(keys[1], 1, place(), at=at)) is not None


def test_messages_count_up_and_paces_say_the_same():
    radio = Radio(Wire(), NoSeal(), MISSION, AGENTS, 4, now=lambda: 7.0)
    radio.say(1, place())
    radio.say(1, place(), pace=True)
    keys = [key for key, _ in radio.bus.said]
    assert keys == [f"tricover/{MISSION.hex()}/agent/4/{word}" for word in ("place", "place", "pace")]
    assert radio.bus.said[1][1] == radio.bus.said[2][1]
    hears = listener(NoSeal(), at=7.0)
    assert [hears.opened(*one) is not None for one in radio.bus.said] == [True, True, False]


def test_orders_of_one_step_are_told_apart_and_places_are_not():
    radio = listener(NoSeal())
    assert radio.order_of(said(NoSeal(), OPERATOR, Command("go"))[1]) is None
    assert radio.order_of(said(NoSeal(), 1, Intent((0.0, 0.0)))[1]) is None
    assert radio.order_of(b"no message") is None
    one, other = (said(NoSeal(), 1, place(x), counter=n)[1] for x, n in ((0.0, 1), (9.0, 2)))
    assert radio.order_of(one) == radio.order_of(other) == (1, 50, 3)


# Tokens


def test_a_token_is_its_owners(keys):
    radio = Radio(Wire(), keys[1], MISSION, AGENTS, 1)
    radio.show_token()
    (token,) = radio.bus.tokens
    watch = listener(keys[0])
    seen = []
    watch.watch_tokens(lambda *what: seen.append(what))
    watch.bus.watcher(token, True)
    watch.bus.watcher(token, False)
    assert seen == [(1, str(radio.boot), True), (1, str(radio.boot), False)]
    *front, boot, signature = token.split("/")
    other = Radio(Wire(), keys[1], OTHER, AGENTS, 1)
    other.show_token()
    forged = [
        token.replace("/agent/1/", "/agent/2/"),
        "/".join([*front, str(radio.boot + 1), signature]),
        "/".join([*front, boot, signature[:-2] + ("00" if signature[-2:] != "00" else "01")]),
        "/".join([*front, boot, signature[:-2]]),
        "/".join([*front, boot, "xy"]),
        "/".join([*front, boot, ""]),
        "/".join([*front, boot, signature.upper()]),  # another spelling of the same token, that could be withdrawn
        "/".join([*front, boot, f"{signature[:2]} {signature[2:]}"]),
        token.replace("/agent/1/", "/agent/01/"),
        token.replace("/agent/1/", "/agent/+1/"),
        token.replace("/agent/1/", f"/agent/{AGENTS}/"),
        token.replace("/agent/1/", "/agent/-1/"),
        token.replace("/agent/1/", "/agent/one/"),
        token.replace("/agent/1/", "/agent/²/"),
        other.bus.tokens[0].replace(OTHER.hex(), MISSION.hex()),
    ]
    for number, wrong in enumerate(forged, 1):
        watch.bus.watcher(wrong, True)
        assert watch.refused["forged token"] == number
    assert len(seen) == 2


# Fuzzing


FUZZED = 100_000


def damaged(draw, whole):
    """A key and bytes that nobody signed: random ones, or a message that was changed somewhere."""
    key, data = draw.choice(whole)
    way = draw.randrange(6)
    if way == 0:
        return key, draw.randbytes(draw.randrange(400))
    if way == 1:
        return key, data[: draw.randrange(len(data))]
    if way == 2:
        return key, data[:5] + draw.randbytes(draw.randrange(300))
    start, length = draw.randrange(len(data)), draw.choice([1, 1, 2, 4, 8])
    if way == 3:
        bits = int.from_bytes(data[start : start + 1]) ^ 1 << draw.randrange(8)
        return key, data[:start] + bytes([bits]) + data[start + 1 :]
    if way == 4:
        return key, data[:start] + draw.choice([b"\xff", b"\0", b"\x7f"]) * length + data[start + length :]
    return draw.choice(whole)[0], data[:start] + draw.randbytes(length) + data[start + length :]


def test_of_what_nobody_signed_nothing_counts_and_all_is_counted(keys):
    """Hundred thousand messages, later than all that was heard, as one who hears everything could make them."""
    draw, radio = random.Random(7), listener(keys[0], reach=np.ones(AGENTS))
    earlier = (Past(1, (0.0, 0.0), Action()), Past(2, (0.0, 0.0), Action()))
    told = TargetLists.of(np.array([2]), np.arange(2), np.ones((2, 2)), np.ones(2), np.ones(2, bool))
    places = [place(), replace(place(), earlier=earlier), replace(place(), tells=told, reports=told)]
    memory = Memories({"weights": np.ones((1, 3))})
    messages = [(1, one) for one in (*places, Intent((0.0, 0.0)), memory)]
    messages += [(OPERATOR, Command("targets", {"step": 3, "points": [[1.0, 2.0]]}))]
    whole = [said(keys.get(sender, keys["operator"]), sender, one, counter=10) for sender, one in messages]
    true = {data for _, data in whole}
    tried = 0
    while tried < FUZZED:
        key, data = damaged(draw, whole)
        if data not in true:
            assert radio.opened(key, data) is None
            tried += 1
    assert radio.refused.total() == FUZZED
    assert {"malformed", "other mission", "wrong sender", "stale", "bad signature"} == radio.refused.keys()
    assert radio.refused["bad signature"] > FUZZED / 10
    assert not radio.delays
    assert all(radio.opened(*one) is not None for one in (whole[0], whole[-1]))


def test_what_a_radio_remembers_does_not_grow(keys):
    """A flood of one sender, good and bad, leaves as much behind as a few messages do."""
    radio = listener(NoSeal())
    for counter in range(3000):
        for boot, key in ((50, ""), (51, "x")):
            where, data = said(NoSeal(), 1, place(), boot=boot, counter=counter)
            radio.opened(where + key, data)
    assert radio.refused == Counter({"wrong sender": 3000})
    assert {len(part) for part in (radio._last, radio._places)} <= {0, 1}
    assert len(radio.delays) == radio.delays.maxlen == 2000


# An intruder on the bus


def team():
    reference = np.random.default_rng(4).uniform(0, 100, (AGENTS, 2))
    targets = np.random.default_rng(5).uniform(0, 100, (60, 2))
    how = {"control": {"motion": "walk", "resolution": 6}, "vehicle": "anywhere", "steps": STEPS}
    return Mission.of(tc.Scenario(reference=reference, targets=targets, **how))


class Intruder:
    """Hears all, has the keys of agent 7 and of another fleet, and says what it should not."""

    def __init__(self, hub, keys, digest):
        self.bus, self.keys, self.digest = hub.join(), keys, digest
        self.heard, self.said = [], set()
        self.root = f"tricover/{digest.hex()}"
        self.bus.subscribe("tricover/*", self.hear)
        for agent in (0, 3):
            for boot in ("1", "99"):
                self.bus.declare(f"{self.root}/agent/{agent}/alive/{boot}/{'00' * 64}")

    def hear(self, key, data):
        if data in self.said or len(self.heard) > 600:
            return
        self.heard.append((key, data))
        agent = int(key.split("/")[-2]) if "/agent/" in key else 0
        for attack in (
            (key, data),
            (key, data[:-1]),
            (key, data[:60] + bytes([data[60] ^ 255]) + data[61:]),
            (key, bytes(200)),
            (f"{self.root}/agent/{(agent + 1) % AGENTS}/place", data),
            (f"{self.root}/operator/command", data),
            *self.forged(agent),
        ):
            self.said.add(attack[1])
            self.bus.publish(*attack)

    def forged(self, agent):
        for seal, sender in ((self.keys["foreign"][1], agent), (self.keys[7], OPERATOR), (NoSeal(), OPERATOR)):
            message = Command("land") if sender == OPERATOR else place(50.0, 50.0)
            key, data = said(seal, sender, message, 9, 0.0, self.digest, boot=10**9, counter=2**40)
            yield key, data
            if sender != OPERATOR:
                yield key.replace("/place", "/pace"), data


def flown(keys, intrudes):
    mission = team()
    digest = mission_digest(mission)

    async def run():
        hub, tracks, said = MemoryHub(), Tracks(mission), {}
        radios = [Radio(hub.join(), keys[agent], digest, AGENTS, agent, now=lambda: 0.0) for agent in range(AGENTS)]
        recorder = Radio(hub.join(), keys["operator"], digest, AGENTS, None, now=lambda: 0.0)

        def hear(key, data):
            found = recorder.opened(key, data)
            if found is not None:
                tracks.add(*found)
                if isinstance(found[1], Place):
                    said[found[0].sender] = found[1].refused

        recorder.bus.subscribe(f"{recorder.root}/*/*/place", hear)
        intruder = Intruder(hub, keys, digest) if intrudes else None
        await asyncio.gather(*(fly(Member(mission, radio.sender), radio, TOGETHER) for radio in radios))
        for _ in range(5):
            await asyncio.sleep(0)
        return run_of(tracks), sum((radio.refused for radio in radios), Counter()), intruder, sum(said.values())

    return asyncio.run(run())


def test_an_intruder_changes_nothing(keys):
    alone, refused, _, said = flown(keys, False)
    assert not refused.keys() - {"repeated or overtaken"}
    assert said == 0
    attacked, refused, intruder, said = flown(keys, True)
    assert 0 < said <= refused.total() - refused["repeated or overtaken"]
    assert len(intruder.heard) > 50
    for reason in ("malformed", "bad signature", "wrong sender", "repeated or overtaken", "forged token"):
        assert refused[reason] > 0, reason
    assert attacked.steps == alone.steps == STEPS
    for name in ("positions", "present", "states", "goal_cells", "next_cells", "weights", "misses", "ages"):
        assert np.array_equal(getattr(attacked, name), getattr(alone, name), equal_nan=True), name
    assert np.array_equal(alone.positions, tc.simulate(team().scenario.replace(stop_when_settled=False)).positions)
