"""Messages that are late or lost: against letter boxes that are filled and emptied one letter at a time."""

import pickle
import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import tricover as tc
from tests.simulation.stores import stop_at
from tests.simulation.teams import team
from tricover.control import HOLD, decide, rows_of
from tricover.errors import InputError, SafetyWarning
from tricover.simulation import Mission
from tricover.simulation.deciding import view_of
from tricover.simulation.forecasts import forecast
from tricover.simulation.hearing import NEVER, nothing_new

WORLDS = [
    {"delay": 2},
    {"delay": [0, 3]},
    {"loss": 0.5},
    {"delay": [1, 2], "loss": 0.4, "burst": 4.0},
    {"radio": 0.35},
    {"delay": [0, 2], "loss": 0.2, "radio": 0.4},
]


def late(world, seed=0, agents=25, events=True, **changes):
    """A team that loses a mentee, a corner and the core, and gains one, in a world that is not perfect."""
    reference, targets = team(seed, agents=agents)
    network = tc.build_network(reference, mentee="balanced")
    lost = [[int(network.layers[1][0]), int(network.boundary[1])], [network.core]]
    happens = {
        "leave": [{"step": 5, "agents": lost[0]}, {"step": 9, "agents": lost[1]}],
        "join": [{"step": 7, "reference": [[0.41, 0.52]]}],
    }
    return tc.Scenario(
        reference=reference,
        targets=targets,
        network={"mentee": "balanced"},
        world=world,
        events=happens if events else {},
        steps=changes.pop("steps", 60),
        seed=seed,
        **changes,
    )


def quiet(given, **more):
    """A run without what is said of its links before."""
    return tc.simulate(Mission.of(given), **more)


class LetterBoxes:
    """What everybody has heard, kept letter by letter: an independent model of ``listen``."""

    def __init__(self, mission):
        self.mission, self.letters = mission, []  # (arrives, receiver, slot, sent, position)
        self.heard, self.listens, self.epoch = {}, {}, np.zeros(mission.agents, int)

    def step(self, state):
        mission, step = self.mission, state.step
        for which, epoch in enumerate(mission.epochs[1:], 1):
            if epoch.start == step:
                before = mission.epochs[which - 1].network
                present = epoch.present(mission.agents)
                gone = [i for i in range(len(before)) if before.layer[i] >= 0 and not present[i]]
                new = list(range(len(before), len(epoch.network)))
                around = np.where(present[:, None], state.positions, np.nan)
                around[gone] = state.positions[gone]
                when = mission.world.channel.news(which, around, np.array([*new, *gone]))
                when[new] = 0
                self.letters += [(step + when[i], i, "epoch", which, None) for i in range(mission.agents)]
        for letter in [letter for letter in self.letters if letter[2] == "epoch" and letter[0] <= step]:
            self.epoch[letter[1]] = max(self.epoch[letter[1]], letter[3])
        present = mission.present_at(step)
        senders = np.full((mission.agents, 3), -1)
        for agent in range(mission.agents):
            network = mission.epochs[self.epoch[agent]].network
            if agent < len(network):
                senders[agent] = network.in_neighbors[agent]
        for agent in range(mission.agents):
            for slot in range(3):
                if self.listens.get((agent, slot), -1) != senders[agent, slot]:
                    self.listens[agent, slot] = senders[agent, slot]
                    self.heard.pop((agent, slot), None)
                    self.letters = [one for one in self.letters if (one[1], one[2]) != (agent, slot)]
        there = np.where(present[:, None], state.positions, np.nan)
        takes = mission.world.channel.delays(step, there, senders)
        for agent, slot in np.argwhere(takes >= 0).tolist():
            place = state.positions[senders[agent, slot]]
            self.letters.append((step + takes[agent, slot], agent, slot, step, place))
        for letter in [one for one in self.letters if one[2] != "epoch" and one[0] == step]:
            _, agent, slot, sent, place = letter
            if (agent, slot) not in self.heard or self.heard[agent, slot][0] < sent:
                self.heard[agent, slot] = sent, place


