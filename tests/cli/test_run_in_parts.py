"""``tricover run --in-parts``: the same run, part by part, and one clear line for what cannot be."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import tricover as tc
from tricover.cli.main import app
from tricover.studies import cluster

RUNNER = CliRunner()


@pytest.fixture
def team(tmp_path):
    given = tc.Scenario(name="team", reference=np.random.default_rng(1).random((120, 2)), targets=[[0.3, 0.4]])
    given.save(tmp_path / "team.toml")
    return tmp_path / "team.toml"


def run(team, *options):
    return RUNNER.invoke(app, ["run", str(team), *options])


def test_in_parts(team, tmp_path):
    done = run(team, "-o", str(tmp_path / "run"), "--in-parts", "--agents-per-part", "20")
    assert done.exit_code == 0
    assert "120" in done.output
    assert "settled" in done.output
    whole = tc.simulate(tc.Scenario.load(team))
    np.testing.assert_array_equal(tc.Run.open(tmp_path / "run").positions, whole.positions)
    again = run(team, "-o", str(tmp_path / "run"), "--in-parts", "--agents-per-part", "20", "--json")
    facts = json.loads(again.output)
    assert (facts["settled_at"], facts["converged"], facts["steps"]) == (whole.settled_at, True, whole.steps)
    assert facts["parts"] == len(list((tmp_path / "run" / "stages" / "0").iterdir())) - 1
    assert f"{facts['parts']} below the top" in done.output


def test_in_one_piece_where_nothing_can_be_cut(tmp_path):
    given = tc.Scenario(
        reference=np.random.default_rng(1).random((60, 2)), targets=[[0.3, 0.4]], control={"goal": "cellplan"}
    )
    given.save(tmp_path / "team.toml")
    done = run(tmp_path / "team.toml", "-o", str(tmp_path / "run"), "--in-parts")
    assert "one piece" in done.output
    np.testing.assert_array_equal(tc.Run.open(tmp_path / "run").positions, tc.simulate(given).positions)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--in-parts"], "--in-parts goes with --output"),
        (["--in-parts", "-o", "x", "--resume"], "leave --resume and --overwrite out"),
        (["--in-parts", "-o", "x", "--workers", "2", "--scheduler", "a"], "leave one of them out"),
        (["--workers", "2"], "--workers goes with --in-parts"),
        (["--in-parts", "-o", "x", "--scheduler", "127.0.0.1:9"], "no scheduler at 127.0.0.1:9"),
    ],
)
def test_what_does_not_go_together(team, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cluster, "ANSWER", 0.5)  # nobody is there in any case
    failed = run(team, *options)
    assert message in str(failed.exception)
    assert not (tmp_path / "x").exists()
