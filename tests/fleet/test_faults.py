"""Faults on demand: as many messages are lost as was asked for, as late, and only across partitions."""

import asyncio

import numpy as np
import pytest

from tricover.errors import InputError
from tricover.fleet.bus import MemoryHub
from tricover.fleet.faults import At, Faults, FaultyBus, Partition, at_times


def key(agent, word="place"):
    return f"tricover/00/agent/{agent}/{word}"


def heard(faults, own=0, count=2000, speaker=1):
    """Which of as many messages are heard."""

    async def run():
        hub, found = MemoryHub(), []
        FaultyBus(hub.join(), own, faults).subscribe(key(speaker), lambda _, data: found.append(int(data)))
        bus = hub.join()
        for number in range(count):
            bus.publish(key(speaker), str(number).encode())
        await asyncio.sleep(0)
        return found

    return asyncio.run(run())


@pytest.mark.parametrize("loss", [0.01, 0.3, 0.9])
def test_as_many_are_lost_as_was_asked_for(loss):
    count = 20_000
    lost = count - len(heard(Faults(loss=loss), count=count))
    assert abs(lost - loss * count) < 5 * np.sqrt(count * loss * (1 - loss))


def test_draws_are_those_of_the_seed_and_the_agent():
    first = heard(Faults(loss=0.5, seed=1))
    assert first == heard(Faults(loss=0.5, seed=1))
    others = [heard(Faults(loss=0.5, seed=2)), heard(Faults(loss=0.5, seed=1), own=2)]
    for other in others:  # two fair draws agree in about half of all cases
        both = len(set(first) & set(other))
        assert 350 < both < 650


def test_without_faults_all_is_heard_in_order():
    assert heard(Faults()) == list(range(2000))
    assert not Faults().any
    assert all(fault.any for fault in (Faults(loss=0.1), Faults(delay=0.1), Faults(partitions=(Partition({1}, 0, 1),))))


def test_late_messages_come_late_and_in_order():
    async def run():
        loop, hub, found = asyncio.get_running_loop(), MemoryHub(), []
        bus = FaultyBus(hub.join(), 0, Faults(delay=0.05))
        done = asyncio.Event()

        def hear(_, data):
            found.append((data, loop.time()))
            if len(found) == 3:
                done.set()

        bus.subscribe(key(1), hear)
        begun = loop.time()
        for data in (b"a", b"b", b"c"):
            bus.publish(key(1), data)
        await asyncio.wait_for(done.wait(), 30)
        return begun, found

    begun, found = asyncio.run(run())
    assert [data for data, _ in found] == [b"a", b"b", b"c"]
    assert min(when for _, when in found) >= begun + 0.05 - 1e-3


def test_a_partition_hides_what_comes_from_the_other_side():
    clock = [0.0]
    cut = Faults(partitions=(Partition(frozenset({0, 2}), 10.0, 20.0),))
    bus = FaultyBus(MemoryHub().join(), 0, cut, now=lambda: clock[0])
    outside = FaultyBus(MemoryHub().join(), 3, cut, now=lambda: clock[0])
    assert not any(bus.cut_off(key(agent)) for agent in range(4)), "the flight has not started"

    async def begin():
        bus.begin(100.0)
        outside.begin(100.0)

    asyncio.run(begin())
    for moment, lasts in ((9.99, False), (10.0, True), (19.99, True), (20.0, False)):
        clock[0] = 100.0 + moment
        assert [bus.cut_off(key(agent)) for agent in range(4)] == [False, lasts, False, lasts]
        assert [outside.cut_off(key(agent, "pace")) for agent in range(4)] == [lasts, False, lasts, False]
        assert not bus.cut_off("tricover/00/operator/command")
        assert bus.cut_off(key(1, "alive/5/ab")) is lasts


def test_tokens_go_when_a_partition_begins_and_come_back_when_it_ends():
    async def run():
        loop, hub, seen = asyncio.get_running_loop(), MemoryHub(), []
        cut = Faults(partitions=(Partition(frozenset({0, 2}), 0.1, 0.3),))
        others = {agent: hub.join() for agent in (1, 2, 3, 4)}
        for agent in (1, 2, 3):
            others[agent].declare(key(agent, "alive/1/ab"))
        bus = FaultyBus(hub.join(), 0, cut, now=loop.time)
        back = asyncio.Event()

        def hear(token, alive):
            seen.append((int(token.split("/")[3]), alive))
            if seen.count((1, True)) == 2:
                back.set()

        bus.watch("tricover/00/agent/*/alive/*/*", hear)
        bus.begin(loop.time())
        while (1, False) not in seen:
            await asyncio.sleep(0.001)
        others[4].declare(key(4, "alive/1/ab"))  # while it lasts one comes and one goes
        others[3].close()
        await asyncio.wait_for(back.wait(), 30)
        await asyncio.sleep(0)
        return seen

    seen = asyncio.run(run())
    assert seen[:3] == [(1, True), (2, True), (3, True)]
    assert sorted(seen[3:5]) == [(1, False), (3, False)]
    assert seen[5] == (3, False), "who goes meanwhile is told to be gone, whatever was known"
    assert sorted(seen[6:]) == [(1, True), (4, True)] or seen[6:] == [(1, True)]