@pytest.mark.parametrize("world", WORLDS)
def test_agents_have_heard_what_came_into_their_letter_boxes(world):
    mission = Mission.of(late(world, control={"motion": "walk", "resolution": 5}))
    boxes, waited, behind = LetterBoxes(mission), 0, 0
    for step in tc.steps(mission):
        state = step.state
        boxes.step(state)
        here = np.flatnonzero(state.present)
        view = view_of(mission, state, here)
        np.testing.assert_array_equal(state.memory["believed"][here], boxes.epoch[here])
        for row, agent in enumerate(here.tolist()):
            for slot in range(3):
                sent, place = boxes.heard.get((agent, slot), (None, [np.nan, np.nan]))
                assert view.ages[row, slot] == (-1 if sent is None else state.step - sent)
                np.testing.assert_array_equal(view.heard[row, slot], place)
        waited += int((view.ages[:, 0] < 0).sum())
        behind += int((boxes.epoch[here] < mission.epochs.index(mission.epoch_at(state.step))).sum())
    assert waited
    assert behind


@pytest.mark.parametrize("motion", ["reach", "walk"])
@pytest.mark.parametrize("world", WORLDS[1::2])
def test_an_agent_alone_decides_as_in_the_team(world, motion):
    mission = Mission.of(late(world, control={"motion": motion, "resolution": 5}))
    for step, following in pairwise(list(tc.steps(mission))[:15]):
        here = np.flatnonzero(step.state.present)
        view, memory = view_of(mission, step.state, here), rows_of(step.state.memory, here)
        for row, agent in enumerate(here.tolist()):
            told = mission.epochs[step.state.memory["believed"][agent]].told
            one = np.array([row])
            alone = decide(view.rows(one), told, rows_of(memory, one))
            np.testing.assert_array_equal(alone.setpoints[0], following.positions[agent])


@pytest.mark.parametrize("world", [{}, *WORLDS[3:]])
def test_the_triangles_by_which_an_agent_acted_are_told(world):
    mission = Mission.of(late(world, control={"motion": "walk", "resolution": 5}))
    run, views = tc.simulate(mission), []
    for step in list(tc.steps(mission))[:-1]:
        views.append(np.full((mission.agents, 3, 2), np.nan))
        here = np.flatnonzero(step.state.present)
        views[-1][here] = view_of(mission, step.state, here).heard
    for agent in range(mission.agents):
        there = run.present[:-1, agent]
        expected = np.array(views)[there, agent]
        expected[np.isnan(expected).any(axis=(1, 2))] = np.nan
        np.testing.assert_array_equal(run.heard(agent)[there], expected)
    with pytest.raises(InputError):
        run.heard(mission.agents)


def test_who_has_not_heard_of_all_stays_where_it_is():
    run = quiet(late({"delay": 3}, events=False, vehicle="anywhere", control={"motion": "walk", "resolution": 4}))
    followers = run.network.followers
    assert (run.ages[:3, followers] == -1).all()
    assert (run.ages[3:, followers] == 3).all()
    assert (run.ages[:, run.network.anchors] == -1).all()
    np.testing.assert_array_equal(run.positions[:4, followers], np.repeat(run.positions[:1, followers], 4, axis=0))
    assert (run.next_cells[:3, followers] == HOLD).all()
    assert (run.weights[:3] == 0).all()
    assert run.missed == 0


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("motion", ["reach", "walk"])
def test_agents_act_on_positions_of_the_ages_that_are_recorded(world, motion):
    """The recorded weights put an agent where it landed, in the triangle of what it had heard."""
    run = quiet(late(world, control={"motion": motion, "resolution": 5}, vehicle="exact"))
    acted = 0
    for step in range(run.steps):
        believed = run.read("believed", step, step + 1)[0]
        for agent in np.flatnonzero(run.present[step]).tolist():
            network = run.mission.epochs[believed[agent]].network
            ages = run.ages[step, agent]
            if network.layer[agent] < 1 or ages.min() < 0:
                assert (run.weights[step, agent] == 0).all()
                continue
            corners = [run.positions[step - age, other] for age, other in
                       zip(ages, network.in_neighbors[agent], strict=True)]  # fmt: skip
            landed = run.weights[step, agent] @ np.array(corners)
            np.testing.assert_allclose(landed, run.positions[step + 1, agent], atol=1e-12)
            assert run.weights[step, agent].min() >= -1e-12
            acted += 1
    assert acted


