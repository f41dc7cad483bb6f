"""Settling against teams whose steps are known by construction: who is where, at which step, by how much."""

import math

import numpy as np
import pytest

import tricover as tc
from tests.certificates.flights import roster
from tricover.certificates import Log, Settings, log_of, log_of_run
from tricover.certificates.audit import audit
from tricover.errors import InputError
from tricover.goals.reference import reference_weights

EPS = float(np.finfo(np.float64).eps)
NETWORK = tc.build_network(roster(0, 40))
DEPTH = NETWORK.depth
REACH = Settings("reach", "reference", exact=True)


def team(steps=30, arrived=0, start=0):
    """Positions of a team that keeps its reference weights, from anywhere; its anchors come to their places late.

    Layer l stands at its reference positions from step ``arrived`` + l on, and not before.
    """
    rng = np.random.default_rng(5)
    weights, followers = reference_weights(NETWORK), NETWORK.followers
    now = NETWORK.reference + 0.01 * rng.random((len(NETWORK), 2))
    positions = []
    for step in range(steps + 1):
        if step >= arrived:
            now[NETWORK.anchors] = NETWORK.reference[NETWORK.anchors]
        positions.append(now)
        now = now.copy()
        now[followers] = np.einsum("fk,fkx->fx", weights[followers], positions[-1][NETWORK.in_neighbors[followers]])
        if step + 1 < arrived:
            now[NETWORK.anchors] += 0.001
    return np.array(positions)


def log(positions, arrived=0, settings=REACH):
    return log_of(positions, NETWORK, anchors=NETWORK.reference[NETWORK.anchors], arrived=arrived, settings=settings)


def standing(steps):
    """A team that stands at its desired positions all the time."""
    return np.repeat(NETWORK.reference[None], steps + 1, axis=0)


def cells(network, resolution):
    """The desired configuration of the goal ``reference``, cell by cell."""
    targets = tc.Targets([[0.0, 0.0]])
    return tc.desired_configuration(network, targets, goal="reference", resolution=resolution)


@pytest.mark.parametrize("arrived", [0, 1, 7])
def test_layers_settle_one_after_the_other(arrived):
    assert DEPTH >= 4
    found = audit(log(team(arrived=arrived), arrived))
    assert found["theorem3"].verdict == "holds"
    assert found["theorem3"].figures == {"settled": arrived + DEPTH, "bound": arrived + DEPTH}
    assert found["theorem3"].summary == f"Settled at step {arrived + DEPTH}; the bound is {arrived + DEPTH}."
    for layer in found.layers:
        assert layer.settled == layer.bound == arrived + layer.index
        assert layer.agents == len(NETWORK.layers[layer.index])
        assert layer.radius == 0
        assert layer.index == 0 or layer.distance <= 1e-14
    assert found["neighbourhood"].verdict == "does not apply"


@pytest.mark.parametrize("steps", [DEPTH - 1, DEPTH])
def test_a_log_that_ends_before_the_bound_claims_nothing(steps):
    found = audit(log(team(steps)))
    assert found["theorem3"].verdict == ("holds" if steps == DEPTH else "does not apply")
    assert [layer.distance is None for layer in found.layers[1:]] == [index > steps for index in range(1, DEPTH + 1)]
    assert found.layers[DEPTH].settled == (DEPTH if steps == DEPTH else None)


@pytest.mark.parametrize("late", range(1, DEPTH + 1))
def test_a_layer_that_is_a_step_late(late):
    positions = team()
    leaf = int(next(agent for agent in NETWORK.layers[late] if agent not in NETWORK.in_neighbors))
    positions[late, leaf] += [0.003, 0.004]
    found = audit(log(positions))
    claim = found["theorem3"]
    assert claim.verdict == "fails"
    assert claim.summary == "1 layer settled late or not at all."
    (fault,) = claim.faults
    assert (fault.agent, fault.step) == (leaf, late)
    assert fault.amount == pytest.approx(0.005, rel=1e-9)
    assert fault.reason == f"layer {late} was not at rest by its bound, step {late}"
    assert [layer.settled for layer in found.layers] == [index + (index == late) for index in range(DEPTH + 1)]


def test_a_layer_that_never_comes_to_rest():
    positions = team(20)
    agent = int(NETWORK.layers[3][1])
    positions[20, agent] += [0.03, 0.04]
    found = audit(log(positions))
    (fault,) = found["theorem3"].faults
    assert (fault.agent, fault.step) == (agent, 20)
    assert found["theorem3"].figures["settled"] is None
    assert found.layers[3].settled is None