def on_demand(*changes, faults=None):
    """What agent 0 is told of the tokens of 1 and 2, and which of a hundred messages of each it hears, by change."""

    async def run():
        hub, seen, found = MemoryHub(), [], []
        others = {agent: hub.join() for agent in (1, 2)}
        for agent, other in others.items():
            other.declare(key(agent, "alive/1/ab"))
        bus = FaultyBus(hub.join(), 0, faults or Faults(on_demand=True))
        bus.watch("tricover/00/agent/*/alive/*/*", lambda token, alive: seen.append((int(token.split("/")[3]), alive)))
        heard = []
        bus.subscribe("tricover/00/*/*", lambda where, data: heard.append(where.split("/")[-1]))
        bus.subscribe("tricover/00/agent/*/place", lambda where, data: heard.append(int(where.split("/")[3])))
        await asyncio.sleep(0)
        for change in changes:
            seen.clear(), heard.clear()
            bus.disturb(change)
            for _ in range(100):
                for agent, other in others.items():
                    other.publish(key(agent, "place"), b"")
                others[1].publish("tricover/00/operator/command", b"")
            await asyncio.sleep(0)
            found.append((sorted(seen), {who: heard.count(who) for who in (1, 2, "command")}))
        return found

    return asyncio.run(run())


def test_agents_are_cut_off_and_come_back_on_demand():
    alone, all_back, with_one = on_demand(
        {"loss": 0.0, "apart": [0]}, {"loss": 0.0, "apart": []}, {"loss": 0, "apart": [0, 1]}
    )
    assert alone == ([(1, False), (2, False)], {1: 0, 2: 0, "command": 100}), "the operator is never cut off"
    assert all_back == ([(1, True), (2, True)], {1: 100, 2: 100, "command": 100})
    assert with_one == ([(2, False)], {1: 100, 2: 0, "command": 100})


def test_the_same_order_twice_changes_nothing():
    cut = {"loss": 0.0, "apart": [2]}
    assert on_demand(cut, cut)[1] == ([], {1: 100, 2: 0, "command": 100})


def test_messages_are_lost_on_demand_but_orders_are_not():
    [lossy] = on_demand({"loss": 0.5, "apart": []})
    assert 25 < lossy[1][1] < 75
    assert lossy[1]["command"] == 100


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"loss": 0.1},
        {"apart": []},
        {"loss": 1.0, "apart": []},
        {"loss": "0.1", "apart": []},
        {"loss": float("nan"), "apart": []},
        {"loss": 0.1, "apart": "0"},
        {"loss": 0.1, "apart": [0.0]},
        {"loss": 0.1, "apart": [True]},
    ],
)
def test_changes_that_cannot_be(change):
    with pytest.raises(InputError):
        on_demand(change)


def test_who_did_not_permit_changes_has_none():
    with pytest.raises(InputError, match="does not let"):
        on_demand({"loss": 0.1, "apart": []}, faults=Faults(loss=0.2))


def test_who_was_frozen_while_a_partition_began_hears_who_has_gone():
    """The other's token goes before the partition is noticed, though by the clock that has begun."""

    async def run():
        hub, seen, clock = MemoryHub(), [], [0.0]
        other = hub.join()
        other.declare(key(1, "alive/1/ab"))
        cut = Faults(partitions=(Partition(frozenset({0}), 10.0, 20.0),))
        bus = FaultyBus(hub.join(), 0, cut, now=lambda: clock[0])
        bus.watch("tricover/00/agent/*/alive/*/*", lambda token, alive: seen.append(alive))
        await asyncio.sleep(0)
        bus.begin(0.0)
        clock[0] = 15.0  # it was frozen, and none of its timers has come
        other.close()
        await asyncio.sleep(0)
        return seen

    assert asyncio.run(run()) == [True, False]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"loss": 1.0}, "loss must be"),
        ({"loss": -0.1}, "loss must be"),
        ({"loss": float("nan")}, "loss must be"),
        ({"delay": 61.0}, "delay must be"),
        ({"delay": -1.0}, "delay must be"),
        ({"delay": float("nan")}, "delay must be"),
    ],
)
def test_faults_that_cannot_be(given, words):
    with pytest.raises(InputError, match=words):
        Faults(**given)


def test_events_as_they_are_written():
    assert at_times(["7,9@12.5", "0-2@3"], "kill", 10) == [At(("7", "9"), 12.5, 0.0), At(("0", "1", "2"), 3.0, 0.0)]
    assert at_times(["router,1@0:2.5"], "freeze", 10, ["router"], lasts=True) == [At(("router", "1"), 0.0, 2.5)]
    assert at_times([], "kill", 3) == []


@pytest.mark.parametrize(
    ("text", "lasts"),
    [
        ("", False),
        ("7", False),
        ("7@", False),
        ("@3", False),
        ("7@x", False),
        ("7@-3", False),
        ("7@3:4", False),
        ("7@3", True),
        ("7@3:", True),
        ("7@3:4:5", True),
        ("10@3", False),
        ("3-12@3", False),
        ("5-3@3", False),
        ("1-2-3@3", False),
        ("-3@3", False),
        ("3-@3", False),
        ("router@3", False),
        ("1,,2@3", False),
        ("²@3", False),
        ("7@1e3", False),
        ("7@nan", False),
    ],
)
def test_what_is_written_otherwise_is_said_with_its_option(text, lasts):
    with pytest.raises(InputError) as caught:
        at_times([text], "kill", 10, lasts=lasts)
    assert str(caught.value).startswith(f"--kill {text}:")