@pytest.mark.parametrize("world", [*WORLDS[:4], {"radio": 0.5}, {"delay": [0, 2], "loss": 0.2, "radio": 0.6}])
def test_repairs_that_are_heard_of_late_lead_to_the_same_places(world):
    given = late(world, steps=300)
    run = quiet(given)
    assert run.converged
    perfect = tc.simulate(given.replace(world={"delay": None, "loss": None, "burst": None, "radio": None}))
    living = run.network.layer >= 0
    np.testing.assert_array_equal(run.positions[-1, living], perfect.positions[-1, living])
    assert run.settled_at >= perfect.settled_at


def test_a_team_is_still_only_if_nothing_new_is_on_its_way():
    mission = Mission.of(late({"delay": [0, 3], "loss": 0.2}, steps=300))
    state = list(tc.steps(mission))[-1].state
    assert state.still
    assert nothing_new(mission, state)
    agent = int(mission.epochs[-1].network.followers[0])
    sender = int(mission.epochs[-1].network.in_neighbors[agent, 1])
    delays = np.array(state.post["delays"])
    delays[2, agent, 1] = 3  # sent two steps ago, to come in the next one
    coming = replace(state, post={**state.post, "delays": delays})
    assert nothing_new(mission, coming)  # it says the same
    sent = np.array(state.sent)
    sent[1, sender] += 1.0
    assert not nothing_new(mission, replace(coming, sent=sent))
    assert nothing_new(mission, replace(state, sent=sent))  # all that was sent then has come or is lost
    news = np.array(state.post["news"])
    news[-1, agent] = state.step + 4
    assert not nothing_new(mission, replace(state, post={**state.post, "news": news}))
    news = news.copy()
    news[-1, agent] = NEVER
    assert nothing_new(mission, replace(state, post={**state.post, "news": news}))
    heard = np.array(state.memory["heard"])
    heard[agent, 1] += 1.0
    assert not nothing_new(mission, replace(state, memory={**state.memory, "heard": heard}))


def test_a_perfect_world_is_a_perfect_world_however_it_is_written():
    given = late({}, control={"motion": "walk", "resolution": 5})
    run, same = tc.simulate(given), tc.simulate(given.replace(world={"delay": 0, "loss": 0.0}))
    np.testing.assert_array_equal(run.positions, same.positions)
    assert run.ages.shape == (run.steps, 26, 3)
    assert not run.ages.any()
    assert run.read("believed", 4, 10)[:, 0].tolist() == [0, 1, 1, 2, 2, 3]
    assert "ages" not in run.to_xarray()


def test_late_runs_are_killed_resumed_and_pickled(tmp_path):
    given = late({"delay": [0, 3], "loss": 0.3, "radio": 0.4}, vehicle="anywhere", steps=25)
    given = given.replace(control={"motion": "walk", "resolution": 5, "kernel": "learned"})
    mission = Mission.of(given)
    whole = tc.simulate(mission)

    for step in (1, 2, 6, 8, 15):
        tc.simulate(mission, tmp_path / "run.zarr", resume=True, progress=stop_at(step))
    run = tc.simulate(mission, tmp_path / "run.zarr", resume=True)
    for one in (run, tc.simulate(pickle.loads(pickle.dumps(mission))), pickle.loads(pickle.dumps(run))):
        for name in ("positions", "ages", "believed", "weights", "next_cell"):
            np.testing.assert_array_equal(one.read(name), whole.read(name))
    opened = type(run).open(tmp_path / "run.zarr")
    np.testing.assert_array_equal(opened.ages, whole.ages)
    np.testing.assert_array_equal(opened.to_xarray()["ages"], whole.ages)


def test_on_the_way_from_the_pads_nobody_listens():
    reference, targets = team(0, agents=20)
    pads = np.stack([np.linspace(0, 4, 20), np.full(20, -2.0)], axis=1)
    given = tc.Scenario(
        formation={"positions": reference, "start": pads, "assign": True, "launch": 4},
        targets=targets,
        world={"delay": 1},
        steps=40,
    )
    run = quiet(given)
    followers = run.network.followers
    assert (run.ages[:5, followers] == -1).all()
    assert (run.ages[5:, followers] == 1).all()
    assert run.converged


