"""Teams of all kinds that morph: nested by exact arithmetic, never too fast, and at rest where their goals are."""

import numpy as np
import pytest

import tricover as tc
from tests.safety.morphs import KINDS, faults, morphing
from tricover.goals import goal_points
from tricover.goals.nested import EPSILON, floor_of

GOOD = 2 * len(KINDS)  # teams; the campaign has 500


def assert_safe(seed, **changes):
    """What a team that morphs promises, on one team; returns its least distance over its extent, and its steps."""
    given = morphing(seed, **changes)
    run = tc.simulate(given)
    living = run.network.layer >= 0
    assert faults(run) == []
    gone = np.linalg.norm(np.diff(run.positions, axis=0), axis=2)
    assert gone.max() <= given.control.speed
    assert run.separation.distance > 0
    assert run.converged, run.largest_error
    certificate = tc.certify(run)
    assert certificate.holds, certificate
    assert {certificate[key].verdict for key in ("nested", "speed", "theorem1", "theorem3", "anchors")} == {"holds"}
    assert_at_goals(run)
    return run.separation.distance / np.ptp(run.positions[-1][living], axis=0).max(), run.steps


def assert_at_goals(run):
    """Weights at the end are those of the goal rule's points, but for what keeps them off the edges."""
    end, network = run.positions[-1], run.network
    followers = network.followers
    triangles = end[network.in_neighbors[followers]]
    points = goal_points(network, end[: len(network)], run.targets, run.scenario.control.goal)
    weights, goals = (coordinates(places, triangles) for places in (end[followers], points))
    heights = heights_of(triangles)
    inradius = 1 / (1 / heights).sum(axis=1, keepdims=True)
    floor = floor_of(network)
    # ε, the own distance from the edges, and room for those below.
    least = np.maximum(np.maximum(EPSILON, floor / heights), network.descendants[followers] * floor / inradius)
    slack = 1e-6 + 1e-13 * np.abs(end).max() / heights.min(axis=1)
    assert (np.abs(weights - goals).max(axis=1) <= 2 * least.max(axis=1) + slack).all()
    inner = (goals >= least).all(axis=1)
    assert (np.abs(weights - goals)[inner].max(axis=1, initial=0.0) <= slack[inner]).all()


def coordinates(points, triangles):
    ones = np.concatenate([np.swapaxes(triangles - points[:, None], 1, 2), np.ones((len(points), 1, 3))], axis=1)
    wanted = np.broadcast_to([0.0, 0.0, 1.0], (len(points), 3))
    scale = np.abs(ones[:, :2]).max(axis=(1, 2), keepdims=True)
    ones[:, :2] /= scale
    return np.linalg.solve(ones, wanted[..., None])[..., 0]


def heights_of(triangles):
    sides = np.roll(triangles, -1, axis=1) - np.roll(triangles, 1, axis=1)
    area = np.abs(sides[:, 0, 0] * sides[:, 1, 1] - sides[:, 0, 1] * sides[:, 1, 0])
    return area[:, None] / np.linalg.norm(sides, axis=2)


@pytest.mark.parametrize("seed", range(GOOD))
def test_a_team_of_any_kind_is_safe(seed):
    assert_safe(seed)


def test_the_oracle_sees_those_who_reach_cross():
    """The same oracle on the same teams, moved in another way, has faults to name: it can tell."""
    found = [faults(tc.simulate(morphing(seed, control={"motion": "reach"}, steps=6))) for seed in range(6)]
    assert sum(map(bool, found)) >= 4


@pytest.mark.parametrize("seed", [0, 2, 3, 5, 18])
def test_a_separation_asked_for_leaves_more_room_at_the_end(seed):
    """Goals leave room wherever there is any: at rest the agents are as far apart as was asked for."""
    plain = morphing(seed)
    extent = np.ptp(plain.reference, axis=0).max()
    asked = 0.02 * extent / np.sqrt(len(plain.reference))
    run = tc.simulate(morphing(seed, safety={"separation": asked}))
    assert faults(run) == []
    assert run.converged
    assert tc.separation(run.positions[-1:]).distance >= asked * (1 - 1e-9)
