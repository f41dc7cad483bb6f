import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rotorpy.controllers.quadrotor_control import SE3Control
from rotorpy.vehicles import crazyflie_params, hummingbird_params
from rotorpy.vehicles.multirotor import Multirotor

from tricover.errors import InputError
from tricover.vehicles import step_draws, vehicle
from tricover.vehicles._kernels import GRAVITY, Pilot, minimum_jerk, plan, spin
from tricover.vehicles.airframes import AIRFRAMES
from tricover.vehicles.rotorpy import PARTS, RotorPy

PUBLISHED = {"crazyflie": crazyflie_params.quad_params, "hummingbird": hummingbird_params.quad_params}
# RotorPy integrates adaptively; this tight, its own error is far below that of our fixed step.
TIGHT = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-12}

both = pytest.mark.parametrize("name", AIRFRAMES)


def points(goals):
    return np.repeat(np.asarray(goals, float)[:, None], 3, axis=1)


def tumbling(name, agents, seed):
    """Random states in full flight: any attitude, some speed, turning, rotors anywhere within their limits."""
    rng, air = np.random.default_rng(seed), AIRFRAMES[name]
    states = vehicle("quadrotor", airframe=name).initial_state(rng.normal(size=(agents, 2)))
    states[:, 3:6] = rng.normal(scale=2, size=(agents, 3))
    attitudes = rng.normal(size=(agents, 4))
    states[:, 6:10] = attitudes / np.linalg.norm(attitudes, axis=1, keepdims=True)
    states[:, 10:13] = rng.normal(scale=2, size=(agents, 3))
    states[:, 13:17] = rng.uniform(air.slowest, air.fastest, (agents, 4))
    return states


def spun(name, states, commands, winds, h, steps):
    new = states.copy()
    spin(new, commands, winds, h, steps, AIRFRAMES[name])
    return new


@both
def test_airframes_are_those_that_rotorpy_publishes(name):
    air, published = AIRFRAMES[name], PUBLISHED[name]
    names = {
        "mass": "mass",
        "inertia_x": "Ixx",
        "inertia_y": "Iyy",
        "inertia_z": "Izz",
        "thrust": "k_eta",
        "torque": "k_m",
        "rotor_drag": "k_d",
        "inflow": "k_z",
        "lift": "k_h",
        "flapping": "k_flap",
        "drag_x": "c_Dx",
        "drag_y": "c_Dy",
        "drag_z": "c_Dz",
        "lag": "tau_m",
        "slowest": "rotor_speed_min",
        "fastest": "rotor_speed_max",
        "attitude_gain": "kp_att",
        "rate_gain": "kd_att",
    }
    assert {ours: getattr(air, ours) for ours in names} == {ours: published[theirs] for ours, theirs in names.items()}
    signs = np.array([[1, 1, 0], [1, -1, 0], [-1, -1, 0], [-1, 1, 0]])
    np.testing.assert_allclose(air.arm * signs, list(published["rotor_pos"].values()), rtol=1e-15)
    assert published["rotor_directions"].tolist() == [1, -1, 1, -1]


@both
def test_same_rotor_commands_same_flight_as_rotorpy_to_fourth_order(name):
    air = AIRFRAMES[name]
    states = tumbling(name, 4, seed=3)
    rng = np.random.default_rng(4)
    hover = np.sqrt(air.mass * GRAVITY / (4 * air.thrust))
    states[:, 13:17], commands = hover * (1 + rng.uniform(-0.03, 0.03, (2, 4, 4)))
    winds = rng.normal(scale=3, size=(4, 2))
    model = Multirotor(PUBLISHED[name], integrator_kwargs=TIGHT)
    theirs = []
    for row, command, wind in zip(states, commands, winds, strict=True):
        state = {part: row[columns] for part, columns in PARTS.items()} | {"wind": np.array([*wind, 0.0])}
        state = model.step(state, {"cmd_motor_speeds": command}, 0.2)
        theirs.append(np.concatenate([state[part] for part in PARTS]))
    scale = np.maximum(np.abs(theirs), 1)
    errors = [
        (np.abs(spun(name, states, commands, winds, 0.2 / steps, steps)[:, :17] - theirs) / scale).max()
        for steps in (40, 80)
    ]
    # At our control period of 5 ms; halving the step divides the error of a fourth-order method by about 16.
    assert errors[0] < 1e-5
    assert 12 < errors[0] / errors[1] < 20


