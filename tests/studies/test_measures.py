"""Measures by name, beside what the package says of the same run elsewhere."""

import numpy as np
import pytest

import tricover as tc
from tests.studies.small import scenario
from tricover.coverage import measure_coverage
from tricover.studies import MEASURES, sweep
from tricover.studies.measures import Done

LOSSY = {"events": {"leave": [{"step": 4, "agents": [2]}]}, "seed": 3}


@pytest.fixture(scope="module")
def run():
    return tc.simulate(scenario(**LOSSY))


def of(run, name):
    return MEASURES[name].of(Done(run, 0.5))


def test_coverage_is_of_those_who_take_part(run):
    left = np.delete(run.positions[-1], 2, axis=0)
    cost = tc.coverage_cost(left, run.targets)
    assert of(run, "coverage_cost") == cost != tc.coverage_cost(run.positions[-1], run.targets)
    best = tc.lloyd(run.positions[0], run.targets, tolerance=1e-6).cost
    assert of(run, "over_lloyd") == pytest.approx(cost / best)
    assert of(run, "idle") == measure_coverage(run.positions[-1], run.targets, network=run.network).idle
    assert (of(run, "agents"), of(run, "targets"), of(run, "seconds")) == (9, 40, 0.5)


def test_messages_are_three_for_each_follower_of_its_time(run):
    before, after = (len(run.network_at(step).followers) for step in (0, 5))
    assert of(run, "messages") == pytest.approx((4 * 3 * before + 8 * 3 * after) / (4 * 10 + 8 * 9))


def test_certificate_error_and_numbers(run):
    assert of(run, "certificate") == tc.certify(run).holds
    assert of(run, "largest_error") == run.largest_error
    assert of(run, "numbers") is None
    seeing = tc.simulate(scenario(world={"sight": 3.0}, steps=5))
    assert of(seeing, "numbers") == seeing.summary()["numbers"]


def test_every_measure_can_be_asked_for():
    table = sweep(scenario(), {"seed": [0]}, list(MEASURES))
    assert list(table) == ["seed", *MEASURES, "error"]
    assert table["error"].isna().all()


def test_coverage_without_targets_is_missing_and_said():
    gone = {"targets": {"positions": [[1, 1]], "active": [[0, 2]]}}
    table = sweep(tc.Scenario(**{**scenario().values(), **gone}), {"seed": [0]}, ["steps", "coverage_cost"])
    assert table["steps"].tolist() == [12]
    assert table["coverage_cost"].isna().all()
    assert "there are no targets" in table["error"][0]
