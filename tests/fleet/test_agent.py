"""Agents over a bus in memory: orders of the operator, silence, who falls behind, and who is lost."""

import asyncio
import time
from contextlib import asynccontextmanager

import numpy as np
import pytest

import tricover as tc
from tricover.fleet.agent import Manners, fly
from tricover.fleet.bus import MemoryHub
from tricover.fleet.clock import Clock
from tricover.fleet.member import Member
from tricover.fleet.membership import Patience
from tricover.fleet.messages import OPERATOR, Command, NoSeal, mission_digest
from tricover.fleet.radio import Radio
from tricover.simulation import Mission

LONG = 60.0  # seconds
QUICK = Manners(Clock(period=0.005, limit=0.05), Patience(0.1, 5.0), repeat=0.02, silence=0.3, homing=0.3, linger=0.0)


def mission_of(agents=8, steps=1_000_000):
    draw = np.random.default_rng(agents)
    team, targets = draw.uniform(0, 50, (agents, 2)), draw.uniform(0, 50, (60, 2))
    return Mission.of(tc.Scenario(reference=team, targets=targets, steps=steps))


class Team:
    """Agents as tasks, their members, and an operator."""

    def __init__(self, mission, manners):
        self.mission, self.manners, self.hub = mission, manners, MemoryHub()
        self.members, self.tasks, self.radios = {}, {}, {}
        self.operator = self.radio(OPERATOR)

    def radio(self, sender):
        digest = mission_digest(self.mission)
        self.radios[sender] = Radio(self.hub.join(), NoSeal(), digest, self.mission.agents, sender)
        return self.radios[sender]

    def start(self, *agents):
        for agent in agents:
            self.members[agent] = member = Member(self.mission, agent)
            self.tasks[agent] = asyncio.ensure_future(fly(member, self.radio(agent), self.manners))

    def kill(self, agent):
        """End an agent without a word: its task is never run again, and its bus is gone."""
        bus = self.radios[agent].bus
        bus.publish = lambda key, data: None
        bus.close()
        self.tasks.pop(agent).cancel()

    def order(self, word, **values):
        self.operator.say(0, Command(word, values))

    def positions(self):
        return np.array([self.members[agent].position for agent in sorted(self.members)])


@asynccontextmanager
async def flying(mission=None, manners=QUICK):
    team = Team(mission or mission_of(), manners)
    team.start(*range(team.mission.agents))
    try:
        yield team
    finally:
        for task in team.tasks.values():
            task.cancel()
        await asyncio.gather(*team.tasks.values(), return_exceptions=True)


async def until(fact, what):
    end = time.monotonic() + LONG
    while not fact():
        assert time.monotonic() < end, f"waited for {what}"
        await asyncio.sleep(0.005)


def desired(mission, without=()):
    alive = ~np.isin(np.arange(mission.agents), without)
    network = tc.build_network(mission.ground.reference, alive=alive)
    return tc.desired_configuration(network, mission.targets)


def near(one, other):
    return bool(np.abs(np.asarray(one) - np.asarray(other)).max() < 1e-9)


def settled(team, without=()):
    there = [agent for agent in team.members if agent not in without]
    wanted = desired(team.mission, without)
    return lambda: all(near(team.members[agent].position, wanted[agent]) for agent in there)


def test_time_stands_still_while_the_team_is_paused():
    async def run():
        async with flying() as team:
            await until(settled(team), "the team to settle")
            team.order("pause")
            steps = {}
            for _ in range(2):  # those who were in the middle of a step end it
                await asyncio.sleep(0.1)
                steps, before = {agent: member.step for agent, member in team.members.items()}, steps
            assert steps == before
            team.order("go")
            await until(lambda: min(one.step for one in team.members.values()) > max(steps.values()), "more steps")

    asyncio.run(run())


