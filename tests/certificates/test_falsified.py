"""Every claim can fail: each test breaks exactly its assumption, and the certificate names the agent and the step."""

from dataclasses import replace

import numpy as np
import pytest

import tricover as tc
from tests.certificates.flights import flight, roster, team
from tests.simulation.stores import overwrite
from tricover.certificates import log_of, log_of_run
from tricover.certificates.audit import audit


def a_run(seed=11, agents=30, **changes):
    rng = np.random.default_rng(seed)
    settings = {
        "reference": rng.random((agents, 2)),
        "targets": rng.random((100, 2)),
        "network": {"mentee": "balanced"},
    }
    return tc.simulate(tc.Scenario(**{**settings, "steps": 40, "stop_when_settled": False, **changes}))


def edited(log, positions):
    return replace(log, read=lambda start, stop: positions[start:stop])


def fails(certificate, key):
    claim = certificate[key]
    assert claim.verdict == "fails", certificate
    assert not certificate.holds
    return claim.faults[0]


def others_hold(certificate, *but):
    assert [claim.key for claim in certificate if claim.verdict == "fails" and claim.key not in but] == []


def leaf(network):
    """An agent that nobody listens to."""
    return int(network.layers[-1][0])


@pytest.mark.parametrize("seed", range(6))
def test_a_teleporting_agent(seed):
    network, positions = team(seed, steps=10)
    agent = leaf(network)
    away = positions.copy()
    away[7, agent] += 3 * np.ptp(network.reference)
    found = audit(log_of(away, network))
    fault = fails(found, "theorem1")
    assert (fault.agent, fault.step, fault.reason) == (agent, 6, "outside its triangle")
    assert fault.amount > np.ptp(network.reference)
    assert found["theorem1"].figures["faults"] == 1
    if network.depth <= 7:
        fault = fails(found, "containment")
        assert (fault.agent, fault.step) == (agent, 7)
    others_hold(found, "theorem1", "containment", "theorem2", "C2")


@pytest.mark.parametrize("distance", [1e-9, 1e-6, 1e-3])
def test_a_hair_outside_is_outside(distance):
    network, positions = team(0, steps=5)
    agent = leaf(network)
    corners = positions[2][network.in_neighbors[agent]]
    middle = (corners[0] + corners[1]) / 2
    outward = np.array([corners[1][1] - corners[0][1], corners[0][0] - corners[1][0]])
    outward *= np.sign(outward @ (corners[0] - corners[2])) / np.hypot(*outward)
    positions[3, agent] = middle + distance * outward
    fault = fails(audit(log_of(positions, network)), "theorem1")
    assert (fault.agent, fault.step) == (agent, 2)
    assert fault.amount == pytest.approx(distance, rel=1e-3)


def test_a_wrong_in_neighbour():
    network, positions = team(4, steps=8, agents=40)
    peers = next(agents for agents in network.layers[1:] if len(agents) > 1)
    agent, peer = int(peers[0]), int(peers[1])
    wrong = network.in_neighbors.copy()
    wrong[agent, 0] = peer
    found = audit(log_of(positions, replace(network, in_neighbors=wrong)))
    fault = fails(found, "structure")
    assert (fault.agent, fault.step) == (agent, 0)
    assert fault.reason == "listens to an agent that is not of an earlier layer"
    assert fails(found, "theorem1").agent == agent  # it did not land in that triangle


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda row, own: [row[0], row[0], row[2]], "listens to the same agent twice"),
        (lambda row, own: [own, row[1], row[2]], "listens to an agent that is not of an earlier layer"),
        (lambda row, own: [-1, row[1], row[2]], "listens to nobody in one of its places"),
    ],
)
def test_networks_that_are_none(change, reason):
    network, positions = team(3, steps=4, agents=30)
    agent = leaf(network)
    wrong = network.in_neighbors.copy()
    wrong[agent] = change(wrong[agent].tolist(), agent)
    fault = fails(audit(log_of(positions, replace(network, in_neighbors=wrong))), "structure")
    assert (fault.agent, fault.reason) == (agent, reason)


