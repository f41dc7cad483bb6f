"""Runs of teams that morph: starts, events and anchors' ways, in memory and on disk, in the team and alone."""

import json
import os
import pickle

import numpy as np
import pytest

import tricover as tc
from tests.safety.morphs import faults
from tests.simulation.stores import stop_at
from tricover.control import Told
from tricover.control.speed import limits_of
from tricover.errors import FileFormatError, FormationError, InputError
from tricover.simulation import Mission
from tricover.simulation.deciding import decide_all
from tricover.simulation.record import ARRAYS

SQUARE = np.array([[0.0, 0.0], [8.0, 0.0], [8.0, 8.0], [0.0, 8.0], [4.0, 4.0], [2.0, 4.0], [5.0, 2.0]])


def square(**settings):
    given = {"reference": SQUARE, "targets": [[1.0, 4.0], [4.0, 1.0]], "control": {"motion": "morph", "speed": 1.0}}
    return tc.Scenario(**{**given, **settings})


def eventful(**changes):
    """Losses, joiners, moving targets, anchors on their way."""
    rng = np.random.default_rng(2)
    reference = rng.random((30, 2)) * 50
    network = tc.build_network(reference, "balanced")
    middle = reference.mean(axis=0)
    return tc.Scenario(
        reference=reference,
        targets={"positions": rng.random((40, 2)) * 50, "motion": {"velocity": [0.2, 0.1], "until": 9}},
        anchors=middle + 0.8 * (reference[network.anchors] - middle),
        network={"mentee": "balanced"},
        control={"motion": "morph", "speed": 3.0},
        events={
            "leave": [{"step": 4, "agents": [int(network.boundary[1]), int(network.followers[2])]}],
            "join": [{"step": 7, "reference": [[20.0, 25.0], [3.0, 60.0]]}],
        },
        steps=60,
    ).replace(**changes)


def assert_same(one, other):
    for name in ARRAYS:
        np.testing.assert_array_equal(one.read(name), other.read(name))
    np.testing.assert_array_equal(one.desired, other.desired)
    assert [epoch.network for epoch in one.epochs] == [epoch.network for epoch in other.epochs]
    assert (one.settled_at, one.converged) == (other.settled_at, other.converged)


def test_a_run_has_the_weights_of_its_plan():
    run = tc.simulate(eventful())
    assert run.converged
    assert faults(run) == []
    for step in range(run.steps):
        network, places = run.network_at(step), run.positions[step + 1]
        for agent in network.followers:
            combined = run.weights[step, agent] @ places[network.in_neighbors[agent]]
            np.testing.assert_allclose(combined, places[agent], atol=1e-12)
        others = np.setdiff1d(np.arange(run.mission.agents), network.followers)
        assert not run.weights[step, others].any()


def test_cells_are_those_of_where_agents_stand_and_want_to_be():
    run = tc.simulate(eventful())
    step = run.steps - 1  # at rest: the goal, the next place and the present one are the same
    followers = run.network.followers
    np.testing.assert_array_equal(run.states[step, followers], run.goal_cells[step, followers])
    np.testing.assert_array_equal(run.next_cells[step, followers], run.goal_cells[step, followers])
    assert (run.goal_cells[1, run.network_at(1).followers] != run.states[1, run.network_at(1).followers]).any()


@pytest.mark.parametrize("steps", [(4, 7), (30, 33)])  # under way, and long at rest
def test_after_an_event_the_network_is_that_of_where_the_living_stand(steps):
    events = eventful().events
    leave, join = events.leave[0].values(), events.join[0].values()
    leave["step"], join["step"] = steps
    run = tc.simulate(eventful(events={"leave": [leave], "join": [join]}))
    assert [epoch.start for epoch in run.epochs] == [0, *steps]
    for epoch in run.epochs[1:]:
        network = epoch.network
        alive = network.layer >= 0
        np.testing.assert_array_equal(network.reference[alive], run.positions[epoch.start][: len(alive)][alive])
        expected = tc.build_network(network.reference, "balanced", alive=alive)
        assert network == expected
    assert run.epochs[2].network.lost.tolist() == run.epochs[1].network.lost.tolist()
    assert len(run.epochs[2].network) == 32


