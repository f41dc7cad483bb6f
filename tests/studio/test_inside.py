"""Inside an agent: what the page is told is what the agent acts on, by the library's own functions."""

import numpy as np
import pytest

import tricover as tc
from tests.studio.teams import do, session, team, texts
from tricover.errors import InputError


def inside(studio, agent, **words):
    return texts(do(studio, "inside", agent=agent, **words).asker, "inside")[0]


def test_a_follower_by_its_decision_process(tmp_path):
    scenario = team(control={"motion": "walk", "resolution": 9})
    run = tc.simulate(scenario)
    studio = session(tmp_path, scenario)
    do(studio, "seek", step=3)
    told = inside(studio, 9)
    triangle = run.positions[3][run.network.in_neighbors[9]]
    assert told["hears"] == run.network.in_neighbors[9].tolist()
    np.testing.assert_array_equal(told["triangle"], triangle)
    assert (told["cell"], told["goal_cell"]) == (run.states[3, 9], run.goal_cells[3, 9])
    solution = tc.LocalMDP(tc.CellGrid(9), triangle, told["goal_cell"]).solve()
    assert told["policy"] == solution.policy.tolist()
    np.testing.assert_allclose(told["value"], solution.value)
    assert told["next_cell"] == run.next_cells[3, 9] == solution.policy[told["cell"]]
    np.testing.assert_allclose(np.array(told["weights"]) @ triangle, run.positions[3, 9])
    np.testing.assert_allclose(np.array(told["becomes"]) @ triangle, run.positions[4, 9])
    assert sum(told["row"].values()) == pytest.approx(1)


def test_an_anchor_goes_where_it_is_sent(tmp_path):
    studio = session(tmp_path, team(anchors=[[-5, 0], [40, 0], [40, 40], [0, 40], [20, 20]]))
    told = inside(studio, 0)
    assert (told["role"], told["goal"], told["row"]) == ("boundary", [-5, 0], {"0": 1})
    assert inside(studio, 4)["role"] == "core"


def test_ages_and_what_was_heard_where_messages_are_lost(tmp_path):
    scenario = team(world={"loss": 0.5}, seed=4)
    run = tc.simulate(scenario)
    studio = session(tmp_path, scenario)
    step, agent = map(int, np.argwhere((run.ages[5:-1, 5:] > 0).any(axis=2))[0] + 5)
    do(studio, "seek", step=step)
    told = inside(studio, agent)
    assert told["ages"] == run.ages[step, agent].tolist()
    np.testing.assert_array_equal(told["triangle"], run.heard(agent)[step])


def test_what_was_learned_by_a_step(tmp_path):
    scenario = team(control={"motion": "walk", "kernel": "learned", "resolution": 8}, vehicle="anywhere", seed=6)
    run = tc.simulate(scenario.replace(steps=25))
    studio = session(tmp_path, scenario)
    do(studio, "seek", step=25)
    told, learned = inside(studio, 9)["learned"], run.learned(9)
    assert told["slip"] == pytest.approx(learned.slip)
    assert told["records"] == learned.records.sum() > 0


def test_the_end_and_those_who_are_not_there(tmp_path):
    studio = session(tmp_path)
    do(studio, "seek", step=60)
    assert "ends here" in inside(studio, 9)["note"]
    with pytest.raises(InputError, match="no agent 10"):
        inside(studio, 10)
    with pytest.raises(InputError, match="no second variant"):
        inside(studio, 3, variant=1)
