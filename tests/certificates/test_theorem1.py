"""Anchors, rows and the hull at the edge of what rounding allows, and what is counted where a claim fails."""

from dataclasses import replace

import numpy as np
import pytest

import tricover as tc
from tests.certificates.flights import flight, roster, team
from tricover.certificates import Settings, log_of
from tricover.certificates.audit import audit
from tricover.certificates.faults import Faults

EPS = float(np.finfo(np.float64).eps)
SQUARE = tc.build_network([[-1, -1], [1, -1], [1, 1], [-1, 1], [0, 0], [-0.5, 0]])  # one follower, 5


def standing(network=SQUARE, steps=6):
    return np.repeat(network.reference[None], steps + 1, axis=0)


@pytest.mark.parametrize("tolerance", [0.0, 0.25])
@pytest.mark.parametrize("still", [False, True])
def test_anchors_are_off_beyond_the_tolerance_every_time(tolerance, still):
    settings = Settings(tolerance=tolerance)
    for excess, faults in ((0.0, 0), (2.0**-30, 4)):
        positions = standing()
        positions[3:, 2, 0] += tolerance + excess
        if not still:
            positions[:, 5, 0] += 0.01 * np.arange(7)
        claim = audit(log_of(positions, SQUARE, settings=settings))["anchors"]
        assert claim.verdict == ("fails" if faults else "holds")
        assert claim.figures["faults"] == faults
        assert [(fault.agent, fault.step) for fault in claim.faults] == [(2, step) for step in (3, 4, 5, 6)[:faults]]
        assert claim.figures["arrived"] == 0
        assert claim.figures["tolerance"] == tolerance
        if faults:
            assert claim.figures["worst"] == tolerance + excess
        elif tolerance:
            assert claim.summary == "All stand still from step 0 on, to 0.25 m."


@pytest.mark.parametrize("due", [0, 1, 4])
@pytest.mark.parametrize("still", [False, True])
def test_anchors_are_judged_from_the_step_at_which_they_are_due(due, still):
    positions = standing()
    if not still:
        positions[:, 5, 0] += 0.01 * np.arange(7)
    places = SQUARE.reference[SQUARE.anchors]
    assert audit(log_of(positions, SQUARE, anchors=places, arrived=due))["anchors"].figures["arrived"] == due
    positions[:due, 1] += 0.5
    claim = audit(log_of(positions, SQUARE, anchors=places, arrived=due))["anchors"]
    assert (claim.verdict, claim.figures["arrived"]) == ("holds", due)
    claim = audit(log_of(positions, SQUARE, arrived=due))["anchors"]  # places are where they are by then
    assert (claim.verdict, claim.figures["arrived"]) == ("holds", due)
    positions[due, 1] += 0.5
    claim = audit(log_of(positions, SQUARE, anchors=places, arrived=due))["anchors"]
    assert [(fault.agent, fault.step, fault.reason) for fault in claim.faults] == [
        (1, due, "this anchor is not at its place")
    ]
    claim = audit(log_of(positions, SQUARE, anchors=places, arrived=None))["anchors"]
    assert (claim.verdict, claim.figures["arrived"]) == ("holds", due + 1)


def test_anchors_that_never_arrive_are_faults_once_for_each_network():
    network = tc.build_network(roster(0, 20))
    repaired = network.without([int(network.followers[0])])
    before = flight(network, 3)
    positions = np.concatenate([before, flight(repaired, 4, start=before[-1])[1:]])
    anchor = int(network.anchors[1])
    assert anchor in repaired.anchors
    positions[:, anchor, 0] += 0.125
    places = network.reference[network.anchors]
    log = log_of(positions, network, anchors=places, arrived=None)
    (fault,) = audit(log)["anchors"].faults
    assert (fault.agent, fault.step, fault.reason) == (anchor, 7, "this anchor never got to its place")
    assert fault.amount == pytest.approx(0.125, rel=1e-12)
    assert audit(log)["anchors"].figures["arrived"] is None
    assert audit(log)["theorem3"].verdict == "does not apply"


