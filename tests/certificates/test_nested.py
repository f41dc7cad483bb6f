"""The claims about teams that morph, and logs that break just one of them."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import tricover as tc
from tests.safety.morphs import faults, morphing
from tests.simulation.test_morphing import SQUARE, eventful, square
from tricover.certificates import ArrayReader, certify, log_of_run, with_scenario
from tricover.certificates.log import log_of
from tricover.certificates.runs import settings_of
from tricover.geometry import combine

KEYS = ("nested", "speed")


def forged(run, change):
    """The certificate of a run's log after ``change`` has had its way with the positions."""
    positions = np.array(run.positions)
    change(positions)
    return certify(replace(log_of_run(run), read=ArrayReader(positions)), desired=run.desired)


def failing(certificate):
    return {claim.key for claim in certificate if claim.verdict == "fails"}


@pytest.fixture(scope="module")
def run():
    return tc.simulate(eventful())


def test_an_honest_run_holds(run):
    certificate = certify(run)
    assert certificate.holds
    assert [certificate[key].verdict for key in KEYS] == ["holds", "holds"]
    gone = np.linalg.norm(np.diff(run.positions, axis=0), axis=2)
    assert certificate["speed"].figures["farthest"] == pytest.approx(gone.max())
    assert certificate["speed"].figures["speed"] == 3.0
    assert certificate.contraction is None
    assert certificate["theorem1"].verdict == "holds"
    assert {certificate[key].verdict for key in ("C1", "C2", "theorem2", "finite-time")} == {"does not apply"}


def test_the_least_margin_is_a_bound_on_all_distances(run):
    """Whoever keeps a distance from the edges of its own triangle keeps it from everybody."""
    figures = certify(run)["nested"].figures
    assert 0 < figures["least_margin"] <= run.separation.distance
    agent, step = figures["agent"], figures["step"]
    network = run.network_at(step - 1)
    near = min(from_edges(run.positions[s], network, agent) for s in (step - 1, step))
    assert figures["least_margin"] <= near * (1 + 1e-12)
    assert figures["least_margin"] >= 0.3 * near


def from_edges(positions, network, agent):
    triangle, point = positions[network.in_neighbors[agent]], positions[agent]
    sides = np.roll(triangle, -1, axis=0) - triangle
    to_point = point - triangle
    return ((sides[:, 0] * to_point[:, 1] - sides[:, 1] * to_point[:, 0]) / np.linalg.norm(sides, axis=1)).min()


@pytest.mark.parametrize("motion", ["reach", "walk"])
def test_other_motions_claim_nothing_of_it(motion):
    certificate = certify(tc.simulate(square(control={"motion": motion})))
    assert not {claim.key for claim in certificate} & set(KEYS)
    before = certify(square(control={"motion": motion}))
    assert not {claim.key for claim in before} & set(KEYS)


def test_a_follower_on_the_wrong_side_at_a_step(run):
    step, network = 9, run.network_at(9)
    agent = int(network.layers[network.depth][0])
    corners = network.in_neighbors[agent]

    def change(positions):
        positions[step, agent] = 2 * positions[step, corners[:2]].mean(axis=0) - positions[step, agent]

    certificate = forged(run, change)
    assert {"nested", "theorem1"} <= failing(certificate)
    fault = certificate["nested"].faults[0]
    assert (fault.agent, fault.step) == (agent, step - 1)
    assert fault.amount > 0


def test_a_follower_that_is_outside_between_steps_alone():
    """Nested at both ends, and not on the way: only the quadratic sees it."""
    network = tc.build_network(SQUARE)
    agent = 5
    left, right, core = (int(corner) for corner in network.in_neighbors[agent])
    assert core == 4
    before, after = SQUARE.copy(), SQUARE.copy()
    weights = np.array([0.1, 0.1, 0.8])
    after[[left, right, core]] = swung(SQUARE[[left, right, core]], 2.2)
    before[agent] = combine(np.array([0.8, 0.1, 0.1]), before[[left, right, core]])
    after[agent] = combine(weights, after[[left, right, core]])
    others = [j for j in range(7) if j not in (left, right, core, agent)]
    after[others] = swung(SQUARE[[left, right, core]], 2.2, SQUARE[others])
    half = (before + after) / 2
    assert min(from_edges(places, network, agent) for places in (before, after)) > 0
    assert from_edges(half, network, agent) < 0
    settings = settings_of(tc.simulate(square()).mission)
    log = log_of([before, after], network, settings=replace(settings, speed=100.0, exact=True, ideal=True))
    certificate = certify(log)
    assert "nested" in failing(certificate)
    assert agent in {fault.agent for fault in certificate["nested"].faults}
    assert certificate["theorem1"].verdict == "holds"
    assert certificate["speed"].verdict == "holds"


