"""Hundreds of random teams as flown. `make test` checks the first dozen of them."""

import pytest

from tests.export.random_flights import check_random_team

TEAMS = 300


@pytest.mark.parametrize("seed", range(12, TEAMS))
def test_a_random_team_as_flown(seed, tmp_path):
    check_random_team(seed, tmp_path / "plans")