@pytest.mark.parametrize("scale", [1.0, 2.0**20, 2.0**-20])
@pytest.mark.parametrize("corner", range(2))
def test_a_landing_point_is_inside_within_sixteen_units_of_rounding(scale, corner):
    """The triangle (-1, 1), (-1, -1), (0, 0): its largest coordinate is 1, and landings go beyond its side x = -1."""
    network = tc.build_network(SQUARE.reference * scale)
    assert sorted(network.in_neighbors[5].tolist()) == [0, 3, 4]
    for units, inside in ((16, True), (17, False)):
        positions = standing(network, 1)
        positions[1, 5] = np.array([-1 - units * EPS, 0.25 * corner]) * scale
        claim = audit(log_of(positions, network))["theorem1"]
        assert (claim.verdict == "holds") == inside
        if not inside:
            assert claim.figures["worst"] == pytest.approx(units * EPS * scale, rel=1e-3)
        else:
            assert claim.figures["smallest_weight"] == 0


def test_the_largest_coordinate_may_be_that_of_a_corner_or_of_the_landing_point():
    near = tc.build_network([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]])
    for units, inside in ((64, True), (65, False)):  # 16 units of 4, the coordinate of a corner far away
        positions = standing(near, 1)
        positions[1, 5] = [-units * EPS, 0.5]
        assert (audit(log_of(positions, near))["theorem1"].verdict == "holds") == inside


@pytest.mark.parametrize("depth", [1, 3])
def test_the_hull_allows_for_the_rounding_of_every_layer(depth):
    """Sixteen units for the anchors and as many for each layer; all followers are moved beyond the side x = -1."""
    inner = [[-0.5, 0], [-0.7, 0.1], [-0.72, 0.2]][:depth]
    network = tc.build_network([[-1, -1], [1, -1], [1, 1], [-1, 1], [0, 0], *inner])
    assert network.depth == depth
    agent = int(network.layers[-1][0])
    for units, inside in ((16 * (depth + 1) - 2, True), (16 * (depth + 1) + 3, False)):
        positions = standing(network)
        positions[5, agent] = [-1 - units * EPS, 0.1]
        claim = audit(log_of(positions, network))["containment"]
        assert (claim.verdict == "holds") == inside
        if not inside:
            (fault,) = claim.faults
            assert (fault.agent, fault.step) == (agent, 5)
            assert fault.amount == pytest.approx(units * EPS, rel=1e-2)


@pytest.mark.parametrize("side", range(4))
@pytest.mark.parametrize("tolerance", [0.0, 0.5])
def test_all_sides_of_the_hull_and_the_tolerance(side, tolerance):
    outward = [[0, -1], [1, 0], [0, 1], [-1, 0]][side]
    for distance, inside in ((tolerance, True), (tolerance + 0.125, False)):
        positions = standing()
        positions[4, 5] = (1 + distance) * np.array(outward)
        claim = audit(log_of(positions, SQUARE, settings=Settings(tolerance=tolerance)))["containment"]
        assert (claim.verdict == "holds") == inside
        if not inside:
            assert claim.figures["worst"] == pytest.approx(0.125, rel=1e-12)


@pytest.mark.parametrize("arrived", [0, 2])
def test_the_hull_counts_from_depth_steps_after_the_arrival(arrived):
    network, _ = team(0, agents=40)
    depth = network.depth
    assert depth > 2
    rng = np.random.default_rng(1)
    start = network.reference.copy()
    start[network.followers] += 9.0  # all followers begin outside
    positions = flight(network, depth + arrived + 3, start=start)
    positions[:, network.followers] += 1e-9 * rng.random((len(positions), len(network.followers), 2))
    agent = int(network.layers[-1][0])
    for step, verdict in ((arrived + depth - 1, "holds"), (arrived + depth, "fails")):
        moved = positions.copy()
        moved[step, agent] += 9.0
        found = audit(log_of(moved, network, arrived=arrived))["containment"]
        assert found.verdict == verdict
        assert found.figures["since"] == arrived + depth
    short = audit(log_of(positions[: arrived + depth], network, arrived=arrived))["containment"]
    assert short.verdict == "does not apply"
    assert short.figures["since"] is None


def test_a_team_at_rest_is_in_the_hull_before_that():
    network, _ = team(0, agents=40)
    assert audit(log_of(standing(network, 1), network))["containment"].figures["since"] == 1


def test_rows_are_counted_and_the_smallest_weight_is_found():
    positions = standing()
    positions[2, 5] = [-0.5, 0.25]  # weights 3/8, 1/8 and 1/2
    positions[3:, 5] = [-0.75, 0.5]  # 5/8, 1/8 and 1/4
    claim = audit(log_of(positions, SQUARE))["theorem1"]
    assert claim.figures["rows"] == 6
    assert claim.figures["flat"] == 0
    assert claim.figures["smallest_weight"] == 0.125
    assert claim.summary == "All 6 rows are stochastic; smallest weight 0.125."


