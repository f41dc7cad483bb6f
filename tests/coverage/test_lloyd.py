import airportsdata
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tricover as tc
from tricover.errors import InputError
from tricover.formats import Projection


def plain_step(agents, points, weights, fixed=()):
    """One iteration, agent by agent, from the definition."""
    nearest = np.argmin(((points[:, None] - agents) ** 2).sum(axis=-1), axis=1)
    moved = agents.copy()
    for agent in range(len(agents)):
        own = nearest == agent
        if own.any() and agent not in fixed:
            moved[agent] = np.average(points[own], axis=0, weights=weights[own])
    return moved


@given(seed=st.integers(0, 10_000), iterations=st.integers(0, 4), held=st.sets(st.integers(0, 5)))
def test_agrees_with_a_plain_loop(seed, iterations, held):
    rng = np.random.default_rng(seed)
    agents, points, weights = rng.random((6, 2)), rng.random((40, 2)), rng.random(40)
    expected = agents
    for _ in range(iterations):
        expected = plain_step(expected, points, weights, held)
    result = tc.lloyd(agents, tc.Targets(points, weights), iterations, fixed=sorted(held))
    np.testing.assert_allclose(result.positions, expected, atol=1e-12)
    assert result.cost == tc.coverage_cost(result.positions, tc.Targets(points, weights))
    assert len(result.costs) == result.iterations + 1 <= iterations + 1


@given(
    points=arrays(np.float64, (30, 2), elements=st.integers(0, 5).map(float)),
    agents=arrays(np.float64, (7, 2), elements=st.integers(0, 5).map(float)),
)
def test_cost_falls_until_it_converges_even_with_ties_and_coincident_agents(points, agents):
    targets = tc.Targets(points)
    result = tc.lloyd(agents, targets)
    assert result.converged
    assert (np.diff(result.costs) <= 1e-12).all()
    again = tc.lloyd(result.positions, targets)
    assert again.cost == pytest.approx(result.cost, abs=1e-12)


def airports(country):
    """Airports of a country, in local metres."""
    degrees = [
        [airport["lon"], airport["lat"]] for airport in airportsdata.load().values() if airport["country"] == country
    ]
    return Projection.around(degrees).to_metres(degrees)


def test_converges_on_real_points_and_a_converged_team_is_a_fixed_point():
    points = airports("DE")
    assert len(points) > 300
    targets = tc.Targets(points)
    result = tc.lloyd(points[:20] + 1.0, targets)
    assert result.converged
    np.testing.assert_allclose(plain_step(result.positions, points, np.ones(len(points))), result.positions, atol=1e-6)
    assert result.costs[0] > result.cost > 0


def test_same_bits_for_any_number_of_threads(monkeypatch):
    rng = np.random.default_rng(0)
    targets = tc.Targets(rng.random((3000, 2)), rng.random(3000))
    agents = rng.random((50, 2))
    runs = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("TRICOVER_THREADS", threads)
        runs.append(tc.lloyd(agents, targets, 10))
    for other in runs[1:]:
        np.testing.assert_array_equal(other.positions, runs[0].positions)
        np.testing.assert_array_equal(other.costs, runs[0].costs)


def test_agents_without_targets_stay():
    agents = [[0.0, 0.0], [500.0, 500.0]]
    result = tc.lloyd(agents, tc.Targets([[1.0, 1.0], [3.0, 1.0]]))
    assert result.positions.tolist() == [[2.0, 1.0], [500.0, 500.0]]


def test_tolerance_stops_early():
    rng = np.random.default_rng(1)
    agents, targets = rng.random((30, 2)), tc.Targets(rng.random((2000, 2)))
    early, late = tc.lloyd(agents, targets, tolerance=1e-2), tc.lloyd(agents, targets)
    assert early.converged
    assert early.iterations < late.iterations
    assert early.cost > late.cost


@pytest.mark.parametrize(
    ("agents", "options", "message"),
    [
        ([[0, 0]], {"iterations": -1}, "iterations must be 0 or more"),
        ([[0, 0]], {"fixed": [1]}, "fixed agent 1 does not exist: there are 1 agents"),
        ([[0, np.nan]], {}, "point 0 has a coordinate that is NaN"),
    ],
)
def test_bad_input_is_named(agents, options, message):
    with pytest.raises(InputError, match=message):
        tc.lloyd(agents, tc.Targets([[0, 0]]), **options)


def test_a_result_stands_for_its_positions():
    targets = tc.Targets(np.random.default_rng(2).random((50, 2)))
    result = tc.lloyd(np.random.default_rng(3).random((5, 2)), targets, 3)
    assert np.array_equal(np.asarray(result), result.positions)
    assert tc.coverage_cost(result, targets) == pytest.approx(result.cost, rel=1e-12)
