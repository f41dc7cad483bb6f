"""Logs written by others: CSV of time, agent, x, y with a network file; and what is said about tables that are none."""

import numpy as np
import pytest

import tricover as tc
from tests.certificates.flights import flight, roster, team
from tricover.certificates import certify, log_of, log_of_run, read_log, with_scenario
from tricover.errors import FileFormatError, InputError


def written(path, positions, times=None, header="time,agent,x,y"):
    """A table as anybody would write it, shuffled."""
    times = np.arange(len(positions)) if times is None else times
    lines = [
        f"{float(time)!r},{agent},{float(x)!r},{float(y)!r}"
        for time, rows in zip(times, positions, strict=True)
        for agent, (x, y) in enumerate(rows)
    ]
    np.random.default_rng(0).shuffle(lines)
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def plain(certificate):
    return [(claim.key, claim.verdict, claim.summary, dict(claim.figures)) for claim in certificate]


@pytest.mark.parametrize("seed", range(6))
def test_a_table_is_certified_as_the_positions_are(tmp_path, seed):
    network, positions = team(seed)
    times = 17.5 + 0.25 * np.arange(len(positions))
    path = written(tmp_path / "log.csv", positions, times)
    read_back = tc.Network.from_json(network.to_json())
    found = plain(certify(read_log(path, read_back)))
    assert found == plain(certify(log_of(positions, network, times=times)))
    assert found[1:] == plain(certify(log_of(positions, network)))[1:]  # times are evidence, and nothing else


@pytest.mark.parametrize("vehicle", ["exact", "anywhere"])
@pytest.mark.parametrize("motion", ["reach", "walk"])
def test_with_its_scenario_a_table_is_certified_as_the_run_is(tmp_path, motion, vehicle):
    rng = np.random.default_rng(3)
    control = {"motion": motion, "resolution": 5}
    anchors = None
    made = tc.Scenario(
        reference=rng.random((20, 2)), targets=rng.random((50, 2)), control=control, vehicle=vehicle, anchors=anchors
    )
    run = tc.simulate(made)
    log = with_scenario(read_log(written(tmp_path / "log.csv", run.positions), run.network), made)
    assert plain(certify(log)) == plain(certify(run))
    assert certify(log).layers == certify(run).layers


def test_columns_are_found_by_name(tmp_path):
    network, positions = team(1, steps=3)
    lines = ["Y, battery ,X,Agent,TIME"]
    lines += [f"{y!r},99,{x!r},{i},{t}" for t in range(4) for i, (x, y) in enumerate(positions[t].tolist())]
    (tmp_path / "log.csv").write_text("\n".join(lines))
    assert np.array_equal(read_log(tmp_path / "log.csv", network).read(0, 4), positions)


def test_a_position_edited_in_a_table_is_found(tmp_path):
    network, positions = team(0, steps=6)
    agent = int(network.layers[-1][0])
    positions[5, agent] += 10
    found = certify(read_log(written(tmp_path / "log.csv", positions), network))
    assert (found["theorem1"].faults[0].agent, found["theorem1"].faults[0].step) == (agent, 4)


def test_lost_agents_may_be_missing(tmp_path):
    network = tc.build_network(roster(0, 30))
    repaired = network.without([9])
    before = flight(network, 3)
    positions = np.concatenate([before, flight(repaired, 3, start=before[-1])[1:]])
    path = written(tmp_path / "log.csv", positions)
    lines = path.read_text().splitlines()
    kept = [line for line in lines if not (line.split(",")[1] == "9" and float(line.split(",")[0]) > 3)]
    assert len(kept) == len(lines) - 3
    path.write_text("\n".join(kept))
    assert certify(read_log(path, [(0, network), (3, repaired)])).holds
    with pytest.raises(InputError, match="no position of agent 9 at step 4"):
        certify(read_log(path, network))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("time,agent,x\n0,0,1\n", "no column y"),
        ("time,agent,x,y\n", "holds no positions"),
        ("time,agent,x,y,X\n0,0,1,2,3\n", "more than one column x"),
        ("time,agent,x,y\n0,0,1,one\n", "line 2, column y: 'one' is not a finite number"),
        ("time,agent,x,y\n0,0,1,2\n\n0,1,nan,2\n", "line 4, column x: 'nan' is not a finite number"),
        ("time,agent,x,y\n-inf,0,1,2\n", "line 2, column time"),
        ("time,agent,x,y\n0,drone-1,1,2\n", "line 2, column agent: 'drone-1' is not a finite number"),
        ("time,agent,x,y\n0,0,1\n", "line 2, column y: there is nothing"),
        ("time,agent,x,y\n0,0, ,2\n", "line 2, column x: there is nothing"),
        ("time,agent,x,y\n0,0,1,2\n0,99,1,2\n", "line 3: there is no agent 99"),
        ("time,agent,x,y\n0,1e300,1,2\n", "no agent 1e\\+300"),
        ("time,agent,x,y\n0,1.5,1,2\n", "no agent 1.5"),
        ("time,agent,x,y\n0,-1,1,2\n", "no agent -1"),
        ("time,agent,x,y\n0,1,1,2\n0,1,1,2\n", "lines 2 and 3: agent 1 has 2 positions at time 0: keep one"),
        ("time,agent,x,y\n0,1,1,2\n3,0,1,2\n3,1,1,2\n0,1,4,2\n0,1,4,2\n", "lines 2, 5 and 6: agent 1 has 3 positions"),
        ("time,agent,x,y\n0,0,1,2\n0,1,1,2\n", "no position of agent 2 at step 0, time 0: all agents"),
    ],
)
def test_tables_that_are_none(tmp_path, text, words):
    (tmp_path / "log.csv").write_text(text)
    network = tc.build_network([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]])
    with pytest.raises(FileFormatError, match=words):
        read_log(tmp_path / "log.csv", network)


