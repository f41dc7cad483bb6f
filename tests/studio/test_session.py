"""A session without a page: it edits, runs, goes on after changes, looks inside and brings back what was."""

import json

import numpy as np
import pytest

import tricover as tc
from tests.studio.teams import blocks, do, session, shown_network, shown_positions, team, texts
from tricover.errors import InputError
from tricover.studio import Session


@pytest.fixture
def studio(tmp_path):
    return session(tmp_path)


def state(messages):
    return texts(messages, "state")[-1]


def test_a_new_page_is_told_everything(studio):
    told = studio.everything()
    network = tc.build_network(team().reference)
    heard, layer = shown_network(told)
    np.testing.assert_array_equal(heard, network.in_neighbors)
    np.testing.assert_array_equal(layer, network.layer)
    np.testing.assert_allclose(shown_positions(told, state(told)["corner"]), team().reference, atol=1e-5)
    (_, _, count, numbers) = blocks(told, 3)[0]
    np.testing.assert_allclose(numbers.reshape(count, 3)[:, :2], team().targets.positions, atol=1e-5)
    assert {control["key"] for control in texts(told, "controls")[0]["controls"]} >= {"control.goal", "world.loss"}
    assert state(told)["variants"][0]["boundary"] == network.boundary.tolist()


def test_play_goes_through_the_steps_of_the_run_and_ends(studio):
    run = tc.simulate(team())
    do(studio, "play")
    for step in range(1, run.steps + 1):
        told = studio.tick()
        assert state(told)["step"] == step
        np.testing.assert_allclose(shown_positions(told), run.positions[step], atol=1e-5)
    assert studio.tick()
    assert not studio.playing
    assert studio.step == run.steps
    assert studio.tick() == []
    do(studio, "play")
    assert studio.step == 0, "played to the end, it begins anew"


def test_seek_scrubs_both_ways_and_stops_at_the_end(studio):
    run = tc.simulate(team())
    forward = do(studio, "seek", step=2).everybody
    np.testing.assert_allclose(shown_positions(forward), run.positions[2], atol=1e-5)
    back = do(studio, "seek", step=1).everybody
    np.testing.assert_allclose(shown_positions(back), run.positions[1], atol=1e-5)
    assert state(do(studio, "seek", step=10**6).everybody)["step"] == run.steps


def test_figures_are_those_of_the_run(studio):
    run = tc.simulate(team())
    told = texts(do(studio, "seek", step=run.steps).everybody, "figures")[0]["variants"][0]
    assert told["coverage"] == pytest.approx(tc.coverage_cost(run.positions[-1], run.targets))
    assert told["closest"] == pytest.approx(run.separation.distance)
    assert told["lloyd"] == pytest.approx(tc.lloyd(run.positions[0], run.targets, tolerance=1e-4).cost)
    assert (told["layers"], told["depth"]) == (run.network.depth + 1, run.network.depth)
    assert (told["missed"], told["oldest"]) == (0, None)


def test_figures_of_late_messages_and_of_misses(tmp_path):
    scenario = team(world={"loss": 0.3}, vehicle={"kind": "gusty", "chance": 0.5, "gust": [6, 0]}, seed=3)
    run = tc.simulate(scenario)
    studio = session(tmp_path, scenario)
    told = texts(do(studio, "seek", step=run.steps).everybody, "figures")[0]["variants"][0]
    assert told["oldest"] == run.ages.max() > 0
    assert told["missed"] == run.missed > 0


def test_while_an_agent_is_dragged_the_network_follows_and_nothing_changes(studio):
    place = [20.0, 31.0]
    told = do(studio, "drag", agent=5, place=place).everybody
    reference = team().reference.copy()
    reference[5] = place
    heard, layer = shown_network(told)
    np.testing.assert_array_equal(heard, tc.build_network(reference).in_neighbors)
    np.testing.assert_array_equal(layer, tc.build_network(reference).layer)
    np.testing.assert_allclose(shown_positions(told)[5], place)
    assert studio.variants[0].scenario == team()


def test_a_dropped_agent_has_another_reference_position_and_undo_brings_it_back(studio):
    do(studio, "drop", agent=5, place=[20.0, 31.0])
    assert studio.variants[0].scenario.reference[5].tolist() == [20, 31]
    do(studio, "undo")
    assert studio.variants[0].scenario.reference[5].tolist() == [10, 15]
    do(studio, "redo")
    assert studio.variants[0].scenario.reference[5].tolist() == [20, 31]
    with pytest.raises(InputError, match="nothing to bring back"):
        do(studio, "redo")


