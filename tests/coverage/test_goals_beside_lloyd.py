"""Coverage over converged Lloyd's on uniform, clustered and real points: part of ``benchmarks.coverage``."""

import pytest
from benchmarks.coverage import FIELDS, ratios


@pytest.mark.parametrize("agents", [57, 200, 1000])
@pytest.mark.parametrize("name", FIELDS)
def test_goals_beside_lloyd(name, agents):
    found = ratios("cornered", agents, name, seed=0)
    assert found["planned"] <= 1.05
    assert found["predictive"] <= 2.0
    assert found["rollout"] <= 1.6
    assert found["rollout"] < found["predictive"] < found["centroid"] < found["paper"]
    assert found["cellplan"] <= 1.15
    assert found["cellplan"] <= 1.1 * found["k-means++, best of 4"]
    assert found["cellplan"] < found["rollout"]
    assert agents > 200 or found["predictive, fitted, descent"] <= 1.15


@pytest.mark.parametrize("name", FIELDS)
def test_fitted_anchors_help_a_scattered_team(name):
    found = ratios("scattered", 57, name, seed=0)
    assert found["predictive, fitted"] < found["predictive"] < found["centroid"]
    assert found["rollout, fitted"] < found["rollout"]
    assert found["rollout, fitted"] <= 1.6
    assert found["cellplan"] <= 1.15
    assert found["predictive, fitted, descent"] <= 1.15
