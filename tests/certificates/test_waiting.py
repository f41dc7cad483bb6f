"""What is claimed of agents that wait for each other, and what is not."""

from dataclasses import replace

import numpy as np
import pytest

import tricover as tc
from tests.safety.crowds import crowd
from tricover.certificates import ArrayReader, log_of_run
from tricover.certificates.waiting import as_far_as_they_go


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
    assert claim.summary.startswith("Agents wait and make room to keep apart")
    assert not claim.faults
    assert certificate["separation"].verdict == "holds"
    assert certificate.holds


def test_who_was_not_told_to_keep_apart_is_late_for_no_reason(waiting):
    """The same positions, with a separation asked for by the certificate alone: the team has no excuse."""
    free = waiting.scenario.replace(safety={"separation": None})
    log = log_of_run(waiting)
    plain = log_of_run(tc.simulate(free))
    accused = replace(log, settings=plain.settings)
    certificate = tc.certify(accused, separation=waiting.scenario.safety.separation)
    assert certificate["theorem3"].verdict == "fails"
    assert certificate["separation"].verdict == "holds"


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
    assert as_far_as_they_go(given, log_of_run(waiting)) == given


def test_before_a_run_nothing_is_promised_of_when():
    given = crowd(1, "walk")
    certificate = tc.certify(given)
    assert certificate["theorem3"].verdict == certificate["neighbourhood"].verdict == "does not apply"
    assert "nobody knows how long" in certificate["theorem3"].summary
    assert all(layer.bound is None for layer in certificate.layers)
    assert tc.certify(given.replace(safety={"separation": None}))["theorem3"].verdict == "holds"
    assert np.isfinite(tc.certify(crowd(1, "morph", agents=20))["theorem3"].figures["bound"])
