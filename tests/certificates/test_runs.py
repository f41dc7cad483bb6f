"""Certificates of runs hold: hundreds of random teams, both motions, all vehicles; and bounds before a run."""

import numpy as np
import pytest

import tricover as tc
from tests.certificates.flights import roster
from tricover.certificates import log_of_run

GOALS = ("centroid", "reference", "predictive", "rollout")


def scenario(seed, **changes):
    """A small team with everything drawn from the seed."""
    rng = np.random.default_rng([seed, 5])
    reference = roster(seed, int(rng.integers(7, 22)))
    extent, mentee = np.ptp(reference, axis=0), ("fermat", "balanced")[seed % 2]
    targets = reference.min(axis=0) + rng.uniform(-0.1, 1.1, (int(rng.integers(1, 80)), 2)) * extent
    settings = {"reference": reference, "targets": targets, "network": {"mentee": mentee}, "seed": seed, "steps": 60}
    motion, margin = ("reach", "walk")[seed // 2 % 2], (0.05, 0.0, 0.2)[seed % 3]
    settings["control"] = {"motion": motion, "goal": GOALS[seed % 4], "resolution": seed % 7 + 1, "margin": margin}
    settings["vehicle"] = ("exact", "anywhere")[seed // 4 % 2]
    network = tc.build_network(reference, mentee)
    if seed % 5 == 0:  # anchors that have to go to their places first
        settings["anchors"] = network.reference[network.anchors] * 1.1 + 0.05 * extent * rng.random(2)
    if seed % 7 == 0 and len(network.followers):
        settings["events"] = {"leave": [{"step": 3, "agents": [int(network.followers[0])]}]}
    elif seed % 7 == 1:
        joining = reference.mean(axis=0) + 0.01 * extent * rng.random((2, 2))
        settings["events"] = {"join": [{"step": 4, "reference": joining}]}
    return tc.Scenario(**{**settings, **changes})


def settled(run):
    """The first step of the last network from which on all followers are at their desired positions."""
    start, network = run.epochs[-1].start, run.network
    away = np.abs(run.positions - run.desired)[:, network.followers]
    moving = np.flatnonzero((away > 1e-12 * np.abs(run.positions).max()).any(axis=(1, 2)))
    return max(start, moving[-1] + 1 if moving.size else 0)


@pytest.mark.parametrize("batch", range(20))
def test_hundreds_of_random_teams(batch):
    for seed in range(11 * batch, 11 * batch + 11):
        made = scenario(seed)
        run = tc.simulate(made)
        found, promised = tc.certify(run), tc.certify(made)
        followers = any(len(epoch.network.followers) for epoch in run.epochs)
        assert found.holds == followers, f"seed {seed}\n{found}"
        assert promised.holds == bool(len(run.mission.epochs[-1].network.followers))
        if not promised.layers:
            continue
        if found["theorem3"].verdict == "holds":
            assert found["theorem3"].figures["settled"] <= promised["theorem3"].figures["bound"]
            assert found["theorem3"].figures["settled"] == settled(run)
        rounding = 1e-9 * np.ptp(made.reference)
        for measured, bound in zip(found.layers, promised.layers, strict=True):
            assert measured.bound <= bound.bound
            if measured.distance is not None and bound.radius is not None:
                assert measured.distance <= bound.radius + rounding


@pytest.mark.parametrize("motion", ["reach", "walk"])
@pytest.mark.parametrize(
    ("kind", "duration"), [("double-integrator", 60.0), ("unicycle", 120.0), ("quadrotor", 25.0), ("rotorpy", 2.0)]
)
def test_every_vehicle_that_has_time_enough(kind, duration, motion):
    rng = np.random.default_rng(3)
    size, inner, steps = (2.0, 1, 1) if kind == "rotorpy" else (60.0, 8, 6)
    corners = [[0, 0], [size, 0], [size, size], [0, size], [size / 2, size / 2]]
    reference = np.concatenate([corners, rng.uniform(0.2 * size, 0.8 * size, (inner, 2))])
    targets = rng.uniform(0, size, (200, 2))
    control = {"motion": motion, "resolution": 2, "margin": 0.02}
    vehicle = {"kind": kind, "duration": duration, **({"control_period": 0.02} if kind == "rotorpy" else {})}
    made = tc.Scenario(
        reference=reference,
        targets=targets,
        network={"mentee": "balanced"},
        control=control,
        vehicle=vehicle,
        steps=steps,
    )
    found = tc.certify(tc.simulate(made))
    assert found.holds, found
    assert found["theorem1"].figures["rows"] >= 1
    assert (found["C1"].verdict == "holds") == (motion == "walk")


def test_mixed_teams_know_who_is_exact():
    rng = np.random.default_rng(8)
    vehicle = {"kind": "anywhere", "others": [{"kind": "exact", "agents": list(range(0, 30, 2))}]}
    control = {"motion": "walk", "resolution": 6, "goal": "reference"}
    made = tc.Scenario(reference=rng.random((30, 2)), targets=[[0, 0]], control=control, vehicle=vehicle, steps=120)
    log = log_of_run(tc.simulate(made))
    assert log.exact.tolist() == [agent % 2 == 0 for agent in range(30)]
    assert log.ideal.all()
    found = tc.certify(made)
    first = log.epochs[0].network.layers[1]
    assert (found.neighbourhood.radii[first] == 0).tolist() == (first % 2 == 0).tolist()


def test_moving_targets_and_anchors_until_the_end_promise_nothing_about_the_limit():
    rng = np.random.default_rng(2)
    points = rng.random((20, 2))
    made = tc.Scenario(
        reference=rng.random((14, 2)), targets={"positions": points, "motion": {"velocity": [0.01, 0]}}, steps=15
    )
    found = tc.certify(tc.simulate(made))
    assert found.holds
    assert found["theorem3"].verdict == found["neighbourhood"].verdict == "does not apply"
    assert tc.certify(made)["theorem3"].verdict == "does not apply"


def test_anchors_on_paths_count_from_their_arrival():
    rng = np.random.default_rng(6)
    reference = rng.random((16, 2))
    network = tc.build_network(reference)
    places = reference[network.anchors]
    paths = np.array([places + 0.02 * step for step in range(6)])
    found = tc.certify(tc.simulate(tc.Scenario(reference=reference, targets=rng.random((30, 2)), anchors=paths)))
    assert found.holds
    assert found["anchors"].figures["arrived"] == 6
    assert found["theorem3"].figures["bound"] == 6 + network.depth


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("motion", ["reach", "walk"])
def test_losing_an_anchor_makes_another_one(given, motion):
    rng = np.random.default_rng(9)
    reference = rng.random((25, 2))
    network = tc.build_network(reference)
    made = tc.Scenario(
        reference=reference,
        targets=rng.random((60, 2)),
        anchors=1.2 * reference[network.anchors] if given else None,
        control={"motion": motion, "resolution": 3},
        events={"leave": [{"step": 6, "agents": [int(network.boundary[0])]}]},
        steps=200,
    )
    run, promised = tc.simulate(made), tc.certify(made)
    found = tc.certify(run)
    assert found.holds, found
    assert found["theorem3"].figures["settled"] == settled(run) <= promised["theorem3"].figures["bound"]
    assert (promised.neighbourhood is None) == given


def test_a_run_without_steps_or_followers():
    square = [[0, 0], [4, 0], [4, 4], [0, 4], [2, 2]]
    for steps in (0, 3):
        made = tc.Scenario(reference=square, targets=[[1, 1]], steps=steps)
        found = tc.certify(tc.simulate(made))
        assert not found.holds
        assert {claim.key for claim in found if claim.verdict == "fails"} == {"evidence"}
        assert {claim.key for claim in found if claim.verdict == "holds"} == ({"anchors"} if steps else set())
        assert not tc.certify(made).holds
    assert tc.certify(tc.Scenario(reference=[*square, [1, 2]], targets=[[1, 1]])).holds


@pytest.mark.parametrize(("kind", "size", "verdict"), [("double-integrator", 1.0, "holds"), ("unicycle", 1e4, "fails")])
def test_before_a_run_the_smallest_and_largest_cells_are_held_against_the_vehicle(kind, size, verdict):
    reference = size * np.array([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]])
    vehicle = {"kind": kind, "duration": 20.0}
    made = tc.Scenario(reference=reference, targets=[[1, 1]], control={"motion": "walk"}, vehicle=vehicle)
    claim = tc.certify(made)["vehicle"]
    assert claim.verdict == verdict
    assert 0 < claim.figures["smallest"] < claim.figures["largest"] < 4 * size / 35


def test_the_bound_on_the_radius_is_not_for_every_layer():
    """Deep layers are carried out of their cells by in-neighbours that land anywhere: only containment is sure."""
    rng = np.random.default_rng(0)
    control = {"motion": "walk", "resolution": 8, "goal": "reference"}
    made = tc.Scenario(reference=rng.random((40, 2)), targets=[[0, 0]], control=control, vehicle="anywhere", steps=300)
    found, network = tc.certify(made).neighbourhood, tc.build_network(made.reference)
    assert found.proper[network.layers[1]].all()
    assert not found.proper[network.layers[-1]].any()
    assert tc.certify(tc.simulate(made)).holds


def test_anchors_are_due_when_the_last_of_them_can_be_there():
    rng = np.random.default_rng(6)
    reference = rng.random((16, 2))
    network = tc.build_network(reference)
    places, targets = reference[network.anchors], rng.random((30, 2))
    common = {"reference": reference, "targets": targets, "steps": 12, "stop_when_settled": False}
    slow = {"kind": "double-integrator", "agents": [int(network.anchors[1])]}
    lost = {"leave": [{"step": 8, "agents": [int(network.followers[0])]}]}
    paths = np.array([places, places + 0.01, places + 0.02])
    for changes, due in (
        ({}, [0]),
        ({"anchors": places + 0.1}, [1]),
        ({"anchors": paths}, [3]),
        ({"anchors": paths, "events": lost}, [3, 9]),
        ({"anchors": places + 0.1, "vehicle": {"kind": "exact", "others": [slow]}}, [None]),
    ):
        log = log_of_run(tc.simulate(tc.Scenario(**common, **changes)))
        assert [epoch.arrived for epoch in log.epochs] == due
