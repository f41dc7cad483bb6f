"""Agents leave and join, anchors move: the network is repaired and the run goes on."""

import numpy as np
import pytest

import tricover as tc
from tests.simulation.teams import desired, scenario, team
from tricover.errors import FormationError, InputError


@pytest.mark.parametrize("motion", ["reach", "walk"])
@pytest.mark.parametrize("anchors", [None, "places", "fit"])
def test_losing_a_fifth_and_an_anchor_ends_at_the_desired_configuration_of_the_repaired_network(motion, anchors):
    for seed in (0, 1, 4):
        reference, targets = team(seed, agents=50, targets=300)
        network, rng = tc.build_network(reference), np.random.default_rng(seed)
        lost = [*rng.choice(network.followers, len(network.followers) // 5, replace=False), network.boundary[1]]
        places = reference[network.anchors] * 1.5 if anchors == "places" else anchors
        run = tc.simulate(
            tc.Scenario(
                reference=reference,
                targets=targets,
                anchors=places,
                control={"motion": motion, "resolution": 10},
                events={"leave": [{"step": 3, "agents": lost}]},
                steps=1000,
            )
        )
        living = np.setdiff1d(np.arange(50), lost)
        assert run.network == network.without(np.array(lost))
        assert run.converged
        np.testing.assert_array_equal(run.positions[-1, living], desired(run)[living])
        np.testing.assert_array_equal(run.present[2], np.ones(50, bool))
        np.testing.assert_array_equal(np.flatnonzero(run.present[3]), living)
        gone = np.array(lost)
        assert (run.positions[3:, gone] == run.positions[3, gone]).all()
        assert (run.states[3:, gone] == -2).all()
        assert (run.weights[3:, gone] == 0).all()
        assert [epoch.start for epoch in run.epochs] == [0, 3]
        assert run.network_at(2) == network
        if anchors is None:
            resolution = 10 if motion == "walk" else None
            default = tc.desired_configuration(run.network, tc.Targets(targets), resolution=resolution)
            np.testing.assert_array_equal(run.positions[-1, living], default[living])
        bound = run.network.depth * (1 if motion == "reach" else 19)
        assert run.settled_at <= 3 + 1 + bound


def test_an_agent_that_becomes_an_anchor_without_a_place_stays_where_it_stands():
    reference, targets = team(0, agents=40, targets=300)
    network = tc.build_network(reference)
    places = reference[network.anchors] * 2
    leave = {"step": 4, "agents": int(network.boundary[0])}
    run = tc.simulate(tc.Scenario(reference=reference, targets=targets, anchors=places, events={"leave": [leave]}))
    for place, agent in zip(run.anchors, run.network.anchors, strict=True):
        old = np.flatnonzero(network.anchors == agent)
        np.testing.assert_array_equal(place, places[old[0]] if old.size else run.positions[4, agent])
    assert set(run.network.anchors) - set(network.anchors)
    assert run.converged


def test_joining_agents_take_the_next_numbers():
    reference, targets = team(0, agents=20, targets=200)
    network = tc.build_network(reference)
    join = [
        {"step": 9, "reference": [[0.3, 0.31]]},
        {"step": 2, "reference": [[0.5, 0.52], [1.5, 0.5]], "positions": [[0.1, 0.1], [1.4, 0.4]]},
    ]
    run = tc.simulate(tc.Scenario(reference=reference, targets=targets, events={"join": join}))
    assert run.positions.shape[1] == 23
    assert run.network == network.with_agents([[0.5, 0.52], [1.5, 0.5]]).with_agents([[0.3, 0.31]])
    np.testing.assert_array_equal(run.present.sum(axis=1)[[0, 1, 2, 8, 9]], [20, 20, 22, 22, 23])
    np.testing.assert_array_equal(run.positions[2, 20:22], [[0.1, 0.1], [1.4, 0.4]])
    assert 21 in run.network.boundary
    assert run.converged
    np.testing.assert_array_equal(run.positions[-1], desired(run))
    assert np.isfinite(run.positions).all()


def test_who_takes_part_is_told_to_the_end(tmp_path):
    reference, targets = team(0, agents=20, targets=200)
    events = {"leave": [{"step": 2, "agents": [3, 8]}], "join": [{"step": 4, "reference": [[0.4, 0.52]]}]}
    given = tc.Scenario(reference=reference, targets=targets, events=events)
    wanted = np.ones(21, bool)
    wanted[[3, 8]] = False
    for run in (tc.simulate(given), tc.simulate(given, tmp_path / "run.zarr"), tc.Run.open(tmp_path / "run.zarr")):
        np.testing.assert_array_equal(run.present[-1], wanted)
        np.testing.assert_array_equal(run.present.sum(axis=1), [20, 20, 18, 18] + [19] * (run.steps - 3))
        assert run.summary()["agents"] == 19
    np.testing.assert_array_equal(list(tc.steps(given))[-1].present, wanted)


def test_events_at_the_start_and_after_the_end():
    reference, targets = team(0, agents=20, targets=200)
    network = tc.build_network(reference)
    leave = [{"step": 0, "agents": network.followers[:2]}, {"step": 50, "agents": [network.core]}]
    given = tc.Scenario(reference=reference, targets=targets, events={"leave": leave}, steps=20)
    run = tc.simulate(given)
    assert run.steps == 20  # an event is pending, so nobody calls it settled and goes home
    assert run.network == network.without(network.followers[:2])
    assert run.present[0].sum() == 18
    assert run.converged


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ({"leave": [{"step": 1, "agents": 99}]}, "events at step 1: .*99.* numbered 0 to 19"),
        ({"leave": [{"step": 1, "agents": 3}, {"step": 2, "agents": 3}]}, "events at step 2: already lost: agent 3"),
        ({"join": [{"step": 1, "reference": [[0, 0], [0, 0]]}]}, "events at step 1: .*same point"),
    ],
)
def test_events_that_cannot_be_are_named(events, message):
    reference, targets = team(3, agents=20)
    with pytest.raises(InputError, match=message):
        tc.simulate(tc.Scenario(reference=reference, targets=targets, events=events))


