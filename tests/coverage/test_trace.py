"""Coverage over time is what one gets by measuring every step by brute force, and Lloyd's what its definition gives."""

import numpy as np
import pytest

import tricover as tc
from tricover.coverage import coverage_over_time, trace

RNG = np.random.default_rng(2)
REFERENCE = np.append([[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]], RNG.uniform(1, 9, (16, 2)), axis=0)
TARGETS = RNG.uniform(0, 10, (60, 2))
WEIGHTS = RNG.uniform(0, 2, 60)


def cost(agents, points, weights=None):
    """The definition, by all pairs."""
    squared = ((points[:, None] - agents[None]) ** 2).sum(axis=2).min(axis=1)
    return float(np.average(squared, weights=weights))


def lloyds(agents, points, weights, iterations):
    """Costs of Lloyd's algorithm, by all pairs."""
    agents, costs = agents.copy(), []
    for _ in range(iterations + 1):
        costs.append(cost(agents, points, weights))
        nearest = ((points[:, None] - agents[None]) ** 2).sum(axis=2).argmin(axis=1)
        for agent in np.unique(nearest):
            mine = nearest == agent
            agents[agent] = np.average(points[mine], axis=0, weights=weights[mine])
    return costs


def run_of(**settings):
    targets = {"positions": TARGETS, "weights": WEIGHTS}
    return tc.simulate(tc.Scenario(**{"reference": REFERENCE, "targets": targets, "steps": 40, **settings}))


@pytest.mark.parametrize("motion", ["reach", "walk"])
def test_every_step_and_lloyds_by_brute_force(motion):
    run = run_of(control={"motion": motion, "resolution": 5})
    found = coverage_over_time(run)
    assert found.steps.tolist() == list(range(run.steps + 1))
    assert found.costs == pytest.approx([cost(agents, TARGETS, WEIGHTS) for agents in run.positions])
    assert found.desired == pytest.approx(cost(run.desired, TARGETS, WEIGHTS))
    assert found.lloyd == pytest.approx(lloyds(run.positions[0], TARGETS, WEIGHTS, len(found.lloyd) - 1))
    assert (np.diff(found.lloyd) <= 1e-12).all()
    assert found.limit == found.lloyd[-1]
    assert found.limit == pytest.approx(tc.lloyd(run.positions[0], run.targets).cost, rel=1e-3)


def test_without_lloyds():
    found = coverage_over_time(run_of(), lloyd=False)
    assert found.lloyd is None
    assert found.limit is None


def test_agents_that_leave_and_join_and_targets_that_move():
    """Lloyd's team loses and gains the same agents and sees the same targets."""
    events = {"leave": [{"step": 2, "agents": [6]}], "join": [{"step": 4, "reference": [[4.0, 6.0]]}]}
    targets = {"positions": TARGETS, "motion": {"velocity": [0.3, -0.1], "until": 6}}
    run = run_of(events=events, targets=targets)
    found = coverage_over_time(run)
    points = [TARGETS + min(step, 6) * np.array([0.3, -0.1]) for step in range(run.steps + 1)]
    there = [agents[present] for agents, present in zip(run.positions, run.present, strict=True)]
    assert found.costs == pytest.approx([cost(*pair) for pair in zip(there, points, strict=True)])
    agents = run.positions[0].copy()
    for step in range(6):
        here, where = run.present[step], points[step]
        assert found.lloyd[step] == pytest.approx(cost(agents[here], where))
        agents[here] = tc.lloyd(agents[here], where, 1).positions
    assert found.lloyd[6] == pytest.approx(cost(agents[run.present[6]], points[6]))


def test_targets_that_are_not_there_yet():
    targets = {"positions": TARGETS, "active": np.tile([3, 100], (60, 1))}
    found = coverage_over_time(run_of(targets=targets))
    assert np.isnan(found.costs[:3]).all()
    assert np.isfinite(found.costs[3:]).all()
    assert np.isnan(found.lloyd[:3]).all()
    assert np.isfinite(found.limit)


def test_what_stands_still_is_measured_once(monkeypatch):
    run = run_of(stop_when_settled=False)
    measured = []
    monkeypatch.setattr(trace, "coverage_cost", lambda *of: measured.append(1) or 1.0)
    coverage_over_time(run, lloyd=False)
    moves = (run.positions[1:] != run.positions[:-1]).any(axis=(1, 2)).sum()
    assert len(measured) == 1 + moves + 1
    assert moves < run.steps


def test_very_large_runs_are_measured_at_some_steps(monkeypatch):
    run = run_of(stop_when_settled=False)
    whole = coverage_over_time(run, lloyd=False)
    monkeypatch.setattr(trace, "MOST_WORK", 80 * 5)
    found = coverage_over_time(run, lloyd=False)
    assert found.steps.tolist() == [0, 10, 20, 30, 40]
    assert np.array_equal(found.costs, whole.costs[found.steps])


def test_a_run_without_steps():
    found = coverage_over_time(run_of(steps=0))
    assert found.costs == pytest.approx([cost(REFERENCE, TARGETS, WEIGHTS)])
