"""The loop itself, step by step: what it gives, what it leaves behind, and what is kept when it fails."""

import threading
from itertools import pairwise

import numpy as np
import pytest

import tricover as tc
from tests.simulation.teams import scenario, team
from tricover.simulation import Mission
from tricover.simulation.deciding import decide_all
from tricover.simulation.incremental import Incremental
from tricover.simulation.record import ARRAYS
from tricover.simulation.state import State
from tricover.vehicles import LANDINGS, Mixed, step_draws
from tricover.vehicles.anywhere import Anywhere

WALK = {"motion": "walk", "resolution": 8}


def test_a_loop_that_is_stopped_leaves_nothing_behind(tmp_path):
    given = scenario(0, agents=30, control=WALK, vehicle="anywhere")
    whole, before = tc.simulate(given), threading.active_count()
    loop = tc.steps(given)
    taken = [next(loop) for _ in range(4)]
    loop.close()
    assert [step.step for step in taken] == [0, 1, 2, 3]
    assert threading.active_count() <= before + 1  # the threads of the pool stay for the next time
    assert not list(tmp_path.iterdir())
    for step in tc.steps(given, taken[-1].state):
        np.testing.assert_array_equal(step.positions, whole.positions[step.step])
    assert step.step == whole.steps


def test_the_first_step_is_the_start():
    reference, targets = team(3, agents=20)
    given = tc.Scenario(formation={"positions": reference, "start": reference + 0.01}, targets=targets)
    first = next(tc.steps(given))
    assert (first.step, first.transition) == (0, None)
    np.testing.assert_array_equal(first.positions, reference + 0.01)
    assert first.present.all()
    none = list(tc.steps(given.replace(steps=0)))
    assert [step.step for step in none] == [0]


def test_steps_know_how_far_the_team_is():
    given = scenario(0, agents=30)
    seen = []
    run = tc.simulate(given, progress=seen.append)
    steps = list(tc.steps(given))[1:]
    assert [(now.step, now.layers, now.depth, now.largest_error) for now in seen] == [
        (step.step, step.layers, step.depth, step.largest_error) for step in steps
    ]
    assert steps[-1].layers == run.network.depth + 1
    assert steps[-1].largest_error == 0.0


class OtherError(Exception):
    """Anything but an error of ours."""


def fails_at(step, error):
    """A rule of a user's that fails in a step."""
    calls = []

    def rule(network):
        def local_goal(agents, triangles, targets):
            calls.append(1)
            if len(calls) > step:
                raise error
            return triangles.mean(axis=1)

        return local_goal

    return rule


@pytest.mark.parametrize("error", [ZeroDivisionError("in the user's rule"), OtherError("else"), SystemExit(3)])
def test_a_step_that_fails_hands_over_the_steps_before(error):
    reference, targets = team(0, agents=30)
    whole = tc.simulate(
        tc.Scenario(reference=reference, targets=targets, control={**WALK, "goal": fails_at(99, error)})
    )
    assert whole.steps > 5
    given = tc.Scenario(reference=reference, targets=targets, control={**WALK, "goal": fails_at(5, error)})
    with pytest.raises(type(error)) as caught:
        tc.simulate(given)
    assert caught.value is error
    assert caught.value.run.steps == 5
    assert caught.value.run.interrupted
    np.testing.assert_array_equal(caught.value.run.positions, whole.positions[:6])
    assert "5 steps" in caught.value.__notes__[-1]


@pytest.mark.parametrize("error", [ZeroDivisionError("in the vehicle"), OtherError("else"), SystemExit(3)])
def test_a_step_that_fails_keeps_the_steps_before_in_the_store(tmp_path, monkeypatch, error):
    given = scenario(0, agents=20, control=WALK, vehicle="anywhere", steps=30)
    whole = tc.simulate(given)
    drive, calls = Anywhere.drive, iter(range(100))

    def fails(self, *arguments):
        if next(calls) == 5:
            raise error
        return drive(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Anywhere, "drive", fails)
        with pytest.raises(type(error)):
            tc.simulate(given, tmp_path / "run.zarr")
    np.testing.assert_array_equal(tc.Run.open(tmp_path / "run.zarr").positions, whole.positions[:6])
    again = tc.simulate(given, tmp_path / "run.zarr", resume=True)
    for name in ARRAYS:
        np.testing.assert_array_equal(again.read(name), whole.read(name))


