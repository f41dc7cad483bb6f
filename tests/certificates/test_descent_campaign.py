"""Hundreds of teams go by descent, on targets of several kinds, and the coverage cost never rises."""

import os

import numpy as np
import pytest

import tricover as tc
from tests.control.test_descent import cost

TEAMS = int(os.environ.get("TRICOVER_CASES", "240"))


def targets_of(rng, kind):
    if kind == "uniform":
        return tc.Targets(100 * rng.random((300, 2)))
    if kind == "clusters":
        centres = 100 * rng.random((4, 2))
        return tc.Targets(centres[rng.integers(4, size=300)] + 3 * rng.normal(size=(300, 2)))
    if kind == "line":
        return tc.Targets(np.stack([100 * rng.random(300), 50 + rng.normal(size=300)], axis=1))
    return tc.Targets(100 * rng.random((300, 2)), weights=rng.choice([0.0, 1.0, 20.0], 300))


@pytest.mark.parametrize("part", range(8))
def test_the_cost_never_rises(part):
    for case in range(part, TEAMS, 8):
        rng = np.random.default_rng(case)
        kind = ("uniform", "clusters", "line", "weights")[case // 8 % 4]
        targets, agents = targets_of(rng, kind), int(rng.integers(12, 45))
        reference = 100 * rng.random((agents, 2))
        if case % 3 == 0:  # where a goal rule has led
            network = tc.build_network(reference, "balanced")
            reference = tc.desired_configuration(network, targets, goal="predictive")
            reference += 1e-5 * rng.normal(size=reference.shape)
        how = {"network": {"mentee": "balanced"}, "control": {"goal": "descent", "motion": "morph"}, "steps": 120}
        run = tc.simulate(tc.Scenario(reference=reference, targets=targets, **how))
        costs = np.array([cost(positions, targets) for positions in run.positions])
        assert (np.diff(costs) <= 1e-9 * costs[0]).all(), case
        certificate = tc.certify(run)
        assert certificate["descent"].verdict == "holds", case
        assert certificate.holds or not len(run.network.followers), (case, str(certificate))
