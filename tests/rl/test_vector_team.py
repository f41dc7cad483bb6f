"""Many teams at once are each the team alone, to the bit."""

import numpy as np
import pytest

import tricover as tc
from tests.rl.teams import GUSTY, given
from tests.simulation.teams import scenario
from tricover.errors import InputError, LostControlError
from tricover.rl import VectorTeam, parallel_env

ALL_PARTS = ("place", "shape", "size", "heading", "targets", "histogram", "ages", "goal", "cell", "goal_cell")


def chosen(rng, env, team):
    """The same random actions for teams together and alone."""
    if not env.turn.walks:
        return rng.random((team.agents, 3)).astype(np.float32)
    masks = env.turn.masks
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])


def side_by_side(ones, reward="cost", seeds=None, **settings):
    """Play random actions in teams together and alone, and compare all that comes out."""
    rng = np.random.default_rng(6)
    team = VectorTeam(ones, reward=reward, parts=ALL_PARTS, **settings)
    envs = [parallel_env(one, reward=reward, parts=ALL_PARTS, **settings) for one in ones]
    seen = team.reset(seeds)
    alone = [env.reset(seed)[0] for env, seed in zip(envs, seeds or [None] * len(envs), strict=True)]
    while True:
        for row, (env, observations) in enumerate(zip(envs, alone, strict=True)):
            np.testing.assert_array_equal(team.positions[row], env.turn.state.positions)
            for name, mine in observations.items():
                agent = env.numbers[name]
                np.testing.assert_array_equal(seen.observations[row, agent], mine["observation"])
                assert (seen.cells[row, agent] + 1, seen.goal_cells[row, agent] + 1) == (
                    mine["cell"],
                    mine["goal_cell"],
                )
                if team.walks:
                    assert seen.masks[row, agent].tolist() == mine["action_mask"].tolist()
            np.testing.assert_array_equal(team.method_actions()[row], env.turn.method_actions())
        if team.over:
            return
        actions = np.array([chosen(rng, env, team) for env in envs])
        seen, rewards = team.step(actions)
        alone = []
        for row, env in enumerate(envs):
            agents = env.agents
            found = env.step({name: actions[row, env.numbers[name]] for name in agents})
            alone.append(found[0])
            assert rewards[row, [env.numbers[name] for name in agents]].tolist() == list(found[1].values())
            assert not rewards[row, ~team.followers[row]].any()


@pytest.mark.parametrize("motion", ["walk", "reach"])
@pytest.mark.parametrize("vehicle", ["exact", "anywhere", GUSTY, "double-integrator"])
def test_teams_of_all_kinds_in_any_vehicle(motion, vehicle):
    """Uniform, clustered, tiny, huge and far off; networks with more and fewer anchors."""
    control = {"motion": motion, "resolution": 4}
    how = {"control": control, "vehicle": vehicle, "steps": 8, "stop_when_settled": False}
    side_by_side([scenario(seed, 14, **how).replace(seed=seed) for seed in (0, 1, 3, 4, 9, 13)])


@pytest.mark.parametrize("goal", ["centroid", "predictive", "rollout", "reference"])
def test_goal_rules(goal):
    side_by_side([given("reach", seed=seed, control={"goal": goal}, steps=5) for seed in (0, 3)])


def test_teams_with_the_same_field_are_asked_together_and_apart():
    """Copies of one scenario among others: lists and goals end up with their owners."""
    one, other = given(seed=0, vehicle="anywhere"), given(seed=3, vehicle="anywhere")
    start = {"start": one.reference * 0.9 + 0.02}
    ones = [one, other, one.replace(seed=5), one.replace(formation=start), other.replace(seed=6)]
    side_by_side(ones, reward="coverage")
    heavier = one.replace(targets={"weights": np.arange(1.0, 41.0)})
    side_by_side([one, heavier, heavier.replace(control={"goal": "predictive"})])


def test_moving_targets_and_anchors():
    moving = {"positions": np.random.default_rng(0).random((20, 2)), "motion": {"velocity": [0.02, 0.01], "until": 5}}
    one = given(targets=moving, seed=3)
    network = tc.build_network(one.reference)
    ways = one.reference[network.anchors] + np.linspace(0, 0.1, 4)[:, None, None]
    side_by_side([one, one.replace(anchors=ways), given(seed=4)])


