"""A fleet that is watched: what pages are told of it, and what they may ask for. Agents fly on a bus in memory."""

import asyncio
import time
from contextlib import asynccontextmanager

import numpy as np
import pytest

import tricover as tc
from tests.fleet.test_agent import QUICK, Team, mission_of
from tests.fleet.test_tower import AGENTS, Flight
from tests.studio.teams import blocks, do, shown_network, shown_positions, texts
from tricover.errors import InputError
from tricover.fleet.controls import ORDERS, Controls, Operator
from tricover.fleet.encoding import encoded
from tricover.fleet.faults import Faults, FaultyBus
from tricover.fleet.messages import OPERATOR, Command, Header, NoSeal, mission_digest
from tricover.fleet.radio import Radio
from tricover.fleet.tower import Tower
from tricover.studio import Session
from tricover.studio.watching import SILENT, Watching

PATIENCE = 300.0  # s: for facts that take seconds, on a machine that is busy


@pytest.fixture
def seen(tmp_path):
    """A fleet that says what a test wants, and who watches it."""
    flight = Flight()
    flight.watching = Watching(flight.mission, Controls(True, True), tmp_path, lambda: flight.now)

    def see():
        flight.watching.controls.running = frozenset(flight.tower.living)
        flight.watching.see(flight.tower.report(), flight.tower)
        return flight.watching

    flight.see = see
    return flight


def state(watching):
    [flight] = texts(watching.everything(), "flight")
    return flight


def without(*agents):
    return ~np.isin(np.arange(AGENTS), agents)


def test_before_anybody_has_spoken_all_are_where_they_start(seen):
    told = seen.see().everything()
    np.testing.assert_allclose(shown_positions(told, corner(told)), seen.mission.start().positions, atol=1e-4)
    assert state(seen.watching)["says"] == [
        f"{AGENTS} of {AGENTS} agents are there; the flight begins when all have spoken."
    ]


def corner(told):
    return texts(told, "fleet")[0]["corner"]


def test_agents_are_shown_where_they_say_they_are(seen):
    seen.all_say(3)
    told = seen.see().everything()
    np.testing.assert_allclose(shown_positions(told, corner(told)), np.tile([1.0, 2.0], (AGENTS, 1)), atol=1e-4)
    np.testing.assert_array_equal(shown_network(told)[0], seen.mission.epochs[0].network.in_neighbors)
    assert len(blocks(told, 3)) == 1
    flight = state(seen.watching)
    assert (flight["step"], flight["fastest"], flight["living"]) == (3, 3, list(range(AGENTS)))
    assert (flight["agreed"], flight["beliefs"], flight["apart"], flight["missed"]) == (True, 1, [], [])
    assert flight["says"][:2] == [f"{AGENTS} of {AGENTS} agents are alive.", "All of them agree who is."]


def test_everybody_is_shown_in_the_network_that_it_acts_on(seen):
    seen.all_say(3)
    seen.see().everything()
    seen.tower.token(2, "1", False)
    flight = state(seen.see())
    assert flight["missed"] == [], "nobody has noticed"
    assert "have not noticed" in flight["says"][1]
    for agent in (0, 1, 3, 4, 5):
        seen.says(agent, 4, living=without(2))
    told = seen.see().tick()
    before = seen.mission.epochs[0].network
    network = tc.build_network(seen.mission.ground.reference, alive=without(2))
    heard = np.where(np.isin(np.arange(AGENTS), [6, 7])[:, None], before.in_neighbors, network.in_neighbors)
    np.testing.assert_array_equal(shown_network(told)[0], heard)
    assert shown_network(told)[1][2] == -1
    flight = state(seen.watching)
    assert (flight["missed"], flight["apart"], flight["beliefs"]) == ([2], [6, 7], 2)
    assert flight["says"][1:4] == [
        "They do not agree who is.",
        "5 agents (0-1, 3-5) believe that 2 is gone.",
        "2 agents (6-7) believe that nobody is gone.",
    ]
    for agent in (6, 7):
        seen.says(agent, 5, living=without(2))
    assert state(seen.see())["agreed"]
    np.testing.assert_array_equal(shown_network(seen.watching.everything())[0], network.in_neighbors)
    for agent in range(AGENTS):
        seen.tower.token(agent, "1", False)
    assert state(seen.see())["missed"] == [2], "who was dead before the end"


