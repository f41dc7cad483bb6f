"""Pictures of episodes: of one size, and with what happens in them."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from tests.rl.teams import eventful, given
from tricover.rl import parallel_env


def test_pictures_are_of_one_size_whoever_leaves_and_joins():
    targets = {"positions": [[0.4, 0.5], [0.5, 0.4]], "motion": {"velocity": [0.3, 0.0]}}  # out of the first picture
    env = parallel_env(eventful("reach", steps=7, targets=targets), render_mode="rgb_array")
    env.reset()
    pictures = [env.render()]
    while env.agents:
        env.step(env.method_actions())
        pictures.append(env.render())
    assert {picture.shape for picture in pictures} == {pictures[0].shape}
    assert {picture.dtype for picture in pictures} == {np.dtype(np.uint8)}
    assert all((one != other).any() for one, other in pairwise(pictures[:4]))


def test_a_window_is_opened_and_closed():
    env = parallel_env(given("reach", agents=8, steps=2), render_mode="human")
    env.reset()
    env.step(env.method_actions())
    assert plt.get_fignums()
    env.close()
    assert not plt.get_fignums()
    env.close()


def test_nothing_is_drawn_if_nobody_asks():
    env = parallel_env(given("reach", agents=8))
    env.reset()
    assert env.render() is None
