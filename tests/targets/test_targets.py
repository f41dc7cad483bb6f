import gc
import weakref

import numpy as np
import pytest
from tests.goals.plain import holds

import tricover as tc
from tricover.errors import FileFormatError, InputError
from tricover.targets.density import local_density
from tricover.targets.motion import Steady

SQUARE = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
ALL = [[-9.0, -9], [99, -9], [-9, 99]]


def test_still_targets_are_the_same_at_every_step():
    targets = tc.Targets(SQUARE)
    assert targets.still
    assert targets.at(7) is targets
    assert targets.at(0).index is targets.index


def test_targets_are_a_copy_that_cannot_be_changed():
    points = SQUARE.copy()
    targets = tc.Targets(points)
    points[0] = 5
    assert targets.points[0].tolist() == [0, 0]
    with pytest.raises(ValueError, match="read-only"):
        targets.points[0] = 5


def test_points_over_time():
    track = np.stack([SQUARE, SQUARE + 1, SQUARE + 2])
    targets = tc.Targets(track, weights=[1, 2, 3, 4])
    assert not targets.still
    for step, shift in [(0, 0), (1, 1), (2, 2), (50, 2)]:
        np.testing.assert_array_equal(targets.at(step).points, SQUARE + shift)
        assert targets.at(step).in_triangles(ALL)[0] == 10
    assert targets.at(50) is targets.at(50)


def test_steps_start_at_zero():
    with pytest.raises(InputError, match="steps are counted from 0 on, not -1"):
        tc.Targets([SQUARE, SQUARE]).at(-1)


def test_a_rotating_field_brings_targets_back():
    turn = 2 * np.pi / 60
    targets = tc.Targets.drifting(SQUARE, lambda points, time: turn * np.c_[-points[:, 1], points[:, 0]])
    np.testing.assert_allclose(targets.at(15).points, np.c_[-SQUARE[:, 1], SQUARE[:, 0]], atol=1e-5)
    np.testing.assert_allclose(targets.at(60).points, SQUARE, atol=1e-5)
    np.testing.assert_array_equal(targets.at(0).points, SQUARE)


def test_a_field_that_depends_on_time_is_integrated_to_fourth_order():
    targets = tc.Targets.drifting(SQUARE, lambda points, time: np.full_like(points, time**3))
    np.testing.assert_allclose(targets.at(4).points, SQUARE + 4**4 / 4, rtol=1e-14)


def test_a_path_by_function():
    targets = tc.Targets.along(lambda step: SQUARE * (1 + step))
    np.testing.assert_array_equal(targets.at(3).points, 4 * SQUARE)


def test_targets_appear_and_vanish():
    targets = tc.Targets(SQUARE, [1, 2, 3, 4], active=[[0, 2], [1, 5], [0, 9], [3, 4]], ids="abcd")
    for step, there in [(0, "ac"), (1, "abc"), (2, "bc"), (3, "bcd"), (8, "c"), (9, "")]:
        now = targets.at(step)
        assert "".join(now.ids) == there
        assert targets.present(step).tolist() == ["abcd".index(name) for name in there]
        assert now.in_triangles(ALL)[0] == sum(1 + "abcd".index(name) for name in there)


def test_a_step_without_targets_is_no_error():
    now = tc.Targets(SQUARE, active=[[0, 1]] * 4).at(1)
    assert len(now) == 0
    counts, sums = now.in_triangles([ALL, ALL])
    assert counts.tolist() == [0, 0]
    assert sums.tolist() == [[0, 0], [0, 0]]
    offsets, members = now.members([ALL])
    assert offsets.tolist() == [0, 0]
    assert members.size == now.density.size == 0


def test_targets_within_a_closed_triangle_keep_all_that_they_are():
    targets = tc.Targets(SQUARE, [1, 2, 0, 4], ids="abcd")
    for triangle in (
        [[0, 0], [1, 0], [1, 1]],
        [[1, 1], [1, 0], [0, 0]],
        [[0, 0], [1, 1], [2, 2]],
        [[5, 5], [6, 5], [5, 6]],
    ):
        inside = [k for k in range(4) if holds(triangle, SQUARE[k])]
        seen = targets.within(triangle)
        assert seen.still
        np.testing.assert_array_equal(seen.points, SQUARE[inside])
        assert seen.weights.tolist() == targets.weights[inside].tolist()
        assert seen.ids == tuple("abcd"[k] for k in inside)


