"""The check of large runs against the plain loop, at sizes that a test can afford."""

import numpy as np
import pytest

from benchmarks import samples


@pytest.mark.parametrize("motion", ["reach", "walk"])
def test_samples_equal_the_plain_loop(motion):
    assert samples.difference(300, 2000, motion, sample=6) < 1e-12


def test_a_difference_would_be_seen(monkeypatch):
    honest = samples.next_position
    monkeypatch.setattr(samples, "next_position", lambda *given: np.add(honest(*given), [1e-6, 0]))
    assert samples.difference(50, 200, "reach", sample=3) == pytest.approx(1e-6)
