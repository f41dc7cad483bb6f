"""Agents that see only so far, against a slow model of them and against what follows from the definitions."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tricover as tc
from tests.world.plain_sight import Plain, holds
from tricover.control import decide, knowledge, rows_of
from tricover.control.sharing import REPORT
from tricover.errors import InputError
from tricover.simulation import Mission
from tricover.simulation.deciding import decide_all, view_of
from tricover.simulation.looking import look_around

GOALS = ("centroid", "predictive", "rollout", "reference")


def team(seed, agents=24, count=60, **changes):
    """A team on a field of 100 by 100 metres."""
    rng = np.random.default_rng(seed)
    plain = {
        "reference": rng.uniform(0, 100, (agents, 2)),
        "targets": {"positions": rng.uniform(0, 100, (count, 2)), "weights": 2.0 ** rng.integers(0, 3, count)},
        "network": {"mentee": "balanced"},
        "world": {"sight": 25.0, "summary": 500},
        "steps": 12,
        "seed": seed,
    }
    return tc.Scenario(**{**plain, **changes})


def moving(seed, count=60, steps=9):
    """Targets that walk about at first, and of which some appear and vanish."""
    rng = np.random.default_rng([seed, 1])
    paths = rng.uniform(0, 100, (count, 2)) + np.cumsum(rng.normal(size=(steps, count, 2)) * 4, axis=0)
    active = np.stack([rng.integers(0, 4, count), rng.integers(5, 30, count)], axis=1)
    return {
        "motion": {"paths": paths},
        "positions": paths[0],
        "active": active,
        "weights": 2.0 ** rng.integers(0, 3, count),
    }


@pytest.mark.parametrize("summary", [None, 500, "sums"])
@pytest.mark.parametrize("seed", range(4))
def test_every_step_is_that_of_a_slow_model(seed, summary):
    targets = {"targets": moving(seed)} if seed % 2 else {}
    given = team(seed, world={"sight": [18.0, 30.0][seed // 2], "summary": summary}, **targets)
    run = tc.simulate(given)
    mission, network = run.mission, run.network
    plain = Plain(network, run.positions[0], run.anchors, given.world.sight, summary)
    for step in range(run.steps):
        scene = mission.scene_at(step)
        rows = zip(scene.names.tolist(), scene.targets.points.tolist(), scene.targets.weights.tolist(), strict=True)
        found = plain.step({name: (*point, weight) for name, point, weight in rows})
        np.testing.assert_allclose(run.positions[step + 1], found, atol=1e-8)
        plain.positions = {i: tuple(p) for i, p in enumerate(run.positions[step + 1].tolist())}  # to the bit
        assert run.numbers[step].tolist() == [plain.numbers[i] for i in range(len(network))], step


def test_who_sees_everything_goes_where_full_sight_sends_it():
    for goal in GOALS:
        given = team(1, agents=40, count=200, control={"goal": goal}, world={"sight": 1e6})
        near, full = tc.simulate(given), tc.simulate(given.replace(world={"sight": None}))
        np.testing.assert_allclose(near.positions, full.positions[: near.steps + 1], atol=1e-9)
        assert near.converged
        assert near.settled_at == full.settled_at


def test_a_team_that_settles_elsewhere_has_settled_and_not_converged():
    run = tc.simulate(team(2, agents=40, world={"sight": 3.0}))
    assert run.settled_at is not None
    assert not run.converged
    assert run.largest_error > 1


@pytest.mark.parametrize("motion", ["reach", "walk", "morph"])
@pytest.mark.parametrize("goal", GOALS)
def test_an_agent_alone_decides_as_in_the_team_to_the_bit(goal, motion):
    """An agent is handed its row of what it sees, was told, remembers; and of what is told, its triangle's part."""
    control = {"goal": goal, "motion": motion, "resolution": 6}
    world = {"sight": 20.0, "summary": 8, "noise": 0.5, "missed": 0.1}
    mission = Mission.of(team(3, agents=30, control=control, world=world, steps=5))
    told = mission.epochs[0].told
    for step in tc.steps(mission):
        state = step.state
        together = decide_all(mission, state).decision
        following = together.setpoints if motion == "morph" else None
        for agent in range(0, 30, 3):
            one = np.array([agent])
            alone = decide(view_of(mission, state, one, following), told, rows_of(state.memory, one))
            np.testing.assert_array_equal(alone.setpoints[0], together.setpoints[agent])
            for name, rows in alone.remembered.items():
                np.testing.assert_array_equal(rows[0], together.remembered[name][agent])