def test_kernels_that_slip_and_that_are_learned():
    """So long that what was learned changes what the method would do."""
    gusty = {"kind": "gusty", "chance": 0.5, "gust": [0.12, 0.05]}
    for kernel, steps in (({"slip": 0.2}, 10), ("learned", 100)):
        control = {"kernel": kernel, "window": 60}
        side_by_side([given(seed=seed, control=control, vehicle=gusty, resolution=6, steps=steps) for seed in (0, 3)])


def test_seeds_of_ones_own():
    side_by_side([given(vehicle="anywhere"), given(vehicle="anywhere", seed=1)], seeds=[7, 2**62])
    team = VectorTeam([given()])
    with pytest.raises(InputError, match="there are 2 seeds for 1 scenarios"):
        team.reset([1, 2])


def test_an_episode_begins_anew():
    team = VectorTeam([given(vehicle="anywhere")])
    assert repr(team) == "<VectorTeam of 1 scenarios with 14 agents each: walk, 12 steps>"
    with pytest.raises(InputError, match="call reset first"):
        team.step(np.full((1, 14), 3))
    ends = []
    for _ in range(2):
        team.reset()
        assert not team.over
        while not team.over:
            team.step(team.method_actions())
        ends.append(team.positions)
        with pytest.raises(InputError, match="the episode is over after 12 steps"):
            team.step(team.method_actions())
    np.testing.assert_array_equal(*ends)
    ends[0][:] = 0
    assert team.positions.any(), "what is handed out is a copy"


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"agents": 15}, "scenario 1 has 15 agents, the first one 14"),
        ({"resolution": 6}, "scenario 1 has another resolution"),
        ({"control": {"gamma": 0.9}}, "another gamma"),
        ({"motion": "reach"}, "another motion"),
        ({"steps": 5}, "another number of steps"),
        ({"vehicle": "anywhere"}, "another vehicle"),
        ({"world": {"delay": 1}}, "late messages"),
        ({"world": {"sight": 0.5}}, "limited sight"),
        ({"safety": {"separation": 0.01}}, "a separation"),
        ({"safety": {"zones": [[[2, 2], [3, 2], [3, 3]]]}}, "has zones"),
        ({"control": {"policy": "mine:walker"}}, "a policy of its own"),
        ({"events": {"leave": [{"step": 2, "agents": [8]}]}}, "leave, join, start from pads or polish"),
    ],
)
def test_what_a_batch_cannot_have_is_refused(other, said):
    with pytest.raises(InputError, match=said):
        VectorTeam([given(), given(**other)])


def test_what_is_handed_out_is_not_kept():
    team, same = VectorTeam([given()]), VectorTeam([given()])
    seen = team.reset()
    same.reset()
    for _ in range(5):
        seen.masks[:], seen.cells[:], seen.goal_cells[:], seen.observations[:] = False, -7, -7, np.nan
        seen, rewards = team.step(team.method_actions())
        _, expected = same.step(same.method_actions())
        np.testing.assert_array_equal(rewards, expected)


@pytest.mark.parametrize("broken", ["raises", "gives"])
def test_vehicles_that_lose_control_are_named_with_their_scenario(broken):
    class Lost:
        kind, landing, state_size = "lost", "anywhere", 2

        def initial_state(self, positions):
            return np.array(positions)

        def output(self, states):
            return states.copy()

        def drive(self, states, reach_sets, duration, draws):
            if broken == "raises" and len(states) > 14:
                raise LostControlError("lost", [14 + 3, 14 + 5])
            states = reach_sets.mean(axis=1)
            states[[-11, -9]] = np.nan
            return states

    ride = Lost()
    team = VectorTeam([given(vehicle=ride), given(vehicle=ride)])
    team.reset()
    with pytest.raises(InputError, match="scenario 1: lost of agent 3 and 5 lost control"):
        team.step(team.method_actions())


def test_no_scenarios_are_no_team():
    with pytest.raises(InputError, match="there are no scenarios"):
        VectorTeam([])
