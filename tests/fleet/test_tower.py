"""The tower: when it takes a flight for settled, and whom it believes to agree."""

import numpy as np
import pytest

from tests.fleet.test_agent import mission_of
from tricover.fleet.bus import MemoryHub
from tricover.fleet.encoding import encoded
from tricover.fleet.messages import OPERATOR, Action, Command, Header, NoSeal, Place, mission_digest
from tricover.fleet.radio import Radio
from tricover.fleet.tower import Tower

AGENTS = 8


class Flight:
    """A tower, and agents that say what a test wants."""

    def __init__(self):
        self.mission = mission_of(AGENTS)
        self.digest = mission_digest(self.mission)
        self.now = 0.0
        radio = Radio(_Still(), NoSeal(), self.digest, AGENTS, None, now=lambda: 0.0)
        self.tower = Tower(self.mission, radio, lambda: self.now)
        self.counter = 0
        for agent in range(AGENTS):
            self.tower.token(agent, "1", True)

    def says(self, agent, step, *, settled=True, ages=(0, 0, 0), living=None, dropped=0):
        self.counter += 1
        header = Header(0, self.digest, agent, 1, self.counter, 0.0, step)
        belief = np.ones(AGENTS, bool) if living is None else living
        place = Place((1.0, 2.0), Action(step - 1, ages, settled=settled), belief, refused=dropped)
        self.tower.hear(f"{self.tower.radio.root}/agent/{agent}/place", encoded(header, place, NoSeal()))

    def ordered(self, word, **values):
        self.counter += 1
        header = Header(0, self.digest, OPERATOR, 1, self.counter, 0.0, 0)
        self.tower.hear(f"{self.tower.radio.root}/operator/command", encoded(header, Command(word, values), NoSeal()))

    def all_say(self, step, **what):
        for agent in range(AGENTS):
            self.says(agent, step, **what)
        return self.tower.report()


class _Still:
    """A bus on which nobody speaks by itself."""

    dropped = 0

    def subscribe(self, pattern, handler):
        return lambda: None

    watch = subscribe


@pytest.fixture
def flight():
    return Flight()


def steps_until_done(flight, first, **what):
    return next(step for step in range(first, first + 100) if flight.all_say(step, **what).done)


def test_a_team_that_rests_for_as_long_as_simulate_asks_for_is_done(flight):
    assert not flight.all_say(1, settled=False).done
    # Unsettled at step 0, settled from 1 on: more than quiet_steps steps after that.
    assert steps_until_done(flight, 2) == flight.mission.quiet_steps + 3


def test_one_that_is_not_at_its_goal_begins_the_wait_anew(flight):
    for step in range(1, 20):
        flight.all_say(step)
    flight.says(3, 20, settled=False)
    assert not flight.tower.report().done
    assert steps_until_done(flight, 21) == 20 + flight.mission.quiet_steps + 2


def test_what_was_heard_has_to_be_of_the_time_of_rest(flight):
    flight.all_say(1, settled=False)
    assert steps_until_done(flight, 2, ages=(0, 5, 0)) == flight.mission.quiet_steps + 3 + 5


def test_who_heard_an_old_place_alone_keeps_all_waiting(flight):
    flight.all_say(1, settled=False)
    for step in range(2, 60):
        for agent in range(AGENTS):
            flight.says(agent, step, ages=(step - 1, 0, 0) if agent == 5 else (0, 0, 0))
        assert not flight.tower.report().done, step
    assert flight.all_say(60).done


def test_beliefs_have_to_be_the_same_and_true(flight):
    without = np.arange(AGENTS) != 2
    report = flight.all_say(9, living=without)
    assert (report.beliefs, report.agreed) == (1, False), "agent 2 is alive"
    flight.tower.token(2, "1", False)
    flight.now = 7.0
    assert flight.tower.report().agreed
    assert flight.tower.agreed_at == 7.0
    flight.says(4, 10)
    report = flight.tower.report()
    assert (report.beliefs, report.agreed, report.living) == (2, False, AGENTS - 1)
    assert flight.tower.agreed_at is None


def test_a_report_says_who_is_slowest_and_what_was_dropped(flight):
    flight.all_say(3)
    flight.says(6, 9)
    report = flight.tower.report()
    assert (report.step, report.fastest, report.living, report.messages) == (3, 9, AGENTS, AGENTS + 1)
    flight.tower.hear(f"{flight.tower.radio.root}/agent/6/place", b"nonsense")
    assert flight.tower.report().refused == {"malformed": 1}


def test_a_bus_in_memory_drops_nothing():
    assert MemoryHub().join().dropped == 0


def test_who_goes_by_another_network_begins_the_wait_anew(flight):
    """It may have gone to another goal, and be there in one step: it is never seen to be off its goal."""
    for step in range(1, 20):
        flight.all_say(step)
    flight.tower.token(7, "1", False)
    without = np.arange(AGENTS) < 7
    assert steps_until_done(flight, 20, living=without) == 20 + flight.mission.quiet_steps + 2


def test_what_agents_dropped_is_told_of_all_together(flight):
    assert "by agents" not in flight.all_say(1).refused
    flight.says(3, 2, dropped=5)
    flight.says(4, 2, dropped=2)
    flight.says(3, 3, dropped=6)
    assert flight.tower.report().refused == {"by agents": 8}


@pytest.mark.parametrize("word", ["home", "land", "end"])
@pytest.mark.parametrize("agrees", [True, False])
def test_who_leaves_as_all_were_told_to_is_no_disagreement(flight, word, agrees):
    flight.all_say(9, living=np.arange(AGENTS) != (-1 if agrees else 2))
    flight.ordered(word)
    for left in range(AGENTS):
        flight.tower.token(left, "1", False)
        report = flight.tower.report()
        assert (report.agreed, report.living) == (agrees, AGENTS - 1 - left)


@pytest.mark.parametrize(("word", "values"), [("hold", {}), ("go", {}), ("end", {"agents": [7]})])
def test_who_leaves_otherwise_has_to_be_noticed(flight, word, values):
    flight.all_say(9)
    flight.ordered(word, **values)
    flight.tower.token(7, "1", False)
    assert not flight.tower.report().agreed
    assert flight.all_say(10, living=np.arange(AGENTS) < 7).agreed
