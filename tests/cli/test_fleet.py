"""``tricover fleet`` and ``tricover agent``, as a user meets them: on one machine, and as if on several."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack

import numpy as np
import pytest
from tests.ports import free_port
from typer.testing import CliRunner

import tricover as tc
from tricover.cli.main import app

LONG = 120.0  # seconds
SCENARIO = """
name = "field"
seed = 3
steps = {steps}
stop_when_settled = {stops}
[formation]
generator = "square"
agents = 6
size = 20.0
[targets]
generator = "polygon"
count = 50
corners = [[-10, -10], [10, -10], [10, 10]]
"""
PROGRAM = [sys.executable, "-c", "from tricover.cli.main import command; command()"]


@pytest.fixture
def scenario(tmp_path):
    def write(steps=100_000, stops=True):
        path = tmp_path / "field.toml"
        path.write_text(SCENARIO.format(steps=steps, stops=str(stops).lower()))
        return path

    return write


def tricover(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def begun(*arguments):
    """A command as a process of its own."""
    environment = {**os.environ, "TRICOVER_THREADS": "1"}
    return subprocess.Popen(
        [*PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )


def ended(program):
    """Exit code and what a process said."""
    said = program.communicate(timeout=LONG)
    return program.returncode, "\n".join(said)


def test_a_fleet_flies_a_scenario_and_keeps_it(scenario, tmp_path):
    code, said = ended(begun("fleet", scenario(), "-o", tmp_path / "run.zarr", "--json"))
    assert code == 0, said
    facts = json.loads(said[said.index("{") :])
    assert facts["converged"]
    assert facts["alive"] == 6
    assert facts["dropped"] == {}
    assert facts["rounds_per_second"] > 0
    run = tc.Run.open(tmp_path / "run.zarr")
    assert tc.certify(run).holds
    again = tricover("fleet", scenario(), "-o", tmp_path / "run.zarr")
    assert again.exit_code != 0, "it flies over nobody's run"


def test_a_fleet_that_has_no_time_to_settle_says_so(scenario):
    code, said = ended(begun("fleet", scenario(steps=1)))
    assert code == 1, said
    assert "converged" in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--kill", "9@1"], "there is no '9'"),
        (["--freeze", "1@1"], "write it as"),
        (["--loss", "1.5"], "loss must be"),
        (["--unsigned"], "tcp"),
        (["--rate", "-1"], "rate must be"),
        (["--patience", "-1"], "patience must be"),
        (["--silence", "0"], "--silence 0"),
        (["--keys", "nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_is_one_line(scenario, options, words):
    code, said = ended(begun("fleet", scenario(), *options))
    assert code == 2, said
    assert words in said
    assert "Traceback" not in said


def test_what_a_fleet_cannot_fly_is_said_before_it_begins(tmp_path):
    path = tmp_path / "apart.toml"
    path.write_text(SCENARIO.format(steps=9, stops="true") + "[safety]\nseparation = 1.0\n")
    code, said = ended(begun("fleet", path))
    assert code == 2
    assert "morph" in said


def test_agents_anywhere_a_router_a_recorder_and_an_operator(scenario, tmp_path):
    path, keys, store = scenario(stops=False), tmp_path / "keys", tmp_path / "flown.zarr"
    assert tricover("fleet", "keys", keys, "--scenario", path).exit_code == 0
    router = f"tls/localhost:{free_port()}"
    common = "--router", router, "--flight", "monday"
    with ExitStack() as stack:
        route = stack.enter_context(begun("fleet", "route", router, "--agents", 6, "--keys", keys / "router"))
        stack.callback(route.kill)
        record = stack.enter_context(begun("fleet", "record", path, "-o", store, *common, "--keys", keys / "recorder"))
        stack.callback(record.kill)
        agents = [
            stack.enter_context(
                begun("agent", path, "--id", agent, *common, "--keys", keys / f"agent-{agent}", "--grace", 60)
            )
            for agent in range(6)
        ]
        for agent in agents:
            stack.callback(agent.kill)
        journal, deadline = tmp_path / "flown.zarr.flight", time.monotonic() + LONG
        while not journal.exists() or journal.stat().st_size < 100_000:
            assert time.monotonic() < deadline, "waited for a flight"
            assert all(agent.poll() is None for agent in agents)
            time.sleep(0.05)
        wrong = tricover("fleet", "order", "end", path, *common, "--keys", keys / "agent-1")
        assert wrong.exit_code != 0, "orders are the operator's"
        code, said = ended(begun("fleet", "order", "end", path, *common, "--keys", keys / "operator"))
        assert code == 0, said
        for agent in agents:
            code, said = ended(agent)
            assert code == 0, said
            assert "ended at step" in said
        code, said = ended(record)
        assert code == 0, said
        route.send_signal(signal.SIGINT)
        assert ended(route)[0] in (0, 130)
    run = tc.Run.open(store)
    desired = tc.desired_configuration(run.network, tc.simulate(tc.Scenario.load(path).replace(steps=20)).targets)
    assert np.abs(run.positions[-1] - desired).max() <= 1e-12 * 20
    assert run.converged
    assert not journal.exists()


def test_a_journal_becomes_a_run(scenario, tmp_path):
    store = tmp_path / "run.zarr"
    with begun("fleet", scenario(stops=False), "-o", store) as program:
        journal, deadline = tmp_path / "run.zarr.flight", time.monotonic() + LONG
        while not journal.exists() or journal.stat().st_size < 100_000:
            assert time.monotonic() < deadline, "waited for a flight"
            time.sleep(0.05)
        program.kill()
    code, said = ended(begun("fleet", "recover", journal, "-o", store))
    assert code == 0, said
    assert "converged" in said
    assert tc.Run.open(store).converged
    code, said = ended(begun("fleet", "recover", tmp_path / "field.toml", "-o", tmp_path / "other.zarr"))
    assert code == 2
    assert "not the record of a flight" in said


def test_an_agent_with_the_keys_of_another_is_refused(scenario, tmp_path):
    keys = tmp_path / "keys"
    assert tricover("fleet", "keys", keys, "--agents", 6).exit_code == 0
    code, said = ended(begun("agent", scenario(), "--id", 2, "--keys", keys / "agent-1"))
    assert code == 2
    assert "agent 2 needs its own" in said
    code, said = ended(
        begun("agent", scenario(), "--id", 77, "--keys", keys / "agent-1", "--router", "tcp/localhost:1")
    )
    assert code == 2
    assert "Traceback" not in said
