"""Places among weighted points: Lloyd's algorithm, its start and its relocations, against plain loops and SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.vq import kmeans2
from scipy.spatial.distance import cdist

from tricover.targets.density import local_density
from tricover.targets.placing import (
    Settled,
    _relocated,
    along_curve,
    find_nearest,
    improved,
    mean_square,
    nearest_places,
    settle,
    spread_of,
    start_places,
)


def fields():
    """Points (D, 2) and weights (D,): even, clustered, on a grid, and with some that weigh nothing."""
    rng = np.random.default_rng(0)
    grid = np.stack(np.meshgrid(np.arange(12.0), np.arange(12.0)), -1).reshape(-1, 2)
    clusters = np.concatenate([rng.normal(centre, 0.05, (60, 2)) for centre in rng.random((4, 2)) * 5])
    even = rng.random((300, 2))
    yield even, np.ones(300)
    yield clusters, rng.uniform(0.1, 3.0, 240)
    yield grid, np.ones(144)
    yield even * 40 + 3e5, np.where(rng.random(300) < 0.3, 0.0, rng.random(300))


def first_nearest(places, points):
    """Of the places nearest to each point the first, one pair at a time."""
    found = []
    for x, y in points.tolist():
        squares = [(x - a) * (x - a) + (y - b) * (y - b) for a, b in places.tolist()]
        found.append(squares.index(min(squares)))
    return found


@settings(max_examples=150)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=14),
    st.lists(st.tuples(st.integers(-2, 12), st.integers(-2, 12)), max_size=20),
    st.sampled_from([1.0, 0.1, 1e-6, 1e50, 1e-100, 1e-150]),
)
def test_of_places_at_the_same_distance_the_first_is_nearest(places, points, scale):
    """Places on a grid, several at one spot, and points half-way between them: nearly everything is a tie."""
    places = np.array(places, float).reshape(-1, 2) * scale
    points = np.array(points, float).reshape(-1, 2) * (scale / 2)
    assert nearest_places(places, points).tolist() == first_nearest(places, points)


def test_nearest_places_are_those_of_all_pairs():
    rng = np.random.default_rng(1)
    places, points = rng.random((90, 2)), rng.uniform(-0.2, 1.2, (2000, 2))
    assert nearest_places(places, points).tolist() == cdist(points, places).argmin(axis=1).tolist()


def test_many_places_at_one_spot_are_one():
    places = np.array([[2.0, 0.0], [1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
    assert nearest_places(places, np.array([[1.0, 1.0], [9.0, 0.0], [0.0, 0.0]])).tolist() == [1, 0, 1]


def test_who_is_nearest_does_not_depend_on_places_farther_away():
    """Squares are rounded in one way, whoever else is there: ties that rounding makes are decided alike."""
    rng = np.random.default_rng(2)
    places = rng.integers(0, 30, (60, 2)) * 0.1
    points = rng.integers(0, 60, (400, 2)) * 0.05
    whole = nearest_places(places, points)
    for row in range(0, 400, 7):
        near = np.flatnonzero(
            np.hypot(*(places - points[row]).T) <= 1.01 * np.hypot(*(places[whole[row]] - points[row]))
        )
        assert near[nearest_places(places[near], points[row : row + 1])[0]] == whole[row]


@pytest.mark.parametrize("threads", ["1", "2"])
def test_nearest_distances_are_the_same_with_any_number_of_threads(threads, monkeypatch):
    monkeypatch.setenv("TRICOVER_THREADS", threads)
    rng = np.random.default_rng(3)
    places, points = rng.random((40, 2)), rng.random((12_000, 2))
    distances, nearest = find_nearest(places, points, 1)
    assert nearest.tolist() == cdist(points, places).argmin(axis=1).tolist()
    np.testing.assert_allclose(distances, cdist(points, places).min(axis=1), rtol=1e-14)
    assert find_nearest(places, points[:5], 3)[1].shape == (5, 3)


def test_the_cost_is_the_weighted_mean_of_the_least_squares():
    for points, weights in fields():
        places = points[::17] + 0.01
        expected = (weights * cdist(points, places).min(axis=1) ** 2).sum() / weights.sum()
        assert mean_square(places, points, weights) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("which", range(4))
@pytest.mark.parametrize("hold", [False, True])
def test_lloyds_cost_never_rises_and_held_places_stay(which, hold):
    points, weights = list(fields())[which]
    rng = np.random.default_rng(which)
    start = points[rng.permutation(len(points))[:15]] + 0.01 * np.ptp(points, axis=0) * rng.random((15, 2))
    held = np.arange(15) % 4 == 0 if hold else None
    found = settle(start.copy(), points, weights, held)
    assert found.converged
    assert (np.diff(found.costs) <= 1e-15 * found.costs[:-1]).all()  # but for rounding at the end
    assert found.cost == found.costs[-1]
    assert found.cost == pytest.approx(mean_square(found.places, points, weights), rel=1e-12)
    assert found.costs[0] == pytest.approx(mean_square(start, points, weights), rel=1e-12)
    if held is not None:
        np.testing.assert_array_equal(found.places[held], start[held])
    # In the end each free place with points of weight is at their centroid.
    nearest = cdist(points, found.places).argmin(axis=1)
    for place in range(15):
        own = (nearest == place) & (weights > 0)
        if own.any() and (held is None or not held[place]):
            centroid = np.average(points[own], axis=0, weights=weights[own])
            np.testing.assert_allclose(found.places[place], centroid, rtol=1e-12, atol=1e-12)


def test_lloyds_steps_are_those_of_scipy():
    rng = np.random.default_rng(4)
    points = rng.random((400, 2))
    start = points[:20]
    for most in (0, 1, 5):
        expected = start if not most else kmeans2(points, start.copy(), iter=most, minit="matrix")[0]
        found = settle(start, points, np.ones(400), most=most)
        np.testing.assert_allclose(found.places, expected, atol=1e-12)
        assert len(found.costs) == most + 1
        assert not found.converged


def test_a_place_without_points_stays():
    points = np.array([[0.0, 0.0], [1.0, 0.0]])
    found = settle(np.array([[0.2, 0.0], [50.0, 50.0], [1.2, 0.0]]), points, np.array([1.0, 1.0]))
    assert found.places.tolist() == [[0.0, 0.0], [50.0, 50.0], [1.0, 0.0]]
    weightless = settle(np.array([[0.2, 0.0], [1.2, 0.0]]), points, np.array([1.0, 0.0]))
    assert weightless.places.tolist() == [[0.0, 0.0], [1.2, 0.0]]


def test_a_tolerance_ends_lloyds_where_the_cost_falls_by_less():
    points, weights = next(fields())
    start = points[:10]
    exact, rough = settle(start, points, weights), settle(start, points, weights, tolerance=0.01)
    falls = -np.diff(exact.costs) / exact.costs[:-1]
    first = int(np.flatnonzero(falls <= 0.01)[0])
    np.testing.assert_array_equal(rough.costs, exact.costs[: first + 2])
    assert rough.converged


def test_far_from_the_origin_no_digits_are_lost():
    """Steps of 2⁻²⁰ metres, 2³⁰ metres away: all centroids are exact."""
    points = np.array([[0.0, 0.0], [0.0, 2.0], [8.0, 0.0], [8.0, 2.0]]) * 2.0**-20
    far = settle(points[[0, 2]] + 2.0**30, points + 2.0**30, np.ones(4))
    assert ((far.places - 2.0**30) * 2.0**20).tolist() == [[0.0, 1.0], [8.0, 1.0]]


def test_the_spread_of_a_point_is_its_weight_over_the_root_of_the_density():
    for points, weights in fields():
        expected = weights * local_density(points, weights) ** -0.5
        np.testing.assert_allclose(spread_of(points, weights), expected, rtol=1e-12)


@settings(max_examples=80)
@given(st.integers(0, 2**32 - 1), st.data())
def test_a_start_has_points_that_are_all_different(seed, data):
    """With points that coincide, on a line, or with nearly all of the spread in one of them."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, data.draw(st.integers(1, 6)), (data.draw(st.integers(1, 40)), 2)).astype(float)
    points[:, 1] *= data.draw(st.sampled_from([0.0, 1.0]))
    spread = rng.random(len(points)) ** data.draw(st.sampled_from([1, 30])) + 1e-12
    distinct = np.unique(points, axis=0)
    count = data.draw(st.integers(1, len(distinct)))
    found = start_places(points, spread, count)
    assert found.shape == (count, 2)
    assert len(np.unique(found, axis=0)) == count
    assert {tuple(row) for row in found.tolist()} <= {tuple(row) for row in points.tolist()}