def test_of_several_operators_the_last_order_counts():
    async def run():
        async with flying() as team:
            later = team.radio(OPERATOR)
            steps = lambda: {agent: member.step for agent, member in team.members.items()}  # noqa: E731
            await until(lambda: min(steps().values()) > 0, "all to fly")
            later.say(0, Command("pause"))
            before = {}
            while steps() != before:
                before = steps()
                await asyncio.sleep(0.1)
            team.order("go")  # of who began before the other
            await until(lambda: min(steps().values()) > max(before.values()), "more steps")
            later.say(0, Command("end"))
            await asyncio.wait_for(asyncio.gather(*team.tasks.values()), LONG)

    asyncio.run(run())


def test_faults_on_demand_are_for_flights_that_permit_them():
    async def run():
        async with flying() as team:
            await until(lambda: min(one.step for one in team.members.values()) > 0, "all to fly")
            team.order("faults", loss=0.3, apart=[0, 1])
            refused = lambda: [team.radios[agent].refused["unknown command"] for agent in team.members]  # noqa: E731
            await until(lambda: refused() == [1] * team.mission.agents, "all to refuse it")

    asyncio.run(run())


def test_who_is_told_to_hold_stays_and_others_go_on():
    async def run():
        mission = mission_of()
        holder = int(mission.epochs[0].network.layers[1][0])
        async with flying(mission) as team:
            await until(lambda: min(one.step for one in team.members.values()) > 0, "all to fly")
            team.order("hold", agents=[holder])
            await until(lambda: team.members[holder].holding is not None, "it to hold")
            place, step = team.members[holder].position.copy(), team.members[holder].step
            others = [agent for agent in range(mission.agents) if agent != holder]
            await until(lambda: min(team.members[agent].step for agent in others) > step + 20, "others to go on")
            assert near(team.members[holder].position, place)
            assert all(team.members[agent].holding is None for agent in others)
            team.order("go")
            await until(settled(team), "the team to settle")

    asyncio.run(run())


def test_home_is_where_it_started_and_cannot_be_taken_back():
    async def run():
        async with flying() as team:
            start = {agent: member.home.copy() for agent, member in team.members.items()}
            await until(settled(team), "the team to settle")
            team.order("home", agents=[2, 5])
            await until(lambda: team.tasks[2].done() and team.tasks[5].done(), "two to be home")
            assert near(team.members[2].position, start[2])
            assert near(team.members[5].position, start[5])
            await until(settled(team, without=[2, 5]), "the others to settle without them")

    asyncio.run(run())


@pytest.mark.parametrize("word", ["land", "end"])
def test_who_is_to_land_ends_where_it_is(word):
    async def run():
        async with flying() as team:
            await until(settled(team), "the team to settle")
            before = team.positions()
            team.order(word)
            await until(lambda: all(task.done() for task in team.tasks.values()), "all to end")
            assert near(team.positions(), before)

    asyncio.run(run())


def test_new_targets_count_from_their_step_on():
    async def run():
        async with flying() as team:
            await until(settled(team), "the team to settle")
            points = (np.random.default_rng(3).uniform(0, 50, (40, 2))).tolist()
            step = max(member.step for member in team.members.values()) + 50
            team.order("targets", step=step, points=points, weights=None)
            network = team.mission.epochs[0].network
            wanted = tc.desired_configuration(network, tc.Targets(points))
            assert not near(wanted, desired(team.mission))
            await until(lambda: near(team.positions(), wanted), "the team to settle over the new targets")

    asyncio.run(run())


def test_orders_that_are_none_are_counted():
    async def run():
        async with flying() as team:
            await until(lambda: min(one.step for one in team.members.values()) > 2, "all to fly")
            for word, values in (("dance", {}), ("targets", {"step": -1, "points": [[0, 0]]})):
                team.order(word, **values)
            counts = {"unknown command": 1, "impossible command": 1}
            await until(lambda: all(dict(team.radios[agent].refused) == counts for agent in range(8)), "the counts")
            await until(settled(team), "the team to settle all the same")

    asyncio.run(run())