@pytest.mark.parametrize("layer", [1, 3])
@pytest.mark.parametrize("tolerance", [0.0, 0.001])
def test_at_rest_is_within_rounding_and_the_tolerance(layer, tolerance):
    """Rounding is 16 ε of the largest coordinate for the anchors, and as much again for each layer."""
    largest = np.abs(NETWORK.reference[NETWORK.followers]).max()
    agent = NETWORK.layers[layer][0]
    allowed = tolerance + 16 * EPS * (layer + 1) * largest
    for factor, settled in ((0.9, 0), (1.1, 11)):
        positions = standing(20)
        positions[10, agent, 0] += (allowed - tolerance) * factor + tolerance
        found = audit(log(positions, settings=Settings("reach", "reference", exact=True, tolerance=tolerance)))
        assert found.layers[layer].settled == settled


@pytest.mark.parametrize("resolution", [1, 2, 3])
def test_a_walk_has_so_many_steps_for_each_layer(resolution):
    pace = 2 * resolution - 1
    desired, settings = cells(NETWORK, resolution), Settings("walk", "reference", resolution, exact=True)
    for late in (0, 1):
        positions = np.repeat(desired[None], DEPTH * pace + 4, axis=0)
        agent = NETWORK.layers[2][0]
        positions[: 3 + 2 * pace + late, agent] += 1e-6
        given = log_of(positions, NETWORK, anchors=desired[NETWORK.anchors], arrived=3, targets=None, settings=settings)
        found = audit(given)
        assert [layer.bound for layer in found.layers] == [3 + pace * index for index in range(DEPTH + 1)]
        assert found["theorem3"].verdict == ("fails" if late else "holds")


@pytest.mark.parametrize("layer", [1, 2])
def test_a_neighbourhood_is_left_from_the_bound_on_only(layer):
    resolution = 2
    pace = 2 * resolution - 1
    desired = cells(NETWORK, resolution)
    settings = Settings("walk", "reference", resolution, ideal=True)
    agent = int(NETWORK.layers[layer][0])
    positions = np.repeat(desired[None], 40, axis=0)
    anchors = desired[NETWORK.anchors]
    around = audit(log_of(positions, NETWORK, anchors=anchors, settings=settings)).neighbourhood
    rounding = 16 * EPS * (layer + 1) * np.abs(desired[NETWORK.followers]).max()
    for step, factor, verdict in (
        (layer * pace - 1, 2.0, "holds"),
        (layer * pace, 2.0, "fails"),
        (layer * pace, 1 - 1e-12, "holds"),
        (39, 1 + 1e-12, "fails"),
    ):
        moved = positions.copy()
        moved[step, agent, 1] += factor * around.radii[agent]
        found = audit(log_of(moved, NETWORK, anchors=anchors, settings=settings))
        claim = found["neighbourhood"]
        assert claim.verdict == verdict
        if verdict == "fails":
            (fault,) = claim.faults
            assert (fault.agent, fault.step, fault.reason) == (agent, step, "outside its neighbourhood")
            beyond = (factor - 1) * around.radii[agent] - rounding
            assert fault.amount == pytest.approx(beyond, abs=rounding)
            assert claim.figures["reasons"] == {"outside its neighbourhood": 1}
        if step >= layer * pace:
            away = factor * around.radii[agent]
            assert found.layers[layer].distance == pytest.approx(away, rel=1e-9)
            assert claim.figures["largest_distance"] == pytest.approx(away, rel=1e-9)
    assert found["theorem3"].verdict == "does not apply"


def test_what_a_neighbourhood_says_of_itself():
    desired = cells(NETWORK, 2)
    settings = Settings("walk", "reference", 2, ideal=True)
    positions = np.repeat(desired[None], 10, axis=0)
    given = log_of(positions, NETWORK, anchors=desired[NETWORK.anchors], settings=settings)
    found, followers = audit(given), NETWORK.followers
    figures, around = found["neighbourhood"].figures, found.neighbourhood
    assert figures["layers_seen"] == sum(3 * layer <= 9 for layer in range(1, DEPTH + 1))
    assert figures["proper_radii"] == around.proper[followers].sum()
    assert figures["containment_only"] == (~around.proper[followers]).sum() > 0
    assert figures["largest_radius"] == around.radii[followers].max()
    assert found.layers[1].radius == around.radii[NETWORK.layers[1]].max()
    short = log_of(positions[:3], NETWORK, anchors=desired[NETWORK.anchors], settings=settings)
    assert audit(short)["neighbourhood"].verdict == "does not apply"
    assert "before any bound" in audit(short)["neighbourhood"].summary