def test_twenty_faults_are_kept_and_all_are_counted():
    faults = Faults(unit="m")
    faults.add(np.arange(15), 0, np.arange(15.0), ["one"] * 15)
    faults.add(np.arange(15), 1, np.arange(15.0) / 2, ["two"] * 15)
    assert (faults.count, faults.worst, len(faults.first)) == (30, 14.0, 20)
    assert faults.figures == {"faults": 30, "worst": 14.0, "reasons": {"one": 15, "two": 15}}
    assert [(fault.agent, fault.step) for fault in faults.first[14:16]] == [(14, 0), (0, 1)]
    assert (faults.first[-1].agent, faults.first[-1].amount, faults.first[-1].reason) == (4, 2.0, "two")


def test_reasons_for_landing_outside():
    positions = standing()
    positions[3, 5] = [0.5, 0.0]
    for settings, reason in (
        (Settings(), "outside its triangle"),
        (Settings("reach", "centroid", ideal=True), "outside its triangle"),
        (Settings("reach", "centroid"), "its vehicle missed its reach set and left its triangle"),
    ):
        fault = audit(log_of(positions, SQUARE, settings=settings))["theorem1"].faults[0]
        assert (fault.agent, fault.step, fault.reason) == (5, 2, reason)
        assert fault.amount == 0.5
    flat = standing()
    flat[2:, SQUARE.in_neighbors[5]] = [[0, 0], [2, 0], [4, 0]]
    flat[2:, 5] = [1, 1]
    fault = audit(log_of(flat, SQUARE))["theorem1"].faults[-1]
    assert (fault.step, fault.reason, fault.amount) == (5, "its triangle has no area, and it is not on it", 1.0)


def test_a_repair_is_named_only_where_it_changed_something():
    network = tc.build_network(roster(0, 40), mentee="balanced")
    leaf = next(agent for agent in network.layers[1].tolist() if agent not in network.in_neighbors)
    lost = next(agent for agent in network.layers[-1].tolist() if agent not in network.in_neighbors)
    repaired = network.without([lost])
    assert np.array_equal(repaired.in_neighbors[leaf], network.in_neighbors[leaf])
    before = flight(network, 4, 1)
    positions = np.concatenate([before, flight(repaired, 3, 2, start=before[-1])[1:]])
    positions[5, leaf] += 9.0
    fault = audit(log_of(positions, [(0, network), (4, repaired)]))["theorem1"].faults[0]
    assert (fault.agent, fault.step, fault.reason) == (leaf, 4, "outside its triangle")


def test_structure_counts_layers_and_links():
    network, positions = team(0, agents=40)
    claim = audit(log_of(positions, network))["structure"]
    assert claim.figures["depth"] == network.depth
    assert claim.figures["messages_per_step"] == 3 * len(network.followers)
    assert claim.summary == f"{network.depth} layers; each agent hears earlier ones only."


def test_agents_that_must_not_listen():
    network, positions = team(0, agents=40)
    for agent in (int(network.anchors[0]), int(network.core)):
        wrong = network.in_neighbors.copy()
        wrong[agent] = network.in_neighbors[network.followers[0]]
        found = audit(log_of(positions, replace(network, in_neighbors=wrong)))
        claim = found["structure"]
        assert claim.verdict == found["finite-time"].verdict == "fails"
        (fault,) = claim.faults
        assert (fault.agent, fault.reason) == (agent, "has in-neighbours without being a follower")
        assert claim.summary == "1 agent out of place in the layers."


def test_an_agent_that_joins_outside_its_triangle():
    network = tc.build_network(roster(0, 29))
    joined = network.with_agents(network.reference[:4].mean(axis=0, keepdims=True))
    before = np.concatenate([flight(network, 3), np.zeros((4, 1, 2))], axis=1)
    start = before[-1].copy()
    start[29] = joined.reference[29]
    positions = np.concatenate([before[:-1], flight(joined, 3, start=start)])
    positions[4, 29] += 9.0
    fault = audit(log_of(positions, [(0, network), (3, joined)]))["theorem1"].faults[0]
    assert (fault.agent, fault.step) == (29, 3)
    assert fault.reason == "outside its triangle after a repair gave it new in-neighbours"