@pytest.mark.parametrize("goal", GOALS)
def test_what_an_agent_does_not_know_of_does_not_change_what_it_does(goal):
    given = team(4, agents=40, count=150, control={"goal": goal}, world={"sight": 12.0, "summary": 6}, steps=5)
    mission = Mission.of(given)
    told = mission.epochs[0].told
    state = [step.state for step in tc.steps(mission)][3]
    changed = 0
    for agent in mission.epochs[0].network.followers[::4]:
        one = np.array([agent])
        who = look_around(mission, state, told, one).agents
        # Who is out of sight of the agent and of all whom it listens to is somewhere else.
        points = mission.targets.points.copy()
        apart = np.linalg.norm(points[:, None] - state.positions[who], axis=2).min(axis=1)
        points[apart > 12.0] = [-500.0, -500.0]
        other = Mission.of(given.replace(targets={"positions": points}))
        before, after = (
            decide(view_of(one_of, state, one), told, rows_of(state.memory, one)) for one_of in (mission, other)
        )
        np.testing.assert_array_equal(before.setpoints, after.setpoints)
        changed += int((points != mission.targets.points).any())
    assert changed > 5


def test_what_was_seen_is_remembered_until_it_is_seen_to_be_gone():
    """A target vanishes while nobody looks, another one while it is looked at; a third one walks away."""
    reference = [[0, 0], [100, 0], [100, 100], [0, 100], [50, 50], [50, 20]]
    points = np.array([[40.0, 10.0], [52.0, 18.0], [60.0, 5.0]])
    paths = np.repeat(points[None], 8, axis=0)
    paths[4:, 2] = [50.0, 12.0]
    targets = {"positions": points, "motion": {"paths": paths}, "active": [[0, 3], [0, 3], [0, 99]]}
    anchors = np.array(reference[:5], float)
    there = np.repeat(anchors[None], 8, axis=0)
    there[1:, 4] = [50.0, 90.0]  # the core goes up, and its triangle with it
    mission = Mission.of(
        tc.Scenario(reference=reference, targets=targets, anchors=there, world={"sight": 20.0}, steps=8)
    )
    names, stood = [], {}
    for step in tc.steps(mission):
        row = step.state.memory["recalled_names"][5]
        names.append(sorted(row[row >= 0].tolist()))
        places = step.state.memory["recalled_points"][5][row >= 0]
        stood[step.step] = step.positions[5]
        if not step.step:
            continue
        scene = mission.scene_at(step.step - 1)
        there = dict(zip(scene.names.tolist(), scene.targets.points.tolist(), strict=True))
        for name, place in zip(row[row >= 0].tolist(), places, strict=True):
            if np.hypot(*(place - stood[step.step - 1])) <= 20.0:  # in sight: it is really there
                assert place.tolist() == there[name]
    assert names[1] == [0, 1, 2]
    assert 1 not in names[5]


