"""Messages as bytes: a header, a body and a signature over both (Ed25519, 64 bytes), little-endian.

    header   magic "TCF1", kind, mission (8 bytes), sender, boot, counter, time, step
    place    position; the step before: its number, ages, cells, miss and distance to the goal, weights, flags; how many
             messages were dropped, how many steps before follow, and how many bytes of who is alive; these; the same
             of each step before; targets
    intent   a point
    memory   a line of JSON with names, types and shapes, then the numbers
    command  a JSON text
    denied   two numbers

``decoded`` takes nothing for granted: bytes of any kind and length become a message or a ``MalformedError``.
"""

import json
import struct
from itertools import pairwise
from math import inf, prod
from typing import Any

import numpy as np

from tricover.fleet.messages import (
    SIGNATURE,
    Action,
    Command,
    Denied,
    Header,
    Intent,
    MalformedError,
    Memories,
    Message,
    Past,
    Place,
    Seal,
)
from tricover.formats.points import LARGEST
from tricover.targets import TargetLists

__all__ = ["LONGEST", "PLACES", "decoded", "encoded", "header_of"]

LONGEST = 1 << 22
"""Bytes that a message may have."""
PLACES = 1
"""The kind of messages that say where somebody is."""

_MAGIC = b"TCF1"
_HEADER = struct.Struct("<4sB8sIQQdq")
_PLACE = struct.Struct("<ddqhhhiiidddddBIBH")
_PAST = struct.Struct("<qddqhhhiiidddddB")
_INTENT = struct.Struct("<dd")
_COUNTS = struct.Struct("<II")
_DENIED = struct.Struct("<QQ")
_POINT = np.dtype([("name", "<i8"), ("x", "<f8"), ("y", "<f8"), ("weight", "<f8"), ("fresh", "u1")])
_INTENTS, _COMMANDS, _MEMORIES, _DENIALS = 2, 3, 4, 5
_KINDS = {"|b1", "|i1", "|u1", *(f"<{kind}{size}" for kind in "iu" for size in (2, 4, 8)), "<f4", "<f8"}
_DIMENSIONS = 8  # of an array that is remembered, at most
_SETTLED, _HOLDS, _TELLS = 1, 2, 4
_MOST = 2**32 - 1


def encoded(header: Header, message: Message, seal: Seal) -> bytes:
    """The bytes of a message, signed; its kind is that of the message."""
    kind, body = _body(message)
    data = _HEADER.pack(_MAGIC, kind, *header[1:]) + body
    return data + seal.sign(data)


def header_of(data: bytes) -> Header:
    """The header of a message, before anything else of it is looked at."""
    if not _HEADER.size + SIGNATURE <= len(data) <= LONGEST:
        raise MalformedError(f"a message of {len(data)} bytes")
    magic, *fields = _HEADER.unpack_from(data)
    header = Header(*fields)
    if magic != _MAGIC or not -1 <= header.step < 2**53 or not abs(header.time) < 1e11:
        raise MalformedError("not a message of a fleet")
    return header


def decoded(data: bytes, header: Header, agents: int) -> Message:
    """The message in bytes that were signed by their sender, of a fleet of so many agents."""
    body = memoryview(data)[_HEADER.size : len(data) - SIGNATURE]
    try:
        if header.kind == PLACES:
            return _place(body, header.step, agents)
        if header.kind == _INTENTS:
            return Intent(_point(*_INTENT.unpack(body)))
        if header.kind == _COMMANDS:
            return _command(bytes(body))
        if header.kind == _MEMORIES:
            return _memories(bytes(body))
        if header.kind == _DENIALS:
            return Denied(*_DENIED.unpack(body))
    except MalformedError:
        raise
    except (struct.error, ValueError, OverflowError, TypeError, RecursionError) as error:
        raise MalformedError(f"a damaged message ({type(error).__name__})") from None
    raise MalformedError(f"a message of kind {header.kind}")


def _body(message: Message) -> tuple[int, bytes]:
    if isinstance(message, Place):
        return PLACES, _place_body(message)
    if isinstance(message, Intent):
        return _INTENTS, _INTENT.pack(*message.point)
    if isinstance(message, Command):
        return _COMMANDS, json.dumps([message.word, message.values], allow_nan=False).encode()
    if isinstance(message, Denied):
        return _DENIALS, _DENIED.pack(message.messages, message.connections)
    arrays = {name: np.ascontiguousarray(rows) for name, rows in message.memory.items()}
    head = [[name, rows.dtype.newbyteorder("<").str, rows.shape] for name, rows in arrays.items()]
    data = b"".join(rows.astype(rows.dtype.newbyteorder("<")).tobytes() for rows in arrays.values())
    return _MEMORIES, json.dumps(head).encode() + b"\n" + data


