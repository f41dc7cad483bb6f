"""Logs from tables: CSV with columns time, agent, x and y, one line for each agent at each time.

Columns are found by their names, in any case and order; others are left alone. The distinct times, ascending, are the
steps t = 0, 1, …; agents are numbered as in the network. Every agent must be there at every time at which it is in the
network.
"""

import csv
import io
import os

import numpy as np
from numpy.typing import NDArray

from tricover.certificates.log import Log, Settings, log_of
from tricover.errors import FileFormatError, InputError, listed
from tricover.formats import read_whole
from tricover.network import Network
from tricover.targets import Targets

__all__ = ["read_log"]

Floats = NDArray[np.float64]

_COLUMNS = ("time", "agent", "x", "y")


def read_log(
    path: str | os.PathLike[str],
    network: Network | list[tuple[int, Network]],
    *,
    settings: Settings | None = None,
    targets: Targets | None = None,
    anchors: Floats | None = None,
    arrived: int | None = 0,
) -> Log:
    """The log in a CSV file; arguments as in ``log_of``. Errors name the file and the line."""
    times, agents, points = _columns(path)
    count = len(network if isinstance(network, Network) else network[-1][1])
    wrong = np.flatnonzero((agents < 0) | (agents >= count) | (agents != np.floor(agents)))
    if wrong.size:
        raise FileFormatError(f"{path}: there is no agent {agents[wrong[0]]:g}: the network has 0 to {count - 1}")
    moments, steps = np.unique(times, return_inverse=True)
    entries = steps * count + agents.astype(np.int64)
    times_given = np.bincount(entries)
    if times_given.max() > 1:
        step, agent = divmod(int(times_given.argmax()), count)
        raise FileFormatError(f"{path}: agent {agent} has {times_given.max()} positions at time {moments[step]:g}")
    positions = np.full((len(moments), count, 2), np.nan)
    positions.reshape(-1, 2)[entries] = points
    try:
        return log_of(
            positions, network, name=str(path), settings=settings, targets=targets, anchors=anchors, arrived=arrived
        )
    except InputError as error:
        raise FileFormatError(f"{path}: {error}") from None


def _columns(path: str | os.PathLike[str]) -> tuple[Floats, Floats, Floats]:
    """Times (K,), agents (K,) and points (K, 2) of all lines."""
    try:
        reader = csv.reader(io.StringIO(read_whole(path).decode("utf-8-sig")), skipinitialspace=True)
        rows = [(reader.line_num, row) for row in reader if any(row)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileFormatError(f"{path}: not a CSV table: {error}") from None
    header = [name.strip().lower() for name in rows[0][1]]
    missing = [name for name in _COLUMNS if name not in header]
    if missing:
        raise FileFormatError(f"{path}: no column {listed(missing)} in the first line; it has {listed(header)}")
    which = [header.index(name) for name in _COLUMNS]
    table = np.array([_numbers(row, which, path, line) for line, row in rows[1:]]).reshape(-1, 4)
    if not len(table):
        raise FileFormatError(f"{path} holds no positions")
    return table[:, 0], table[:, 1], table[:, 2:]


def _numbers(row: list[str], which: list[int], path: object, line: int) -> list[float]:
    try:
        numbers = [float(row[index]) for index in which]
    except (IndexError, ValueError):
        numbers = [np.nan]
    if not np.isfinite(numbers).all():
        raise FileFormatError(f"{path}, line {line}: {listed(_COLUMNS)} must be finite numbers")
    return numbers
