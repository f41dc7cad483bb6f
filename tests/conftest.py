"""Settings for all tests: property tests are the same on every run, and nothing is timed."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from hypothesis import settings

from tests.guard import pytest_sessionfinish  # noqa: F401

mpl.use("Agg")
settings.register_profile("tricover", deadline=None, derandomize=True)
settings.load_profile("tricover")


@pytest.fixture(autouse=True)
def _figures_are_closed():
    yield
    plt.close("all")
