"""Real processes in which things go wrong. ``TRICOVER_FLIGHTS`` flights of each kind, 1 if it is not set."""

import os

import pytest

from tests.fleet.campaign import PLANS, flight


@pytest.mark.parametrize("name", PLANS)
def test_the_living_agree_again_and_settle_where_they_should(name):
    for seed in range(int(os.environ.get("TRICOVER_FLIGHTS", "1"))):
        flown, faults = flight(name, 12, seed)
        assert not faults, f"seed {seed}: {faults}"
        assert flown.run.steps > 0
