"""Our rules as players, and trained policies as rules: both ways the same as ``simulate``."""

import sys

import numpy as np
import pytest

import tricover as tc
from tests.rl.teams import GUSTY, eventful, given, played
from tricover.errors import InputError
from tricover.geometry import barycentric
from tricover.rl import OF_GOALS, Baseline, Observer, VectorTeam, goal_rule, parallel_env, walk_policy

MODULE = """
import numpy as np
from tricover.rl import goal_rule, walk_policy

def lowest(observations, masks):
    return masks.argmax(axis=1)

rule = goal_rule(lambda seen: np.clip(seen[:, 1:4] + [0.2, 0.0, 0.0], 0, 1), parts=("targets",))
walker = walk_policy(lowest)
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "trained_by_name.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    yield "trained_by_name"
    sys.modules.pop("trained_by_name", None)


def leaving(**settings):
    """Agents leave and join, and nobody who has acted comes back."""
    events = {"leave": [{"step": 3, "agents": [7]}], "join": [{"step": 5, "reference": [[0.3, 0.6]]}]}
    return eventful(events=events, **settings)


def by(**rules):
    """An episode that a baseline plays."""

    def play(env):
        baseline = Baseline(env, **rules)
        return played(env, actions=lambda env: baseline())

    return play


@pytest.mark.parametrize("goal", ["centroid", "predictive", "rollout", "reference", "own"])
@pytest.mark.parametrize("scenario", [given, leaving])
def test_any_goal_rule_plays_any_walk(goal, scenario):
    """The environment's own rule is another one, and plays no part."""
    rule = (lambda network: lambda agents, triangles, targets: triangles.mean(axis=1)) if goal == "own" else goal
    one = scenario(control={"goal": "reference" if goal == "centroid" else "centroid"}, seed=3)
    expected = tc.simulate(one.replace(control={"goal": rule})).positions
    np.testing.assert_array_equal(by(goal=rule)(parallel_env(one)), expected)


@pytest.mark.parametrize("kernel", ["learned", 0.3])
@pytest.mark.parametrize("scenario", [given, leaving])
def test_so_do_kernels_with_all_that_agents_learn(kernel, scenario):
    gusty = {"kind": "gusty", "chance": 0.5, "gust": [0.12, 0.05]}
    one = scenario(vehicle=gusty, steps=100, resolution=6, seed=3)
    asked = one.replace(control={"kernel": kernel if kernel == "learned" else {"slip": kernel}})
    expected = tc.simulate(asked).positions
    assert not np.array_equal(expected, tc.simulate(one).positions), "it changes something"
    env = parallel_env(one)
    np.testing.assert_array_equal(by(kernel=kernel)(env), expected)


def test_a_baseline_begins_anew_with_each_episode_and_may_be_asked_twice():
    one = given(vehicle=GUSTY, steps=60, resolution=4, seed=3)
    env = parallel_env(one)
    baseline = Baseline(env, kernel="learned")

    def twice(env):
        baseline()
        return baseline()

    first = played(env, seed=3, actions=twice)
    np.testing.assert_array_equal(played(env, seed=3, actions=twice), first)
    np.testing.assert_array_equal(first, tc.simulate(one.replace(control={"kernel": "learned"})).positions)


def test_other_rules_lead_elsewhere_where_agents_reach():
    one = given("reach", seed=3)
    played_by = by(goal="predictive")(parallel_env(one))
    expected = tc.simulate(one.replace(control={"goal": "predictive"})).positions
    np.testing.assert_allclose(played_by, expected, atol=1e-5)
    assert not np.allclose(expected, tc.simulate(one).positions, atol=1e-3)


# --- trained policies ----------------------------------------------------------------------------------------------


def test_a_trained_goal_is_simulated_stored_and_certified(mine, tmp_path):
    one = given("reach", seed=3, control={"goal": f"{mine}:rule"})
    run = tc.simulate(one, tmp_path / "run.zarr")
    assert run.converged
    certificate = tc.certify(run)
    assert certificate.holds
    assert tc.Run.open(tmp_path / "run.zarr").scenario.control.goal == f"{mine}:rule"
    again = tc.simulate(one, tmp_path / "run.zarr", resume=True)
    np.testing.assert_array_equal(again.positions, run.positions)
    targets, network = tc.Targets(one.targets.positions), run.network
    agent = network.followers[0]
    triangle = run.positions[0, network.in_neighbors[agent]]
    centroid = tc.goal_points(network, run.positions[0], targets, agents=[agent])[0]
    weights = np.clip(barycentric(centroid, triangle) + np.array([0.2, 0, 0]), 0, 1)
    np.testing.assert_allclose(run.positions[1, agent], weights / weights.sum() @ triangle, rtol=1e-5)


