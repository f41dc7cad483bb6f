"""The paper's Section VI: 57 agents, resolution 35, η = 0.05, both motions."""

from pathlib import Path

import numpy as np
import pytest

import tricover as tc

PAPER = Path(__file__).parents[2] / "examples" / "paper-57.toml"


def run_of(motion, vehicle):
    given = tc.Scenario.load(PAPER)
    control = {**given.control.values(), "motion": motion}
    return tc.simulate(tc.Scenario(**{**given.values(), "control": control, "vehicle": vehicle}))


def test_the_scenario_is_the_papers():
    run = run_of("reach", "exact")
    assert len(run.network) == 57
    assert run.network.boundary.tolist() == [0, 1, 2, 3]
    assert run.network.core == 4
    assert len(tc.CellGrid(run.scenario.control.resolution)) == 1225
    assert run.scenario.control.margin == 0.05


@pytest.mark.parametrize("vehicle", ["exact", "anywhere"])
def test_with_reach_it_settles_in_under_40_steps(vehicle):
    run = run_of("reach", vehicle)
    assert run.converged
    assert run.settled_at <= run.network.depth + 1 < 40
    np.testing.assert_array_equal(run.positions[-1], run.desired)


@pytest.mark.parametrize("vehicle", ["exact", "anywhere"])
def test_with_walk_it_is_contained_throughout(vehicle):
    run = run_of("walk", vehicle)
    followers = run.network.followers
    weights, outside = run.weights[:, followers], run.states[:, followers] == -1
    np.testing.assert_allclose(weights.sum(axis=2), 1, atol=1e-12)
    assert (weights.min(axis=2) >= np.where(outside, 0.05, 0.05 / 35) - 1e-9).all()
    assert run.missed == 0
    if vehicle == "exact":
        assert run.converged
        assert run.settled_at <= 1 + run.network.depth * 69
        np.testing.assert_array_equal(run.positions[-1], run.desired)
