"""The perfect world tells agents the truth; another world is another run, decided by the same agents."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import tricover as tc
from tests.simulation.stores import stop_at
from tests.simulation.teams import scenario, team
from tricover.control import points_as_sets
from tricover.simulation import Mission
from tricover.simulation.deciding import decide_all, view_of
from tricover.world import AllClear, PerfectChannel, PerfectSensor, Request, Scene, World, heard_at_once


def test_everybody_hears_where_its_in_neighbours_are_now():
    reference, targets = team(3, agents=40)
    network = tc.build_network(reference)
    heard = heard_at_once(reference, network.in_neighbors)
    assert np.isnan(heard[network.anchors]).all()
    for agent in network.followers:
        for k, sender in enumerate(network.in_neighbors[agent]):
            assert heard[agent, k].tolist() == reference[sender].tolist()
    seen = tc.Targets(targets)
    scene = Scene(0, seen, np.arange(len(seen)))
    assert PerfectSensor().see(scene, network.followers, reference[network.followers]) is seen


@pytest.mark.parametrize("within", [0.05, 0.3, 5.0])
def test_who_is_near_is_who_is_near(within):
    positions = np.random.default_rng(4).random((60, 2))
    agents, living = np.array([3, 17, 59]), np.delete(np.arange(60), [5, 20])
    near = PerfectSensor().near(agents, living, positions, within)
    close = [
        other for other in living if min(np.hypot(*(positions[other] - positions[agent])) for agent in agents) <= within
    ]
    assert near.agents.tolist() == close
    np.testing.assert_array_equal(near.positions, positions[close])
    everybody = PerfectSensor().near(agents, living, positions, None)
    assert everybody.agents.tolist() == living.tolist()


def test_what_is_clear_is_what_was_asked_for():
    sets = np.random.default_rng(0).random((5, 3, 2))
    request = Request(np.zeros((5, 2)), sets, np.zeros(5), None, np.arange(5))
    np.testing.assert_array_equal(AllClear().clear(request), sets)


@dataclass(frozen=True)
class Late(PerfectChannel):
    """A channel of one's own: it delivers every message some steps late, but what is sent first at once too."""

    history: int = 1
    perfect = False

    def delays(self, step, positions, senders):
        return np.where(senders < 0, -1, self.history if step else 0)


@pytest.mark.parametrize("late", [1, 3])
def test_agents_act_on_what_they_heard_however_old_it_is(late):
    """With reach and still targets, layer l stands at its desired position from step l·(D+1) on."""
    given = scenario(0, agents=40, network={"mentee": "balanced"}, steps=60)
    mission = replace(Mission.of(given), world=World(channel=Late(late)))
    network, steps = mission.epochs[0].network, list(tc.steps(mission))
    desired = tc.desired_configuration(network, mission.targets_at(0))
    assert steps[-1].step > network.depth + 1
    for step in steps:
        settled = (network.layer > 0) & (network.layer * (late + 1) <= step.step)
        np.testing.assert_array_equal(step.positions[settled], desired[settled])
    for step in steps[:-1]:
        # What they decided follows from where their in-neighbours were, not from where they are.
        old = steps[max(0, step.step - late)].positions
        view = view_of(mission, step.state, network.followers)
        np.testing.assert_array_equal(view.heard, old[network.in_neighbors[network.followers]])
        assert (view.ages == min(step.step, late)).all()
        goals = tc.goal_points(network, old, mission.targets_at(0))
        np.testing.assert_array_equal(steps[step.step + 1].positions[network.followers], goals)


def test_late_messages_survive_a_store(tmp_path):
    given = scenario(0, agents=30, control={"motion": "walk", "resolution": 6}, vehicle="anywhere", steps=20)
    mission = replace(Mission.of(given), world=World(channel=Late(2)))
    whole = tc.simulate(mission)

    for step in (1, 2, 7):
        tc.simulate(mission, tmp_path / "run.zarr", resume=True, progress=stop_at(step))
    resumed = tc.simulate(mission, tmp_path / "run.zarr", resume=True)
    np.testing.assert_array_equal(resumed.positions, whole.positions)
    assert not np.array_equal(whole.positions, tc.simulate(given).positions[: whole.steps + 1])


@dataclass(frozen=True)
class NobodyMoves:
    """No landing is safe but where one stands."""

    apart = 1e-9

    def clear(self, request):
        return points_as_sets(request.positions)


def test_clearance_has_the_last_word():
    given = scenario(0, agents=30, steps=6)
    mission = replace(Mission.of(given), world=World(clearance=NobodyMoves()))
    steps = list(tc.steps(mission))
    np.testing.assert_array_equal(steps[-1].positions, steps[0].positions)
    assert not np.array_equal(decide_all(mission, steps[0].state).decision.setpoints, steps[0].positions)


@dataclass(frozen=True)
class AllBeside:
    """Everybody is let land only so much further to the right; sees where they stand."""

    by: float
    seen: list
    apart = 1e-9

    def clear(self, request):
        self.seen.append(request)
        return request.reach_sets + np.array([self.by, 0.0])


def test_a_miss_is_a_miss_of_where_one_was_let_land():
    given = scenario(0, agents=30, control={"motion": "walk", "resolution": 4}, vehicle="anywhere", steps=6)
    seen = []
    run = tc.simulate(replace(Mission.of(given), world=World(clearance=AllBeside(5.0, seen))))
    assert run.missed == 0
    # It is asked with everybody where it stands.
    np.testing.assert_array_equal([request.positions for request in seen], run.positions[:-1])
    slow = {"kind": "double-integrator", "max_speed": 0.5}
    reach = scenario(0, agents=30, vehicle=slow, steps=1)
    mission = replace(Mission.of(reach), world=World(clearance=AllBeside(5.0, seen)))
    run = tc.simulate(mission)
    wanted = seen[-1].reach_sets[:, 0] + np.array([5.0, 0.0])
    np.testing.assert_allclose(run.misses[0], np.hypot(*(run.positions[1] - wanted).T), rtol=1e-12)
    assert run.missed == 30


@dataclass(frozen=True)
class Blind:
    """Nobody sees a target."""

    sees_all = False
    certain = True

    def see(self, scene, agents, positions):
        return scene.targets.within(np.zeros((3, 2)))

    def near(self, agents, positions, within):
        raise NotImplementedError


def test_who_sees_no_target_goes_to_the_middle_of_its_triangle():
    given = scenario(0, agents=30, steps=20)
    mission = replace(Mission.of(given), world=World(sensor=Blind()))
    run = tc.simulate(mission)
    corners = run.positions[:-1][:, run.network.in_neighbors[run.network.followers]]
    np.testing.assert_allclose(run.positions[1:, run.network.followers], corners.mean(axis=2), rtol=1e-12)
    assert not np.array_equal(run.positions[-1], tc.simulate(given).positions[-1])


def test_agent_0_is_heard_as_anybody():
    """A number of 0 is a sender, -1 is none."""
    positions = np.random.default_rng(0).random((5, 2))
    senders = np.array([[0, 1, 2], [-1, -1, -1], [3, 0, 4]], np.int32)
    heard = heard_at_once(positions, senders)
    np.testing.assert_array_equal(heard[0], positions[:3])
    assert np.isnan(heard[1]).all()
    np.testing.assert_array_equal(heard[2], positions[[3, 0, 4]])
