import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tricover.errors import InputError
from tricover.vehicles import step_draws, vehicle
from tricover.vehicles.double_integrator import profile


def points(goals):
    return np.repeat(np.asarray(goals, float)[:, None], 3, axis=1)


def journey(rider, state, goal, times):
    """States (times, 4) along the motion to one goal: the same step, cut off at each time."""
    return np.array([rider.drive(state[None], points([goal]), time, step_draws(0, 0, 1))[0] for time in times])


def arrival(rider, state, goal):
    """When the motion ends at rest at its goal, by bisection."""
    early, late = 0.0, 1.0
    while journey(rider, state, goal, [late])[0].tolist() != [*goal, 0, 0]:
        late *= 2
    for _ in range(40):
        middle = (early + late) / 2
        there = journey(rider, state, goal, [middle])[0].tolist() == [*goal, 0, 0]
        early, late = (early, middle) if there else (middle, late)
    return late


@pytest.mark.parametrize(
    ("distance", "expected"),
    [(2.0, 2 * np.sqrt(2.0 / 0.5)), (4.5, 2 * np.sqrt(9)), (12.0, 12 / 1.5 + 1.5 / 0.5)],
    ids=["bang-bang", "just at the speed limit", "trapezoid"],
)
@pytest.mark.parametrize("angle", [0.0, 1.0, 4.4])
def test_from_rest_it_takes_the_shortest_time_there_is(distance, expected, angle):
    rider = vehicle("double-integrator", max_acceleration=0.5, max_speed=1.5)
    goal = [1 + distance * np.cos(angle), 2 + distance * np.sin(angle)]
    assert arrival(rider, np.array([1.0, 2, 0, 0]), goal) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("speed", [-1.0, -0.3, 0.0, 0.7, 1.0])
@pytest.mark.parametrize("distance", [0.0, 0.1, 3.0])
def test_with_a_speed_along_the_line_it_takes_the_textbook_time(speed, distance):
    rider = vehicle("double-integrator", max_acceleration=1.0, max_speed=50.0)
    # Minimum time of ẍ = u, |u| ≤ 1, from (x, v) to the origin (Athans and Falb, section 7-2).
    x, v = -distance, speed
    side = 1 if x > -v * abs(v) / 2 else -1
    expected = side * v + np.sqrt(side * 4 * x + 2 * v * v)
    assert arrival(rider, np.array([0.0, 0, speed, 0]), [distance, 0.0]) == pytest.approx(expected, abs=1e-9)


states = st.builds(
    lambda x, y, speed, angle: np.array([x, y, speed * np.cos(angle), speed * np.sin(angle)]),
    st.floats(-5, 5),
    st.floats(-5, 5),
    st.one_of(st.floats(0, 2), st.sampled_from([0.0, 2.0, 1e-9, 1e-300])),
    st.floats(0, 7),
)
goals = st.tuples(st.floats(-5, 5), st.floats(-5, 5)).map(list)


@given(states, goals)
@settings(max_examples=40)
def test_limits_are_never_exceeded_and_velocity_is_the_slope_of_position(state, goal):
    rider = vehicle("double-integrator", max_acceleration=1.0, max_speed=2.0)
    times = np.linspace(0.2, 12, 40)
    sampled = np.vstack([state, journey(rider, state, goal, times)])
    gaps = np.diff(times, prepend=0.0)[:, None]
    assert np.isfinite(sampled).all()
    assert (np.hypot(sampled[:, 2], sampled[:, 3]) <= 2 * (1 + 1e-9)).all()
    changes = np.diff(sampled[:, 2:], axis=0)
    assert (np.hypot(*changes.T) <= 1.0 * gaps[:, 0] * (1 + 1e-6) + 1e-9).all()
    # Between two samples the acceleration is within its limit, so the mean velocity is near both ends' mean.
    steps = np.diff(sampled[:, :2], axis=0)
    means = (sampled[1:, 2:] + sampled[:-1, 2:]) / 2 * gaps
    assert (np.abs(steps - means) <= gaps**2 / 4 * (1 + 1e-6) + 1e-9).all()


@given(states, goals)
@example(np.array([0.0, 1, 2, 0]), [0.0, 0.0])  # at full speed across the line to the goal
@settings(max_examples=40)
def test_arrival_is_between_the_bounds_that_any_motion_has(state, goal):
    rider = vehicle("double-integrator", max_acceleration=1.0, max_speed=2.0)
    time = arrival(rider, state, goal)
    # No motion beats an axis of its own with all of the limits; braking first and then going is always possible.
    alone = [
        profile(np.array([goal[k] - state[k]]), state[2 + k : 3 + k], np.array([1.0]), np.array([2.0])).total[0]
        for k in range(2)
    ]
    speed = np.hypot(*state[2:])
    rest = state[:2] + state[2:] * speed / 2
    leg = np.hypot(*(goal - rest))
    braking = speed + (2 * np.sqrt(leg) if leg <= 4 else leg / 2 + 2)
    assert max(alone) - 1e-7 <= time
    assert time <= braking + 1e-7


def test_a_step_that_is_too_short_is_a_part_of_the_same_motion():
    rider = vehicle("double-integrator", max_acceleration=1.0, max_speed=2.0)
    start, goal = np.array([0.0, 0, 0, 0]), [6.0, 3.0]
    cut = journey(rider, journey(rider, start, goal, [1.3])[0], goal, [1.1])[0]
    np.testing.assert_allclose(cut, journey(rider, start, goal, [2.4])[0], rtol=1e-12, atol=1e-6)


@pytest.mark.parametrize("setting", ["max_speed", "max_acceleration"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "2", None, True])
def test_bad_limits_are_named_with_their_unit(setting, value):
    with pytest.raises(InputError, match=f"{setting} must be a positive number of m/s"):
        vehicle("double-integrator", **{setting: value})
