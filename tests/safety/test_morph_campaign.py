"""Five hundred teams that morph."""

import numpy as np

from tests.safety.test_morph import assert_safe

COUNT = 500


def test_every_team_is_safe():
    found = np.array([assert_safe(seed) for seed in range(COUNT)])
    assert found[:, 0].min() > 1e-9
