"""Messages: what is said comes back, and bytes of any other kind are refused, quickly and by one error."""

import json
import random
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tricover as tc
from tricover.errors import TricoverError
from tricover.fleet.encoding import LONGEST, decoded, encoded, header_of
from tricover.fleet.messages import (
    OPERATOR,
    SIGNATURE,
    Action,
    Command,
    Header,
    Intent,
    MalformedError,
    Memories,
    NoSeal,
    Past,
    Place,
    mission_digest,
    name_of,
)
from tricover.simulation import Mission
from tricover.targets import TargetLists

HEAD = Header(0, b"missions", 3, 17, 5, 1000.5, 8)
HEADER_SIZE = 49
PLACE_SIZE = 16 + 8 + 6 + 12 + 40 + 1 + 4 + 1 + 2
PAST_SIZE = 8 + 16 + 8 + 6 + 12 + 40 + 1
FINITE = st.floats(-1e100, 1e100)
INT16, INT32 = st.integers(-1, 2**15 - 1), st.integers(-(2**31), 2**31 - 1)


def triples(of):
    return st.tuples(of, of, of)


ACTIONS = st.builds(
    Action,
    st.integers(-1, 2**53 - 1),
    triples(INT16),
    triples(INT32),
    st.floats(0, 1e100),
    st.floats(0, 1e100),
    triples(FINITE),
    st.booleans(),
    st.booleans(),
)
POINTS = st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), FINITE, FINITE, st.floats(0, 1e100), st.booleans()))


def targets(rows):
    names, x, y, weights, fresh = zip(*rows, strict=True) if rows else ((), (), (), (), ())
    points = np.array([x, y], float).T.reshape(-1, 2)
    return TargetLists.of(
        np.array([len(rows)]), np.array(names, np.int64), points, np.array(weights, float), np.array(fresh, bool)
    )


def opened(data, agents):
    return decoded(data, header_of(data), agents)


def same_targets(mine, theirs):
    return all(np.array_equal(getattr(mine, name), getattr(theirs, name)) for name in ("names", "points", "weights"))


@given(
    st.builds(
        Header,
        st.just(0),
        st.binary(min_size=8, max_size=8),
        st.integers(0, 2**32 - 1),
        st.integers(0, 2**64 - 1),
        st.integers(0, 2**64 - 1),
        st.floats(-1e10, 1e10),
        st.integers(-1, 2**53 - 1),
    ),
    st.tuples(FINITE, FINITE),
)
def test_a_header_comes_back(header, point):
    data = encoded(header, Intent(point), NoSeal())
    assert header_of(data)[1:] == header[1:]
    assert opened(data, 3) == Intent(point)
    assert len(data) == HEADER_SIZE + 16 + SIGNATURE


@given(
    st.tuples(FINITE, FINITE),
    ACTIONS,
    st.lists(st.booleans(), min_size=1, max_size=40),
    st.none() | st.tuples(POINTS, POINTS),
    st.lists(st.tuples(st.tuples(FINITE, FINITE), ACTIONS), max_size=8),
    st.integers(0, 2**40),
)
def test_a_place_comes_back(position, action, living, told, before, dropped):
    tells, reports = (None, None) if told is None else map(targets, told)
    earlier = tuple(Past(step, *past) for step, past in enumerate(before))
    data = encoded(HEAD, Place(position, action, np.array(living), tells, reports, earlier, dropped), NoSeal())
    found = opened(data, len(living))
    assert (found.position, found.last, found.living.tolist()) == (position, action, living)
    assert found.earlier == earlier
    assert found.refused == min(dropped, 2**32 - 1)
    assert found.living.dtype == np.bool_
    size = HEADER_SIZE + PLACE_SIZE + (len(living) + 7) // 8 + PAST_SIZE * len(earlier) + SIGNATURE
    if told is None:
        assert found.tells is found.reports is None
    else:
        size += 8 + 33 * (len(told[0]) + len(told[1]))
        assert same_targets(found.tells, tells)
        assert same_targets(found.reports, reports)
        assert np.array_equal(found.tells.fresh, tells.fresh)
    assert len(data) == size


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(st.text(), st.dictionaries(st.text(), JSON))
def test_a_command_comes_back(word, values):
    assert opened(encoded(HEAD, Command(word, values), NoSeal()), 3) == Command(word, values)