def given_places(seed, **settings):
    """Anchors with places of their own; one of them is lost, so that another takes over, and has none."""
    reference, targets = team(seed, agents=30)
    network = tc.build_network(reference)
    events = {"leave": [{"step": 4, "agents": [int(network.boundary[0])]}, {"step": 9, "agents": [network.core]}]}
    return tc.Scenario(
        reference=reference,
        targets=targets,
        anchors=reference[network.anchors] * 1.1,
        events=events,
        steps=30,
        stop_when_settled=False,
        **settings,
    )


@pytest.mark.parametrize("vehicle", ["exact", "double-integrator"])
def test_an_anchor_without_a_place_remembers_where_it_became_one(tmp_path, vehicle):
    given = given_places(0, vehicle=vehicle, control=WALK)
    run = tc.simulate(given)
    assert list(run.mission.start().memory) == ["place"]
    for epoch in run.epochs[1:]:
        own = np.isnan(epoch.told.paths[0]).any(axis=1)
        assert own.any()
        agents = epoch.network.anchors[own]
        stop = min((other.start for other in run.epochs if other.start > epoch.start), default=run.steps + 1)
        stood = run.positions[epoch.start, agents]
        away = np.linalg.norm(run.positions[epoch.start : stop, agents] - stood, axis=2)
        assert away.max() <= (0.0 if vehicle == "exact" else 0.05)

    def stop_at(step):
        def progress(now):
            if now.step == step:
                raise KeyboardInterrupt

        return progress

    whole = tc.simulate(given, tmp_path / "whole.zarr")
    for step in (2, 4, 6, 9, 10, 17):
        part = tc.simulate(given, tmp_path / "run.zarr", resume=True, progress=stop_at(step))
        assert (part.interrupted, part.steps) == (True, step)
    resumed = tc.simulate(given, tmp_path / "run.zarr", resume=True)
    for name in ARRAYS:
        np.testing.assert_array_equal(resumed.read(name), whole.read(name))
        np.testing.assert_array_equal(resumed.read(name), run.read(name))


class Sleepwalker:
    """A vehicle of a user's own: it goes half of the way."""

    kind = "sleepwalker"
    landing = "anywhere"
    state_size = 2

    def initial_state(self, positions):
        return np.array(positions, float)

    def output(self, states):
        return states.copy()

    def drive(self, states, reach_sets, duration, draws):
        return states + (reach_sets.mean(axis=1) - states) / 2


@pytest.mark.parametrize("given", [Sleepwalker(), {"kind": Sleepwalker(), "duration": 2.0}])
def test_a_vehicle_of_the_users_own_is_as_welcome_as_a_rule(given, tmp_path):
    made = scenario(0, agents=20, vehicle=given, steps=40)
    run = tc.simulate(made)
    anchors = run.network.anchors
    legs = np.diff(run.positions[:, run.network.followers], axis=0)
    assert run.summary()["vehicle"] == "sleepwalker"
    assert run.converged
    np.testing.assert_array_equal(run.positions[-1, anchors], run.positions[0, anchors])
    assert (np.linalg.norm(legs[-1], axis=1) < np.linalg.norm(legs[0], axis=1).max()).all()
    assert made.replace(seed=3).vehicle.kind is made.vehicle.kind
    with pytest.raises(tc.TricoverError, match=r"a vehicle of your own \(Sleepwalker\) cannot be written down"):
        made.save(tmp_path / "own.toml")
    with pytest.raises(tc.TricoverError, match="cannot be written down"):
        tc.simulate(made, tmp_path / "run.zarr")
    assert not list(tmp_path.iterdir())


def test_a_vehicle_of_ones_own_beside_others():
    mixed = Mixed((tc.vehicle("exact"), Sleepwalker()), (0,) * 10 + (1,) * 10)
    made = scenario(0, agents=20, vehicle=mixed, steps=10)
    assert made.vehicle.team(20) == mixed
    run = tc.simulate(made)
    assert run.mission.exact.tolist() == [True] * 10 + [False] * 10
    assert run.mission.vehicle.landing == "anywhere"


class HasNoLanding:
    kind, state_size = "odd", 2
    initial_state = output = drive = None