def test_a_new_change_forgets_what_was_undone(studio):
    do(studio, "drop", agent=5, place=[20.0, 31.0])
    do(studio, "undo")
    do(studio, "scatter", points=[[3, 3]])
    with pytest.raises(InputError, match="nothing"):
        do(studio, "redo")


def test_a_change_that_cannot_be_changes_nothing(studio):
    with pytest.raises(InputError, match=r"agents 0 and 5|agents 5 and 0|same point"):
        do(studio, "drop", agent=5, place=[0.0, 0.0])
    assert studio.variants[0].scenario == team()
    with pytest.raises(InputError, match=r"control\.gamma"):
        do(studio, "set", key="control.gamma", value=2)
    assert json.loads(studio.everything()[1])["undo"] == 0


def test_agents_come_and_go_in_the_formation(studio):
    do(studio, "place", place=[20, 35])
    assert len(studio.variants[0].scenario.reference) == 11
    do(studio, "delete", agents=[5, 6])
    left = studio.variants[0].scenario.reference.tolist()
    assert [10, 15] not in left
    assert [30, 12] not in left
    assert left[-1] == [20, 35]


def test_a_follower_that_is_pushed_in_flight_comes_back(studio):
    settled = tc.simulate(team())
    do(studio, "seek", step=settled.steps)
    told = do(studio, "drop", agent=9, place=[5.0, 5.0]).everybody
    assert shown_positions(told)[9].tolist() == [5, 5]
    assert state(told)["variants"][0]["by_hand"]
    after = do(studio, "seek", step=settled.steps + 20).everybody
    np.testing.assert_allclose(shown_positions(after), settled.positions[-1], atol=1e-5)
    with pytest.raises(InputError, match="by hand"):
        do(studio, "claims")
    with pytest.raises(InputError, match="by hand"):
        do(studio, "link")


def test_an_anchor_that_is_dragged_in_flight_is_sent_there_and_all_follow(studio):
    do(studio, "seek", step=2)
    do(studio, "drop", agent=0, place=[-10.0, -10.0])
    end = shown_positions(do(studio, "seek", step=60).everybody, state(studio.everything())["corner"])
    assert end[0].tolist() == pytest.approx([-10, -10])
    sent = tc.simulate(team(anchors=[[-10, -10], [40, 0], [40, 40], [0, 40], [20, 20]]))
    np.testing.assert_allclose(end, sent.positions[-1], atol=1e-4)


def test_who_is_deleted_in_flight_is_lost_and_the_network_repaired(studio):
    do(studio, "seek", step=2)
    told = do(studio, "delete", agents=[6]).everybody
    heard, layer = shown_network(told)
    repaired = tc.build_network(team().reference).without([6])
    assert layer[6] == -1
    np.testing.assert_array_equal(heard, repaired.in_neighbors)
    lost = tc.simulate(team(events={"leave": [{"step": 2, "agents": [6]}]}))
    end = do(studio, "seek", step=60).everybody
    np.testing.assert_allclose(shown_positions(end), lost.positions[-1], atol=1e-5)


def test_who_is_placed_in_flight_joins_where_it_was_placed(studio):
    do(studio, "seek", step=2)
    told = do(studio, "place", place=[22, 30]).everybody
    assert shown_positions(told)[-1].tolist() == [22, 30]
    assert len(shown_positions(told)) == 11
    assert len(shown_positions(do(studio, "seek", step=1).everybody)) == 10
    assert state(do(studio, "seek", step=60).everybody)["variants"][0]["agents"] == 11
    do(studio, "seek", step=2)
    with pytest.raises(InputError, match="join inside the team"):
        do(studio, "place", place=[400, 400])


def test_targets_are_scattered_with_weights_and_erased(studio):
    do(studio, "scatter", points=[[1, 1], [2, 2]], weight=4)
    scenario = studio.variants[0].scenario
    assert scenario.targets.weights.tolist() == [1] * 60 + [4, 4]
    do(studio, "erase", centre=[1, 1], radius=1)
    assert studio.variants[0].scenario.targets.positions[-1].tolist() == [2, 2]
    with pytest.raises(InputError, match="needs a target"):
        do(studio, "erase", centre=[20, 20], radius=1000)