def test_a_target_that_vanished_out_of_sight_is_remembered_for_ever():
    reference = [[0, 0], [100, 0], [100, 100], [0, 100], [50, 50], [50, 20]]
    anchors = np.repeat(np.array(reference[:5], float)[None], 3, axis=0)
    anchors[1:, 0] = [0.0, -60.0]  # the anchor leaves, and the target vanishes
    targets = {"positions": [[0.0, 5.0], [99.0, 5.0]], "active": [[0, 2], [0, 99]]}
    run = tc.simulate(
        tc.Scenario(reference=reference, targets=targets, anchors=anchors, world={"sight": 10.0}, steps=9)
    )
    anchor = int(run.network.anchors[0])
    assert run.record.remembered("recalled_names")[anchor].tolist()[0] == 0
    back = np.concatenate([anchors, anchors[:1]])
    run = tc.simulate(tc.Scenario(reference=reference, targets=targets, anchors=back, world={"sight": 10.0}, steps=9))
    assert (run.record.remembered("recalled_names")[anchor] < 0).all()


def test_sums_are_exact_centroids_at_rest():
    """Of all targets in the triangle, where every cell without a child is in somebody's sight."""
    settled = 0
    for seed in range(6):
        run = tc.simulate(team(seed, agents=30, count=80, world={"sight": 60.0, "summary": "sums"}, steps=60))
        if run.settled_at is None:
            continue
        settled += 1
        points, weights = run.targets.points.tolist(), run.targets.weights.tolist()
        last = run.positions[-1]
        for agent in run.network.followers:
            corners = [tuple(last[j]) for j in run.network.in_neighbors[agent]]
            inside = [k for k, point in enumerate(points) if holds(corners, point)]
            total = sum(Fraction(weights[k]) for k in inside)
            if total and abs(np.linalg.det(np.array(corners[1:]) - corners[0])) > 1e-6:
                exact = [
                    float(sum(Fraction(points[k][axis]) * Fraction(weights[k]) for k in inside) / total)
                    for axis in (0, 1)
                ]
                np.testing.assert_allclose(last[agent], exact, atol=1e-9)
        assert run.converged
    assert settled >= 3


def test_a_report_keeps_weight_and_centroid_of_what_it_is_about():
    given = team(5, agents=60, count=700, world={"sight": 12.0, "summary": 5}, steps=8)
    mission = Mission.of(given)
    told, merged = mission.epochs[0].told, 0
    wide = Mission.of(given.replace(world={"summary": 4000})).epochs[0].told
    for step in list(tc.steps(mission))[1:]:
        state = step.state
        agents = told.network.followers
        view, memory = view_of(mission, state, agents), rows_of(state.memory, agents)
        short, long = (knowledge(view, one, memory, view.heard)[1] for one in (told, wide))
        names, points, weights, _ = (short[name] for name in REPORT)
        assert ((names != -2).sum(axis=1) <= 5).all()
        merged += int((names == -1).sum())
        # Of points inside the triangle nothing is lost: those outside are up to two by name.
        total = np.where(names == -2, 0, weights).sum(axis=1)
        everything = np.where(long[REPORT[0]] == -2, 0, long[REPORT[2]]).sum(axis=1)
        assert (total <= everything + 1e-9).all()
        assert np.isfinite(points).all()
    assert merged > 100


@pytest.mark.parametrize("step", [1, 3, 6])
def test_killed_and_resumed_they_know_what_they_knew(tmp_path, step):
    world = {"sight": 15.0, "summary": 6, "noise": 0.3, "missed": 0.05}
    leave = {"leave": [{"step": 4, "agents": [7]}]}
    given = team(6, agents=30, count=200, world=world, events=leave, control={"goal": "predictive"}, steps=9)
    whole = tc.simulate(given)

    def stop(now):
        if now.step == step:
            raise KeyboardInterrupt

    tc.simulate(given, tmp_path / "run.zarr", progress=stop)
    resumed = tc.simulate(given, tmp_path / "run.zarr", resume=True)
    np.testing.assert_array_equal(resumed.positions, whole.positions)
    np.testing.assert_array_equal(resumed.numbers, whole.numbers)
    opened = tc.Run.open(tmp_path / "run.zarr")
    np.testing.assert_array_equal(opened.numbers, whole.numbers)
    assert opened.summary() == whole.summary()
    again = pickle.loads(pickle.dumps(whole))
    np.testing.assert_array_equal(again.numbers, whole.numbers)
    assert {"numbers"} < set(whole.to_xarray())


