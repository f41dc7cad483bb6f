"""Lloyd in the triangle: Voronoi cells against a plain loop, and goals that are where they may be."""

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

import tricover as tc
from tricover.geometry import barycentric
from tricover.goals.voronoi import INSET, Cells, Near, voronoi_cells, within_triangles


def plain_cells(near, targets, within=None):
    """Mass and moment of everybody's cell, one target at a time; of those at the same distance the first has it."""
    masses, moments = np.zeros(len(near.agents)), np.zeros((len(near.agents), 2))
    weights = np.ones(len(targets)) if targets.weights is None else targets.weights
    for (x, y), weight in zip(targets.points.tolist(), weights.tolist(), strict=True):
        squares = [(x - a) * (x - a) + (y - b) * (y - b) for a, b in near.positions.tolist()]
        owner = squares.index(min(squares))
        if within is None or squares[owner] <= within * within / 4:
            masses[owner] += weight
            moments[owner] += [weight * (x - near.positions[owner, 0]), weight * (y - near.positions[owner, 1])]
    return masses, moments


@settings(max_examples=80)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.integers(1, 40),
    st.sampled_from([None, 1.0, 3.0, 100.0]),
    st.booleans(),
)
def test_cells_are_those_of_a_plain_loop(seed, agents, count, within, weighted):
    """On a grid, so that agents coincide, targets are half-way between two, and distances equal the range."""
    rng = np.random.default_rng(seed)
    near = Near(np.sort(rng.permutation(50)[:agents]), rng.integers(0, 5, (agents, 2)).astype(float))
    weights = rng.integers(0, 3, count) + (np.arange(count) == 0.0) if weighted else None
    targets = tc.Targets(rng.integers(-2, 12, (count, 2)) / 2, weights)
    some = rng.permutation(agents)[: max(agents // 2, 1)]
    found = voronoi_cells(near.agents[some], near, targets, within)
    masses, moments = plain_cells(near, targets, within)
    np.testing.assert_array_equal(found.masses, masses[some])
    np.testing.assert_array_equal(found.moments, moments[some])
    whole = voronoi_cells(near.agents, near, targets, within)
    total = len(targets) if targets.weights is None else targets.weights.sum()
    assert whole.masses.sum() <= total  # every target belongs to one agent at most, and to one if all are in range
    assert within != 100.0 or whole.masses.sum() == total


def test_centroids_are_those_of_the_targets_in_shapelys_cells():
    rng = np.random.default_rng(0)
    positions, points, weights = rng.random((15, 2)), rng.random((500, 2)), rng.random(500)
    cells = voronoi_cells(np.arange(15), Near(np.arange(15), positions), tc.Targets(points, weights))
    found = cells.centroids(positions)
    polygons = shapely.voronoi_polygons(shapely.MultiPoint(positions), extend_to=shapely.box(-1, -1, 2, 2)).geoms
    for polygon in polygons:
        agent = int(np.flatnonzero(shapely.contains_xy(polygon, *positions.T))[0])
        own = shapely.contains_xy(polygon, *points.T)
        np.testing.assert_allclose(found[agent], np.average(points[own], axis=0, weights=weights[own]), atol=1e-12)


def test_who_has_no_targets_is_its_own_centroid():
    positions = np.array([[0.0, 0.0], [9.0, 9.0], [0.25, 0.0]])
    cells = voronoi_cells(np.arange(3), Near(np.arange(3), positions), tc.Targets([[0.0, 1.0], [1.0, 0.0]]))
    assert cells.masses.tolist() == [1.0, 0.0, 1.0]
    np.testing.assert_array_equal(cells.centroids(positions), [[0.0, 1.0], [9.0, 9.0], [1.0, 0.0]])
    weightless = tc.Targets([[0.0, 1.0], [9.0, 8.0]], [1.0, 0.0])
    assert voronoi_cells(np.array([1]), Near(np.arange(3), positions), weightless).centroids(
        positions[1:2]
    ).tolist() == [[9.0, 9.0]]


def test_cells_are_of_the_agents_asked_for_by_their_numbers():
    near = Near(np.array([4, 7, 30]), np.array([[0.0, 0.0], [5.0, 0.0], [9.0, 0.0]]))
    targets = tc.Targets([[1.0, 0.0], [5.0, 1.0], [5.0, 2.0], [9.0, 3.0]])
    found = voronoi_cells(np.array([30, 4]), near, targets)
    assert found.masses.tolist() == [1.0, 1.0]
    assert found.moments.tolist() == [[0.0, 3.0], [1.0, 0.0]]


def triangles_and_goals(seed, count=300):
    rng = np.random.default_rng(seed)
    triangles = rng.random((count, 3, 2))
    return triangles, rng.uniform(-1, 2, (count, 2)), rng.uniform(-0.2, 1.2, (count, 2))


def test_goals_are_inside_their_triangles_with_weights_of_a_hundredth_at_least():
    triangles, centroids, positions = triangles_and_goals(1)
    goals = within_triangles(centroids, triangles, positions, 0.0)
    weights = barycentric(goals, triangles)
    assert weights.min() >= INSET - 1e-10
    assert INSET == 0.01


def test_goals_are_the_closest_points_of_the_inset_triangles():
    """By shapely, whose polygons are shrunk towards their middles by a factor: all weights at least a hundredth."""
    triangles, centroids, positions = triangles_and_goals(2)
    middles = triangles.mean(axis=1, keepdims=True)
    inset = shapely.polygons(middles + 0.97 * (triangles - middles))
    goals = within_triangles(centroids, triangles, positions, 0.0)
    np.testing.assert_allclose(
        np.hypot(*(goals - centroids).T), shapely.distance(inset, shapely.points(centroids)), atol=1e-12
    )
    inside = shapely.contains_xy(inset, *centroids.T)
    assert inside.any()
    np.testing.assert_array_equal(goals[inside], centroids[inside])  # who can go to its centroid goes there, to the bit


def test_who_would_move_by_less_than_the_rest_stays_if_it_is_inside():
    triangle = np.array([[[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]]])
    for away, rest, stays in ((0.1, 0.2, True), (0.2, 0.1, False), (0.125, 0.125, False)):
        here, wanted = np.array([[2.0, 2.0]]), np.array([[2.0 + away, 2.0]])
        goal = within_triangles(wanted, triangle, here, rest)
        assert goal.tolist() == (here if stays else wanted).tolist()
    # On the edge it is inside, if not in the inset: it stays there. Outside it has to come in.
    edge, beyond = np.array([[4.0, 0.0]]), np.array([[4.0, -0.01]])
    assert within_triangles(edge, triangle, edge, 0.5).tolist() == edge.tolist()
    assert barycentric(within_triangles(beyond, triangle, beyond, 0.5), triangle).min() == pytest.approx(0.01)


def test_a_triangle_without_area_sends_its_agent_to_the_mean():
    line = np.array([[[0.0, 0.0], [3.0, 3.0], [6.0, 6.0]], [[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]]])
    goals = within_triangles(np.array([[1.0, 1.0], [1.0, 1.0]]), line, np.array([[3.0, 3.0], [1.0, 1.0]]), 5.0)
    assert goals.tolist() == [[3.0, 3.0], [1.0, 1.0]]
    away = within_triangles(np.array([[1.0, 1.0]]), line[:1], np.array([[0.0, 0.0]]), 5.0)
    assert away.tolist() == [[3.0, 3.0]]


def test_an_agent_that_goes_part_of_the_way_comes_closer_to_its_centroid():
    triangles, centroids, _ = triangles_and_goals(3)
    rng = np.random.default_rng(3)
    positions = (
        rng.dirichlet([2, 2, 2], 300)[..., None] * (0.97 * triangles + 0.03 * triangles.mean(axis=1, keepdims=True))
    ).sum(axis=1)
    goals = within_triangles(centroids, triangles, positions, 0.0)
    before = np.hypot(*(centroids - positions).T)
    for share in (0.25, 0.5, 1.0):
        there = positions + share * (goals - positions)
        assert (np.hypot(*(centroids - there).T) <= before + 1e-12).all()


def test_centroids_of_cells_are_offsets_from_where_agents_are():
    cells = Cells(np.array([2.0, 0.0]), np.array([[4.0, -2.0], [0.0, 0.0]]))
    assert cells.centroids(np.array([[1.0, 1.0], [5.0, 5.0]])).tolist() == [[3.0, 0.0], [5.0, 5.0]]
