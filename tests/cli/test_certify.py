"""``tricover certify``: what it prints, its exit codes, and what it says when it cannot."""

import json
from inspect import signature
from pathlib import Path

import numpy as np
import pytest
from tests.simulation.stores import overwrite
from typer.testing import CliRunner

import tricover as tc
from tricover.certificates.evidence import JITTER
from tricover.cli.certify import certify
from tricover.cli.main import app
from tricover.export import export_run

EXAMPLE = Path(__file__).parents[2] / "examples" / "from-pads.toml"


def run(*args):
    return CliRunner().invoke(app, ["certify", *map(str, args)], catch_exceptions=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A scenario, its run, the run as a table, and its network."""
    place = tmp_path_factory.mktemp("certify")
    rng = np.random.default_rng(4)
    made = tc.Scenario(
        name="team", reference=rng.random((15, 2)), targets=rng.random((40, 2)), steps=20, stop_when_settled=False
    )
    made.save(place / "team.toml")
    result = tc.simulate(made, place / "run")
    (place / "network.json").write_text(result.network.to_json())
    lines = [
        f"{t},{i},{x!r},{y!r}" for t, rows in enumerate(result.positions.tolist()) for i, (x, y) in enumerate(rows)
    ]
    (place / "log.csv").write_text("\n".join(["time,agent,x,y", *lines]))
    return place


def test_a_run(folder):
    result = run(folder / "run")
    assert result.exit_code == 0
    assert "Certificate of team (15 agents, 20 steps): holds" in result.stdout


def test_json_and_quiet(folder):
    document = json.loads(run(folder / "run", "--json").stdout)
    assert document["holds"]
    assert {claim["key"] for claim in document["claims"]} >= {"theorem1", "theorem2", "theorem3", "C1", "C2"}
    assert run(folder / "run", "--quiet").stdout == ""


def test_a_scenario_before_it_is_run(folder):
    result = run(folder / "team.toml", "--json")
    assert result.exit_code == 0
    claims = {claim["key"]: claim for claim in json.loads(result.stdout)["claims"]}
    assert claims["finite-time"]["figures"]["messages_per_step"] == 3 * len(
        tc.Network.from_json((folder / "network.json").read_text()).followers
    )


def test_a_table_with_its_network_and_scenario(folder):
    bare = json.loads(run(folder / "log.csv", "--network", folder / "network.json", "--json").stdout)
    verdicts = {claim["key"]: claim["verdict"] for claim in bare["claims"]}
    assert verdicts["theorem1"] == "holds"
    assert verdicts["theorem3"] == "does not apply"
    told = run(
        folder / "log.csv", "--network", f"0:{folder / 'network.json'}", "--scenario", folder / "team.toml", "--json"
    )
    whole = json.loads(run(folder / "run", "--json").stdout)
    assert json.loads(told.stdout)["claims"] == whole["claims"]


def test_exit_code_1_when_a_claim_fails(folder, tmp_path):
    made = tc.Scenario.load(folder / "team.toml")
    result = tc.simulate(made, tmp_path / "edited")
    agent = int(result.network.layers[-1][0])
    positions = result.positions.copy()
    positions[6, agent] = [7.0, 7.0]
    overwrite(tmp_path / "edited", "positions", positions)
    answer = run(tmp_path / "edited")
    assert answer.exit_code == 1
    assert f"agent {agent}, step 5: outside its triangle" in " ".join(answer.stdout.split())
    assert run(tmp_path / "edited", "--quiet").exit_code == 1


def test_anchors_that_come_late_and_sway(folder, tmp_path):
    network = tc.Network.from_json((folder / "network.json").read_text())
    anchor, lines = int(network.anchors[0]), (folder / "log.csv").read_text().splitlines()
    moved = tmp_path / "moved.csv"

    def shifted(line):
        time, agent, x, y = line.split(",")
        by = 0.3 if int(time) < 2 else 0.01 * (int(time) % 2)
        return ",".join([time, agent, repr(float(x) + by), y]) if int(agent) == anchor else line

    moved.write_text("\n".join([lines[0], *map(shifted, lines[1:])]))
    named = (moved, "--network", folder / "network.json", "--json")
    for options, verdict in (
        ((), "fails"),
        (("--arrived", 2), "fails"),
        (("--tolerance", 0.02), "fails"),
        (("--arrived", 2, "--tolerance", 0.02), "holds"),
    ):
        claims = {claim["key"]: claim["verdict"] for claim in json.loads(run(*named, *options).stdout)["claims"]}
        assert claims["anchors"] == verdict


def test_the_times_of_a_table(folder, tmp_path):
    lines = (folder / "log.csv").read_text().splitlines()
    gap = tmp_path / "gap.csv"
    gap.write_text("\n".join(line for line in lines if not line.startswith("7,")))
    answer = run(gap, "--network", folder / "network.json")
    assert answer.exit_code == 1
    said = " ".join(answer.stdout.split())
    assert "1 of 19 steps not 1 s long (the log's median, ± 10%)" in said
    assert "the worst takes 2 s, from time 6 on (step 6)" in said
    late = tmp_path / "late.csv"
    late.write_text("\n".join(["7.2" + line[1:] if line.startswith("7,") else line for line in lines]))
    assert run(late, "--network", folder / "network.json", "--quiet").exit_code == 1
    assert run(late, "--network", folder / "network.json", "--jitter", 0.25, "--quiet").exit_code == 0


def test_the_command_allows_the_jitter_of_the_library():
    assert signature(certify).parameters["jitter"].default == JITTER


def test_constants(folder):
    assert run(folder / "run", "--eta", 0.999, "--window", 1).exit_code == 1
    document = json.loads(run(folder / "run", "--window", 2, "--json").stdout)
    assert next(claim for claim in document["claims"] if claim["key"] == "C2")["figures"]["window"] == 2


@pytest.mark.parametrize("figure", ["contraction", "settling", "transition", "tube"])
def test_figures(folder, figure, tmp_path):
    path = tmp_path / "figure.png"
    result = run(folder / "run", "--figure", figure, "--plot", path, "--agent", 3)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert f"Wrote {path}" in result.stderr


def test_bad_input_is_one_line(complaint, folder, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "--network" in complaint("certify", folder / "log.csv")
    assert "belong to a log" in complaint("certify", folder / "run", "--network", folder / "network.json")
    assert "not the store of a run" in complaint("certify", tmp_path / "empty")
    assert "cannot read" in complaint("certify", tmp_path / "no.csv", "--network", folder / "network.json")
    for name in ("out", "no.csv", "no.toml", "no.zarr", "n" * 300):
        said = complaint("certify", tmp_path / name)
        assert f"cannot read {tmp_path / name}: there is no such run, log or scenario" in said
    for option in ("--arrived", "--tolerance"):
        assert "belong to a log" in complaint("certify", folder / "run", option, 0)
        told = ("--network", folder / "network.json", "--scenario", folder / "team.toml")
        assert "without a scenario" in complaint("certify", folder / "log.csv", *told, option, 0)
    assert "jitter" in complaint("certify", folder / "run", "--jitter", 0.5)
    assert "cannot read" in complaint("certify", folder / "log.csv", "--network", tmp_path / "no.json")
    assert "team.toml: not a JSON" in complaint("certify", folder / "log.csv", "--network", folder / "team.toml")
    assert "eta" in complaint("certify", folder / "run", "--eta", 2)
    assert "scenario" in complaint("certify", folder / "team.toml", "--eta", 0.5)
    assert "'.gif'" in complaint("certify", folder / "run", "--plot", "a.gif")
    assert "needs the steps" in complaint(
        "certify", folder / "team.toml", "--figure", "tube", "--plot", tmp_path / "a.png"
    )
    assert "no agent 99" in complaint(
        "certify", folder / "run", "--figure", "tube", "--agent", 99, "--plot", tmp_path / "a.png"
    )


@pytest.fixture(scope="module")
def launched(tmp_path_factory):
    """The example that flies from its pads: scenario, run, table and network."""
    place = tmp_path_factory.mktemp("launched")
    result = tc.simulate(tc.Scenario.load(EXAMPLE), place / "run")
    (place / "network.json").write_text(result.network.to_json())
    export_run(result, place / "log.csv")
    return place


def test_a_flight_from_the_pads(launched):
    assert "after a launch of 16" in json.dumps(json.loads(run(launched / "run", "--json").stdout))
    table = (launched / "log.csv", "--network", launched / "network.json")
    assert run(*table).exit_code == 1
    assert run(*table, "--launched", "16").exit_code == 0
    assert run(*table, "--launched", "15").exit_code == 1
    told = run(*table, "--scenario", EXAMPLE, "--json")
    assert json.loads(told.stdout)["claims"] == json.loads(run(launched / "run", "--json").stdout)["claims"]
    assert run(*table, "--scenario", EXAMPLE, "--launched", "0").exit_code == 1


def test_the_launch_of_a_run_is_its_own(launched, complaint):
    said = complaint("certify", launched / "run", "--launched", "3")
    assert said == "--launched belongs to a log: a run or a scenario knows its launch"
    table = (launched / "log.csv", "--network", launched / "network.json")
    assert "a launch of 99 steps goes on after the end" in complaint("certify", *table, "--launched", "99")