def test_both_halves_of_a_team_that_is_cut_in_two_have_their_links(seen):
    seen.all_say(3)
    seen.see().tick()
    large, small = [0, 1, 2, 5], [3, 4, 6, 7]  # with an agent inside each
    for agent in range(AGENTS):
        seen.says(agent, 4, living=np.isin(np.arange(AGENTS), large if agent in large else small))
    told = seen.see().tick()
    heard, layer = shown_network(told)
    [fleet] = texts(told, "fleet")
    boundary, cores, depth = set(), [], 0
    for half in (large, small):
        network = tc.build_network(seen.mission.ground.reference, alive=np.isin(np.arange(AGENTS), half))
        np.testing.assert_array_equal(heard[half], network.in_neighbors[half])
        np.testing.assert_array_equal(layer[half], network.layer[half])
        boundary |= set(network.boundary.tolist())
        cores.append(network.core)
        depth = max(depth, network.depth)
    assert (set(fleet["boundary"]), fleet["cores"], fleet["depth"]) == (boundary, cores, depth)
    assert len(fleet["colours"]) > depth
    assert not texts(seen.see().tick(), "fleet"), "they are shown already"


def test_a_flight_that_is_anywhere_is_over_when_nobody_is_there_any_more(seen):
    seen.watching.controls.processes = False
    assert state(seen.see())["over"] is None
    seen.all_say(40, settled=False)
    seen.see()
    for agent in range(AGENTS):
        seen.tower.token(agent, "1", False)
    seen.see()
    seen.now += SILENT / 2
    assert state(seen.see())["over"] is None, "they may come back"
    seen.now += SILENT / 2
    over = state(seen.see())["over"]
    assert over == {
        "says": [
            "The flight is over after 40 steps: nobody is there any more. The team had not settled.",
            "Nobody ordered that: agents were lost, or their router is out of reach.",
        ],
        "opens": False,
    }
    with pytest.raises(InputError, match="the flight is over"):
        do(seen.watching, "order", word="go")
    seen.tower.token(3, "2", True)
    assert state(seen.see())["over"] is None, "somebody is back"


def test_how_a_flight_ended_that_is_anywhere(seen):
    seen.watching.controls.processes = False
    for step in range(1, 30):
        done = seen.all_say(step).done
    assert done
    seen.see()
    seen.tower.ordered = "land"
    for agent in range(AGENTS):
        seen.tower.token(agent, "1", False)
    seen.see()
    seen.now += SILENT
    assert state(seen.see())["over"]["says"] == [
        "The flight is over after 29 steps: nobody is there any more. The team had settled.",
        "The operator's last order was: land.",
    ]


def test_before_anybody_was_there_no_flight_is_over(seen):
    seen.watching.controls.processes = False
    for agent in range(AGENTS):
        seen.tower.token(agent, "1", False)
    seen.see()
    seen.now += 10 * SILENT
    assert state(seen.see())["over"] is None


def test_an_order_to_some_agents_is_not_shown_as_one_to_all(seen):
    seen.all_say(3)
    for counter, values in enumerate(({"agents": [1, 2]}, {})):
        header = Header(0, seen.digest, OPERATOR, 1, 1 + counter, 0.0, 3)
        told = encoded(header, Command("pause", values), NoSeal())
        seen.tower.hear(f"{seen.tower.radio.root}/operator/command", told)
        assert state(seen.see())["ordered"] == (None if values else "pause")


def test_a_tick_says_only_what_has_changed(seen):
    seen.all_say(3)
    seen.see().tick()
    assert seen.see().tick() == []
    seen.says(1, 4)
    told = seen.see().tick()
    assert not texts(told, "fleet")
    assert not blocks(told, 2)
    assert len(texts(told, "flight")) == len(blocks(told, 1)) == 1


def test_rounds_are_counted_over_the_last_seconds(seen):
    for second in range(20):
        seen.now = float(second)
        seen.all_say(1 + 3 * second)
        seen.see()
    assert state(seen.watching)["rounds"] == pytest.approx(3.0)


