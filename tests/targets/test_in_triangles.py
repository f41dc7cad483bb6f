from fractions import Fraction
from math import fsum

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tricover as tc
from tricover.errors import InputError
from tricover.targets import index as module


def side(a, b, c):
    """Sign of the turn a → b → c, in rational arithmetic."""
    (ax, ay), (bx, by), (cx, cy) = ([Fraction(float(v)) for v in p] for p in (a, b, c))
    turn = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    return (turn > 0) - (turn < 0)


def holds(triangle, point):
    """Whether a closed triangle holds a point: the box holds it, and no two sides see it on opposite hands."""
    if not ((triangle.min(axis=0) <= point) & (point <= triangle.max(axis=0))).all():
        return False
    a, b, c = triangle
    signs = {side(a, b, point), side(b, c, point), side(c, a, point)}
    in_box = all(
        low <= p <= high for low, p, high in zip(triangle.min(axis=0), point, triangle.max(axis=0), strict=True)
    )
    return in_box and not {-1, 1} <= signs


def brute(points, triangles):
    return np.array([[holds(triangle, point) for point in points] for triangle in triangles], dtype=bool)


def check(points, triangles, weights=None):
    points, triangles = np.asarray(points, float), np.asarray(triangles, float)
    inside = brute(points, triangles)
    targets = tc.Targets(points, weights)
    counts, sums = targets.in_triangles(triangles)
    factors = np.ones(len(points)) if weights is None else np.asarray(weights)
    values = np.column_stack([factors, factors[:, None] * points])
    for triangle, row in enumerate(inside):
        found = [counts[triangle], *sums[triangle]]
        for value, column in zip(found, values[row].T, strict=True):
            assert abs(value - fsum(column)) <= 1e-13 * fsum(abs(column))
    if weights is None:
        np.testing.assert_array_equal(counts, inside.sum(axis=1))
    offsets, members = targets.members(triangles)
    for triangle, row in enumerate(inside):
        assert sorted(members[offsets[triangle] : offsets[triangle + 1]]) == np.flatnonzero(row).tolist()
    return inside


def random_triangles(rng, count, low=-0.2, high=1.2):
    """Large and small, thin, flat, flipped, with shared corners."""
    triangles = rng.uniform(low, high, (count, 3, 2))
    triangles[::4] = triangles[::4, :1] + 0.05 * (triangles[::4] - triangles[::4, :1])
    triangles[1::4, 2] = triangles[1::4, 0] + rng.uniform(0, 1, (len(triangles[1::4]), 1)) * (
        triangles[1::4, 1] - triangles[1::4, 0]
    )
    triangles[2::8, 1] = triangles[2::8, 0]
    return triangles


@pytest.mark.parametrize(
    ("scale", "offset"),
    [
        *[(1.0, 0.0), (1.0, 1e6), (1e6, 0.0), (1e6, 1e6), (1e-6, 0.0), (1e-6, 1e6)],
        *[(1e-100, 0.0), (1e-160, 0.0), (1e-260, 0.0), (1e90, 0.0), (8e99, 0.0)],
    ],
)
def test_random_triangles(scale, offset):
    rng = np.random.default_rng(1)
    points = scale * rng.random((300, 2)) + offset
    check(points, scale * random_triangles(rng, 60) + offset)
    check(points, scale * random_triangles(rng, 20) + offset, rng.random(300))


@given(data=st.data())
@settings(max_examples=150)
def test_small_whole_numbers_where_everything_is_on_an_edge(data):
    whole = st.integers(-3, 3).map(float)
    points = data.draw(arrays(np.float64, (data.draw(st.integers(1, 40)), 2), elements=whole))
    triangles = data.draw(arrays(np.float64, (5, 3, 2), elements=whole))
    check(points, triangles)


@given(data=st.data())
@settings(max_examples=100)
def test_any_numbers_at_all(data):
    # Exact signs need coordinates that span less than 280 decades.
    plain = st.floats(-1e9, 1e9).map(lambda value: value if abs(value) > 1e-30 else 0.0)
    mixed = st.floats(-1e100, 1e100).map(lambda value: value if abs(value) > 1e-180 else 0.0)
    numbers = plain | mixed | st.sampled_from([0.0, 1.0, 0.1, 0.2, 0.1 + 0.2, 0.3, 1e-30, 1e-180, 1e9, 1e100, 1 / 3])
    points = data.draw(arrays(np.float64, (data.draw(st.integers(1, 12)), 2), elements=numbers))
    triangles = data.draw(arrays(np.float64, (3, 3, 2), elements=numbers))
    triangles[0, :2] = points[[0, -1]]
    check(points, triangles)


