import sys

import numpy as np
import pytest

from tricover.errors import InputError, MissingExtraError, TricoverError
from tricover.vehicles import step_draws, vehicle


def test_without_the_library_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "rotorpy.vehicles.multirotor", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'tricover\[vehicles\]'") as caught:
        vehicle("rotorpy")
    assert isinstance(caught.value, TricoverError)


def test_a_lost_flight_is_named():
    rider = vehicle("rotorpy")
    states = rider.initial_state(np.zeros((3, 2)))
    reach_sets = np.zeros((3, 3, 2))
    states[1, 3:6] = 1e200
    with np.errstate(all="ignore"), pytest.raises(InputError, match="agent 1 lost control"):
        rider.drive(states, reach_sets, 0.02, step_draws(0, 0, 3))


@pytest.mark.parametrize("setting", ["max_speed", "max_acceleration", "altitude", "control_period"])
def test_bad_settings_are_named(setting):
    with pytest.raises(InputError, match=f"vehicle 'rotorpy': {setting} must be a positive number"):
        vehicle("rotorpy", **{setting: 0})


def test_wind_leaves_it_off_its_goal_by_the_drag_over_the_gain():
    rider = vehicle("rotorpy", wind=(1.0, 0.0), control_period=0.02)
    states = rider.initial_state([[0.0, 0.0]])
    for step in range(2):
        states = rider.drive(states, np.zeros((1, 3, 2)), 4.0, step_draws(0, step, 1))
    # Level hover: four rotors drag k_d ω (v - wind) each, and the controller answers with m k_p = 0.03 · 6.5 N/m.
    offset = 10.2506e-7 * states[0, 13:17].sum() * 1.0 / (0.03 * 6.5)
    assert rider.output(states)[0] == pytest.approx([offset, 0.0], rel=0.02, abs=1e-4)