def test_an_agent_tells_whom_it_hears_how_old_that_is_and_whom_it_believes_gone(seen):
    seen.all_say(3)
    seen.says(5, 7, ages=(0, 4, -1), living=without(2))
    seen.see()
    [member] = texts(do(seen.watching, "inside", agent=5).asker, "member")
    network = tc.build_network(seen.mission.ground.reference, alive=without(2))
    expected = [[int(other), age] for other, age in zip(network.in_neighbors[5], (0, 4, -1), strict=True) if other >= 0]
    assert member["hears"] == expected
    assert (member["step"], member["gone"], member["agrees"], member["alive"]) == (7, [2], False, True)
    [other] = texts(do(seen.watching, "inside", agent=1).asker, "member")
    assert (other["gone"], other["agrees"]) == ([], True)


def test_what_is_asked_for_waits_for_the_flight(seen):
    seen.all_say(3)
    seen.see()
    for what, words in (("kill", {"agent": 3}), ("freeze", {"agent": 4}), ("order", {"word": "pause"})):
        assert texts(do(seen.watching, what, **words).asker, "done")
    do(seen.watching, "disturb", loss=0.3, apart="0-2, 5")
    wishes = seen.watching.controls.taken()
    assert [wish.what for wish in wishes] == ["kill", "freeze", "order", "faults"]
    assert wishes[2].values == {"word": "pause", "values": {}}
    assert wishes[0].values == {"agent": 3}
    assert wishes[3].values == {"loss": 0.3, "apart": [0, 1, 2, 5]}
    assert state(seen.watching)["faults"] == {"loss": 0.3, "apart": "0-2, 5"}
    assert seen.watching.controls.taken() == []
    do(seen.watching, "order", word="hold", agents="7, 0-2,1")
    [wish] = seen.watching.controls.taken()
    assert wish.values == {"word": "hold", "values": {"agents": [0, 1, 2, 7]}}


@pytest.mark.parametrize(
    ("what", "words", "says"),
    [
        ("kill", {"agent": AGENTS}, "no agent"),
        ("kill", {"agent": 2}, "does not run"),
        ("freeze", {"agent": 2}, "does not run"),
        ("freeze", {"agent": 3}, "frozen already"),
        ("join", {"agent": 1}, "runs"),
        ("inside", {"agent": 99}, "no agent"),
        ("disturb", {"loss": 0.1, "apart": "0-99"}, "there is no '0-99'"),
        ("disturb", {"loss": 0.1, "apart": "x"}, "there is no 'x'"),
        ("order", {"word": "land", "agents": "1-99"}, "there is no '1-99'"),
        ("flown", {}, "no recorded run"),
        ("drop", {"agent": 1, "place": [0, 0]}, "nothing is edited"),
        ("restart", {}, "nothing is edited"),
    ],
)
def test_what_cannot_be_is_refused_and_asks_for_nothing(seen, what, words, says):
    seen.all_say(3)
    seen.tower.token(2, "1", False)
    seen.watching.controls.frozen = frozenset({3})
    seen.see()
    with pytest.raises(InputError, match=says):
        do(seen.watching, what, **words)
    assert seen.watching.controls.taken() == []


def test_agents_that_are_not_ours_are_neither_killed_nor_disturbed_and_orders_need_the_key(seen):
    seen.all_say(3)
    seen.see().controls.processes = False
    for what, words in (
        ("kill", {"agent": 1}),
        ("freeze", {"agent": 1}),
        ("join", {"agent": 1}),
        ("disturb", {"loss": 0.1}),
    ):
        with pytest.raises(InputError, match="not processes of this program"):
            do(seen.watching, what, **words)
    do(seen.watching, "order", word="hold")
    seen.watching.controls.orders = False
    with pytest.raises(InputError, match="operator's keys"):
        do(seen.watching, "order", word="hold")
    [fleet] = texts(seen.watching.everything(), "fleet")
    assert (fleet["orders"], fleet["processes"]) == (False, False)
    assert [wish.what for wish in seen.watching.controls.taken()] == ["order"]


def test_when_the_flight_is_over_its_run_is_opened_and_nothing_more_is_done(seen, tmp_path):
    seen.all_say(3)
    run = tc.simulate(seen.mission.scenario.replace(steps=9))
    seen.see().end(["It is over."], run)
    assert state(seen.watching)["over"] == {"says": ["It is over."], "opens": True}
    for what, words in (("kill", {"agent": 1}), ("order", {"word": "go"})):
        with pytest.raises(InputError, match="the flight is over"):
            do(seen.watching, what, **words)
    opened = do(seen.watching, "flown").instead
    assert isinstance(opened, Session)
    assert opened.run(0) is run
    seen.watching.end(["It is over."], None)
    assert not state(seen.watching)["over"]["opens"], "it was not stored"


