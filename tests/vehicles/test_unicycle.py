import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tricover.errors import InputError
from tricover.vehicles import step_draws, vehicle

RIDER = vehicle("unicycle", max_speed=0.5, max_turn_rate=1.5)


def driven(state, goal, time):
    reach_sets = np.broadcast_to(np.asarray(goal, float), (1, 3, 2))
    return RIDER.drive(np.asarray([state], float), reach_sets, time, step_draws(0, 0, 1))[0]


@pytest.mark.parametrize(
    ("heading", "goal", "time"),
    [
        (0.0, (2.0, 0.0), 2 / 0.5),
        (0.0, (0.0, 2.0), np.pi / 2 / 1.5 + 2 / 0.5),
        (0.0, (-3.0, 0.0), np.pi / 1.5 + 3 / 0.5),
        (3.0, (-1.0, -1.0), (2 * np.pi - 3 - 3 * np.pi / 4) / 1.5 + np.sqrt(2) / 0.5),
        (-3.0, (-1.0, 1.0), (2 * np.pi - 3 - 3 * np.pi / 4) / 1.5 + np.sqrt(2) / 0.5),
    ],
)
def test_it_turns_the_shorter_way_and_drives_and_needs_just_that_time(heading, goal, time):
    arrived = driven([0, 0, heading], goal, time * (1 + 1e-12))
    assert arrived[:2].tolist() == list(goal)
    assert driven([0, 0, heading], goal, time * (1 - 1e-6))[:2].tolist() != list(goal)
    np.testing.assert_allclose(
        [np.cos(arrived[2]), np.sin(arrived[2])], np.array(goal) / np.hypot(*goal), rtol=0, atol=1e-15
    )


def test_half_a_turn_moves_nothing():
    cut = driven([1, 1, 0.0], (1, 5), np.pi / 4 / 1.5)
    assert cut[:2].tolist() == [1, 1]
    assert cut[2] == pytest.approx(np.pi / 4, abs=1e-15)


def test_at_its_goal_it_keeps_its_heading():
    assert driven([1, 1, 2.5], (1, 1), 3.0).tolist() == [1, 1, 2.5]


coordinate = st.one_of(st.floats(-5, 5), st.sampled_from([0.0, 1e-9, 1e6]))


@given(coordinate, coordinate, st.floats(-np.pi, 3.14), coordinate, coordinate)
def test_it_never_turns_or_drives_too_fast_nor_sideways(x, y, heading, goal_x, goal_y):
    times = np.linspace(0.02, 12, 120)
    path = np.array([[x, y, heading], *(driven([x, y, heading], (goal_x, goal_y), time) for time in times)])
    gaps = np.diff(times, prepend=0.0)
    size = max(1.0, np.abs(path[:, :2]).max())
    steps, turns = np.diff(path[:, :2], axis=0), np.diff(np.unwrap(path[:, 2]))
    lengths = np.hypot(*steps.T)
    assert (lengths <= 0.5 * gaps + 1e-14 * size).all()
    assert (np.abs(turns) <= 1.5 * gaps + 1e-12).all()
    # It turns before it drives, so whatever was driven lies along the heading at the end of the gap, and ahead.
    ahead = np.stack([np.cos(path[1:, 2]), np.sin(path[1:, 2])], axis=1)
    np.testing.assert_allclose(steps, lengths[:, None] * ahead, rtol=0, atol=1e-13 * size)


def test_bad_limits_are_named_with_their_unit():
    with pytest.raises(InputError, match="max_turn_rate must be a positive number of rad/s, not 0"):
        vehicle("unicycle", max_turn_rate=0)
    with pytest.raises(InputError, match="max_speed must be a positive number of m/s, not -1"):
        vehicle("unicycle", max_speed=-1)
