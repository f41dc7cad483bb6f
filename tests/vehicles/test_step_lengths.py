"""How far vehicles go in a step: each lands where it is sent, if that is no farther."""

import numpy as np
import pytest

import tricover as tc
from tricover.vehicles import Mixed, ranges


@pytest.mark.parametrize(
    ("kind", "duration", "within"),
    [("double-integrator", 1.0, 0), ("double-integrator", 4.0, 0), ("unicycle", 4.0, 0), ("quadrotor", 2.0, 0.1)],
)
def test_who_is_sent_within_its_range_lands_there(kind, duration, within):
    ride = tc.vehicle(kind)
    far = ranges(ride, 8, duration)
    angles = np.arange(8) * np.pi / 4
    goals = far[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    state = ride.drive(
        ride.initial_state(np.zeros((8, 2))), np.repeat(goals[:, None], 3, 1), duration, np.zeros((8, 2))
    )
    assert np.linalg.norm(ride.output(state) - goals, axis=1).max() <= within + 1e-12


def test_ranges_of_a_mixed_team_are_each_ones_own():
    team = Mixed((tc.vehicle("exact"), tc.vehicle("double-integrator")), (1, 0, 1))
    assert ranges(team, 3, 2.0).tolist() == [0.5, np.inf, 0.5]
    assert ranges(tc.vehicle("exact"), 2, 2.0).tolist() == [np.inf, np.inf]


def test_who_could_not_even_turn_is_let_go_a_little():
    assert ranges(tc.vehicle("unicycle", max_speed=2.0), 1, 1.0).tolist() == [0.2]
    assert ranges(tc.vehicle("unicycle", max_speed=2.0, max_turn_rate=np.pi), 1, 3.0).tolist() == [pytest.approx(4.0)]
