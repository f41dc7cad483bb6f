"""``tricover fleet keys``, as a user meets it."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import tricover as tc
from tricover.cli.fleet_keys import keys
from tricover.cli.places import guarded
from tricover.errors import InputError
from tricover.fleet.keys import Keys
from tricover.simulation import Mission

PADS = Path(__file__).parents[2] / "examples" / "from-pads.toml"
TEAM = [[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2], [3, 2.5]]
app = typer.Typer()
app.command()(guarded(keys))


def make(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(result.exception, InputError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


def test_keys_are_made_and_it_says_what_to_do_with_them(tmp_path):
    said = make(tmp_path / "k", "--agents", 2, "--host", "base.lan")
    assert "agent-0, agent-1, operator, recorder and router" in said.stdout
    assert "localhost and base.lan" in said.stdout
    assert f"keep {tmp_path / 'k' / 'authority'} to yourself" in said.stderr
    assert "roster" not in said.stderr
    assert Keys.load(tmp_path / "k" / "agent-1").name == "agent-1"
    assert (
        f"need the new {tmp_path / 'k' / 'authority' / 'roster.json'}" in make(tmp_path / "k", "-n", 1, "--more").stderr
    )
    assert Keys.load(tmp_path / "k" / "agent-2").name == "agent-2"


def test_json_is_one_document_and_quiet_is_quiet(tmp_path):
    said = make(tmp_path / "k", "-n", 1, "--host", "10.0.0.5", "--days", 7, "--json")
    facts = {"folder": str(tmp_path / "k"), "names": ["agent-0", "operator", "recorder", "router"]}
    assert json.loads(said.stdout) == {**facts, "hosts": ["10.0.0.5"], "days": 7}
    assert said.stderr == ""
    assert make(tmp_path / "k", "-n", 1, "--more", "--quiet").output == ""


def test_a_scenario_says_how_many_agents_there_are(tmp_path):
    joining = {"join": [{"step": 5, "reference": [[1.5, 1.0]]}]}
    scenario = tc.Scenario(reference=TEAM, targets=[[1, 1], [2, 3]], events=joining)
    scenario.save(tmp_path / "mine.toml")
    made = json.loads(make(tmp_path / "k", "--scenario", tmp_path / "mine.toml", "--json").stdout)
    assert len(made["names"]) - 3 == Mission.of(scenario).agents == len(TEAM) + 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give either --agents N or --scenario FILE"),
        (["--agents", 1, "--scenario", PADS], "give either --agents N or --scenario FILE"),
        (["--more", "--scenario", PADS], "--more goes with --agents"),
        (["--agents", 1, "--host", "a b"], "'a b' is no host name or address"),
        (["--agents", 1, "--more"], "cannot read"),
    ],
)
def test_what_is_missing_is_said(arguments, message, tmp_path):
    with pytest.raises(InputError, match=message):
        make(tmp_path / "k", *arguments)
    assert not any(tmp_path.iterdir())