def _place_body(place: Place) -> bytes:
    living = np.packbits(place.living)
    *numbers, flags = _numbers(place.last)
    flags |= _TELLS * (place.tells is not None)
    counts = min(place.refused, _MOST), len(place.earlier), len(living)
    parts = [
        _PLACE.pack(*place.position, *numbers, flags, *counts),
        living.tobytes(),
    ]
    parts += [_PAST.pack(past.step, *past.position, *_numbers(past.last)) for past in place.earlier]
    if place.tells is not None:
        reports = TargetLists.empty(1) if place.reports is None else place.reports
        parts.append(_COUNTS.pack(len(place.tells.names), len(reports.names)))
        parts += [_points_as_bytes(place.tells), _points_as_bytes(reports)]
    return b"".join(parts)


def _numbers(last: Action) -> tuple[Any, ...]:
    flags = _SETTLED * last.settled | _HOLDS * last.holds
    return last.step, *last.ages, *last.cells, last.miss, last.off, *last.weights, flags


def _points_as_bytes(points: TargetLists) -> bytes:
    rows = np.empty(len(points.names), _POINT)
    rows["name"], rows["weight"], rows["fresh"] = points.names, points.weights, points.fresh
    rows["x"], rows["y"] = points.points.T
    return rows.tobytes()


def _place(body: memoryview, step: int, agents: int) -> Place:
    x, y, *numbers, flags, dropped, before, size = _PLACE.unpack_from(body)
    if size != (agents + 7) // 8:
        raise MalformedError("a place of another team")
    last = _action(numbers, flags & ~_TELLS)
    end = _PLACE.size + size
    living = np.unpackbits(np.frombuffer(body[_PLACE.size : end], np.uint8), count=agents).astype(np.bool_)
    earlier = tuple(_past(body, end + which * _PAST.size) for which in range(before))
    end += before * _PAST.size
    steps = [*(past.step for past in earlier), step]
    if any(one >= other for one, other in pairwise((-1, *steps) if earlier else ())):
        raise MalformedError("steps out of order")
    lists: list[TargetLists | None] = [None, None]
    if flags & _TELLS:
        counts = _COUNTS.unpack_from(body, end)
        end += _COUNTS.size
        for which, count in enumerate(counts):
            lists[which] = _points(body[end : end + count * _POINT.itemsize], count)
            end += count * _POINT.itemsize
    if end != len(body):
        raise MalformedError("a place of the wrong length")
    tells, reports = lists
    return Place(_point(x, y), last, living, tells, reports, earlier, dropped)


def _past(body: memoryview, start: int) -> Past:
    step, x, y, *numbers, flags = _PAST.unpack_from(body, start)
    return Past(step, _point(x, y), _action(numbers, flags))


def _action(numbers: list[Any], flags: int) -> Action:
    step, first, second, third, state, goal, following, miss, off, *weights = numbers
    if not -1 <= step < 2**53 or flags > _SETTLED | _HOLDS or min(first, second, third, miss, off) < -1:
        raise MalformedError("a step with impossible numbers")
    if not all(abs(value) <= LARGEST for value in (miss, off, *weights)):  # not even a NaN
        raise MalformedError("a step with impossible numbers")
    ages = first, second, third
    cells = state, goal, following
    settled, holds = bool(flags & _SETTLED), bool(flags & _HOLDS)
    return Action(step, ages, cells, miss, off, tuple(weights), settled, holds)


def _points(body: memoryview, count: int) -> TargetLists:
    rows = np.frombuffer(body, _POINT, count)
    points = np.stack([rows["x"], rows["y"]], axis=1)
    if not (np.abs(points) <= LARGEST).all() or not ((rows["weight"] >= 0) & (rows["weight"] <= LARGEST)).all():
        raise MalformedError("targets that cannot be")
    return TargetLists.of(np.array([count]), rows["name"].copy(), points, rows["weight"].copy(), rows["fresh"] != 0)


def _point(x: float, y: float) -> tuple[float, float]:
    if not (abs(x) <= LARGEST and abs(y) <= LARGEST):  # not even a NaN
        raise MalformedError("a position that cannot be")
    return x, y


def _command(text: bytes) -> Command:
    word, values = json.loads(text, parse_constant=_finite, parse_float=_finite)
    if not isinstance(word, str) or not isinstance(values, dict):
        raise MalformedError("a command that is none")
    return Command(word, values)


def _finite(text: str) -> float:
    number = float(text)
    if not abs(number) < inf:
        raise MalformedError("a number that is none")
    return number


def _memories(data: bytes) -> Memories:
    head, _, rest = data.partition(b"\n")
    found = {}
    start = 0
    for name, kind, shape in json.loads(head):
        sizes = all(type(size) is int and 0 <= size <= LONGEST for size in shape)
        if kind not in _KINDS or not isinstance(name, str) or not sizes or len(shape) > _DIMENSIONS:
            raise MalformedError("a memory that cannot be")
        end = start + prod(shape) * int(kind[2])
        if end > len(rest):
            raise MalformedError("a memory of the wrong length")
        found[name] = np.frombuffer(rest[start:end], kind).reshape(shape)
        start = end
    if start != len(rest):
        raise MalformedError("a memory of the wrong length")
    return Memories(found)