def test_targets_that_change_in_flight_change_where_the_team_settles(studio):
    do(studio, "seek", step=2)
    extra = [[float(x), 2.0] for x in range(2, 38)]
    do(studio, "scatter", points=extra)
    targets = np.vstack([team().targets.positions, extra])
    end = shown_positions(do(studio, "seek", step=60).everybody)
    changed = tc.simulate(team().replace(targets=targets))
    np.testing.assert_allclose(end, changed.positions[-1], atol=1e-4)


def test_zones_are_drawn_and_taken_away(studio):
    do(studio, "set", key="control.motion", value="walk")
    zone = [[18.0, 11.0], [22.0, 11.0], [22.0, 13.0]]
    told = do(studio, "fence", corners=zone).everybody
    assert state(told)["variants"][0]["zones"] == [zone]
    assert state(do(studio, "unfence", number=0).everybody)["variants"][0]["zones"] == []
    with pytest.raises(InputError, match="no zone 0"):
        do(studio, "unfence", number=0)


def test_two_variants_side_by_side_each_with_its_own_setting(studio):
    do(studio, "compare")
    do(studio, "set", key="control.motion", value="walk", variant=1)
    do(studio, "set", key="control.resolution", value=6, variant=1)
    told = do(studio, "seek", step=40).everybody
    reach, walk = tc.simulate(team()), tc.simulate(team(control={"motion": "walk", "resolution": 6}))
    (_, first, _, _), (_, second, _, _) = blocks(told, 1)
    assert (first, second) == (reach.steps, min(40, walk.steps)), "who has ended stays at its end"
    assert [facts["motion"] for facts in state(told)["variants"]] == ["reach", "walk"]
    do(studio, "single")
    assert len(studio.variants) == 1
    with pytest.raises(InputError, match="no second variant"):
        do(studio, "set", key="seed", value=1, variant=1)


def test_the_certificate_claim_by_claim(studio):
    run = tc.simulate(team())
    do(studio, "seek", step=run.steps)
    told = texts(do(studio, "claims").asker, "claims")[0]
    certificate = tc.certify(run)
    assert told["holds"] == certificate.holds
    assert [claim["title"] for claim in told["claims"]] == [claim.title for claim in certificate]
    assert [claim["verdict"] for claim in told["claims"]] == [claim.verdict for claim in certificate]
    leads = {claim["key"]: (claim["agent"], claim["step"]) for claim in told["claims"]}
    assert leads["theorem3"] == (None, run.settled_at)
    assert leads["structure"] == leads["evidence"] == (None, None), "they speak of all steps"


def test_a_claim_that_fails_names_an_agent_and_a_step(tmp_path):
    scenario = team(vehicle={"kind": "gusty", "chance": 0.6, "gust": [9, 0]}, seed=2)
    studio = session(tmp_path, scenario)
    do(studio, "seek", step=12)
    claims = texts(do(studio, "claims").asker, "claims")[0]["claims"]
    failed = [claim for claim in claims if claim["verdict"] == "fails"]
    assert failed
    for claim in failed:
        fault = claim["faults"][0]
        assert (claim["agent"], claim["step"]) == (fault["agent"], fault["step"])


def test_a_stored_run_is_shown_as_it_was_and_can_be_run_again(tmp_path):
    run = tc.simulate(team(), tmp_path / "run.zarr")
    studio = Session(tc.Run.open(tmp_path / "run.zarr"), tmp_path)
    told = do(studio, "seek", step=2).everybody
    np.testing.assert_allclose(shown_positions(told), run.positions[2], atol=1e-5)
    assert state(told)["variants"][0]["recorded"]
    with pytest.raises(InputError, match="run it again"):
        do(studio, "drop", agent=5, place=[20, 31])
    do(studio, "restart")
    do(studio, "drop", agent=5, place=[20, 31])
    assert studio.variants[0].scenario.reference[5].tolist() == [20, 31]


def test_what_names_code_is_not_taken_from_a_page(studio):
    with pytest.raises(InputError, match="names code"):
        do(studio, "set", key="control.goal", value="os:system")
    with pytest.raises(InputError, match="names code"):
        do(studio, "set", key="control.kernel", value={"slip": "os:system"})


def test_vehicles_that_fly_for_real_are_refused(studio):
    with pytest.raises(InputError, match="for real"):
        do(studio, "set", key="vehicle.kind", value="mavlink")