def test_a_perfect_world_records_what_it_did_before(tmp_path):
    given = team(0, world={})
    run = tc.simulate(given, tmp_path / "run.zarr")
    assert "numbers" not in run.summary()
    assert not (tmp_path / "run.zarr" / "numbers").exists()
    assert not [name for name in tc.steps(given).__next__().state.memory if name.startswith(("rec", "rep"))]
    with pytest.raises(InputError, match="no array 'numbers'"):
        _ = run.numbers


def test_numbers_are_counted_message_by_message():
    run = tc.simulate(team(7, agents=30, world={"sight": 1e6, "summary": 10}, steps=4))
    family = run.epochs[0].told.family
    # Everybody sees all 60 targets, and tells at most 4 · 10 of them; in the parent's sight is everything.
    np.testing.assert_array_equal(run.numbers[0], 2 + 3 * 40 * family.heard)
    np.testing.assert_array_equal(run.numbers[-1], 2 + 3 * 40 * family.heard)
    assert run.summary()["numbers"] == pytest.approx(run.numbers.mean())
    sums = tc.simulate(team(7, agents=30, world={"sight": 1.0, "summary": "sums"}, count=3, steps=2))
    np.testing.assert_array_equal(sums.numbers[0] % 3, 2)
    assert (sums.numbers[0] >= 2 + 3 * (family.parents >= 0)).all()


def test_nobody_looks_on_the_way_from_the_pads():
    rng = np.random.default_rng(8)
    reference = rng.uniform(0, 100, (20, 2))
    pads = np.stack([np.arange(20) * 2.0, np.full(20, -30.0)], axis=1)
    formation = {"positions": reference, "start": pads, "assign": True, "launch": 4}
    given = tc.Scenario(
        formation=formation, targets=rng.uniform(0, 100, (50, 2)), world={"sight": 20.0, "summary": 9}, steps=20
    )
    run = tc.simulate(given)
    assert not run.numbers[:4].any()
    assert (run.numbers[4:] > 0).all()
    assert run.settled_at is not None


@pytest.mark.parametrize("motion", ["walk", "morph"])
def test_other_motions_settle_where_their_knowledge_sends_them(motion):
    control = {"motion": motion, "resolution": 8}
    run = tc.simulate(team(9, agents=30, count=200, control=control, world={"sight": 40.0, "summary": 64}, steps=400))
    assert run.settled_at is not None
    assert run.converged


def test_kernels_zones_vehicles_and_separation_go_with_sight():
    world = {"sight": 30.0, "summary": 16}
    walk = {"motion": "walk", "resolution": 6}
    learned = tc.simulate(team(1, control={**walk, "kernel": "learned", "window": 50}, vehicle="anywhere", world=world))
    assert learned.learned(int(learned.network.followers[0])) is not None
    assert learned.numbers.any()
    zones = {"zones": [[[44.0, 44.0], [47.0, 44.0], [47.0, 47.0]]]}
    among = tc.simulate(team(2, control=walk, safety=zones, world=world, steps=60))
    assert among.settled_at is not None
    apart = tc.simulate(team(3, safety={"separation": 0.5}, world=world, steps=60))
    assert apart.separation.distance >= 0.5
    assert (apart.record.remembered("recalled_names") >= 0).any()
    gusty = tc.simulate(team(4, vehicle={"kind": "double-integrator"}, world=world, steps=80))
    assert gusty.settled_at is not None
    assert gusty.converged == (gusty.largest_error < 1)


