"""The claim that the coverage cost never rises."""

from dataclasses import replace

import numpy as np
import pytest

import tricover as tc
from tests.control.test_descent import cost, scenario
from tricover.certificates.audit import audit
from tricover.certificates.log import ArrayReader
from tricover.certificates.runs import log_of_run


def claim_of(certificate):
    return next(claim for claim in certificate.claims if claim.key == "descent")


def test_it_holds_with_the_largest_rise_measured():
    run = tc.simulate(scenario(1, 25))
    certificate = tc.certify(run)
    claim = claim_of(certificate)
    assert certificate.holds
    assert claim.verdict == "holds"
    targets = run.mission.targets_at(0)
    costs = np.array([cost(positions, targets) for positions in run.positions])
    figures = claim.figures
    assert figures["steps"] == run.steps
    assert figures["rises"] == 0
    assert figures["cost_at_the_start"] == pytest.approx(costs[0], rel=1e-12)
    assert figures["cost_at_the_end"] == pytest.approx(costs[-1], rel=1e-12)
    assert figures["largest_rise"] <= 1e-9


@pytest.mark.parametrize("share", [0.97, 0.3])
def test_a_rise_fails_and_names_its_step(share):
    run = tc.simulate(scenario(2, 25, steps=30))
    log = log_of_run(run)
    positions = np.array(run.positions)
    middle = positions[11].mean(axis=0)
    positions[12] = middle + share * (positions[11] - middle)
    targets = run.mission.targets_at(0)
    costs = np.array([cost(each, targets) for each in positions])
    rises = np.diff(costs) / costs[:-1]
    claim = claim_of(audit(replace(log, read=ArrayReader(positions))))
    assert claim.verdict == "fails"
    assert claim.figures["rises"] == (rises > 1e-9).sum() > 0
    assert claim.figures["largest_rise"] == pytest.approx(rises.max(), rel=1e-9)
    assert claim.figures["step_of_largest_rise"] == rises.argmax() == 11


def test_it_is_claimed_of_the_epochs_of_descent_alone():
    plain = tc.simulate(scenario(3, 25, "centroid"))
    assert "descent" not in {claim.key for claim in tc.certify(plain).claims}
    run = tc.simulate(scenario(3, 25, "centroid", control={"polish": {"descent": 20}}, steps=200))
    claim = claim_of(tc.certify(run))
    _, polish, hold = run.epochs
    assert claim.verdict == "holds"
    assert claim.figures["steps"] == hold.start - polish.start


def test_nothing_is_claimed_while_targets_move():
    given = scenario(4, 25)
    still = given.targets.positions
    moving = given.replace(targets={"positions": still, "motion": {"velocity": [0.1, 0.0]}})
    claim = claim_of(tc.certify(tc.simulate(moving)))
    assert claim.verdict == "does not apply"
