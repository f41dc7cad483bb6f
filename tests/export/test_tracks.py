"""How near tracks come, against dense sampling, against `separation`, and against values found by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tricover as tc
from tricover.errors import InputError
from tricover.export.tracks import Approach, Tracks, _candidates, _measured, closest_approach, pairs_within


def tracks_of(*breakpoints):
    """Tracks from rows (t, x, y, z)."""
    rows = [np.array(each, float) for each in breakpoints]
    return Tracks.of(np.arange(len(rows)), [(each[:, 0], each[:, 1:]) for each in rows])


def random_tracks(rng, agents, legs, flat=False, scale=20.0):
    """Some stand for a while, some are at equal places, some are done before others."""
    made = []
    for _ in range(agents):
        times = np.append(0.0, np.cumsum(rng.integers(0, 4, legs))).astype(float)
        points = np.round(rng.uniform(0, scale, (legs + 1, 3)))
        rest = rng.random(legs) < 0.3
        for leg in np.flatnonzero(rest):
            points[leg + 1] = points[leg]
        for leg in np.flatnonzero(np.diff(times) == 0):
            points[leg + 1] = points[leg]
        if flat:
            points[:, 2] = 0
        made.append(np.column_stack([times, points]))
    return tracks_of(*made)


def places(times, points, at):
    return np.stack([np.interp(at, times, points[:, axis]) for axis in range(3)], axis=-1)


def sampled(tracks, lag, step):
    """Least distance of each pair over samples of both times, and by how much less it may be in between."""
    end = tracks.duration
    grid = np.linspace(0, end, round(end / step) + 1)
    tuples = [(times, points) for times, points in tracks]
    where = [places(times, points, grid) for times, points in tuples]
    speed = max(
        (np.linalg.norm(np.diff(points, axis=0), axis=1)[gaps > 0] / gaps[gaps > 0]).max(initial=0.0)
        for times, points in tuples
        for gaps in [np.diff(times)]
    )
    found = {}
    together = np.abs(grid[:, None] - grid) <= lag + 1e-9
    for i in range(len(where)):
        for j in range(i + 1, len(where)):
            apart = np.linalg.norm(where[i][:, None] - where[j][None], axis=2)
            found[i, j] = apart[together].min()
    return found, speed * step


def check_against_samples(tracks, lag):
    found, slack = sampled(tracks, lag, 0.125)
    for limit in (2.5, 6.0):
        near = {tuple(pair) for pair in pairs_within(tracks, limit, lag).tolist()}
        assert near >= {pair for pair, distance in found.items() if distance < limit - 1e-9}
        assert near <= {pair for pair, distance in found.items() if distance < limit + slack}
    best = closest_approach(tracks, lag)
    least = min(found.values())
    assert least - slack - 1e-9 <= best.distance <= least + 1e-9
    # It is where it is said to be.
    first, second = (list(tracks)[agent] for agent in best.agents)
    one, two = places(*first, best.time), places(*second, best.time - best.late)
    assert np.linalg.norm(one - two) == pytest.approx(best.distance, abs=1e-9)
    assert abs(best.late) <= lag + 1e-9


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("lag", [0.0, 0.5, 3.0, 100.0])
def test_distances_are_those_of_dense_samples(seed, lag):
    check_against_samples(random_tracks(np.random.default_rng(seed), 6, 5), lag)


@given(st.integers(0, 2**32), st.sampled_from([0.0, 1.0, 2.0]), st.booleans())
@settings(max_examples=25, deadline=None)
def test_also_of_degenerate_ones(seed, lag, flat):
    """On a coarse grid many are equal, parallel, pass through each other or stand."""
    check_against_samples(random_tracks(np.random.default_rng(seed), 4, 4, flat, scale=4.0), lag)


def test_on_time_and_in_the_plane_it_is_the_separation():
    rng = np.random.default_rng(5)
    positions = rng.uniform(0, 60, (9, 30, 2))
    flat = np.dstack([positions, np.zeros((9, 30))])
    tracks = Tracks.of(np.arange(30), [(np.arange(9.0), flat[:, agent]) for agent in range(30)])
    limit = 3.0
    wanted = tc.separation(positions, limit)
    best = closest_approach(tracks)
    assert best.distance == pytest.approx(wanted.distance, rel=1e-12)
    assert best.agents == wanted.agents
    assert best.time == pytest.approx(wanted.step + wanted.share)
    np.testing.assert_array_equal(pairs_within(tracks, limit), wanted.below)


def test_heights_count():
    over = tracks_of([[0, 0, 0, 0], [10, 10, 0, 0]], [[0, 10, 0, 3], [10, 0, 0, 3]])
    assert closest_approach(over) == Approach(3.0, (0, 1), 5.0, 0.0)
    # A climbs through the height of B, who is not over it before 5 s.
    climbing = tracks_of([[0, 0, 0, 0], [10, 0, 0, 10]], [[0, 10, 0, 5], [10, -10, 0, 5]])
    assert closest_approach(climbing).distance == 0
    late = tracks_of([[0, 0, 0, 0], [10, 0, 0, 10]], [[0, 14, 0, 5], [10, 4, 0, 5]])
    assert closest_approach(late).distance == pytest.approx(np.sqrt(40.5))  # at 9.5 s: 4.5 apart both ways


def test_a_delay_brings_them_together():
    """B follows A, 2 s behind, at 3 m/s: they are 6 m apart, and meet if B is 2 s early."""
    chase = tracks_of([[0, 6, 0, 0], [10, 36, 0, 0]], [[0, 0, 0, 0], [10, 30, 0, 0]])
    assert closest_approach(chase).distance == pytest.approx(6)
    assert closest_approach(chase, lag=1.0).distance == pytest.approx(3)
    met = closest_approach(chase, lag=2.0)
    assert met.distance == pytest.approx(0)
    assert met.late == pytest.approx(-2)
    assert pairs_within(chase, 3.0, 1.0).tolist() == []
    assert pairs_within(chase, 3.1, 1.0).tolist() == [[0, 1]]


def test_what_happens_without_any_delay_is_said_so():
    """Both stand side by side the whole time: no need to call anybody late."""
    still = tracks_of([[0, 0, 0, 0], [9, 0, 0, 0]], [[0, 1, 0, 0], [9, 1, 0, 0]])
    assert closest_approach(still, lag=4.0).late == 0
    assert str(closest_approach(still, lag=4.0)) == "1.00 m, agents 0 and 1, at 0.0 s"
    comes = tracks_of([[0, 0, 0, 0], [9, 0, 0, 0]], [[0, 9, 0, 0], [5, 1, 0, 0], [9, 1, 0, 0]])
    assert closest_approach(comes, lag=4.0) == Approach(1.0, (0, 1), 5.0, 0.0)


def test_who_stands_just_inside_the_limit_is_near():
    apart = tracks_of([[0, 0, 0, 0], [9, 0, 0, 0]], [[0, 2.95, 0, 0], [9, 2.95, 0, 0]])
    assert pairs_within(apart, 3.0).tolist() == [[0, 1]]
    assert pairs_within(apart, 2.95).tolist() == []


def test_who_parts_and_comes_back_head_on_meets():
    """4 m apart, then 20 m, then they pass each other: the last legs matter though they begin and end far away."""
    parting = tracks_of([[0, 0, 0, 0], [1, -8, 0, 0], [4, 7, 0, 0]], [[0, 4, 0, 0], [1, 12, 0, 0], [4, -3, 0, 0]])
    assert closest_approach(parting).distance == pytest.approx(0)
    found = _measured(parting, np.array([[0, 1]]), 0.0, (0.0, 4.0))
    np.testing.assert_allclose(found, [[0, 3, 3]], atol=1e-12)


def test_words_for_who_is_late():
    assert str(Approach(2.312, (3, 7), 41.23, 1.28)) == "2.31 m, agents 3 and 7, at 41.2 s, agent 7 1.3 s late"
    assert str(Approach(2.312, (3, 7), 41.23, -1.28)) == "2.31 m, agents 3 and 7, at 41.2 s, agent 7 1.3 s early"
    assert str(closest_approach(tracks_of([[0, 0, 0, 0], [1, 1, 0, 0]]))) == "there are no two vehicles"
    assert closest_approach(tracks_of()).distance == np.inf


def test_who_is_done_stands_at_its_end():
    left = tracks_of([[0, 0, 0, 0], [1, 0, 0, 0]], [[0, 9, 0, 0], [9, 0, 1, 0]])
    assert closest_approach(left).distance == pytest.approx(9 / np.sqrt(82))
    assert left.duration == 9
    np.testing.assert_array_equal(left.at(5)[0], [0, 0, 0])


def test_many_at_one_place():
    heap = tracks_of(*[[[0, 1, 2, 3], [5, 1, 2, 3]]] * 20)
    assert closest_approach(heap).distance == 0
    assert closest_approach(heap).agents == (0, 1)
    assert len(pairs_within(heap, 0.1)) == 190
    assert len(pairs_within(heap, 0.1, lag=1.0)) == 190


def test_the_lowest_numbers_of_equal_ones():
    pairs = [[[0, 10 * k, 0, 0], [1, 10 * k, 5, 0]] for k in range(6)]
    assert closest_approach(tracks_of(*pairs)).agents == (0, 1)


def test_numbers_are_those_of_the_agents():
    made = [(np.array([0.0, 1.0]), np.array([[x, 0, 0], [x, 0, 0]], float)) for x in (0, 50, 51)]
    tracks = Tracks.of(np.array([4, 9, 12]), made)
    assert closest_approach(tracks).agents == (9, 12)
    assert pairs_within(tracks, 2.0).tolist() == [[1, 2]]


def test_who_goes_far_does_not_make_all_others_look_far():
    """A thousand on a grid 10 m apart, one of whom crosses all of it: hardly more pairs than neighbours."""
    x, y = np.meshgrid(10.0 * np.arange(40), 10.0 * np.arange(25))
    made = [[[0, x0, y0, 0], [10, x0 + 1, y0, 0]] for x0, y0 in zip(x.ravel(), y.ravel(), strict=True)]
    made[0][1] = [10, 390.5, 240.5, 0]
    tracks = tracks_of(*made)
    found = np.concatenate(list(_candidates(tracks, (0.0, 10.0), 2.0)))
    assert len(found) <= 1000 + 8 * 1000
    assert len(np.unique(found, axis=0)) == len(found)
    assert np.isin(np.arange(1, 1000), found[found[:, 0] == 0][:, 1]).sum() > 500


def test_a_crowd_that_would_need_thousands_of_levels_is_refused(monkeypatch):
    monkeypatch.setattr("tricover.export.tracks._MOST_PAIRS", 100)
    heap = tracks_of(*[[[0, 1, 2, 3], [5, 1, 2, 3]]] * 20)
    with pytest.raises(InputError, match=r"more than 100 pairs of agents come nearer to each other than 0\.1 m"):
        pairs_within(heap, 0.1)


def test_few_at_once_are_the_same_pairs(monkeypatch):
    tracks = random_tracks(np.random.default_rng(8), 40, 5)
    near, best = pairs_within(tracks, 3.0, 1.0), closest_approach(tracks, 1.0)
    monkeypatch.setattr("tricover.export.tracks._AT_ONCE", 120)
    np.testing.assert_array_equal(pairs_within(tracks, 3.0, 1.0), near)
    assert closest_approach(tracks, 1.0) == best