def test_a_rule_of_the_users_own_is_asked_agent_by_agent():
    asked = []

    def nearest_to_middle(network):
        def local_goal(agents, triangles, targets):
            asked.append((len(agents), len(targets)))
            middles = triangles.mean(axis=1)
            if not len(targets):
                return middles
            return targets.points[[np.hypot(*(targets.points - middles[0]).T).argmin()]]

        return local_goal

    run = tc.simulate(team(1, control={"goal": nearest_to_middle}, world={"sight": 6.0}))
    assert run.settled_at is not None
    assert {rows for rows, _ in asked} == {1}
    assert any(count == 0 for _, count in asked)
    inside = {tuple(point) for point in run.targets.points.tolist()}
    assert sum(tuple(place) in inside for place in run.positions[-1].tolist()) > 5


@pytest.mark.parametrize(
    ("world", "control", "message"),
    [
        ({"noise": 1.0}, {}, "noise goes with sight"),
        ({"summary": 5}, {}, "summary goes with sight"),
        ({"missed": 0.1, "noise": 1.0}, {}, "noise and missed goes with sight"),
        ({"sight": 5.0, "summary": "sums"}, {"goal": "rollout"}, "goes with the goal \"centroid\", not with 'rollout'"),
        ({"sight": 0.0}, {}, "world.sight"),
        ({"sight": 5.0, "missed": 1.0}, {}, "world.missed"),
        ({"sight": 5.0, "summary": 0}, {}, "world.summary"),
        ({"sight": 5.0, "loss": 0.5}, {}, "sight does not go with loss"),
    ],
)
def test_what_cannot_be_is_refused_before_the_run(world, control, message):
    with pytest.raises(InputError, match=message):
        team(0, world=world, control=control)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([None, 1, 2, 7, 4096, "sums"]),
    st.sampled_from(["coincident", "line", "weightless", "on agents", "gone", "one"]),
    st.sampled_from([1e-3, 12.0, 1e9, 1e90]),
)
def test_degenerate_targets_do_no_harm(seed, summary, kind, sight):
    rng = np.random.default_rng(seed)
    reference = rng.uniform(0, 100, (14, 2)).round(0 if kind == "line" else 3) + rng.uniform(0, 1e-3, (14, 2))
    points = rng.uniform(0, 100, (30, 2))
    targets = {"positions": points}
    if kind == "coincident":
        targets = {"positions": np.repeat(points[:2], 15, axis=0)}
    elif kind == "line":
        targets = {"positions": np.stack([points[:, 0], np.full(30, 50.0)], axis=1)}
    elif kind == "weightless":
        targets["weights"] = np.append(np.zeros(29), 1.0)
    elif kind == "on agents":
        targets = {"positions": reference}
    elif kind == "gone":
        targets["active"] = np.stack([np.full(30, 3), np.full(30, 5)], axis=1)
    elif kind == "one":
        targets = {"positions": points[:1]}
    goal = "centroid" if summary == "sums" else GOALS[seed % 3]
    world = {"sight": sight, "summary": summary}
    run = tc.simulate(tc.Scenario(reference=reference, targets=targets, control={"goal": goal}, world=world, steps=8))
    assert np.isfinite(run.positions).all()
    assert (run.weights[:, run.network.followers] >= -1e-6).all()  # nobody leaves its triangle


def test_a_team_that_may_see_something_else_is_never_still():
    """Even if nothing was missed so far."""
    given = team(1, count=1, world={"sight": 1e3, "missed": 1e-9}, steps=9)
    states = [step.state for step in tc.steps(given)]
    assert not any(state.still for state in states)
    certain = [step.state for step in tc.steps(given.replace(world={"missed": None}))]
    assert certain[-1].still


def test_a_way_up_and_down_is_waited_for():
    mission = Mission.of(team(1))
    depth = mission.epochs[0].network.depth
    assert mission.quiet_steps == 2 * depth + 1
    assert Mission.of(team(1, world={})).quiet_steps == depth