def test_a_later_event_may_find_somebody_on_the_place_of_the_lost():
    """Who takes the place of a lost agent may stand where it was last seen, to the bit: a roster has no such two."""
    given = square(targets=[[1.0, 4.0]], control={"motion": "morph", "speed": 9.0})
    first = tc.simulate(given)
    network = first.network
    lost = int(network.layers[1][0])
    more = np.concatenate([SQUARE, [[1.5, 3.0]]])
    run = tc.simulate(
        square(
            reference=more,
            targets=[[1.0, 4.0]],
            control={"motion": "morph", "speed": 9.0},
            events={"leave": [{"step": 6, "agents": [lost]}, {"step": 14, "agents": [6]}]},
        )
    )
    assert faults(run) == []
    assert run.converged


@pytest.mark.parametrize("vehicle", ["exact", "double-integrator"])
def test_a_stored_run_is_the_run_in_memory(tmp_path, vehicle):
    given = eventful(vehicle=vehicle, steps=30)
    run = tc.simulate(given)
    kept = tc.simulate(given, tmp_path / "run.zarr")
    assert_same(run, kept)
    opened = tc.Run.open(tmp_path / "run.zarr")
    assert_same(run, opened)
    assert str(tc.certify(opened)) == str(tc.certify(run))


@pytest.mark.parametrize("step", [1, 4, 5, 8])
def test_a_run_that_was_stopped_goes_on_with_the_same_bits(tmp_path, step):
    given = eventful(steps=30)
    run = tc.simulate(given)
    stopped = tc.simulate(given, tmp_path / "run.zarr", progress=stop_at(step))
    assert stopped.interrupted
    assert stopped.steps == step
    resumed = tc.simulate(given, tmp_path / "run.zarr", resume=True)
    assert_same(run, resumed)


def test_scenarios_and_missions_survive_every_trip(tmp_path):
    given = eventful(safety={"separation": 0.2})
    given.save(tmp_path / "mine.toml")
    assert tc.Scenario.load(tmp_path / "mine.toml") == given
    run = tc.simulate(given)
    assert_same(run, tc.simulate(given.self_contained()))
    assert_same(run, tc.simulate(pickle.loads(pickle.dumps(run.mission))))
    text = run.mission.to_json()
    assert_same(run, tc.simulate(Mission.from_json(text)))
    told = run.epochs[1].told
    again = Told.from_json(told.to_json())
    assert again.network == told.network
    np.testing.assert_array_equal(again.paths, told.paths)
    np.testing.assert_array_equal(again.limits, told.limits)
    assert again.floor == told.floor
    broken = json.loads(text)
    broken["epochs"][0]["told"]["network"]["reference"][0][0] += 1e-9
    with pytest.raises(FileFormatError, match="from step 0"):
        Mission.from_json(json.dumps(broken))


def test_steps_are_the_same_with_and_without_the_shortcut():
    given = eventful()
    quick, plain = list(tc.steps(given)), list(tc.steps(given, decide_all=decide_all))
    for one, other in zip(quick, plain, strict=True):
        np.testing.assert_array_equal(one.positions, other.positions)
        for name, rows in one.state.memory.items():
            np.testing.assert_array_equal(rows, other.state.memory[name])


def test_the_number_of_threads_changes_no_bit(monkeypatch):
    rng = np.random.default_rng(0)
    given = tc.Scenario(
        reference=rng.random((20_000, 2)),
        targets=rng.random((5000, 2)),
        network={"mentee": "balanced"},
        control={"motion": "morph"},
        steps=3,
    )
    many = tc.simulate(given)
    monkeypatch.setitem(os.environ, "TRICOVER_THREADS", "1")
    np.testing.assert_array_equal(tc.simulate(given).positions, many.positions)


def test_a_start_inside_the_triangles_is_fine():
    start = SQUARE + np.array([[0, 0], [0, 0], [0, 0], [0, 0], [0.2, 0.1], [0.3, -0.2], [0.1, 0.3]])
    run = tc.simulate(_started(start))
    assert faults(run) == []
    assert run.converged


def _started(start, **settings):
    given = square(**settings)
    return given.replace(formation={"positions": SQUARE, "start": start})


@pytest.mark.parametrize(
    ("agent", "place", "named"),
    [
        (5, [6.0, 4.0], "not agent 5:"),
        (6, [4.0, 6.0], "not agent 6:"),
        (4, [9.0, 4.0], "not agents 0, 1, 2, 3 and 4:"),
        (5, [8.0, 8.0], "agents 2 and 5 stand at the same point"),
    ],
)
def test_a_start_outside_is_refused_with_the_remedy(agent, place, named):
    start = SQUARE.copy()
    start[agent] = place
    with pytest.raises(FormationError, match=named) as caught:
        Mission.of(_started(start))
    assert "formation.assign = true" in str(caught.value) or "move or drop one" in str(caught.value)
    given = _started(start).replace(formation={"positions": SQUARE, "start": start, "assign": True})
    assert len(Mission.of(given).epochs) == 1