class LandsOddly(HasNoLanding):
    landing = "softly"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, "int is no vehicle: it has no kind, landing, state_size, initial_state, output and drive"),
        (HasNoLanding(), "HasNoLanding is no vehicle: it has no landing"),
        (LandsOddly(), "landing must be 'centre', 'inside', 'anywhere', not 'softly'"),
        ({"kind": Sleepwalker(), "max_speed": 3}, "max_speed: a vehicle of your own holds its settings itself"),
    ],
)
def test_what_is_no_vehicle_is_named(given, message):
    with pytest.raises(tc.TricoverError, match=message):
        scenario(0, agents=20, vehicle=given)
    assert LANDINGS == ("centre", "inside", "anywhere")


def test_how_vehicles_land_decides_what_counts_as_at_a_place():
    for vehicle, tolerance in (("exact", 0.0), ("anywhere", 0.0), ("unicycle", 0.05), ("quadrotor", 0.05)):
        mission = Mission.of(scenario(0, agents=20, vehicle=vehicle))
        assert mission.tolerance == tolerance
    assert Mission.of(scenario(0, agents=20, vehicle="unicycle", control={"tolerance": 0.2})).tolerance == 0.2


def at_rest(**settings):
    """A team that stands where it should from the start, so that only what comes from outside can move it."""
    reference = np.array([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2], [0.5, 2]])
    targets = np.array([[1, 1], [0, 2], [0.5, 2.0]])  # sums of these have no rounding
    network = tc.build_network(reference)
    desired = tc.desired_configuration(network, tc.Targets(targets))
    given = {"formation": {"positions": reference, "start": desired}, "targets": targets, **settings}
    return network, tc.Scenario(**given)


LAST = 9
FAR = [[50.0, 50.0]]  # a target in nobody's triangle


@pytest.mark.parametrize("what", ["nothing", "path", "comes", "goes", "track", "until", "join", "late"])
def test_a_team_at_rest_waits_for_what_is_to_come_and_ends_one_step_later(what):
    """Nothing that comes here changes anything; only that it will come keeps the run going."""
    network, plain = at_rest()
    points = np.concatenate([plain.targets.positions, FAR])
    always = [[0, 1000]] * (len(points) - 1)
    own = plain.reference[network.anchors]
    changes = {
        "nothing": {},
        "path": {"anchors": np.tile(own, (LAST + 1, 1, 1))},
        "comes": {"targets": {"positions": points, "active": [*always, [LAST, 1000]]}},
        "goes": {"targets": {"positions": points, "active": [*always, [0, LAST]]}},
        "track": {"targets": {"positions": points, "motion": {"paths": np.tile(points, (LAST + 1, 1, 1))}}},
        "until": {"targets": {"positions": points, "motion": {"velocity": [0.0, 0.0], "until": LAST}}},
        "join": {"events": {"join": [{"step": LAST, "reference": [[40.0, 40.0]]}]}},
        "late": {"targets": {"positions": points, "active": [*always, [500, 1000]]}},
    }
    run = tc.simulate(plain.replace(**changes[what]))
    if what == "join":
        assert run.steps > LAST
        np.testing.assert_array_equal(run.positions[LAST], run.positions[0])
        return
    assert run.settled_at == 0
    assert run.converged
    assert run.steps == (1 if what in ("nothing", "late") else LAST + 1)


@pytest.mark.parametrize("what", ["path", "comes"])
def test_what_comes_to_a_team_at_rest_moves_it(what):
    network, plain = at_rest()
    paths = np.tile(plain.reference[network.anchors], (LAST + 1, 1, 1))
    paths[LAST] *= 1.1
    points = np.concatenate([plain.targets.positions, [[1.5, 2.0]]])
    active = [*[[0, 1000]] * (len(points) - 1), [LAST, 1000]]
    change = {"anchors": paths} if what == "path" else {"targets": {"positions": points, "active": active}}
    run = tc.simulate(plain.replace(**change))
    np.testing.assert_array_equal(run.positions[LAST], run.positions[0])
    assert not np.array_equal(run.positions[LAST + 1], run.positions[LAST])
    assert run.converged


