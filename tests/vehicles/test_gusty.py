import numpy as np
import pytest

import tricover as tc
from tricover.errors import InputError
from tricover.vehicles import check_aoc, middles, step_draws, vehicle

TEAM = 20_000


def flown(chance, gust, seed=3):
    """The middles of random reach sets, and where gusty agents land."""
    reach_sets = np.random.default_rng(seed).normal(size=(TEAM, 3, 2))
    rider = vehicle("gusty", chance=chance, gust=gust)
    states = rider.drive(np.zeros((TEAM, 2)), reach_sets, 1.0, step_draws(seed, 0, TEAM))
    return middles(reach_sets), rider.output(states)


@pytest.mark.parametrize("chance", [0.1, 0.3, 0.75])
def test_a_gust_comes_as_often_as_it_should_and_carries_by_its_whole_length(chance):
    aims, landed = flown(chance, (1.5, -0.5))
    blown = (landed != aims).any(axis=1)
    assert abs(blown.mean() - chance) < 4 * np.sqrt(chance * (1 - chance) / TEAM)
    assert landed[blown].tolist() == (aims[blown] + np.array([1.5, -0.5])).tolist()
    assert landed[~blown].tobytes() == aims[~blown].tobytes()


def test_gusts_come_never_or_always():
    aims, landed = flown(0.0, (1.5, -0.5))
    assert landed.tobytes() == aims.tobytes()
    aims, landed = flown(1, (1.5, -0.5))
    assert landed.tobytes() == (aims + np.array([1.5, -0.5])).tobytes()
    assert vehicle("gusty") == vehicle("gusty", chance=0.3, gust=(0, 0))


def test_it_may_miss_its_reach_set():
    rider = vehicle("gusty", chance=0.3, gust=(0.0, 2.0))
    assert rider.landing == "anywhere"
    [row] = check_aoc(rider, 0.5, 1.0, starts=2000).rows
    # A start lands if none of its three steps meets a gust.
    assert row.share == pytest.approx(0.7**3, abs=0.04)
    assert 1.5 < row.worst_miss <= 2.0
    assert row.shortest is None
    assert check_aoc(vehicle("gusty", chance=0.3, gust=(0.0, 0.1)), 0.5, 1.0, starts=200).holds


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"chance": -0.1}, "vehicle 'gusty': chance must be a probability from 0 to 1, not -0.1"),
        ({"chance": 1.1}, "chance must be a probability from 0 to 1, not 1.1"),
        ({"chance": float("nan")}, "chance must be a probability"),
        ({"chance": "often"}, "chance must be a probability from 0 to 1, not 'often'"),
        ({"chance": True}, "chance must be a probability from 0 to 1, not True"),
        ({"gust": 3.0}, "vehicle 'gusty': gust must be two numbers of m, not 3.0"),
        ({"gust": [1, 2, 3]}, "gust must be two numbers of m"),
        ({"gust": [1, float("inf")]}, "gust must be two numbers of m"),
        ({"gusts": [1, 2]}, "vehicle 'gusty' has no setting 'gusts'; did you mean 'gust'"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        vehicle("gusty", **settings)


def test_a_scenario_with_gusts_is_kept_in_its_file(tmp_path):
    team = np.random.default_rng(2).random((12, 2))
    given = {"kind": "gusty", "chance": 0.4, "gust": [0.1, -0.2]}
    made = tc.Scenario(reference=team, targets=[[0.5, 0.5]], vehicle=given, steps=4)
    made.save(tmp_path / "gusts.toml")
    again = tc.Scenario.load(tmp_path / "gusts.toml")
    assert again.vehicle.made() == vehicle("gusty", chance=0.4, gust=(0.1, -0.2))
    assert tc.simulate(again).positions.tobytes() == tc.simulate(made).positions.tobytes()
