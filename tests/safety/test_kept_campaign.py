"""Hundreds of teams that are asked to keep apart: never closer, and settled."""

import pytest

import tricover as tc
from tests.safety.crowds import crowd
from tricover.simulation import Mission, forecast


@pytest.mark.parametrize("motion", ["reach", "walk"])
@pytest.mark.parametrize("block", range(10))
def test_five_hundred_teams_keep_apart(block, motion):
    settled = closer = 0
    for seed in range(25 * block, 25 * block + 25):
        mission = Mission.of(crowd(seed, motion))
        assert forecast(mission) == ()
        run = tc.simulate(mission)
        assert run.separation.distance >= mission.scenario.safety.separation, seed
        settled += run.converged
        free = tc.simulate(mission.scenario.replace(safety={"separation": None}))
        closer += free.separation.distance < mission.scenario.safety.separation
    assert settled >= 24  # in a crowd one may be stuck
    assert closer >= 5  # where it is not asked for


@pytest.mark.parametrize("seed", range(20))
def test_quadrotors_keep_apart(seed):
    vehicle = {"kind": "quadrotor", "duration": 4.0}
    run = tc.simulate(crowd(seed, "reach", separation=1.0, vehicle=vehicle, agents=12, steps=200))
    assert run.separation.distance >= 1.0
    assert run.converged
    assert run.misses.max() <= 0.05