def test_boundaries_that_go_around_twice_are_refused():
    angles = np.arange(5) * 2 * np.pi / 5
    corners = np.column_stack([np.cos(angles), np.sin(angles)])
    places = np.concatenate([corners, [[0.0, 0.0]]])
    start = np.concatenate([corners[[0, 2, 4, 1, 3]], [[0.0, 0.0]]])
    given = tc.Scenario(
        formation={"positions": places, "start": start}, targets=[[0.1, 0.1]], control={"motion": "morph"}
    )
    with pytest.raises(FormationError, match="agents 0, 1, 2, 3, 4 and 5"):
        Mission.of(given)


def test_anchors_go_straight_and_no_faster_than_half_the_speed():
    network = tc.build_network(SQUARE)
    places = SQUARE[network.anchors] * 0.5 + 3.0
    mission = Mission.of(square(anchors=places))
    paths = mission.epochs[0].told.paths
    limit = limits_of(network, 1.0)[0]
    assert limit == pytest.approx(0.5, rel=1e-9)
    np.testing.assert_array_equal(paths[0], SQUARE[network.anchors])  # in the first step they wait
    np.testing.assert_array_equal(paths[-1], places)
    gone = np.linalg.norm(np.diff(paths, axis=0), axis=2)
    assert gone.max() <= limit
    longest = np.linalg.norm(places - SQUARE[network.anchors], axis=1).max()
    assert len(paths) == 1 + np.ceil(longest / limit)
    np.testing.assert_allclose(
        np.diff(paths, axis=0), np.broadcast_to(paths[2] - paths[1], np.diff(paths, axis=0).shape)
    )


def test_paths_are_gone_along_place_by_place():
    network = tc.build_network(SQUARE)
    start = SQUARE[network.anchors]
    given = np.array([start + 0.4, start + 0.4, start + np.array([0.4, 3.4]), start * 0.9 + 2.0])
    run = tc.simulate(square(anchors=given, stop_when_settled=False, steps=40))
    told = run.epochs[0].told.paths
    for place in given:
        assert any(np.array_equal(row, place) for row in told)
    np.testing.assert_array_equal(run.positions[-1][network.anchors], given[-1])
    assert faults(run) == []


def test_after_an_event_anchors_go_on_to_the_places_ahead():
    """They do not go back to those that they have passed, and one without a place stays where it stands."""
    network = tc.build_network(SQUARE)
    start = SQUARE[network.anchors]
    given = np.array([start + 1.0, start + 2.0, start + np.array([2.0, 5.0])])
    events = {"leave": [{"step": 6, "agents": [6]}], "join": [{"step": 6, "reference": [[5.0, -3.0]]}]}
    run = tc.simulate(square(anchors=given, events=events, stop_when_settled=False, steps=60))
    assert faults(run) == []
    after = run.epochs[1].network
    assert 7 in after.boundary
    np.testing.assert_array_equal(run.positions[-1][7], [5.0, -3.0])
    np.testing.assert_array_equal(run.positions[-1][network.anchors], given[-1])
    heights = run.positions[6:, 0]
    assert (np.diff(heights, axis=0) >= -1e-12).all()  # never back
    assert np.linalg.norm(heights - given[1, 0], axis=1).min() < 1e-9  # but through the one ahead


@pytest.mark.parametrize(
    ("anchors", "said"),
    [
        (lambda at: np.where(np.arange(5)[:, None] == 4, [9.0, 4.0], at), r"agents 1 and 2 .* after 80\.0% of leg 1"),
        (lambda at: np.where(np.arange(5)[:, None] == 4, [8.0, 4.0], at), r"agents 1 and 2 .* after 100\.0% of leg 1"),
        (lambda at: at[[2, 3, 0, 1, 4]], r"after 50\.0% of leg 1"),
        (lambda at: np.array([at, at + 1.0, at[[2, 3, 0, 1, 4]]]), "leg 3"),
    ],
)
def test_ways_on_which_nobody_could_be_nested_are_refused(anchors, said):
    network = tc.build_network(SQUARE)
    places = anchors(SQUARE[network.anchors])
    with pytest.raises(InputError, match=said) as caught:
        Mission.of(square(anchors=places))
    assert "anchors.paths" in str(caught.value)
    assert f"agent {network.core}" in str(caught.value)


def test_a_quarter_turn_shrinks_a_square_on_the_way_and_that_is_all():
    places = SQUARE[tc.build_network(SQUARE).anchors]
    run = tc.simulate(square(anchors=places[[1, 2, 3, 0, 4]]))
    assert faults(run) == []
    assert run.converged


