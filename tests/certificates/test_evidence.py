"""Without evidence nothing holds: times that are not those of the steps, and logs in which there is nothing to see."""

from dataclasses import replace

import numpy as np
import pytest

import tricover as tc
from tests.certificates.flights import flight, roster, team
from tricover.certificates import Certificate, Claim, Settings, certify, log_of, log_of_run, read_log, with_scenario
from tricover.errors import InputError
from tricover.export import export_run


def timed(times, duration=None, jitter=0.1):
    """The claim on the evidence, and whether the whole holds, for a flight with these times."""
    network, positions = team(0, steps=len(times) - 1)
    found = certify(log_of(positions, network, times=times, settings=Settings(duration=duration)), jitter=jitter)
    assert found.holds == (found["evidence"].verdict == "holds")
    return found["evidence"]


@pytest.mark.parametrize("start", [0.0, -7.5, 1.7e9])
@pytest.mark.parametrize("duration", [0.01, 1.0, 5.5])
def test_even_times_hold_whenever_they_start(start, duration):
    claim = timed(start + duration * np.arange(13))
    assert claim.verdict == "holds"
    assert claim.figures["duration"] == pytest.approx(duration, rel=1e-4)


@pytest.mark.parametrize("missing", [1, 6, 11])
def test_a_gap_is_named(missing):
    claim = timed(np.delete(2.0 * np.arange(13), missing))
    assert claim.verdict == "fails"
    assert claim.figures["uneven"] == 1
    assert (claim.figures["worst_step"], claim.figures["worst_time"]) == (missing - 1, 2.0 * (missing - 1))
    assert (claim.figures["shortest"], claim.figures["longest"], claim.figures["duration"]) == (2.0, 4.0, 2.0)
    assert f"the worst takes 4 s, from time {2 * (missing - 1)} on (step {missing - 1})" in claim.summary


def test_the_worst_gap_is_named_and_not_the_first():
    claim = timed(np.array([0.0, 1, 3, 4, 8, 9, 10, 11, 13]))
    assert (claim.figures["uneven"], claim.figures["worst_step"], claim.figures["worst_time"]) == (3, 3, 4.0)


def test_times_that_grow_are_no_steps():
    assert timed(np.arange(13.0) ** 3).verdict == "fails"


@pytest.mark.parametrize("sign", [-1, 1])
def test_jitter_is_allowed_up_to_its_share(sign):
    for jitter, share, verdict in (
        (0.1, 0.09, "holds"),
        (0.1, 0.11, "fails"),
        (0.3, 0.29, "holds"),
        (0, 1e-6, "fails"),
    ):
        times = 4.0 * np.arange(13)
        times[7:] += sign * share * 4.0
        claim = timed(times, jitter=jitter)
        assert claim.verdict == verdict
        assert claim.figures["uneven"] == (verdict == "fails")
        if verdict == "fails":
            assert claim.figures["worst_step"] == 6


@pytest.mark.parametrize("jitter", [-0.1, 0.5, 1.0, np.nan])
def test_half_a_step_is_no_jitter(jitter):
    with pytest.raises(InputError, match="jitter must be a share"):
        timed(np.arange(5), jitter=jitter)


def test_steps_are_held_against_the_duration_that_was_told():
    assert timed(2.0 * np.arange(9), duration=2.0).verdict == "holds"
    claim = timed(2.0 * np.arange(9), duration=1.0)
    assert claim.verdict == "fails"
    assert claim.figures["uneven"] == 8
    assert "the scenario's duration" in claim.summary
    assert timed(2.0 * np.arange(9)).verdict == "holds"  # nobody knows better


def test_a_scenario_tells_the_duration():
    rng = np.random.default_rng(2)
    made = tc.Scenario(
        reference=rng.random((12, 2)), targets=rng.random((9, 2)), vehicle={"kind": "exact", "duration": 2.5}, steps=6
    )
    run = tc.simulate(made)
    for duration, verdict in ((2.5, "holds"), (1.0, "fails")):
        log = log_of(run.positions, run.network, times=duration * np.arange(run.steps + 1))
        found = certify(with_scenario(log, made))
        assert (found["evidence"].verdict, found.holds) == (verdict, verdict == "holds")
    assert certify(run).holds
    assert certify(run)["evidence"].figures["longest"] == 2.5


def test_times_of_extreme_size_do_not_overflow():
    assert timed([-1e100, 0.0, 1e100]).verdict == "holds"
    assert timed([-1e100, 0.9e100, 1e100]).verdict == "fails"
    assert timed([0.0, 5e-324, 1e-323]).verdict == "holds"