def test_a_quiet_end_waits_for_what_is_to_come_too():
    """Vehicles that creep: quiet steps before the last change do not count."""
    network, plain = at_rest()
    paths = np.tile(plain.reference[network.anchors], (LAST + 1, 1, 1))
    given = plain.replace(
        anchors=paths, vehicle={"kind": Sleepwalker()}, control={"tolerance": 1e9}, formation={"start": plain.reference}
    )
    steps = list(tc.steps(given))
    assert [step.state.quiet for step in steps] == [0] * (LAST + 1) + list(range(1, network.depth + 2))
    assert not any(step.state.still for step in steps)
    never = tc.simulate(given.replace(control={"tolerance": 0.0}, steps=30))
    assert never.mission.tolerance == 0.0
    assert never.settled_at is None


def test_the_depth_that_counts_is_that_of_the_last_network():
    """A long queue of layers loses its end: fewer quiet steps are enough."""
    reference, targets = team(0, agents=40)
    network = tc.build_network(reference)
    lost = np.flatnonzero(network.layer > 1)
    given = tc.Scenario(
        reference=reference,
        targets=targets,
        vehicle={"kind": Sleepwalker()},
        control={"tolerance": 1e9},
        events={"leave": [{"step": 2, "agents": lost}]},
    )
    run = tc.simulate(given)
    assert run.network.depth < network.depth
    assert run.steps == 2 + run.network.depth + 1


def test_vehicles_that_move_where_they_stand_are_not_still():
    """A state that changes at one position is a change: the run goes on until it does no more."""

    class Turning(Sleepwalker):
        """Turns for five steps, then stands."""

        state_size = 3

        def initial_state(self, positions):
            return np.column_stack([positions, np.zeros(len(positions))])

        def output(self, states):
            return states[:, :2].copy()

        def drive(self, states, reach_sets, duration, draws):
            return np.column_stack([reach_sets.mean(axis=1), np.minimum(states[:, 2] + 1, 5)])

    reference = [[0, 0], [4, 0], [0, 4], [1, 1]]
    steps = list(tc.steps(tc.Scenario(reference=reference, targets=[[1, 2]], vehicle={"kind": Turning()}, steps=3)))
    assert [step.state.still for step in steps] == [False] * len(steps)


def test_decisions_that_were_handed_out_stay_as_they_were():
    for motion in ("reach", "walk"):
        for vehicle in ("exact", "anywhere"):
            given = scenario(0, agents=30, control={"motion": motion, "resolution": 5}, vehicle=vehicle, steps=8)
            mission, deciding, kept = Mission.of(given), Incremental(), []

            def listen(mission, state, deciding=deciding, kept=kept):
                found = deciding(mission, state)
                kept.append((found, parts(found)))
                return found

            steps = list(tc.steps(mission, decide_all=listen))
            assert len(kept) == len(steps) - 1
            for found, before in kept:
                for name, values in parts(found).items():
                    np.testing.assert_array_equal(values, before[name], err_msg=name)
            for step, (found, _) in zip(steps, kept, strict=False):
                plain = parts(decide_all(mission, step.state))
                for name, values in parts(found).items():
                    np.testing.assert_array_equal(values, plain[name], err_msg=name)
                if motion == "reach":
                    np.testing.assert_array_equal(found.decision.goal_points, found.decision.setpoints)


def parts(decisions):
    """All that was decided, by name, as copies."""
    decision, found = decisions.decision, {"distances": decisions.distances}
    found |= {"goal_points": decision.goal_points, "setpoints": decision.setpoints}
    if decision.cells is not None:
        found |= decision.cells._asdict()
    if decisions.reach_sets is not None:
        found["reach_sets"] = decisions.reach_sets
    return {name: values.copy() for name, values in found.items()}


def test_no_array_of_a_state_can_be_changed():
    arrays = [np.zeros((3, 2)), np.zeros((3, 4)), np.ones(3, bool), np.zeros((3, 2)), np.zeros((2, 3, 2))]
    state = State(0, *arrays[:3], {"place": arrays[3]}, arrays[4])
    for array in (state.positions, state.vehicles, state.present, state.memory["place"], state.sent):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1
    assert state.messages.shape == (3, 3, 2)


