"""Certificates of runs in which messages are late or lost, and of such runs when they are forged."""

from dataclasses import replace

import numpy as np
import pytest

import tricover as tc
from tests.simulation.teams import team
from tests.simulation.test_hearing import WORLDS, late, quiet
from tricover.certificates import FAILS, HOLDS, NOT_APPLICABLE, ArrayReader, log_of_run
from tricover.certificates.audit import audit, steps_of
from tricover.certificates.late import RISK, Forgetting
from tricover.certificates.log import log_of
from tricover.certificates.runs import with_scenario
from tricover.mdp import HIT
from tricover.simulation import evidence_of
from tricover.simulation.hearing import senders_of


def sources(run, agent, step, known):
    """Times of the anchors' positions that an agent's position at a step rests on; -1 for what was before."""
    key = agent, step
    if key not in known:
        network = run.network
        if network.layer[agent] == 0:
            known[key] = {step}
        elif step == 0:
            known[key] = {-1}
        else:
            ages = run.ages[step - 1, agent]
            if ages.min() < 0:
                known[key] = sources(run, agent, step - 1, known)
            else:
                heard = zip(network.in_neighbors[agent], ages, strict=True)
                known[key] = set().union(*(sources(run, j, step - 1 - age, known) for j, age in heard))
    return known[key]


@pytest.mark.parametrize("world", WORLDS)
def test_what_is_forgotten_is_what_no_position_rests_on(world):
    run = quiet(late(world, events=False, steps=30, control={"motion": "walk", "resolution": 5}))
    log, known = log_of_run(run), {}
    check = Forgetting(log)
    for step in steps_of(log):
        check.see(step)
        time = step.index + 1
        expected = [time - min(sources(run, agent, time, known)) for agent in run.network.followers.tolist()]
        assert check.back[run.network.followers].tolist() == expected
    assert check.longest == max(
        time - min(sources(run, agent, time, known))
        for agent in run.network.followers.tolist()
        for time in range(1, run.steps + 1)
    )


@pytest.mark.parametrize("events", [False, True])
@pytest.mark.parametrize("vehicle", ["exact", "anywhere"])
@pytest.mark.parametrize("motion", ["reach", "walk"])
@pytest.mark.parametrize("world", WORLDS[:4])
def test_honest_runs_are_certified(world, motion, vehicle, events):
    run = quiet(late(world, events=events, vehicle=vehicle, control={"motion": motion, "resolution": 5}, steps=200))
    found = tc.certify(run)
    assert found.holds, found
    figures = found["messages"].figures
    senders = [senders_of(run.mission, step, run.read("believed", step, step + 1)[0]) for step in range(run.steps)]
    there = run.present[np.arange(run.steps)[:, None, None], np.array(senders)]
    present = run.present[:-1, :, None] & (np.array(senders) >= 0) & there
    assert figures["oldest"] >= run.ages[present].max()
    heard = run.ages[present & (run.ages >= 0)]
    assert figures["mean"] == pytest.approx(heard.mean())
    assert found["theorem1"].figures["rows"] <= sum(
        int((run.network_at(step).layer > 0).sum()) for step in range(run.steps)
    )


def certified(run, **changes):
    """The certificate of a run's log with something in it changed."""
    return audit(replace(log_of_run(run), **changes), desired=run.desired)


def test_a_landing_outside_of_what_was_heard_is_named():
    run = quiet(late({"delay": [0, 3]}, events=False))
    positions, agent, step = np.array(run.positions), int(run.network.layers[2][0]), run.steps - 2
    assert run.ages[step, agent].min() >= 0
    positions[step + 1, agent] += 10.0
    found = certified(run, read=ArrayReader(positions))["theorem1"]
    assert found.verdict == FAILS
    assert (found.faults[0].agent, found.faults[0].step) == (agent, step)


def test_who_moves_before_it_has_heard_is_named():
    run = quiet(late({"delay": 3}, events=False))
    positions, agent = np.array(run.positions), int(run.network.followers[3])
    positions[2:, agent] += 1e-3
    found = certified(run, read=ArrayReader(positions))["theorem1"]
    assert found.verdict == FAILS
    assert (found.faults[0].agent, found.faults[0].step) == (agent, 1)
    assert "before it had heard" in found.faults[0].reason