def test_a_memory_comes_back():
    memory = {"weights": np.array([[1.5, np.nan, 2]]), "counts": np.zeros((1, 3, 0), np.int32), "b": np.array([True])}
    found = opened(encoded(HEAD, Memories(memory), NoSeal()), 3).memory
    assert found.keys() == memory.keys()
    for name, rows in memory.items():
        assert found[name].dtype == rows.dtype
        assert np.array_equal(found[name], rows, equal_nan=name == "weights")


def test_a_message_is_signed_as_a_whole():
    class Digest:
        def sign(self, data):
            assert len(data) == HEADER_SIZE + 16
            return bytes([sum(data) % 256]) * SIGNATURE

    data = encoded(HEAD, Intent((1.0, 2.0)), Digest())
    assert data[-SIGNATURE:] == bytes([sum(data[:-SIGNATURE]) % 256]) * SIGNATURE
    assert data[:4] == b"TCF1"


def test_later_messages_have_a_greater_order():
    first, second = HEAD._replace(boot=1, counter=900), HEAD._replace(boot=2, counter=0)
    assert first.order < first._replace(counter=901).order < second.order


def test_names_of_senders():
    assert (name_of(7), name_of(OPERATOR)) == ("agent-7", "operator")


def test_a_digest_tells_missions_and_flights_apart():
    corners = [[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [1, 2]]
    one, other = (Mission.of(tc.Scenario(reference=corners, targets=[[1, 1], last])) for last in ([2, 3], [2, 4]))
    found = {mission_digest(one), mission_digest(other), mission_digest(one, "a"), mission_digest(one, "b")}
    assert len(found) == 4
    assert mission_digest(Mission.from_json(one.to_json())) == mission_digest(one)
    assert all(len(digest) == 8 for digest in found)


# What is no message


def place(agents=9, rows=4, **changes):
    told = targets([(k, 1.0, 2.0, 3.0, True) for k in range(rows)]) if rows is not None else None
    action = Action(**{"step": 7, "ages": (0, 1, -1), "cells": (1, 2, 3), **changes})
    return Place((1.0, 2.0), action, np.ones(agents, bool), told, told)


def samples():
    said = [place(), place(rows=None), Intent((1.0, 2.0)), Command("targets", {"step": 3, "points": [[1.0, 2.0]]})]
    said += [Place((1.0, 2.0), Action(), np.ones(9, bool), earlier=(Past(3, (0.0, 1.0), Action()),))]
    said += [Memories({"weights": np.ones((1, 3)), "counts": np.arange(6).reshape(1, 6)})]
    return [encoded(HEAD, message, NoSeal()) for message in said]


def refused(data, agents=9):
    """Whether it is refused; else that it is whole."""
    try:
        message = opened(data, agents)
    except MalformedError:
        return True
    if isinstance(message, Place):
        lists = [part for part in (message.tells, message.reports) if part is not None]
        numbers = [message.position, message.last.weights, [message.last.miss, message.last.off]]
        numbers += [part.points for part in lists] + [part.weights for part in lists]
        assert all(np.isfinite(np.asarray(part)).all() for part in numbers)
        assert min(message.last.ages) >= -1
        assert message.living.shape == (agents,)
    elif isinstance(message, Intent):
        assert np.isfinite(message.point).all()
    return False


def flipped(data, draw):
    damaged = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 30])):
        damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
    return bytes(damaged)


def replaced(data, draw):
    """Some numbers become huge, infinite or none."""
    odd = [b"\xff" * 8, struct.pack("<d", float("nan")), struct.pack("<d", float("inf")), struct.pack("<d", 1e300)]
    where = draw.randrange(HEADER_SIZE, len(data) - SIGNATURE)
    return data[:where] + draw.choice(odd) + data[where + 8 :]


