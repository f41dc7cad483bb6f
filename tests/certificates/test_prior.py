"""What is promised before a run, beside what the run's own certificate says: not more, and not much less."""

import math

import numpy as np
import pytest

import tricover as tc
from tests.certificates.test_runs import scenario


@pytest.mark.parametrize("seed", range(0, 44, 2))
def test_bounds_and_radii_are_those_of_the_run(seed):
    made = scenario(seed)
    found, promised = tc.certify(tc.simulate(made)), tc.certify(made)
    later = bool(made.events.leave or made.events.join)  # an agent that becomes an anchor may have a step to go
    assert [layer.bound + later for layer in found.layers] == [layer.bound for layer in promised.layers]
    assert [layer.agents for layer in found.layers] == [layer.agents for layer in promised.layers]
    if promised.neighbourhood is not None and not later:
        for key, value in vars(promised.neighbourhood).items():
            assert np.array_equal(value, getattr(found.neighbourhood, key))
        assert [layer.radius for layer in found.layers] == [layer.radius for layer in promised.layers]
    assert promised["theorem3"].figures["bound"] == promised.layers[-1].bound
    assert promised["theorem3"].figures["steps"] == made.steps


@pytest.mark.parametrize(("motion", "pace"), [("reach", 1), ("walk", 7)])
def test_so_many_steps_for_each_layer_and_one_for_anchors_that_move(motion, pace):
    reference = np.random.default_rng(3).random((30, 2))
    network = tc.build_network(reference)
    control, targets = {"motion": motion, "resolution": 4}, [[0.5, 0.5]]
    places = reference[network.anchors]
    for anchors, first in ((None, 0), (places, 0), (places + 0.1, 1)):
        made = tc.Scenario(reference=reference, targets=targets, anchors=anchors, control=control, steps=9)
        promised = tc.certify(made)
        bound = first + pace * network.depth
        assert promised["theorem3"].figures["bound"] == bound
        assert ("allows only 9" in promised["theorem3"].summary) == (bound > 9)
    assert promised["finite-time"].figures == {
        "depth": network.depth,
        "messages_per_step": 3 * len(network.followers),
    }


def test_the_vehicle_is_tried_in_the_smallest_and_the_largest_reach_set():
    square = np.array([[0, 0], [8, 0], [8, 8], [0, 8], [4, 4], [2, 4]])
    control = {"motion": "walk", "resolution": 5, "margin": 0.1}
    vehicle = {"kind": "double-integrator", "duration": 30.0}
    claim = tc.certify(tc.Scenario(reference=square, targets=[[1, 4]], control=control, vehicle=vehicle))["vehicle"]
    shrink = (1 - 3 * 0.1) / 5  # one follower: its triangle has the sides 8, √32 and √32, and the height 4
    assert claim.figures["smallest"] == pytest.approx(4 * shrink, rel=1e-12)
    assert claim.figures["largest"] == pytest.approx(8 * shrink, rel=1e-12)
    assert claim.figures["duration"] == 30.0
    assert claim.figures["share_landed"] == 1
    assert math.isclose(claim.figures["smallest"] * 2, claim.figures["largest"])


def test_radii_from_cells_and_from_containment_are_counted():
    reference = np.random.default_rng(0).random((40, 2))
    control = {"motion": "walk", "resolution": 8, "goal": "reference"}
    made = tc.Scenario(reference=reference, targets=[[0, 0]], control=control, vehicle="anywhere")
    promised, followers = tc.certify(made), tc.build_network(reference).followers
    figures, around = promised["neighbourhood"].figures, promised.neighbourhood
    assert figures["proper_radii"] == around.proper[followers].sum() > 0
    assert figures["containment_only"] == (~around.proper[followers]).sum() > 0
    assert figures["largest_radius"] == around.radii[followers].max()
    assert promised["theorem3"].verdict == "does not apply"