def test_a_start_takes_equal_steps_of_the_spread():
    """On a line, which the curve follows: the points in the middle of eight equal parts, by a plain sum."""
    rng = np.random.default_rng(5)
    x = np.sort(rng.random(500))
    points, spread = np.stack([x, np.zeros(500)], axis=1), rng.random(500)
    order = np.argsort(along_curve(points), kind="stable")
    shares = np.cumsum(spread[order]) / spread.sum()
    expected = [order[int(np.argmax(shares >= (k + 0.5) / 8))] for k in range(8)]
    assert start_places(points, spread, 8).tolist() == points[expected].tolist()
    assert np.sort(start_places(points, spread, 500)[:, 0]).tolist() == x.tolist()


def test_a_start_does_not_depend_on_the_order_of_the_points():
    rng = np.random.default_rng(6)
    points, spread = rng.integers(0, 9, (200, 2)).astype(float), np.ones(200)
    order = rng.permutation(200)
    np.testing.assert_array_equal(start_places(points, spread, 30), start_places(points[order], spread[order], 30))


def test_the_curve_goes_from_each_cell_of_a_grid_to_the_next():
    """Hilbert's curve: neighbours along it are neighbours in the plane, and every cell is visited once."""
    side = 16
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2).astype(float)
    place = along_curve(grid)
    assert len(np.unique(place)) == side * side
    steps = np.abs(np.diff(grid[np.argsort(place)], axis=0)).sum(axis=1)
    assert steps.max() == 1


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200, 1e-320])
def test_the_curve_does_not_care_for_scale_or_for_points_at_one_spot(scale):
    grid = np.stack(np.meshgrid(np.arange(8), np.arange(8)), -1).reshape(-1, 2).astype(float)
    np.testing.assert_array_equal(np.argsort(along_curve(grid * scale)), np.argsort(along_curve(grid)))
    assert len(set(along_curve(np.full((5, 2), 3.0) * scale).tolist())) == 1
    assert along_curve(np.zeros((3, 2))).tolist() == [0, 0, 0]