@pytest.mark.parametrize("motion", ["reach", "walk"])
def test_ages_that_are_not_those_of_the_run_are_noticed(motion):
    """With the ages of a perfect world, agents landed outside of their triangles."""
    world, control = {"delay": [0, 4], "loss": 0.3}, {"motion": motion, "resolution": 5}
    run = quiet(late(world, agents=60, events=False, control=control))
    log = log_of_run(run)
    forged = replace(log.late, ages=lambda step: np.where(log.late.ages(step) < 0, -1, 0))
    found = audit(replace(log, late=forged), desired=run.desired)
    assert found["theorem1"].verdict == FAILS
    if motion == "walk":
        assert found["C1"].verdict == FAILS


def test_bounds_are_tight_where_all_messages_are_late_alike():
    """The team is at rest exactly at depth·(D+1), so a bound with a smaller D is broken."""
    run = quiet(late({"delay": 2}, agents=60, events=False))
    depth, log = run.network.depth, log_of_run(run)
    found = tc.certify(run)
    assert run.settled_at == 3 * depth == found["theorem3"].figures["bound"]
    assert [layer.bound for layer in found.layers] == [3 * layer for layer in range(depth + 1)]
    assert found["finite-time"].figures == {"window": 3 * depth, "bound": 3 * depth, "oldest": 2}
    broken = replace(log, late=replace(log.late, oldest=1, ages=lambda step: np.minimum(log.late.ages(step), 1)))
    assert audit(broken, desired=run.desired)["theorem3"].verdict == FAILS
    walked = quiet(late({"delay": 2}, agents=60, events=False, control={"motion": "walk", "resolution": 5}))
    assert tc.certify(walked)["theorem3"].figures["bound"] == depth * (2 * 5 - 1 + 2)


def test_messages_older_than_can_be_are_a_fault_and_unlikely_ones_are_not():
    run = quiet(late({"delay": [0, 3]}, events=False))
    log = log_of_run(run)
    assert (log.late.allowed, log.late.sure, log.late.oldest) == (3, True, 3)
    found = certified(run, late=replace(log.late, allowed=2))["messages"]
    assert found.verdict == FAILS
    found = certified(run, late=replace(log.late, allowed=2, sure=False))["messages"]
    assert found.verdict == NOT_APPLICABLE
    lossy = log_of_run(quiet(late({"delay": [0, 3], "loss": 0.5}, events=False)))
    cases = 3 * len(lossy.epochs[-1].network.followers) * lossy.steps
    least = min(more for more in range(99) if cases * 0.5 * 0.5**more <= RISK)
    assert (lossy.late.allowed, lossy.late.sure) == (3 + least, False)


def test_links_that_nobody_hears_are_a_fault():
    run = quiet(late({"radio": 0.3, "relays": False}, events=False))
    certificate = tc.certify(run)
    assert certificate["C2"].verdict == NOT_APPLICABLE  # somebody stands where it stood, to the end
    found = certificate["messages"]
    assert found.verdict == FAILS
    apart = {
        (int(agent), int(other))
        for agent in run.network.followers
        for other in run.network.in_neighbors[agent]
        if (np.hypot(*(run.positions[:-1, agent] - run.positions[:-1, other]).T) > 0.3).all()
    }
    assert found.figures["unheard"] == len(apart)
    assert any(f"agent {other}" in found.faults[0].reason for agent, other in apart if agent == found.faults[0].agent)


