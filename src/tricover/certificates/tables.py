"""Logs from tables: CSV with columns time, agent, x and y, one line for each agent at each time.

Columns are found by their names, in any case and order; others are left alone. The distinct times, ascending, are the
steps t = 0, 1, …; agents are numbered as in the network. Every agent must be there once at every time at which it is in
the network. Lines may stand in any order.
"""

import csv
import io
import os

import numpy as np
from numpy.typing import NDArray

from tricover.certificates.log import Log, Settings, check_positions, log_of
from tricover.errors import FileFormatError, InputError, listed
from tricover.formats import read_whole
from tricover.limits import check_room
from tricover.network import Network
from tricover.targets import Targets

__all__ = ["read_log"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_COLUMNS = ("time", "agent", "x", "y")


def read_log(
    path: str | os.PathLike[str],
    network: Network | list[tuple[int, Network]],
    *,
    settings: Settings | None = None,
    targets: Targets | None = None,
    anchors: Floats | None = None,
    arrived: int | None = 0,
    launched: int = 0,
) -> Log:
    """The log in a CSV file; arguments as in ``log_of``. Errors name the file and the line."""
    count = len(network if isinstance(network, Network) else network[-1][1])
    lines, times, agents, points = _columns(path, count)
    wrong = np.flatnonzero((agents < 0) | (agents >= count) | (agents != np.floor(agents)))
    if wrong.size:
        line, agent = lines[wrong[0]], agents[wrong[0]]
        raise FileFormatError(f"{path}, line {line}: there is no agent {agent:g}: the network has 0 to {count - 1}")
    moments, steps = np.unique(times, return_inverse=True)
    check_room(16.0 * len(moments) * count, f"{path}: {count} agents at {len(moments)} times")
    entries = steps * count + agents.astype(np.int64)
    _refuse_doubles(path, entries, count, lines, moments)
    positions = np.full((len(moments), count, 2), np.nan)
    positions.reshape(-1, 2)[entries] = points
    try:
        log = log_of(
            positions,
            network,
            name=str(path),
            times=moments,
            settings=settings,
            targets=targets,
            anchors=anchors,
            arrived=arrived,
            launched=launched,
        )
        check_positions(positions, 0, log)
    except InputError as error:
        raise FileFormatError(f"{path}: {error}") from None
    return log


def _refuse_doubles(path: object, entries: Ints, count: int, lines: Ints, moments: Floats) -> None:
    """An agent has one position at a time: a log with two does not say where it was, even if they are the same."""
    order = np.argsort(entries, kind="stable")
    again = np.flatnonzero(entries[order][1:] == entries[order][:-1])
    if again.size:
        first = order[again[0]]
        rows = np.flatnonzero(entries == entries[first])
        step, agent = divmod(int(entries[first]), count)
        raise FileFormatError(
            f"{path}, lines {listed(lines[rows])}: agent {agent} has {len(rows)} positions at time "
            f"{moments[step]:.12g}: keep one"
        )


def _columns(path: str | os.PathLike[str], count: int) -> tuple[Ints, Floats, Floats, Floats]:
    """Line numbers (K,), times (K,), agents (K,) and points (K, 2).

    Where a column ``present`` says that an agent is not there, and the networks of ``count`` agents do not have it, its
    line is left out: it is still to come.
    """
    try:
        reader = csv.reader(io.StringIO(read_whole(path).decode("utf-8-sig")), skipinitialspace=True)
        rows = [(reader.line_num, row) for row in reader if any(row)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileFormatError(f"{path}: not a CSV table: {error}") from None
    header = [name.strip().lower() for name in rows[0][1]]
    missing = [name for name in _COLUMNS if name not in header]
    if missing:
        raise FileFormatError(f"{path}: no column {listed(missing)} in the first line; it has {listed(header)}")
    twice = [name for name in _COLUMNS if header.count(name) > 1]
    if twice:
        raise FileFormatError(f"{path}: more than one column {listed(twice)} in the first line: keep one of each")
    which = [header.index(name) for name in _COLUMNS]
    table = np.array([_numbers(row, which, f"{path}, line {line}") for line, row in rows[1:]]).reshape(-1, 4)
    lines = np.array([line for line, _ in rows[1:]])
    if "present" in header:
        place = header.index("present")
        absent = np.array([row[place : place + 1] == ["0"] for _, row in rows[1:]], np.bool_)
        kept = ~(absent & (table[:, 1] >= count))
        lines, table = lines[kept], table[kept]
    if not len(table):
        raise FileFormatError(f"{path} holds no positions")
    return lines, table[:, 0], table[:, 1], table[:, 2:]


def _numbers(row: list[str], which: list[int], where: str) -> list[float]:
    numbers = []
    for name, column in zip(_COLUMNS, which, strict=True):
        text = row[column] if column < len(row) else ""
        try:
            number = float(text)
        except ValueError:
            number = np.nan
        if not np.isfinite(number):
            what = f"{text[:40]!r} is not a finite number" if text.strip() else "there is nothing"
            raise FileFormatError(f"{where}, column {name}: {what}")
        numbers.append(number)
    return numbers