def test_targets_on_grid_nodes_and_triangles_with_corners_there():
    rng = np.random.default_rng(2)
    points = np.stack(np.meshgrid(np.arange(20.0), np.arange(15.0)), axis=-1).reshape(-1, 2)
    inside = check(points, rng.integers(-2, 22, (60, 3, 2)).astype(float))
    assert inside.any()


@pytest.mark.parametrize("direction", [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.1, 0.3)])
def test_all_targets_on_one_line(direction):
    rng = np.random.default_rng(3)
    points = rng.integers(0, 64, (200, 1)) / 64 * np.array(direction)
    triangles = random_triangles(rng, 40)
    triangles[:10] = points[rng.integers(0, 200, (10, 3))]
    check(points, triangles)


@pytest.mark.parametrize("direction", [(1.0, 1.0), (-1.0, 0.3), (1.0, 400.0), (1e-3, -1.0), (1e60, 3e60)])
@pytest.mark.parametrize("width", [0.1, 1e-6, 1e-13])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_targets_in_a_slanted_strip(direction, width, offset):
    """Triangles as thin as the strip, and along it; some have their corners at targets, or are as good as flat."""
    rng = np.random.default_rng(8)
    along = np.array(direction)
    across = width * np.array([-along[1], along[0]])

    def placed(places):
        return (places[..., :1] + offset) * along + places[..., 1:] * across

    points = placed(rng.random((550, 2)))
    points[:40] = points[40:80]
    triangles = placed(random_triangles(rng, 18))
    triangles[:6] = points[rng.integers(0, 550, (6, 3))]
    triangles[6:10] = along * (rng.uniform(-0.2, 1.2, (4, 3, 1)) + offset)  # flat, or nearly so
    triangles[10:12] = placed(
        np.array([[[-9.0, -9.0], [9.0, -9.0], [0.0, 9.0]], [[-9.0, 0.5], [9.0, 0.5], [0.0, 9.0]]])
    )
    inside = check(points, triangles)
    assert inside[10].all()
    check(points, triangles[:8], rng.random(550))