@pytest.mark.parametrize("control", [WALK, {"motion": "reach"}])
def test_with_and_without_the_shortcut_anchors_remember_the_same(control):
    """Some agents are lost, so that rows of the memory and of those who decide are not the same."""
    given = given_places(0, vehicle="double-integrator", control=control)
    for one, other in zip(tc.steps(given), tc.steps(given, decide_all=decide_all), strict=True):
        np.testing.assert_array_equal(one.positions, other.positions)
        np.testing.assert_array_equal(one.state.memory["place"], other.state.memory["place"])


def test_goal_points_are_the_same_for_both_motions():
    mission = Mission.of(scenario(0, agents=30, control=WALK, vehicle="anywhere"))
    reach = Mission.of(mission.scenario.replace(control={"motion": "reach"}))
    for step in list(tc.steps(mission))[:5]:
        one, other = (decide_all(each, step.state).decision for each in (mission, reach))
        np.testing.assert_array_equal(one.goal_points, other.goal_points)
        assert not np.array_equal(one.goal_points, one.setpoints)


def test_who_lands_in_the_middle_is_told_the_middle_alone():
    mixed = Mixed((tc.vehicle("exact"), tc.vehicle("anywhere")), (0, 1) * 15)
    mission = Mission.of(scenario(0, agents=30, control=WALK, vehicle=mixed, steps=6))
    assert mission.exact.tolist() == [True, False] * 15
    with pytest.raises(ValueError, match="read-only"):
        mission.exact[0] = False
    followers = mission.epochs[0].network.followers
    for before, after in pairwise(tc.steps(mission)):
        decisions = decide_all(mission, before.state)
        points = np.repeat(decisions.decision.setpoints[:, None], 3, axis=1)
        np.testing.assert_array_equal(decisions.reach_sets[::2], points[::2])
        np.testing.assert_array_equal(after.positions[::2], points[::2, 0])
        others = followers[followers % 2 == 1]
        assert (np.ptp(decisions.reach_sets[others], axis=1) > 0).all()
    assert not Mission.of(scenario(0, agents=30, vehicle="anywhere")).exact.any()
    assert Mission.of(scenario(0, agents=30)).exact.all()


def test_what_is_printed_fits_on_a_line():
    steps = list(tc.steps(given_places(0, name="patrol")))
    mission = Mission.of(given_places(0, name="patrol"))
    shown = [
        repr(part) for part in (steps[0], steps[1], steps[0].state, steps[1].transition, mission, mission.epochs[1])
    ]
    assert shown == [
        "<Step 0: 30 agents at the start>",
        f"<Step 1: 30 agents, 0 of 5 layers at their goals, largest error {steps[1].largest_error:.3g} m>",
        "<State of 30 agents at step 0>",
        "<Transition of 30 agents, on their way>",
        f"<Mission 'patrol': 30 agents, {len(mission.targets)} targets, 3 epochs>",
        f"<Epoch from step 4 on: {mission.epochs[1].network}>",
    ]
    assert repr(mission.epochs[0].told) == f"<Told reach, goal centroid, resolution 35: {mission.epochs[0].network}>"


def test_every_agent_has_its_own_draws_whoever_else_takes_part():
    given_draws = []

    class Listening(Sleepwalker):
        def drive(self, states, reach_sets, duration, draws):
            given_draws.append(draws)
            return super().drive(states, reach_sets, duration, draws)

    events = {"leave": [{"step": 2, "agents": [3, 8]}]}
    run = tc.simulate(scenario(0, agents=20, vehicle={"kind": Listening()}, events=events, steps=4))
    for step, draws in enumerate(given_draws):
        np.testing.assert_array_equal(draws, step_draws(0, step, 20)[run.present[step]])


def test_networks_are_built_as_the_scenario_says():
    reference, targets = team(0, agents=60)
    core = int(tc.build_network(reference).followers[0])
    for mentee in ("fermat", "balanced"):
        given = tc.Scenario(reference=reference, targets=targets, network={"mentee": mentee, "core": core})
        assert Mission.of(given).epochs[0].network == tc.build_network(reference, mentee, core)


def test_the_largest_error_is_that_of_the_agent_furthest_off():
    mission = Mission.of(scenario(0, agents=30))
    for before, after in pairwise(tc.steps(mission)):
        decisions = decide_all(mission, before.state)
        apart = np.hypot(*(before.positions - decisions.decision.setpoints).T)
        np.testing.assert_allclose(after.largest_error, apart.max(), rtol=1e-12)
