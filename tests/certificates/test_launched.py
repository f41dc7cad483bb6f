"""Theorems are about what comes after the launch, and about all of that."""

import numpy as np
import pytest

import tricover as tc
from tests.certificates.flights import flight
from tests.certificates.test_tables import plain, written
from tricover.certificates import Settings, certify, log_of, log_of_run, read_log, transition_matrices, with_scenario
from tricover.errors import InputError, SafetyWarning
from tricover.simulation import Mission


def scenario(**changes):
    rng = np.random.default_rng(3)
    reference = np.concatenate([[[0, 0], [40, 0], [40, 40], [0, 40], [20, 20]], rng.uniform(4, 36, (15, 2))])
    pads = 4.0 * np.stack([np.arange(20) % 5, np.arange(20) // 5], axis=1) - [60, 0]
    start = {"positions": reference, "start": rng.permutation(pads), "assign": True}
    made = tc.Scenario(formation=start, targets=rng.uniform(0, 40, (50, 2)), control={"speed": 9.0, "resolution": 5})
    return made.replace(**changes)


def without(made):
    return made.replace(formation={"start": None, "assign": False})


@pytest.mark.parametrize("motion", ["reach", "walk"])
@pytest.mark.parametrize("anchors", [False, True])
def test_a_launch_shifts_every_step_and_changes_no_verdict(motion, anchors):
    made = scenario(control={"motion": motion})
    if anchors:
        network = tc.build_network(made.reference)
        places = made.reference[network.anchors]
        made = made.replace(anchors={"paths": np.stack([places, places * 1.01, places * 1.02])})
    run, other = tc.simulate(made), tc.simulate(without(made))
    launch = run.mission.launch
    found, expected = certify(run), certify(other)
    assert found.holds
    assert [(claim.key, claim.verdict) for claim in found] == [(claim.key, claim.verdict) for claim in expected]
    for key in ("settled", "bound"):
        assert found["theorem3"].figures[key] == expected["theorem3"].figures[key] + launch
    assert found["theorem1"].figures["rows"] == expected["theorem1"].figures["rows"]
    assert found["anchors"].figures["arrived"] == expected["anchors"].figures["arrived"] + launch
    assert found["containment"].figures["since"] == expected["containment"].figures["since"] + launch
    assert np.array_equal(found.contraction.measured, expected.contraction.measured)
    evidence = found["evidence"]
    assert evidence.figures["launched"] == launch
    assert evidence.figures["landings"] == expected["evidence"].figures["landings"]
    assert f"after a launch of {launch}" in evidence.summary
    before, promised = tc.certify(made)["theorem3"].figures, tc.certify(without(made))["theorem3"].figures
    assert before["bound"] == promised["bound"] + launch
    assert found["theorem3"].figures["bound"] == before["bound"]


def test_what_happens_in_the_launch_is_no_matter_of_the_theorems():
    rng = np.random.default_rng(0)
    network = tc.build_network(rng.random((20, 2)))
    followed = flight(network, 6)
    wild = rng.normal(size=(4, 20, 2)) * 100
    positions = np.concatenate([wild, followed])
    log = log_of(positions, network, launched=4)
    assert log.launched == 4
    assert certify(log).holds
    matrices, expected = list(transition_matrices(log)), list(transition_matrices(log_of(followed, network)))
    assert len(matrices) == len(expected) == 6
    assert all((one != other).nnz == 0 for one, other in zip(matrices, expected, strict=True))
    for launched in (0, 3):
        assert (
            certify(log_of(np.concatenate([wild, followed]), network, launched=launched))["theorem1"].verdict == "fails"
        )


def test_the_first_step_of_the_network_is_looked_at():
    rng = np.random.default_rng(0)
    network = tc.build_network(rng.random((20, 2)))
    positions = np.concatenate([rng.normal(size=(4, 20, 2)), flight(network, 6)])
    positions[5, network.followers[0]] += 50.0
    faults = certify(log_of(positions, network, launched=4))["theorem1"].faults
    assert faults[0].step == 4
    moved = np.concatenate([rng.normal(size=(4, 20, 2)), flight(network, 6)])
    moved[4, network.anchors[0]] += 1.0
    assert certify(log_of(moved, network, launched=4))["anchors"].verdict == "fails"


def test_repairs_come_after_the_launch():
    rng = np.random.default_rng(0)
    network = tc.build_network(rng.random((20, 2)))
    other = network.without([int(network.followers[0])])
    positions = np.concatenate([rng.normal(size=(4, 20, 2)), flight(network, 2), np.zeros((3, 20, 2))])
    positions[7:] = flight(other, 3, start=positions[6])[1:]
    log = log_of(positions, [(0, network), (6, other)], launched=4)
    assert [epoch.start for epoch in log.epochs] == [4, 6]
    assert certify(log)["theorem1"].verdict == "holds"
    with pytest.raises(InputError, match="a launch of 7 steps goes on after the network of step 6"):
        log_of(positions, [(0, network), (6, other)], launched=7)
    for launched in (10, -1):
        with pytest.raises(InputError, match=f"a launch of {launched} steps goes on after the end, step 9"):
            log_of(positions, network, launched=launched)
    with pytest.raises(InputError, match="ascending first steps from 0 on"):
        log_of(positions, [(1, network)])


@pytest.mark.parametrize("vehicle", ["exact", {"kind": "unicycle", "duration": 20.0}])
def test_with_its_scenario_a_table_is_certified_as_the_run_is(tmp_path, vehicle):
    made = scenario(vehicle=vehicle)
    run = tc.simulate(made)
    times = np.arange(run.steps + 1) * made.vehicle.duration
    path = written(tmp_path / "log.csv", run.positions, times)
    log = with_scenario(read_log(path, run.network), made)
    assert plain(certify(log)) == plain(certify(run))
    assert certify(log).layers == certify(run).layers
    cut = written(tmp_path / "cut.csv", run.positions[run.mission.launch :], times[run.mission.launch :])
    begun = with_scenario(read_log(cut, run.network), made, launched=0)
    assert begun.launched == 0
    assert certify(begun).holds == certify(run).holds


def test_anchors_are_due_so_many_steps_after_the_launch():
    """Vehicles that may miss: a log that ends before their paths do cannot blame the anchors."""
    made = scenario(vehicle={"kind": "unicycle", "duration": 20.0})
    network = tc.build_network(made.reference)
    places = made.reference[network.anchors]
    paths = places + np.arange(5)[:, None, None] * [1.0, 0.0]
    launch = Mission.of(made).launch
    cut = certify(tc.simulate(made.replace(anchors={"paths": paths}, steps=launch + 3)))
    assert cut["anchors"].verdict == "does not apply"
    whole = certify(tc.simulate(made.replace(anchors={"paths": paths}, steps=launch + 9)))
    assert whole["anchors"].verdict == "holds"
    assert whole["anchors"].figures["arrived"] == launch + 5


@pytest.mark.parametrize("arrived", [0, 1, 3])
def test_where_anchors_stand_is_seen_after_the_launch(arrived):
    """Without their places, a log has them where they are when the network is first used."""
    network = tc.build_network(np.random.default_rng(0).random((20, 2)))
    positions = np.array([network.reference] * 11)
    positions[:2, :, 0] += [[3.0], [1.0]]
    told = Settings("reach", "reference", tolerance=1e-9)
    found = certify(log_of(positions, network, settings=told, arrived=arrived, launched=2))
    assert found.holds
    assert found.neighbourhood.desired == pytest.approx(network.reference, abs=1e-12)


@pytest.mark.parametrize("more", [-3, 0])
def test_a_log_that_ends_in_its_launch_is_no_evidence(more):
    launch = Mission.of(scenario()).launch
    with pytest.warns(SafetyWarning, match="the launch takes"):
        run = tc.simulate(scenario(steps=launch + more))
    assert log_of_run(run).launched == launch > 3
    certificate = certify(run)
    assert "no step after the launch" in certificate["evidence"].summary
    assert not certificate.holds
    assert [claim.key for claim in certificate if claim.verdict == "fails"] == ["evidence"]
    assert certificate["evidence"].figures["landings"] == 0