@pytest.mark.parametrize("direction", [(1.0, 1.0), (-1.0, 0.3), (1.0, 400.0), (0.7, -1e-3)])
@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("heights", [[0.0, 0.3, 0.5, 1.0], [0.5]], ids=["lines within a row", "rows within a line"])
def test_targets_in_a_strip_along_lines_that_rounding_bends(monkeypatch, direction, offset, heights):
    """Triangles that are no thicker than what rounding does to the heights of targets on their edges."""
    fitted = module._heights

    def exactly_along(positions):
        slope, slack = direction[1] / direction[0], fitted(positions)[2]
        return positions[:, 1] - slope * positions[:, 0], slope, slack

    monkeypatch.setattr(module, "_heights", exactly_along)
    rng = np.random.default_rng(10)
    along = np.array(direction)
    across = 1e-4 * np.array([-along[1], along[0]])
    places = rng.random((600, 2))
    places[:400, 1] = rng.choice(heights, 400)
    points = (places[:, :1] + offset) * along + places[:, 1:] * across
    triangles = []
    for height in heights:
        row = points[:400][places[:400, 1] == height]
        corners = row[rng.integers(0, len(row), (32 // len(heights), 3))]
        corners[:, 2] += rng.integers(-3, 4, corners[:, 2].shape) * np.spacing(corners[:, 2])
        triangles.append(corners)
    assert tc.Targets(points).index.slack > 0.0
    inside = check(points, np.concatenate(triangles))
    assert (inside.sum(axis=1) > 3).sum() > 5


@pytest.mark.parametrize(("wide", "high"), [(1e-150, 1e60), (1e-60, 1e95), (1e-10, 1e99)])
def test_triangles_that_hold_a_strip_as_steep_as_can_be(wide, high):
    rng = np.random.default_rng(0)
    along = rng.random(600)
    targets = tc.Targets(np.column_stack([along * wide, (along + 0.1 * rng.random(600)) * high]))
    counts, _ = targets.in_triangles([[[-1e100, -1e100], [1e100, -1e100], [0.0, 1e100]]])
    assert counts.tolist() == [600]


def test_strips_have_rows_of_their_own():
    """Else each triangle would be compared with all targets beside it."""
    places = np.random.default_rng(9).random((5000, 2))
    for turn in (np.array([[1.0, 2.0], [-2e-4, 1e-4]]), np.array([[1.0, -0.1], [1e-3, 1e-2]])):
        index = tc.Targets(places @ turn).index
        heights = places @ turn @ [-index.slope, 1.0]
        assert index.slope == pytest.approx(turn[0, 1] / turn[0, 0], rel=1e-2)
        assert np.ptp(heights) < 2e-2 * np.ptp(places @ turn, axis=0).max()
    assert tc.Targets(places).index.slope == 0.0
    assert tc.Targets(places[:, :1] * [[1.0, 3.0]]).index.slope == 0.0, "on one line heights are rounding alone"


def test_many_targets_on_one_level_and_triangles_that_lie_on_it():
    """Long stretches of a row without height: counted against the ends of the segment alone."""
    rng = np.random.default_rng(6)
    points = np.column_stack([rng.integers(0, 2**20, 40_000) / 2**20, np.full(40_000, 0.3)])
    triangles = np.column_stack([points[rng.integers(0, 40_000, (50, 3)), 0].ravel(), np.full(150, 0.3)]).reshape(
        -1, 3, 2
    )
    triangles[::5, :, 1] = np.nextafter(0.3, 1)  # just above: none
    counts, sums = tc.Targets(points).in_triangles(triangles)
    xs = np.sort(points[:, 0])
    for corners, count, total in zip(triangles, counts, sums, strict=True):
        held = xs[(xs >= corners[:, 0].min()) & (xs <= corners[:, 0].max())] if corners[0, 1] == 0.3 else xs[:0]
        assert count == len(held)
        np.testing.assert_allclose(total, [fsum(held), fsum(np.full(len(held), 0.3))], rtol=1e-13)


def test_coincident_targets():
    points = np.full((500, 2), 0.1)
    inside = check(
        points, [[[0.1, 0.1]] * 3, [[0, 0], [0.2, 0.2], [5, 5]], [[0, 0], [1, 0], [0, 1]], [[0.2, 0], [1, 0], [1, 1]]]
    )
    assert inside.all(axis=1).tolist() == [True, True, True, False]


def test_targets_a_rounding_error_away_from_an_edge():
    triangle = np.array([[0.1, 0.1], [0.7, 0.3], [0.2, 0.9]])
    weights = np.linspace(0, 1, 50)[:, None]
    on_edge = (1 - weights) * triangle[0] + weights * triangle[1]
    points = np.vstack([on_edge, np.nextafter(on_edge, 2), np.nextafter(on_edge, -2)])
    inside = check(points, [triangle, triangle[::-1]])
    assert 0 < inside[0].sum() < len(points)


def test_clustered_targets_of_very_different_weight():
    rng = np.random.default_rng(4)
    points = np.vstack([rng.normal(0.5, 1e-5, (200, 2)), rng.random((200, 2))])
    check(points, random_triangles(rng, 40), 10.0 ** rng.uniform(-8, 8, 400))


def test_a_large_set_meets_every_part_of_the_index():
    """Against plain floating-point tests, on random numbers where none is in doubt."""
    rng = np.random.default_rng(5)
    points, triangles = rng.random((20_000, 2)), random_triangles(rng, 200)
    triangles[1::4] = rng.random((50, 3, 2))
    triangles[2::8, 1] += rng.random((25, 2))
    targets = tc.Targets(points)
    counts, sums = targets.in_triangles(triangles)
    offsets, members = targets.members(triangles)
    for k, (a, b, c) in enumerate(triangles):
        turns = [
            np.cross(np.append(q - p, 0), np.c_[points - p, np.zeros(len(points))])[:, 2]
            for p, q in ((a, b), (b, c), (c, a))
        ]
        inside = np.all(np.greater_equal(turns, 0), axis=0) | np.all(np.less_equal(turns, 0), axis=0)
        assert counts[k] == inside.sum()
        np.testing.assert_allclose(sums[k], points[inside].sum(axis=0), rtol=1e-12)
        assert sorted(members[offsets[k] : offsets[k + 1]]) == np.flatnonzero(inside).tolist()
    assert counts.max() > 5_000


def test_same_bits_for_any_number_of_threads_and_order_of_triangles(monkeypatch):
    rng = np.random.default_rng(6)
    targets = tc.Targets(rng.random((5_000, 2)), rng.random(5_000))
    triangles = random_triangles(rng, 10_000)
    counts, sums = targets.in_triangles(triangles)
    monkeypatch.setenv("TRICOVER_THREADS", "1")
    again = targets.in_triangles(triangles[::-1])
    np.testing.assert_array_equal(again[0][::-1], counts)
    np.testing.assert_array_equal(again[1][::-1], sums)


def test_shapes_follow_the_triangles():
    targets = tc.Targets([[0.25, 0.25], [2, 2]])
    triangle = np.array([[0, 0], [1, 0], [0, 1]])
    for shape in [(), (4,), (2, 3), (0,)]:
        counts, sums = targets.in_triangles(np.broadcast_to(triangle, (*shape, 3, 2)))
        assert counts.shape == shape
        assert sums.shape == (*shape, 2)
        assert (counts == 1).all()


def test_sums_of_any_values():
    rng = np.random.default_rng(7)
    points, triangles, values = rng.random((300, 2)), random_triangles(rng, 30), rng.normal(size=(300, 4))
    inside = brute(points, triangles)
    targets = tc.Targets(points, rng.random(300))
    np.testing.assert_allclose(targets.sums_in_triangles(triangles, values), inside @ values, atol=1e-12)
    np.testing.assert_allclose(targets.sums_in_triangles(triangles, values[:, 0]), inside @ values[:, 0], atol=1e-12)
    assert targets.sums_in_triangles(triangles[0], values[:, :2]).shape == (2,)


def test_prefix_sums_lose_no_digits():
    """A huge weight in the same row must not blur the small ones beside it."""
    rng = np.random.default_rng(8)
    points = np.c_[rng.uniform(0, 1, 5_000), np.zeros(5_000)]
    weights = np.where(points[:, 0] < 0.4, 1e14, rng.random(5_000))
    triangle = np.array([[0.5, -9.0], [0.5, 9.0], [9.0, 0.0]])
    inside = points[:, 0] >= 0.5
    (count, total) = tc.Targets(points, weights).in_triangles(triangle)
    assert count == pytest.approx(fsum(weights[inside]), rel=1e-13)
    assert total[0] == pytest.approx(fsum(weights[inside] * points[inside, 0]), rel=1e-13)


@pytest.mark.parametrize(
    ("triangles", "message"),
    [
        ([[0, 0], [1, 0]], r"shape \(…, 3, 2\), not \(2, 2\)"),
        ([[[0, 0], [1, 0], [0, 1]], [[0, 0], [np.nan, 0], [0, 1]]], "triangle 1 has a corner that is NaN"),
        ([[0, 0], [1e200, 0], [0, 1]], "triangle 0 has a corner"),
    ],
)
def test_bad_triangles_are_named(triangles, message):
    with pytest.raises(InputError, match=message):
        tc.Targets([[0, 0]]).in_triangles(triangles)


def test_bad_values_are_refused():
    targets = tc.Targets([[0, 0], [1, 1]])
    for values in ([1.0], [[1.0], [np.nan]], 3.0):
        with pytest.raises(InputError, match="values must be finite, of shape"):
            targets.sums_in_triangles([[0, 0], [1, 0], [0, 1]], values)
    for values in ([1e308, 1e308], [0.0, -6e299]):
        with pytest.raises(InputError, match=r"must not exceed 1e\+300 divided by the number of targets"):
            targets.sums_in_triangles([[0, 0], [1, 0], [0, 1]], values)
    assert targets.sums_in_triangles([[0, 0], [2, 0], [0, 2]], [5e299, 5e299]) == 1e300
