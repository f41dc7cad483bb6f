"""What the playback in a page needs of a run, as compact text; ``playback.js`` draws it.

Positions become whole numbers from 0 to 65534 in a square box around everything that is shown, 16 bits each, base64:
``metres = corner + unit · number``, right to half a unit. Cells keep their own numbers. Long runs are thinned: at
most ``MOST_ENTRIES`` places of agents go into the page (every k-th step, and always the last), of at most
``MOST_AGENTS`` agents, those of the first layers, whose in-neighbours are then there too; ``remarks`` say so.
Policies are not in the page: the script works out that of the agent that a reader chose, from its triangle and goal
cell, by shortest walks, which is what the default reward leads to (see ``mdp.cost``).
"""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tricover.network import Network
from tricover.plot.agents import first_agents
from tricover.plot.style import GROUND, ROLES, layer_colours
from tricover.simulation import Run

__all__ = ["MOST_AGENTS", "MOST_ENTRIES", "MOST_TARGETS", "Playback", "colours_of", "playback_of"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_ENTRIES = 400_000
MOST_AGENTS = 20_000
MOST_TARGETS = 5_000
LAST = 65534  # the largest number of a position
NOWHERE = 65535  # of a target that is not there
FIRST_CELL = 3  # in the record of cells: 0 not known, 1 no follower, 2 outside its triangle, 3 + cell otherwise


@dataclass(frozen=True)
class Playback:
    """The data of a playback as a JSON text, and remarks on what was left out."""

    json: str
    frames: int
    precision: float
    """Positions are right to so many metres."""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Box:
    """A square around all that is shown: its lower left corner, and the metres of one unit."""

    corner: Floats
    unit: float

    @classmethod
    def around(cls, *points: Floats) -> "_Box":
        low = np.min([part.reshape(-1, 2).min(axis=0) for part in points if part.size], axis=0)
        high = np.max([part.reshape(-1, 2).max(axis=0) for part in points if part.size], axis=0)
        return cls(low, float(max((high - low).max(), 1e-300)) / LAST)

    def pack(self, points: Floats) -> str:
        numbers = np.where(np.isnan(points), NOWHERE, np.rint((points - self.corner) / self.unit))
        return _text(numbers, "<u2")


def playback_of(run: Run, given: Floats | None = None) -> Playback:
    """The playback of a run; ``given`` are all its positions, (T+1, N, 2), where they are at hand."""
    agents = _agents(run)
    steps = _steps(run, len(agents))
    positions = _rows(run, "positions", steps, agents) if given is None else given[np.ix_(steps, agents)]
    desired, shown = run.desired[agents], _shown_targets(run, steps)
    targets = _targets(run, steps, shown)
    box = _Box.around(positions, desired, targets[~np.isnan(targets).any(axis=-1)])
    wide = "<u4" if run.scenario.control.resolution > 255 else "<u2"
    depth = max(epoch.network.depth for epoch in run.epochs)
    data = {
        "agents": len(agents),
        "ids": None if len(agents) == run.desired.shape[0] else agents.tolist(),
        "steps": steps.tolist(),
        "corner": box.corner.tolist(),
        "unit": box.unit,
        "positions": box.pack(positions),
        "desired": box.pack(desired),
        "targets": box.pack(targets),
        "targetFrames": len(targets),
        "weights": _weights(run, shown),
        **_zones(run, box),
        "walks": run.scenario.control.motion == "walk",
        "gamma": _gamma(run),
        "resolution": run.scenario.control.resolution,
        "cellBytes": int(wide[-1]),
        "cells": _cells(run, "state", steps, agents, wide),
        "goals": _cells(run, "goal_cell", steps, agents, wide),
        "epochs": _epochs(run, agents),
        **colours_of(depth),
    }
    remarks = tuple(_remarks(run, agents, steps, targets))
    return Playback(json.dumps(data, separators=(",", ":")), len(steps), box.unit / 2, remarks)


def _agents(run: Run) -> Indices:
    """Those who are shown, ascending: all, or so many of the first layers."""
    return first_agents(run.network, MOST_AGENTS)


def _steps(run: Run, agents: int) -> Indices:
    """The steps that are shown: every k-th and the last."""
    every = -(-(run.steps + 1) * agents // MOST_ENTRIES)
    return np.unique(np.append(np.arange(0, run.steps + 1, every), run.steps))


def _rows(run: Run, name: str, steps: Indices, agents: Indices) -> NDArray[Any]:
    """Entries of an array over time at some steps, block by block."""
    found = [block[steps[(steps >= start) & (steps < start + len(block))] - start] for start, block in run.blocks(name)]
    return np.concatenate(found)[:, agents]


def _cells(run: Run, name: str, steps: Indices, agents: Indices, kind: str) -> str:
    """Cells at the steps that are shown.

    After the last step nobody decides: the cells are those before it if the team stood still, else not known.
    """
    if not run.steps:
        return _text(np.zeros(len(agents)), kind)
    decided, frames = np.unique(np.minimum(steps, run.steps - 1), return_inverse=True)
    cells = _rows(run, name, decided, agents)[frames] + FIRST_CELL
    if not np.array_equal(*run.read("positions", run.steps - 1, run.steps + 1)):
        cells[-1] = 0
    return _text(cells, kind)


def _shown_targets(run: Run, steps: Indices) -> Indices:
    """The targets that are shown: all, or every k-th of those that have weight."""
    weights = run.mission.targets.weights
    there = np.arange(len(run.mission.targets)) if weights is None else np.flatnonzero(weights)
    most = min(MOST_TARGETS, max(1, MOST_ENTRIES // (len(steps) if run.mission.targets_still_from else 1)))
    return there[:: max(1, -(-len(there) // most))]


def _weights(run: Run, shown: Indices) -> str | None:
    """How large the targets are drawn, a byte each: 64 for the mean weight, up to four times as much."""
    weights = run.mission.targets.weights
    if weights is None or not shown.size:
        return None
    areas = 64 * weights[shown] / weights[weights > 0].mean()
    return _text(np.clip(np.rint(areas), 12, 255), "u1")


def _gamma(run: Run) -> float | None:
    """The discount γ, if walks to the goal are shortest walks: then the script can work out policies."""
    control = run.scenario.control
    # Around zones, and where moves may fail, walks go another way.
    straight = run.mission.ground.zones is None and control.kernel == "certain"
    return control.gamma if control.motion == "walk" and control.beta is None and straight else None


def _zones(run: Run, box: _Box) -> dict[str, Any]:
    """The zones, corners in units: they may lie outside the box, so they are no whole numbers of 16 bits."""
    zones = run.mission.ground.zones
    return {} if zones is None else {"zones": [((ring - box.corner) / box.unit).round(1).tolist() for ring in zones]}


def _targets(run: Run, steps: Indices, shown: Indices) -> Floats:
    """Targets (F or 1, D, 2) as the steps that are shown saw them; NaN where one is not there."""
    everything, changes = run.mission.targets, run.mission.targets_still_from
    frames = np.minimum(steps, max(run.steps - 1, 0)) if changes else np.array([0])
    count = len(everything)
    found = np.full((len(frames), len(shown), 2), np.nan)
    for frame, step in enumerate(np.minimum(frames, changes).tolist()):
        place = np.full(count, -1)
        place[everything.present(step)] = np.arange(len(everything.present(step)))
        there = place[shown] >= 0
        found[frame, there] = run.mission.targets_at(step).points[place[shown][there]]
    return found


def _epochs(run: Run, agents: Indices) -> list[dict[str, Any]]:
    """The networks, each from its first step on; in the launch nobody listens to anybody."""
    launch, first = run.mission.launch, run.epochs[0].network
    before = [_epoch(0, first, agents, listening=False)] if launch else []
    return before + [_epoch(max(epoch.start, launch), epoch.network, agents) for epoch in run.epochs]


def _epoch(start: int, network: Network, agents: Indices, listening: bool = True) -> dict[str, Any]:
    """A network among the agents that are shown; layer -2: not yet on the roster."""
    mine = agents[agents < len(network)]
    place = np.full(len(network) + 1, -1)  # the last for -1
    place[mine] = np.arange(len(mine))
    layer, heard = np.full(len(agents), -2), np.full((len(agents), 3), -1)
    layer[: len(mine)] = network.layer[mine]
    if listening:
        heard[: len(mine)] = place[network.in_neighbors[mine]]
    return {
        "start": start,
        "layer": _text(layer, "<i2"),
        "heard": _text(heard, "<i4"),
        "boundary": place[network.boundary].tolist(),
        "core": int(place[network.core]),
    }


def colours_of(depth: int) -> dict[str, Any]:
    """Those of the figures, which are the same on a light page and on a dark one."""
    from matplotlib.colors import to_hex

    layers = [to_hex(colour) for colour in layer_colours(depth)]
    return {"colours": layers, "core": ROLES["core"].colour, "lost": ROLES["lost"].colour, "ground": GROUND}


def _remarks(run: Run, agents: Indices, steps: Indices, targets: Floats) -> Iterator[str]:
    if len(agents) < len(run.network):
        yield f"Shown are {len(agents):,} of {len(run.network):,} agents, those of the first layers."
    if len(steps) <= run.steps:
        yield f"Shown are one of every {steps[1]} steps, and the last."
    if targets.shape[1] < len(run.mission.targets):
        yield f"Shown are {targets.shape[1]:,} of {len(run.mission.targets):,} targets."


def _text(numbers: NDArray[Any], kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers.astype(kind)).tobytes()).decode()
