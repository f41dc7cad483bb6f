"""Rewards, against what they are defined to be."""

import numpy as np
import pytest

import tricover as tc
from tests.rl.teams import at_random, eventful, given
from tricover.errors import InputError
from tricover.mdp import default_beta
from tricover.rl import VectorTeam, parallel_env


def cost(env, name, one):
    """-C(s) of one agent where it stands, in units of α times its longest side."""
    agent, grid = env.numbers[name], tc.CellGrid(one.control.resolution)
    network, positions = env.turn.mission.epochs[0].network, env.turn.state.positions
    triangle = positions[network.in_neighbors[agent]]
    longest = max(np.linalg.norm(triangle[k] - triangle[k - 1]) for k in range(3))
    point = tc.goal_points(network, positions, env.turn.mission.targets, agents=[agent])
    [state], [goal] = grid.holding(positions[[agent]], triangle[None]), grid.holding(point, triangle[None], within=True)
    if goal < 0:
        return 0.0  # a triangle without area
    if state == goal:
        beta = one.control.beta
        return default_beta(one.control.resolution, 0.95) if beta is None else beta / (one.control.alpha * longest)
    if state < 0:
        return -1.0
    return -np.linalg.norm((grid.weights[state] - grid.weights[goal]) @ triangle) / longest


@pytest.mark.parametrize("motion", ["walk", "reach"])
@pytest.mark.parametrize("control", [{}, {"alpha": 3.0, "beta": 0.7}])
def test_the_papers_cost(motion, control):
    one = given(motion, control=control, vehicle={"kind": "gusty", "chance": 0.5, "gust": [0.3, 0.2]})
    env, rng, kinds = parallel_env(one), np.random.default_rng(4), set()
    env.reset()
    while env.agents:
        _, rewards, *_ = env.step(env.method_actions() if rng.random() < 0.5 else at_random(rng)(env))
        for name, reward in rewards.items():
            assert reward == pytest.approx(cost(env, name, one), rel=1e-9)
            kinds.add("outside" if reward == -1 else "goal" if reward > 0 else "on its way")
    assert kinds == {"outside", "goal", "on its way"}


def test_the_gain_in_coverage_adds_up():
    one = given("reach", seed=3)
    env = parallel_env(one, reward="coverage")
    env.reset()
    targets, total = env.turn.mission.targets, 0.0
    first = tc.coverage_cost(env.turn.state.positions, targets)
    while env.agents:
        before = tc.coverage_cost(env.turn.state.positions, targets)
        _, rewards, *_ = env.step(env.method_actions())
        after = tc.coverage_cost(env.turn.state.positions, targets)
        [reward] = set(rewards.values())
        assert reward == pytest.approx((before - after) / first)
        total += reward
    assert total == pytest.approx(1 - after / first)


def test_only_those_who_are_there_cover():
    """Who has left covers nothing, though it stands in the arrays; the targets are those after the step."""
    one = eventful("reach", targets={"positions": [[0.4, 0.5], [0.5, 0.4]], "motion": {"velocity": [0.02, 0.01]}})
    env = parallel_env(one, reward="coverage")
    env.reset()
    turn = env.turn
    first = tc.coverage_cost(turn.state.positions[turn.state.present], turn.mission.targets_at(0))
    for step in range(1, 6):
        before = env.turn.state
        _, rewards, done, *_ = env.step(env.method_actions())
        after, targets = env.turn.state, turn.mission.targets_at(step)
        costs = [tc.coverage_cost(state.positions[state.present], targets) for state in (before, after)]
        for name, reward in rewards.items():
            assert reward == (0 if done[name] else pytest.approx((costs[0] - costs[1]) / first))


def test_without_targets_there_is_nothing_to_gain():
    targets = {"positions": [[0.4, 0.5]], "active": [[3, 9]]}
    env = parallel_env(given("reach", targets=targets, seed=3), reward="coverage")
    env.reset()
    rewards = [set(env.step(env.method_actions())[1].values()) for _ in range(2)]
    assert rewards == [{0.0}, {0.0}]


def test_a_function_of_ones_own():
    asked = []

    def way(before, after):
        asked.append((before, after))
        return -np.linalg.norm(after.positions - before.positions, axis=1)[after.agents]

    env = parallel_env(eventful(), reward=way)
    env.reset()
    while env.agents:
        before = env.turn.state
        _, rewards, done, *_ = env.step(env.method_actions())
        moved = -np.linalg.norm(env.turn.state.positions - before.positions, axis=1)
        for name, reward in rewards.items():
            assert reward == (0.0 if done[name] else moved[env.numbers[name]])
        one, other = asked[-1]
        assert (one.step, other.step) == (before.step, before.step + 1)
        assert other.agents.tolist() == [env.numbers[name] for name in rewards if not done[name]]
        assert other.heard.shape == (len(other.agents), 3, 2)
        np.testing.assert_array_equal(other.cells.state, env.turn.cells.state[other.agents])
        assert not other.positions.flags.writeable


def test_it_is_the_same_for_many_teams():
    def way(before, after):
        moved = np.linalg.norm(after.positions - before.positions, axis=1)[after.agents]
        return moved + after.cells.state + after.heard[:, 1, 0] + len(after.targets) + after.step

    ones = [given(seed=seed) for seed in (0, 3)]
    team, envs = VectorTeam(ones, reward=way), [parallel_env(one, reward=way) for one in ones]
    team.reset()
    for env in envs:
        env.reset()
    while not team.over:
        _, rewards = team.step(team.method_actions())
        for row, env in zip(rewards, envs, strict=True):
            agents = [env.numbers[name] for name in env.agents]
            assert row[agents].tolist() == list(env.step(env.method_actions())[1].values())
            assert row.sum() == row[agents].sum()


@pytest.mark.parametrize("wrong", [lambda before, after: 1.0, lambda before, after: np.full(len(after.agents), np.nan)])
def test_what_is_no_reward_is_an_error(wrong):
    for env in (parallel_env(given(), reward=wrong), VectorTeam([given()], reward=wrong)):
        env.reset()
        with pytest.raises(InputError, match="the reward must give a finite number for each of"):
            env.step(env.method_actions())