def swung(triangle, angle, places=None):
    middle, turn = triangle.mean(axis=0), [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
    return middle + ((triangle if places is None else places) - middle) @ turn


def test_a_core_outside_the_polygon(run):
    step, network = 2, run.network_at(2)

    def change(positions):
        positions[step, network.core] = positions[step, network.boundary[:2]].mean(axis=0) - np.array([0.0, 20.0])

    certificate = forged(run, change)
    assert "nested" in failing(certificate)
    assert any("core" in reason for reason in certificate["nested"].figures["reasons"])


def test_a_polygon_that_goes_around_twice():
    angles = np.arange(5) * 2 * np.pi / 5
    corners = np.column_stack([np.cos(angles), np.sin(angles)])
    network = tc.build_network(np.concatenate([corners, [[0.0, 0.0], [0.2, 0.1]]]))
    twice = np.concatenate([corners[[0, 2, 4, 1, 3]], [[0.0, 0.0], [0.2, 0.1]]])
    inside = network.in_neighbors[6]
    twice[6] = twice[inside].mean(axis=0)
    settings = settings_of(tc.simulate(square()).mission)
    log = log_of([twice, twice], network, settings=replace(settings, exact=True, ideal=True))
    claim = certify(log)["nested"]
    assert claim.verdict == "fails"
    assert list(claim.figures["reasons"]) == ["the anchors' polygon does not go around the core once"]


def test_an_agent_on_an_edge_must_leave_it_in_the_first_step():
    rng = np.random.default_rng(0)
    grid = np.stack(np.meshgrid(np.arange(5), np.arange(5)), -1).reshape(-1, 2).astype(float)
    run = tc.simulate(tc.Scenario(reference=grid, targets=rng.random((9, 2)) * 4, control={"motion": "morph"}))
    honest = certify(run)["nested"]
    assert honest.verdict == "holds"
    assert honest.figures["least_margin"] > 0

    def change(positions):
        positions[1] = positions[0]

    claim = forged(run, change)["nested"]
    assert claim.verdict == "fails"
    assert claim.faults[0].step == 0


def test_somebody_too_fast():
    run = tc.simulate(square(control={"motion": "morph", "speed": 1.0}))
    log = log_of_run(run)
    slow = replace(log, settings=replace(log.settings, speed=0.6))
    certificate = certify(slow, desired=run.desired)
    gone = np.linalg.norm(np.diff(run.positions, axis=0), axis=2)
    assert failing(certificate) == {"speed"}
    fault = certificate["speed"].faults[0]
    assert gone[fault.step, fault.agent] == pytest.approx(0.6 + fault.amount)
    assert certificate["speed"].figures["faults"] == (gone > 0.6).sum()
    for speed, verdict in ((gone.max(), "holds"), (gone.max() * (1 - 1e-9), "fails")):
        told = replace(log, settings=replace(log.settings, speed=speed))
        assert certify(told, desired=run.desired)["speed"].verdict == verdict


def test_a_bound_that_is_too_early_fails(run):
    """Settling is claimed with the bound of the speed: told that everybody is faster, the same run is late."""
    log = log_of_run(run)
    fast = replace(log, settings=replace(log.settings, speed=1e4))
    certificate = certify(fast, desired=run.desired)
    assert failing(certificate) == {"theorem3"}
    honest = certify(run)["theorem3"]
    assert honest.figures["settled"] <= honest.figures["bound"]


def test_bounds_are_kept_by_slow_and_by_fast_teams():
    for seed, speed in ((0, 0.005), (3, 0.02), (6, 0.5)):
        given = morphing(seed)
        scale = np.ptp(given.reference, axis=0).max()
        run = tc.simulate(given.replace(control={"speed": speed * scale}))
        certificate = certify(run)
        assert certificate["theorem3"].verdict == "holds"
        promised = certify(run.scenario)
        assert promised.holds
        bounds = [found["theorem3"].figures["bound"] for found in (certificate, promised)]
        assert bounds[0] <= bounds[1] <= bounds[0] + 1


def test_vehicles_that_land_anywhere_in_a_point_converge():
    run = tc.simulate(square(vehicle="anywhere", steps=60))
    assert {certify(run)[key].verdict for key in ("theorem3", *KEYS)} == {"holds"}


def test_before_the_run_the_plan_is_promised():
    certificate = certify(square())
    assert [certificate[key].verdict for key in KEYS] == ["holds", "holds"]
    assert "announced" in certificate["finite-time"].summary
    flown = certify(square(vehicle={"kind": "quadrotor", "duration": 2.0}))
    assert "vehicles miss" in flown["nested"].summary


@pytest.fixture(scope="module")
def flown():
    rng = np.random.default_rng(1)
    reference = rng.random((12, 2)) * 20
    return tc.simulate(
        tc.Scenario(
            reference=reference,
            targets=rng.random((50, 2)) * 20,
            control={"motion": "morph", "speed": 2.0},
            vehicle={"kind": "quadrotor", "duration": 3.0},
            events={"leave": [{"step": 3, "agents": [0]}]},
            steps=9,
        )
    )


def test_what_vehicles_miss_eats_the_margin(flown):
    figures = certify(flown)["nested"].figures
    assert figures["largest_miss"] == pytest.approx(flown.misses.max(), rel=1e-9)
    assert figures["distance_left"] == figures["least_distance"] - 2 * figures["largest_miss"]
    assert flown.misses.max() > 1e-4
    at_steps = min(tc.separation(flown.positions[k : k + 1][:, present]).distance for k, present in present_of(flown))
    assert figures["distance_left"] <= at_steps
    assert figures["least_distance"] == pytest.approx(at_steps, abs=2 * figures["largest_miss"])
    exact = tc.simulate(flown.scenario.replace(vehicle="exact", events=None))
    plan = log_of_run(flown).planned
    for step in range(3):
        np.testing.assert_allclose(plan(step), exact.positions[step + 1], atol=1e-9)


def present_of(run):
    return [(step, np.flatnonzero(run.present[step])) for step in range(run.steps + 1)]


def test_vehicles_that_miss_by_more_than_the_plan_keeps_claim_nothing():
    hasty = square(control={"motion": "morph", "speed": 3.0}, vehicle={"kind": "quadrotor", "duration": 0.5}, steps=9)
    certificate = certify(tc.simulate(hasty.replace(events={"leave": [{"step": 4, "agents": [6]}]})))
    assert certificate["speed"].verdict == "holds"  # a new plan begins where the vehicles are, and that is no step
    claim = certificate["nested"]
    assert claim.figures["distance_left"] < 0
    assert claim.verdict == "does not apply"
    assert "nothing is claimed" in claim.summary


def test_a_plan_that_is_not_nested_fails(flown):
    """The claim is about the plan: one that crosses is a fault, wherever the vehicles were."""
    log = log_of_run(flown)
    network = flown.network_at(1)
    agent = int(network.followers[0])

    def crossing(step):
        places = log.planned(step)
        if step == 1:
            places[agent] = places[network.boundary[0]] * 2 - places[network.core]
        return places

    certificate = certify(replace(log, planned=crossing), desired=flown.desired)
    assert "nested" in failing(certificate)
    assert {(fault.agent, fault.step) for fault in certificate["nested"].faults} >= {(agent, 1)}


def test_without_a_plan_positions_are_judged(flown):
    log = replace(log_of_run(flown), planned=None)
    claim = certify(log, desired=flown.desired)["nested"]
    assert "largest_miss" not in claim.figures
    assert "plan" not in claim.summary


def test_a_log_and_a_scenario_say_what_the_run_says(run):
    networks = [(epoch.start, epoch.network) for epoch in run.epochs]
    times = np.arange(run.steps + 1.0)
    log = with_scenario(log_of(run.positions, networks, name=run.scenario.name, times=times), run.scenario)
    told, known = certify(log), certify(run)
    assert [(claim.key, claim.verdict, claim.figures) for claim in told] == [
        (claim.key, claim.verdict, claim.figures) for claim in known
    ]


def test_a_log_with_another_network_is_refused(run):
    networks = [(epoch.start, epoch.network) for epoch in run.epochs]
    other = tc.build_network(networks[1][1].reference, "fermat").without(networks[1][1].lost)
    log = log_of(run.positions, [networks[0], (4, other), networks[2]])
    with pytest.raises(tc.TricoverError, match="network of step 4 is not the scenario's"):
        with_scenario(log, run.scenario)


def test_a_flight_that_lost_somebody_at_another_time_is_certified(run):
    """The networks of a log need not be those of the simulation, if they are built from where everybody stood."""
    given = eventful(events={"leave": [{"step": 6, "agents": [3]}], "join": []})
    other = tc.simulate(given)
    networks = [(epoch.start, epoch.network) for epoch in other.epochs]
    told = eventful(events={"leave": [], "join": []})
    log = with_scenario(log_of(other.positions, networks), told)
    certificate = certify(log)
    assert certificate["nested"].verdict == "holds"
    assert certificate["anchors"].verdict == "holds"


def test_rows_are_about_the_next_positions(run):
    matrices = tc.certificates.transition_matrices(log_of_run(run))
    for step, matrix in zip(range(4), matrices, strict=False):
        np.testing.assert_allclose(matrix @ run.positions[step + 1], run.positions[step + 1], atol=1e-9)


def test_the_oracle_agrees_on_forged_runs(run):
    """Agents thrown to random places: the claim fails where exact fractions say so, and there alone."""
    rng, told = np.random.default_rng(3), []
    for _ in range(15):
        agent, step = int(rng.choice(run.network_at(1).followers)), int(rng.integers(2, 4))
        throw = rng.normal(size=2) * rng.choice([0.01, 1.0, 10.0])

        def change(positions, agent=agent, step=step, throw=throw):
            positions[step, agent] += throw

        positions = np.array(run.positions)
        change(positions)
        wanted = faults(partial_run(run, positions), range(1, 4))
        told.append(bool(wanted))
        assert (forged(run, change)["nested"].verdict == "fails") == bool(wanted)
    assert 0 < sum(told) < len(told)


def partial_run(run, positions):
    class Forged:
        steps = run.steps
        network_at = partial(tc.Run.network_at, run)
        epoch_at = partial(tc.Run.epoch_at, run)

    Forged.positions = positions
    return Forged
