"""The environment plays what ``simulate`` plays, to the bit, and shares nothing."""

import numpy as np
import pytest
from shapely import Polygon

import tricover as tc
from tests.rl.teams import EVENTS, GUSTY, at_random, eventful, given, played
from tests.simulation.teams import eventful as with_it_all
from tests.simulation.teams import scenario
from tricover.errors import InputError
from tricover.rl import parallel_env

WORLDS = {
    "late": {"world": {"delay": 2, "loss": 0.2}},
    "short-sighted": {"world": {"sight": 0.3, "summary": 8}},
    "zone": {"safety": {"zones": [[[0.4, 0.4], [0.6, 0.4], [0.6, 0.6], [0.4, 0.6]]]}},
    "apart": {"safety": {"separation": 0.01}},
}


@pytest.mark.parametrize("motion", ["reach", "walk"])
@pytest.mark.parametrize("seed", range(8))
def test_the_method_played_is_what_simulate_plays(motion, seed):
    """Random teams of all kinds: uniform, clustered, on grids, tiny, huge and far off."""
    one = scenario(seed, control={"motion": motion, "resolution": 6}, steps=25, stop_when_settled=False)
    np.testing.assert_array_equal(played(parallel_env(one)), tc.simulate(one).positions)


@pytest.mark.parametrize("motion", ["reach", "walk"])
@pytest.mark.parametrize("vehicle", ["exact", "anywhere", GUSTY, "double-integrator"])
def test_so_it_is_with_agents_that_leave_and_join_in_any_vehicle(motion, vehicle):
    targets = {"positions": [[0.2, 0.3], [0.7, 0.6]], "motion": {"velocity": [0.01, 0]}}
    one = eventful(motion, vehicle=vehicle, targets=targets)
    np.testing.assert_array_equal(played(parallel_env(one)), tc.simulate(one).positions)


def test_so_it_is_where_an_agent_becomes_an_anchor_and_stays():
    """What it remembers of its place begins with the epoch."""
    one = with_it_all()
    env = parallel_env(one)
    np.testing.assert_array_equal(played(env), tc.simulate(one).positions)
    assert any(epoch.told.some_stay for epoch in env.turn.mission.epochs)


@pytest.mark.parametrize("motion", ["reach", "walk"])
@pytest.mark.parametrize("world", WORLDS)
def test_so_it_is_in_other_worlds(motion, world):
    rng = np.random.default_rng(8)
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.7, 0.25]])
    reference = np.concatenate([corners, rng.random((9, 2)) * [1, 0.35]])
    one = given(motion, reference=reference, targets=rng.random((30, 2)), steps=15, **WORLDS[world])
    np.testing.assert_array_equal(played(parallel_env(one)), tc.simulate(one).positions)


def test_so_it_is_from_the_pads():
    rng = np.random.default_rng(4)
    reference = rng.random((12, 2))
    pads = np.stack(np.meshgrid(np.arange(4), np.arange(3)), -1).reshape(-1, 2) - 5.0
    formation = {"positions": reference, "start": pads, "assign": True, "launch": 4}
    control = {"motion": "walk", "resolution": 4}
    one = tc.Scenario(
        formation=formation, targets=rng.random((9, 2)), control=control, steps=9, stop_when_settled=False
    )
    env = parallel_env(one)
    np.testing.assert_array_equal(played(env), tc.simulate(one).positions)
    observations, _ = env.reset()
    for seen in observations.values():
        assert not seen["observation"].any(), "nobody hears anybody on the way"
        assert seen["action_mask"].tolist() == [0, 0, 0, 1]


def test_with_a_slip_and_with_what_is_learned():
    for kernel in ({"slip": 0.2}, "learned"):
        one = given(control={"kernel": kernel, "window": 50}, vehicle=GUSTY, steps=40)
        np.testing.assert_array_equal(played(parallel_env(one)), tc.simulate(one).positions)


# --- what actions do -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("motion", ["reach", "walk"])
def test_whatever_is_chosen_theorem_1_holds(motion):
    env = parallel_env(given(motion, seed=3))
    played(env, actions=at_random(np.random.default_rng(1)))
    certificate = tc.certify(env.run)
    assert certificate["theorem1"].verdict == "holds"


def test_a_cell_that_is_chosen_is_where_the_agent_goes():
    """By hand: cell across the edge opposite to corner k, and its own."""
    env = parallel_env(given(agents=8, resolution=4))
    env.reset()
    played(env, actions=at_random(np.random.default_rng(0)))
    env.reset()
    for _ in range(10):
        turn, actions = env.turn, at_random(np.random.default_rng(7))(env)
        before = env.turn.cells.state.copy()
        heard = {name: turn.moment([env.numbers[name]]).heard[0] for name in env.agents}
        chooses = {name: turn.masks[env.numbers[name]][:3].any() for name in env.agents}
        env.step(actions)
        grid = tc.CellGrid(4)
        for name, slot in actions.items():
            if chooses[name]:
                cell = before[env.numbers[name]]
                wanted = cell if slot == 3 else grid.neighbors[cell, slot]
                assert env.run.next_cells[-1, env.numbers[name]] == wanted
                middle = grid.weights[wanted] @ heard[name]
                np.testing.assert_allclose(env.turn.state.positions[env.numbers[name]], middle, rtol=1e-12)


