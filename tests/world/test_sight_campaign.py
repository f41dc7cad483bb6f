"""Random teams that see only so far: where they end, what it costs, and why some of them do not settle."""

import numpy as np
import pytest
from benchmarks.sight import GOALS, SIZES, outcomes, scenario

import tricover as tc
from tests.world.plain_sight import Plain


def test_with_sight_of_a_fifth_of_the_field_most_agents_end_where_full_sight_puts_them():
    found = outcomes(20, "centroid", 0.2, 64)
    there = sum(one.there for some in found.values() for one in some)
    assert there >= 0.95 * 20 * sum(SIZES)
    assert all(one.settled_at is not None for some in found.values() for one in some)


@pytest.mark.parametrize("goal", GOALS)
def test_with_sight_of_a_tenth_coverage_is_nearly_that_of_full_sight(goal):
    found = outcomes(12, goal, 0.1, 64)
    every = [one for some in found.values() for one in some]
    assert np.mean([one.cost for one in every]) <= 1.05
    # A team that does not settle repeats itself: it is in a cycle of knowing, moving, and not being told any more.
    loose = [one for one in every if one.settled_at is None]
    assert len(loose) <= 0.6 * len(every)
    assert sum(one.period is not None for one in loose) >= 0.5 * len(loose)


def test_without_limits_teams_settle_more_often():
    few, many = (outcomes(10, "rollout", 0.1, summary) for summary in (8, 256))
    loose = [sum(one.settled_at is None for some in found.values() for one in some) for found in (few, many)]
    assert loose[1] < loose[0]


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("summary", [None, 1000, "sums"])
def test_more_teams_step_by_step_as_a_slow_model_has_them(seed, summary):
    given = scenario(57, seed, "centroid", 0.05 * (1 + seed % 5), summary).replace(steps=6)
    points = given.targets.positions[:120]
    run = tc.simulate(given.replace(targets={"positions": points}))
    plain = Plain(run.network, run.positions[0], run.anchors, given.world.sight, summary)
    targets = {name: (*point, 1.0) for name, point in enumerate(points.tolist())}
    for step in range(run.steps):
        np.testing.assert_allclose(run.positions[step + 1], plain.step(targets), atol=1e-8)
        plain.positions = {i: tuple(p) for i, p in enumerate(run.positions[step + 1].tolist())}
