"""CSV: a line for each agent at each step.

    step, time              number of the step, and seconds since the start
    agent                   its number, from 0 on
    x, y                    metres; longitude and latitude in degrees follow where they are known
    present                 1 if it takes part, 0 if it is lost or still to come (it stands where it was or will be)
    layer, role             in the network of this step: boundary, core, follower, lost; empty before an agent comes
    state, goal_cell        cells of its triangle in which it stands and to which it wants; -1 outside, empty: none;
                            -3 for one that holds, as zones leave it no way
    miss                    how far from its reach set it lands with this step, in metres; 0: it lands in it

The last three are empty after the last step. Numbers read back bit for bit, and ``tricover certify`` reads the file.
"""

import csv
from collections.abc import Callable, Iterator
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.control import NO_CELL
from tricover.export.journeys import agents_of, epochs_of, seconds
from tricover.formats import Projection
from tricover.network import Network
from tricover.simulation import Run

__all__ = ["write_csv"]


def write_csv(run: Run, path: Path, tell: Callable[[int, int], None], plane: Projection | None) -> None:
    """Write the run as a table."""
    degrees = [] if plane is None else ["longitude", "latitude"]
    names = ["step", "time", "agent", "x", "y", *degrees, "present", "layer", "role", "state", "goal_cell", "miss"]
    with path.open("x", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for step, columns in enumerate(_columns(run, plane)):
            writer.writerows(zip(repeat(step), repeat(step * seconds(run)), *columns, strict=False))
            tell(step + 1, run.steps + 1)


def _columns(run: Run, plane: Projection | None) -> Iterator[list[list[Any]]]:
    """For each step the columns from ``agent`` on, each with an entry per agent."""
    agents = list(range(agents_of(run)))
    roster = [(_who(network, len(agents)), stop) for _, stop, network in epochs_of(run)]
    epoch = 0
    for start, positions in run.blocks("positions"):
        stop = start + len(positions)
        present = run.read("present", start, stop).astype(int)
        cells = [run.read(name, start, stop) for name in ("state", "goal_cell", "miss")]
        for offset, places in enumerate(positions):
            if start + offset == roster[epoch][1]:
                epoch += 1
            who, _ = roster[epoch]
            degrees = [] if plane is None else plane.to_degrees(places).T.tolist()
            last = offset >= len(cells[0])
            step = [[""] * len(agents)] * 3 if last else [_known(column[offset]) for column in cells]
            yield [agents, *places.T.tolist(), *degrees, present[offset].tolist(), *who, *step]


def _who(network: Network, agents: int) -> list[list[Any]]:
    """Layers and roles; nothing for those who are still to come."""
    coming = [""] * (agents - len(network))
    return [[*_known(np.where(network.layer < 0, NO_CELL, network.layer)), *coming], [*network.roles, *coming]]


def _known(column: NDArray[Any]) -> list[Any]:
    return ["" if value == NO_CELL else value for value in column.tolist()]
