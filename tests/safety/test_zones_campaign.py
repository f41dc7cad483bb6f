"""200 random fields with zones, walked with every vehicle that lands in its cell; shapely says who was where."""

import numpy as np
import pytest

import tricover as tc
from tests.safety.fields import entered, scenario
from tricover.vehicles.registry import KINDS

FIELDS = 200
# A vehicle that may miss its reach set cannot keep out of zones by its cells.
LANDING = [kind for kind in KINDS if kind != "rotorpy" and tc.vehicle(kind).landing != "anywhere"]


@pytest.mark.parametrize("vehicle", LANDING)
def test_nobody_enters_a_zone_and_everybody_settles_or_is_named(vehicle, record_property):
    settled = converged = named = ways = 0
    for seed in range(FIELDS):
        made = scenario(np.random.default_rng([seed, 17]), vehicle, 20_000 if vehicle == "exact" else 60)
        run = tc.simulate(made)
        assert entered(run.positions, run.mission.ground.zones) == [], seed
        assert tc.certify(run)["zones"].verdict == "holds", seed
        ways += run.steps * run.positions.shape[1]
        if vehicle == "exact":  # others are never at rest: they land anywhere in their cells
            assert run.settled_at is not None, seed
            assert run.largest_error < 1e-9, seed
            assert run.converged == (not run.cut_off), seed
            settled, converged, named = settled + 1, converged + run.converged, named + len(run.cut_off)
    figures = {"fields": FIELDS, "ways": ways, "settled": settled, "converged": converged, "cut off": named}
    for name, figure in figures.items():
        record_property(name, figure)


def test_the_vehicles_are_those_that_land_in_their_cells():
    assert LANDING == ["exact", "anywhere"]
