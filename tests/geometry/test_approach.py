"""The closest approach of a motion, against brute force, exact arithmetic, and motions that one can see through."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simulation.teams import eventful

import tricover as tc
from tricover.errors import InputError
from tricover.geometry import way_tree
from tricover.geometry.approach import Approaches, Watch, approaches_of, separation_of


def exact(p, q, r, s):
    """Squared least distance of one agent from p to q and another from r to s, by rational arithmetic."""
    before = [Fraction(a) - Fraction(b) for a, b in zip(p, r, strict=True)]
    change = [Fraction(a) - Fraction(b) - c for a, b, c in zip(q, s, before, strict=True)]
    squared = sum(c * c for c in change)
    share = min(max(-sum(b * c for b, c in zip(before, change, strict=True)) / squared, 0), 1) if squared else 0
    return sum((b + share * c) ** 2 for b, c in zip(before, change, strict=True))


def brute(positions, present=None):
    """Squared least distance, by all pairs in all steps, and those of all pairs."""
    there = np.ones(positions.shape[:2], bool) if present is None else present
    pairs, last = {}, len(positions) - 1
    for step in range(len(positions)):
        here, after = np.flatnonzero(there[step]), min(step + 1, last)
        for index, i in enumerate(here):
            for j in here[index + 1 :]:
                found = exact(positions[step, i], positions[after, i], positions[step, j], positions[after, j])
                pairs[i, j] = min(pairs.get((i, j), np.inf), found)
    return min(pairs.values(), default=np.inf), pairs


def dense(before, after):
    """Least distances of all pairs i < j in a step, with their shares, by NumPy."""
    low, high = np.triu_indices(len(before), 1)
    start, end = before[low] - before[high], after[low] - after[high]
    change = end - start
    squared, along = (change * change).sum(axis=1), -(start * change).sum(axis=1)
    shares = np.clip(np.divide(along, squared, out=np.zeros(len(low)), where=squared > 0), 0, 1)
    closest = np.where(shares[:, None] == 1, end, start + shares[:, None] * change)
    return np.hypot(*closest.T), shares, np.column_stack([low, high])


def all_pairs(positions, present=None, limit=0.0):
    """Least distance, its step and pair, and the pairs below the limit, by all pairs in all steps."""
    there = np.ones(positions.shape[:2], bool) if present is None else present
    best, below, by_step = (np.inf, 0, None), {}, []
    for step in range(len(positions)):
        here, after = np.flatnonzero(there[step]), min(step + 1, len(positions) - 1)
        distances, shares, pairs = dense(positions[step, here], positions[after, here])
        by_step.append(distances.min(initial=np.inf))
        for distance, share, (i, j) in zip(distances.tolist(), shares.tolist(), here[pairs].tolist(), strict=True):
            best = min(best, (distance, step, (i, j))) if best[2] else (distance, step, (i, j))
            if distance < limit:
                below[i, j] = min(below.get((i, j), (np.inf,)), (distance, step, share))
    return best, below, np.array(by_step)


KINDS = ("any", "lattice", "stacked", "still", "one far", "collinear", "crossing", "far away", "together", "clusters")


def motion(rng, kind):
    agents, steps = int(rng.integers(2, 12)), int(rng.integers(1, 4))
    start = rng.random((1, agents, 2)) * 10
    moves = rng.normal(0, rng.choice([1e-3, 0.3, 5.0]), (steps, agents, 2)) * rng.choice([0, 1], (steps, agents, 1))
    positions = np.cumsum(np.concatenate([start, moves]), axis=0)
    if kind == "lattice":
        positions = np.round(positions)
    if kind == "stacked":
        positions[:, rng.integers(agents)] = positions[:, rng.integers(agents)]
    if kind == "still":
        positions[:] = positions[0]
    if kind == "one far":
        positions[-1, 0] += 1e4
    if kind == "collinear":
        positions = positions[..., :1] * rng.normal(size=2)
    if kind == "crossing":  # through the middle, all at the same time
        positions[-1] = 10 - positions[-2]
    if kind == "far away":
        positions += rng.choice([1e9, -1e9], 2)
    if kind == "together":
        positions[1:] += 50 * rng.normal(size=(steps, 1, 2))
    if kind == "clusters":
        positions *= np.where(np.arange(agents) % 2, 1e-6, 1.0)[:, None]
    return positions


@pytest.mark.parametrize("kind", KINDS)
def test_as_exact_arithmetic_over_all_pairs(kind):
    rng = np.random.default_rng(0)
    for _ in range(40):
        positions = motion(rng, kind)
        found = tc.separation(positions, limit=2.0)
        squared, pairs = brute(positions)
        scale = np.abs(positions).max()
        assert abs(found.distance - float(squared) ** 0.5) <= 1e-14 * scale
        i, j = found.agents
        assert i < j
        after = min(found.step + 1, len(positions) - 1)
        own = exact(positions[found.step, i], positions[after, i], positions[found.step, j], positions[after, j])
        assert float(own) ** 0.5 <= found.distance + 1e-14 * scale
        close = {pair: float(value) ** 0.5 for pair, value in pairs.items()}
        listed = dict(zip(map(tuple, found.below.tolist()), found.distances, strict=True))
        for pair, distance in close.items():
            if abs(distance - 2.0) > 1e-9:
                assert (pair in listed) == (distance < 2.0)
                if distance < 2.0:
                    assert abs(listed[pair] - distance) <= 1e-13 * scale


@pytest.mark.parametrize("kind", KINDS)
def test_thousands_of_motions_as_by_all_pairs(kind):
    """To the bit: who, when, and every pair below the limit; also where some do not take part."""
    rng = np.random.default_rng(1)
    for number in range(250):
        positions = motion(rng, kind)
        present = rng.random(positions.shape[:2]) < 0.8 if number % 2 else None
        limit = float(rng.choice([1e-3, 1.0, 30.0]))
        found = tc.separation(positions, limit, present)
        best, below, by_step = all_pairs(positions, present, limit)
        assert (found.distance, found.step if best[2] else 0, found.agents) == best
        assert found.distance == tc.separation(positions, present=present).distance
        assert [tuple(pair) for pair in found.below.tolist()] == sorted(below)
        details = zip(found.distances.tolist(), found.steps.tolist(), found.shares.tolist(), strict=True)
        assert list(details) == [below[pair] for pair in sorted(below)]
        there = np.ones(positions.shape[:2], bool) if present is None else present
        assert approaches_of(zip(positions, there, strict=True)).distances.tolist() == by_step.tolist()


@pytest.mark.parametrize("threads", ["1", "3"])
def test_many_agents_as_by_all_pairs(monkeypatch, threads):
    """In pieces, too: no pair falls between two of them, and the number of threads does not matter."""
    rng = np.random.default_rng(1)
    monkeypatch.setenv("TRICOVER_THREADS", threads)
    monkeypatch.setattr(way_tree, "_ROOM", 3)
    for at_once, spread, count in product((512, 1), (0.0, 0.01, 1.0, 30.0), (300, 129)):
        monkeypatch.setattr(way_tree, "_AT_ONCE", at_once)
        before = rng.random((count, 2)) * 20
        after = before + rng.normal(0, spread, (count, 2)) * rng.choice([0, 1], (count, 1))
        after[rng.integers(count)] += 1e5
        distances, shares, pairs = dense(before, after)
        at, close = distances.argmin(), distances < 0.7
        found = tc.separation([before, after], 0.7)
        assert (found.distance, found.share) == (distances[at], shares[at])
        assert found.agents == tuple(pairs[at])
        assert np.array_equal(found.below, pairs[close])
        assert np.array_equal(found.distances, distances[close])


@pytest.mark.parametrize("places", [1, 2, 40])
def test_stacks_of_agents_take_no_longer_than_others(places):
    """Of ten thousand agents on a few places, fifty million pairs at worst, the lowest pair is found."""
    rng = np.random.default_rng(3)
    where = rng.integers(places, size=10_000)
    where[:50] = np.arange(50) % places if places > 1 else 0
    stacks = rng.random((places, 2))[where]
    found = tc.separation([stacks, stacks])
    assert (found.distance, found.agents) == (0.0, (0, places))
    assert approaches_of(zip([stacks] * 2, np.ones((2, 10_000), bool), strict=True)).agents[0].tolist() == [0, places]


def test_closest_approaches_of_every_step():
    positions = np.array([[[0, 0], [4, 0], [9, 9]], [[4, 1], [0, 1], [9, 9]], [[4, 1], [0, 1], [9, 9]]], float)
    present = np.array([[True, True, True], [True, False, True], [True, False, False]])
    found = approaches_of(zip(positions, present, strict=True))
    assert found.distances.tolist() == [0.0, np.hypot(5, 8), np.inf]
    assert found.agents.tolist() == [[0, 1], [0, 2], [-1, -1]]
    assert found.shares.tolist() == [0.5, 0.0, 0.0]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.integers(-4, 4)] * 4), min_size=2, max_size=8))
def test_small_whole_numbers_with_many_ties(rows):
    ways = np.array(rows, float)
    found = tc.separation([ways[:, :2], ways[:, 2:]])
    assert abs(found.distance - float(brute(np.stack([ways[:, :2], ways[:, 2:]]))[0]) ** 0.5) < 1e-14


def test_the_closest_pairs_each_once_the_closest_first():
    distances = np.array([3.0, 1.0, 1.0, np.inf, 2.0, 0.5])
    agents = np.array([[0, 1], [2, 3], [0, 1], [-1, -1], [2, 3], [4, 5]])
    found = Approaches(distances, np.zeros(6), agents)
    assert found.closest(9).tolist() == [5, 1, 2]
    assert found.closest(2).tolist() == [5, 1]


def test_more_pairs_than_there_is_room_for(monkeypatch):
    """Fifty agents on one point are 1,225 pairs."""
    stacked = np.zeros((3, 60, 2))
    stacked[:, 50:] = np.arange(20.0).reshape(10, 2) + 5
    moments = [(positions, np.ones(60, bool)) for positions in stacked]
    found = separation_of(moments, 1.0, 1225)
    assert (len(found.below), found.crowded) == (1225, False)
    few = [(np.zeros((8, 2)), np.ones(8, bool))]  # all in one leaf
    monkeypatch.setattr(way_tree, "_ROOM", 3)
    assert len(separation_of(few, 1.0, 28).below) == 28
    assert separation_of(few, 1.0, 27).crowded
    found = separation_of(moments, 1.0, 1224)
    assert (len(found.below), found.crowded, found.agents) == (0, True, (0, 1))
    meeting = stacked[[0, 0, 1]]
    meeting[:2, :50] = np.arange(50)[:, None] // 2 * 3.0  # two by two, before all meet
    found = separation_of([(positions, np.ones(60, bool)) for positions in meeting], 1.0, 100)
    assert (len(found.below), found.crowded) == (0, True)
    monkeypatch.setenv("TRICOVER_MEMORY", "0.0001")
    with pytest.raises(InputError, match="1225 pairs below the limit need about"):
        tc.separation(stacked, limit=1.0)


def test_rounding_below_the_limit_is_the_limit():
    rows = np.array([[[0.1, 0.0], [0.3, 0.0], [0.6, 0.0]]] * 2)
    assert rows[0, 1, 0] - rows[0, 0, 0] < 0.2
    moments = [(positions, np.ones(3, bool)) for positions in rows]
    assert separation_of(moments, 0.2).below.tolist() == [[0, 1]]
    watch = Watch(0.2, rounding=1e-15)
    watch.look(0, rows[0], rows[1], np.ones(3, bool))
    assert watch.result().below.tolist() == []
    assert watch.result().distance < 0.2


def test_the_first_and_lowest_of_equal_ones():
    standing = np.array([[[0, 0], [3, 0], [0, 3], [3, 3]]] * 3, float)
    found = tc.separation(standing)
    assert (found.distance, found.step, found.agents) == (3.0, 0, (0, 1))
    standing[2, 2], standing[2, 3] = [0, 1], [3, 1]
    found = tc.separation(standing)
    assert (found.distance, found.step, found.share, found.agents) == (1.0, 1, 1.0, (0, 2))


def test_who_does_not_take_part_is_nobody_to_meet():
    positions = np.array([[[0, 0], [1, 0], [9, 9]], [[0, 0], [1, 0], [0, 0.5]], [[0, 0], [1, 0], [0, 0.25]]], float)
    present = np.array([[True, True, False], [True, True, False], [True, True, True]])
    assert tc.separation(positions, present=present).agents == (0, 2)
    assert tc.separation(positions, present=present).step == 2
    assert tc.separation(positions[:2], present=present[:2]).distance == 1.0
    positions[0, 2] = np.nan
    assert tc.separation(positions[:2], present=present[:2]).distance == 1.0
    assert tc.separation(positions[:, :1]).agents is None
    assert tc.separation(positions[:, :1]).distance == np.inf
    assert "no two agents" in repr(tc.separation(positions[:, :1]))


def test_a_run_knows_its_separation(tmp_path, monkeypatch):
    run = tc.simulate(eventful())
    again = tc.separation(run.positions, present=run.present)
    for each in (run, tc.simulate(eventful(), tmp_path / "run.zarr")):
        monkeypatch.setattr("tricover.simulation.run.BLOCK", 100)
        found = each.separation
        assert (found.distance, found.step, found.agents) == (again.distance, again.step, again.agents)
    assert 0 < found.distance < 0.2


@pytest.mark.parametrize(
    ("positions", "how", "message"),
    [
        (np.zeros((3, 2)), {}, r"shape \(steps \+ 1, agents, 2\), not \(3, 2\)"),
        (np.zeros((0, 4, 2)), {}, "shape"),
        (np.full((2, 3, 2), np.nan), {}, "agent 0 has no finite position at step 0"),
        (np.full((2, 3, 2), 1e101), {}, r"agent 0 has no finite position at step 0, within 1e\+100 m"),
        (
            np.array([[[0, 0], [1, 1]], [[0, 0], [np.nan, 1]]]),
            {"present": [[True, True], [True, False]]},
            "agent 1 has no finite position at step 1",
        ),
        (np.zeros((2, 3, 2)), {"limit": np.nan}, "limit must be a positive number"),
        (np.zeros((2, 3, 2)), {"limit": 0.0}, "limit must be a positive number"),
        (np.zeros((2, 3, 2)), {"present": [True]}, r"present must have the shape \(2, 3\)"),
    ],
)
def test_what_cannot_be_measured_is_told(positions, how, message):
    with pytest.raises(InputError, match=message):
        tc.separation(positions, **how)