def test_followers_stay_where_the_anchors_have_been():
    """Anchors that move away leave followers outside of their present hull, and that is no fault."""
    given = late({"delay": 3}, events=False, steps=80)
    network = tc.build_network(given.reference, mentee="balanced")
    home = given.reference[network.anchors]
    given = given.replace(anchors={"paths": home + np.arange(9.0)[:, None, None] * [1.0, 0.0]})
    run = quiet(given)
    found = tc.certify(run)
    assert found.holds, found
    assert found["containment"].verdict == HOLDS
    since, arrived = found["containment"].figures["since"], found["anchors"].figures["arrived"]
    assert arrived + 4 <= since <= arrived + 4 * network.depth
    hull = run.positions[arrived, network.anchors]
    left = [step for step in range(run.steps) if run.positions[step, network.followers, 0].min() < hull[:, 0].min()]
    assert left
    assert max(left) < since
    # One that stays behind is outside of the hull.
    positions = np.array(run.positions)
    positions[since:, network.followers[-1]] = positions[0, network.followers[-1]]
    assert certified(run, read=ArrayReader(positions))["containment"].verdict == FAILS


def test_a_flight_log_does_not_tell_what_was_heard():
    given = late({"delay": [0, 3]}, events=False)
    run = quiet(given)
    log = log_of(run.positions, run.network)
    assert not audit(with_scenario(log, given.replace(world={"delay": None}))).holds
    found = audit(with_scenario(log, given))
    assert found["theorem1"].verdict == found["messages"].verdict == NOT_APPLICABLE
    assert "does not tell which positions" in found["theorem1"].summary
    assert found["theorem3"].verdict == HOLDS
    assert found.holds


def test_before_a_run_the_bound_is_that_of_the_oldest_message():
    given = late({"delay": [1, 2]}, events=False)
    depth = tc.build_network(given.reference, mentee="balanced").depth
    found = tc.certify(given)
    assert found["theorem3"].figures["bound"] == depth * 3
    assert found["messages"].figures == {"bound": 2, "risk": 0.0}
    lossy = tc.certify(given.replace(world={"loss": 0.3}))
    followers = len(tc.build_network(given.reference, mentee="balanced").followers)
    cases = (3 * followers + 25) * given.steps
    least = min(more for more in range(99) if cases * 0.3 * 0.3**more <= RISK)
    assert lossy["messages"].figures == {"bound": 2 + least, "risk": RISK}
    assert lossy["theorem3"].figures["bound"] == depth * (3 + least)
    assert "with a chance of 99%" in lossy["theorem3"].summary
    over_relays = tc.certify(given.replace(world={"radio": 0.5}))
    assert over_relays["theorem3"].verdict == over_relays["messages"].verdict == NOT_APPLICABLE
    repaired = late({"delay": 2})
    assert tc.certify(repaired)["theorem3"].figures["bound"] >= quiet(repaired).settled_at


def test_learning_agents_learn_in_the_triangle_that_they_heard():
    reference, targets = team(0, agents=20)
    given = tc.Scenario(
        reference=reference,
        targets=targets,
        world={"delay": 1},
        control={"motion": "walk", "resolution": 5, "kernel": "learned"},
        vehicle={"kind": "gusty", "chance": 0.3, "gust": [0.05, 0.0]},
        steps=40,
    )
    run = quiet(given)
    for agent in run.network.followers[:6].tolist():
        # A move is made by who was inside what it had heard.
        moves = [step for step in range(run.steps) if run.states[step, agent] >= 0 and run.next_cells[step, agent] >= 0]
        assert run.learned(agent).records.sum() == len(moves)
        known, evidence = run.learned(agent).pooled, evidence_of(run, agent)
        assert evidence.steps.tolist() == moves
        assert evidence.missed.sum() == known.counts[known.codes != HIT].sum()


@pytest.mark.parametrize("motion", ["reach", "walk"])
def test_agents_that_see_only_so_far_are_not_promised_where_they_settle(motion):
    """Rows are stochastic all the same, and nothing is claimed of the places of full sight."""
    given = late({"sight": 0.05}, agents=60, events=False, control={"motion": motion, "resolution": 5})
    run, full = quiet(given), quiet(given.replace(world={"sight": None}))
    assert not np.array_equal(run.positions[-1], full.positions[-1])
    found = tc.certify(run)
    assert found.holds
    assert found["theorem1"].verdict == found["containment"].verdict == HOLDS
    for certificate in (found, tc.certify(given)):
        assert certificate["theorem3"].verdict == certificate["neighbourhood"].verdict == NOT_APPLICABLE
        assert "see only so far" in certificate["theorem3"].summary