def test_weights_are_shares_of_the_in_neighbours():
    env = parallel_env(given("reach", agents=8))
    env.reset()
    heard = {name: env.turn.moment([env.numbers[name]]).heard[0] for name in env.agents}
    env.step({name: np.array([0.5, 0.25, 0.5], np.float32) for name in env.agents})
    for name, triangle in heard.items():
        expected = np.array([0.4, 0.2, 0.4]) @ triangle
        np.testing.assert_allclose(env.turn.state.positions[env.numbers[name]], expected, rtol=1e-12)


def test_who_is_outside_its_triangle_has_no_choice_and_comes_in():
    reference = np.array([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1.0, 2]])
    start = reference.copy()
    start[5] = [9, 2]
    formation = {"positions": reference, "start": start}
    one = tc.Scenario(formation=formation, targets=[[1, 2]], control={"motion": "walk", "resolution": 3}, steps=2)
    env = parallel_env(one)
    seen, _ = env.reset()
    assert seen["follower_5"]["action_mask"].tolist() == [0, 0, 0, 1]
    assert seen["follower_5"]["cell"] == 0
    seen, *_ = env.step({"follower_5": 3})
    assert seen["follower_5"]["cell"] > 0
    heard = reference[tc.build_network(reference).in_neighbors[5]]
    np.testing.assert_allclose(env.turn.state.positions[5], heard.mean(axis=0))


def test_masks_allow_neighbours_and_what_is_masked_may_mean_to_stay():
    one, grid = given(agents=10, resolution=4), tc.CellGrid(4)
    env, tolerant = parallel_env(one), parallel_env(one, masked="stay")
    env.reset(), tolerant.reset()
    corner = 0
    for _ in range(12):
        turn = env.turn
        cells = turn.cells.state
        for name in env.agents:
            cell, mask = cells[env.numbers[name]], turn.masks[env.numbers[name]]
            assert mask[3]
            assert (mask[:3] == ((grid.neighbors[cell] >= 0) & (cell >= 0))).all()
        barred = {name: int(np.argmin(turn.masks[env.numbers[name]])) for name in env.agents}
        actions = {name: 3 if turn.masks[env.numbers[name]].all() else barred[name] for name in env.agents}
        if any(slot != 3 for slot in actions.values()):
            corner += 1
            with pytest.raises(InputError, match="is masked"):
                env.step(actions)
        tolerant.step(actions)
        env.step(dict.fromkeys(env.agents, 3))
        np.testing.assert_array_equal(env.turn.state.positions, tolerant.turn.state.positions)
    assert corner


def test_cells_that_touch_a_zone_are_masked():
    """By another library's polygons: whoever may go somewhere goes from a free cell to a free one."""
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.2], [0.4, 0.6], [0.7, 0.7]])
    zone = [[0.45, 0.42], [0.6, 0.42], [0.6, 0.5], [0.45, 0.5]]
    one = given(reference=corners, targets=[[0.5, 0.9], [0.3, 0.4]], resolution=9, steps=60, safety={"zones": [zone]})
    env, rng, wall = parallel_env(one.replace(vehicle=GUSTY)), np.random.default_rng(2), Polygon(zone)
    grid, kinds = tc.CellGrid(9), set()

    def near(cell, triangle):
        return cell >= 0 and Polygon(grid.corners(cell) @ triangle).distance(wall) < 1e-9

    env.reset()
    while env.agents:
        for name in env.agents:
            moment, mask = env.turn.moment([env.numbers[name]]), env.turn.masks[env.numbers[name]]
            state, triangle = moment.cells.state[0], moment.heard[0]
            for slot in range(3):
                cell = grid.neighbors[state, slot] if state >= 0 else -1
                there, here = near(cell, triangle), near(state, triangle)
                assert mask[slot] == (cell >= 0 and not there and not here)
                kinds.add((cell >= 0, there, here))
        env.step(at_random(rng)(env))
    assert kinds >= {(True, False, False), (True, True, False), (True, False, True), (False, False, False)}


# --- who acts ------------------------------------------------------------------------------------------------------


def test_agents_leave_and_join():
    env = parallel_env(eventful())
    env.reset()
    network, gone, came = env.turn.mission.epochs[0].network, {}, {}
    assert env.agents == [f"follower_{agent}" for agent in network.followers]
    assert env.possible_agents == sorted(env.possible_agents, key=lambda name: env.numbers[name])
    while env.agents:
        before = set(env.agents)
        seen, rewards, done, cut, infos = env.step(env.method_actions())
        step = env.turn.state.step
        assert set(seen) == set(rewards) == set(done) == set(cut) == set(infos)
        assert set(seen) == before | set(env.agents)
        gone |= {name: step for name in seen if done[name]}
        came |= {name: step for name in seen if name not in before}
        for name in came:
            if came[name] == step:
                assert rewards[name] != 0 or seen[name]["cell"] == 0
        for name in gone:
            assert step != gone[name] or rewards[name] == 0
    assert gone == dict.fromkeys(gone, 3)
    assert {"follower_7", "follower_11"} & set(env.possible_agents) <= set(gone)
    assert came == {"follower_10": 3, "follower_21": 5}, "an anchor becomes a follower; agent 20 joins as an anchor"
    assert all(cut[name] for name in seen)


