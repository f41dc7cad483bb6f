"""From the pads: who takes which place, the flight there, and that all is as without it from then on."""

import json
import pickle
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import tricover as tc
from tests.simulation.teams import team
from tricover.control import View, decide
from tricover.errors import FileFormatError, InputError, SafetyWarning
from tricover.simulation import Mission
from tricover.simulation.deciding import decide_all, view_of
from tricover.simulation.launch import launch_notices, launch_summary

EXAMPLE = Path(__file__).parents[2] / "examples" / "from-pads.toml"


def grid(agents, spacing=4.0, corner=(0.0, 0.0)):
    columns = int(np.ceil(np.sqrt(agents)))
    return spacing * np.stack([np.arange(agents) % columns, np.arange(agents) // columns], axis=1) + corner


def pair(seed=3, speed=7.0, formation=None, **settings):
    """A scenario with a launch, and the same without; 40 m wide."""
    reference, points = team(seed=12 + seed % 4, agents=20)
    settings = {"targets": points, "control": {"resolution": 5}, "steps": 60, **settings}
    pads = np.random.default_rng(seed).permutation(grid(20, corner=(-40, -10)))
    pads = np.resize(pads, (len(reference), 2)) + np.arange(len(reference))[:, None] // 20 * 20.0
    start = {"positions": reference, "start": pads, "assign": True, **(formation or {})}
    flown = tc.Scenario(formation=start, **settings)
    return flown.replace(control={"speed": speed}), tc.Scenario(reference=reference, **settings)


# -- who takes which place ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_agents_get_the_pads_of_least_squares(seed):
    rng = np.random.default_rng(seed)
    reference = np.array([[0.0, 0], [30, 0], [30, 30], [0, 30], [14, 13], [20, 9]])
    pads = rng.permutation(grid(6, corner=rng.uniform(-50, 50, 2)))
    mission = Mission.of(
        tc.Scenario(formation={"positions": reference, "start": pads, "assign": True}, targets=[[1, 1]])
    )
    costs = {order: ((pads[list(order)] - reference) ** 2).sum() for order in permutations(range(6))}
    assert costs[tuple(mission.pads.tolist())] == pytest.approx(min(costs.values()))
    assert np.array_equal(mission.ground.start, pads[mission.pads])
    assert np.array_equal(mission.start().positions, pads[mission.pads])


def test_the_order_of_the_pads_does_not_matter():
    flown, _ = pair()
    order = np.random.default_rng(0).permutation(len(flown.formation.start))
    other = flown.replace(formation={"start": flown.formation.start[order]})
    one, two = Mission.of(flown), Mission.of(other)
    assert np.array_equal(one.ground.start, two.ground.start)
    assert np.array_equal(one.pads, order[two.pads])


def test_pads_may_be_given():
    flown, _ = pair()
    mine = np.random.default_rng(1).permutation(len(flown.reference))
    mission = Mission.of(flown.replace(formation={"pads": mine}))
    assert np.array_equal(mission.pads, mine)
    assert np.array_equal(mission.ground.start, flown.formation.start[mine])


def test_without_assign_nothing_is_new():
    flown, _ = pair()
    mission = Mission.of(flown.replace(formation={"assign": False}))
    assert (mission.launch, mission.pads) == (0, None)
    assert np.array_equal(mission.ground.start, flown.formation.start)
    assert launch_notices(mission) == []
    assert "launch" not in tc.simulate(mission).summary()


@pytest.mark.parametrize(
    ("formation", "said"),
    [
        ({"assign": True}, "assign goes with start"),
        ({"start": [[0, 0]] * 5, "pads": [0, 1, 2, 3, 4]}, "pads goes with assign = true"),
        ({"start": [[0, 0]] * 5, "launch": 3}, "launch goes with assign = true"),
        ({"start": grid(4), "assign": True}, "5 agents need as many positions, not 4"),
        ({"start": grid(5), "assign": True, "pads": [0, 1, 2, 3]}, "5 agents need a pad each, 4 are given, and pad 4"),
        ({"start": grid(5), "assign": True, "pads": [0, 1, 2, 3, 3]}, "pad 4 is not among them"),
        ({"start": grid(5), "assign": True, "pads": [0, 1, 2, 3, 5]}, "pad 4 is not among them"),
        ({"start": grid(5), "assign": True, "launch": 2}, "takes 6 steps or more, not 2"),
    ],
)
def test_what_cannot_be_is_named(formation, said):
    square = [[0, 0], [40, 0], [40, 40], [0, 40], [20, 20]]
    with pytest.raises(InputError, match=said):
        Mission.of(tc.Scenario(formation={"positions": square, **formation}, targets=square, control={"speed": 8.5}))


# -- the flight -----------------------------------------------------------------------------------------------------


def test_everybody_flies_straight_and_together():
    flown, _ = pair(seed=2)
    run = tc.simulate(flown)
    start, place, steps = run.mission.ground.start, run.mission.ground.reference, run.mission.launch
    longest = np.hypot(*(place - start).T).max()
    assert steps == int(np.ceil(longest / 7.0)) > 3
    for k in range(steps + 1):
        assert run.positions[k] == pytest.approx(start + k / steps * (place - start), abs=1e-12 * longest)
    assert np.array_equal(run.positions[0], start)
    assert np.array_equal(run.positions[steps], place)
    assert np.hypot(*np.diff(run.positions[: steps + 1], axis=0).transpose(2, 0, 1)).max() <= 7.0 * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_run_keeps_what_was_guaranteed(seed):
    flown, _ = pair(seed)
    run = tc.simulate(flown)
    found = tc.assign_places(flown.formation.start, flown.reference)
    kept = tc.separation(run.positions[: run.mission.launch + 1]).distance
    assert kept == pytest.approx(found.separation, rel=1e-9)
    assert kept >= found.guaranteed


def test_without_a_speed_it_is_one_step_and_with_steps_given_so_many():
    flown, _ = pair()
    assert Mission.of(flown.replace(control={"speed": None})).launch == 1
    assert Mission.of(flown.replace(formation={"launch": 40})).launch == 40


def test_who_stands_at_its_place_need_not_fly():
    reference, points = team(3, agents=20)
    order = np.random.default_rng(0).permutation(len(reference))
    there = tc.Scenario(
        formation={"positions": reference, "start": reference[order], "assign": True}, targets=points, steps=20
    )
    run, plain = tc.simulate(there), tc.simulate(tc.Scenario(reference=reference, targets=points, steps=20))
    assert run.mission.launch == 0
    assert np.array_equal(order[run.mission.pads], np.arange(len(reference)))
    assert np.array_equal(run.positions, plain.positions)


@pytest.mark.parametrize("motion", ["reach", "walk"])
@pytest.mark.parametrize("anchors", [None, "paths", "fit"])
def test_from_the_launch_on_all_is_as_without(motion, anchors):
    """To the bit, cells and weights included: the network's first step is step K."""
    flown, plain = pair(seed=5, control={"motion": motion, "resolution": 5})
    network = tc.build_network(plain.reference)
    places = plain.reference[network.anchors]
    if anchors is not None:
        moved = np.stack([places, places * 1.01, places * 1.02])
        given = {"paths": {"paths": moved}, "fit": {"fit": True}}[anchors]
        flown, plain = flown.replace(anchors=given), plain.replace(anchors=given)
    run, other = tc.simulate(flown), tc.simulate(plain)
    steps = run.mission.launch
    assert run.steps == other.steps + steps
    assert run.mission.last_change == other.mission.last_change + steps
    for name in ("positions", "state", "goal_cell", "next_cell", "weights", "miss", "settled", "present"):
        assert np.array_equal(run.read(name, steps), other.read(name)), name
    assert run.settled_at == other.settled_at + steps
    assert run.converged
    assert np.array_equal(run.anchors, other.anchors)
    assert np.array_equal(run.desired, other.desired)


def test_in_the_launch_there_are_no_cells_and_no_weights_and_nobody_is_settled():
    for motion, vehicle in (("reach", "exact"), ("walk", "exact"), ("reach", "anywhere")):
        flown, _ = pair(control={"motion": motion, "resolution": 5, "tolerance": 1e6}, vehicle=vehicle)
        taken = list(tc.steps(flown))
        run = tc.simulate(flown)
        steps = run.mission.launch
        for name in ("state", "goal_cell", "next_cell"):
            assert (run.read(name, 0, steps) == -2).all()
            assert (run.read(name, steps, steps + 1) != -2).any()
        assert not run.weights[:steps].any()
        assert run.weights[steps].any()
        assert not run.misses.any()
        assert not run.read("settled", 0, steps).any()
        assert run.read("settled", steps).all()
        assert {step.layers for step in taken[1 : steps + 1]} == {0}
        assert taken[steps + 1].layers > 0
        left = np.hypot(*(run.mission.ground.reference - run.positions[0]).T).max()
        assert taken[1].largest_error == pytest.approx(left)


def test_targets_move_by_the_clock_of_the_run():
    flown, plain = pair(seed=1)
    points = np.asarray(plain.targets.positions)
    paths = points + np.arange(60)[:, None, None] * [0.3, -0.2]
    run = tc.simulate(flown.replace(targets={"motion": {"paths": paths}}))
    steps = run.mission.launch
    assert steps > 2
    later = plain.replace(targets={"positions": paths[steps], "motion": {"paths": paths[steps:]}})
    other = tc.simulate(later)
    assert np.array_equal(run.positions[steps:], other.positions[: len(run.positions) - steps])


def test_a_polygon_is_fitted_to_the_targets_that_the_network_finds():
    flown, plain = pair(seed=1, anchors="fit")
    points = np.asarray(plain.targets.positions)
    mission = Mission.of(flown.replace(targets={"motion": {"velocity": [1.0, 0.0]}}))
    later = Mission.of(plain.replace(targets=points + mission.launch * np.array([1.0, 0.0])))
    assert mission.epochs[0].told.paths == pytest.approx(later.epochs[0].told.paths, abs=1e-9)


def test_events_come_after_the_launch():
    flown, plain = pair(seed=5)
    network = tc.build_network(plain.reference)
    lost = [int(network.boundary[0]), int(network.followers[1])]
    steps = Mission.of(flown).launch

    def leaving(scenario, step):
        return scenario.replace(events={"leave": [{"step": step, "agents": lost}]})

    for step in (0, steps - 1):
        with pytest.raises(InputError, match=f"events at step {step}: the team is on its way from the pads until"):
            Mission.of(leaving(flown, step))
    for step in (0, 2):
        run, other = tc.simulate(leaving(flown, steps + step)), tc.simulate(leaving(plain, step))
        assert np.array_equal(run.positions[steps:], other.positions)
        assert np.array_equal(run.present[steps:], other.present)
        assert np.array_equal(run.anchors, other.anchors)


def test_a_run_may_end_in_its_launch():
    flown, _ = pair()
    with pytest.warns(SafetyWarning, match="and the scenario has only 2"):
        run = tc.simulate(flown.replace(steps=2))
    assert (run.steps, run.settled_at, run.converged) == (2, None, False)
    certificate = tc.certify(run)
    assert not certificate.holds
    assert "There is no step after the launch of" in certificate["evidence"].summary


# -- on its own, stored, written down -------------------------------------------------------------------------------


def test_nobody_listens_to_anybody():
    """What is heard makes no difference, and nothing is heard; one alone decides as in the team."""
    for motion in ("reach", "walk"):
        flown, _ = pair(control={"motion": motion, "resolution": 5})
        mission = Mission.from_json(Mission.of(flown).to_json())
        for step in list(tc.steps(mission))[:3]:
            state = step.state
            memory = mission.memory_at(mission.start().positions)
            told, agents = mission.epochs[0].told, np.arange(mission.agents)
            view = view_of(mission, state, agents)
            assert np.isnan(view.heard).all()
            together = decide(view, told, memory)
            shouted = View(state.step, agents, view.positions, np.ones_like(view.heard), view.seen)
            assert np.array_equal(decide(shouted, told, memory).setpoints, together.setpoints)
            for agent in (0, 7):
                one = decide(view.rows(np.array([agent])), told, {"place": memory["place"][[agent]]})
                assert np.array_equal(one.setpoints[0], together.setpoints[agent])


def test_the_network_begins_with_a_new_memory():
    """What agents remember from then on is where they were when it came into use, and not their pads."""
    flown, _ = pair()
    mission = Mission.of(flown)
    states = [step.state for step in tc.steps(mission)]
    for state in states[1 : mission.launch + 1]:
        assert np.array_equal(state.memory["place"], mission.ground.start)
    assert np.array_equal(states[mission.launch + 1].memory["place"], mission.ground.reference)


def test_the_shortcut_changes_nothing():
    flown, _ = pair(seed=5)
    for one, other in zip(tc.steps(flown), tc.steps(flown, decide_all=decide_all), strict=True):
        assert np.array_equal(one.positions, other.positions)


@pytest.mark.parametrize("vehicle", ["exact", {"kind": "quadrotor", "duration": 6.0, "max_speed": 8.0}])
def test_a_launch_survives_whatever_a_scenario_survives(tmp_path, vehicle):
    flown, _ = pair(vehicle=vehicle, steps=40)
    run = tc.simulate(flown)
    mission = run.mission
    whole = mission.self_contained()
    assert whole.formation.assign
    assert whole.formation.launch == mission.launch
    assert np.array_equal(whole.formation.pads, mission.pads)
    whole.save(tmp_path / "whole.toml")
    flown.save(tmp_path / "flown.toml")
    others = [
        Mission.of(whole),
        Mission.of(tc.Scenario.load(tmp_path / "whole.toml")),
        Mission.of(tc.Scenario.load(tmp_path / "flown.toml")),
        Mission.from_json(mission.to_json()),
        pickle.loads(pickle.dumps(mission)),
    ]
    for other in others:
        assert np.array_equal(other.pads, mission.pads)
        assert other.launch == mission.launch
        assert other.epochs[0].told.launch == mission.launch
        assert np.array_equal(tc.simulate(other).positions, run.positions)
        assert np.array_equal(other.self_contained().formation.start, flown.formation.start)


def test_a_run_that_is_cut_in_its_launch_goes_on(tmp_path):
    flown, _ = pair()
    whole = tc.simulate(flown)

    def stop(progress):
        if progress.step == 2:
            raise KeyboardInterrupt

    part = tc.simulate(flown, tmp_path / "run", progress=stop)
    assert part.interrupted
    assert part.steps < whole.mission.launch
    run = tc.simulate(flown, tmp_path / "run", resume=True)
    assert np.array_equal(run.positions, whole.positions)
    opened = tc.Run.open(tmp_path / "run")
    assert np.array_equal(opened.mission.pads, whole.mission.pads)
    assert opened.mission.launch == whole.mission.launch
    assert np.array_equal(opened.weights, whole.weights)
    assert opened.summary()["launch"] == whole.mission.launch
    assert tc.certify(opened).holds


def test_tables_say_who_had_which_pad(tmp_path):
    import xarray

    flown, _ = pair(events={"join": [{"step": 30, "reference": [[-0.3, 0.4]]}]})
    run = tc.simulate(flown, tmp_path / "run")
    pads = run.to_xarray().launch_pad.values.tolist()
    assert pads == [*run.mission.pads.tolist(), -1]
    assert xarray.open_zarr(tmp_path / "run").launch_pad.values.tolist() == pads


def test_a_forged_mission_is_refused():
    flown, _ = pair()
    plain = json.loads(Mission.of(flown).to_json())
    plain["epochs"][0]["told"]["launch"] += 1
    with pytest.raises(FileFormatError, match="its agents launch for"):
        Mission.from_json(json.dumps(plain))
    plain["epochs"][0]["told"]["launch"] = -1
    with pytest.raises(InputError, match="launch must be a whole number of steps"):
        Mission.from_json(json.dumps(plain))


# -- vehicles -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "most"), [("quadrotor", 0.06), ("unicycle", 0.0), ("double-integrator", 0.3), ("anywhere", 0.0)]
)
def test_vehicles_get_as_many_steps_as_they_need(kind, most):
    flown, _ = pair(speed=None, vehicle={"kind": kind, "duration": 5.0})
    run = tc.simulate(flown.replace(steps=60))
    steps = run.mission.launch
    assert run.misses[:steps].max() <= most
    if kind == "anywhere":
        assert steps == 1
        return
    way = np.hypot(*(run.mission.ground.reference - run.mission.ground.start).T).max()
    vehicle = run.mission.vehicle
    assert way / steps < vehicle.max_speed * 5.0
    assert way / steps > 0.2 * vehicle.max_speed * 5.0
    rushed = tc.simulate(flown.replace(formation={"launch": max(steps // 2, 1)}, steps=60))
    assert rushed.misses[: rushed.mission.launch].max() > 10 * max(most, 0.01)


@pytest.mark.parametrize(("speed", "turn_rate", "duration"), [(1.0, 2.0, 10.0), (3.0, 1.0, 2.0), (0.5, 0.4, 1.5)])
def test_a_wheeled_robot_turns_first_and_then_keeps_up(speed, turn_rate, duration):
    """In eight steps it drives for all but the time of half a turn."""
    vehicle = {"kind": "unicycle", "max_speed": speed, "max_turn_rate": turn_rate, "duration": duration}
    mission = Mission.of(pair(speed=None, vehicle=vehicle)[0])
    way = np.hypot(*(mission.ground.reference - mission.ground.start).T).max()
    assert mission.launch == int(np.ceil(8 * way / (speed * (8 * duration - np.pi / turn_rate))))


@dataclass(frozen=True)
class Sluggish:
    """Goes nine tenths of the way that is left, three metres at most."""

    kind = "sluggish"
    landing = "anywhere"
    state_size = 2

    def initial_state(self, positions):
        return np.array(positions, dtype=np.float64)

    def output(self, states):
        return states.copy()

    def drive(self, states, reach_sets, duration, draws):
        ways = reach_sets[:, 0] - states
        lengths = np.maximum(np.hypot(*ways.T), 1e-300)[:, None]
        return states + ways * np.minimum(0.9, 3.0 / lengths)


def test_a_vehicle_that_is_always_a_little_late_keeps_up():
    flown, _ = pair(speed=None, vehicle=Sluggish())
    run = tc.simulate(flown)
    steps = run.mission.launch
    way = np.hypot(*(run.mission.ground.reference - run.mission.ground.start).T).max()
    assert way / 3.0 <= steps <= 1.1 * way / 3.0
    assert run.misses[:steps].max() <= 0.2 * way / steps


def test_of_several_kinds_the_slowest_counts():
    slow = {"kind": "unicycle", "max_speed": 0.5}
    flown, _ = pair(speed=None, vehicle={**slow, "duration": 10.0})
    mixed, _ = pair(speed=None, vehicle={"kind": "exact", "duration": 10.0, "others": [{"agents": [2], **slow}]})
    alone = Mission.of(flown).launch
    assert Mission.of(mixed).launch == alone > 1
    assert Mission.of(mixed.replace(control={"speed": 0.5})).launch > alone


# -- what is said before the run ------------------------------------------------------------------------------------


def test_what_is_guaranteed_is_said_and_what_is_in_the_way_named():
    reference = np.array([[0.0, 0], [40, 0], [40, 40], [0, 40], [19, 20], [22, 20]])
    pads = np.array([[-9.0, 0], [-9, 4], [-9, 8], [-9, 10], [-9, 14], [-9, 18]])
    made = tc.Scenario(formation={"positions": reference, "start": pads, "assign": True}, targets=reference)
    said = launch_summary(Mission.of(made))
    assert launch_notices(Mission.of(made)) == []
    assert said.startswith("1 step from the pads, at most ")
    assert said.endswith("at least 1.66 m apart, 1.41 m by the theorem")
    assert launch_notices(Mission.of(made.replace(safety={"separation": 1.41}))) == []
    more = launch_notices(Mission.of(made.replace(safety={"separation": 1.5})))
    assert more == ["pads 2 and 3 are 2 m apart: 2.12 m, √2 times the separation, would be needed for a guarantee"]
    more = launch_notices(Mission.of(made.replace(safety={"separation": 2.5}, steps=1)))
    assert [line.split(" are ")[0] for line in more[:2]] == ["pads 2 and 3", "places 4 and 5"]
    assert more[2].endswith("come within 1.66 m on the way from the pads: less than 2.5 m")
    assert more[3] == "the launch takes 1 step, and the scenario has only 1"


def test_the_example_flies_from_its_pads():
    made = tc.Scenario.load(EXAMPLE)
    run = tc.simulate(made)
    assert run.converged
    assert run.mission.launch == 16
    assert run.separation.distance > made.safety.separation
    assert tc.certify(run).holds
    assert launch_notices(run.mission) == []
