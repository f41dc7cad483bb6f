"""Planned formations: Lloyd's optimum, held by the goal ``reference``, at every size and on awkward targets."""

import numpy as np
import pytest
from benchmarks.coverage import FIELDS, field

import tricover as tc
from tricover.errors import InputError


@pytest.mark.parametrize("agents", [57, 200, 1000])
@pytest.mark.parametrize("name", FIELDS)
def test_planned_formation_covers_as_well_as_lloyd(name, agents):
    targets = field(name, seed=1)
    plan = tc.plan_formation(targets, agents)
    network = tc.build_network(plan.reference, "balanced")
    assert network == plan.network
    exact = tc.desired_configuration(network, targets, anchors=plan.anchors, goal="reference")
    cells = tc.desired_configuration(
        network, targets, anchors=plan.anchors, goal="reference", resolution=plan.resolution
    )
    start = targets.points[np.random.default_rng(agents).permutation(len(targets))[:agents]]
    converged = tc.lloyd(start, targets, None).cost
    assert tc.coverage_cost(exact, targets) <= 1.05 * converged
    assert tc.coverage_cost(cells, targets) <= 1.01 * tc.coverage_cost(exact, targets)
    assert plan.cost == pytest.approx(tc.coverage_cost(exact, targets), rel=1e-9)
    assert plan.cost_in_cells == tc.coverage_cost(cells, targets)


def test_weights_draw_agents():
    rng = np.random.default_rng(2)
    points = rng.random((2000, 2))
    heavy = tc.plan_formation(tc.Targets(points, np.where(points[:, 0] < 0.3, 50.0, 1.0)), 60)
    even = tc.plan_formation(tc.Targets(points), 60)
    assert (heavy.reference[:, 0] < 0.3).sum() > 1.5 * (even.reference[:, 0] < 0.3).sum()


@pytest.mark.parametrize("agents", [4, 5, 6, 9, 30])
@pytest.mark.parametrize("count", [3, 4, 10, 100])
def test_small_teams_and_few_targets_still_make_a_network(agents, count):
    points = np.random.default_rng(count).random((count, 2))
    plan = tc.plan_formation(tc.Targets(points), agents)
    assert len(plan.network) == agents
    assert np.isfinite(plan.reference).all()
    if count <= agents - 1:
        assert plan.cost == pytest.approx(0, abs=1e-20)


def test_coincident_targets_count_as_one_place():
    points = np.repeat(np.random.default_rng(0).random((12, 2)), 50, axis=0)
    plan = tc.plan_formation(tc.Targets(points), 20)
    assert plan.cost == 0
    assert len(np.unique(plan.reference, axis=0)) == 20


def test_the_same_targets_give_the_same_plan():
    targets = tc.Targets(np.random.default_rng(1).random((500, 2)))
    first, second = tc.plan_formation(targets, 40), tc.plan_formation(targets, 40)
    np.testing.assert_array_equal(first.reference, second.reference)


@pytest.mark.parametrize(
    ("points", "agents", "message"),
    [
        ([[0, 0], [1, 1], [2, 2]], 5, "one line"),
        ([[0, 0]], 5, "one line"),
        ([[0, 0], [1, 0], [0, 1]], 3, "from 4 on"),
        ([[0, 0], [1, 0], [0, 1]], 4.5, "whole number"),
    ],
)
def test_what_cannot_be_planned_is_named(points, agents, message):
    with pytest.raises(InputError, match=message):
        tc.plan_formation(tc.Targets(points), agents)
