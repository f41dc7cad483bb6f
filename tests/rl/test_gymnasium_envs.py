"""Every follower of every scenario, by Gymnasium's interface for many environments."""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from tests.rl.teams import GUSTY, eventful, given
from tricover.errors import InputError
from tricover.rl import VectorTeam, follower_env, parallel_env, vector_env

ONES = [given(seed=0, steps=4), given(seed=3, steps=4)]


def allowed(observations, rng):
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in observations["action_mask"]])


def test_sub_environments_are_the_followers():
    env, team = vector_env(ONES), VectorTeam(ONES)
    assert isinstance(env, VectorEnv)
    assert env.num_envs == team.followers.sum()
    seen, infos = env.reset()
    assert infos == {}
    assert seen in env.observation_space
    whole, rng = team.reset(), np.random.default_rng(1)
    while not team.over:
        scenario, agent = env.places.T
        np.testing.assert_array_equal(seen["observation"], whole.observations[scenario, agent])
        np.testing.assert_array_equal(seen["cell"], whole.cells[scenario, agent] + 1)
        np.testing.assert_array_equal(seen["action_mask"], whole.masks[scenario, agent])
        actions, everybody = allowed(seen, rng), np.full((2, 14), 3)
        everybody[scenario, agent] = actions
        whole, expected = team.step(everybody)
        seen, rewards, done, cut, _ = env.step(actions)
        np.testing.assert_array_equal(rewards, expected[scenario, agent])
        assert seen in env.observation_space
        assert not done.any()
        assert (cut == team.over).all()


def test_the_step_after_the_last_begins_new_episodes():
    env = vector_env([given(vehicle=GUSTY, steps=3)], masked="stay")
    assert env.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    first, _ = env.reset(seed=4)
    stay = np.full(env.num_envs, 3)
    ends = [env.step(stay)[3].all() for _ in range(3)]
    assert ends == [False, False, True]
    again, rewards, done, cut, _ = env.step(stay)
    assert not rewards.any()
    assert not done.any()
    assert not cut.any()
    np.testing.assert_array_equal(again["observation"], first["observation"])
    assert [env.step(stay)[3].all() for _ in range(3)] == [False, False, True]


def test_seeds():
    def episodes(seed, count=2):
        env = vector_env([given(vehicle="anywhere", seed=s, steps=3) for s in (0, 3)])
        found = []
        for k in range(count):
            env.reset(seed=seed if k == 0 else None)
            for _ in range(3):
                env.step(np.full(env.num_envs, 3))
            found.append(env.team.positions)
        return found

    one, same, other, own = episodes(5), episodes(5), episodes(6), episodes(None)
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one[0], other[0])
    assert not np.array_equal(one[0], one[1])
    team = VectorTeam([given(vehicle="anywhere", seed=s, steps=3) for s in (0, 3)])
    team.reset()
    for _ in range(3):
        team.step(np.full((2, 14), 3))
    np.testing.assert_array_equal(own[0], team.positions)


def test_gymnasiums_own_wrappers_work_on_it():
    env = RecordEpisodeStatistics(vector_env([given("reach", steps=3)]))
    env.reset(seed=1)
    env.action_space.seed(1)
    for _ in range(3):
        _, _, _, cut, infos = env.step(env.action_space.sample())
    assert cut.all()
    assert (infos["episode"]["l"] == 3).all()


def test_one_follower_among_others_that_follow_the_method():
    one = given(vehicle="anywhere")
    env, whole = follower_env(one, 8), parallel_env(one)
    mine, _ = env.reset()
    observations, _ = whole.reset()
    cut = False
    while not cut:
        np.testing.assert_array_equal(mine["observation"], observations["follower_8"]["observation"])
        mine, reward, _, cut, _ = env.step(3)
        observations, rewards, *_ = whole.step({**whole.method_actions(), "follower_8": 3})
        assert reward == rewards["follower_8"]


def test_who_joins_later_cannot_be_played_alone():
    env = follower_env(eventful(), 21)
    with pytest.raises(InputError, match="follower_21 is not there from the start"):
        env.reset()
