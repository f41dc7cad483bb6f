"""From what was said to a run: networks of flights in which beliefs differed for a while."""

import numpy as np
import pytest

import tricover as tc
from tests.fleet.test_agent import mission_of
from tricover.errors import InputError
from tricover.fleet.messages import OPERATOR, Action, Command, Header, Place
from tricover.fleet.recording import Tracks, run_of

AGENTS, STEPS, LOST, FOLLOWER = 8, 40, 7, 5


def tracks_of(heard_at, gone_at=4):
    """A flight in which agent 7 is gone from a step on, and each other one believes that from its own step on."""
    mission = mission_of(AGENTS, STEPS)
    tracks = Tracks(mission)
    start = mission.start().positions
    for agent in range(AGENTS):
        last = gone_at if agent == LOST else STEPS
        for step in range(last + 1):
            living = np.ones(AGENTS, bool)
            living[LOST] = not (agent in heard_at and step - 1 >= heard_at[agent])
            action = Action(step - 1, (0, 0, 0), settled=True)
            header = Header(1, b"", agent, 1, step, 0.0, step)
            tracks.add(header, Place(tuple(start[agent].tolist()), action, living))
    return tracks


def without(epoch):
    return epoch.network.layer[LOST] < 0


def test_a_network_begins_with_the_first_who_goes_by_it():
    heard_at = dict.fromkeys(range(AGENTS - 1), 7) | {2: 5}
    run = run_of(tracks_of(heard_at))
    assert [(epoch.start, bool(without(epoch))) for epoch in run.epochs] == [(0, False), (5, True)]
    believed = run.read("believed")
    assert believed[5:7, 2].tolist() == [1, 1]
    assert believed[5:7, [0, 1, 3, 4, 5, 6]].max() == 0, "they heard of it late"
    assert believed[7:].min() == 1


def test_a_belief_that_only_some_had_for_a_while_is_an_epoch_of_its_own():
    heard_at = dict.fromkeys(range(AGENTS - 1), 9)
    tracks = tracks_of(heard_at)
    alone = np.ones(AGENTS, bool)
    alone[[3, LOST]] = False
    action, _ = tracks.actions[1][6]
    tracks.actions[1][6] = action, alone.tobytes()
    run = run_of(tracks)
    named = [int(which) for which in run.read("believed")[6, [1]]]
    assert run.epochs[named[0]].network.layer[3] < 0
    assert not without(run.mission.epoch_at(6)), "most still went by the first"
    assert without(run.epochs[-1])
    assert run.epochs[-1].network.layer[3] >= 0


@pytest.mark.parametrize("believers", [4, 5, 7])
def test_who_was_lost_shortly_before_the_end_does_not_end_the_record(believers):
    """As soon as most had noticed."""
    run = run_of(tracks_of(dict.fromkeys(range(believers), 36), gone_at=34))
    noticed = 2 * believers > AGENTS
    assert run.steps == (STEPS if noticed else 34)
    assert without(run.epochs[-1]) is np.bool_(noticed)


@pytest.mark.parametrize(("lost", "steps"), [((), 40), ((40,), 39), ((39, 40), 38), ((39,), 40), (range(9, 41), 40)])
def test_a_record_ends_where_it_is_known_where_everybody_was(lost, steps):
    """Not where words of somebody who moved were lost; but not long before the end for that."""
    tracks = tracks_without_words(lost)
    assert tracks.steps == steps


@pytest.mark.parametrize("lost", [(40,), (39, 40), range(20, 41), range(2, 41)])
def test_who_stood_still_meanwhile_does_not_end_the_record(lost):
    """Its words may be lost, or it may have skipped steps to catch up: it is where it was."""
    tracks = tracks_without_words(lost, moves=0.0)
    assert tracks.steps == STEPS
    run = run_of(tracks)
    assert np.array_equal(run.positions[-1, FOLLOWER], run.positions[0, FOLLOWER])
    assert tc.certify(run)["messages"].verdict == "holds"


@pytest.mark.parametrize("word", ["land", "end"])
@pytest.mark.parametrize(("agents", "steps"), [(None, 30), ([3], STEPS)])
def test_what_is_done_after_all_were_told_to_end_is_no_part_of_the_record(word, agents, steps):
    """Who ends first is missed, and others move on account of that. An order that is not for all ends no flight."""
    tracks = Tracks(mission_of(AGENTS, STEPS))
    start = tracks.mission.start().positions
    for step in range(STEPS + 1):
        if step == 31:
            order = Command(word, {} if agents is None else {"agents": agents})
            tracks.add(Header(1, b"", OPERATOR, 1, 1, 0.0, 0), order)
            tracks.add(Header(1, b"", OPERATOR, 1, 2, 0.0, 0), order)
        for agent in range(AGENTS):
            place = tuple((start[agent] + max(step - 31, 0)).tolist())
            action, everybody = Action(step - 1, (0, 0, 0), settled=True), np.ones(AGENTS, bool)
            tracks.add(Header(1, b"", agent, 1, step, 0.0, step), Place(place, action, everybody))
    assert tracks.steps == steps
    assert np.array_equal(run_of(tracks).positions[-1], start) is (agents is None)


def tracks_without_words(lost, moves=0.5):
    """A flight in which some words of a follower are lost: where it was at a step, and what it had done before.

    It moves by so many metres a step, and goes on when all others have ended.
    """
    tracks = tracks_of(dict.fromkeys(range(AGENTS - 1), 5))
    x, y = tracks.places[FOLLOWER][0]
    action, living = tracks.actions[FOLLOWER][STEPS - 1]
    tracks.actions[FOLLOWER][STEPS] = action._replace(step=STEPS), living
    tracks.places[FOLLOWER] = {step: (x + moves * step, y) for step in range(STEPS + 2)}
    for step in lost:
        del tracks.actions[FOLLOWER][step - 1], tracks.places[FOLLOWER][step]
    return tracks


def test_steps_of_which_nobody_spoke_are_none():
    with pytest.raises(InputError, match="nobody took a step"):
        run_of(Tracks(mission_of(AGENTS, STEPS)))


def test_who_falls_silent_stays_where_it_was():
    run = run_of(tracks_of(dict.fromkeys(range(AGENTS - 1), 6)))
    assert run.steps == STEPS
    assert np.array_equal(run.positions[-1, LOST], run.positions[4, LOST])