def test_targets_within_ask_for_one_triangle_of_still_targets():
    with pytest.raises(InputError, match=r"shape \(3, 2\), not \(1, 3, 2\)"):
        tc.Targets(SQUARE).within([ALL])
    with pytest.raises(InputError, match=r"ask targets.at\(step\) first"):
        tc.Targets([SQUARE, SQUARE]).within(ALL)


@pytest.mark.parametrize("weights", [None, [3, 1, 2, 1, 5, 4]])
def test_order_is_by_x_then_y_then_weight(weights):
    points = np.array([[1, 0], [0, 2], [0, 1], [0, 1], [-1, 7], [0, 1]], float)
    targets = tc.Targets(points, weights)
    rows = [(*points[k], 1 if weights is None else weights[k]) for k in range(6)]
    assert [rows[k] for k in targets.order] == sorted(rows)
    assert targets.order[targets.ranks].tolist() == list(range(6))


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((np.zeros((0, 2)),), {}, "there are no points"),
        (([[0, 0, 0]],), {}, r"shape \(N, 2\), not \(1, 3\)"),
        (([[0, np.nan]],), {}, "point 0 has a coordinate that is NaN"),
        (([[0, 1e200]],), {}, r"point 0 has a coordinate beyond 1e\+100 metres"),
        (([[0, 0], [-1.001e100, 0]],), {}, "point 1 has a coordinate beyond"),
        ((SQUARE, [1, 1, -1, 1]), {}, "point 2 has a weight that is negative"),
        ((SQUARE, [0, 0, 0, 0]), {}, "all weights are zero"),
        ((SQUARE, [1, 1e308, 1e308, 1]), {}, r"sum to more than 1e\+100, and target 1 alone has 1e\+308: scale them"),
        ((SQUARE, [3e99, 3e99, 3e99, 3e99]), {}, r"sum to more than 1e\+100, and target 0 alone has 3e\+99"),
        ((SQUARE, [1, 1, 0, 9e-101]), {}, "target 3 has a weight below 1e-100: give it 0, or scale all weights up"),
        ((SQUARE, [1, 1]), {}, r"weights of shape \(4,\), not \(2,\)"),
        ((SQUARE,), {"ids": ["a"]}, "as many ids"),
        ((SQUARE,), {"active": [[0, 1]]}, "two whole steps for each of 4 targets"),
        ((SQUARE,), {"active": [[0, 1], [0, 1], [2, 2], [0, 1]]}, "target 2 is gone before it appears"),
        ((np.zeros((0, 4, 2)),), {}, "at least one step"),
        (([SQUARE, SQUARE * np.nan],), {}, "moving targets at step 1: point 0, 1, 2 and 3 has"),
    ],
)
def test_bad_targets_are_told_why(arguments, options, message):
    with pytest.raises(InputError, match=message):
        tc.Targets(*arguments, **options)


def test_the_limits_themselves_are_accepted():
    corners = 1e100 * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    targets = tc.Targets(corners, [2.5e99] * 4)
    weight, total = targets.in_triangles([corners[0], corners[1], corners[2]])
    assert float(weight) == pytest.approx(7.5e99)
    assert (total / weight / 1e100).round(12).tolist() == [-0.333333333333, 0.333333333333]
    assert tc.Targets(SQUARE, [1e-100, 0, 1, 1]).weights[0] == 1e-100


@pytest.mark.parametrize(
    "targets",
    [
        tc.Targets(SQUARE, motion=Steady(SQUARE, np.array([1e99, 0.0]))),
        tc.Targets(SQUARE, motion=Steady(SQUARE, np.array([1e308, 0.0]))),
        tc.Targets.drifting(SQUARE, lambda places, time: np.full_like(places, 3e99)),
        tc.Targets.along(lambda step: SQUARE + 1e99 * step),
    ],
)
def test_targets_that_leave_all_bounds_are_named(targets):
    with pytest.raises(InputError, match=r"moving targets at step .*: point 0, 1, 2 and 3 has a coordinate"):
        targets.at(101)


def test_a_motion_that_loses_targets_is_named():
    targets = tc.Targets.along(lambda step: SQUARE[: 4 - step])
    with pytest.raises(InputError, match=r"moving targets at step 1: 3 positions for 4 targets"):
        targets.at(1)