def test_an_agent_that_hears_itself_never_forgets():
    network = tc.build_network(roster(0, 40))
    agent = leaf(network)
    wrong = network.in_neighbors.copy()
    wrong[agent, 0] = agent
    listening = replace(network, in_neighbors=wrong)
    found = audit(log_of(flight(listening, network.depth + 3, 1, least=0.1), listening))
    fault = fails(found, "finite-time")
    assert fault.agent == agent
    others_hold(found, "structure", "finite-time")
    assert fault.amount > 0


def test_the_network_of_another_team_does_not_fit():
    network, positions = team(0, steps=5, agents=30)
    other = tc.build_network(network.reference, mentee="fermat")
    assert not np.array_equal(other.in_neighbors, network.in_neighbors)
    fault = fails(audit(log_of(positions, other)), "theorem1")
    assert not np.array_equal(other.in_neighbors[fault.agent], network.in_neighbors[fault.agent])


@pytest.mark.parametrize("drift", [1e-15, 1e-3])
def test_an_anchor_that_drifts(drift):
    network, positions = team(0, steps=6)
    anchor = int(network.anchors[1])
    positions[4:, anchor] += drift * (1 + np.abs(positions[4:, anchor]))
    found = audit(log_of(positions, network))
    fault = fails(found, "anchors")
    assert (fault.agent, fault.step) == (anchor, 4)


def test_an_anchor_that_never_gets_to_its_place():
    slow = {"kind": "double-integrator", "duration": 0.1}
    corners = [[0, 0], [90, 0], [90, 90], [0, 90], [40, 40], [20, 50], [70, 60]]
    anchors = np.array(corners[:5]) + 30
    run = tc.simulate(tc.Scenario(reference=corners, targets=[[9, 9]], anchors=anchors, vehicle=slow, steps=4))
    fault = fails(tc.certify(run), "anchors")
    assert fault.reason == "this anchor never got to its place"
    assert fault.step == 4


@pytest.mark.parametrize("motion", ["reach", "walk"])
def test_a_vehicle_that_misses(motion):
    rng = np.random.default_rng(4)
    vehicle = {"kind": "double-integrator", "duration": 0.5}
    corners = [[0, 0], [90, 0], [90, 90], [0, 90], [45, 45]]
    reference = np.concatenate([corners, rng.uniform(20, 70, (6, 2))])
    start = reference.copy()
    start[5:] += 300  # far outside: no vehicle is back in one step
    made = tc.Scenario(
        formation={"positions": reference, "start": start},
        targets=rng.uniform(0, 90, (50, 2)),
        control={"motion": motion, "resolution": 4},
        vehicle=vehicle,
        steps=3,
    )
    run = tc.simulate(made)
    found = tc.certify(run)
    fault = fails(found, "theorem1")
    assert fault.reason == "its vehicle missed its reach set and left its triangle"
    assert run.misses[fault.step, fault.agent] > 0
    if motion == "walk":
        fault = fails(found, "C1")
        assert fault.reason == "its vehicle missed its reach set"
        assert run.misses[fault.step, fault.agent] > 0


def test_a_position_edited_in_the_store(tmp_path):
    rng = np.random.default_rng(7)
    made = tc.Scenario(reference=rng.random((25, 2)), targets=rng.random((60, 2)), steps=12, stop_when_settled=False)
    run = tc.simulate(made, tmp_path / "run")
    assert tc.certify(tc.Run.open(tmp_path / "run")).holds
    agent = leaf(run.network)
    positions = run.positions.copy()
    positions[9, agent] = [5.0, 5.0]
    overwrite(tmp_path / "run", "positions", positions)
    fault = fails(tc.certify(tc.Run.open(tmp_path / "run")), "theorem1")
    assert (fault.agent, fault.step) == (agent, 8)


