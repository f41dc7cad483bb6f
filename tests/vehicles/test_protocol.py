"""Conformance: what every kind of vehicle owes its caller."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tricover.errors import InputError, LostControlError
from tricover.vehicles import KINDS, Mixed, inside, middles, step_draws, vehicle
from tricover.vehicles import settings as settings_of
from tricover.vehicles.mixed import lands
from tricover.vehicles.protocol import check_vehicle
from tricover.vehicles.registry import is_built_in

SIMULATED = [kind for kind in KINDS if kind != "mavlink"]  # what flies for real has tests of its own
TEAM = len(SIMULATED)  # agents: a mixed team has one of each kind
SOME = ["exact", "anywhere"]  # cheap kinds, for tests that need any two


def every():
    fleet = [vehicle(kind, **({"control_period": 0.02} if kind == "rotorpy" else {})) for kind in SIMULATED]
    return [*fleet, Mixed(tuple(fleet), tuple(range(len(fleet))))]


every_vehicle = pytest.mark.parametrize("rider", every(), ids=lambda rider: rider.kind)


def triangles(rng, positions, size=0.6):
    """A reach set of random shape near each position."""
    return (
        positions[:, None]
        + rng.normal(scale=size, size=(len(positions), 1, 2))
        + rng.normal(size=(len(positions), 3, 2))
    )


@pytest.fixture
def scene():
    rng = np.random.default_rng(5)
    positions = rng.normal(scale=3, size=(TEAM, 2))
    return positions, triangles(rng, positions)


@every_vehicle
def test_shapes_and_a_state_that_is_not_changed(rider, scene):
    positions, reach_sets = scene
    states = rider.initial_state(positions)
    assert states.shape == (TEAM, rider.state_size)
    assert states.dtype == np.float64
    assert rider.output(states).tolist() == positions.tolist()
    before = states.copy()
    after = rider.drive(states, reach_sets, 0.4, step_draws(1, 0, TEAM))
    assert states.tobytes() == before.tobytes()
    assert after.shape == states.shape
    assert after.dtype == np.float64
    assert rider.output(after).shape == (TEAM, 2)
    assert not np.shares_memory(after, states)
    assert not np.shares_memory(rider.output(after), after)


@every_vehicle
def test_the_same_bits_again_and_for_any_part_of_the_team(rider, scene):
    positions, reach_sets = scene
    states = rider.drive(rider.initial_state(positions), reach_sets, 0.2, step_draws(1, 0, TEAM))
    draws = step_draws(1, 1, TEAM)
    whole = rider.drive(states, reach_sets[::-1], 0.2, draws)
    assert whole.tobytes() == rider.drive(states, reach_sets[::-1], 0.2, draws).tobytes()
    for rows in (slice(0, 1), slice(2, 5), [5, 1, 3]):
        part = rider.drive(states[rows], reach_sets[::-1][rows], 0.2, draws[rows])
        assert part.tobytes() == whole[rows].tobytes()


@every_vehicle
def test_no_agents_are_a_batch_too(rider):
    states = np.empty((0, rider.state_size))
    assert rider.drive(states, np.empty((0, 3, 2)), 1.0, step_draws(1, 0, 0)).shape == states.shape
    assert rider.output(states).shape == (0, 2)


@every_vehicle
def test_at_rest_on_its_goal_point_it_stays(rider, scene):
    positions, _ = scene
    points = np.repeat(positions[:, None], 3, axis=1)
    states = rider.initial_state(positions)
    for step in range(3):
        states = rider.drive(states, points, 0.5, step_draws(1, step, TEAM))
        np.testing.assert_allclose(rider.output(states), positions, atol=1e-9)


@every_vehicle
@pytest.mark.parametrize("distance", [1e-6, 1.0, 1e6])
def test_stays_finite_however_far_the_reach_set(rider, scene, distance):
    positions, reach_sets = scene
    states = rider.initial_state(positions)
    for step in range(3):
        states = rider.drive(states, reach_sets + distance, 0.3, step_draws(1, step, TEAM))
        assert np.isfinite(states).all()


@every_vehicle
def test_with_time_enough_it_lands_in_the_reach_set(rider, scene):
    positions, _ = scene
    rng = np.random.default_rng(6)
    equilateral = np.array([[0.0, 1], [-np.sqrt(0.75), -0.5], [np.sqrt(0.75), -0.5]])
    states = rider.initial_state(positions)
    for step in range(2):
        reach_sets = positions[:, None] + rng.normal(scale=0.7, size=(TEAM, 1, 2)) + 0.2 * equilateral
        states = rider.drive(states, reach_sets, 5.0, step_draws(1, step, TEAM))
        assert inside(rider.output(states), reach_sets).all()


@every_vehicle
@pytest.mark.parametrize("duration", [0.0, -1.0, np.nan, np.inf])
def test_a_duration_that_is_none_is_named(rider, scene, duration):
    positions, reach_sets = scene
    with pytest.raises(InputError, match="duration must be a positive number of seconds"):
        rider.drive(rider.initial_state(positions), reach_sets, duration, step_draws(1, 0, TEAM))


@every_vehicle
def test_bad_rows_are_named(rider, scene):
    positions, reach_sets = scene
    states = rider.initial_state(positions)
    with pytest.raises(InputError, match=r"agent 4 .* not finite"):
        rider.drive(
            states, np.where(np.arange(TEAM)[:, None, None] == 4, np.nan, reach_sets), 1.0, step_draws(1, 0, TEAM)
        )
    with pytest.raises(InputError, match=rf"shape \({TEAM}, 3, 2\)"):
        rider.drive(states, reach_sets[:5], 1.0, step_draws(1, 0, TEAM))
    with pytest.raises(InputError, match=r"shape \(agents"):
        rider.drive(states[:, :-1], reach_sets, 1.0, step_draws(1, 0, TEAM))
    with pytest.raises(InputError, match="agent 2 has a position that is not finite"):
        rider.initial_state(np.where(np.arange(TEAM)[:, None] == 2, np.inf, positions))


@pytest.mark.parametrize("kind", KINDS)
def test_settings_make_the_same_vehicle_again(kind):
    made = vehicle(kind)
    written = json.loads(json.dumps(settings_of(made)))
    assert vehicle(**written) == made
    assert made.kind == kind


def test_unknown_names_are_told_with_the_nearest():
    with pytest.raises(InputError, match="unknown vehicle kind 'exactt'; did you mean 'exact'"):
        vehicle("exactt")
    with pytest.raises(InputError, match="known: exact"):
        vehicle("zzz")
    with pytest.raises(InputError, match="vehicle 'exact' has no setting 'max_speed'; there are none"):
        vehicle("exact", max_speed=3)


@given(st.integers(0, 2**64 - 2), st.integers(0, 2**63), st.integers(1, 9), st.integers(0, 9))
@settings(max_examples=50)
def test_draws_belong_to_seed_step_and_agent(seed, step, agents, more):
    draws = step_draws(seed, step, agents)
    assert ((draws >= 0) & (draws < 1)).all()
    assert draws.tobytes() == step_draws(seed, step, agents + more)[:agents].tobytes()
    assert draws.tobytes() != step_draws(seed + 1, step, agents).tobytes()
    assert draws.tobytes() != step_draws(seed, step + 1, agents).tobytes()
    with pytest.raises(InputError, match="from 0 on"):
        step_draws(-1, step, agents)


def test_anywhere_is_uniform_in_the_triangle():
    corners = np.array([[0.0, 0], [4, 1], [1, 3]])
    reach_sets = np.broadcast_to(corners, (40_000, 3, 2))
    rider = vehicle("anywhere")
    landed = rider.output(rider.drive(np.zeros((40_000, 2)), reach_sets, 1.0, step_draws(3, 0, 40_000)))
    assert inside(landed, reach_sets).all()
    # Mean and covariance of the uniform distribution: the centroid, and the corners' scatter over 12.
    offsets = corners - corners.mean(axis=0)
    np.testing.assert_allclose(landed.mean(axis=0), corners.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(np.cov(landed.T), offsets.T @ offsets / 12, atol=0.02)


def test_a_mixed_team_is_its_parts(scene):
    positions, reach_sets = scene
    fleet = tuple(map(vehicle, SOME))
    assignment = tuple(agent % 2 for agent in range(TEAM))
    draws = step_draws(9, 0, TEAM)
    mixed = Mixed(fleet, assignment)
    outputs = mixed.output(mixed.drive(mixed.initial_state(positions), reach_sets, 1.0, draws))
    assert outputs[::2].tolist() == middles(reach_sets[::2]).tolist()
    alone = fleet[1].drive(positions[1::2], reach_sets[1::2], 1.0, draws[1::2])
    assert outputs[1::2].tolist() == alone.tolist()
    with pytest.raises(InputError, match="agent 1 is assigned a vehicle"):
        Mixed(fleet, (0, 2))
    with pytest.raises(InputError, match=f"2 agents have a vehicle, but {TEAM} positions"):
        Mixed(fleet, (0, 1)).initial_state(positions)


class Own:
    """A vehicle of a user's that calls itself as ours do."""

    kind, landing, state_size = "exact", "inside", 2

    def initial_state(self, positions):
        return np.array(positions, float)

    def output(self, states):
        return states

    def drive(self, states, reach_sets, duration, draws):
        return states


