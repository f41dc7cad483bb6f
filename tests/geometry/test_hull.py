"""The hull proves itself: all points on the inner side of every facet, a closed surface, true corners."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull
from tests.network import oracle
from tests.network.formations import formations

from tricover.errors import FormationError
from tricover.geometry import hull as hull_module
from tricover.geometry.hull import convex_hull, fan_cones, inside_hull
from tricover.network.roster import scaled


def rank(rows):
    """Rank of a rational matrix, by elimination."""
    rows, found = [list(row) for row in rows], 0
    for column in range(len(rows[0])):
        pivot = next((r for r in range(found, len(rows)) if rows[r][column] != 0), None)
        if pivot is not None:
            rows[found], rows[pivot] = rows[pivot], rows[found]
            for r in range(found + 1, len(rows)):
                factor = rows[r][column] / rows[found][column]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[found], strict=True)]
            found += 1
    return found


def normal(corners):
    """Coefficients of x in volume(corners, x): a vector normal to the facet, as fractions."""
    n = len(corners[0])
    origin = (Fraction(0),) * n
    base = oracle.volume([*corners, origin])
    return [oracle.volume([*corners, tuple(Fraction(int(k == axis)) for k in range(n))]) - base for axis in range(n)]


@pytest.mark.parametrize("n", [2, 3])
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_hull_is_exact(n, data):
    points = scaled(data.draw(formations(n=n)))
    try:
        hull = convex_hull(points)
    except FormationError:
        exact = oracle.as_fractions(points)
        assert rank([[a - b for a, b in zip(p, exact[0], strict=True)] for p in exact[1:]]) < n
        return
    exact = oracle.as_fractions(points)
    facets = hull.facets.tolist()
    for facet in facets:
        corners = [exact[c] for c in facet]
        assert min(oracle.volume([*corners, point]) for point in exact) == 0
        assert max(oracle.volume([*corners, point]) for point in exact) > 0
    for f, facet in enumerate(facets):
        for k, g in enumerate(hull.across[f].tolist()):
            assert f in hull.across[g]
            assert set(facet) - {facet[k]} <= set(facets[g])
    assert sorted(hull.vertices.tolist()) == sorted({c for facet in facets for c in facet})
    for vertex in hull.vertices.tolist():
        assert rank([normal([exact[c] for c in facet]) for facet in facets if vertex in facet]) == n


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_is_sifted_out_before_is_no_corner(data):
    """Large teams are sifted before they are sorted; here small and degenerate ones are."""
    points = scaled(data.draw(formations(n=2)))
    try:
        hull = convex_hull(points)
    except FormationError:
        assert not hull_module._surely_inside(points).any()
        return
    assert not hull_module._surely_inside(points)[hull.vertices].any()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hull_module, "_FEW", 0)
        assert np.array_equal(convex_hull(points).facets, hull.facets)


@pytest.mark.parametrize("n", [2, 3])
def test_agrees_with_qhull_on_points_in_general_position(n):
    points = np.random.default_rng(n).random((5000, n))
    hull = convex_hull(points)
    assert sorted(hull.vertices.tolist()) == sorted(ConvexHull(points).vertices.tolist())


def test_planar_vertices_go_round_from_the_lowest_index():
    points = np.array([[1, 1], [2, 0], [0, 0], [1, 0], [0, 2], [2, 2]], float)
    assert convex_hull(points).vertices.tolist() == [1, 5, 4, 2]


@pytest.mark.parametrize("n", [2, 3])
@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_cones_hold_their_agents_and_ties_go_to_the_lowest(n, data):
    points = scaled(data.draw(formations(n=n, most=14)))
    try:
        hull = convex_hull(points)
    except FormationError:
        assume(False)
    interior = np.setdiff1d(np.arange(len(points)), hull.vertices)
    assume(len(interior) > 1)
    core, agents = int(interior[0]), interior[1:]
    exact = oracle.as_fractions(points)
    cells = [[exact[c] for c in facet] + [exact[core]] for facet in hull.facets.tolist()]
    solid = {f: cell for f, cell in enumerate(cells) if oracle.volume(cell) > 0}
    for agent, cone in zip(agents.tolist(), fan_cones(points, hull, core, agents).tolist(), strict=True):
        assert cone == next(f for f, cell in solid.items() if min(oracle.weights(exact[agent], cell)[:-1]) >= 0)


def test_inside_hull_counts_the_border_as_inside():
    points = np.array([[0, 0], [4, 0], [0, 4], [2, 2], [2, 0], [1, 1], [np.nextafter(2, 3), 2], [2, -1e-300]])
    hull = convex_hull(points[:3])
    assert inside_hull(points, hull, np.arange(8)).tolist() == [True] * 6 + [False] * 2