@pytest.mark.parametrize(
    ("times", "words"),
    [
        ([0, 1, 2], r"needs times of shape \(5,\)"),
        ([0, 1, 2, np.nan, 4], "finite"),
        ([0, 1, 2, 3, 1.7e308], "within 1e"),
        ([0, 1, 3, 2, 4], "step 3 is at 2 s, after 3 s"),
        ([0, 1, 2, 2, 4], "step 3 is at 2 s, after 2 s"),
        ([4, 3, 2, 1, 0], "sort the log by time"),
    ],
)
def test_times_that_are_none(times, words):
    network, positions = team(0, steps=4)
    with pytest.raises(InputError, match=words):
        log_of(positions, network, times=times)


def test_times_of_a_log_cannot_be_changed():
    network, positions = team(0, steps=4)
    times = np.arange(5.0)
    log = log_of(positions, network, times=times)
    times[:] = 0
    assert log.times.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="read-only"):
        log.times[0] = 1


def verdicts(certificate):
    return {claim.key: claim.verdict for claim in certificate}


def test_a_single_time_is_no_evidence():
    network, positions = team(0)
    for settings in (Settings(), Settings("walk", "reference", exact=True)):
        found = certify(log_of(positions[:1], network, settings=settings))
        assert not found.holds
        assert found["evidence"].summary == "There is a single time, hence no step to certify."
        assert set(verdicts(found).values()) == {"fails", "does not apply"}
        assert "no followers" not in repr(found)


def test_a_team_without_followers_is_no_evidence():
    network = tc.build_network([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2]])
    found = certify(log_of(np.repeat(network.reference[None], 4, axis=0), network))
    assert not found.holds
    assert {key for key, verdict in verdicts(found).items() if verdict == "holds"} == {"anchors"}
    assert found["evidence"].summary == "There are no followers, hence nothing to certify."


def test_followers_of_some_steps_are_evidence_of_these():
    network = tc.build_network([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]])
    alone = network.without([5])
    positions = np.repeat(network.reference[None], 6, axis=0)
    told = Settings("reach", "reference", exact=True)
    found = certify(log_of(positions, [(0, network), (3, alone)], settings=told))
    assert found.holds
    assert found["evidence"].figures["landings"] == 3
    assert found["theorem3"].verdict == found["containment"].verdict == "does not apply"
    assert not certify(log_of(positions, alone, settings=told)).holds


def test_networks_that_are_never_used():
    network = tc.build_network(roster(0, 30))
    positions = flight(network, 4)
    told = Settings("reach", "reference", exact=True)
    with pytest.raises(InputError, match="network of step 5 is never used, as the log ends at step 4"):
        log_of(positions, [(0, network), (5, network.without([9]))], settings=told)
    found = certify(log_of(positions, [(0, network), (4, network.without([9]))], settings=told))
    assert found["theorem3"].verdict == "does not apply"  # nobody set out with the last network


def test_anchors_that_are_not_due_are_no_evidence():
    network, positions = team(0, steps=4)
    found = certify(log_of(positions, network, arrived=9))
    assert found["anchors"].verdict == "does not apply"
    assert "before the anchors are due" in found["anchors"].summary


def test_claims_that_do_not_apply_are_no_certificate():
    claim = Claim("odd", "Odd", "0 = 0", "does not apply", "Odd.")
    assert not Certificate("nothing", (claim,)).holds
    assert not Certificate("nothing", ()).holds
    assert Certificate("something", (claim, replace(claim, verdict="holds"))).holds
    assert not Certificate("something", (replace(claim, verdict="fails"), replace(claim, verdict="holds"))).holds


@pytest.mark.parametrize("cut", [1, 3, 5, 7, 12])
@pytest.mark.parametrize("vehicle", ["exact", {"kind": "double-integrator", "duration": 60.0}])
def test_a_log_that_ends_while_anchors_are_on_their_paths_blames_nobody(cut, vehicle):
    rng = np.random.default_rng(6)
    reference = rng.random((16, 2))
    network = tc.build_network(reference)
    paths = np.array([reference[network.anchors] + 0.1 * step for step in range(6)])
    leave = {"leave": [{"step": 3, "agents": [int(network.layers[-1][0])]}]}
    made = tc.Scenario(
        reference=reference, targets=rng.random((30, 2)), anchors=paths, vehicle=vehicle, events=leave, steps=cut
    )
    found = certify(tc.simulate(made))
    assert found["anchors"].verdict == ("holds" if cut > 5 else "does not apply"), found
    # Who is due and elsewhere is a fault.
    positions = log_of_run(tc.simulate(made)).read(0, cut + 1).copy()
    positions[-1, network.anchors[0]] += 1.0
    log = replace(log_of_run(tc.simulate(made)), read=lambda start, stop: positions[start:stop])
    assert certify(log)["anchors"].verdict == ("fails" if cut > 5 else "does not apply")