def test_what_must_be_known():
    positions, targets = team(), tc.Targets([[0.5, 0.5]])
    for settings, given, applies in (
        (Settings("reach", "reference", exact=True), None, True),
        (Settings("reach", None, exact=True), targets, False),
        (Settings(None, "reference", exact=True), targets, False),
        (Settings("reach", "centroid", exact=True), None, False),
    ):
        found = audit(log_of(positions, NETWORK, targets=given, settings=settings))
        assert (found["theorem3"].verdict != "does not apply") == applies
        assert bool(found.layers) == applies


@pytest.mark.parametrize("still_from", [0, 4, 29, 30])
def test_bounds_count_from_the_last_change(still_from):
    given = log(team())
    moved = Log(**{**vars(given), "targets": tc.Targets([[0.0, 0.0]]), "still_from": still_from})
    found = audit(moved)
    if still_from == 30:
        assert found["theorem3"].verdict == "does not apply"
        assert found.layers == ()
    else:
        assert found.layers[1].bound == still_from + 1


def test_places_of_anchors_are_where_they_are_when_they_arrive():
    positions = team(arrived=3)
    found = audit(log_of(positions, NETWORK, arrived=3, settings=REACH))
    assert found["theorem3"].figures == {"settled": 3 + DEPTH, "bound": 3 + DEPTH}


def scenarios():
    rng = np.random.default_rng(12)
    reference, targets = rng.random((24, 2)), rng.random((60, 2))
    network = tc.build_network(reference)
    places = reference[network.anchors]
    paths = np.array([places + 0.02 * step for step in range(6)])
    lost = {"leave": [{"step": 3, "agents": [int(network.followers[0])]}]}
    common = {"reference": reference, "targets": targets, "steps": 30}
    velocity = {"positions": targets, "motion": {"velocity": [0.01, 0]}}
    return {
        "plain": tc.Scenario(**common),
        "walk": tc.Scenario(**common, control={"motion": "walk", "resolution": 3}),
        "anywhere": tc.Scenario(**common, control={"motion": "walk", "resolution": 3}, vehicle="anywhere"),
        "lost": tc.Scenario(**common, events=lost),
        "joined": tc.Scenario(**common, events={"join": [{"step": 4, "reference": [[0.5, 0.5]]}]}),
        "on paths": tc.Scenario(**common, anchors=paths),
        "on paths to the end": tc.Scenario(**{**common, "steps": 4}, anchors=paths),
        "moving targets": tc.Scenario(**{**common, "targets": velocity}),
        "no steps": tc.Scenario(**{**common, "steps": 0}),
    }


@pytest.mark.parametrize("name", scenarios())
def test_a_configuration_that_the_run_knows_changes_nothing(name):
    run = tc.simulate(scenarios()[name])
    handed_on, computed = tc.certify(run), tc.certify(log_of_run(run))
    assert handed_on.to_json() == computed.to_json()
    assert handed_on.layers == computed.layers
    assert (handed_on.neighbourhood is None) == (computed.neighbourhood is None)
    if computed.neighbourhood is not None:
        for key, value in vars(computed.neighbourhood).items():
            assert np.array_equal(getattr(handed_on.neighbourhood, key), value)


def test_a_configuration_that_is_handed_over_is_the_one_that_counts(monkeypatch):
    run = tc.simulate(scenarios()["plain"])
    given = log_of_run(run)
    elsewhere = run.desired + 1.0
    found = tc.certify(given, desired=elsewhere)
    assert found["theorem3"].verdict == "fails"
    assert found["theorem3"].faults[0].amount == pytest.approx(math.sqrt(2), rel=1e-9)
    with pytest.raises(InputError, match="shape"):
        tc.certify(given, desired=elsewhere[:5])
    with pytest.raises(InputError, match="desired"):
        tc.certify(scenarios()["plain"], desired=elsewhere)

    def never(*_):
        raise AssertionError("computed again")

    monkeypatch.setattr("tricover.certificates.theorem3.settled_configuration", never)
    assert tc.certify(run).holds
    with pytest.raises(AssertionError):
        tc.certify(given)