def test_nobody_comes_back():
    """A follower that becomes an anchor is done, even if a later network has it as a follower again."""
    reference = np.array([[0, 0], [6, 0], [6, 6], [0, 6], [3, 3], [5, 5.5], [2, 4], [4, 2]], float)
    events = {"leave": [{"step": 1, "agents": [2]}], "join": [{"step": 3, "reference": [[6.0, 6.5]]}]}
    env = parallel_env(given(reference=reference, targets=[[1, 1], [5, 4]], events=events, steps=6))
    env.reset()
    layers = [epoch.network.layer[5] for epoch in env.turn.mission.epochs]
    assert (layers[0] > 0, layers[1] == 0, layers[2] > 0) == (True, True, True)
    alive = []
    while env.agents:
        alive.append("follower_5" in env.agents)
        env.step(env.method_actions())
    assert alive == [True] + [False] * 5


def test_an_episode_is_cut_off_and_over():
    env = parallel_env(given(steps=3))
    env.reset()
    for step in range(3):
        _, _, done, cut, _ = env.step(env.method_actions())
        assert set(cut.values()) == {step == 2}
        assert not any(done.values())
    assert env.agents == []
    with pytest.raises(InputError, match="the episode is over after 3 steps"):
        env.step({})


# --- seeds, and nothing shared -------------------------------------------------------------------------------------


def test_a_seed_is_that_of_simulate_and_later_episodes_differ():
    one = given(vehicle="anywhere", seed=5)
    env = parallel_env(one)
    first, again, third = played(env), played(env), played(env)
    np.testing.assert_array_equal(first, tc.simulate(one).positions)
    assert not np.array_equal(first, again)
    assert not np.array_equal(again, third)
    np.testing.assert_array_equal(played(env, seed=9), tc.simulate(one.replace(seed=9)).positions)
    other = parallel_env(one)
    played(other, seed=9)
    np.testing.assert_array_equal(played(env), played(other))


def test_nothing_is_shared_between_two_environments():
    """They take turns, and give what each gives alone; what is handed out can be changed without harm."""
    targets = {"positions": [[0.2, 0.4], [0.6, 0.7]], "motion": {"velocity": [0.01, 0.02]}}
    one = given(vehicle="anywhere", targets=targets)
    alone = played(parallel_env(one), actions=at_random(np.random.default_rng(3)))
    envs = [parallel_env(one), parallel_env(one)]
    draws = [at_random(np.random.default_rng(3)), at_random(np.random.default_rng(3))]
    for env in envs:
        env.reset()
    for step in range(1, 13):
        for env, actions in zip(envs, draws, strict=True):
            seen, *_ = env.step(actions(env))
            for row in seen.values():
                row["observation"][:] = -7
                row["action_mask"][:] = 0
            np.testing.assert_array_equal(env.turn.state.positions, alone[step])
    spaces = [env.action_space(name) for env in envs for name in env.possible_agents]
    assert len({id(space) for space in spaces}) == len(spaces)


def test_the_state_is_the_whole_team():
    env = parallel_env(eventful())
    env.reset()
    agents = env.turn.mission.agents
    roster = np.concatenate([env.turn.mission.ground.reference, EVENTS["join"][0]["reference"]])
    low, high = roster.min(axis=0), roster.max(axis=0)
    points = env.turn.mission.targets.points
    for _ in range(6):
        state = env.state()
        assert state in env.state_space
        places = state[: 2 * agents].reshape(agents, 2) * (high - low).max() + (low + high) / 2
        np.testing.assert_allclose(places, env.turn.state.positions, atol=1e-6)
        assert (state[2 * agents : 3 * agents] == env.turn.state.present).all()
        assert state[3 * agents] == pytest.approx(env.turn.state.step / 12)
        squares = state[3 * agents + 1 :].reshape(8, 8)
        expected, *_ = np.histogram2d(*points.T, bins=8, range=list(zip(low, high, strict=True)))
        np.testing.assert_allclose(squares, expected.T / len(points), atol=1e-6)
        env.step(env.method_actions())


def test_before_the_first_reset_there_is_nothing():
    env = parallel_env(given())
    for ask in (env.state, env.render, env.method_actions, lambda: env.step({}), lambda: env.run):
        with pytest.raises(InputError, match="call reset first"):
            ask()


def test_an_episode_is_a_run():
    env = parallel_env(given(seed=3))
    env.reset()
    env.step(env.method_actions())
    run = env.run
    env.step(env.method_actions())
    assert (run.steps, env.run.steps) == (1, 2), "a run that is handed out does not grow"
    np.testing.assert_array_equal(env.run.positions, tc.simulate(given(seed=3)).positions[:3])
