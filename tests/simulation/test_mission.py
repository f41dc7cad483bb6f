"""A mission is a scenario resolved: it travels, and gives the same run wherever it arrives."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import tricover as tc
from tests.simulation.teams import scenario, team
from tricover.certificates import certify, log_of_run
from tricover.control import Told
from tricover.errors import FileFormatError, InputError
from tricover.goals.anchors import anchor_positions
from tricover.simulation import Mission, telling
from tricover.simulation.record import ARRAYS
from tricover.simulation.resolve import still_from
from tricover.targets.motion import Steady, Track

EVENTS = {"leave": [{"step": 3, "agents": [7, 11]}], "join": [{"step": 5, "reference": [[0.45, 0.52]]}]}


def eventful(**settings):
    reference, targets = team(0, agents=40)
    moving = {"positions": targets, "motion": {"velocity": [0.01, 0.0], "until": 3}}
    return tc.Scenario(reference=reference, targets=moving, events=EVENTS, steps=25, **settings)


def assert_same(one, other):
    assert (one.steps, one.settled_at, one.converged) == (other.steps, other.settled_at, other.converged)
    for name in ARRAYS:
        np.testing.assert_array_equal(one.read(name), other.read(name), err_msg=name)
    np.testing.assert_array_equal(one.desired, other.desired)


COPIES = {
    "model_copy": lambda given: given.model_copy(update={"seed": 2}),
    "replace": lambda given: given.replace(seed=2),
    "copy": lambda given: copy.copy(given).replace(seed=2),
    "deepcopy": lambda given: copy.deepcopy(given).model_copy(update={"seed": 2}, deep=True),
    "pickle": lambda given: pickle.loads(pickle.dumps(given)).replace(seed=2),
    "validate": lambda given: tc.Scenario.model_validate({**given.values(), "seed": 2}),
}


@pytest.mark.parametrize("how", COPIES)
def test_no_copy_of_a_scenario_is_stale(how):
    made = {
        "formation": {"generator": "square", "agents": 20, "size": 2.0},
        "targets": {"generator": "clusters", "count": 80, "centres": [[0, 0]], "spread": 0.5},
    }
    given, fresh = tc.Scenario(**made, seed=1), tc.Scenario(**made, seed=2)
    first = tc.simulate(given)
    assert given.reference.shape == (20, 2)
    changed = COPIES[how](given)
    assert changed == fresh
    assert_same(tc.simulate(changed), tc.simulate(fresh))
    assert not np.array_equal(first.positions[0], tc.simulate(changed).positions[0])
    fewer = given.replace(targets={"count": 10})
    assert len(Mission.of(fewer).targets) == 10
    assert len(Mission.of(given).targets) == 80


def test_sections_are_merged_key_by_key_and_short_forms_replace_them():
    given = scenario(
        0, agents=20, control={"gamma": 0.9, "resolution": 7}, vehicle={"kind": "unicycle", "max_speed": 3}
    )
    other = given.replace(control={"motion": "walk", "gamma": None}, vehicle={"max_speed": 4.0}, name="other")
    assert (other.control.motion, other.control.resolution, other.control.gamma) == ("walk", 7, 0.95)
    assert (other.vehicle.kind, other.vehicle.made().max_speed, other.name) == ("unicycle", 4.0, "other")
    assert given.replace(vehicle="exact").vehicle == tc.Scenario(**given.values() | {"vehicle": "exact"}).vehicle
    moved = given.replace(reference=given.reference + 1)
    np.testing.assert_array_equal(moved.reference, given.reference + 1)
    assert given.replace() == given
    with pytest.raises(InputError, match=r"unknown key 'control\.gama'; did you mean 'gamma'"):
        given.replace(control={"gama": 0.5})
    with pytest.raises(ValueError, match="gamma"):
        given.control.model_copy(update={"gamma": 2.0})
    with pytest.raises(InputError, match="seed"):
        given.replace(seed=-1)


@pytest.mark.parametrize("vehicle", ["exact", "anywhere"])
def test_everything_can_be_pickled_at_any_time(tmp_path, vehicle):
    given = eventful(vehicle=vehicle)
    before = pickle.dumps(given)
    run = tc.simulate(given)
    certificate = certify(run)
    run.targets.in_triangles(np.zeros((1, 3, 2)))
    stored = tc.simulate(given, tmp_path / "run.zarr")
    for subject in (given, run.mission, run.network, run.targets, run.mission.targets, run, stored, log_of_run(run)):
        pickle.loads(pickle.dumps(subject))
    assert pickle.loads(before) == pickle.loads(pickle.dumps(given)) == given
    assert pickle.loads(pickle.dumps(run.network)) == run.network
    assert_same(tc.simulate(pickle.loads(pickle.dumps(run.mission))), run)
    for kept in (run, stored):
        again = pickle.loads(pickle.dumps(kept))
        assert_same(again, run)
        assert certify(again).to_json() == certificate.to_json()
    log = pickle.loads(pickle.dumps(log_of_run(run)))
    assert certify(log).to_json() == certificate.to_json()
    counts, sums = pickle.loads(pickle.dumps(run.targets)).in_triangles(run.network.reference[:3])
    wanted, wanted_sums = run.targets.in_triangles(run.network.reference[:3])
    assert (counts, sums.tolist()) == (wanted, wanted_sums.tolist())


@pytest.mark.parametrize("goal", ["centroid", "predictive", "rollout", "reference"])
@pytest.mark.parametrize("anchors", [None, "fit", "given"])
def test_a_mission_goes_through_json_and_gives_the_same_run(goal, anchors):
    given = eventful(control={"goal": goal, "motion": "walk", "resolution": 6}, vehicle="anywhere")
    if anchors is not None:
        first = Mission.of(given).epochs[0].network
        given = given.replace(anchors=first.reference[first.anchors] * 1.5 if anchors == "given" else anchors)
    mission = Mission.of(given)
    again = Mission.from_json(mission.to_json())
    assert [epoch.start for epoch in again.epochs] == [0, 3, 5]
    for one, other in zip(again.epochs, mission.epochs, strict=True):
        assert one.network == other.network
        np.testing.assert_array_equal(one.told.paths, other.told.paths)
    assert_same(tc.simulate(again), tc.simulate(mission))


def test_what_is_no_mission_is_named():
    given = scenario(0, agents=12)
    with pytest.raises(FileFormatError, match="not the text of a mission"):
        Mission.from_json("{}")
    with pytest.raises(FileFormatError, match="not what agents were told"):
        Told.from_json('{"network": 3}')
    own = Mission.of(given.replace(control={"goal": lambda network: None}))
    with pytest.raises(InputError, match="cannot be written down"):
        own.to_json()
    with pytest.raises(InputError, match="motion must be 'reach' or 'walk' or 'morph', not 'fly'"):
        Told(own.epochs[0].network, own.epochs[0].told.paths, motion="fly")


def test_arrays_that_are_handed_out_cannot_be_changed(tmp_path):
    given = scenario(0, agents=20, control={"motion": "walk", "resolution": 5}, vehicle="anywhere")
    for run in (tc.simulate(given), tc.simulate(given, tmp_path / "run.zarr")):
        before = run.positions.copy()
        for name in ARRAYS:
            for values in (run.read(name, 3, 4), run.read(name)):
                with pytest.raises(ValueError, match="read-only"):
                    values[...] = 0
        for array in (
            given.reference,
            run.network.reference,
            run.mission.ground.reference,
            run.mission.start().positions,
        ):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
        np.testing.assert_array_equal(run.read("positions"), before)
    for step in tc.steps(given):
        with pytest.raises(ValueError, match="read-only"):
            step.positions[...] = 0


def test_nothing_outlives_a_run():
    run = tc.simulate(scenario(0, agents=20))
    run.read("weights")
    network = weakref.ref(run.network)
    del run
    gc.collect()
    assert network() is None


def test_a_mission_from_json_builds_no_network(monkeypatch):
    text = Mission.of(eventful()).to_json()

    def fail(*_):
        raise AssertionError("a network was built")

    monkeypatch.setattr(telling, "build_network", fail)
    assert len(Mission.from_json(text).epochs) == 3


def test_anchors_are_fitted_to_the_targets_of_the_moment():
    """Each epoch's to the targets as they stand when it begins; at the latest as they stand for good."""
    given = eventful(anchors="fit")
    mission = Mission.of(given)
    start = mission.targets.points
    for epoch in mission.epochs:
        moved = tc.Targets(start + np.array([0.01, 0.0]) * min(epoch.start, 3))
        np.testing.assert_array_equal(epoch.told.paths, anchor_positions(epoch.network, moved, "fit")[None])
    first, last = mission.epochs[1].network, mission.epochs[1].told.paths[0]
    assert not np.array_equal(last, anchor_positions(first, tc.Targets(start), "fit"))


