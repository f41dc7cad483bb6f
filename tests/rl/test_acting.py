"""Bad actions are one clear error, and nothing has happened then."""

import numpy as np
import pytest

from tests.rl.teams import given
from tricover.errors import InputError, TricoverError
from tricover.rl import VectorTeam, follower_env, parallel_env, vector_env

NAME = "follower_8"


def weights(*values):
    return np.array(values, np.float32)


@pytest.mark.parametrize(
    ("motion", "action", "said"),
    [
        ("walk", 1.5, "follower_8: an action is a whole number from 0 to 3, not 1.5"),
        ("walk", float("nan"), "follower_8: an action is a whole number"),
        ("walk", [1], "follower_8: an action is a whole number"),
        ("walk", None, "follower_8: an action is a whole number"),
        ("walk", True, "follower_8: an action is a whole number"),
        ("walk", 4, "the action of agent 8 is not one of 0 to 3"),
        ("walk", -1, "the action of agent 8 is not one of 0 to 3"),
        ("reach", weights(0.2, np.nan, 0.1), "weights of agent 8 must be from 0 to 1, and not all 0"),
        ("reach", weights(0.2, -0.1, 0.1), "weights of agent 8 must be from 0 to 1"),
        ("reach", weights(0.2, 1.1, 0.1), "weights of agent 8 must be from 0 to 1"),
        ("reach", weights(0, 0, 0), "weights of agent 8 must be from 0 to 1, and not all 0"),
        ("reach", weights(0.5, 0.5), "follower_8: an action is three weights"),
        ("reach", 3, "follower_8: an action is three weights, not 3"),
        ("reach", ["a", "b", "c"], "follower_8: an action is three weights"),
        ("reach", [1j, 0, 0], "follower_8: an action is three weights"),
    ],
)
def test_one_clear_error_and_nothing_has_happened(motion, action, said):
    env = parallel_env(given(motion))
    env.reset()
    before, state = env.turn.state.positions.copy(), env.turn.state.step
    with pytest.raises(InputError, match=said) as error:
        env.step({**env.method_actions(), NAME: action})
    assert isinstance(error.value, TricoverError)
    assert "\n" not in str(error.value)
    assert (env.turn.state.step, env.run.steps) == (state, 0)
    np.testing.assert_array_equal(env.turn.state.positions, before)
    env.step(env.method_actions())


def test_agents_that_are_not_known_or_say_nothing():
    env = parallel_env(given())
    env.reset()
    actions = env.method_actions()
    with pytest.raises(InputError, match=r"there is no agent 'folower_8'; did you mean 'follower_8'\?"):
        env.step({**actions, "folower_8": 3})
    with pytest.raises(InputError, match="there is no agent 8"):
        env.step({**actions, 8: 3})
    with pytest.raises(InputError, match="no action is given for follower_8"):
        env.step({name: action for name, action in actions.items() if name != NAME})
    with pytest.raises(InputError, match="a dictionary by agents' names, not list"):
        env.step([3] * len(actions))


def test_a_masked_action_names_the_agent():
    env = parallel_env(given(agents=10, resolution=1))
    env.reset()
    with pytest.raises(InputError, match=r"the action of agents .* is masked: there is no free cell across"):
        env.step(dict.fromkeys(env.agents, 0))


@pytest.mark.parametrize(
    ("motion", "spoil", "said"),
    [
        ("walk", lambda actions: actions[:, :-1], r"the shape \(2, 14\), not \(2, 13\)"),
        ("walk", lambda actions: actions.astype(float), "whole numbers of shape"),
        ("walk", lambda actions: np.where(actions >= 0, 9, 0), r"agents \d+ of scenario 0, .* is not one of 0 to 3"),
        ("reach", lambda actions: actions[..., 0], r"the shape \(2, 14, 3\)"),
        ("reach", lambda actions: actions * np.nan, "must be from 0 to 1"),
        ("reach", lambda actions: actions.astype(int), "must be weights of shape"),
    ],
)
def test_so_it_is_for_many_teams(motion, spoil, said):
    team = VectorTeam([given(motion), given(motion, seed=1)])
    team.reset()
    before = team.positions
    with pytest.raises(InputError, match=said):
        team.step(spoil(team.method_actions()))
    np.testing.assert_array_equal(team.positions, before)


def test_actions_of_anchors_are_not_looked_at():
    team = VectorTeam([given("reach")])
    team.reset()
    actions = team.method_actions()
    actions[~team.followers] = np.nan
    team.step(actions)


def test_and_for_gymnasium():
    env = vector_env([given()])
    env.reset()
    with pytest.raises(InputError, match="actions must have the shape"):
        env.step(np.full(3, 3))
    with pytest.raises(InputError, match=r"there is no follower_99; did you mean|there is no follower_99; known"):
        follower_env(given(), 99)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"reward": "money"}, "reward must be 'cost' or 'coverage', or a function, not 'money'"),
        ({"reward": lambda before: 0}, r"a reward must take \(before, after\)"),
        ({"masked": "ignore"}, 'masked must be "error" or "stay"'),
        ({"render_mode": "ascii"}, "render_mode must be one of human, rgb_array"),
        ({"parts": ("place", "colour")}, "an observation has no part 'colour'"),
        ({"parts": ()}, "at least one that is no cell"),
        ({"parts": ("cell",)}, "at least one that is no cell"),
        ({"parts": ("place", "place")}, "must be different"),
        ({"bins": 0}, "bins must be a whole number from 1"),
        ({"max_cycles": -1}, "steps"),
    ],
)
def test_settings_that_cannot_be(settings, said):
    with pytest.raises(InputError, match=said):
        parallel_env(given(), **settings)


def test_so_it_is_for_settings_of_many_teams():
    with pytest.raises(InputError, match="masked must be"):
        VectorTeam([given()], masked="ignore")
    with pytest.raises(InputError, match="reward must be"):
        VectorTeam([given()], reward="money")


def test_a_team_of_anchors_has_nobody_to_play():
    square = [[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5]]
    for play in (parallel_env, lambda one: VectorTeam([one])):
        with pytest.raises(InputError, match="there is nobody to play"):
            play(given(reference=square))


def test_a_morph_cannot_be_played():
    with pytest.raises(InputError, match='take "walk" or "reach"'):
        parallel_env(given("morph"))
