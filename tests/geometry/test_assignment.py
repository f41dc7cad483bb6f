"""Who takes which place, against all permutations, exact arithmetic and motions that one can see through."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from tests.safety.flights import apart, exact_approach, least_distances, pads_and_plan

import tricover as tc
from tricover.errors import InputError
from tricover.geometry import assignment


def squares(starts, places, order):
    return float(((starts - places[list(order)]) ** 2).sum())


def is_kept(found, starts, places):
    """Nobody comes closer than is guaranteed, exactly."""
    return exact_approach(starts, places[found.places]) >= Fraction(found.guaranteed) ** 2


@pytest.mark.parametrize("seed", range(40))
def test_the_sum_of_squares_is_the_least_of_all_permutations(seed):
    rng = np.random.default_rng(seed)
    agents = int(rng.integers(1, 7))
    starts, places = rng.normal(size=(2, agents, 2)) * rng.choice([1e-3, 1.0, 1e4], (2, 1, 1))
    places = places + rng.choice([0.0, 1e3])
    found = tc.assign_places(starts, places)
    least = min(squares(starts, places, order) for order in permutations(range(agents)))
    assert squares(starts, places, found.places) == pytest.approx(least, rel=1e-9)
    assert sorted(found.places.tolist()) == list(range(agents))


@pytest.mark.parametrize("seed", range(12))
def test_no_pad_grid_and_plan_comes_below_what_is_guaranteed(seed):
    starts, places = pads_and_plan(seed)
    found = tc.assign_places(starts, places)
    least = min(apart(starts), apart(places))
    assert found.guaranteed == pytest.approx(least / np.sqrt(2), rel=1e-9)
    assert is_kept(found, starts, places)
    assert found.separation == pytest.approx(float(exact_approach(starts, places[found.places])) ** 0.5, rel=1e-9)


def test_the_least_sum_of_distances_does_not_do():
    """Among the same teams some come far below it."""
    worst = np.inf
    for seed in range(12):
        starts, places = pads_and_plan(seed)
        least = min(apart(starts), apart(places))
        worst = min(worst, float(exact_approach(starts, places[least_distances(starts, places)])) ** 0.5 / least)
    assert worst < 0.5 / np.sqrt(2)


def test_the_bound_is_attained():
    """A pair that is turned by a right angle comes to d/√2, and no closer."""
    found = tc.assign_places([[0, 0], [1, 0]], [[5, 5], [5, 6]])
    assert found.separation == pytest.approx(np.sqrt(0.5), rel=1e-12)
    assert found.guaranteed == pytest.approx(np.sqrt(0.5), rel=1e-12)
    assert found.guaranteed <= np.sqrt(0.5)
    assert found.approach.agents == (0, 1)
    assert found.approach.share == pytest.approx(0.5)


def test_those_who_stand_in_each_others_way_swap():
    """Nobody flies through the other: two in a row go on in a row."""
    found = tc.assign_places([[0, 0], [1, 0]], [[3, 0], [2, 0]])
    assert found.places.tolist() == [1, 0]
    assert found.separation == 1.0


coordinates = st.sampled_from([-1e100, -3.5, -1.0, 0.0, 1e-100, 1e-9, 1.0, 2.0, 1e9, 1e100])
points = st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=6)


@settings(max_examples=300, deadline=None)
@given(points, st.randoms(use_true_random=False))
def test_whatever_is_given_is_assigned_and_nothing_is_promised_that_is_not_kept(given_points, random):
    starts = np.array(given_points)
    places = np.array(random.sample(given_points, len(given_points))) * random.choice([1.0, -1.0, 0.5])
    found = tc.assign_places(starts, places)
    assert sorted(found.places.tolist()) == list(range(len(starts)))
    if len(starts) > 1:
        assert is_kept(found, starts, places)
        assert found.guaranteed <= min(apart(starts), apart(places))


@pytest.mark.parametrize("twice", ["starts", "places"])
def test_where_two_coincide_nothing_is_guaranteed(twice):
    one, other = np.array([[0.0, 0], [4, 0], [0, 0]]), np.array([[9.0, 9], [4, 9], [0, 9]])
    found = tc.assign_places(one, other) if twice == "starts" else tc.assign_places(other, one)
    assert (found.guaranteed, found.separation) == (0.0, 0.0)


def test_one_agent_has_nobody_to_meet():
    found = tc.assign_places([[0, 0]], [[3, 4]])
    assert (found.places.tolist(), found.separation, found.guaranteed) == ([0], np.inf, np.inf)


@pytest.mark.parametrize(
    ("starts", "places", "said"),
    [
        ([[0, 0], [1, 0]], [[0, 0]], "2 starts and 1 places: give as many"),
        ([], [], "starts: positions must have shape"),
        ([[0, 0]], [[0, np.nan]], "places: point 0 has a coordinate that is NaN"),
        ([[0, 0, 0]], [[0, 0, 0]], r"starts: positions must have shape \(N, 2\)"),
    ],
)
def test_what_cannot_be_assigned_is_named(starts, places, said):
    with pytest.raises(InputError, match=said):
        tc.assign_places(starts, places)


# -- larger teams, group by group -----------------------------------------------------------------------------------


@pytest.fixture
def small_groups(monkeypatch):
    """Teams of hundreds are treated as those of thousands are."""
    monkeypatch.setattr(assignment, "EXACT", 40)
    monkeypatch.setattr(assignment, "GROUP", 24)


@pytest.mark.usefixtures("small_groups")
@pytest.mark.parametrize("seed", range(8))
def test_large_teams_keep_the_guarantee_near_the_least_sum(seed):
    rng = np.random.default_rng(seed)
    agents = int(rng.integers(200, 400))
    side = int(np.ceil(np.sqrt(agents)))
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2)[:agents] * 4.0
    spread = rng.normal(size=(agents, 2)) * 50 if seed % 2 else grid @ [[0.6, -0.8], [0.8, 0.6]] + 300
    found = tc.assign_places(grid, spread)
    assert sorted(found.places.tolist()) == list(range(agents))
    assert found.guaranteed == pytest.approx(min(4.0, apart(spread)) / np.sqrt(2), rel=1e-9)
    assert is_kept(found, grid, spread)
    unit = [assignment._unit(points) for points in (grid, spread)]
    best = linear_sum_assignment(((unit[0][:, None] - unit[1]) ** 2).sum(axis=2))[1]
    assert squares(*unit, found.places) <= 1.25 * squares(*unit, best)


@pytest.mark.usefixtures("small_groups")
def test_a_large_team_that_stands_at_its_places_stays():
    """Equal sets of points are halved alike, whatever their order, and though many are in line."""
    grid = np.stack(np.meshgrid(np.arange(20.0), np.arange(15.0)), -1).reshape(-1, 2)
    order = np.random.default_rng(0).permutation(300)
    found = tc.assign_places(grid, grid[order])
    assert order[found.places].tolist() == list(range(300))


@pytest.mark.usefixtures("small_groups")
def test_whoever_would_come_too_close_swaps(monkeypatch):
    """The worst of beginnings: places at random. Swaps alone bring back the guarantee."""
    rng = np.random.default_rng(3)
    starts = np.stack(np.meshgrid(np.arange(12.0), np.arange(12.0)), -1).reshape(-1, 2)
    places = starts * 3 + 50
    shuffled = rng.permutation(144)
    monkeypatch.setattr(assignment, "assign_by_groups", lambda *_: shuffled.copy())
    before = tc.separation(np.stack([starts, places[shuffled]]))
    found = tc.assign_places(starts, places)
    assert before.distance < 0.1 < found.guaranteed <= found.separation
    assert is_kept(found, starts, places)
    assert squares(starts, places, found.places) < squares(starts, places, shuffled)


@pytest.mark.parametrize("degrees", [0, 45, 90, 92, 100, 120, 150, 180])
def test_a_pair_swaps_if_and_only_if_it_gains(degrees):
    """Two who are as far apart at the end as at the start, in another direction: beyond a right angle they gain."""
    angle, starts, order = np.radians(degrees), np.array([[0.0, 0], [1, 0]]), np.array([0, 1])
    goals = np.array([[5.0, 5.0], [5.0 + np.cos(angle), 5.0 + np.sin(angle)]])
    assignment._mend(starts, goals, order, assignment._promise(starts, goals))
    assert order.tolist() == ([1, 0] if degrees > 90 else [0, 1])
    assert assignment._swap(starts, goals, order, 0, 1) is False


@pytest.mark.usefixtures("small_groups")
def test_equal_sets_of_points_are_halved_alike():
    grid = np.stack(np.meshgrid(np.arange(21.0), np.arange(15.0)), -1).reshape(-1, 2)
    order = np.random.default_rng(0).permutation(315)
    groups = list(assignment._halved(grid, grid[order]))
    assert sorted(np.concatenate([some for some, _ in groups]).tolist()) == list(range(315))
    for some, theirs in groups:
        assert len(some) <= assignment.GROUP
        assert sorted(some.tolist()) == sorted(order[theirs].tolist())


def test_what_is_not_kept_is_not_promised():
    """A flight in which two cross has no guarantee, however far apart it begins and ends."""
    crossing = np.array([[0.0, 0], [4, 0]]), np.array([[4.0, 4], [0, 4]])
    found, guaranteed = assignment.assess_flight(*crossing)
    assert (found.distance, guaranteed) == (0.0, 0.0)


@pytest.mark.parametrize("agents", [1, 7, 256])
def test_the_least_travel_of_a_group_is_the_least_of_all(agents):
    rng = np.random.default_rng(agents)
    starts, goals = rng.random((agents, 2)), 5 + 3 * rng.random((agents, 2))
    costs = ((starts[:, None] - goals) ** 2).sum(axis=2)
    least = costs[linear_sum_assignment(costs)].sum()
    found = assignment.least_travel(starts, goals)
    assert sorted(found.tolist()) == list(range(agents))
    assert squares(starts, goals, found) == pytest.approx(least, rel=1e-9)


def test_the_travel_of_a_larger_group_is_nearly_the_least():
    starts, goals = np.random.default_rng(0).random((2, 400, 2))
    costs = ((starts[:, None] - goals) ** 2).sum(axis=2)
    found = assignment.least_travel(starts, goals)
    assert sorted(found.tolist()) == list(range(400))
    assert squares(starts, goals, found) < 1.1 * costs[linear_sum_assignment(costs)].sum()
