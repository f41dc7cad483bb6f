"""Logs: blocks, epochs, agents that are not there, and copies by pickle."""

import pickle

import numpy as np
import pytest

import tricover as tc
from tests.certificates.flights import flight, roster, team
from tricover.certificates import Settings, certify, log_of, log_of_run, read_log, transition_matrices
from tricover.certificates import log as logs
from tricover.errors import InputError


def same(one, other):
    """Two certificates that say the same, figures, layers and arrays included."""
    assert one.to_json() == other.to_json()
    assert one.layers == other.layers
    assert np.array_equal(one.contraction.measured, other.contraction.measured, equal_nan=True)
    if one.neighbourhood is not None:
        for key, value in vars(one.neighbourhood).items():
            assert np.array_equal(value, getattr(other.neighbourhood, key))


def given_as(kind, folder):
    network, positions = team(4, steps=6, agents=20)
    if kind == "array":
        return log_of(positions, network, settings=Settings("reach", "reference", exact=True))
    if kind == "table":
        lines = ["time,agent,x,y"]
        lines += [f"{t},{i},{x!r},{y!r}" for t in range(7) for i, (x, y) in enumerate(positions[t].tolist())]
        (folder / "log.csv").write_text("\n".join(lines))
        return read_log(folder / "log.csv", network)
    return log_of_run(tc.simulate(tc.Scenario(reference=network.reference, targets=[[0.5, 0.5]], steps=6)))


@pytest.mark.parametrize("kind", ["array", "table", "run"])
def test_a_log_can_be_pickled_before_and_after_use(kind, tmp_path):
    log = given_as(kind, tmp_path)
    before = pickle.loads(pickle.dumps(log))
    found = certify(log)
    after = pickle.loads(pickle.dumps(log))
    for copy in (before, after):
        assert np.array_equal(copy.read(0, 7), log.read(0, 7))
        assert repr(copy) == repr(log)
        same(certify(copy), found)


@pytest.mark.parametrize("steps", [1, 2, 3, 7])
def test_blocks_make_up_the_whole_log(monkeypatch, steps):
    network, positions = team(4, steps=11, agents=20)
    log = log_of(positions, network)
    found = certify(log)
    monkeypatch.setattr(logs, "_BLOCK_BYTES", steps * 16 * log.agents)
    blocks = list(log.blocks())
    assert [start for start, _ in blocks] == list(range(0, 12, steps))
    assert all(len(block) == steps for _, block in blocks[:-1])
    assert np.array_equal(np.concatenate([block for _, block in blocks]), positions)
    same(certify(log), found)
    assert np.array_equal(log.path(3), positions[:, 3])
    monkeypatch.setattr(logs, "_BLOCK_BYTES", 1)
    assert all(len(block) == 1 for _, block in log.blocks())


def test_a_block_is_as_large_as_promised():
    network, positions = team(0, steps=2)
    log = log_of(np.repeat(positions[:1], 20_000, axis=0), network)
    sizes = [block.nbytes for _, block in log.blocks()]
    assert 7 << 20 < max(sizes) <= 8 << 20


def test_positions_that_are_handed_out_cannot_be_changed():
    network, positions = team(0, steps=2)
    block = log_of(positions, network).read(0, 2)
    with pytest.raises(ValueError, match="read-only"):
        block[0, 0] = 1.0
    assert positions.flags.writeable  # the caller's own array stays as it is


def repaired_team(lost=9, at=3):
    network = tc.build_network(roster(0, 30))
    repaired = network.without([lost])
    before = flight(network, at)
    positions = np.concatenate([before, flight(repaired, 4, start=before[-1])[1:]])
    return network, repaired, positions


def test_an_epoch_begins_at_its_start():
    network, repaired, positions = repaired_team()
    log = log_of(positions, [(0, network), (3, repaired)])
    assert [log.epoch_at(step).start for step in range(8)] == [0, 0, 0, 3, 3, 3, 3, 3]
    matrices = list(transition_matrices(log))
    for step, matrix in enumerate(matrices):
        alone = tc.certificates.transition_matrix([network, repaired][step >= 3], positions[step], positions[step + 1])
        assert (matrix != alone).nnz == 0
    assert certify(log).holds
    assert not certify(log_of(positions, [(0, network), (4, repaired)])).holds


def test_a_lost_agent_needs_a_position_until_it_has_landed():
    network, repaired, positions = repaired_team()
    networks = [(0, network), (3, repaired)]
    positions[4:, 9] = np.nan
    assert certify(log_of(positions, networks)).holds
    positions[3, 9] = np.nan  # where Γ[2] took it
    with pytest.raises(InputError, match="no position of agent 9 at step 3"):
        certify(log_of(positions, networks))


def test_an_agent_that_joins_needs_a_position_when_it_does():
    network = tc.build_network(roster(0, 29))
    joined = network.with_agents(network.reference[:4].mean(axis=0, keepdims=True))
    before = np.concatenate([flight(network, 3), np.full((4, 1, 2), np.nan)], axis=1)
    start = before[-1].copy()
    start[29] = joined.reference[29]
    positions = np.concatenate([before[:-1], flight(joined, 4, start=start)])
    networks = [(0, network), (3, joined)]
    assert certify(log_of(positions, networks)).holds
    positions[3, 29] = np.nan
    with pytest.raises(InputError, match="no position of agent 29 at step 3"):
        certify(log_of(positions, networks))


def test_the_last_positions_are_looked_at_as_landings():
    network, repaired, positions = repaired_team()
    networks = [(0, network), (3, repaired)]
    short = positions[:4].copy()  # ends where the repaired network begins: nobody sets out with it
    short[3, 9] = np.nan
    with pytest.raises(InputError, match="no position of agent 9 at step 3"):
        certify(log_of(short, networks))
    joined = network.with_agents(network.reference[:4].mean(axis=0, keepdims=True))
    room = np.concatenate([flight(network, 3), np.full((4, 1, 2), np.nan)], axis=1)
    assert certify(log_of(room, [(0, network), (3, joined)])).holds  # who joins at the end is not looked at
    alone = positions[:1].copy()
    alone[0, 9] = np.nan
    with pytest.raises(InputError, match="no position of agent 9 at step 0"):
        certify(log_of(alone, network))


@pytest.mark.parametrize("starts", [(1, 3), (0, 0), (0, 4, 2), ()])
def test_first_steps_of_networks_ascend_from_zero(starts):
    network, _, positions = repaired_team()
    with pytest.raises(InputError, match="ascending"):
        log_of(positions, [(start, network) for start in starts])


def test_flags_hold_for_all_agents_or_for_each():
    network, positions = team(0, steps=2, agents=9)
    some = np.arange(9) % 2 == 0
    log = log_of(positions, network, settings=Settings(exact=some, ideal=~some))
    assert np.array_equal(log.exact, some)
    assert log.ideal.all()  # who lands on the middle lands in it
    log = log_of(positions, network, settings=Settings(ideal=True))
    assert not log.exact.any()
    assert log.ideal.tolist() == [True] * 9


def test_agents_have_numbers():
    network, positions = team(0, steps=2, agents=9)
    log = log_of(positions, network)
    for agent in (-1, 9):
        with pytest.raises(InputError, match=f"no agent {agent}: agents are numbered 0 to 8"):
            log.path(agent)
    assert np.array_equal(log.path(8), positions[:, 8])
    assert np.array_equal(log.path(0), positions[:, 0])


def test_networks_in_space_do_not_fit():
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="in the plane"):
        log_of(np.zeros((2, 12, 2)), tc.build_network(rng.random((12, 3))))