def test_places_that_an_event_makes_impossible_are_refused_with_the_step():
    network = tc.build_network(SQUARE)
    places = SQUARE[network.anchors] + [12.0, 0.0]
    events = {"join": [{"step": 3, "reference": [[4.0, 12.0], [-1.0, 4.0]]}]}
    with pytest.raises(InputError, match=r"events at step 3: .*anchors"):
        Mission.of(square(anchors=places, events=events))


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ({"leave": [{"step": 2, "agents": [99]}]}, "events at step 2: there is no agent 99"),
        (
            {"leave": [{"step": 2, "agents": [5]}, {"step": 3, "agents": [5]}]},
            "events at step 3: already lost: agent 5",
        ),
        (
            {"join": [{"step": 2, "reference": [[0.0, 0.0]]}]},
            "events at step 2: agents 0 and 7 stand at the same point",
        ),
        ({"leave": [{"step": 2, "agents": [4, 5, 6]}]}, "events at step 2: there is no interior agent"),
    ],
)
def test_events_that_cannot_be_are_refused(events, said):
    with pytest.raises(InputError, match=said):
        Mission.of(square(events=events))


def test_events_at_the_start_and_after_the_end():
    run = tc.simulate(square(events={"leave": [{"step": 0, "agents": [6]}]}))
    assert run.converged
    assert run.network.lost.tolist() == [6]
    late = tc.simulate(square(events={"leave": [{"step": 2**52, "agents": [6]}]}, steps=20, stop_when_settled=False))
    assert not late.network.lost.size
    plain = tc.simulate(square(steps=20, stop_when_settled=False))
    np.testing.assert_array_equal(late.positions, plain.positions)


def test_vehicles_with_errors_do_not_change_the_plan():
    """The plan of quadrotors is that of exact vehicles, to the bit: weights tell."""
    given = square(steps=8, stop_when_settled=False)
    exact = tc.simulate(given)
    flown = tc.simulate(given.replace(vehicle={"kind": "quadrotor", "duration": 2.0}))
    followers = flown.network.followers
    np.testing.assert_allclose(flown.weights[:, followers], exact.weights[:, followers], atol=1e-9)
    assert not np.array_equal(flown.positions, exact.positions)
    assert flown.misses.max() > 0


def test_speed_is_a_tenth_of_the_extent_where_none_is_given():
    run = tc.simulate(square(control={"motion": "morph"}))
    gone = np.linalg.norm(np.diff(run.positions, axis=0), axis=2)
    assert 0.3 < gone.max() <= 0.8


def test_a_way_that_takes_for_ever_is_refused():
    with pytest.raises(tc.TricoverError, match=r"a way of .* steps for 5 anchors"):
        Mission.of(square(anchors=SQUARE[:5] * 0.5 + 1, control={"motion": "morph", "speed": 1e-12}))


def test_a_team_without_followers_morphs_too():
    team = SQUARE[:5]
    run = tc.simulate(
        tc.Scenario(reference=team, targets=[[1.0, 1.0]], anchors=team * 0.5 + 1, control={"motion": "morph"})
    )
    assert run.converged
    np.testing.assert_array_equal(run.positions[-1], team * 0.5 + 1)


def test_after_a_launch_and_a_loss_anchors_set_out_at_once():
    """Ways of anchors count from the end of the launch: after an event, too, nobody waits for so many steps more."""
    rng = np.random.default_rng(5)
    team = np.vstack([[[0, 0], [40, 0], [40, 40], [0, 40]], rng.uniform(5, 35, (16, 2))])
    network = tc.build_network(team)
    pads = np.stack(np.meshgrid(np.arange(5.0), np.arange(4.0)), -1).reshape(-1, 2) * 3 - [60, 0]
    given = tc.Scenario(
        formation={"positions": team, "start": pads, "assign": True},
        targets=rng.uniform(5, 35, (60, 2)),
        anchors=team[network.anchors] * 1.5,
        control={"motion": "morph", "speed": 4.0},
        events={"leave": [{"step": 30, "agents": [int(network.followers[0])]}]},
        steps=200,
    )
    run = tc.simulate(given)
    launch = run.mission.launch
    assert 20 < launch < 30
    moved = np.linalg.norm(np.diff(run.positions[:, network.anchors], axis=0), axis=2).max(axis=1)
    assert moved[29] > 0
    assert moved[30] == 0 < moved[31]  # they wait for the first step of the new network, and go on
    assert run.converged
    assert tc.certify(run).holds