@pytest.mark.parametrize("targets", [tc.Targets([SQUARE, SQUARE]), tc.Targets(SQUARE, active=[[0, 1]] * 4)])
def test_changing_targets_must_be_asked_at_a_step(targets):
    with pytest.raises(InputError, match=r"ask targets.at\(step\) first"):
        targets.in_triangles(ALL)
    with pytest.raises(InputError, match=r"ask targets.at\(step\) first"):
        _ = targets.density


def test_files_and_back(tmp_path):
    (tmp_path / "a.csv").write_text("lat,lon,alt,weight,id\n51.5,7.2,80,2,a\n51.6,7.3,90,3,b\n")
    targets = tc.Targets.from_file(tmp_path / "a.csv")
    assert targets.points.shape == (2, 2)
    targets.to_file(tmp_path / "b.geojson")
    again = tc.Targets.from_file(tmp_path / "b.geojson", projection=targets.projection)
    np.testing.assert_allclose(again.points, targets.points, atol=1e-4)
    assert again.weights.tolist() == [2, 3]
    assert again.ids == ("a", "b")


def test_a_track_goes_to_npy_alone(tmp_path):
    targets = tc.Targets([SQUARE, SQUARE + 1])
    targets.to_file(tmp_path / "a.npy")
    np.testing.assert_array_equal(tc.Targets.from_file(tmp_path / "a.npy").at(1).points, SQUARE + 1)
    with pytest.raises(FileFormatError, match="change over time"):
        targets.to_file(tmp_path / "a.csv")


def test_polygon_is_filled_with_targets(tmp_path):
    (tmp_path / "a.geojson").write_text(
        '{"type": "Polygon", "coordinates": [[[7, 51], [7.01, 51], [7.01, 51.01], [7, 51.01], [7, 51]]]}'
    )
    targets = tc.Targets.from_file(tmp_path / "a.geojson", density=1e-4)
    assert len(targets) == pytest.approx(701.8 * 1112.6 / 1e4, rel=0.1)


def test_density_of_an_even_grid_is_the_grid_s():
    points = 0.5 * np.stack(np.meshgrid(np.arange(30.0), np.arange(30.0)), axis=-1).reshape(-1, 2)
    inner = np.all((points > 2) & (points < 12), axis=1)
    density = tc.Targets(points).density
    np.testing.assert_allclose(density[inner], 12 / (np.pi * 1.0**2), rtol=1e-12)
    np.testing.assert_allclose(tc.Targets(points, np.full(900, 3.0)).density, 3 * density)


def test_density_scales_with_area_and_has_no_infinities():
    rng = np.random.default_rng(0)
    points = rng.random((200, 2))
    np.testing.assert_allclose(tc.Targets(10 * points).density, tc.Targets(points).density / 100)
    clumped = np.vstack([points, np.repeat(points[:1], 50, axis=0)])
    assert np.isfinite(tc.Targets(clumped).density).all()
    assert (tc.Targets(clumped).density > 0).all()


@pytest.mark.parametrize("points", [[[1.0, 2.0]], [[1.0, 2.0]] * 20, [[0.0, 0.0], [3.0, 4.0]]])
def test_density_of_hardly_any_targets_is_finite_and_positive(points):
    density = tc.Targets(points).density
    assert np.isfinite(density).all()
    assert (density > 0).all()


def test_targets_without_weight_are_nobody_s_neighbours():
    rng = np.random.default_rng(1)
    points, ghosts = rng.random((100, 2)), rng.random((300, 2))
    weights = np.r_[np.ones(100), np.zeros(300)]
    np.testing.assert_allclose(local_density(np.vstack([points, ghosts]), weights)[:100], local_density(points))


def test_an_index_that_is_let_go_is_freed_at_once():
    """Moving targets have a new one in every step: memory must not wait for the garbage collector."""
    targets = tc.Targets(np.random.default_rng(0).random((100, 2)), np.ones(100))
    targets.in_triangles([[0, 0], [1, 0], [0, 1]])
    targets.members([[0, 0], [1, 0], [0, 1]])
    index = weakref.ref(targets.index)
    gc.disable()
    try:
        del targets
        assert index() is None
    finally:
        gc.enable()


def test_no_values_have_no_sums():
    assert tc.Targets(SQUARE).sums_in_triangles([ALL, ALL], np.empty((4, 0))).shape == (2, 0)