def scenario_of(reference, **changes):
    targets = reference.mean(axis=0) + 0.3 * np.random.default_rng(1).normal(size=(20, 2))
    return tc.Scenario(**{"reference": reference, "targets": targets, "steps": 8, **changes})


def test_the_network_of_a_log_must_be_the_scenarios():
    reference = np.random.default_rng(3).random((30, 2))
    made = scenario_of(reference, network={"mentee": "balanced"})
    run = tc.simulate(made)
    log = log_of_run(run)
    assert certify(with_scenario(log, made)).holds
    other = tc.build_network(reference, mentee="fermat")
    wrong = replace(log, epochs=(replace(log.epochs[0], network=other),))
    agent = int(np.flatnonzero((other.in_neighbors != run.network.in_neighbors).any(axis=1))[0])
    with pytest.raises(InputError, match=f"network of step 0 is not the scenario's: agent {agent} hears"):
        with_scenario(wrong, made)


def test_whoever_was_lost_the_network_is_the_scenarios():
    reference = np.random.default_rng(3).random((30, 2))
    made = scenario_of(reference, events={"join": [{"step": 2, "reference": [[0.5, 0.5]]}]})
    run = tc.simulate(made)
    log = log_of_run(run)
    first, last = (epoch.network for epoch in log.epochs)
    lost = [int(last.followers[3]), int(last.boundary[0])]  # nobody knew before the flight
    networks = [(0, first), (2, last), (4, last.without(lost))]
    flown = np.concatenate([run.positions[:5], flight(last.without(lost), 3, start=run.positions[4])[1:]])
    assert certify(with_scenario(log_of(flown, networks), made))["theorem1"].verdict == "holds"
    moved = replace(last, reference=last.reference + 5.0)  # a file with a plane of its own
    with_scenario(log_of(flown, [(0, first), (2, moved), (4, moved.without(lost))]), made)
    other = log_of(flown, [(0, first), (2, tc.build_network(last.reference, "balanced"))])
    with pytest.raises(InputError, match="network of step 2 is not the scenario's"):
        with_scenario(other, made)


@pytest.mark.parametrize("rule", [{"mentee": "balanced"}, {"core": [0.9, 0.5]}])
def test_a_network_after_a_loss_follows_the_scenarios_rules(rule):
    reference = np.random.default_rng(3).random((30, 2))
    made = scenario_of(reference, network=rule)
    network = tc.simulate(made).network
    left = network.without([int(network.layers[-1][0])])
    with_scenario(log_of(flight(left, 3), left), made)
    other = tc.build_network(reference).without(left.lost)
    with pytest.raises(InputError, match="network of step 0 is not the scenario's"):
        with_scenario(log_of(flight(other, 3), other), made)


def test_a_log_that_ends_before_agents_join(tmp_path):
    reference = np.random.default_rng(3).random((12, 2))
    vehicle = {"kind": "exact", "others": [{"kind": "anywhere", "agents": [1, 13]}]}
    joins = {"join": [{"step": 3, "reference": [[0.5, 0.5], [0.4, 0.5]]}]}
    made = scenario_of(reference, events=joins, vehicle=vehicle)
    run = tc.simulate(scenario_of(reference, events=joins, vehicle=vehicle, steps=3))
    export_run(run, tmp_path / "flight.csv")  # with lines of those who are still to come
    log = read_log(tmp_path / "flight.csv", run.network)
    assert log.agents == 12
    found = certify(with_scenario(log, made))
    assert found.holds, found
    assert certify(log)["theorem1"].verdict == "holds"
    lines = (tmp_path / "flight.csv").read_text().replace(",0,,,", ",1,,,")  # they are there after all
    (tmp_path / "flight.csv").write_text(lines)
    with pytest.raises(InputError, match="line 14: there is no agent 12"):
        read_log(tmp_path / "flight.csv", run.network)


def test_given_places_belong_to_the_anchors_of_the_whole_team():
    reference = np.random.default_rng(3).random((30, 2))
    network = tc.build_network(reference)
    places = 0.9 * reference[network.anchors] + 0.05
    gone = int(network.boundary[1])
    made = scenario_of(reference, anchors=places, events={"leave": [{"step": 0, "agents": [gone]}]})
    run = tc.simulate(made)
    assert certify(run).holds
    log = log_of(run.positions, network.without([gone]))
    for told in (made, scenario_of(reference, anchors=places)):  # planned, or not
        found = certify(with_scenario(log, told))
        assert found.holds, found
        assert found["theorem3"].verdict == "holds"