def test_nothing_but_one_error_comes_of_damage():
    draw, whole = random.Random(1), samples()
    counts = [0, 0]
    for number in range(100_000):
        data, way = whole[number % 6], number // 6 % 5
        if way == 0:
            damaged = draw.randbytes(draw.randrange(300))
        elif way == 1:
            damaged = data[: draw.randrange(len(data))]
        elif way == 2:
            damaged = flipped(data, draw)
        elif way == 3:
            damaged = replaced(data, draw)
        else:
            damaged = data[:HEADER_SIZE] + draw.randbytes(draw.randrange(400))
        counts[refused(damaged)] += 1
    assert min(counts) > 1000


@pytest.mark.parametrize("which", range(6))
def test_every_prefix_and_every_longer_message_is_refused(which):
    data = samples()[which]
    agents = 9
    assert not refused(data, agents)
    assert all(refused(data[:length], agents) for length in range(len(data)))
    assert refused(data + b"x", agents)


@pytest.mark.parametrize("agents", [1, 8, 17, 1000])
def test_a_place_of_a_team_of_another_size_is_refused(agents):
    assert refused(samples()[0], agents)
    assert not refused(encoded(HEAD, place(agents), NoSeal()), agents)


def test_counts_that_are_too_high_take_no_memory():
    data = samples()[0]
    start = HEADER_SIZE + PLACE_SIZE + 2
    assert struct.unpack_from("<II", data, start) == (4, 4)
    for counts in ((2**32 - 1, 4), (4, 2**32 - 1), (2**32 - 1, 2**32 - 1), (3, 5), (8, 1), (0, 0), (9, 0)):
        changed = data[:start] + struct.pack("<II", *counts) + data[start + 8 :]
        assert refused(changed) is (counts != (3, 5))


@pytest.mark.parametrize(
    "changes",
    [
        {"ages": (-2, 0, 0)},
        {"miss": -1.5},
        {"miss": float("nan")},
        {"off": float("inf")},
        {"weights": (0.0, float("nan"), 0.0)},
        {"weights": (0.0, 1e101, 0.0)},
        {"step": -2},
        {"step": 2**53},
    ],
)
def test_numbers_that_cannot_be_are_refused(changes):
    assert refused(encoded(HEAD, place(**changes), NoSeal()))


@pytest.mark.parametrize("steps", [[-1], [-(2**63)], [3, 3], [5, 4], [8], [9], [2**62], [0, 1, 7, 8]])
def test_steps_before_come_in_order_and_before_now(steps):
    def said(*steps):
        earlier = tuple(Past(step, (0.0, 0.0), Action()) for step in steps)
        return encoded(HEAD, Place((0.0, 0.0), Action(), np.ones(9, bool), earlier=earlier), NoSeal())

    assert HEAD.step == 8
    assert not refused(said(0, 1, 7))
    assert refused(said(*steps))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), 1e101, -1e101])
def test_places_that_cannot_be_are_refused(bad):
    for point in ((bad, 0.0), (0.0, bad)):
        assert refused(encoded(HEAD, Intent(point), NoSeal()))
        assert refused(encoded(HEAD, Place(point, Action(), np.ones(9, bool)), NoSeal()))
        past = Past(3, point, Action())
        assert refused(encoded(HEAD, Place((0.0, 0.0), Action(), np.ones(9, bool), earlier=(past,)), NoSeal()))
        row = targets([(0, *point, 1.0, True)])
        assert refused(encoded(HEAD, Place((0.0, 0.0), Action(), np.ones(9, bool), row, None), NoSeal()))
    row = targets([(0, 1.0, 1.0, bad if bad != -1e101 else -1.0, True)])
    assert refused(encoded(HEAD, Place((0.0, 0.0), Action(), np.ones(9, bool), row, None), NoSeal()))