@both
def test_same_reference_same_flight_as_rotorpys_controller(name):
    # Without integral action our controller is theirs, so the loops agree as closely as the integration.
    settings = {"airframe": name, "max_speed": 1.5, "max_acceleration": 2.0, "control_period": 0.01}
    ours, theirs = (
        vehicle("quadrotor", integral_gain=0.0, wind=(1.0, -2.0), **settings),
        RotorPy(wind=(1, -2), **settings),
    )
    model, controller = Multirotor(PUBLISHED[name], integrator_kwargs=TIGHT), SE3Control(PUBLISHED[name])
    states = ours.initial_state([[0.0, 0.0]])
    row = states[0, :17]
    for step, goal in enumerate([(0.6, -0.2), (0.1, 0.9)]):
        states = ours.drive(states, points([goal]), 1.5, step_draws(0, step, 1))
        row = theirs._fly(row, np.array(goal), 1.5, model, controller)
        np.testing.assert_allclose(states[0, :6], row[:6], rtol=0, atol=5e-6)  # micrometres and µm/s
        np.testing.assert_allclose(states[0, 6:13], row[6:13], rtol=0, atol=1e-4)
        np.testing.assert_allclose(states[0, 13:17], row[13:17], rtol=1e-4)


@both
def test_hover_is_an_equilibrium(name):
    states = vehicle("quadrotor", airframe=name).initial_state([[3.0, -4.0]])
    air = AIRFRAMES[name]
    assert 4 * air.thrust * states[0, 13] ** 2 == pytest.approx(air.mass * 9.81, rel=1e-14)
    after = spun(name, states, states[:, 13:17].copy(), np.zeros((1, 2)), 0.005, 1000)
    np.testing.assert_allclose(after, states, rtol=0, atol=1e-10)


