"""How quickly and where a team settles, by motion and vehicle: the facts of the paper's Section V on random teams."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tricover as tc
from tests.network.formations import formations
from tests.simulation.teams import desired, extent, scenario, team
from tricover.errors import FormationError, InputError


@pytest.mark.parametrize("half", range(2))
def test_reach_layer_l_is_at_its_desired_position_from_step_l_on(half):
    for seed in range(100 * half, 100 * half + 100):
        rule = ("fermat", "balanced")[seed % 2]
        run = tc.simulate(scenario(seed, network={"mentee": rule}))
        goal = desired(run)
        for step, positions in enumerate(run.positions):
            arrived = run.network.layer <= step
            np.testing.assert_array_equal(positions[arrived], goal[arrived])
        assert run.converged
        assert run.settled_at <= run.network.depth
        assert run.steps <= run.network.depth + 1


def test_reach_takes_one_more_step_when_the_anchors_move_first():
    for seed in range(60):
        reference, targets = team(seed)
        network = tc.build_network(reference)
        places = reference[network.anchors] * 1.25 + 0.5 * np.ptp(reference, axis=0)
        run = tc.simulate(tc.Scenario(reference=reference, targets=targets, anchors=places))
        np.testing.assert_array_equal(run.anchors, places)
        goal = desired(run)
        for step, positions in enumerate(run.positions):
            arrived = network.layer < step
            np.testing.assert_array_equal(positions[arrived], goal[arrived])
        assert run.converged
        assert run.settled_at <= network.depth + 1


@pytest.mark.parametrize("goal", ["centroid", "reference"])
@pytest.mark.parametrize("resolution", [1, 2, 9, 35])
def test_walk_settles_at_the_centres_of_the_goal_cells_within_the_bound(goal, resolution):
    for seed in range(0, 64, 3):
        control = {"motion": "walk", "goal": goal, "resolution": resolution}
        run = tc.simulate(scenario(seed, agents=24, control=control, steps=5000))
        assert run.converged
        np.testing.assert_array_equal(run.positions[-1], desired(run))
        # One step to get inside, or to the centre of the own cell; at most 2M - 2 moves; layer after layer.
        assert run.settled_at <= run.network.depth * (2 * resolution - 1)
        assert run.missed == 0


def test_walk_starts_from_anywhere():
    """Agents that start outside their triangles, even far off, get in with one step once their triangles stand."""
    for seed in range(12):
        reference, targets = team(seed, agents=20)
        rng = np.random.default_rng(seed)
        start = rng.normal(size=reference.shape) * 5 * extent(reference)
        network = tc.build_network(reference)
        start[network.anchors] = reference[network.anchors]
        formation = {"positions": reference, "start": start}
        run = tc.simulate(
            tc.Scenario(formation=formation, targets=targets, control={"motion": "walk", "resolution": 7}, steps=2000)
        )
        assert run.converged
        assert run.settled_at <= run.network.depth * 13


def test_anywhere_is_always_contained():
    """Row by row Γ[t] is stochastic: every weight is at least η/M, or η for an agent that was outside."""
    for seed in range(0, 32, 2):
        control = {"motion": "walk", "resolution": 12, "margin": 0.05}
        run = tc.simulate(scenario(seed, agents=30, control=control, vehicle="anywhere", steps=80))
        followers = run.network.followers
        weights, outside = run.weights[:, followers], run.states[:, followers] == -1
        np.testing.assert_allclose(weights.sum(axis=2), 1, atol=1e-12)
        least = np.where(outside, 0.05, 0.05 / 12)
        assert (weights.min(axis=2) >= least - 1e-6).all()
        assert run.missed == 0
        rebuilt = (weights[..., None] * run.positions[:-1][:, run.network.in_neighbors[followers]]).sum(axis=2)
        np.testing.assert_allclose(rebuilt, run.positions[1:, followers], atol=1e-9 * extent(run.desired), rtol=1e-12)
        hull = run.positions[0, run.network.boundary]
        sides = np.roll(hull, -1, axis=0) - hull
        turns = sides[:, 0] * (run.positions[..., None, 1] - hull[:, 1]) - sides[:, 1] * (
            run.positions[..., None, 0] - hull[:, 0]
        )
        assert (turns >= -1e-9 * extent(hull) ** 2 - 1e-9 * np.abs(hull).max() * extent(hull)).all()


def radii(run):
    """Radii (N,) that add up through the layers, with the goal ``reference`` and landing anywhere in reach sets.

    The goal cell is the same in every step, so the cell's centre in the actual triangle is Σ w_j r_j, off by Σ w_j R_j
    at most, and the agent follows it to within one cell: R_i = longest side of the cell + Σ w_j R_j. This holds while
    the agent cannot fall out of its triangle: p_i further than R_i + max R_j from its edges. An agent that can is sent
    around the triangle's centroid and may land anywhere in the triangle: then R_i is the triangle's longest side.
    """
    network, grid = run.network, tc.CellGrid(run.scenario.control.resolution)
    radius, narrow = np.zeros(len(network)), np.ones(len(network), bool)
    for agents in network.layers[1:]:
        corners, theirs = run.desired[network.in_neighbors[agents]], radius[network.in_neighbors[agents]]
        weights = grid.weights[run.goal_cells[-1, agents]]
        sides = np.roll(corners, -1, axis=1) - corners
        lengths = np.linalg.norm(sides, axis=2)
        longest = lengths.max(axis=1) + 2 * theirs.max(axis=1)
        tight = longest / grid.resolution + (weights * theirs).sum(axis=1)
        offsets = run.desired[agents][:, None] - corners
        heights = np.abs(sides[..., 0] * offsets[..., 1] - sides[..., 1] * offsets[..., 0]) / lengths
        narrow[agents] = heights.min(axis=1) > tight + theirs.max(axis=1)
        radius[agents] = np.where(narrow[agents], tight, longest)
    return radius, narrow


def test_anywhere_with_the_goal_reference_stays_within_radii_that_add_up():
    narrow_ones = []
    for seed, resolution in [(0, 35), (3, 120), (7, 240)]:
        control = {"motion": "walk", "goal": "reference", "resolution": resolution}
        network = {"mentee": ("fermat", "balanced")[seed % 2]}
        steps = {"steps": 150 + 6 * resolution, "stop_when_settled": False}
        run = tc.simulate(scenario(seed, agents=40, control=control, network=network, vehicle="anywhere", **steps))
        errors = np.linalg.norm(run.positions[6 * resolution :] - run.desired, axis=2).max(axis=0)
        radius, narrow = radii(run)
        followers = run.network.followers
        assert (run.goal_cells[:, followers] == run.goal_cells[0, followers]).all()
        assert (errors[followers] <= radius[followers]).all()
        narrow_ones.append(narrow[followers].mean())
    assert np.mean(narrow_ones) > 0.4  # the bound says something about many agents


def test_a_run_can_be_too_short_to_settle():
    run = tc.simulate(scenario(3, agents=40, control={"motion": "walk"}, steps=5))
    assert run.steps == 5
    assert run.settled_at is None
    assert not run.converged
    none = tc.simulate(scenario(3, agents=40, steps=0))
    assert none.positions.shape == (1, 40, 2)
    assert none.weights.shape == (0, 40, 3)
    assert not none.converged


def test_a_team_without_followers_is_settled_at_once():
    run = tc.simulate(tc.Scenario(reference=[[0, 0], [4, 0], [0, 4], [1, 1]], targets=[[1, 2]]))
    assert run.converged
    assert run.settled_at == 0


def test_moving_targets_are_followed_with_the_lag_of_the_layers():
    """Anchors and targets drift by v each step; an agent goes at t + 1 where its goal was at t.

    In the drifting frame the team is at rest where q_i = h_i(q_j, d) - v, layer by layer, from q = a - v for the
    anchors, which are sent to a + v t at step t. So r_i[t] = q_i + v t, up to rounding, from step depth + 1 on.
    """
    for seed in range(8):
        rng = np.random.default_rng(seed)
        reference, start = rng.random((25, 2)), rng.uniform(-0.2, 1.2, (400, 2))
        network, velocity = tc.build_network(reference), np.array([0.004, -0.003])
        paths = reference[network.anchors] + velocity * np.arange(31)[:, None, None]
        motion = {"velocity": velocity}
        run = tc.simulate(
            tc.Scenario(reference=reference, targets={"positions": start, "motion": motion}, anchors=paths, steps=30)
        )
        assert run.steps == 30
        resting = np.zeros_like(reference)
        resting[network.anchors] = reference[network.anchors] - velocity
        for agents in network.layers[1:]:
            corners = resting[network.in_neighbors[agents]]
            counts, sums = tc.Targets(start).in_triangles(corners)
            means = sums / np.maximum(counts, 1)[:, None]
            resting[agents] = np.where(counts[:, None] > 0, means, corners.mean(axis=1)) - velocity
        for step in range(network.depth + 1, 31):
            np.testing.assert_allclose(run.positions[step], resting + velocity * step, atol=1e-12)


def test_targets_that_stop_come_and_go_are_followed_to_the_end():
    reference, points = team(0, agents=30, targets=200)
    active = np.tile([0, 1000], (200, 1))
    active[:100, 1] = 12
    active[150:, 0] = 9
    targets = {"positions": points, "active": active, "motion": {"velocity": [0.01, 0.0], "until": 15}}
    run = tc.simulate(tc.Scenario(reference=reference, targets=targets))
    left = points[100:] + np.array([0.15, 0.0])
    np.testing.assert_allclose(run.desired, tc.desired_configuration(run.network, tc.Targets(left)), atol=1e-12)
    assert run.converged
    assert 15 < run.settled_at <= 15 + run.network.depth


@pytest.mark.parametrize("motion", ["reach", "walk"])
def test_progress_tells_steps_layers_and_the_largest_error(motion):
    told = []
    run = tc.simulate(scenario(3, agents=40, control={"motion": motion, "resolution": 8}), progress=told.append)
    assert [now.step for now in told] == list(range(1, run.steps + 1))
    assert {(now.steps, now.depth) for now in told} == {(100, run.network.depth)}
    assert told[0].layers == 1
    assert told[0].largest_error > 0
    assert told[-1].layers == run.network.depth + 1
    assert told[-1].largest_error == 0
    if motion == "reach":  # what is told after a step is how things were before it
        assert all(now.layers >= min(now.step, run.network.depth + 1) for now in told)


def test_a_run_shows_itself():
    run = tc.simulate(scenario(3, agents=40))
    assert repr(run) == f"<Run of 40 agents: {run.steps} steps, settled at step {run.settled_at}>"
    assert "<th>settled_at</th>" in run._repr_html_()
    assert run.summary()["converged"] is True
    with pytest.raises(InputError, match="a run has no array 'speed'; it has positions, present, state"):
        run.read("speed")


@pytest.mark.parametrize("goal", ["predictive", "rollout"])
@pytest.mark.parametrize("motion", ["reach", "walk"])
def test_every_goal_rule_ends_at_its_own_desired_configuration(goal, motion):
    for seed in (0, 1, 3):
        control = {"motion": motion, "goal": goal, "resolution": 12}
        run = tc.simulate(scenario(seed, agents=30, control=control, network={"mentee": "balanced"}, steps=1000))
        assert run.converged
        np.testing.assert_array_equal(run.positions[-1], desired(run))


def thinnest(run):
    """Least ratio of height to longest side over the communication triangles at the end."""
    corners = run.positions[-1][run.network.in_neighbors[run.network.followers]]
    sides = np.roll(corners, -1, axis=1) - corners
    doubled = np.abs(sides[:, 0, 0] * sides[:, 1, 1] - sides[:, 0, 1] * sides[:, 1, 0])
    longest = (sides**2).sum(axis=2).max(axis=1)
    return (doubled / np.where(longest == 0, 1, longest)).min(initial=1)


@pytest.mark.parametrize("motion", ["reach", "walk"])
@settings(max_examples=60)
@given(reference=formations(), seed=st.integers(0, 2**32 - 1))
def test_any_formation_that_has_a_network_runs_and_settles(motion, reference, seed):
    """Grids, circles, clusters, nearly collinear teams, at large and small scales; targets on agents and edges."""
    size = np.abs(reference).max()
    reference = reference if 1e-9 < size < 1e9 else reference / size
    try:
        network = tc.build_network(reference)
    except FormationError:
        return
    rng = np.random.default_rng(seed)
    middles = (reference[rng.integers(len(reference), size=20)] + reference[rng.integers(len(reference), size=20)]) / 2
    targets = np.concatenate([reference, middles])
    run = tc.simulate(
        tc.Scenario(reference=reference, targets=targets, control={"motion": motion, "resolution": 4}, steps=1000)
    )
    assert np.isfinite(run.positions).all()
    if motion == "reach" or thinnest(run) > 1e-6:  # cells narrower than rounding cannot be told apart
        assert run.converged
        assert run.settled_at <= network.depth * (1 if motion == "reach" else 7)
    assert (run.positions.min(axis=(0, 1)) >= reference.min(axis=0) - 1e-9 * np.abs(reference).max()).all()
    assert (run.positions.max(axis=(0, 1)) <= reference.max(axis=0) + 1e-9 * np.abs(reference).max()).all()