def test_a_tolerance_of_nothing_is_a_tolerance():
    assert Mission.of(scenario(0, agents=20, vehicle="unicycle", control={"tolerance": 0.0})).tolerance == 0.0


def test_sections_that_were_not_there_and_that_are_taken_back():
    given = scenario(0, agents=20)
    fitted = given.replace(anchors={"fit": True}, name="fitted")
    assert fitted.anchors.fit
    assert fitted.replace(anchors=None).anchors is None
    assert fitted.replace(name=None).name == "scenario"
    both = given.replace(formation={"start": given.reference + 1})
    np.testing.assert_array_equal(both.reference, given.reference)
    other = both.replace(reference={"positions": given.reference * 2})
    np.testing.assert_array_equal(other.reference, given.reference * 2)
    np.testing.assert_array_equal(other.formation.start, given.reference + 1)
    short = both.replace(reference=given.reference * 2)
    assert short.formation.start is None
    own = given.replace(targets={"positions": given.targets.positions[:3]})
    assert len(Mission.of(own).targets) == 3
    np.testing.assert_array_equal(both.self_contained().formation.start, given.reference + 1)


def test_where_the_origin_is_stays_with_the_scenario():
    given = scenario(0, agents=20, origin=[8.5, 47.4])
    inside = given.self_contained()
    np.testing.assert_array_equal(inside.origin, [8.5, 47.4])
    plane = Mission.of(given).projection
    assert (plane.longitude, plane.latitude) == (8.5, 47.4)
    made = {"generator": "clusters", "count": 9, "centres": [[0, 0]], "spread": 0.5}
    assert Mission.of(given.replace(targets={**made, "positions": None})).projection == plane


