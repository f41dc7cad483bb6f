"""The example trains a rule that is then simulated, certified and stored as any other."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import tricover as tc
from tricover.rl import VectorTeam

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def example(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.chdir(tmp_path)
    yield importlib.import_module("train_a_goal")
    sys.modules.pop("train_a_goal", None)


def test_it_starts_from_the_papers_rule(example):
    ones = example.teams(4, seed=3)
    mine = example.costs(VectorTeam(ones, parts=example.PARTS), example.CENTROID)
    np.testing.assert_allclose(mine, [example.cost_of(one) for one in ones], rtol=1e-2)


def test_it_learns(example):
    """On the teams that it has seen, which is what it can promise."""
    team = VectorTeam(example.teams(6, seed=1), parts=example.PARTS)
    theta = example.train(team, rounds=12)
    np.testing.assert_array_equal(theta, example.train(team, rounds=12))
    before, after = example.costs(team, example.CENTROID), example.costs(team, theta)
    assert np.log(after / before).mean() < -0.01


def test_what_it_has_learned_is_a_rule_like_any_other(example, capsys):
    example.main(["--rounds", "2", "--teams", "2"])
    printed = capsys.readouterr().out
    assert "train_a_goal:trained" in printed
    scenario = tc.Scenario.load("trained.toml")
    run = tc.simulate(scenario, "trained.zarr")
    assert tc.certify(run).holds
    assert tc.Run.open("trained.zarr").scenario.control.goal == "train_a_goal:trained"
