"""Lists of weighted points, and merging them: sums are kept, whatever the points and whatever their order."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tricover.targets import TargetLists
from tricover.targets.merging import inside, merged


def lists_of(rng, counts, spread=100.0):
    total = sum(counts)
    names, points = rng.permutation(10 * total + 1)[:total], rng.uniform(-spread, spread, (total, 2))
    return TargetLists.of(np.array(counts), names, points, rng.random(total), rng.random(total) < 0.5)


def row(lists, k):
    some = slice(lists.offsets[k], lists.offsets[k + 1])
    return lists.names[some], lists.points[some], lists.weights[some], lists.fresh[some]


@pytest.mark.parametrize("most", [1, 2, 7, 64])
def test_weight_and_centroid_of_every_list_are_kept(most):
    rng = np.random.default_rng(most)
    lists = lists_of(rng, [0, 1, 5, 64, 65, 300, 2])
    fewer = merged(lists, most)
    for k in range(len(lists)):
        before, after = row(lists, k), row(fewer, k)
        assert len(after[0]) == min(most, len(before[0]))
        for column in (lambda p, w: 1, lambda p, w: p[0], lambda p, w: p[1]):
            exact = sum(
                (Fraction(w) * Fraction(column(p, w)) for p, w in zip(before[1], before[2], strict=True)), Fraction(0)
            )
            found = sum(
                (Fraction(w) * Fraction(column(p, w)) for p, w in zip(after[1], after[2], strict=True)), Fraction(0)
            )
            assert abs(float(exact - found)) <= 1e-9 * (1 + abs(float(exact)))
        named = after[0] >= 0
        known = dict(zip(before[0].tolist(), before[1].tolist(), strict=True))
        assert all(
            known[name] == point for name, point in zip(after[0][named].tolist(), after[1][named].tolist(), strict=True)
        )


def test_order_and_other_lists_do_not_matter():
    rng = np.random.default_rng(3)
    lists = lists_of(rng, [200, 90])
    shuffled = np.concatenate([rng.permutation(200), 200 + rng.permutation(90)])
    columns = (getattr(lists, name)[shuffled] for name in ("names", "points", "weights", "fresh"))
    other = merged(TargetLists.of(np.array([200, 90]), *columns), 13)
    whole = merged(lists, 13)
    for name in ("offsets", "names", "points", "weights", "fresh"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(other, name))
    alone = merged(lists.rows(np.array([1])), 13)
    np.testing.assert_array_equal(alone.points, whole.rows(np.array([1])).points)


def test_groups_are_compact():
    """Four clusters become their centroids; and scatter is near that of the best of many random starts of k-means."""
    rng = np.random.default_rng(4)
    centres = np.array([[0.0, 0.0], [50.0, 0.0], [0.0, 50.0], [50.0, 50.0]])
    points = np.concatenate([centre + rng.normal(size=(25, 2)) for centre in centres])
    fewer = merged(TargetLists.of(np.array([100]), np.arange(100), points, np.ones(100), np.zeros(100, bool)), 4)
    np.testing.assert_allclose(fewer.weights, 25)
    means = points.reshape(4, 25, 2).mean(axis=1)
    assert np.abs(fewer.points[:, None] - means).sum(axis=2).min(axis=1).max() < 1e-9
    from scipy.cluster.vq import kmeans2

    cloud = rng.random((400, 2))
    fewer = merged(TargetLists.of(np.array([400]), np.arange(400), cloud, np.ones(400), np.zeros(400, bool)), 16)
    ours = ((cloud[:, None] - fewer.points) ** 2).sum(axis=2).min(axis=1).sum()
    starts = (kmeans2(cloud, 16, minit="++", seed=seed)[0] for seed in range(5))
    best = min(((cloud[:, None] - found) ** 2).sum(axis=2).min(axis=1).sum() for found in starts)
    assert ours < 1.5 * best


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([0.0, 1.0, 1e-300, -1e100, 1e100, 0.1]), st.floats(-1e100, 1e100)), max_size=30),
    st.integers(1, 6),
    st.sampled_from([0.0, 1.0, 1e98]),
)
def test_any_points_can_be_merged(places, most, weight):
    count = len(places)
    points = np.array(places, float).reshape(-1, 2)
    lists = TargetLists.of(np.array([count]), np.arange(count), points, np.full(count, weight), np.zeros(count, bool))
    fewer = merged(lists, most)
    assert len(fewer.names) <= max(most, 0)
    assert np.isfinite(fewer.points).all()
    assert fewer.weights.sum() == pytest.approx(count * weight)
    if count:
        assert (np.abs(fewer.points) <= np.abs(points).max() * (1 + 1e-9)).all()


def test_lists_are_packed_and_unpacked():
    lists = lists_of(np.random.default_rng(5), [3, 0, 2])
    again = TargetLists.unpacked(*lists.packed(4))
    for name in ("offsets", "names", "points", "weights", "fresh"):
        np.testing.assert_array_equal(getattr(again, name), getattr(lists, name))
    assert len(TargetLists.empty(3)) == 3
    assert len(lists.targets(1)) == 0
    np.testing.assert_array_equal(lists.targets(2).points, lists.points[3:])
    assert repr(lists) == "<TargetLists of 3 agents, 5 points>"


def test_rows_are_chosen_in_any_order():
    lists = lists_of(np.random.default_rng(6), [3, 0, 2, 5])
    some = lists.rows(np.array([3, 1, 3, 0]))
    for k, source in enumerate([3, 1, 3, 0]):
        for found, wanted in zip(row(some, k), row(lists, source), strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_inside_is_by_the_agents_own_triangle():
    lists = lists_of(np.random.default_rng(7), [40, 40], 1.0)
    triangles = np.array([[[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]], [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]]])
    below = lists.points.sum(axis=1) <= 0
    np.testing.assert_array_equal(inside(lists, triangles), np.where(lists.owners == 0, below, ~below))