def test_points_of_team_and_targets_made_by_rule_are_independent():
    corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
    given = tc.Scenario(
        formation={"generator": "square", "agents": 2000, "size": 2.0},
        targets={"generator": "polygon", "count": 2000, "corners": corners},
        seed=4,
    )
    team_made, targets = given.reference, Mission.of(given).targets.points
    assert len(np.intersect1d(team_made[8:].ravel(), targets.ravel())) == 0
    with pytest.raises(ValueError, match="read-only"):
        team_made[0] = 0


def test_when_targets_stand_still():
    points = np.zeros((4, 2))
    track = Track(np.zeros((8, 4, 2)))
    active = np.array([[0, 5], [2, 9], [0, 30], [0, 1000]])
    steady = Steady(points, np.array([1.0, 0.0]), 12)
    for wanted, steps, settings in [
        (0, 20, {}),
        (9, 20, {"active": active}),
        (30, 30, {"active": active}),
        (9, 29, {"active": active}),
        (7, 20, {"motion": track}),
        (3, 3, {"motion": track}),
        (9, 20, {"motion": track, "active": active}),
        (12, 20, {"motion": steady}),
        (12, 20, {"motion": steady, "active": active}),
        (30, 40, {"motion": steady, "active": active}),
        (6, 6, {"motion": steady}),
        (20, 20, {"motion": Steady(points, np.array([1.0, 0.0]), None)}),
    ]:
        assert still_from(tc.Targets(points, **settings), steps) == wanted, settings


def to_the_first_corner(network):
    """A goal rule of a user's: what it makes for a network cannot be pickled, it itself can."""
    return lambda agents, triangles, targets: triangles[:, 0]


def test_what_follows_from_the_constants_does_not_travel():
    run = tc.simulate(scenario(0, agents=20, control={"goal": to_the_first_corner, "motion": "walk"}))
    again = pickle.loads(pickle.dumps(run.mission))
    assert_same(tc.simulate(again), run)
    told = run.epochs[0].told
    assert {"local_goal", "grid"} <= vars(told).keys()
    assert not {"local_goal", "grid"} & vars(pickle.loads(pickle.dumps(told))).keys()


def test_targets_of_a_file_over_time_move_in_the_run(tmp_path):
    reference, points = team(0, agents=20)
    paths = points + np.array([0.02, 0.01]) * np.arange(6)[:, None, None]
    np.save(tmp_path / "targets.npy", paths)
    given = tc.Scenario(reference=reference, targets=tmp_path / "targets.npy")
    told = given.replace(targets={"file": None, "positions": points, "motion": {"paths": paths}})
    run = tc.simulate(given)
    assert_same(run, tc.simulate(told))
    assert run.steps > 5
    np.testing.assert_array_equal(run.targets.points, paths[-1])
    assert given.self_contained() == told.self_contained()


def test_targets_of_a_file_keep_their_weights(tmp_path):
    reference, points = team(0, agents=20)
    weights = np.random.default_rng(0).integers(1, 9, len(points)).astype(float)
    tc.Targets(points, weights).to_file(tmp_path / "targets.csv")
    given = tc.Scenario(reference=reference, targets=tmp_path / "targets.csv")
    run = tc.simulate(given)
    np.testing.assert_array_equal(run.targets.weights, weights)
    assert not np.array_equal(run.positions[-1], tc.simulate(given.replace(targets=points)).positions[-1])
    even = given.replace(targets={"weights": np.ones(len(points))})
    np.testing.assert_array_equal(Mission.of(even).targets.weights, 1.0)
