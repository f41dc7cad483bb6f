"""PettingZoo's and Gymnasium's own tests."""

from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import max_cycles_test, parallel_api_test, parallel_seed_test, render_test
from pettingzoo.utils import parallel_to_aec

from tests.rl.teams import GUSTY, eventful, given
from tricover.rl import follower_env, parallel_env

ALL_PARTS = ("place", "shape", "size", "heading", "targets", "histogram", "ages", "goal", "cell", "goal_cell")


@pytest.mark.parametrize("motion", ["walk", "reach"])
@pytest.mark.parametrize("scenario", [given, eventful])
@pytest.mark.parametrize("reward", ["cost", "coverage"])
def test_parallel_api(motion, scenario, reward, capsys):
    parallel_api_test(parallel_env(scenario(motion), reward=reward, parts=ALL_PARTS), num_cycles=30)
    assert "Passed" in capsys.readouterr().out


@pytest.mark.parametrize("motion", ["walk", "reach"])
def test_seeds(motion):
    """It draws actions without regard to masks: so what is masked means to stay."""
    parallel_seed_test(lambda: parallel_env(given(motion, vehicle=GUSTY), masked="stay"))


@pytest.mark.parametrize("motion", ["walk", "reach"])
def test_max_cycles(motion):
    def parallel(max_cycles):
        return parallel_env(given(motion), masked="stay", max_cycles=max_cycles)

    max_cycles_test(
        SimpleNamespace(parallel_env=parallel, env=lambda max_cycles: parallel_to_aec(parallel(max_cycles)))
    )


def test_render():
    scenario = given("reach", agents=8)
    render_test(lambda render_mode: parallel_to_aec(parallel_env(scenario, render_mode=render_mode)))


@pytest.mark.parametrize("motion", ["walk", "reach"])
def test_gymnasiums_checker_with_one_follower(motion):
    env = follower_env(given(motion, vehicle=GUSTY), 8, masked="stay", parts=ALL_PARTS)
    assert isinstance(env, gymnasium.Env)
    check_env(env, skip_render_check=True)


def test_an_episode_of_one_follower_is_cut_off_and_can_be_drawn():
    env = follower_env(given("walk", steps=3), 8, render_mode="rgb_array")
    observation, _ = env.reset(seed=3)
    ends = []
    for _ in range(3):
        observation, _, done, cut, _ = env.step(int(np.flatnonzero(observation["action_mask"])[0]))
        ends.append((done, cut))
    assert ends == [(False, False), (False, False), (False, True)]
    assert env.render().shape[2] == 3
    env.close()