def test_what_was_trained_in_the_environment_is_what_is_simulated():
    """The same function of observations, as actions of the environment and as rules of a scenario."""

    def corner(seen):
        return np.clip(seen[:, :3] + 0.1 * seen[:, 3:6], 0, 1)

    parts = ("targets", "shape")
    swapped = lambda seen: corner(np.column_stack([seen[:, 1:4], seen[:, 4:7]]))  # noqa: E731
    one = given("reach", seed=3)
    env = parallel_env(one, parts=parts)

    def actions(env):
        turn = env.turn
        weights = swapped(turn.observations(Observer(parts))[[env.numbers[name] for name in env.agents]])
        return dict(zip(env.agents, weights.astype(np.float32), strict=True))

    rule = goal_rule(swapped, parts=parts)
    run = tc.simulate(one.replace(control={"goal": rule}))
    np.testing.assert_allclose(played(env, actions=actions), run.positions, atol=1e-6)


def test_a_trained_walk_is_simulated_stored_and_certified(mine, tmp_path):
    one = given(seed=3, control={"policy": f"{mine}:walker"})
    run = tc.simulate(one, tmp_path / "run.zarr")
    assert tc.certify(run)["theorem1"].verdict == "holds"
    env = parallel_env(given(seed=3))

    def actions(env):
        return {name: int(env.turn.masks[env.numbers[name]].argmax()) for name in env.agents}

    np.testing.assert_array_equal(played(env, actions=actions), run.positions)
    np.testing.assert_array_equal(tc.Run.open(tmp_path / "run.zarr").positions, run.positions)


def test_a_walk_policy_observes_what_the_environment_shows():
    parts, kept = ("place", "shape", "size", "heading", "targets", "histogram", "ages", "goal", "cell", "goal_cell"), []

    def watch(seen, masks):
        kept.append((seen.copy(), masks.copy()))
        return np.full(len(seen), 3)

    one = given(seed=3, steps=3)
    env = parallel_env(one, parts=parts)
    seen, _ = env.reset()
    tc.simulate(one.replace(control={"policy": walk_policy(watch, parts=parts)}))
    for observations, masks in kept:  # only those whose knowledge has changed are asked
        mine = np.array([seen[name]["observation"] for name in env.agents])
        allowed = np.array([seen[name]["action_mask"] for name in env.agents])
        for row, mask in zip(observations, masks, strict=True):
            [found, *_] = np.flatnonzero((mine == row).all(axis=1))
            assert (allowed[found] == mask).all()
        seen, *_ = env.step(dict.fromkeys(env.agents, 3))


def test_a_goal_rule_cannot_observe_what_it_does_not_know():
    assert set(OF_GOALS) < set(Observer().parts)
    with pytest.raises(InputError, match="a goal rule cannot observe 'place'"):
        goal_rule(lambda seen: seen, parts=("shape", "place"))


@pytest.mark.parametrize(
    "wrong", [lambda seen: seen[:, :2], lambda seen: seen[:, :3] * np.nan, lambda seen: -seen[:, :3]]
)
def test_weights_that_cannot_be_are_an_error(wrong):
    with pytest.raises(InputError, match="weights"):
        tc.simulate(given("reach", control={"goal": goal_rule(wrong)}))


def test_an_error_names_the_agent():
    """Not its row in the batch."""
    one = given("reach", seed=3)
    last = int(tc.build_network(one.reference).followers[-1])

    def wrong(seen):
        weights = np.full((len(seen), 3), 1 / 3)
        weights[-1] = -1
        return weights

    network, goal = tc.build_network(one.reference), goal_rule(wrong)
    with pytest.raises(InputError, match=rf"weights of agent {last} must be"):
        tc.goal_points(network, one.reference, one.targets.positions, goal)


def test_short_sighted_agents_have_no_observations():
    one = given(control={"policy": walk_policy(lambda seen, masks: masks.argmax(axis=1))}, world={"sight": 0.4})
    with pytest.raises(InputError, match=r"leave world\.sight out"):
        tc.simulate(one)


@pytest.mark.parametrize("control", [{"goal": "cellplan"}, {"goal": "voronoi"}, {"goal": "cellplan", "motion": "walk"}])
def test_goals_of_the_whole_team_are_played_as_they_are_simulated(control):
    rng = np.random.default_rng(8)
    team, targets = 100 * rng.random((24, 2)), 100 * rng.random((300, 2))
    how = {"network": {"mentee": "balanced"}, "control": {"resolution": 12, **control}, "steps": 40}
    scenario = tc.Scenario(reference=team, targets=targets, stop_when_settled=False, **how)
    env = parallel_env(scenario)
    play = Baseline(env)
    env.reset()
    while env.agents:
        env.step(play())
    np.testing.assert_array_equal(env.run.positions, tc.simulate(scenario).positions)


def test_goals_of_the_whole_team_need_a_scenario_that_has_them():
    rng = np.random.default_rng(8)
    scenario = tc.Scenario(reference=rng.random((12, 2)), targets=rng.random((50, 2)))
    with pytest.raises(InputError, match="the goal 'cellplan' is about the whole team"):
        Baseline(parallel_env(scenario), goal="cellplan")
    for goal, match in (("cellplan", "polish their places"), ("voronoi", "Voronoi cells")):
        with pytest.raises(InputError, match=match):
            VectorTeam([scenario.replace(control={"goal": goal})])