@pytest.mark.parametrize("which", range(4))
def test_relocations_never_make_a_formation_worse(which):
    points, weights = list(fields())[which]
    rng = np.random.default_rng(7 + which)
    found = settle(points[rng.permutation(len(points))[:24]] + 1e-3, points, weights)
    better = improved(found, points, weights)
    assert better.cost <= found.cost
    assert better.cost == pytest.approx(mean_square(better.places, points, weights), rel=1e-12)


def test_relocations_leave_a_poor_optimum():
    """Twenty places, all in one of two clusters: some of them have to go to the other, and half do."""
    rng = np.random.default_rng(8)
    near, far = rng.normal(0, 1, (200, 2)), rng.normal((40, 0), 1, (200, 2))
    points, weights = np.concatenate([near, far]), np.ones(400)
    stuck = settle(near[:20].copy(), points, weights)
    better = improved(stuck, points, weights)
    assert better.cost < 0.5 * stuck.cost
    assert 6 <= (better.places[:, 0] > 20).sum() <= 14
    assert better.cost < 1.1 * settle(np.concatenate([near[:10], far[:10]]), points, weights).cost


def test_who_is_missed_least_goes_to_the_farthest_point_of_who_has_the_most_cost():
    """By hand: of two next to each other the first is missed least, though it has more cost than a lonely one."""
    places = np.array([[0.0, 0.0], [0.0, 1.0], [50.0, 0.0], [90.0, 0.0]])
    points = np.array([[-3.0, 0.0], [-3.0, 1.0], [50.0, 0.0], [90.0, 3.0], [90.0, -6.0]])
    moved = _relocated(places, points, np.ones(5), np.zeros(4, bool), 1)
    assert moved.tolist() == [[90.0, -6.0], *places[1:].tolist()]
    # Nobody goes next to itself: the first has the most cost, and would not be missed, as another is so near.
    places = np.array([[0.0, 0.0], [0.0, 1e-3], [90.0, 0.0]])
    points = np.array([[20.0, 0.0], [-20.0, 0.0], [0.0, 5.0], [90.0, 3.0]])
    moved = _relocated(places, points, np.ones(4), np.zeros(3, bool), 1)
    assert moved.tolist() == [[0.0, 5.0], *places[1:].tolist()]


def test_who_is_held_is_not_relocated():
    places = np.array([[0.0, 0.0], [0.0, 1.0], [50.0, 0.0], [90.0, 0.0]])
    points = np.array([[-3.0, 0.0], [-3.0, 1.0], [50.0, 0.0], [90.0, 3.0], [90.0, -6.0]])
    held = np.array([True, False, False, False])
    moved = _relocated(places, points, np.ones(5), held, 1)
    assert moved.tolist() == [[0.0, 0.0], [90.0, -6.0], [50.0, 0.0], [90.0, 0.0]]
    points, weights = next(fields())
    first = settle(points[:30], points, weights, np.arange(30) < 5)
    better = improved(first, points, weights, np.arange(30) < 5)
    np.testing.assert_array_equal(better.places[:5], points[:5])
    assert better.cost < first.cost


def test_there_are_at_most_so_many_relocations():
    points, weights = next(fields())
    found = settle(points[:30], points, weights)
    costs = [improved(found, points, weights, most=most).cost for most in (0, 1, 2, None)]
    assert costs[0] == found.cost
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0]


def test_relocations_that_bring_too_little_are_not_made():
    points, weights = next(fields())
    found = settle(points[:30], points, weights)
    gain = improved(found, points, weights).cost / found.cost
    assert gain < 1
    assert improved(found, points, weights, gain=0.99) is found


def test_fewer_than_ten_places_are_not_relocated():
    points, weights = next(fields())
    found = Settled(points[:9], np.array([1.0]), True)
    assert improved(found, points, weights) is found