def test_an_order_is_said_some_times_and_gives_way_to_the_next():
    said, now = [], [0.0]

    class Radio:
        def say(self, step, command):
            said.append((step, command))

    operator = Operator(Radio(), lambda: now[0])
    operator.order("pause", {})
    operator.speak(3)
    operator.order("go", {})
    for _ in range(40):
        operator.speak(4)
        now[0] += 0.05
    assert said == [(3, Command("pause")), *[(4, Command("go"))] * ORDERS]
    said.clear()
    operator.disturb(0.3, [1])
    for _ in range(60):
        operator.speak(5)
        now[0] += 0.05
    assert said == [(5, Command("faults", {"loss": 0.3, "apart": [1]}))] * 3, "once a second, for who comes later"


def test_a_session_that_watches_no_fleet_says_so(tmp_path):
    with pytest.raises(InputError, match="no fleet is watched"):
        do(Session(mission_of().scenario.replace(steps=9), tmp_path), "kill", agent=1)


class Faulty(Team):
    """Agents on whose bus things go wrong on demand."""

    def radio(self, sender):
        bus = self.hub.join()
        if sender != OPERATOR:
            bus = FaultyBus(bus, sender, Faults(on_demand=True))
        digest = mission_digest(self.mission)
        self.radios[sender] = Radio(bus, NoSeal(), digest, self.mission.agents, sender)
        return self.radios[sender]


@asynccontextmanager
async def watched(folder):
    """A fleet in memory, who watches it, and a way to wait for what pages are told."""
    team = Faulty(mission_of(AGENTS), QUICK)
    tower, operator = Tower(team.mission, team.operator, time.monotonic), Operator(team.operator)
    watching = Watching(team.mission, Controls(True, True), folder)
    team.start(*range(AGENTS))

    async def until(fact, what):
        latest = time.monotonic() + PATIENCE
        while True:
            await asyncio.sleep(0.02)
            watching.controls.running = frozenset(team.tasks)
            watching.see(tower.report(), tower)
            for wish in watching.controls.taken():
                if wish.what == "kill":
                    team.kill(wish.values["agent"])
                elif wish.what == "join":
                    team.start(wish.values["agent"])
                else:
                    (operator.order if wish.what == "order" else operator.disturb)(**wish.values)
            operator.speak(0)
            flight = state(watching)
            if fact(flight):
                return flight
            assert time.monotonic() < latest, f"waited for {what}: {flight}"

    try:
        yield watching, until
    finally:
        for task in team.tasks.values():
            task.cancel()
        await asyncio.gather(*team.tasks.values(), return_exceptions=True)


def test_a_fleet_is_killed_joined_cut_off_healed_paused_and_ended(tmp_path):
    everybody = list(range(AGENTS))

    async def run():
        async with watched(tmp_path) as (watching, until):
            await until(lambda flight: flight["agreed"] and flight["done"], "all to settle")
            do(watching, "kill", agent=3)
            flight = await until(
                lambda flight: flight["living"] != everybody and flight["agreed"], "a kill to be noticed"
            )
            assert flight["missed"] == [3]
            await until(lambda flight: flight["done"], "the others to settle")
            do(watching, "join", agent=3)
            await until(lambda flight: flight["living"] == everybody and flight["agreed"], "it to be back")
            do(watching, "disturb", loss=0.0, apart="0-2")
            flight = await until(
                lambda flight: flight["beliefs"] == 2 and flight["apart"] == flight["missed"] == [0, 1, 2],
                "two beliefs, each of its own half",  # on the way there some of a half have noticed, and some have not
            )
            assert flight["living"] == everybody
            do(watching, "disturb", loss=0.3, apart="")
            await until(lambda flight: flight["agreed"], "one belief")
            do(watching, "order", word="pause")
            await until(lambda flight: flight["ordered"] == "pause", "a pause")
            do(watching, "order", word="go")
            flight = await until(lambda flight: flight["ordered"] == "go", "to go on")
            await until(lambda later: later["step"] > flight["fastest"] + 5, "more steps")
            do(watching, "order", word="end")
            await until(lambda flight: flight["living"] == [], "the end")

    asyncio.run(run())