class Exact(Own):
    """Even the class has the name of ours."""


@pytest.mark.parametrize("own", [Own(), Exact()])
def test_only_our_own_kinds_are_written_down(own):
    check_vehicle(own)
    assert not is_built_in(own)
    with pytest.raises(InputError, match="'exact' is not a kind that can be written down"):
        settings_of(own)
    for kind in KINDS:
        assert is_built_in(vehicle(kind))
    mixed = Mixed((vehicle("exact"),), (0,))
    check_vehicle(mixed)
    assert not is_built_in(mixed)


@pytest.mark.parametrize("part", ["kind", "landing", "state_size", "initial_state", "output", "drive"])
def test_each_part_of_a_vehicle_is_asked_for(part):
    full = {name: getattr(Own, name) for name in ("kind", "landing", "state_size", "initial_state", "output", "drive")}
    check_vehicle(type("Whole", (), full)())
    missing = type("Half", (), {name: value for name, value in full.items() if name != part})()
    with pytest.raises(InputError, match=f"Half is no vehicle: it has no {part} "):
        check_vehicle(missing)


def test_how_a_mixed_team_lands_is_how_the_least_certain_of_it_does():
    ways = {"centre": vehicle("exact"), "inside": vehicle("anywhere"), "anywhere": vehicle("unicycle")}
    assert {way: rider.landing for way, rider in ways.items()} == {way: way for way in ways}
    order = list(ways)
    for some in ([0], [1], [2], [0, 1], [1, 0], [2, 0], [1, 2], [2, 1, 0]):
        mixed = Mixed(tuple(ways[order[which]] for which in some), tuple(range(len(some))))
        assert mixed.landing == order[max(some)]
        for way in order:
            found = lands(mixed, len(some), way)
            assert found.tolist() == [order[which] == way for which in some]
            with pytest.raises(ValueError, match="read-only"):
                found[0] = True
    for way, rider in ways.items():
        assert lands(rider, 3, way).tolist() == [True] * 3
        others = [other for other in order if other != way]
        assert lands(rider, 2, *others).tolist() == [False] * 2
        with pytest.raises(ValueError, match="read-only"):
            lands(rider, 3, way)[0] = False
    with pytest.raises(InputError, match="at least one vehicle"):
        Mixed((), ())


def test_a_mixed_team_names_agents_by_their_place_in_the_team(scene):
    positions, reach_sets = scene
    mixed = Mixed((vehicle("exact"), vehicle("quadrotor")), tuple(agent % 2 for agent in range(TEAM)))
    states = mixed.initial_state(positions)
    states[3, 11] = 1e200  # body rates of the second quadrotor
    with pytest.raises(LostControlError, match="quadrotor of agent 3 lost control") as caught:
        mixed.drive(states, reach_sets, 0.1, step_draws(1, 0, TEAM))
    assert caught.value.agents == [3]
    states[4, 0] = 2
    with pytest.raises(InputError, match="agent 4 has a state of none of the 2 vehicles"):
        mixed.drive(states, reach_sets, 0.1, step_draws(1, 0, TEAM))
