"""Files that are nearly valid: bytes, tokens or the structure of a valid one changed in a few places."""

import ast
import copy
import json
import random
import re
import struct
import tomllib
from collections.abc import Callable, Sequence
from typing import Any

import tomli_w

__all__ = ["mutated"]

NUMBERS = [
    "0", "-0", "-1", "1", "2", "3", "0.5", "1e-9", "91", "-181", "361", "nan", "NaN", "inf",
    "-Infinity", "1e308", "-1e308", "1e400", "5e-324", "1e-320", "1e100", "1e101", "1e150",
    "1e-150", "4096", "4097", "65536", "2147483647", "2147483648", "9007199254740993",
    "9223372036854775807", "9223372036854775808", "18446744073709551616", "100000000000", "1e11",
    "9" * 400, "9" * 5000, "0x" + "f" * 400, "1_000", "0.1e+5", "--1", "1,5", "٣", "1e", "+.5",
    "true", "null", "None",
]  # fmt: skip
TOKENS = [
    "[", "]", "{", "}", '"', "'", ",", ":", ";", "=", "#", "\t", "\n", "\r", "\r\n", " ", "\0",
    "\x1b[31m", "\u202e", "\ufeff", "\\ud800", "\\u0000", "[/foo]", "<b>", "[" * 3000,
    "[" * 3000 + "]" * 3000, '{"a":' * 3000, "a." * 3000 + "b=1", '"' * 3, "é", "𝔘", "\udc80",
    "_" * 200_000, "type", "Point", "Polygon", "GeometryCollection", "positions", "file",
    "generator", "agents", "step", "kind", "/dev/zero", "..", "nosuch.csv", "a\\u0000b.csv", "[[",
    "]]", "events.join", "\n[a]\n", "1979-05-27T07:32:00Z", "'<O'", "|O8", "<f8", "<U9", ">c16",
    "V0", "(", ")", "L",
]  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2, 3, 5, 0.5, -0.0, 1e-9, 1e-320, 91, -181, 1e9, 1e100, 1e101,
    1e150, 1e300, 1e308, -1e308, float("inf"), float("nan"), 10**11, 2**31, 2**53 + 1, 2**63 - 1,
    2**63, 2**64, 10**30, 10**299, 10**400, "", "x", "1", "Point", "fit", "fermat", "exact", "a\nb",
    "\ud800", "a\0b", "[/foo]", "é" * 50, "x" * 100_000, "../x.csv", "/dev/zero", "\0", [], [[]],
    {}, [1], [1, 2], [1, 2, 3], [[1, 2]], [[0, 0], [1, 1]], [[1, 2], [3]], [[[1, 2], [3, 4]]],
    ["Point"], [None], {"a": 1}, {"type": "Point"}, {"x": {}}, [1e308, 1e308], [1e300, 91],
    [[1e150, 0]], ["a", "b"],
]  # fmt: skip


def _is_toml(value: Any) -> bool:
    try:
        tomli_w.dumps({"a": value}).encode()
    except (TypeError, ValueError):
        return False
    return True


TOML_VALUES = [value for value in VALUES if _is_toml(value)]
_DEEP = ("toml", "flight", "study", "network", "mission")  # kinds in which a broken byte is seen at once
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?")


def mutated(kind: str, seeds: Sequence[bytes], rng: random.Random) -> bytes:
    """A broken copy of one of the seeds."""
    data = rng.choice(seeds)
    if kind in _STRUCTURED and rng.random() < (0.8 if kind in _DEEP else 0.5):
        data = _STRUCTURED[kind](data, rng)
        if rng.random() < 0.8:
            return data
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        data = rng.choice(_PLAIN)(data, rng, seeds)
    return data


# --- bytes and tokens ----------------------------------------------------------------------------------------------


def _flip(data: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    if not data:
        return data
    place = rng.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]