def test_without_rotors_and_air_energy_and_angular_momentum_are_kept():
    air = AIRFRAMES["hummingbird"]._replace(lag=1e-9)
    states = tumbling("hummingbird", 6, seed=8)
    states[:, 13:17] = 0

    def kept(rows):
        x, y, z, w = rows[:, 6:10].T
        inertia = np.array([air.inertia_x, air.inertia_y, air.inertia_z])
        spin_energy = (inertia * rows[:, 10:13] ** 2).sum(axis=1) / 2
        height = air.mass * (GRAVITY * rows[:, 2] + (rows[:, 3:6] ** 2).sum(axis=1) / 2)
        up = np.stack([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)], axis=1)
        return np.stack([spin_energy, height, (up * inertia * rows[:, 10:13]).sum(axis=1)])

    vacuum = air._replace(drag_x=0.0, drag_y=0.0, drag_z=0.0, lift=0.0)
    after = states.copy()
    spin(after, np.zeros((6, 4)), np.zeros((6, 2)), 0.005, 200, vacuum)
    assert (after[:, 2] < states[:, 2]).any()
    np.testing.assert_allclose(kept(after), kept(states), rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(np.linalg.norm(after[:, 6:10], axis=1), 1, rtol=1e-14)


pilots = st.builds(
    lambda speed, acceleration: vehicle("quadrotor", max_speed=speed, max_acceleration=acceleration).pilot,
    st.floats(0.1, 20),
    st.floats(0.1, 20),
)


@given(pilots, st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(-1, 1), st.floats(-1, 1), st.floats(0.01, 100))
def test_planned_motion_keeps_the_limits_and_ends_at_rest(pilot: Pilot, x, y, speed_x, speed_y, duration):
    speeds = speed_x * pilot.speed, speed_y * pilot.speed
    time, share = plan(x, y, np.hypot(*speeds), duration, pilot)
    moments = np.linspace(0, time, 101)
    motion = np.array(
        [[minimum_jerk(share * leg, v, time, t) for t in moments] for leg, v in zip((x, y), speeds, strict=True)]
    )
    assert 0 <= share <= 1
    assert (np.hypot(*motion[:, :, 2]) <= pilot.acceleration * (1 + 1e-9)).all()
    if speeds == (0, 0):
        assert (np.hypot(*motion[:, :, 1]) <= pilot.speed * (1 + 1e-9)).all()
    np.testing.assert_allclose(motion[:, 0, :2], [(0, speeds[0]), (0, speeds[1])], atol=1e-12)
    assert motion[:, -1].tolist() == [[share * x, 0, 0], [share * y, 0, 0]]
    # Position is the integral of velocity, and velocity of acceleration: Gauss's rule is exact for these polynomials.
    nodes, weights = np.polynomial.legendre.leggauss(3)
    for leg, speed in zip((share * x, share * y), speeds, strict=True):
        slopes = np.array([minimum_jerk(leg, speed, time, (1 + node) / 2 * time)[1:] for node in nodes])
        tolerance = 1e-12 * (np.abs(slopes).max() * max(time, 1) + 1)
        np.testing.assert_allclose(weights @ slopes * time / 2, [leg, -speed], rtol=1e-9, atol=tolerance)


@both
@given(seed=st.integers(0, 10**6))
@settings(max_examples=25)
def test_from_a_tumble_it_recovers_within_its_motors_limits(name, seed):
    rider, air = vehicle("quadrotor", airframe=name), AIRFRAMES[name]
    states = tumbling(name, 4, seed)
    goals = np.random.default_rng(seed).normal(size=(4, 2))
    for step in range(16):
        states = rider.drive(states, points(goals), 2.0, step_draws(0, step, 4))
        assert ((states[:, 13:17] >= air.slowest) & (states[:, 13:17] <= air.fastest)).all()
    assert (np.hypot(*(rider.output(states) - goals).T) < 0.1).all()


@both
def test_integral_action_takes_out_a_steady_wind(name):
    goal = [[0.3, 0.1]]
    errors = {}
    for gain in (0.0, 4.0):
        rider = vehicle("quadrotor", airframe=name, wind=(2.0, 0.0), integral_gain=gain)
        states = rider.initial_state([[0.0, 0.0]])
        for step in range(8):
            states = rider.drive(states, points(goal), 2.0, step_draws(0, step, 1))
        errors[gain] = np.hypot(*(rider.output(states) - goal)[0])
    assert errors[0.0] > 0.02
    assert errors[4.0] < 1e-3


def test_gusts_blow_every_agent_its_own_way_and_come_from_the_draws():
    rider = vehicle("quadrotor", gust=2.0)
    states = rider.initial_state(np.zeros((3, 2)))
    blown = rider.drive(states, np.zeros((3, 3, 2)), 1.0, step_draws(1, 0, 3))
    assert len(np.unique(blown[:, 0])) == 3
    calm = vehicle("quadrotor").drive(states, np.zeros((3, 3, 2)), 1.0, step_draws(1, 0, 3))
    still = rider.drive(states, np.zeros((3, 3, 2)), 1.0, np.zeros((3, 2)))
    assert still.tobytes() == calm.tobytes()


def test_threads_do_not_change_the_bits(monkeypatch):
    rider = vehicle("quadrotor")
    states, goals = tumbling("crazyflie", 80, 1), np.random.default_rng(2).normal(size=(80, 2))
    flights = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("TRICOVER_THREADS", threads)
        flights.append(rider.drive(states, points(goals), 0.5, step_draws(0, 0, 80)).tobytes())
    assert flights[0] == flights[1] == flights[2]


def test_a_lost_quadrotor_is_named():
    rider = vehicle("quadrotor")
    states = rider.initial_state(np.zeros((4, 2)))
    states[2, 10:13] = 1e200
    with pytest.raises(InputError, match="quadrotor of agent 2 lost control"):
        rider.drive(states, np.zeros((4, 3, 2)), 1.0, step_draws(0, 0, 4))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"airframe": "jumbo"}, "unknown airframe 'jumbo'; known: crazyflie and hummingbird"),
        ({"altitude": -1}, "altitude must be a positive number of m, not -1"),
        ({"wind": 3}, "wind must be two numbers of m/s, not 3"),
        ({"wind": (1, float("nan"))}, "wind must be two numbers of m/s"),
        ({"gust": -1}, "gust must be a number of m/s from 0 on, not -1"),
        ({"max_tilt": 1.4}, "max_tilt must be at most 1 rad"),
        ({"control_period": 0.1}, "control_period at most 0.01 s"),
        ({"integral_gain": "high"}, "integral_gain must be a number of 1/s³ from 0 on"),
    ],
)
def test_bad_settings_are_named(setting, message):
    with pytest.raises(InputError, match=message):
        vehicle("quadrotor", **setting)
