"""The study, run once."""

import pytest

import tricover as tc
from tricover.paper import study_of


@pytest.fixture(scope="package")
def study():
    return study_of(lambda name, scenario: tc.simulate(scenario))