def test_what_is_out_of_range_is_said_before_the_run():
    given = late({"radio": 0.5}, events=False)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        tc.simulate(given)
    assert all(one.category is SafetyWarning for one in said)
    network, start = tc.build_network(given.reference, mentee="balanced"), given.reference
    links = [(agent, other) for agent in network.followers for other in network.in_neighbors[agent]]
    far = [link for link in links if np.hypot(*(start[link[0]] - start[link[1]])) > 0.5]
    assert str(said[0].message).startswith(f"{len(far)} of {len(links)} links need relays at the start")
    assert "where the team should settle, as the radio goes 0.5 m" in str(said[1].message)
    longest = max(far, key=lambda link: np.hypot(*(start[link[0]] - start[link[1]])))
    assert f": {longest[0]} hears {longest[1]} (" in str(said[0].message)
    deaf = given.replace(world={"relays": False})
    assert "are not heard at all at the start" in forecast(Mission.of(deaf))[0]
    run = quiet(deaf)
    assert not run.converged
    assert run.steps < 60  # nothing will ever change


def test_impossible_worlds_are_refused():
    given = late({}, events=False)
    for world, says in [
        ({"burst": 3.0}, "burst goes with loss"),
        ({"loss": 0.5, "burst": 1.5}, "rows of 2 messages"),
        ({"relays": False}, "relays goes with radio"),
        ({"delay": [2, 1]}, "whole steps"),
        ({"delay": 1.5}, "whole steps"),
        ({"delay": True}, "whole steps"),
        ({"dealy": 1}, "dealy"),
    ]:
        with pytest.raises(InputError, match=says):
            given.replace(world=world)
    with pytest.raises(InputError, match="announce their next places"):
        tc.simulate(given.replace(world={"loss": 0.1}, control={"motion": "morph"}))


@pytest.mark.parametrize("motion", ["reach", "walk"])
def test_nobody_counts_as_settled_before_it_has_heard(motion):
    """Neither of all its in-neighbours nor of the network: who stands and waits is not at its goal."""
    given = late({"delay": [3, 4]}, control={"motion": motion, "resolution": 5}, steps=90)
    network = tc.build_network(given.reference, mentee="balanced")
    lost = [{"step": 60, "agents": [int(network.followers[-1])]}]
    run = quiet(given.replace(events={"leave": lost, "join": ()}))
    settled, believed = run.read("settled"), run.read("believed")
    waits = (run.ages[:, network.followers] < 0).any(axis=(1, 2))
    assert waits[:3].all()
    assert not settled[:3].any()
    after = np.arange(60, min(run.steps, 75))
    behind = np.array([(believed[step, run.present[step]] < 1).any() for step in after])
    assert behind[0]
    assert not settled[after[behind]].any()
    assert settled[59]  # it was, before it lost somebody


def test_vehicles_that_never_stand_still_are_waited_for_as_long_as_messages_may_be_late():
    vehicle = {"kind": "gusty", "chance": 0.5, "gust": [0.001, 0.0]}
    given = late({"delay": 2}, events=False, vehicle=vehicle, control={"tolerance": 0.05}, steps=400)
    run = quiet(given)
    assert run.steps < 400
    since = np.flatnonzero(~run.read("settled"))[-1] + 1
    assert run.steps - since == run.network.depth * 3 + 1


def test_who_waits_has_no_cells_whatever_its_motion():
    run = quiet(late({"delay": 3}, events=False))
    followers = run.network.followers
    assert (run.states[:3, followers] == -1).all()
    assert (run.goal_cells[:3, followers] == HOLD).all()
    assert (run.next_cells[:3, followers] == HOLD).all()
    assert (run.next_cells[3:, followers] != HOLD).all()


@pytest.mark.parametrize("motion", ["reach", "walk"])
def test_agents_keep_apart_whatever_they_have_heard(motion):
    """Some have heard of one in-neighbour and not of another when they are asked to make room."""
    given = late({"delay": [0, 4], "loss": 0.4}, agents=20, control={"motion": motion, "resolution": 6}, steps=80)
    start = tc.separation(given.reference[None]).distance
    run = quiet(given.replace(safety={"separation": 0.5 * start}, events={"leave": (), "join": ()}))
    partly = (run.ages >= 0).any(axis=2) & (run.ages < 0).any(axis=2)
    assert partly.any()
    assert run.separation.distance >= 0.5 * start