@pytest.mark.parametrize("change", [{"step": -2}, {"step": 2**53}, {"time": float("nan")}, {"time": 1e11}])
def test_headers_that_cannot_be_are_refused(change):
    with pytest.raises(MalformedError, match="not a message of a fleet"):
        header_of(encoded(HEAD._replace(**change), Intent((0.0, 0.0)), NoSeal()))


def of_kind(kind, body):
    """A message of a kind with any body."""
    data = encoded(HEAD, Intent((0.0, 0.0)), NoSeal())
    return data[:4] + bytes([kind]) + data[5:HEADER_SIZE] + body + bytes(SIGNATURE)


@pytest.mark.parametrize("kind", [0, 6, 7, 255])
def test_unknown_kinds_are_refused(kind):
    with pytest.raises(MalformedError, match=f"kind {kind}"):
        opened(of_kind(kind, bytes(16)), 9)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff",
        b"{}",
        b"[]",
        b"3",
        b'["go"]',
        b'["go", []]',
        b"[1, {}]",
        b'["go", {}, 2]',
        b'"ab"',
        b'["go", {"a": NaN}]',
        b'["go", {"a": -Infinity}]',
        b'["go", {"a": 1e999}]',
        b"[" * 100_000,
        b'["go", {"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}]",
        b'["go", {"a":' + b"9" * 5000 + b"}]",
    ],
)
def test_commands_that_are_none_are_refused(body):
    assert refused(of_kind(3, body))


def test_a_memory_takes_no_more_room_than_its_message():
    huge = [10**4000] * 500  # to multiply them would take longer than to refuse them
    for shape in ([1, 2**40], [2**62, 2**62], [1 << 31, 0, 1], [3, 3], [*huge, 0], [0, LONGEST + 1], [0] + [1] * 8):
        body = json.dumps([["weights", "<f8", shape]]).encode() + b"\n" + bytes(64 * (0 not in shape))
        assert refused(of_kind(4, body))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"PK\x03\x04",
        b"\x93NUMPY",
        b'{"abc": 1}\n',
        b"3\n",
        b"[3]\n",
        b"[[]]\n",
        b'[["a", "<f8"]]\n',
        b'[["a", "<f8", 3]]\n' + bytes(24),
        b'[["a", "<f8", [3], 1]]\n' + bytes(24),
        b'[[1, "<f8", [1]]]\n' + bytes(8),
        b'[["a", "|O", [1]]]\n' + bytes(8),
        b'[["a", "O8", [1]]]\n' + bytes(8),
        b'[["a", ">f8", [1]]]\n' + bytes(8),
        b'[["a", ["<f8"], [1]]]\n' + bytes(8),
        b'[["a", "<f8", [1.0]]]\n' + bytes(8),
        b'[["a", "<f8", [true]]]\n' + bytes(8),
        b'[["a", "<f8", [-1]]]\n' + bytes(8),
        b'[["a", "<f8", [-1, -1]]]\n' + bytes(8),
        b'[["a", "<f8", [1]]]\n' + bytes(7),
        b'[["a", "<f8", [1]]]\n' + bytes(9),
        b'[["a", "<f8", [1]]]',
        b"[" * 100_000,
        b'[["a", "|u1", [' + b"1," * 100 + b"1]]]\n" + bytes(1),
    ],
)
def test_memories_that_are_none_are_refused(body):
    assert refused(of_kind(4, body))


def test_the_error_is_one_of_ours():
    assert issubclass(MalformedError, TricoverError)
    with pytest.raises(MalformedError, match="a message of 3 bytes"):
        header_of(b"abc")
    whole = encoded(HEAD, Command("x", {"a": "b" * (LONGEST - 200)}), NoSeal())
    assert not refused(whole)
    assert refused(encoded(HEAD, Command("x", {"a": "b" * LONGEST}), NoSeal()))
    assert json.loads(whole[HEADER_SIZE:-SIGNATURE])[0] == "x"