def test_landing_in_the_triangle_but_in_no_reach_set():
    run = a_run(control={"motion": "walk", "resolution": 10, "margin": 0.1})
    log, network = log_of_run(run), run.network
    agent = leaf(network)
    positions = run.positions.copy()
    corners = positions[38][network.in_neighbors[agent]]
    own = positions[38, agent]
    far = corners[np.linalg.norm(corners - own, axis=1).argmax()]
    positions[39, agent] = 0.9 * far + 0.1 * corners.mean(axis=0)
    positions[40, agent] = positions[39, agent]
    found = audit(edited(log, positions))
    fault = fails(found, "C1")
    assert (fault.agent, fault.step) == (agent, 38)
    assert fault.reason == "landed outside every reach set it can have had"
    assert found["theorem1"].verdict == "holds"


def test_landing_in_the_right_cell_but_within_its_margin():
    run = a_run(control={"motion": "walk", "resolution": 3, "margin": 0.2})
    log, network = log_of_run(run), run.network
    agent = leaf(network)
    grid, positions = tc.CellGrid(3), run.positions.copy()
    corners = positions[38][network.in_neighbors[agent]]
    for inset, verdict in ((0.21, "holds"), (0.19, "fails")):
        cell = grid.corners(run.states[38, agent])
        weights = inset * cell[0] + inset * cell[1] + (1 - 2 * inset) * cell[2]
        positions[39:, agent] = weights @ corners
        assert audit(edited(log, positions))["C1"].verdict == verdict


def test_constants_that_are_too_good():
    network, positions = team(0, steps=10, agents=50)
    log = log_of(positions, network)
    found = audit(log, eta=0.99, window=1)
    fault = fails(found, "C2")
    assert fault.agent in network.followers
    fault = fails(found, "theorem2")
    assert "exceeds its bound" in fault.reason
    others_hold(found, "C2", "theorem2")
    assert audit(log, eta=0.99, window=network.depth).holds


def test_a_team_that_is_not_where_it_should_be():
    run = a_run()
    log, agent = log_of_run(run), leaf(run.network)
    positions = run.positions.copy()
    corners = positions[-1][run.network.in_neighbors[agent]]
    positions[30:, agent] = 0.9 * positions[30:, agent] + 0.1 * corners.mean(axis=0)
    found = audit(edited(log, positions))
    fault = fails(found, "theorem3")
    assert (fault.agent, fault.step) == (agent, 40)
    others_hold(found, "theorem3")


def test_an_agent_that_leaves_its_tube():
    run = a_run(control={"motion": "walk", "resolution": 6}, vehicle="anywhere", steps=80)
    log, network = log_of_run(run), run.network
    agent = int(next(a for a in network.layers[1] if a not in network.in_neighbors))
    found = audit(log)
    assert found.holds
    assert found.neighbourhood.proper[agent]
    positions = run.positions.copy()
    corners = positions[0][network.in_neighbors[agent]]
    desired, radius = found.neighbourhood.desired[agent], found.neighbourhood.radii[agent]
    far = corners[np.linalg.norm(corners - desired, axis=1).argmax()]
    positions[70, agent] = desired + (far - desired) * 1.05 * radius / np.linalg.norm(far - desired)
    fault = fails(audit(edited(log, positions)), "neighbourhood")
    assert (fault.agent, fault.step) == (agent, 70)
    assert fault.amount == pytest.approx(0.05 * radius, rel=1e-6)


def test_a_follower_lost_after_a_repair_is_told_apart():
    network = tc.build_network(roster(0, 40), mentee="balanced")
    repaired = network.without([int(network.descendants.sum(axis=1).argmax())])
    before = flight(network, 4, 1)
    after = flight(network, 3, 2, start=before[-1])  # they go on with the old network
    log = log_of(np.concatenate([before, after[1:]]), [(0, network), (4, repaired)])
    fault = fails(audit(log), "theorem1")
    assert fault.step == 4
    assert fault.reason == "outside its triangle after a repair gave it new in-neighbours"