def test_agents_logged_at_different_times_are_told(tmp_path):
    network, positions = team(0, steps=3)
    path = written(tmp_path / "log.csv", positions)
    lines = path.read_text().splitlines()
    for shift in (1e-9, 0.3):
        moved = [lines[0]]
        for time, agent, *place in (line.split(",") for line in lines[1:]):
            moved.append(",".join([repr(float(time) + shift * (agent == "4")), agent, *place]))
        path.write_text("\n".join(moved))
        with pytest.raises(
            FileFormatError, match=r"log.csv: the log has no position of agent 4 at step 0, time 0: all"
        ):
            read_log(path, network)


def test_a_step_that_was_left_out_of_a_table_is_seen(tmp_path):
    network, positions = team(0, steps=8)
    path = written(tmp_path / "log.csv", positions, 0.5 * np.arange(9))
    assert certify(read_log(path, network)).holds
    lines = path.read_text().splitlines()
    path.write_text("\n".join(line for line in lines if not line.startswith("2.0,")))
    found = certify(read_log(path, network))
    assert not found.holds
    assert (found["evidence"].figures["worst_time"], found["evidence"].figures["longest"]) == (1.5, 1.0)


def test_a_table_that_needs_more_memory_than_there_may_be(tmp_path, monkeypatch):
    """A short file may ask for a large table: many agents, each at a time of its own."""
    network = tc.build_network(np.random.default_rng(0).random((300, 2)))
    path = tmp_path / "log.csv"
    path.write_text("time,agent,x,y\n" + "".join(f"{row},{row % 300},0,0\n" for row in range(3000)))
    need = 16 * 3000 * 300 / 2**30
    monkeypatch.setenv("TRICOVER_MEMORY", str(1.01 * need))
    with pytest.raises(InputError, match="agent 1"):  # which is not there at time 0
        read_log(path, network)
    monkeypatch.setenv("TRICOVER_MEMORY", str(0.99 * need))
    with pytest.raises(InputError, match=r"log\.csv: 300 agents at 3000 times need about"):
        read_log(path, network)


@pytest.mark.parametrize("value", [1e101, -1e200, 1.7e308])
def test_positions_of_extreme_size_are_refused(tmp_path, value):
    network, positions = team(0, steps=3)
    positions[2, 4, 1] = value
    with pytest.raises(
        FileFormatError, match=r"agent 4 is at .* at step 2, time 2: coordinates must be within 1e\+100 m"
    ):
        read_log(written(tmp_path / "log.csv", positions), network)
    with pytest.raises(InputError, match=r"agent 4 is at .* at step 2: coordinates"):
        certify(log_of(positions, network))


def test_logs_that_are_none():
    network, positions = team(0)
    with pytest.raises(InputError, match="shape"):
        log_of(positions[0], network)
    with pytest.raises(InputError, match="only 3"):
        log_of(positions[:, :3], network)
    with pytest.raises(InputError, match="ascending"):
        log_of(positions, [(2, network)])
    with pytest.raises(InputError, match="places"):
        log_of(positions, network, anchors=[[0, 0]])
    with pytest.raises(InputError, match="Run, a Log or a Scenario"):
        certify(positions)
    positions[2, 1, 0] = np.inf
    with pytest.raises(InputError, match="no position of agent 1 at step 2"):
        certify(log_of(positions, network))
    run = tc.simulate(tc.Scenario(reference=network.reference, targets=[[0, 0]], steps=1))
    with pytest.raises(InputError, match="the scenario has"):
        with_scenario(log_of_run(run), tc.Scenario(reference=roster(0, 9), targets=[[0, 0]]))


def test_anchors_of_a_log_may_arrive_later():
    network, positions = team(0, steps=9)
    positions[:2, network.anchors] += 1.0
    positions = np.concatenate([positions[:2], flight(network, 7, start=positions[2])])
    assert certify(log_of(positions, network))["anchors"].verdict == "fails"
    assert certify(log_of(positions, network, arrived=2))["anchors"].figures["arrived"] == 2
    places = network.reference[network.anchors]
    assert certify(log_of(positions, network, anchors=places, arrived=None))["anchors"].figures["arrived"] == 2