def test_losing_too_many_is_named():
    with pytest.raises(FormationError, match="events at step 1: "):
        tc.simulate(
            tc.Scenario(
                reference=[[0, 0], [4, 0], [0, 4], [1, 1], [1, 2]],
                targets=[[1, 1]],
                events={"leave": [{"step": 1, "agents": [3, 4]}]},
            )
        )


def test_anchors_follow_paths():
    reference, targets = team(0, agents=20, targets=200)
    network = tc.build_network(reference)
    paths = reference[network.anchors] + np.linspace(0, 0.3, 12)[:, None, None]
    run = tc.simulate(tc.Scenario(reference=reference, targets=targets, anchors=paths))
    for step in range(run.steps):
        np.testing.assert_array_equal(run.positions[step + 1, network.anchors], paths[min(step, 11)])
    assert run.converged
    assert 11 < run.settled_at <= 12 + network.depth


def test_a_wrong_number_of_anchors_is_named():
    with pytest.raises(InputError, match=r"the network has 5 anchors \(4 boundary agents and the core\), but 3 places"):
        tc.simulate(
            tc.Scenario(
                reference=[[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]],
                targets=[[1, 1]],
                anchors=[[0, 0], [1, 0], [0, 1]],
            )
        )


def test_a_run_that_is_cut_where_agents_leave_and_join_has_those_of_its_last_step(tmp_path):
    """Those who would take part next are in no network of the run yet; the same in memory, stored and resumed."""
    events = {"leave": [{"step": 4, "agents": [3, 8]}], "join": [{"step": 4, "reference": [[0.4, 0.52]]}]}
    given = scenario(0, agents=30, control={"motion": "walk", "resolution": 8}, events=events)
    whole = tc.simulate(given)

    def stop(now):
        if now.step == 4:
            raise KeyboardInterrupt

    for store in (None, tmp_path / "run.zarr"):
        cut = tc.simulate(given, store, progress=stop)
        np.testing.assert_array_equal(cut.present[:-1], whole.present[:4])
        np.testing.assert_array_equal(cut.present[-1], whole.present[3])
        np.testing.assert_array_equal(cut.read("present", 4), whole.present[3:4])
        assert len(cut.network) == 30
    np.testing.assert_array_equal(tc.simulate(given, store, resume=True).present, whole.present)
    assert whole.present[4].sum() == 29