def _overwrite(data: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    place = rng.randrange(len(data) + 1)
    new = rng.randbytes(rng.randint(1, 8))
    return data[:place] + new + data[place + len(new) :]


def _cut(data: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    start = rng.randrange(len(data) + 1)
    stop = len(data) if rng.random() < 0.3 else start + rng.randint(1, 30)
    return data[:start] + data[stop:]


def _repeat(data: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    start = rng.randrange(len(data) + 1)
    part = data[start : start + rng.randint(1, 200)]
    return data[:start] + part * rng.choice((2, 2, 3, 50)) + data[start + len(part) :]


def _splice(data: bytes, rng: random.Random, seeds: Sequence[bytes]) -> bytes:
    other = rng.choice(seeds)
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other)) :]


def _token(data: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    place = rng.randrange(len(data) + 1)
    stop = place + rng.choice((0, 0, 1, 5))
    return data[:place] + rng.choice(TOKENS).encode("utf-8", "surrogateescape") + data[stop:]


def _number(data: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    text = data.decode("latin1")
    found = list(_NUMBER.finditer(text))
    if not found:
        return data
    place = rng.choice(found)
    new = rng.choice(NUMBERS).encode().decode("latin1")
    return (text[: place.start()] + new + text[place.end() :]).encode("latin1")


def _line(data: bytes, rng: random.Random, _: Sequence[bytes]) -> bytes:
    """A line moved, doubled or dropped: rows of tables, keys of scenarios."""
    lines = data.splitlines(keepends=True)
    if len(lines) < 2:
        return data
    taken = lines.pop(rng.randrange(len(lines)))
    for _ in range(rng.randrange(3)):
        lines.insert(rng.randrange(len(lines) + 1), taken)
    return b"".join(lines)


_PLAIN = (_flip, _overwrite, _cut, _repeat, _splice, _token, _token, _number, _number, _number, _line)


# --- structure -----------------------------------------------------------------------------------------------------


def _places(node: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every place in a tree of lists and dictionaries, as a container and a key."""
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in list(entries):
        found.append((node, key))
        _places(value, found)
    return found


def _tree(tree: Any, rng: random.Random, values: Sequence[Any]) -> Any:
    """The tree with one to three places replaced, dropped, doubled, wrapped or swapped."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        places = _places(tree, [])
        if not places:
            return copy.deepcopy(rng.choice(values))
        keys = [place for place in places if isinstance(place[0], dict)]  # few beside all the numbers
        node, key = rng.choice(keys if keys and rng.random() < 0.5 else places)
        how = rng.random()
        if how < 0.3 and isinstance(node[key], int | float):
            node[key] = _near(node[key], rng)
        elif how < 0.6:
            node[key] = copy.deepcopy(rng.choice(values))
        elif how < 0.7:
            del node[key]
        elif how < 0.8:
            node[key] = [node[key]]
        elif how < 0.9 and isinstance(node, list):
            node.insert(key, copy.deepcopy(node[key]))
        elif isinstance(node, dict):
            node[rng.choice(("x", "type", "file", "positions", "kind", "agents", *map(str, node)))] = copy.deepcopy(
                node[key]
            )
        else:
            other, place = rng.choice(places)
            node[key] = copy.deepcopy(other[place])
    return tree


def _near(number: float, rng: random.Random) -> float:
    """Another number that may well be meant."""
    if abs(number) > 1e300:
        return -number
    return rng.choice((number + 1, number - 1, -number, number / 2, 10 * number, number * 10.0 ** rng.randint(-9, 9)))


def _json(data: bytes, rng: random.Random) -> bytes:
    return json.dumps(_tree(json.loads(data), rng, VALUES)).encode()


def _toml(data: bytes, rng: random.Random) -> bytes:
    tree = _tree(tomllib.loads(data.decode()), rng, TOML_VALUES)
    try:
        return tomli_w.dumps(tree).encode()
    except (TypeError, ValueError, AttributeError, RecursionError):  # TOML has no word for it
        return data


def _table(data: bytes, rng: random.Random) -> bytes:
    """A field, a column or a row replaced."""
    mark = next((mark for mark in ",;\t " if mark.encode() in data), ",")
    rows = [line.split(mark) for line in data.decode().splitlines()]
    row = rng.choice(rows)
    how, place = rng.random(), rng.randrange(len(row)) if row else 0
    if how < 0.6 and row:
        row[place] = rng.choice(NUMBERS + TOKENS[:25])
    elif how < 0.8:
        for one in rows:
            one[place : place + 1] = one[place : place + 1] * rng.choice((0, 2))
    else:
        names = ("x", "y", "z", "lon", "lat", "id", "weight", "time", "agent", "")
        rows[0] = [rng.choice(names) if rng.random() < 0.4 else name for name in rows[0]]
    return "\n".join(mark.join(row) for row in rows).encode("utf-8", "surrogateescape")


SHAPES = [
    (), (0,), (9,), (0, 2), (2, 0), (9, 3), (9, 4), (9, 5), (18,), (1, 9, 2), (-9, 2), (10**11, 2),
    (2**63, 2), (10**30, 0), (9.0, 2), "9", [9, 2], (True, 2), (1,) * 70, (3, 3, 2),
]  # fmt: skip
TYPES = [
    "<f8", ">f8", "<f4", "<f2", "<f16", "<i8", "<u1", "|b1", "<c16", "|O", "<U3", "|S3", "<M8[s]",
    "|V16", "|V0", "<U0", "f", "x", "(2,)<f8", "<f8,<f8", [("x", "<f8"), ("y", "<f8")],
    [("x", "<f8", (2,)), ("y", "<f8")], [("x", [("y", "<f8")]), ("y", "<f8")],
    [("x", "O"), ("y", "<f8")], [("x", "<f8"), ("y", "<f8"), ("id", "<U4")],
    [("x", "<M8[s]"), ("y", "<f8")], [], [()], ("<f8", (2,)), [("x", "<f8"), ("x", "<f8")],
    [(("title", "x"), "<f8"), ("y", "<f8")], {"names": ["x"], "formats": ["<f8"]}, 8, None,
    [("x\n", "<f8"), ("y", "<f8")], "<f8" * 1000,
]  # fmt: skip


def _npy(data: bytes, rng: random.Random) -> bytes:
    """Another header over the same numbers."""
    length = struct.unpack("<H", data[8:10])[0]
    header, body = data[10 : 10 + length], data[10 + length :]
    how = rng.random()
    if how < 0.8:
        fields = ast.literal_eval(header.decode("latin1").strip())
        key = rng.choice(("shape", "descr", "descr", "fortran_order"))
        fields[key] = rng.choice({"shape": SHAPES, "descr": TYPES, "fortran_order": VALUES[:60]}[key])
        if rng.random() < 0.1:
            del fields[rng.choice(list(fields))]
        text = repr(fields).encode("utf-8", "surrogateescape")
    else:
        text = header.strip() + rng.choice((b"[", b"(" * 500, b"L", b"-" * 5000 + b"1", b"\0", b"]" * 9, b"#", b"'''"))
    version = rng.choice((1, 1, 1, 2, 3, 4))
    size = struct.pack(
        "<H" if version == 1 else "<I", len(text) % 65536 + rng.choice((0, 0, 0, 1, 60000)) * (version > 1)
    )
    if rng.random() < 0.1:
        body = rng.randbytes(len(body))
    return data[:6] + bytes([version, 0]) + size + text + body


_STRUCTURED: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "json": _json,
    "geojson": _json,
    "network": _json,
    "mission": _json,
    "toml": _toml,
    "flight": _toml,
    "study": _toml,
    "csv": _table,
    "tsv": _table,
    "txt": _table,
    "log": _table,
    "npy": _npy,
    "map": _npy,
}