def test_in_silence_it_holds_then_goes_home_and_ends():
    async def run():
        mission = mission_of()
        holds = []
        async with flying(mission) as team:
            await until(settled(team), "the team to settle")
            last = team.members[3]
            place = last.position.copy()
            for agent in set(range(mission.agents)) - {3}:
                team.kill(agent)
            await until(lambda: last.holding is not None, "it to hold")
            holds.append(near(last.holding, place) or near(last.holding, last.home))
            await until(lambda: team.tasks[3].done(), "it to go home")
            assert near(last.position, last.home)
            assert holds == [True]

    asyncio.run(run())


def test_who_hears_others_again_goes_on():
    async def run():
        mission = mission_of()
        manners = Manners(QUICK.clock, QUICK.patience, repeat=0.02, silence=0.2, homing=LONG, linger=0.0)
        async with flying(mission, manners) as team:
            await until(settled(team), "the team to settle")
            for agent in set(range(mission.agents)) - {3}:
                team.kill(agent)
            await until(lambda: team.members[3].holding is not None, "it to hold")
            team.start(*sorted(set(range(mission.agents)) - {3}))
            await until(lambda: team.members[3].holding is None, "it to go on")
            await until(settled(team), "the team to settle again")

    asyncio.run(run())


def test_the_living_settle_in_their_own_network_when_an_anchor_is_lost():
    async def run():
        mission = mission_of()
        anchor = int(mission.epochs[0].network.boundary[0])
        async with flying(mission) as team:
            await until(settled(team), "the team to settle")
            team.kill(anchor)
            stood = {agent: team.members[agent].position.copy() for agent in team.members if agent != anchor}
            alive = np.arange(mission.agents) != anchor
            network = tc.build_network(mission.ground.reference, alive=alive)
            believe = [agent for agent in team.members if agent != anchor]
            await until(
                lambda: all(np.array_equal(team.members[agent].acted_on, alive) for agent in believe), "them to agree"
            )
            # An agent that becomes an anchor has no given place, and stays where it is; the others follow.
            new = [agent for agent in network.anchors if agent in stood]
            old = [agent for agent in new if agent in mission.epochs[0].network.anchors]
            for agent in old:
                assert near(team.members[agent].position, stood[agent])

    asyncio.run(run())


def test_who_loses_all_that_listen_to_it_waits_for_what_it_will_believe():
    """Else it would run ahead as fast as it can, and the others could not catch up for long."""

    async def run():
        mission, patience = mission_of(), 1.0
        network = mission.epochs[0].network
        heard = {agent: set(np.flatnonzero((network.in_neighbors == agent).any(axis=1))) for agent in network.boundary}
        anchor = min((agent for agent in heard if heard[agent]), key=lambda agent: len(heard[agent]))
        manners = Manners(Clock(limit=LONG), Patience(patience, 5.0), repeat=0.02, linger=0.0)
        async with flying(mission, manners) as team:
            await until(lambda: min(one.step for one in team.members.values()) > 20, "all to fly")
            for listener in heard[anchor]:
                team.kill(int(listener))
            steps = max(one.step for one in team.members.values())
            left = time.monotonic()
            await until(lambda: not team.members[anchor].seen_alive.all(), "it to miss them")
            assert time.monotonic() >= left + patience
            assert team.members[anchor].step <= steps + 2 * manners.clock.lead
            await until(lambda: team.members[anchor].step > steps + 4 * manners.clock.lead, "it to go on without them")

    asyncio.run(run())


def test_who_comes_late_goes_on_where_the_others_are():
    async def run():
        mission = mission_of()
        manners = Manners(QUICK.clock, Patience(0.05, 0.3), repeat=0.02, silence=LONG, linger=0.0)
        late = int(mission.epochs[0].network.followers[-1])
        team = Team(mission, manners)
        team.start(*(agent for agent in range(mission.agents) if agent != late))
        await until(lambda: min(one.step for one in team.members.values()) > 100, "the others to be far ahead")
        team.start(late)
        await until(lambda: team.members[late].step > 100, "it to catch up")
        await until(settled(team), "the team to settle")
        for task in team.tasks.values():
            task.cancel()
        await asyncio.gather(*team.tasks.values(), return_exceptions=True)

    asyncio.run(run())
