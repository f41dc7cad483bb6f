"""What is claimed of agents that wait for each other, and what is not."""

from dataclasses import replace

import numpy as np
import pytest

import tricover as tc
from tests.safety.crowds import crowd
from tricover.certificates import ArrayReader, log_of_run
from tricover.certificates.waiting import as_far_as_they_go
from tricover.control import GAVE_WAY


@pytest.fixture(scope="module")
def waiting():
    """A run in which somebody waited: a layer settled later than Theorem 3 has it for who does not."""
    for seed in range(20):
        run = tc.simulate(crowd(seed, "reach", agents=30))
        if run.settled_at > run.network.depth + 1:
            return run
    raise AssertionError("nobody waited")


def test_what_waiting_breaks_does_not_apply_and_says_so(waiting):
    certificate = tc.certify(waiting)
    claim = certificate["theorem3"]
    assert claim.verdict == "does not apply"
    assert claim.summary.startswith("Agents waited and made room to keep apart")
    assert not claim.faults
    assert certificate["separation"].verdict == "holds"
    assert certificate.holds


def test_a_log_does_not_say_who_gave_way_so_nothing_is_excused(waiting):
    certificate = tc.certify(replace(log_of_run(waiting), gave_way=None))
    assert certificate["theorem3"].verdict == "fails"
    assert certificate["separation"].verdict == "holds"
    assert not certificate.holds


def test_only_rows_of_who_gave_way_are_excused():
    """Of two agents outside their triangles, one that gave way and one that did not, the one that did not is named."""
    for seed in range(40):
        run = tc.simulate(crowd(seed, "walk", agents=40, separation=1.0))
        claim = tc.certify(run)["theorem1"]
        if claim.verdict == "does not apply":
            break
    assert claim.figures["excused"] > 0 == claim.figures["faults"]
    assert claim.summary.endswith("all of agents that gave way to others to keep apart.")
    assert tc.certify(run)["C1"].verdict == "does not apply"
    assert tc.certify(run).holds
    log, gave_way = log_of_run(run), run.next_cells == GAVE_WAY
    step, agent = np.argwhere(~gave_way & (run.network.layer > 0))[-1]
    positions = run.positions.copy()
    positions[step + 1, agent] += 500.0
    broken = tc.certify(replace(log, read=ArrayReader(positions)))
    for key in ("theorem1", "C1"):
        assert broken[key].verdict == "fails"
        assert broken[key].faults[0].agent == agent
        assert broken[key].faults[0].step == step


def test_what_has_nothing_to_do_with_waiting_still_fails(waiting):
    """Two agents on one place: no excuse for that."""
    positions = waiting.positions.copy()
    one, other = waiting.network.followers[:2]
    positions[-1, one] = positions[-1, other]
    certificate = tc.certify(replace(log_of_run(waiting), read=ArrayReader(positions)))
    assert certificate["separation"].verdict == "fails"
    assert not certificate.holds


def test_claims_that_hold_are_made(waiting):
    given = tc.certify(waiting).claims
    assert {claim.key for claim in given if claim.verdict == "holds"} >= {"evidence", "structure", "separation"}
    assert as_far_as_they_go(given) == given


def test_where_nobody_gave_way_nothing_is_excused():
    """Where everybody stays at its place nobody waits, and who is elsewhere has no excuse."""
    team = np.stack(np.meshgrid(np.arange(5.0), np.arange(5.0)), -1).reshape(-1, 2) * 20
    team += np.random.default_rng(0).normal(size=team.shape)
    keeping = {"control": {"goal": "reference"}, "safety": {"separation": 0.1}}
    run = tc.simulate(tc.Scenario(reference=team, targets=team, **keeping))
    assert (run.next_cells != GAVE_WAY).all()
    certificate = tc.certify(run)
    assert [certificate[key].verdict for key in ("theorem1", "theorem3", "separation")] == ["holds"] * 3
    positions = run.positions.copy()
    agent = int(run.network.followers[0])
    positions[-1, agent] += [40.0, 0.0]
    broken = tc.certify(replace(log_of_run(run), read=ArrayReader(positions)))
    assert broken["theorem3"].verdict == "fails"


def test_before_a_run_nothing_is_promised_of_when():
    given = crowd(1, "walk")
    certificate = tc.certify(given)
    assert certificate["theorem3"].verdict == certificate["neighbourhood"].verdict == "does not apply"
    assert "nobody knows how long" in certificate["theorem3"].summary
    assert all(layer.bound is None for layer in certificate.layers)
    assert tc.certify(given.replace(safety={"separation": None}))["theorem3"].verdict == "holds"
    assert np.isfinite(tc.certify(crowd(1, "morph", agents=20))["theorem3"].figures["bound"])
