"""Records of moves: a ring of the last ones, whoever moved when; and when an agent changes its mind."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import tricover as tc
from tricover.control import Cells, Decision, Told
from tricover.control.memory import memory_of, renewed
from tricover.control.planning import due
from tricover.control.records import RECENT, learned_from, no_records, record
from tricover.errors import InputError
from tricover.geometry import barycentric
from tricover.mdp.offsets import FARTHER, HIT, cells_at

TEAM = np.array([[0.0, 0.0], [10, 0], [10, 10], [0, 10], [5, 5], [3, 5], [6, 2.5]])
TRIANGLE = np.array([[0.0, 0.0], [9.0, 0.0], [2.0, 8.0]])
GRID = tc.CellGrid(5)


def told(kernel="learned", window=60, **settings):
    network = tc.build_network(TEAM)
    return Told(
        network, TEAM[None, network.anchors], motion="walk", resolution=5, kernel=kernel, window=window, **settings
    )


def decided(cells, intended, setpoints):
    goals = np.zeros_like(cells)
    return Decision(setpoints, setpoints, Cells(cells, goals, intended))


@settings(max_examples=40, deadline=None)
@given(some.integers(0, 2**32 - 1), some.integers(1, 50), some.integers(0, 90), some.integers(0, 40))
def test_the_last_moves_are_kept_in_a_ring(seed, window, steps, first):
    rng, agents = np.random.default_rng(seed), 3
    said = SimpleNamespace(grid=GRID, window=window)
    memory, kept = no_records(said, agents), [[] for _ in range(agents)]
    for step in range(first, first + steps):
        if step == first or rng.random() < 0.5:  # else all do the same once more
            cells = rng.integers(-1, 25, agents)
            intended = np.where(cells >= 0, rng.integers(-4, 25, agents), -1)
            landed = rng.random((agents, 2)) * 12 - 1
            decision = decided(cells, intended, landed + rng.integers(0, 2, (agents, 1)))
        memory |= record(
            said, memory, step, decision, landed, lambda rows: np.repeat(TRIANGLE[None], len(rows), axis=0)
        )
        for agent in range(agents):
            if cells[agent] >= 0 and intended[agent] >= 0:
                on_it = (landed[agent] == decision.setpoints[agent]).all()
                ended = int(intended[agent]) if on_it else int(GRID.locate(barycentric(landed[agent], TRIANGLE)))
                kept[agent].append((int(cells[agent]), int(intended[agent]), ended))
    records, recorded = learned_from(memory)
    for agent, moves in enumerate(kept):
        assert recorded[agent] == len(moves)
        misses = [place for place, (_, aimed, ended) in enumerate(moves, 1) if aimed != ended]
        assert memory["last_miss"][agent] == max(misses, default=0)
        for place in range(max(0, len(moves) - window), len(moves)):
            cell, aimed, code = records[agent, place % window].tolist()
            end = int(cells_at(GRID, np.array([aimed]), np.array([code]))[0])
            ended = moves[place][2]
            assert (cell, aimed, end) == (*moves[place][:2], 25 if ended < 0 else ended)


def test_recent_moves_never_run_over():
    said = told()
    memory = no_records(said, 1)
    for step in range(5 * RECENT):
        decision = decided(np.array([3 + step % 2]), np.array([3]), np.zeros((1, 2)))
        memory |= record(said, memory, step, decision, np.zeros((1, 2)), None)
        assert 0 <= memory["runs"] <= RECENT
    assert memory["recorded"] == 5 * RECENT


def test_who_stays_counts_its_moves_and_copies_nothing():
    said = told(window=50)
    memory, stay = no_records(said, 2), decided(np.array([3, 7]), np.array([3, 7]), np.zeros((2, 2)))
    memory |= record(said, memory, 0, stay, np.zeros((2, 2)), None)
    for step in range(1, 200):
        found = record(said, memory, step, stay, np.zeros((2, 2)), None)
        assert found.keys() == {"recorded"}
        memory |= found
    memory |= record(
        said, memory, 200, decided(np.array([3, 7]), np.array([2, 7]), np.zeros((2, 2))), np.zeros((2, 2)), None
    )
    records, recorded = learned_from(memory)
    assert recorded.tolist() == [201, 201]
    assert records[0, 200 % 50].tolist() == [3, 2, HIT]
    assert (np.delete(records[0], 200 % 50, axis=0) == [3, 3, HIT]).all()
    assert (records[1] == [7, 7, HIT]).all()


def test_a_landing_far_away_is_recorded_as_such():
    said = told()
    decision = decided(np.array([3]), np.array([2]), np.zeros((1, 2)))
    heard = lambda rows: TRIANGLE[None]  # noqa: E731
    memory = no_records(said, 1)
    memory |= record(said, memory, 0, decision, np.array([[1e6, -1e6]]), heard)
    assert memory["recent"][0, 0].tolist() == [3, 2, FARTHER]
    assert memory["last_miss"].tolist() == [1]


def test_only_a_miss_changes_the_mind_of_who_trusts_and_a_tenth_that_of_who_plans():
    memory = {
        "planned": np.array([False, False, True, True, True, True]),
        "recorded": np.array([500, 500, 109, 110, 2099, 2100]),
        "estimated": np.array([100, 100, 100, 100, 2000, 2000]),
        "last_miss": np.array([100, 101, 0, 0, 0, 0]),
    }
    said = told(window=1000)
    assert due(said, memory).tolist() == [False, True, False, True, False, True]
    fresh = {
        "planned": np.array([True, True]),
        "recorded": np.array([0, 1]),
        "estimated": np.zeros(2),
        "last_miss": np.zeros(2),
    }
    assert due(said, fresh).tolist() == [False, True], "a first estimate follows the first move"


def test_who_plans_remembers_plans_and_who_learns_records_too():
    assert memory_of(told("certain"), TEAM) == {}
    assert memory_of(told(0.0), TEAM) == {}
    plans, records = memory_of(told(0.2), TEAM), memory_of(told(), TEAM)
    assert "values" in plans
    assert "records" not in plans
    assert records.keys() - plans.keys() == {"records", "recent", "begins", "runs", "recorded", "last_miss"}
    assert records["records"].dtype == np.int16
    fine = Told(told().network, told().paths, motion="walk", resolution=182, kernel="learned", window=50)
    assert memory_of(fine, TEAM)["records"].dtype == np.int32, "cells have larger numbers"


def test_an_epoch_keeps_what_was_learned_and_nothing_else():
    said = told()
    old = {name: rows + 1 for name, rows in memory_of(said, TEAM).items()} | {"place": TEAM}
    new = {**memory_of(said, TEAM), "place": TEAM + 5}
    found = renewed(old, new)
    np.testing.assert_array_equal(found["place"], TEAM + 5)
    np.testing.assert_array_equal(found["recorded"], old["recorded"])
    np.testing.assert_array_equal(found["values"], old["values"])
    assert renewed({}, new)["recorded"] is new["recorded"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kernel": "guessed"}, "kernel must be"),
        ({"kernel": 1.0}, "kernel must"),
        ({"window": 0}, "window must"),
        ({"window": 2.5}, "window must"),
    ],
)
def test_what_cannot_be_told_is_refused(change, words):
    with pytest.raises(InputError, match=words):
        told(**change)


def test_a_hit_is_the_first_code():
    assert HIT == 0
