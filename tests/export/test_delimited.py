"""Exported tables, read with the csv module."""

import csv

import numpy as np
import pytest

import tricover as tc
from tests.export.runs import ORIGIN, assert_on_earth, eventful, interrupted, scenario
from tricover.certificates import log_of_run, read_log
from tricover.export import export_run


def read(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def column(rows, run, name, kind=float):
    """A column as an array (steps, N)."""
    entries = [row[name] for row in rows]
    return np.array([kind(entry) for entry in entries]).reshape(-1, run.positions.shape[1])


@pytest.fixture(scope="module", params=["plain", "eventful", "interrupted", "unmoved"])
def exported(request, tmp_path_factory):
    made = {
        "plain": lambda: tc.simulate(scenario()),
        "eventful": lambda: tc.simulate(eventful()),
        "interrupted": lambda: interrupted(eventful(), 6),
        "unmoved": lambda: tc.simulate(scenario(steps=0)),
    }[request.param]()
    path = tmp_path_factory.mktemp("csv") / "run.csv"
    export_run(made, path)
    return made, read(path)


def test_every_agent_at_every_step_bit_for_bit(exported):
    run, rows = exported
    count = run.positions.shape[1]
    assert [(int(row["step"]), int(row["agent"])) for row in rows] == [
        (step, agent) for step in range(run.steps + 1) for agent in range(count)
    ]
    for axis, name in enumerate("xy"):
        np.testing.assert_array_equal(column(rows, run, name), run.positions[..., axis])
    np.testing.assert_array_equal(column(rows, run, "present", int), run.present)
    np.testing.assert_array_equal(column(rows, run, "time")[:, 0], np.arange(run.steps + 1) * 0.25)


def test_cells_and_misses_where_there_are_any(exported):
    run, rows = exported
    count = run.positions.shape[1]
    before, after = rows[: run.steps * count], rows[run.steps * count :]
    for name, values in (("state", run.states), ("goal_cell", run.goal_cells)):
        found = [int(row[name]) if row[name] else -2 for row in before]
        np.testing.assert_array_equal(found, values.ravel())
        assert {row[name] for row in after} == {""}
    np.testing.assert_array_equal([float(row["miss"]) for row in before], run.misses.ravel())
    assert {row["miss"] for row in after} == {""}


def test_layers_and_roles_are_those_of_the_step(exported):
    run, rows = exported
    for row in rows:
        network, agent = run.network_at(int(row["step"])), int(row["agent"])
        if agent >= len(network):
            assert (row["layer"], row["role"], row["present"]) == ("", "", "0")
        elif agent in network.lost:
            assert (row["layer"], row["role"], row["present"]) == ("", "lost", "0")
        else:
            role = "core" if agent == network.core else "boundary" if agent in network.boundary else "follower"
            assert (int(row["layer"]), row["role"], row["present"]) == (network.layer[agent], role, "1")


@pytest.mark.parametrize("made", [scenario, eventful])
def test_certify_reads_the_table_as_the_log_of_a_flight(made, tmp_path):
    run = tc.simulate(made())
    export_run(run, tmp_path / "run.csv")
    log, own = read_log(tmp_path / "run.csv", [(epoch.start, epoch.network) for epoch in run.epochs]), log_of_run(run)
    np.testing.assert_array_equal(log.read(0, log.steps + 1), own.read(0, own.steps + 1))


def test_degrees_beside_metres(tmp_path):
    run = tc.simulate(scenario())
    export_run(run, tmp_path / "run.csv", origin=ORIGIN)
    rows = read(tmp_path / "run.csv")
    found = np.stack([column(rows, run, name).ravel() for name in ("longitude", "latitude")], axis=-1)
    assert_on_earth(found, run.positions)


def test_a_run_in_blocks_gives_the_same_table(tmp_path, monkeypatch):
    run = tc.simulate(eventful(), tmp_path / "run.zarr")
    export_run(run, tmp_path / "whole.csv")
    monkeypatch.setattr("tricover.simulation.run.BLOCK", 3 * 18)
    assert len(list(run.blocks("positions"))) > 5
    seen = []
    export_run(run, tmp_path / "blocks.csv", progress=lambda done, total: seen.append((done, total)))
    assert (tmp_path / "blocks.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert seen == [(step, run.steps + 1) for step in range(1, run.steps + 2)]
