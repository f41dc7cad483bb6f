"""What a run says of who came close to whom: in its summary, and pair by pair."""

import pickle

import numpy as np
import pytest

import tricover as tc
from tests.simulation.teams import eventful
from tricover.simulation import Mission, approaching, run
from tricover.simulation.approaching import closer_than, closest_pairs


def test_the_summary_says_who_and_when():
    made = tc.simulate(eventful())
    least = tc.separation(made.positions, present=made.present)
    facts = made.summary()
    assert facts["least_distance"] == least.distance
    assert facts["closest_agents"] == list(least.agents)
    assert facts["closest_step"] == least.step
    assert pickle.loads(pickle.dumps(made)).summary() == facts


@pytest.mark.parametrize(("most", "asked", "known"), [(0, None, False), (0, 0.5, True), (1, None, True)])
def test_a_large_run_is_measured_only_if_it_was_asked_for(monkeypatch, most, asked, known):
    made = tc.simulate(Mission.of(eventful().replace(safety={"separation": asked})))
    limit = (made.steps + 1) * made.mission.agents
    monkeypatch.setattr(run, "MEASURED", limit - 1 + most)
    assert made.measures_separation == known
    assert (made.summary()["least_distance"] is None) != known
    assert (made.summary()["closest_agents"] is None) != known


def test_approaches_of_every_step_are_those_of_the_positions():
    made = tc.simulate(eventful())
    for step in range(made.steps):
        pair = made.positions[step : step + 2]
        alone = tc.separation(pair, present=np.stack([made.present[step]] * 2))
        assert made.approaches.distances[step] == alone.distance
        assert made.approaches.agents[step].tolist() == list(alone.agents)
    assert made.approaches.distances.min() == made.separation.distance


def test_stored_runs_say_the_same(tmp_path, monkeypatch):
    kept = tc.simulate(eventful(), tmp_path / "run.zarr")
    opened = tc.Run.open(tmp_path / "run.zarr")
    monkeypatch.setattr(run, "BLOCK", 50)
    assert opened.approaches.distances.tolist() == kept.approaches.distances.tolist()
    assert opened.summary() == kept.summary()
    assert opened.positions is not None  # all of them are held now
    assert closer_than(opened, 3.0).below.tolist() == closer_than(kept, 3.0).below.tolist()


def brute(made, limit):
    found = tc.separation(made.positions, limit, made.present)
    order = np.argsort(found.distances, kind="stable")
    return found.below[order].tolist(), found.distances[order].tolist()


def test_the_closest_few_where_nothing_is_asked_for():
    made = tc.simulate(eventful())
    pairs, distances = brute(made, 1e3)
    found = closest_pairs(made, 7)
    assert found.below.tolist() == pairs[:7]
    assert found.distances.tolist() == distances[:7]
    assert (found.distance, found.agents) == (distances[0], made.separation.agents)


def test_all_who_are_too_close_where_it_is():
    made = tc.simulate(eventful())
    for wanted in (float(np.median(brute(made, 1e3)[1])), made.separation.distance / 2):
        asking = tc.simulate(Mission.of(eventful().replace(safety={"separation": wanted})))
        found = closest_pairs(asking, 3)
        expected = brute(asking, wanted)[0] or brute(asking, 1e3)[0][:3]
        assert sorted(found.below.tolist()) == sorted(expected)


def test_in_a_crowd_those_that_were_closest_in_a_step(monkeypatch):
    monkeypatch.setattr(approaching, "MOST_PAIRS", 0)
    made = tc.simulate(eventful())
    found = closest_pairs(made, 4)
    steps = made.approaches.closest(4)
    assert found.crowded
    assert found.steps.tolist() == steps.tolist()
    assert found.below.tolist() == made.approaches.agents[steps].tolist()
    assert found.distances.tolist() == made.approaches.distances[steps].tolist()
    asking = tc.simulate(Mission.of(eventful().replace(safety={"separation": 1e3})))
    assert closest_pairs(asking, 4).below.tolist() == asking.approaches.agents[asking.approaches.closest(4)].tolist()
