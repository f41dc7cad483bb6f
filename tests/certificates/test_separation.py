"""The claim of separation: it holds and fails by a hair, between steps too, and about those who take part only."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import tricover as tc
from tests.certificates.flights import flight, roster, team
from tricover.certificates import Settings, log_of, log_of_run
from tricover.cli.main import app
from tricover.errors import InputError

SQUARE = np.array([[0, 0], [40, 0], [40, 40], [0, 40], [20, 20], [10, 20], [30, 20]], float)
LEFT, RIGHT = 5, 6  # the followers
S = 2.0


def passing(distance, steps=4):
    """Two followers change places in the step from 1 to 2, along lines that are so far apart; all others stand."""
    positions = np.repeat(SQUARE[None], steps + 1, axis=0)
    positions[:, 4] = [20, 35]
    for agent, (x, y) in {LEFT: (10, 20), RIGHT: (30, 20 + distance)}.items():
        positions[:2, agent] = x, y
        positions[2:, agent] = 40 - x, y
    return positions


def judged(positions, network=None, **more):
    found = tc.certify(log_of(positions, network or tc.build_network(SQUARE), **more), separation=S)
    return found["separation"]


def test_a_hair_more_holds_and_a_hair_less_fails():
    claim = judged(passing(S + 1e-3))
    assert claim.verdict == "holds"
    assert claim.figures["least_distance"] == pytest.approx(S + 1e-3, rel=1e-12)
    assert (claim.figures["agent"], claim.figures["other"], claim.figures["step"]) == (LEFT, RIGHT, 1)
    assert "agents 5 and 6, step 1" in claim.summary
    claim = judged(passing(S - 1e-3))
    assert claim.verdict == "fails"
    [fault] = claim.faults
    assert (fault.agent, fault.step) == (LEFT, 1)
    assert fault.amount == pytest.approx(1e-3, rel=1e-9)
    assert fault.reason == "came within 2 m of agent 6"
    assert claim.figures["faults"] == 1
    assert claim.figures["worst"] == pytest.approx(1e-3, rel=1e-9)


def test_only_this_claim_fails_and_takes_the_certificate_along():
    """A team that lands where it must, with two followers on one point: all theorems hold."""
    network, positions = team(0, steps=8, least=1 / 3)
    good = tc.certify(log_of(positions, network))
    assert good.holds
    assert good["separation"].verdict == "does not apply"
    least = tc.separation(positions).distance
    assert tc.certify(log_of(positions, network), separation=0.99 * least).holds
    found = tc.certify(log_of(positions, network), separation=1.01 * least)
    assert [claim.key for claim in found if claim.verdict == "fails"] == ["separation"]
    assert not found.holds


def test_exactly_that_far_is_far_enough_up_to_rounding():
    assert judged(passing(S)).verdict == "holds"
    for shift in (0.1, 1e9, -3e7 / 7):
        moved = passing(S) + shift
        assert judged(moved).verdict == "holds", shift
        assert judged(passing(S - 1e-5) + shift).verdict == "fails", shift


def test_what_rounding_takes_away_is_not_missing():
    """Two metres, moved by a fraction of one, are less than two in the last bit."""
    shifts = np.arange(1, 1000) / 7
    [shift, *_] = [shift for shift in shifts if (22 + shift) - (20 + shift) < S]
    claim = judged(passing(S) + shift)
    assert claim.figures["least_distance"] < S
    assert claim.verdict == "holds"


def test_passing_between_the_steps_only():
    """At all steps they are 20 m apart."""
    positions = passing(0.5)
    assert np.linalg.norm(positions[:, LEFT] - positions[:, RIGHT], axis=1).min() > 19
    [fault] = judged(positions).faults
    assert (fault.agent, fault.step, fault.amount) == (LEFT, 1, 1.5)


def test_who_does_not_take_part_does_not_count():
    network = tc.build_network(SQUARE)
    without = network.without([RIGHT])
    positions = passing(0.5)
    assert judged(positions, without).verdict == "holds"
    assert judged(positions, [(0, network), (1, without)]).verdict == "holds"
    assert judged(positions, [(0, network), (2, without)]).verdict == "fails"  # it passed, and was lost then
    lost = positions.copy()
    lost[2:, RIGHT] = np.nan
    assert judged(lost, [(0, network), (1, without)], settings=Settings()).verdict == "holds"
    smaller = tc.build_network(SQUARE[:RIGHT])  # a log may know more agents than its network
    assert judged(positions, smaller).verdict == "holds"


def test_who_joins_counts_from_then_on():
    before = tc.build_network(SQUARE[:RIGHT])
    joined = before.with_agents(SQUARE[RIGHT:])
    positions = passing(30.0)
    positions[:, RIGHT] = positions[:, LEFT] + 0.1
    claim = judged(positions, [(0, before), (3, joined)])
    assert [(fault.agent, fault.step) for fault in claim.faults] == [(LEFT, 3)]


def test_every_pair_once_where_it_is_closest_the_first_twenty_in_full():
    network = tc.build_network(roster(0, 40))
    positions = flight(network, 6, 1)
    wanted = 0.2
    claim = tc.certify(log_of(positions, network), separation=wanted)["separation"]
    found = tc.separation(positions, wanted)
    assert claim.figures["faults"] == len(found.below) > 20
    assert len(claim.faults) == 20
    order = np.lexsort((found.below[:, 1], found.below[:, 0], found.steps))[:20]
    assert [(fault.agent, fault.step) for fault in claim.faults] == [
        (found.below[pair, 0], found.steps[pair]) for pair in order
    ]
    assert [fault.amount for fault in claim.faults] == [wanted - found.distances[pair] for pair in order]


def test_too_many_pairs_to_list_fail_all_the_same(monkeypatch):
    monkeypatch.setattr("tricover.certificates.separation._MOST", 100)
    network = tc.build_network(roster(0, 40))
    positions = flight(network, 6, 1)
    claim = tc.certify(log_of(positions, network), separation=0.5)["separation"]
    found = tc.separation(positions)
    assert claim.verdict == "fails"
    assert claim.summary.startswith("Closer than 0.5 m: more than 100 pairs; the closest")
    [fault] = claim.faults
    assert (fault.agent, fault.step, fault.amount) == (found.agents[0], found.step, 0.5 - found.distance)
    assert claim.figures["faults"] == 100


def test_a_run_whose_scenario_asks_for_it():
    rng = np.random.default_rng(3)
    made = tc.Scenario(reference=rng.random((20, 2)) * 50, targets=rng.random((400, 2)) * 50)
    run = tc.simulate(made)
    least = run.separation.distance
    assert tc.certify(run)["separation"].summary == "No separation was asked for."
    assert tc.certify(run)["separation"].figures == {}
    for share, verdict in ((0.99, "holds"), (1.01, "fails")):
        log = log_of_run(run)
        asked = replace(log, settings=replace(log.settings, separation=share * least))
        assert tc.certify(asked)["separation"].verdict == verdict
        assert tc.certify(run, separation=share * least)["separation"].verdict == verdict


def test_nothing_is_measured_where_nobody_asked(monkeypatch):
    monkeypatch.setattr("tricover.certificates.separation.Watch", None)
    assert judged_without(passing(S)).verdict == "does not apply"


def judged_without(positions):
    return tc.certify(log_of(positions, tc.build_network(SQUARE)))["separation"]


def test_vehicles_that_may_fly_otherwise_are_told_of():
    """Known to land where they should, or not."""
    network, straight = tc.build_network(SQUARE), "Ways between recorded positions count as straight."
    for ideal, told in ((False, True), (True, False), (np.arange(7) > 0, True)):
        log = log_of(passing(3.0), network, settings=Settings(ideal=ideal))
        assert (straight in tc.certify(log, separation=S)["separation"].summary) == told
        assert (straight in tc.certify(log, separation=9.0)["separation"].summary) == told


def test_without_steps_there_is_nothing_to_claim():
    claim = judged(passing(S)[:1])
    assert claim.verdict == "does not apply"
    assert claim.figures == {"separation": S}


def test_before_a_run_it_is_said_that_nothing_has_moved():
    made = tc.Scenario(reference=SQUARE, targets=[[9, 9]])
    assert "separation" not in [claim.key for claim in tc.certify(made)]
    claim = tc.certify(made.replace(safety={"separation": 1.5}))["separation"]
    assert claim.verdict == "does not apply"
    assert claim.summary == "1.5 m are asked for, and nothing has moved yet: certify the run."
    leaving = made.replace(safety={"separation": 1.5}, events={"leave": [{"step": 2, "agents": [4]}]})
    assert tc.certify(leaving)["separation"].figures == {"separation": 1.5}
    with pytest.raises(InputError, match="separation are about a run"):
        tc.certify(made, separation=1.0)


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.nan, np.inf])
def test_what_cannot_be_asked_for(wrong):
    with pytest.raises(InputError, match="separation must be a positive number of metres, not"):
        tc.certify(log_of(passing(S), tc.build_network(SQUARE)), separation=wrong)


@pytest.mark.parametrize(("wanted", "code"), [(1.99, 0), (2.01, 1)])
def test_flight_logs_from_the_shell(tmp_path, wanted, code):
    network, positions = team(0, steps=6, least=1 / 3)
    positions = positions * (S / tc.separation(positions).distance)
    lines = [f"{t},{i},{x!r},{y!r}" for t, rows in enumerate(positions.tolist()) for i, (x, y) in enumerate(rows)]
    (tmp_path / "log.csv").write_text("\n".join(["time,agent,x,y", *lines]))
    (tmp_path / "network.json").write_text(network.to_json())
    arguments = ["certify", tmp_path / "log.csv", "--network", tmp_path / "network.json", "--json"]
    arguments = [str(argument) for argument in arguments]
    result = CliRunner().invoke(app, [*arguments, "--separation", str(wanted)], catch_exceptions=False)
    assert result.exit_code == code
    claim = json.loads(result.stdout)["claims"][-1]
    assert claim["key"] == "separation"
    assert claim["figures"]["least_distance"] == pytest.approx(S)
    assert claim["verdict"] == ("fails" if code else "holds")
    assert json.loads(CliRunner().invoke(app, arguments).stdout)["claims"][-1]["verdict"] == "does not apply"
